"""Options of ``start``: roles that win over the suggested ones."""

from collections.abc import Sequence
from typing import Annotated

from qifsql.adversary.options import Households, Sets
from qifsql.data.option import NAMES, OPTIONS, TEXT, Option
from qifsql.study.forms import Occasion


class Roles(Sets, Households, Occasion, total=False):
    """Options: what is taken beside the suggested roles, and what is not."""

    weight: Annotated[
        str | None,
        Option(
            TEXT,
            "Weight of each record, >= 0: column or expression.",
            text="Column or expression >= 0 that weights records; by default each weighs 1.",
            panel=OPTIONS,
        ),
    ]
    also: Annotated[
        str | Sequence[str],
        Option(
            NAMES,
            "Take these as quasi-identifiers, too.",
            text="Columns or named expressions that are quasi-identifiers, beside the suggested "
            "ones; no secrets then.",
            flags=("--qid+",),
            panel=OPTIONS,
        ),
    ]
    without: Annotated[
        str | Sequence[str],
        Option(
            NAMES,
            "Take these for nothing.",
            text="Columns that are neither quasi-identifiers nor secrets, persons or households.",
            flags=("--not",),
            panel=OPTIONS,
        ),
    ]
