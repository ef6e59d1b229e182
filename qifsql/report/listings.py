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
    roles, reasons = _roles(), _reasons()
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
        role = roles.get(row["suggested_role"], row["suggested_role"])
        table.add_row(name, row["type"], *numbers, role, reasons.get(row["why"], row["why"]))
    return [table] if values is None else [table, frame(values)]


def _roles() -> dict[str, str]:
    """What roles are called."""
    return {
        "constant": said("constant"),
        "weight": said("weight"),
        "key": said("key"),
        "secret": said("secret"),
        "quasi-identifier": said("quasi-identifier"),
        "nested": said("nested"),
    }


def _reasons() -> dict[str, str]:
    """Why a role is suggested, as ``description`` says it."""
    return {
        "one value only": said("one value only"),
        "its name says so": said("its name says so"),
        "nearly every record has a value of its own": said(
            "nearly every record has a value of its own"
        ),
        "a measurement that few people know": said("a measurement that few people know"),
        "yes or no, and its name is not known": said("yes or no, and its name is not known"),
        "other people may know it": said("other people may know it"),
        "use a part of it as an expression": said("use a part of it as an expression"),
    }
