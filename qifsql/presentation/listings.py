"""Lists for people: any table, the blocks of a partition, the columns of a dataset."""

from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from qifsql.presentation import escaping
from qifsql.presentation.parts import Table


def frame(data: pl.DataFrame) -> Table:
    """Return any table of results, cell by cell."""
    numeric = [i for i, t in enumerate(data.dtypes) if t.is_numeric()]
    return rows(data.columns, data.iter_rows(), right=numeric)


def rows(names: Sequence[str], values: Iterable[Sequence[Any]], right: Sequence[int] = ()) -> Table:
    """Return any rows as a table with the names of their columns."""
    table = Table.of(names, right)
    for row in values:
        table.add_row(*map(escaping.cell, row))
    return table
