"""The combinations of the worst component, with the bounds of each count."""

from typing import Any

import polars as pl
from sqlglot import exp

from qifsql.commands.tables.breakdown import worst_components
from qifsql.commands.tables.dimensions import value_texts
from qifsql.commands.tables.hypergraph import maximal_edges
from qifsql.commands.tables.margins import has_at_most, place, places
from qifsql.commands.tables.measured import Measured, in_components
from qifsql.commands.tables.proofs import Question, clique_cells, is_complete
from qifsql.commands.tables.spec import CELLS_LISTED
from qifsql.query.splice import splice

JOINED = 10_000  # combinations that are looked at

CELLS: dict[str, pl.DataType] = {
    "component": pl.List(pl.String()),
    "row_dimensions": pl.List(pl.String()),
    "row": pl.List(pl.String()),
    "column_dimension": pl.String(),
    "column": pl.String(),
    "lower": pl.Int64(),
    "upper": pl.Int64(),
    "people": pl.Int64(),
}
"""One row per combination that may hold somebody, of the component in which most people are proved
(``component``: its values; NULL: all people), at most 200. Its count is from ``lower`` to
``upper``, which may be outer bounds; ``people`` is the true count (NULL without records).
``column`` is the value of one dimension, the secret if there is one, ``row`` are those of the
others."""


def cell_details(measured: Measured, question: Question) -> dict[str, pl.DataFrame]:
    """Return the detail ``cells`` (``CELLS``), or add a note if the combinations are too many."""
    margins = measured.margins
    every = margins.domain.every
    component = None
    inner = every - margins.shared
    if inner and (first := worst_components(measured, question)[:1]):
        component = first[0]
    inner = every if component is None else inner
    bounds = _bounded_combinations(measured, question, component)
    if bounds is None:
        measured.notes.append("the combinations of the worst component are too many to list")
        return {}
    secret = question.secret if question.secret in inner else None
    column = min(inner, key=lambda i: (margins.domain.sizes[i], -i)) if secret is None else secret
    rows = sorted(inner - {column})
    order = [*(place(i) for i in rows), place(column)]
    bounds.sort(key=lambda cell: [cell[name] for name in order])
    texts = {
        i: value_texts(margins, i, {cell[place(i)] for cell in bounds[:CELLS_LISTED]})
        for i in inner
    }
    values: list[str | None] | None = None
    if component is not None:
        of_component = [(i, component[place(i)]) for i in sorted(margins.shared)]
        values = [value_texts(margins, i, [code])[code] for i, code in of_component]
    lines = [
        {
            "component": values,
            "row_dimensions": [margins.domain.names[i] for i in rows],
            "row": [texts[i][cell[place(i)]] for i in rows],
            "column_dimension": margins.domain.names[column],
            "column": texts[column][cell[place(column)]],
            "lower": cell["lower"],
            "upper": cell["upper"],
            "people": cell["people"],
        }
        for cell in bounds[:CELLS_LISTED]
    ]
    return {"cells": pl.DataFrame(lines, schema=CELLS)}


def _bounded_combinations(
    measured: Measured, question: Question, component: dict[str, Any] | None
) -> list[dict[str, Any]] | None:
    """Return the codes, bounds and true counts of the combinations of a component."""
    margins = measured.margins
    every = margins.domain.every
    edges = maximal_edges(margins.edges)
    query = clique_cells(margins, every)
    if every in margins.nodes and is_complete(margins, every):
        edges = [every]
        query = exp.select("component", *places(every)).from_(margins.nodes[every])
        query = query.where("upper > 0")
    if component is not None:
        query = exp.select("*").from_(query.subquery("possible"))
        query = query.where(in_components([component["component"]]))
    if not has_at_most(margins, query, JOINED):
        return None
    records = measured.release.records
    tables = {"cells": margins.keep(query), "proved": measured.proofs[question].lines}
    tables |= {f"margin_{k}": margins.nodes[edge] for k, edge in enumerate(edges)}
    tables |= {} if records is None else {"truth": records.truth(every)}
    bounded = splice(
        "tables/component_cells",
        tables=tables,
        shape={"every": every, "edges": edges, "has_records": records is not None},
    )
    rows = margins.rows(bounded)
    for row in rows:
        solution = measured.solved[question].get(row["component"])
        cell = tuple(row[place(i)] for i in sorted(every))
        if solution is not None and cell in solution.lines:
            row["lower"], row["upper"] = solution.lines[cell]
    return rows
