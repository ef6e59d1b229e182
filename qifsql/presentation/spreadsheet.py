"""Results as Excel workbooks, with a sheet for each table, and no formulas or links."""

from collections.abc import Mapping
from datetime import datetime
from io import BytesIO
from typing import Any

import polars as pl
from polars.selectors import float as floats
from polars.selectors import integer

from qifsql.errors import OutputError, large

MOST_ROWS = 1_048_575  # of a sheet, below the names of columns
LONGEST_NAME = 31  # characters of the name of a sheet
INEXACT_FROM = 10**15  # the smallest whole number that would lose digits: a sheet keeps 15
FORMATS: dict[Any, str] = {pl.Float64: "General"}  # numbers show all their digits

OPTIONS = {
    "in_memory": True,
    **dict.fromkeys(("strings_to_formulas", "strings_to_urls", "strings_to_numbers"), False),
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
            if frame.height > MOST_ROWS:
                raise OutputError(
                    f"the table {name} has {large(frame.height)} rows and a sheet holds "
                    f"{large(MOST_ROWS)}; write .parquet or .csv"
                )
            sheet = name[:LONGEST_NAME]
            frame.pipe(_plain).write_excel(book, sheet, autofit=True, dtype_formats=FORMATS)
    return buffer.getvalue()


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the table with text in place of large whole numbers, infinity and decimals."""
    inexact = [
        name
        for name in frame.select(integer()).columns
        if (frame[name].cast(pl.Int128).abs() >= INEXACT_FROM).any()
    ]
    infinite = [name for name in frame.select(floats()).columns if frame[name].is_infinite().any()]
    decimal = [name for name, kind in frame.schema.items() if kind.is_decimal()]
    return frame.with_columns(pl.col([*inexact, *infinite, *decimal]).cast(pl.String))
