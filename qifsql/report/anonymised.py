"""An anonymised release as people read it: its classes, and what generalising cost."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from qifsql.errors import several
from qifsql.report import cells, words
from qifsql.report.parts import Paragraph, Part, Spec, Table, Tables


def anonymised(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """The classes in a sentence or two, and what became of each quasi-identifier."""
    row = frame.row(0, named=True)
    heads = ["quasi-identifier", "values", "cells", "generalised", "penalty"]
    table = Table.of(heads, right=(1, 3, 4))
    for one in tables["quasi_identifiers"].iter_rows(named=True):
        shares = (words.percent(one[name]) for name in ("generalised", "certainty_penalty"))
        table.add_row(
            cells.cell(one["quasi_identifier"]), words.count(one["values"]), one["cells"], *shares
        )
    shares = (words.percent(row[name]) for name in ("generalised", "certainty_penalty"))
    table.add_row("all", "", "", *shares)
    parts: list[Part] = [Paragraph(told(row)), table]
    parts.append(
        Paragraph(
            "Generalised: the share of cells that stand for several values. Penalty: the mean "
            "share of all values that a cell spans (normalised certainty penalty), 100 % when "
            "nothing is told. A class of k hides who is who, not what all of its members have in "
            "common."
        )
    )
    return parts


def told(row: Mapping[str, Any]) -> str:
    """How many records are in how many classes, in a sentence or two."""
    by = {"mondrian": "Mondrian", "mdav": "MDAV"}[row["method"]]
    in_classes = row["records"] - row["suppressed"]
    if not in_classes:
        return f"{by}: every class breaks a limit, so all records are suppressed."
    text = (
        f"{by}: {several(in_classes, 'record')} in {words.count(row['classes'])} "
        f"{'class' if row['classes'] == 1 else 'classes'} of {words.count(row['smallest_class'])} "
        f"to {words.count(row['largest_class'])}, {row['average_class']:.1f} on average."
    )
    if row["suppressed"]:
        text += f" {several(row['suppressed'], 'record')} suppressed (*): they may be anybody."
    return text
