"""Cells and frames of tables on the terminal: names and values are text, never markup."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from qifsql.report import words

SHOWN = 5  # values of a list that are shown in a cell


def table(names: Sequence[str], right: Sequence[int] = ()) -> Table:
    """An empty table under these names; columns ``right`` are numbers."""
    made = Table(box=SIMPLE_HEAD, pad_edge=False)
    for i, name in enumerate(names):
        made.add_column(Text(name), justify="right" if i in right else "left")
    return made


def cell(value: Any) -> str:
    """A value as it is shown: on one line, without control characters."""
    if value is None:
        return words.missing()
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        shown = [_counted(v) for v in value[:SHOWN]]
        return ", ".join(shown) + (f", and {len(value) - SHOWN} more" if value[SHOWN:] else "")
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(value))


def _counted(value: Any) -> str:
    """A value of the secret with its records: ``yes (3)``."""
    if isinstance(value, Mapping):
        return f"{cell(value['value'])} ({words.count(value['records'])})"
    return cell(value)
