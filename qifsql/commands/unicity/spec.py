"""Options of ``unicity``."""

from collections.abc import Sequence
from typing import Annotated, Required, TypedDict

from qifsql.adversary.options import Where, qids_option
from qifsql.data.option import COUNTS, DATA, TEXT, WHOLE, Option

POINTS = (1, 2, 3, 4)  # numbers of known points by default
DRAWS = 10_000


class UnicityOptions(TypedDict, total=False):
    """Options: the key, the known columns, and the numbers of known records.

    ``key`` is the pseudonym that all records of a person share; records without one are left out.
    A point is the values of a record in the ``qids``, which may be coarser forms (``time:hour``);
    a missing value is a value. ``points`` are the numbers of known points. If there are too many
    sets of points to compare all of them, ``draws`` of a person and a set are compared.
    """

    key: Required[
        Annotated[
            str,
            Option(
                form=TEXT,
                help="Pseudonym: the column that all records of a person share.",
                panel=DATA,
            ),
        ]
    ]
    qids: Required[
        Annotated[
            str | Sequence[str],
            qids_option("Known columns of a record; coarser forms as in time:hour,place:3."),
        ]
    ]
    points: Annotated[
        int | Sequence[int],
        Option(form=COUNTS, help="Numbers of known records per person: 1,2,3,4.", usual=POINTS),
    ]
    draws: Annotated[
        int,
        Option(
            form=WHOLE,
            help="Random draws, if there are too many combinations to compare all.",
            usual=DRAWS,
        ),
    ]
    where: Where
