"""Words for missing values: as the user writes them, and the values of columns that they are."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

OF_COLUMN = re.compile(r'("(?:[^"]|"")*"|[^"=,]+)=(.*)', re.DOTALL)
"""Words of one column: its name, in double quotes if it has a comma or sign, and the words."""


USUAL = (
    *("", ".", "-", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "None"),
    *("missing", "Missing", "unknown", "Unknown", "not stated", "Not stated", "refused", "Refused"),
    *("don't know", "Don't know", "ignorado", "Ignorado", "-9", "-99", "-999"),
)
"""Words that often mean a missing value. They are values unless the user says so."""
NINES = (9, 99, 999, 9999, 99999)
"""Codes that often mean a missing value, if they stand apart from the others of their column."""


@dataclass(frozen=True)
class MissingValues:
    """Values of one column that are missing.

    ``column`` is the engine's name, ``type`` the type of the column without ``words``. A
    ``converted`` column is text where it is read, and gets its type after they are taken out.
    """

    column: str
    type: str
    words: tuple[str, ...]
    converted: bool = False


def words(na: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the words for missing values by column, those of all columns under an empty name.

    >>> words(["NA,.,-9", "income=-8", ""])
    {'': ('NA', '.', '-9', ''), 'income': ('-8',)}
    """
    by_column: dict[str, list[str]] = {}
    for text in na:
        of_column = OF_COLUMN.fullmatch(text)
        name, listed = of_column.groups() if of_column else ("", text)
        if name.startswith('"'):
            name = name[1:-1].replace('""', '"')
        by_column.setdefault(name, []).extend(_fields(listed))
    return {name: tuple(dict.fromkeys(texts)) for name, texts in by_column.items()}


def option_text(column: str, texts: Sequence[str]) -> str:
    """Return the words of a column as a user writes them; those of nines are of it alone.

    >>> option_text("age", ["99", "NA"]), option_text("edu", ["NA", "."]), option_text("edu", [""])
    ('age=99,NA', 'NA,.', '')
    """
    row = io.StringIO()
    csv.writer(row, lineterminator="").writerow(texts)
    words_of_column = "" if texts == [""] else row.getvalue()
    if not {*texts} & {*map(str, NINES)}:
        return words_of_column
    quotes = '"' if re.search(r'[",=]', column) else ""
    name = column.replace(quotes, 2 * quotes) if quotes else column
    return f"{quotes}{name}{quotes}={words_of_column}"


def _fields(text: str) -> Iterator[str]:
    """Yield the words in a line of CSV; an empty line is the empty word."""
    try:
        yield from next(csv.reader([text], strict=True), [""]) or [""]
    except csv.Error:
        yield text
