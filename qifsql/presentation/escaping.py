"""Cells of tables, with names and values as text, never as markup."""

from collections.abc import Mapping
from typing import Any

from qifsql.errors import printable
from qifsql.presentation import words
from qifsql.presentation.language import number, said

VALUES_SHOWN = 5  # values of a list that are shown in a cell


def cell(value: Any) -> str:
    """Return a value as a line without control characters; of a list, its first entries."""
    if value is None:
        return words.missing()
    if isinstance(value, bool):
        return said("yes") if value else said("no")
    if isinstance(value, float):
        return number(f"{value:.6g}")
    if isinstance(value, list):
        n = len(value) - VALUES_SHOWN
        more = said(", and {n} more", n=n) if n > 0 else ""
        return ", ".join(map(_counted, value[:VALUES_SHOWN])) + more
    return printable(str(value))


def _counted(value: Any) -> str:
    """Return a value of the secret with the number of its records: ``yes (3)``."""
    if isinstance(value, Mapping):
        return f"{cell(value['value'])} ({words.count(value['records'])})"
    return cell(value)
