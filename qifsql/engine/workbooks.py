"""Sheets of Excel workbooks. Rust reads a sheet, which has at most 1,048,576 rows."""

import logging
import re
from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

from qifsql.data import installation
from qifsql.data.dataset import Dataset
from qifsql.data.formats import check_names, find_named
from qifsql.engine import sheet_text
from qifsql.engine.csv_header import Rows, first_names, is_number, may_be_header
from qifsql.errors import DatasetError, did_you_mean, plural, quoted

ROWS = 100_000  # rows in a row group
TOP = 100  # rows below the names that are looked at to tell a title


def write(dataset: Dataset, folder: Path, progress: Callable[[float], None]) -> Sequence[str]:
    """Write the rows of a sheet to a Parquet file; its header has the names of the columns.

    Rows without any cell are no records, and columns without name and cells are no columns.
    """
    try:
        import fastexcel
    except ImportError as e:
        raise DatasetError(
            f"{dataset.name}: Excel files need the extra: {installation.command('excel')}"
        ) from e
    import pyarrow.parquet as pq

    logger = logging.getLogger("fastexcel")  # silent: it would speak of columns without cells
    logger.handlers = [logging.NullHandler()]
    logger.propagate = False
    progress(0.0)
    has_second = False  # row of the header
    try:
        book = fastexcel.read_excel(dataset.files[0])
        name = _sheet(book, dataset)
        names, n_above, has_second = _header(lambda **rows: _load(book, name, **rows), dataset)
        n_header = dataset.header_rows
        sheet_text.check(dataset.files[0], name, dataset.name, n_above + n_header)
        rows = {"header_row": n_above, "skip_rows": n_header - 1}
        records = _load(book, name, **rows, schema_sample_rows=None, dtype_coercion="strict")
        table = _filled(records, names, dataset)
    except fastexcel.UnsupportedColumnTypeCombinationError as e:
        raise _several_types(dataset, str(e), has_second=has_second) from e
    except fastexcel.FastExcelError as e:
        raise DatasetError(
            f"{dataset.name} cannot be read: it is corrupt, protected by a password or no Excel "
            "workbook; save it again as .xlsx",
            detail=str(e),
        ) from e
    pq.write_table(table, folder / "rows.parquet", row_group_size=ROWS, compression="zstd")
    return ()  # no columns have both numbers and texts


def _several_types(dataset: Dataset, words: str, *, has_second: bool) -> DatasetError:
    """Return the error of a column with cells of several types, by the reader's ``words`` of it.

    ``has_second``: the row below the names may be the reason. A column without a name is refused
    as such.
    """
    match = re.search(r"dtype for column (.*)$", words, re.M)
    if nameless := re.fullmatch(r"__UNNAMED__(\d+)", match[1] if match else ""):
        # raises the error about a name that is missing after so many names
        check_names([*["a"] * int(nameless[1]), ""], dataset.name)
    if has_second:
        return DatasetError(
            f"{dataset.name}: the row below the names looks like a part of the header; add "
            "--header-rows 2",
            reading={"header_rows": 2},
        )
    column = f"column {quoted(match[1])}" if match else "a column"
    return DatasetError(
        f"{column} of {dataset.name} has cells of several types, such as numbers and texts; "
        "give the column one type, delete it, or name --header-rows if it has several",
        detail=words,
    )


def _load(book: Any, name: str, **options: Any) -> Any:
    """Return rows of a sheet as an Arrow table."""
    import pyarrow as pa

    return pa.table(book.load_sheet(name, **options))


def _only_filled(book: Any, names: Sequence[str], dataset: Dataset) -> str:
    """Return the only sheet with cells; DatasetError unless there is one."""
    first_row = {"header_row": None, "n_rows": 1, "dtypes": "string"}
    filled = [name for name in names if _load(book, name, **first_row).num_rows]
    if not filled:
        raise DatasetError(f"{dataset.name} has no sheet with cells; name another file")
    if len(filled) > 1:
        listed = ", ".join(map(quoted, filled))
        unpack, file = ("unpack it, and ", "FILE") if dataset.copies else ("", dataset.paths[0])
        raise DatasetError(
            f"{dataset.name} has {plural(len(filled), 'sheet')} with cells: {listed}; {unpack}name "
            f"one: SHEET@{file}"
        )
    return filled[0]


def _sheet(book: Any, dataset: Dataset) -> str:
    """Return the name in the workbook of the requested sheet, or of the only one with cells."""
    names = list(book.sheet_names)
    requested = dataset.table
    for name in names:
        if not requested or name.casefold() == requested.casefold():
            sheet_text.check_extent(dataset.files[0], name, dataset.name)
    if not requested:
        requested = _only_filled(book, names, dataset)
    matches = find_named(requested, names, lambda name: [name])
    if not matches:
        hint = did_you_mean(requested, names)
        raise DatasetError(f"{dataset.paths[0]} has no sheet {quoted(requested)}{hint}")
    return str(matches[0])


def _header(load: Callable[..., Any], dataset: Dataset) -> tuple[list[str], int, bool]:
    """Return the names, the number of rows above them, and whether the row below may be names, too.

    ``load`` reads rows; empty ones above the names are passed over. DatasetError if the first row
    is a title.
    """
    n_rows = dataset.header_rows + TOP
    top = load(header_row=None, skip_rows=dataset.skip, n_rows=n_rows, dtypes="string")
    rows = [[field or "" for field in row] for row in zip(*top.to_pydict().values(), strict=True)]
    n_empty = next((i for i, row in enumerate(rows) if any(row)), len(rows))
    if n_empty == len(rows):
        raise DatasetError(f"{dataset.name} is empty: its first row must name the columns")
    n_above, rows = dataset.skip + n_empty, rows[n_empty:]
    n_titles = _count_titles(rows)
    if n_titles >= dataset.header_rows:  # the names are below the header
        skip = n_above + n_titles
        raise DatasetError(
            f"{dataset.name} seems to have a title above its table; add --skip {skip}",
            reading={"skip": skip},
        )
    has_second = dataset.header_rows == 1 and may_be_header(rows[1:])
    return first_names(rows[: dataset.header_rows]), n_above, has_second


def _count_titles(rows: Rows) -> int:
    """Return the number of rows of a title: above the first that names each column in use.

    A row of a title is empty, or has its first cell and at most half as many as there are names.
    Names are no numbers.
    """
    for i, names in enumerate(rows):
        used = [j for j in range(len(names)) if any(row[j] for row in rows[i + 1 :])]
        if used and all(names[j] for j in used):
            above = [row for row in rows[:i] if any(row)]
            are_titles = all(row[0] and 2 * sum(map(bool, row)) <= len(used) for row in above)
            return i if are_titles and not any(map(is_number, names)) else 0
    return 0


def _filled(table: Any, names: Sequence[str], dataset: Dataset) -> Any:
    """Return the records of a sheet as an Arrow table, without those that have no cell."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = enumerate(table.columns)
    used = [i for i, column in columns if names[i] or column.null_count < len(column)]
    table = table.select(used).rename_columns([names[i] for i in used])
    check_names(table.column_names, dataset.name)
    types = [pa.string() if pa.types.is_null(f.type) else f.type for f in table.schema]
    table = table.cast(pa.schema(list(zip(table.column_names, types, strict=True))))
    has_cells = reduce(pc.or_, map(pc.is_valid, table.columns))
    return table.filter(has_cells)
