"""Results as Excel workbooks, with a sheet for each table, and no formulas or links."""

from collections.abc import Mapping
from datetime import datetime
from io import BytesIO
from typing import Any

import polars as pl
from polars.selectors import float as floats
from polars.selectors import integer

from qifsql.errors import OutputError, large

ROWS, NAME = 1_048_575, 31
"""The most rows below the names of columns, and characters of a name, of a sheet."""

EXACT = 10**15
"""The smallest whole number that would lose digits: a sheet keeps 15."""

FORMATS: dict[Any, str] = {pl.Float64: "General"}
"""The format of numbers, which shows all their digits."""

OPTIONS = {
    **{"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False},
    **{"strings_to_numbers": False},
}


def workbook(tables: Mapping[str, pl.DataFrame], timestamp: datetime) -> bytes:
    """Return a workbook with a sheet for each table, the same for the same tables and time.

    No text becomes a formula or a link. Numbers that a sheet cannot hold (whole numbers of
    more than 15 digits, infinity) become text.

    Raises:
        OutputError: A table has more rows than a sheet holds.

    """
    import xlsxwriter

    buffer = BytesIO()
    with xlsxwriter.Workbook(buffer, OPTIONS) as book:
        book.set_properties({"created": timestamp.replace(tzinfo=None)})
        for name, frame in tables.items():
            if frame.height > ROWS:
                raise OutputError(
                    f"the table {name} has {large(frame.height)} rows and a sheet holds "
                    f"{large(ROWS)}; write .parquet or .csv"
                )
            frame.pipe(_plain).write_excel(book, name[:NAME], autofit=True, dtype_formats=FORMATS)
    return buffer.getvalue()


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the table with text in place of whole numbers from EXACT, infinity and decimals."""
    kinds = frame.schema
    inexact = [
        name
        for name in frame.select(integer()).columns
        if (frame[name].cast(pl.Int128).abs() >= EXACT).any()
    ]
    infinite = [name for name in frame.select(floats()).columns if frame[name].is_infinite().any()]
    decimal = [name for name, kind in kinds.items() if kind.is_decimal()]
    return frame.with_columns(pl.col([*inexact, *infinite, *decimal]).cast(pl.String))
