"""Formats of files: their endings, and the magic bytes of files without one."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal, TypeVar

from qifsql.errors import DatasetError, quoted

T = TypeVar("T")
Format = Literal[
    "parquet", "csv", "duckdb", "frame", "json", "sqlite", "excel", "statistics", "spark"
]

PACKED = (".gz", ".zst")  # endings of texts that are read as if they were unpacked
CSV_ENDINGS = tuple(f".{kind}{packing}" for packing in ("", *PACKED) for kind in ("csv", "tsv"))
PARQUET_ENDINGS = (".parquet", ".pq")
JSON_ENDINGS = tuple(
    f".{kind}{packing}" for kind in ("json", "jsonl", "ndjson") for packing in ("", *PACKED)
)
ENDINGS: dict[Format, tuple[str, ...]] = {
    "csv": CSV_ENDINGS,
    "parquet": PARQUET_ENDINGS,
    "duckdb": (".duckdb", ".db", ".sqlite", ".sqlite3"),
    "json": JSON_ENDINGS,
    "excel": (".xlsx",),
    "statistics": (".dta", ".sav", ".zsav", ".sas7bdat"),
}
"""The endings of each format; ``duckdb`` has those of SQLite, too, which magic bytes tell."""

CONVERTED: tuple[Format, ...] = ("json", "sqlite", "excel", "statistics")
"""Formats whose rows the engine first copies to a private Parquet file, to read them from it."""

SEVERAL: tuple[Format, ...] = ("csv", "parquet", "json")
"""Formats of which several files can be one dataset."""

FORMATS = (
    "Parquet (.parquet), CSV or TSV (.csv, .tsv, also .gz and .zst), JSON (.json, .jsonl, .ndjson),"
    " Excel (.xlsx), Stata, SPSS or SAS (.dta, .sav, .sas7bdat), a glob, a folder of Parquet, or "
    "table@file of DuckDB or SQLite"
)
SQLITE = b"SQLite format 3\0"


def format_of(file: str, text: str) -> tuple[Format, str]:
    """Return the format of a file and the ending that shows it, by its name or its first bytes.

    Raises DatasetError, which names ``text``, if the file is of another kind.
    """
    name = file.casefold()
    for format_, endings in ENDINGS.items():
        for ending in endings:
            if name.endswith(ending):
                return format_, ending
    if magic(file).startswith(b"PAR1"):
        return "parquet", ".parquet"
    raise DatasetError(f"{text} is of an unknown kind; qifsql reads {FORMATS}")


def magic(file: str | Path) -> bytes:
    """Return the first bytes of a file, which show its kind; DatasetError if it is unreadable."""
    try:
        with Path(file).open("rb") as opened:
            return opened.read(len(SQLITE))
    except OSError as e:
        raise DatasetError(f"{file} cannot be read: {e.strerror}") from e


def named(name: str, items: Iterable[T], names: Callable[[T], Iterable[str]]) -> list[T]:
    """Return the items of which a name is exactly this one, else those of the name in any case."""
    listed = list(items)
    exact = [item for item in listed if name in names(item)]
    return exact or [i for i in listed if name.casefold() in map(str.casefold, names(i))]


def copy_name(paths: Sequence[str], table: str) -> str:
    """Return the name in SQL of the private copy of files, or of a table in one."""
    place = "\0".join((*paths, table)).encode(errors="surrogateescape")
    return f"copy_{hashlib.sha256(place).hexdigest()[:16]}"


def partition_columns(file: str) -> tuple[str, ...]:
    """Return the columns in the names of the folders of a file: ``year`` of ``year=2018/a.csv``."""
    folders = Path(file).parts[:-1]
    return tuple(folder.partition("=")[0] for folder in folders if folder.find("=") > 0)


def check_names(names: Sequence[str], where: str) -> None:
    """Refuse names of columns that are empty, or that SQL cannot distinguish."""
    if not names:
        raise DatasetError(f"{where} has no columns; name another file")
    if "" in names:
        n = names.index("") + 1
        raise DatasetError(f"column {n} of {where} has no name; name it, or delete the column")
    twins = [name for name, n in Counter(name.casefold() for name in names).items() if n > 1]
    if twins:
        same = ", ".join(quoted(name) for name in names if name.casefold() == twins[0])
        raise DatasetError(
            f"{where} has several columns of one name, or names that differ only in case: {same}; "
            "rename them"
        )
