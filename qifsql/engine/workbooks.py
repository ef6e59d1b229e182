"""Sheets of Excel workbooks. Rust reads a sheet, which has at most 1,048,576 rows."""

import logging
import re
from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

from qifsql.data import installation
from qifsql.data.dataset import Dataset
from qifsql.data.formats import check_names, named
from qifsql.engine import sheet_text
from qifsql.errors import DatasetError, did_you_mean, plural, quoted

ROWS = 100_000  # rows in a row group


def write(dataset: Dataset, folder: Path, progress: Callable[[float], None]) -> Sequence[str]:
    """Write the rows of a sheet to a Parquet file; its first row has the names of the columns.

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
    try:
        book = fastexcel.read_excel(dataset.files[0])
        name = _sheet(book, dataset)
        sheet_text.check(dataset.files[0], name, dataset.name)
        table = _rows(lambda **options: _load(book, name, **options), dataset)
    except fastexcel.UnsupportedColumnTypeCombinationError as e:
        match = re.search(r"dtype for column (.*)$", str(e), re.M)
        if nameless := re.fullmatch(r"__UNNAMED__(\d+)", match[1] if match else ""):
            raise DatasetError(
                f"column {int(nameless[1]) + 1:,} of {dataset.name} has no name in its first row; "
                "if that row is a title, delete the rows above the names"
            ) from e
        column = f"column {quoted(match[1])}" if match else "a column"
        raise DatasetError(
            f"{column} of {dataset.name} has cells of several types, such as numbers and texts; "
            "give the column one type, or delete it",
            detail=str(e),
        ) from e
    except fastexcel.FastExcelError as e:
        raise DatasetError(
            f"{dataset.name} cannot be read: it is corrupt, protected by a password or no Excel "
            "workbook; save it again as .xlsx",
            detail=str(e),
        ) from e
    pq.write_table(table, folder / "rows.parquet", row_group_size=ROWS, compression="zstd")
    return ()  # no columns have both numbers and texts


def _load(book: Any, name: str, **options: Any) -> Any:
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
    matches = named(requested, names, lambda name: [name])
    if not matches:
        hint = did_you_mean(requested, names)
        raise DatasetError(f"{dataset.paths[0]} has no sheet {quoted(requested)}{hint}")
    return str(matches[0])


def _rows(load: Callable[..., Any], dataset: Dataset) -> Any:
    """Return the records of a sheet as an Arrow table; ``load`` reads its rows with options."""
    import pyarrow as pa
    import pyarrow.compute as pc

    header = load(header_row=None, n_rows=1, dtypes="string")
    if not header.num_rows:
        raise DatasetError(f"{dataset.name} is empty: its first row must name the columns")
    names = [column[0].as_py() or "" for column in header.columns]
    table = load(header_row=0, schema_sample_rows=None, dtype_coercion="strict")
    used = [
        i for i, column in enumerate(table.columns) if names[i] or column.null_count < len(column)
    ]
    table = table.select(used).rename_columns([names[i] for i in used])
    check_names(table.column_names, dataset.name)
    types = [pa.string() if pa.types.is_null(f.type) else f.type for f in table.schema]
    table = table.cast(pa.schema(list(zip(table.column_names, types, strict=True))))
    has_cells = reduce(pc.or_, map(pc.is_valid, table.columns))
    return table.filter(has_cells)
