"""Options of ``describe``."""

from collections.abc import Sequence
from typing import Annotated, TypedDict

from qifsql.adversary.options import Where
from qifsql.data.option import FLAG, NAMES, OPTIONS, WHOLE, Option


class DescribeOptions(TypedDict, total=False):
    """Options: the columns, and the number of values shown.

    ``columns``: describe only these. ``values``: the number of frequent values to list per column.
    ``rare``: also list values of fewer than 10 records.
    """

    columns: Annotated[
        str | Sequence[str], Option(form=NAMES, help="Describe only these columns.", panel=OPTIONS)
    ]
    values: Annotated[
        int,
        Option(
            form=WHOLE,
            help="List this many frequent values per column (10 records or more each).",
            usual=0,
            least=0,
            panel=OPTIONS,
        ),
    ]
    rare: Annotated[
        bool,
        Option(
            form=FLAG,
            help="With --values: also list values of fewer than 10 records.",
            panel=OPTIONS,
        ),
    ]
    where: Where
