"""What can be asked of a log with pseudonyms."""

from collections.abc import Sequence
from typing import Annotated, Required, TypedDict

from qifsql.adversary.options import qids_option
from qifsql.data.option import COUNTS, DATA, TEXT, WHOLE, Option

POINTS = (1, 2, 3, 4)  # points that are known, unless others are asked for
DRAWS = 10_000


class UnicityOptions(TypedDict, total=False):
    """Whose records they are, and what is known of how many.

    ``key`` is the pseudonym that all records of a person share; records without one are left out.
    A point is what a record says in the ``qids``, which may be coarser forms (``time:hour``); a
    missing value is a value. ``points`` are the numbers of points that are known. Where not all
    sets of them can be compared, there are ``draws`` of a person and a set.
    """

    key: Required[
        Annotated[
            str,
            Option(
                form=TEXT, help="The pseudonym: all records of a person have the same.", panel=DATA
            ),
        ]
    ]
    qids: Required[
        Annotated[
            str | Sequence[str],
            qids_option(
                "What is known of a record: a,b; coarser, as in time:hour,place:3; NAME=EXPRESSION."
            ),
        ]
    ]
    points: Annotated[
        int | Sequence[int],
        Option(form=COUNTS, help="How many records of a person are known: 1,2,3,4.", usual=POINTS),
    ]
    draws: Annotated[
        int,
        Option(
            form=WHOLE,
            help="Draws of a person and records, where not all can be compared.",
            usual=DRAWS,
        ),
    ]
