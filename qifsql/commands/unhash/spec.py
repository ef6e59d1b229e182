"""Options of ``unhash``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Required, TypedDict

from qifsql.adversary.options import Where
from qifsql.data.option import DATA, FILE, RUN, TEXT, TEXTS, WHOLE, WRITTEN, Option

MOST_CANDIDATES = 1_000_000_000  # unless the user allows more


class UnhashOptions(TypedDict, total=False):
    """Options: the column of hashes, and the candidates.

    A candidate of several patterns (``qifsql.commands.unhash.automaton``) is tried once. The hashed
    text is the salt, the candidate in UTF-8, and the salt after it.
    """

    column: Required[
        Annotated[str, Option(TEXT, "Column with the hashes.", panel=DATA, formerly="-c")]
    ]
    algorithm: Required[Annotated[str, Option(TEXT, "md5, sha1 or sha256.", flags=("--hash",))]]
    patterns: Annotated[
        str | Sequence[str],
        Option(
            TEXTS,
            "What may have been hashed, as in '[0-9][A-Z][0-9]{2}': classes, \\d, {n}, "
            "{m,n}, ?, (), |. Repeatable.",
            flags=("--pattern", "-p"),
        ),
    ]
    candidates: Annotated[
        str | Path | None,
        Option(
            FILE, "File of candidates: .txt, one per line, or column candidate of CSV or Parquet."
        ),
    ]
    salt: Annotated[str, Option(TEXT, "Salt before the candidate.", usual="")]
    salt_after: Annotated[str, Option(TEXT, "Salt after the candidate.", usual="")]
    most: Annotated[
        int, Option(WHOLE, "Largest number of candidates.", flags=("--max",), usual=MOST_CANDIDATES)
    ]
    mapping: Annotated[
        str | Path | None,
        Option(
            WRITTEN,
            "Write the recovered identifiers: .parquet or .csv. Identifies people.",
            panel=RUN,
        ),
    ]
    where: Where
