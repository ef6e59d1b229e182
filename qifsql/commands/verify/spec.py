"""Options of ``verify``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypedDict

from qifsql.data.option import FLAG, TEXTS, WHOLE, Option

SUBSETS = 20  # of a sweep that are recomputed, by default


class VerifyOptions(TypedDict, total=False):
    """The ways that are taken, and the subsets of a sweep."""

    sql: Annotated[
        bool, Option(FLAG, "Only run the SQL of the manifest as it is, in a bare DuckDB.")
    ]
    subsets: Annotated[
        int | None,
        Option(
            WHOLE,
            f"Sweep: recompute this many subsets, drawn by --seed (default {SUBSETS}).",
            least=1,
        ),
    ]
    claims: Annotated[
        str | Path | Sequence[str | Path],
        Option(
            TEXTS,
            "Score these claims in a test that inspect --draw has written. Repeatable.",
            text="Files of claims, one per tester, in a test that inspect has drawn: they are "
            "scored.",
        ),
    ]


OPTIONS = VerifyOptions
