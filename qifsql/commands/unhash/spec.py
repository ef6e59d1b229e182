"""Options of ``unhash``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Required, TypedDict

from qifsql.adversary.options import Where
from qifsql.data.option import DATA, FILE, RUN, TEXT, TEXTS, WHOLE, WRITTEN, Option

MOST = 1_000_000_000  # most candidates, unless the user allows more


class UnhashOptions(TypedDict, total=False):
    """Options: the column of hashes, and the candidates.

    ``algorithm`` is md5, sha1 or sha256. ``patterns`` describe the possible identifiers
    (``qifsql.commands.unhash.patterns``); a candidate of several patterns is tried once.
    ``candidates`` is a file of further candidates, as text: a .txt file with one on each line, or
    CSV or Parquet with a column ``candidate`` or only one column. The hashed text is ``salt``, the
    candidate in UTF-8, and ``salt_after``. More candidates than ``most`` are refused before any is
    hashed. ``mapping`` names a file, .parquet or .csv, for the hashes and the candidates found for
    each.
    """

    column: Required[
        Annotated[
            str,
            Option(form=TEXT, help="Column with the hashes.", panel=DATA, formerly="-c"),
        ]
    ]
    algorithm: Required[
        Annotated[str, Option(form=TEXT, help="md5, sha1 or sha256.", flags=("--hash",))]
    ]
    patterns: Annotated[
        str | Sequence[str],
        Option(
            form=TEXTS,
            help="What may have been hashed, as in '[0-9][A-Z][0-9]{2}': classes, \\d, {n}, {m,n}, "
            "?, (), |. Repeatable.",
            flags=("--pattern", "-p"),
        ),
    ]
    candidates: Annotated[
        str | Path | None,
        Option(
            form=FILE,
            help="File of candidates: .txt, one per line, or column candidate of CSV or Parquet.",
        ),
    ]
    salt: Annotated[str, Option(form=TEXT, help="Salt before the candidate.", usual="")]
    salt_after: Annotated[str, Option(form=TEXT, help="Salt after the candidate.", usual="")]
    most: Annotated[
        int,
        Option(form=WHOLE, help="Largest number of candidates.", flags=("--max",), usual=MOST),
    ]
    mapping: Annotated[
        str | Path | None,
        Option(
            form=WRITTEN,
            help="Write the recovered identifiers: .parquet or .csv. Identifies people.",
            panel=RUN,
        ),
    ]
    where: Where
