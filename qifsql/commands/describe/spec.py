"""Options of ``describe``."""

from collections.abc import Sequence
from typing import Annotated

from qifsql.adversary.options import Sets, Where
from qifsql.data.option import FLAG, NAMES, OPTIONS, WHOLE, Option


class DescribeOptions(Sets, total=False):
    """Options: the columns, and the number of values shown."""

    columns: Annotated[
        str | Sequence[str], Option(NAMES, "Describe only these columns.", panel=OPTIONS)
    ]
    values: Annotated[
        int,
        Option(
            WHOLE,
            "List this many frequent values per column (10 records or more each).",
            usual=0,
            least=0,
            panel=OPTIONS,
        ),
    ]
    rare: Annotated[
        bool,
        Option(FLAG, "With --values: also list values of fewer than 10 records.", panel=OPTIONS),
    ]
    where: Where
