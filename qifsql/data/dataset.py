"""A dataset: its name, the place of its rows, and its columns. Rows are never read here."""

import glob
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from qifsql.data.files import check_file, path_text, several_paths
from qifsql.data.frames import arrow_table, path_of
from qifsql.errors import ColumnError, DatasetError, did_you_mean, quoted

Format = Literal["parquet", "csv", "duckdb", "frame"]
Writing = Literal["", "unusual", "several"]

CSV_ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst")
PARQUET_ENDINGS = (".parquet", ".pq")
TABLES = {  # marks of lake tables in their folders: kind and reader
    "_delta_log": ("Delta", "delta_scan in DuckDB"),
    "metadata/*.metadata.json*": ("Iceberg", "iceberg_scan in DuckDB"),
    ".hoodie": ("Hudi", "spark.read.format('hudi') in Spark"),
}
FORMATS = "Parquet (.parquet), CSV or TSV (.csv, .tsv, also .gz and .zst), a glob, a folder of "
FORMATS += "Parquet, or table@file.duckdb"


@dataclass(frozen=True)
class Column:
    """One column: its name in the file, the engine's name for it, and its SQL type.

    The two names differ if the file has names that SQL cannot distinguish (``ID`` and ``id``).
    ``writing`` is about typed columns of CSV: ``unusual`` if the engine would write a value in
    another way (``007``), ``several`` if different fields are one value (``1.5``, ``1.50``).
    """

    name: str
    source_name: str
    type: str
    writing: Writing = ""


@dataclass(frozen=True)
class Schema:
    """The columns of a dataset, in the file's order; ``parts`` are the schemas of a collection."""

    dataset: str
    columns: tuple[Column, ...]
    parts: tuple["Schema", ...] = ()

    def find(self, name: str) -> Column | None:
        """Return the column of a name, exact or else without case; refuse an ambiguous name."""
        exact = [c for c in self.columns if c.name == name]
        matches = exact or [c for c in self.columns if c.name.casefold() == name.casefold()]
        if len(matches) > 1:
            if len({c.name for c in matches}) == 1:
                raise ColumnError(
                    f"{self.dataset} has {len(matches)} columns named {quoted(name)}; rename them"
                )
            twins = ", ".join(quoted(c.name) for c in matches)
            raise ColumnError(
                f"column {quoted(name)} is ambiguous in {self.dataset}: it has {twins}; "
                "write the exact name, or rename one of them"
            )
        return matches[0] if matches else None

    def __getitem__(self, name: str) -> Column:
        column = self.find(name)
        if column is None:
            hint = did_you_mean(name, (c.name for c in self.columns))
            raise ColumnError(f"column {quoted(name)} is not in {self.dataset}{hint}")
        return column


@dataclass(frozen=True)
class Dataset:
    """The files or table of one release.

    ``paths`` are existing files. For ``duckdb`` it is one database file: ``table`` and, after it is
    looked up, ``schema`` name the table, and ``catalog`` is the name of the opened file.
    ``statement`` copies the rows to an internal table of the engine. ``wave`` is a column and a
    value as text: only records with that value belong to the dataset. For a data frame ``frame`` is
    the Arrow table, and ``paths`` has its digest. ``all_varchar``, ``delimiter`` and ``encoding``
    are options for reading CSV; ``texts`` are columns of CSV that stay text because a type would
    round their fields.
    """

    name: str
    format: Format
    paths: tuple[str, ...]
    table: str = ""
    schema: str = ""
    catalog: str = "attached"
    statement: str = ""
    wave: tuple[str, str] | None = None
    hive: bool = False
    all_varchar: bool = False
    delimiter: str | None = None
    encoding: str | None = None
    texts: tuple[str, ...] = ()
    frame: Any = field(default=None, compare=False, repr=False)

    @property
    def csv(self) -> dict[str, object] | None:
        """Return the options for reading CSV, as plain data for manifests; None for others."""
        names = ("all_varchar", "delimiter", "encoding")
        return {name: getattr(self, name) for name in names} if self.format == "csv" else None

    @classmethod
    def open(
        cls,
        source: "str | Path | Dataset",
        *,
        all_varchar: bool = False,
        delimiter: str | None = None,
        encoding: str | None = None,
        table: str = "",
        name: str = "",
    ) -> "Dataset":
        """Return the dataset that ``source`` names; rows are not read.

        Args:
            source: A file, a glob, a folder of Parquet, ``table@file.duckdb``; or a data frame: an
                object with ``__arrow_c_stream__`` (Polars, pandas, PyArrow, a DuckDB relation), a
                Polars LazyFrame, or a DuckDB connection together with ``table``. A frame that is
                Arrow already is not copied.
            all_varchar: CSV: every column is text.
            delimiter: CSV: what separates fields; by default what splits the first line most often.
            encoding: CSV: such as latin-1; by default UTF-8.
            table: The table or view to read through a DuckDB connection.
            name: What to call a data frame in results; by default "frame".

        Returns:
            The dataset. That of a data frame keeps the frame, and has its SHA-256 digest as a path.

        Raises:
            DatasetError: There is nothing, or nothing of a known kind.
            TypeError: The object is neither a path nor a data frame.

        """
        if isinstance(source, Dataset):
            return source
        if (frame := arrow_table(source, table)) is not None:
            return cls(name or "frame", "frame", (path_of(frame),), frame=frame)
        text = path_text(source)
        if not text:  # a path without a name is the working folder
            raise DatasetError("the name of a dataset is empty; name a file")
        if re.match(r"^[a-zA-Z][a-zA-Z0-9+]+://", text):
            raise DatasetError(f"{text} is not a local file; qifsql never uses the network")
        if not Path(text).exists() and (m := re.fullmatch(r"(.+)@(.+)", text, re.S)):
            return cls._table(m[1], m[2], text)
        files, hive = _files(text)
        for file in files:
            check_file(file)
        if not any(Path(f).stat().st_size for f in files):
            raise DatasetError(f"{text} is empty: it has no bytes at all")
        ending = _ending(files[0], text)
        if ending in (".duckdb", ".db"):
            raise DatasetError(f"{text} is a database; name a table in it: TABLE@{text}")
        if any(_ending(f, text) not in _family(ending) for f in files):
            raise DatasetError(f"{text} has files of several kinds; name one kind")
        csv = ending in CSV_ENDINGS
        if not csv:
            _check_plain(files, text)
        if not csv and (all_varchar or delimiter or encoding):
            raise DatasetError(f"{text} is not CSV; the CSV options do not apply to it")
        if csv and delimiter is None and ".tsv" in ending:
            delimiter = "\t"
        return cls(
            Path(text).name or text,
            "csv" if csv else "parquet",
            files,
            hive=hive,
            all_varchar=all_varchar,
            delimiter=_delimiter(delimiter),
            encoding=encoding,
        )

    @classmethod
    def _table(cls, table: str, file: str, text: str) -> "Dataset":
        if not Path(file).is_file():
            raise DatasetError(f"{file} does not exist, so there is no {text}; check the path")
        return cls(text, "duckdb", (file,), table=table)

    @property
    def datasets(self) -> "tuple[Dataset, ...]":
        """Return the dataset in a tuple, as a collection returns its datasets."""
        return (self,)


def datasets(sources: object) -> list[Dataset]:
    """Return the datasets of a path, or of a list of paths; a Dataset stays as it is.

    Raises DatasetError, and TypeError as ``Dataset.open`` does.
    """
    return [Dataset.open(source) for source in several_paths(sources)]


def _delimiter(text: str | None) -> str | None:
    """Return one character; a backslash and t are a tab."""
    character = "\t" if text == "\\t" else text
    if character is not None and (len(character) != 1 or character in '"\r\n'):
        raise DatasetError(
            f"delimiter {quoted(character)} cannot be used; give one character, such as ;"
        )
    return character


def _files(text: str) -> tuple[tuple[str, ...], bool]:
    """Return the files behind a path, and whether folder names may be columns (``year=2018/``)."""
    path = Path(text)
    if path.is_dir():
        try:
            files = sorted(str(p) for p in path.rglob("*") if _is_part(p, path))
        except OSError as e:
            raise DatasetError(f"folder {text} cannot be listed: {e.strerror}") from e
        if not files:
            raise DatasetError(f"folder {text} has no Parquet files; name a file or a glob")
        return tuple(files), True
    if path.exists():
        return (text,), False
    if glob.has_magic(text):
        files = sorted(p for p in glob.iglob(text, recursive=True) if Path(p).is_file())
        if not files:
            raise DatasetError(f"{text} matches no file; check the pattern and the folder")
        return tuple(files), False
    folder = path.parent
    if not folder.is_dir():
        raise DatasetError(f"{text} does not exist: there is no folder {folder}")
    hint = did_you_mean(path.name, (p.name for p in folder.iterdir()) if path.name else ())
    hint = hint if hint.startswith("; did") else "; check the path"
    raise DatasetError(f"{text} does not exist{hint}")


def _is_part(file: Path, folder: Path) -> bool:
    """Return whether a file belongs to a folder of Parquet.

    Names like ``_log`` and ``.tmp`` do not.
    """
    inside = file.relative_to(folder).parts
    hidden = any(part.startswith(("_", ".")) for part in inside)
    return not hidden and file.suffix.casefold() in PARQUET_ENDINGS and file.is_file()


def _check_plain(files: tuple[str, ...], text: str) -> None:
    """Refuse Parquet files of a Delta, Iceberg or Hudi table, however they are named.

    Such a table keeps deleted and replaced records in its folder; only its log states which files
    and records are current. One of its files alone has the same problem.
    """
    inside = {Path(file).absolute().parent for file in files}
    inside |= {Path(file).resolve().parent for file in files}
    for folder in sorted({f for one in inside for f in (one, *one.parents)}, reverse=True):
        for pattern, (kind, reader) in TABLES.items():
            if next(folder.glob(pattern), None) is not None:
                raise DatasetError(
                    f"{text} has Parquet files of a {kind} table, in the folder {folder}: they may "
                    "hold records that were deleted or replaced; export the current records first "
                    f"({reader} reads them) to a Parquet file outside that folder, and name it"
                )


def _ending(file: str, text: str) -> str:
    """Return the ending that shows the kind of a file, from its name or its first bytes."""
    name = file.casefold()
    for ending in (*CSV_ENDINGS, *PARQUET_ENDINGS, ".duckdb", ".db"):
        if name.endswith(ending):
            return ending
    try:
        with Path(file).open("rb") as f:
            if f.read(4) == b"PAR1":
                return ".parquet"
    except OSError as e:
        raise DatasetError(f"{file} cannot be read: {e.strerror}") from e
    raise DatasetError(f"{text} is of an unknown kind; qifsql reads {FORMATS}")


def _family(ending: str) -> tuple[str, ...]:
    return CSV_ENDINGS if ending in CSV_ENDINGS else PARQUET_ENDINGS
