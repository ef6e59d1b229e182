"""Options of ``verify``."""

from typing import Annotated, TypedDict

from qifsql.data.option import FLAG, WHOLE, Option

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


OPTIONS = VerifyOptions
