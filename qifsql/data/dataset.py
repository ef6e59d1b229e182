"""A dataset: its name, the place of its rows, its columns and their catalog. No rows are read."""

import codecs
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from qifsql.data.csv_options import (
    ALWAYS,
    CSV_OPTIONS,
    NATIVE,
    OF_OTHER_FORMATS,
    checked_options,
    refuse_options,
)
from qifsql.data.dataset_files import files_of, one_format
from qifsql.data.dates import Order
from qifsql.data.files import check_file, marked_encoding, path_text, several_paths
from qifsql.data.formats import (
    CONVERTED,
    SQLITE,
    ZIPPED,
    Format,
    copy_name,
    find_named,
    magic,
    table_in_zip,
)
from qifsql.data.frames import Lazy, Stream, are_records, arrow_table, digest_path, is_table
from qifsql.data.missing import MissingValues
from qifsql.errors import ColumnError, DatasetError, did_you_mean, quoted

CATALOGUE = "spark:"  # how the name of a table of Spark's catalogue begins
REMOTE = re.compile(r"(hdfs|viewfs|s3|s3a|gs|abfs|abfss|wasb|wasbs|dbfs|oss)://.", re.IGNORECASE)
"""File systems that Spark reads. DuckDB does not: qifsql itself never uses the network."""
NO_NAMES = "; describe lists its columns; if its first line is a record, write their names above it"
Irregularity = Literal["", "unusual", "several", "ambiguous", "several, ambiguous"]


@dataclass(frozen=True)
class Column:
    """One column: its name in the file, the engine's name for it, and its SQL type.

    The two names differ if the file has names that SQL cannot distinguish (``ID`` and ``id``).
    ``irregularity`` is about typed columns of CSV: ``unusual`` if the engine would write a value in
    another way (``007``), ``several`` if different fields are one value (``1.5``, ``1.50``),
    ``ambiguous`` if dates may have the day or the month first (07/04/1980); both together.
    ``label`` is what the file says about the variable, such as the question of a survey;
    ``value_labels`` are its labels of values, by their texts.
    ``heading`` is the text in the header of a CSV file if it is blank, and ``name`` stands for it.
    """

    name: str
    source_name: str
    type: str
    irregularity: Irregularity = ""
    label: str = ""
    heading: str | None = None
    value_labels: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def title(self) -> str:
        """Return the name that stands in the file, which may be blank."""
        return self.name if self.heading is None else self.heading


@dataclass(frozen=True)
class Schema:
    """The columns of a dataset, in the file's order; ``parts`` are the schemas of a collection.

    ``doubtful``: the names are the first line of a CSV file, and may be the values of a record.
    ``second_header``: the first record of a CSV file or a sheet may be a row of its header.
    ``blank`` is the number of records of a CSV file that have no value in any column;
    ``row_names``: its first column numbers the rows, and its first line lacks a name for it.
    ``left_out`` are columns of a data frame that are not read, because their values have several
    types.
    """

    dataset: str
    columns: tuple[Column, ...]
    parts: tuple["Schema", ...] = ()
    doubtful: bool = False
    blank: int = 0
    second_header: bool = False
    row_names: bool = False
    left_out: tuple[str, ...] = ()

    def find(self, name: str) -> Column | None:
        """Return the column of a name, exact or else without case; refuse an ambiguous name."""
        matches = find_named(name, self.columns, lambda column: [column.name])
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
        """Return the column of a name, as ``find``; ColumnError, with a hint, if there is none."""
        column = self.find(name)
        if column is None and name in self.left_out:
            raise ColumnError(
                f"column {quoted(name)} of {self.dataset} is not read, because its values have "
                "several types; give it one"
            )
        if column is None:
            names = (c.name for c in self.columns)
            hint = NO_NAMES if self.doubtful else did_you_mean(name, names)
            raise ColumnError(f"column {quoted(name)} is not in {self.dataset}{hint}")
        return column


@dataclass(frozen=True)
class Dataset:
    """The files or table of one release.

    ``paths`` are existing files. For ``duckdb`` it is one database file: ``table`` and, after it is
    looked up, ``schema`` name the table, and ``catalog`` is the name of the opened file. For
    ``sqlite`` and ``excel``, ``table`` is the table or sheet; of a .zip, it is the file in it. The
    engine reads formats in ``CONVERTED`` from a private copy. ``copies`` are private copies of
    files, in UTF-8 or unpacked. ``read_as`` is how the rows of a table of the engine were read.
    ``statement`` copies the rows to an internal table of the engine. ``wave`` is a column and a
    value as text: only records with that value belong to the dataset. For a data frame ``frame`` is
    the Arrow table, ``paths`` has its digest, and it lacks the columns ``left_out``.
    ``CSV_OPTIONS`` are options for reading CSV; ``header`` are the names in a header of several
    rows; ``texts`` are columns of CSV that stay text because a type would round their fields;
    ``mixed_ends``: some of its lines end in CR and LF, some in LF. ``na`` are the user's words for
    missing values; after the columns are looked up, ``missing`` has the values that they are and
    ``names`` all columns, by the engine's names.
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
    decimal: str | None = None
    skip: int = 0
    header_rows: int = 1
    date_order: Order | None = None
    header: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    mixed_ends: bool = False
    na: tuple[str, ...] = ()
    missing: tuple[MissingValues, ...] = ()
    names: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    copies: tuple[str, ...] = field(default=(), compare=False)
    read_as: Mapping[str, object] = field(default_factory=dict, compare=False)
    frame: Any = field(default=None, compare=False, repr=False)

    @property
    def csv(self) -> dict[str, object] | None:
        """Return the options for reading CSV or sheets, as plain data for manifests; or None.

        Those in ``ALWAYS`` are there for all CSV, others where they differ from the usual ones.
        """
        always = ALWAYS if self.format == "csv" else ()
        options = {name: getattr(self, name) for name in CSV_OPTIONS}
        return {n: v for n, v in options.items() if n in always or v != CSV_OPTIONS[n]} or None

    @property
    def identity_of_reading(self) -> list[object]:
        """Return how the file is read, to tell requests apart."""
        if self.read_as:
            return list(self.read_as.items())
        unusual = [[n, v] for n, v in (self.csv or {}).items() if n not in ALWAYS]
        return [self.all_varchar, self.delimiter, self.encoding, *unusual, *self.na]

    @property
    def is_decoded(self) -> bool:
        """Return whether the engine reads a private copy: in UTF-8, or of a table in a .zip."""
        if self.format == "spark":
            return False
        is_text = self.encoding is not None and codecs.lookup(self.encoding).name not in NATIVE
        return is_text or self.paths[0].casefold().endswith(ZIPPED)

    @property
    def files(self) -> tuple[str, ...]:
        """Return the files that the engine reads: those of the user, or their private copies."""
        return self.copies or self.paths

    @property
    def read_with(self) -> Mapping[str, object]:
        """Return how the file is read, as plain data for manifests."""
        return self.read_as or {"csv": self.csv, **({"na": list(self.na)} if self.na else {})}

    @classmethod
    def open(
        cls,
        source: "Tabular",
        *,
        all_varchar: bool = False,
        delimiter: str | None = None,
        encoding: str | None = None,
        decimal: str | None = None,
        skip: int | None = None,
        header_rows: int | None = None,
        date_order: str | None = None,
        na: str | Sequence[str] = (),
        table: str = "",
        name: str = "",
    ) -> "Dataset":
        """Return the dataset that ``source`` names; rows are not read.

        Args:
            source: A file, a glob, a folder of Parquet, ``table@file`` of DuckDB or SQLite,
                ``sheet@file.xlsx``; with Spark also ``spark:db.table`` and URLs of Parquet; or a
                data frame: an object with ``__arrow_c_stream__`` (Polars, pandas, PyArrow, a DuckDB
                relation), a Polars LazyFrame, columns by name, a list of records, or a DuckDB
                connection together with ``table``. A frame that is Arrow already is not copied.
                ``{"visits": frame}`` is a data frame with its name in results.
            all_varchar: CSV, SPSS, Stata, SAS: every column is text; labels of values stand for
                their codes.
            delimiter: CSV: what separates fields; by default what splits the first line most often.
            encoding: CSV: a name that Python knows, such as cp1252 or latin-1; by default UTF-8,
                or UTF-16 if the file begins with its mark.
            decimal: CSV: decimal mark of numbers, "," or "." (default).
            skip: CSV, Excel: number of lines above the names of columns that are not read
                (default 0).
            header_rows: CSV, Excel: number of rows of the header (default 1). A column has the
                first name that is not empty in them.
            date_order: CSV: "dmy" (07/04/1980 is 7 April), "mdy" or "ymd"; by default found in the
                file, with day first where both fit.
            na: Words for missing values, in all columns (NA,.,-9) or in one (income=-9). An empty
                text is a word, too.
            table: The table or view to read through a DuckDB connection.
            name: What to call a data frame in results; by default "frame".

        Returns:
            The dataset. That of a data frame keeps the frame, and has its SHA-256 digest as a path.

        Raises:
            DatasetError: There is nothing, or nothing of a known kind.
            TypeError: The object is neither a path nor a data frame.

        """
        words = (na,) if isinstance(na, str) else tuple(na)
        options = checked_options(
            all_varchar=all_varchar,
            delimiter=delimiter,
            encoding=encoding,
            decimal=decimal,
            skip=skip,
            header_rows=header_rows,
            date_order=date_order,
        )
        if isinstance(source, Dataset):
            return replace(source, na=words) if words else source
        if isinstance(source, Mapping) and any(map(is_table, source.values())):
            if len(source) > 1:
                raise TypeError("a dict of several data frames is several datasets; name one")
            ((title, source),) = source.items()
            name = str(title)
        frame, mixed = arrow_table(source, table)
        if frame is not None:
            path = digest_path(frame)
            return cls(name or "frame", "frame", (path,), na=words, left_out=mixed, frame=frame)
        return cls._from_path(path_text(source), words, options)

    @classmethod
    def _from_path(cls, text: str, na: tuple[str, ...], options: Mapping[str, Any]) -> "Dataset":
        """Return the dataset of a path: files, TABLE@FILE, or a table or URL of Spark."""
        if not text:  # a path without a name is the working folder
            raise DatasetError("the name of a dataset is empty; name a file")
        if is_of_spark(text):
            refuse_options(options, text)
            return cls(text, "spark", (text,), na=na)
        if re.match(r"^[a-zA-Z][a-zA-Z0-9+]+://", text):
            raise DatasetError(f"{text} is not a local file; qifsql never uses the network")
        table_in_file = None if _exists(text) else re.fullmatch(r"(.+)@(.+)", text, re.S)
        if table_in_file is None:
            return cls._from_files(text, text, na, options)
        table, file = table_in_file.groups()
        if file.casefold().endswith(ZIPPED):
            return cls._from_files(file, text, na, options, table=table)
        return cls._from_table(table, file, text, na, options)

    @classmethod
    def _from_files(
        cls,
        path: str,
        text: str,
        na: tuple[str, ...],
        options: Mapping[str, Any],
        *,
        table: str = "",
    ) -> "Dataset":
        """Return the dataset of files (a file, folder or glob), or of a table in a .zip.

        ``path`` names the files; ``text`` is the source as the user wrote it: the path, or
        TABLE@PATH.
        """
        files, hive = files_of(path)
        name = text if table else Path(text).name or text  # tables of one file differ in the text
        for file in files:
            check_file(file)
        if not any(Path(f).stat().st_size for f in files):
            raise DatasetError(f"{text} is empty: it has no bytes at all")
        if len(files) == 1 and files[0].casefold().endswith(ZIPPED):
            table, format_, ending = table_in_zip(files[0], table)
        else:
            format_, ending = one_format(files, text)
        if format_ != "csv":
            of_format = OF_OTHER_FORMATS.get(format_, ())
            refuse_options(options, text, of_format)
            usable = {option: options[option] for option in of_format}
            return cls(name, format_, files, table, hive=hive, na=na, **usable)
        delimiter = options["delimiter"] or ("\t" if ".tsv" in ending else None)
        encoding = options["encoding"] or (None if table else marked_encoding(files[0]))
        options = {**options, "delimiter": delimiter, "encoding": encoding}
        return cls(name, format_, files, table, hive=hive, na=na, **options)

    @classmethod
    def _from_table(
        cls, table: str, file: str, text: str, na: tuple[str, ...], options: Mapping[str, Any]
    ) -> "Dataset":
        """Return the dataset of ``text``, TABLE@FILE: a table of a database, or a sheet."""
        if not Path(file).is_file():
            raise DatasetError(f"{file} does not exist, so there is no {text}; check the path")
        check_file(file)
        if Path(file).suffix.casefold() == ".xlsx":
            return replace(cls._from_files(file, text, na, options), name=text, table=table)
        refuse_options(options, text)
        sqlite = magic(file).startswith(SQLITE)
        if Path(file).suffix.casefold() in (".sqlite", ".sqlite3") and not sqlite:
            raise DatasetError(f"{file} is not a SQLite database, as its name says; check the file")
        return cls(text, "sqlite" if sqlite else "duckdb", (file,), table=table, na=na)

    @property
    def place(self) -> tuple[list[Path], str]:
        """Return where the rows are: the files, without links, and the table in lower case."""
        return sorted(Path(path).resolve() for path in self.paths), self.table.casefold()

    @property
    def copy_name(self) -> str:
        """Return the name of the private copy of the rows; empty if the engine reads the files."""
        reading = [f"{option}={value}" for option, value in (self.csv or {}).items()]
        return copy_name(self.paths, self.table, *reading) if self.format in CONVERTED else ""

    @property
    def datasets(self) -> "tuple[Dataset, ...]":
        """Return the dataset in a tuple, as a collection returns its datasets."""
        return (self,)


def is_of_spark(text: str) -> bool:
    """Return whether a path is a table of Spark's catalogue or the URL of a file system."""
    return bool(REMOTE.match(text)) or (text.startswith(CATALOGUE) and not _exists(text))


def datasets(sources: object) -> list[Dataset]:
    """Return the datasets of a path, or of a list of paths; a Dataset stays as it is.

    Of a dictionary of data frames, each is a dataset with its name. Raises DatasetError, and
    TypeError as ``Dataset.open`` does.
    """
    if isinstance(sources, Mapping) and any(map(is_table, sources.values())):
        return [Dataset.open(frame, name=str(name)) for name, frame in sources.items()]
    if are_records(sources):
        return [Dataset.open(cast("Tabular", sources))]
    return [Dataset.open(source) for source in several_paths(sources)]


def titles_of(datasets: Sequence[Dataset]) -> list[str]:
    """Return the titles of datasets: their names, or their paths if names are the same."""
    names = [d.name for d in datasets]
    return [d.paths[0] if names.count(d.name) > 1 else d.name for d in datasets]


def given_again(datasets: Sequence[Dataset]) -> list[Dataset]:
    """Return the datasets whose files and table are those of one before them."""
    places = [dataset.place for dataset in datasets]
    return [dataset for i, dataset in enumerate(datasets) if places[i] in places[:i]]


def _exists(text: str) -> bool:
    try:
        return Path(text).exists()
    except OSError:  # the name is too long for a file: it may be that of a table
        return False


Tabular: TypeAlias = str | Path | Stream | Lazy | Dataset | Mapping[str, Any]
"""Sources of one dataset: a path, a data frame, columns by name, or a dataset."""
