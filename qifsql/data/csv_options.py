"""Options for reading CSV: their names, and the checks of what a user gives for them."""

import codecs
from collections.abc import Mapping, Sequence
from typing import Any

from qifsql.data.dates import order
from qifsql.errors import NOT_UTF8, DatasetError, quoted

CSV_OPTIONS: Mapping[str, object] = {
    **{"all_varchar": False, "delimiter": None, "encoding": None},
    **{"decimal": None, "skip": 0, "header_rows": 1, "date_order": None},
}
"""The options, by the names of the command line, studies and manifests, with their usual values."""
OF_OTHER_FORMATS: Mapping[str, Sequence[str]] = {
    "excel": ("skip", "header_rows"),
    "statistics": ("all_varchar",),
}
"""Options that other formats have, too."""
ALWAYS = ("all_varchar", "delimiter", "encoding")
"""Options of CSV that manifests have even if they are the usual ones."""
NATIVE = {"utf-8": "utf-8", "iso8859-1": "latin-1"}
"""Encodings that DuckDB reads: its name by Python's."""
MOST_LINES = 10_000  # lines above the first record


def checked_options(**options: Any) -> dict[str, Any]:
    """Return options for reading CSV as a dataset has them; DatasetError if one is wrong."""
    delimiter, decimal = options["delimiter"], options["decimal"]
    if delimiter == "\\t":  # typed as two characters
        delimiter = "\t"
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise DatasetError(
            f"delimiter {quoted(delimiter)} cannot be used; give one character, such as ;"
        )
    if decimal not in (None, ".", ","):
        raise DatasetError(f'decimal mark {quoted(decimal)} cannot be used; give "," or "."')
    return {
        **options,
        "delimiter": delimiter,
        "encoding": _encoding(options["encoding"]),
        "decimal": decimal if decimal == "," else None,
        "skip": _line_count("skip", options["skip"], 0),
        "header_rows": _line_count("header_rows", options["header_rows"], 1),
        "date_order": order(options["date_order"]),
    }


def refuse_options(options: Mapping[str, object], text: str, usable: Sequence[str] = ()) -> None:
    """Refuse unusual options for reading ``text``, which is not CSV, except ``usable`` ones."""
    unusual = [n for n, value in options.items() if value != CSV_OPTIONS[n] and n not in usable]
    if unusual:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in unusual)
        raise DatasetError(
            f"{text} is not CSV; leave out {flags}: only CSV is read with these options"
        )


def _encoding(name: str | None) -> str | None:
    """Return the name of an encoding of text that Python knows, as it was given."""
    if name is None:
        return None
    try:
        name.encode()
    except UnicodeEncodeError as e:
        raise DatasetError(NOT_UTF8) from e
    try:
        "".encode(name)
        codecs.getincrementaldecoder(name)
    except (LookupError, ValueError, UnicodeError) as e:
        raise DatasetError(
            f"there is no encoding {quoted(name)}; name one that Python knows, such as cp1252 "
            "(Excel on Windows), latin-1 or utf-16"
        ) from e
    return name


def _line_count(name: str, number: int | None, least: int) -> int:
    """Return a number of lines, by default the least."""
    if number is None:
        return least
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= MOST_LINES:
        raise DatasetError(f"{name} is a whole number from {least} to {MOST_LINES:,}")
    return number
