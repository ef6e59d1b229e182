"""Tables from rows: of any frame, or with columns that say which cell a row has in them."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import polars as pl

from qifsql.data.types import Row
from qifsql.presentation import escaping, words
from qifsql.presentation.parts import Bad, Table

Cell: TypeAlias = Callable[[Row], str]
Column: TypeAlias = tuple[str, Cell]  # the head of a column, and the cell of a line


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


def drawn(name: str, draw: Callable[[Any], str]) -> Cell:
    """Return the cells of a column whose values a function draws; None is empty."""
    return lambda line: "" if line[name] is None else draw(line[name])


def number(name: str) -> Cell:
    """Return the cells of a column of counts; without one they are empty."""
    return drawn(name, words.count)


def percent(name: str) -> Cell:
    """Return the cells of a column of shares; without one they are empty."""
    return drawn(name, words.percent)


def fault(name: str) -> Cell:
    """Return the cells of a column of counts that report a problem unless they are 0."""
    return lambda line: (Bad if line[name] else str)(words.count(line[name]))


def table_of_frame(frame: pl.DataFrame) -> Table:
    """Return any table of results, cell by cell."""
    numeric = [i for i, t in enumerate(frame.dtypes) if t.is_numeric()]
    return table_of_rows(frame.columns, frame.iter_rows(), right=numeric)


def table_of_rows(
    names: Sequence[str], rows: Iterable[Sequence[Any]], right: Sequence[int] = ()
) -> Table:
    """Return rows as a table with the names of their columns; ``right`` are columns of numbers."""
    table = Table.of(names, right)
    for row in rows:
        table.add_row(*map(escaping.cell, row))
    return table
