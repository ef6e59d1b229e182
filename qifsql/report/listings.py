"""Lists as people read them: any table, the blocks of a partition, the columns of a dataset."""

from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from qifsql.report import cells, words
from qifsql.report.language import number, said
from qifsql.report.parts import Paragraph, Part, Table


def frame(data: pl.DataFrame) -> Table:
    """Any table of results, cell by cell."""
    numeric = [i for i, t in enumerate(data.dtypes) if t.is_numeric()]
    table = Table.of(data.columns, right=numeric)
    for row in data.iter_rows():
        table.add_row(*map(cells.cell, row))
    return table


def rows(names: Sequence[str], values: Iterable[Sequence[Any]]) -> Table:
    """Any rows under their names."""
    table = Table.of(names)
    for row in values:
        table.add_row(*map(cells.cell, row))
    return table


def blocks(data: pl.DataFrame, secrets: Sequence[str]) -> list[Part]:
    """Blocks of a partition: what is known, how many people, and the values of each secret."""
    known = data.width - 2 - 4 * len(secrets)
    table = Table.of([*data.columns[:known], said("size"), *secrets], right=(known,))
    for row in data.iter_rows():
        counts = map(cells.cell, row[known + 5 :: 4])
        table.add_row(*map(cells.cell, row[:known]), words.count(row[known]), *counts)
    if not secrets:
        return [table]
    told = said("People with each value in brackets; the first is the best guess.")
    return [table, Paragraph(told)]


def description(data: pl.DataFrame, values: pl.DataFrame | None) -> list[Part]:
    """The columns of a dataset, as people read them, and their frequent values."""
    heads = [said("column"), said("type"), said("missing"), said("distinct")]
    heads += [said("entropy (bits)"), said("singled out"), said("role?"), said("why")]
    table = Table.of(heads, right=(2, 3, 4, 5))
    for row in data.iter_rows(named=True):
        numbers = ["", "", "", ""]
        if row["records"] is not None:
            numbers = [
                words.count(row["missing"]),
                words.count(row["distinct"]),
                number(f"{row['entropy']:.2f}"),
                words.percent(row["singled_out_share"]),
            ]
        name = cells.cell(row["column"])
        table.add_row(name, row["type"], *numbers, row["suggested_role"], row["why"])
    return [table] if values is None else [table, frame(values)]
