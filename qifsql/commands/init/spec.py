"""Options of ``init``, next to the dataset."""

from collections.abc import Sequence
from typing import Annotated

from qifsql.adversary.options import Households, Sets, qids_option, secret_option
from qifsql.data.option import FLAG, OPTIONS, SIZES, TEXT, Option
from qifsql.data.reading import Reading
from qifsql.study.forms import Occasion


class InitOptions(Reading, Sets, Households, Occasion, total=False):
    """Options: how the data are read, roles that win over the suggested ones, what is written."""

    qids: Annotated[
        str | Sequence[str],
        qids_option("Quasi-identifiers (default: the clear ones that are suggested)."),
    ]
    secret: Annotated[
        str | Sequence[str],
        secret_option("Secrets (default: the clear ones that are suggested)."),
    ]
    weight: Annotated[
        str | None, Option(TEXT, "Weight of each record, >= 0: column or expression.")
    ]
    sizes: Annotated[
        str | int | None,
        Option(SIZES, "Sizes of the swept subsets: 3, or 1-3 (default: all sizes)."),
    ]
    policy: Annotated[
        bool, Option(FLAG, "Write a policy for qifsql check instead of a study.", panel=OPTIONS)
    ]
    preset: Annotated[
        str,
        Option(
            TEXT,
            "With --policy: the preset whose rules apply; all others are comments.",
            usual="k5",
            panel=OPTIONS,
        ),
    ]
    lang: Annotated[
        str, Option(TEXT, "Language of the report: en or pt-BR.", usual="en", panel=OPTIONS)
    ]
