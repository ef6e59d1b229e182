"""Tables by their columns: each column has a head, and says which cell a line has in it."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from qifsql.data.types import Row
from qifsql.presentation import escaping, words
from qifsql.presentation.parts import Bad, Table

Cell: TypeAlias = Callable[[Row], str]
Column: TypeAlias = tuple[str, Cell]
"""The head of a column, and the cell of a line."""


def tabulate(
    lines: Iterable[Row], columns: Sequence[Column], *, texts: Iterable[int] = (0,)
) -> Table:
    """Return a table with a row per line of a result.

    A column is its head, and the function that returns its cell of a line. Columns are numbers, at
    the right, except those at the places ``texts``, from 0.
    """
    heads = [head for head, _ in columns]
    table = Table.of(heads, set(range(len(columns))).difference(texts))
    for line in lines:
        table.add_row(*(cell(line) for _, cell in columns))
    return table


def text(name: str) -> Cell:
    """Return the cells of a column of texts."""
    return lambda line: escaping.cell(line[name])


def number(name: str) -> Cell:
    """Return the cells of a column of counts; without one they are empty."""
    return lambda line: "" if line[name] is None else words.count(line[name])


def percent(name: str) -> Cell:
    """Return the cells of a column of shares; without one they are empty."""
    return lambda line: "" if line[name] is None else words.percent(line[name])


def fault(name: str) -> Cell:
    """Return the cells of a column of counts that report a problem unless they are 0."""
    return lambda line: (Bad if line[name] else str)(words.count(line[name]))
