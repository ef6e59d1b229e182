"""The text of a sheet in an Excel workbook (.xlsx): what its reader passes over in silence."""

import re
import zipfile
import zlib
from collections.abc import Iterator
from html import unescape
from posixpath import join, normpath

from qifsql.errors import DatasetError, plural, quoted

CHUNK = 2**20  # bytes of a sheet that are read together
FORMULA = re.compile(  # a cell with a formula and no value; its attributes
    rb"<c\b([^>]*)>\s*<f\b(?:[^>]*/>|[^>]*>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>"
)
CELL = re.compile(rb'<c\b[^>]*?\br="([A-Z]{1,3})(\d{1,7})"')
AREA = 10_000_000  # cells of a rectangle that is read, however few of them are filled
SPARSE = 50  # cells of a larger one for each that is filled, at most
MERGED = re.compile(rb'<mergeCell\b[^>]*\bref="[A-Z]+\d+:[A-Z]+(\d+)"')
DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
SHEET = re.compile(r"<sheet\b[^>]*>")
LINK = re.compile(r"<Relationship\b[^>]*>")


def check(path: str, sheet: str, title: str, n_above: int) -> None:
    """Refuse a sheet with formulas that have no value, or with merged cells below its header.

    The header ends after ``n_above`` rows. Both are read as missing values. Other workbooks than
    .xlsx are not looked at.
    """
    formulas = merged = 0
    for cells, rest in _pieces(path, sheet):
        # the value of a formula of a text may be an empty text
        formulas += sum(b't="str"' not in match[1] for match in FORMULA.finditer(cells))
        # they are listed after all cells
        merged = sum(int(match[1]) > n_above for match in MERGED.finditer(rest))
    if formulas:
        raise DatasetError(
            f"{title} has {plural(formulas, 'formula')} without a value, because no program has "
            "calculated them; open it in Excel, and save it"
        )
    if merged:
        raise DatasetError(
            f"{title} has {plural(merged, 'merged cell')} below its header, of which only the "
            "first part is read as a value; unmerge them, and write the value into each part"
        )


def check_extent(path: str, sheet: str, title: str) -> None:
    """Refuse a sheet with a cell so far from the others that the reader would fill its memory.

    It holds the whole rectangle up to the last row and the last column.
    """
    n_cells, last_row, last_column, farthest = 0, 0, 0, ""
    for cells, _ in _pieces(path, sheet):
        for letters, digits in CELL.findall(cells):
            n_cells += 1
            row, column = int(digits), _column(letters)
            if row > last_row or column > last_column:
                farthest = f"{letters.decode()}{row}"
            last_row, last_column = max(last_row, row), max(last_column, column)
    area = last_row * last_column
    if area > AREA and area > SPARSE * n_cells:
        raise DatasetError(
            f"sheet {quoted(sheet)} of {title} has cells as far away as {farthest}, and "
            f"{plural(n_cells, 'cell')} in all; delete what is no part of the table, and save it"
        )


def _column(letters: bytes) -> int:
    """Return the number of a column from its letters: 1 for A, 27 for AA."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def _pieces(path: str, sheet: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield the XML of a sheet in pieces: whole cells, and what follows the last whole cell."""
    try:
        with zipfile.ZipFile(path) as book:
            part = _part(book, sheet)
            if part not in book.namelist():
                return
            with book.open(part) as file:
                rest = b""  # the beginning of a cell that the next chunk ends
                while chunk := file.read(CHUNK):
                    cells, end, rest = (rest + chunk).rpartition(b"</c>")
                    yield cells + end, rest
    except (*DAMAGES, OSError, ValueError, LookupError):
        return  # the reader says what is wrong


def _part(book: zipfile.ZipFile, sheet: str) -> str:
    """Return the name of the file in a workbook that has a sheet; empty if there is none."""
    sheets = book.read("xl/workbook.xml").decode()
    links = book.read("xl/_rels/workbook.xml.rels").decode()
    for tag in SHEET.findall(sheets):
        if unescape(_attribute(tag, "name")) == sheet:
            id_of_link = _attribute(tag, r"\w+:id")
            for link in LINK.findall(links):
                if _attribute(link, "Id") == id_of_link:
                    return normpath(join("/xl", _attribute(link, "Target"))).lstrip("/")
    return ""


def _attribute(tag: str, name: str) -> str:
    """Return the value of an attribute, whose name is a pattern; empty without it."""
    match = re.search(rf'\s{name}="([^"]*)"', tag)
    return match[1] if match else ""
