"""Options of ``unicity``."""

from collections.abc import Sequence
from typing import Annotated, Required, TypedDict

from qifsql.adversary.options import Where, qids_option
from qifsql.data.option import COUNTS, DATA, TEXT, WHOLE, Option

POINTS = (1, 2, 3, 4)  # numbers of known points by default
DRAWS = 10_000


class UnicityOptions(TypedDict, total=False):
    """Options: the person, the known columns, and the numbers of known records.

    A point is the values of a record in the known columns. If there are too many sets of points to
    compare all of them, so many draws of a person and a set are compared.
    """

    person: Required[
        Annotated[
            str,
            Option(
                TEXT,
                "Whose record it is: the pseudonym that all records of a person share.",
                text="Whose record it is: the pseudonym that all records of a person share. "
                "Records without one are left out.",
                panel=DATA,
                formerly="--key",
            ),
        ]
    ]
    qids: Required[
        Annotated[
            str | Sequence[str],
            qids_option(
                "Known columns of a record; coarser forms as in time:hour,place:3.",
                text='Known columns of a record; coarser forms as in "time:hour,place:3". A '
                "missing value is a value.",
            ),
        ]
    ]
    points: Annotated[
        int | Sequence[int],
        Option(
            COUNTS,
            "Numbers of known records per person: 1,2,3,4.",
            text="Numbers of known points, 1 to 20.",
            usual=POINTS,
        ),
    ]
    draws: Annotated[
        int,
        Option(
            WHOLE, "Random draws, if there are too many combinations to compare all.", usual=DRAWS
        ),
    ]
    where: Where
