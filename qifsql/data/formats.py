"""Formats of files: their endings, and the magic bytes of files without one."""

import hashlib
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal, TypeVar

from qifsql.errors import DatasetError, did_you_mean, quoted

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
    "statistics": (".dta", ".sav", ".zsav", ".sas7bdat", ".xpt"),
}
"""The endings of each format; ``duckdb`` has those of SQLite, too, which magic bytes tell."""

CONVERTED: tuple[Format, ...] = ("json", "sqlite", "excel", "statistics")
"""Formats whose rows the engine first copies to a private Parquet file, to read them from it."""

SEVERAL: tuple[Format, ...] = ("csv", "parquet", "json")
"""Formats of which several files can be one dataset."""

FORMATS = (
    "Parquet (.parquet), CSV or TSV (.csv, .tsv, also .gz and .zst), JSON (.json, .jsonl, .ndjson),"
    " Excel (.xlsx), Stata, SPSS or SAS (.dta, .sav, .sas7bdat, .xpt), a .zip with one of these, a "
    "glob, a folder of Parquet, or table@file of DuckDB or SQLite"
)
ZIPPED = ".zip"
IN_R = "convert it in R: {}; write.csv(TABLE, 'FILE.csv', row.names = FALSE, na = '')"
SHEETS = "open it in Excel or LibreOffice, and save it as .xlsx"
CONVERSIONS = {
    **dict.fromkeys((".xls", ".xlsb", ".ods"), SHEETS),
    **dict.fromkeys((".rda", ".rdata"), IN_R.format("load('FILE.rda')")),
    ".rds": IN_R.format("TABLE <- readRDS('FILE.rds')"),
    ".por": "open it in SPSS, and save it as .sav",
}
"""Hints on files that qifsql does not read, by their endings."""
SQLITE = b"SQLite format 3\0"


def format_of(file: str, text: str) -> tuple[Format, str]:
    """Return the format of a file and the ending that shows it, by its name or its first bytes.

    Raises DatasetError, which names ``text``, if the file is of another kind.
    """
    if kind := _format_by_name(file):
        return kind
    if magic(file).startswith(b"PAR1"):
        return "parquet", ".parquet"
    name = file.casefold()
    for ending, conversion in CONVERSIONS.items():
        if name.endswith(ending):
            raise DatasetError(f"{text} is not read: {conversion}")
    raise DatasetError(f"{text} is of an unknown kind; qifsql reads {FORMATS}")


def _format_by_name(file: str) -> tuple[Format, str] | None:
    """Return the format of a file and its ending by its name, None if the name shows none."""
    name = file.casefold()
    by_ending: list[tuple[Format, str]] = [(f, e) for f, ends in ENDINGS.items() for e in ends]
    return next(((f, ending) for f, ending in by_ending if name.endswith(ending)), None)


def table_in_zip(file: str, table: str = "") -> tuple[str, Format, str]:
    """Return the file in a .zip that is a table, its format and the ending that shows it.

    ``table`` names it where several are. Raises DatasetError if there is none, or no .zip.
    """
    try:
        with zipfile.ZipFile(file) as box:
            members = [m.filename for m in box.infolist() if not m.is_dir()]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as e:
        raise DatasetError(f"{file} is damaged, or no .zip; pack it again") from e
    tables = [m for m in members if _format_by_name(m) and not m.startswith("__MACOSX")]
    if table:
        matching = find_named(table, tables, lambda member: [member, Path(member).name])
        if len(matching) != 1:
            hint = did_you_mean(table, tables)
            raise DatasetError(f"{file} has no table {quoted(table)}{hint}")
        tables = matching
    if len(tables) != 1:
        if not tables:
            raise DatasetError(f"{file} has no table; qifsql reads {FORMATS}")
        listed = ", ".join(map(quoted, tables[:5])) + (", ..." if len(tables) > 5 else "")
        raise DatasetError(
            f"{file} has {len(tables):,} tables: {listed}; name one, as in "
            f"{quoted(f'{tables[0]}@{file}')}"
        )
    format_, ending = format_of(tables[0], tables[0])
    if format_ == "duckdb":
        raise DatasetError(f"{file} has a database; unpack it, and name a table: TABLE@DATABASE")
    if ending.endswith(PACKED):
        raise DatasetError(f"{tables[0]} in {file} is packed twice; unpack the .zip")
    return tables[0], format_, ending


def magic(file: str | Path) -> bytes:
    """Return the first bytes of a file, which show its kind; DatasetError if it is unreadable."""
    try:
        with Path(file).open("rb") as opened:
            return opened.read(len(SQLITE))
    except OSError as e:
        raise DatasetError(f"{file} cannot be read: {e.strerror}") from e


def find_named(name: str, items: Iterable[T], names: Callable[[T], Iterable[str]]) -> list[T]:
    """Return the items of which a name is exactly this one, else those of the name in any case."""
    listed = list(items)
    exact = [item for item in listed if name in names(item)]
    return exact or [i for i in listed if name.casefold() in map(str.casefold, names(i))]


def copy_name(paths: Sequence[str], *table: str) -> str:
    """Return the name in SQL of the private copy of files, or of a table in one."""
    place = "\0".join((*paths, *table)).encode(errors="surrogateescape")
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
