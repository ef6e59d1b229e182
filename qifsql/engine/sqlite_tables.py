"""Tables of SQLite, read with Python's own library in batches."""

import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sqlglot import exp

from qifsql.data.dataset import Dataset
from qifsql.data.expressions import filled, identifier
from qifsql.data.formats import check_names, find_named
from qifsql.errors import DatasetError, did_you_mean, quoted

CELLS = 400_000  # cells that are in memory at once
TOGETHER = 100  # columns that one statement checks
STEPS = 100_000  # of SQLite's machine, between two looks for Ctrl-C
EXACT = 2**53  # the largest whole number up to which floats are exact
JOURNALS = ("-wal", "-journal")
KINDS = ("integer", "real", "text", "blob")
ROWID = "rowid"
# In these templates ``field`` is a cell of a column.
COUNT = "count(CASE WHEN typeof(field) = kind THEN 1 END)"
BOUND = "coalesce({}(CASE WHEN typeof(field) = 'integer' THEN field END), 0)"

Kind = Literal["integer", "real", "text", "blob", "mixed"]


@dataclass(frozen=True)
class _Contents:
    """The number of cells of each kind in a column, and the bounds of its whole numbers."""

    integer: int
    real: int
    text: int
    blob: int
    least: int
    greatest: int

    def kind(self, name: str, where: str) -> Kind:
        """Return the type that keeps all values of column ``name`` apart; DatasetError without one.

        Whole numbers up to 2^53 are exact as reals; texts and one kind of number are ``mixed``.
        """
        present = [kind for kind in KINDS if getattr(self, kind)]
        exact = self.least >= -EXACT and self.greatest <= EXACT
        if present == ["integer", "real"] and exact:
            return "real"
        if "text" in present and len(present) == 2 and "blob" not in present:  # one kind of number
            return "mixed"
        if len(present) > 1:
            raise DatasetError(
                f"column {quoted(name)} of {where} has cells of several types "
                f"({', '.join(present)}) that cannot be compared exactly; give it one type"
            )
        return next((kind for kind in ("integer", "real", "blob") if kind in present), "text")


def write(dataset: Dataset, folder: Path, progress: Callable[[float], None]) -> Sequence[str]:
    """Write a table to a Parquet file; return the names of columns with both numbers and texts."""
    file = Path(dataset.paths[0])
    for ending in JOURNALS:
        journal = file.with_name(file.name + ending)
        if journal.exists() and journal.stat().st_size:
            raise DatasetError(
                f"{file} has changes in {journal.name} that are not in the file yet; close the "
                "program that uses it, or open and close it with sqlite3, and run this again"
            )
    _check_size(file)
    try:
        connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            connection.set_progress_handler(lambda: 0, STEPS)  # where Ctrl-C is noticed
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            return _copy(connection, dataset, folder / "rows.parquet", progress)
        finally:
            connection.close()
    except sqlite3.Error as e:
        if "interrupted" in str(e):
            raise KeyboardInterrupt from e
        if "decode" in str(e):
            what = "has a text that is not UTF-8; correct it"
        else:
            what = "cannot be read: it is corrupt, truncated or encrypted; copy or export it again"
        raise DatasetError(f"{dataset.name} {what}", detail=str(e)) from e


def _check_size(file: Path) -> None:
    """Refuse a file without all its pages: SQLite reads what is cut off as zeros."""
    with file.open("rb") as opened:
        header = opened.read(100)
        size = opened.seek(0, os.SEEK_END)
    page_size = int.from_bytes(header[16:18])  # the offsets are those of SQLite's file format
    page_size = 2**16 if page_size == 1 else page_size  # two bytes cannot hold it
    is_counted = header[24:28] == header[92:96]  # by a version of SQLite that counts pages
    pages = int.from_bytes(header[28:32]) if is_counted else 0
    if len(header) < 100 or not page_size or size % page_size or size < page_size * pages:
        raise DatasetError(f"{file} is truncated: it does not have all its pages; copy it again")


def _copy(
    connection: sqlite3.Connection, dataset: Dataset, path: Path, progress: Callable[[float], None]
) -> list[str]:
    """Copy the rows of a table to Parquet in batches; return the names of ``mixed`` columns.

    A cell of these is a structure: its text, and whether it is a number.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {"integer": pa.int64(), "real": pa.float64(), "text": pa.string(), "blob": pa.binary()}
    types["mixed"] = pa.struct([("text", pa.string()), ("number", pa.bool_())])
    table, has_rowid = _table(connection, dataset)
    selected = exp.select("*").from_(table)
    names = [name for name, *_ in connection.execute(_text(selected.limit(0))).description]
    check_names(names, dataset.name)
    (records,) = connection.execute(_text(exp.select("count(*)").from_(table))).fetchone()
    kinds = dict(_kinds(connection, table, names, dataset.name))
    if has_rowid and ROWID not in {name.casefold() for name in names}:
        selected = selected.order_by(exp.column(ROWID))  # the order of the file
    cursor = connection.execute(_text(selected))
    schema = pa.schema([(name, types[kinds[name]]) for name in names])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        done = 0
        while rows := cursor.fetchmany(max(1, CELLS // len(names))):
            arrays = []
            for cells, field in zip(zip(*rows, strict=True), schema, strict=True):
                values = _structures(cells) if kinds[field.name] == "mixed" else cells
                arrays.append(pa.array(values, field.type))
            writer.write_batch(pa.record_batch(arrays, schema=schema))
            done += len(rows)
            progress(done / max(records, 1))
    return [name for name in names if kinds[name] == "mixed"]


def _structures(cells: Iterable[object]) -> list[dict[str, object] | None]:
    """Return the cells of a column with numbers and texts, so that 1 and the text 1 differ."""
    return [
        None if cell is None else {"text": str(cell), "number": not isinstance(cell, str)}
        for cell in cells
    ]


def _table(connection: sqlite3.Connection, dataset: Dataset) -> tuple[exp.Table, bool]:
    """Return the table by its name, else in any case, and whether it has a row id.

    DatasetError if it is a view or virtual: the author of the file decides what these read.
    """
    is_table = exp.column("type").isin("table", "view")
    listed = exp.select("name", "type", "sql").from_("sqlite_master").where(is_table)
    names: list[str] = []
    stored: dict[str, str] = {}  # the CREATE statements of tables that hold their rows, by name
    for name, type_, sql in connection.execute(_text(listed)):
        if not name.startswith("sqlite_"):
            names.append(name)
            if type_ == "table" and not re.match(r"create\s+virtual\b", sql or "", re.I):
                stored[name] = sql or ""
    requested = dataset.table
    matches = find_named(requested, names, lambda name: [name])
    if not matches:
        hint = did_you_mean(requested, stored)
        raise DatasetError(f"{dataset.paths[0]} has no table {quoted(requested)}{hint}")
    name = matches[0]
    if name not in stored:
        raise DatasetError(
            f"{quoted(requested)} in {dataset.paths[0]} is a view or a virtual table, which may "
            "compute anything; store its rows in a table, and name that"
        )
    has_rowid = not re.search(r"\bwithout\s+rowid\b[^)]*$", stored[name], re.I)
    return exp.table_(identifier(name)), has_rowid


def _kinds(
    connection: sqlite3.Connection, table: exp.Table, names: Sequence[str], where: str
) -> Iterator[tuple[str, Kind]]:
    """Yield name and kind of each column, from the cells: SQLite does not check their types."""
    # one for each field of _Contents, in their order
    templates = [COUNT.replace("kind", f"'{kind}'") for kind in KINDS]
    templates += [BOUND.format("min"), BOUND.format("max")]
    for i in range(0, len(names), TOGETHER):
        batch = names[i : i + TOGETHER]
        values: list[exp.Expr] = []
        for name in batch:
            words = {"field": exp.column(identifier(name))}
            values += [filled(template, words, "sqlite") for template in templates]
        # one row: for each column of the batch what its cells are, a value for each template
        row = connection.execute(_text(exp.select(*values).from_(table.copy()))).fetchone()
        for j, name in enumerate(batch):
            contents = _Contents(*row[j * len(templates) : (j + 1) * len(templates)])
            yield name, contents.kind(name, where)


def _text(query: exp.Query) -> str:
    """Return a query as SQLite's SQL."""
    return query.sql("sqlite")
