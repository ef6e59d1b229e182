"""Remedies, and their cost: the attack on the tables with each of them.

Remedies are to leave a table out, to hide its small counts, to round it, to coarsen a dimension.
The cost is the number of published cells that no longer tell their count.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from qifsql.commands.tables.new_tables import NewTable
from qifsql.errors import InputError, did_you_mean, quoted
from qifsql.measures.measure_bounds import Bound, read_bound
from qifsql.measures.table_measures import COUNT_MEASURES, MEASURES, SHARE_MEASURES
from qifsql.query.protections import Kind, Protection

MOST_STEPS = 20  # remedies that are combined

REMEDIES: dict[str, pl.DataType] = {
    "step": pl.Int64(),
    **dict.fromkeys(("remedy", "secret"), pl.String()),
    "cells_lost": pl.Int64(),
    **dict.fromkeys(COUNT_MEASURES, pl.Int64()),
    **dict.fromkeys(SHARE_MEASURES, pl.Float64()),
    "undone": pl.Int64(),
    **dict.fromkeys(("met", "chosen"), pl.Boolean()),
}
"""One row per remedy that was tried and secret, in the order of the search. ``step`` 0 are the
tables as they are; step n adds a remedy to those that were chosen before. ``cells_lost`` published
cells no longer tell their count (they are left out, hidden, rounded or merged). The measures are
those of the result, ``undone`` the hidden cells whose count follows. ``met``: all bounds hold
(NULL without bounds); ``chosen``: the remedy is kept."""


def parse_limits(texts: Sequence[str], measures: Sequence[str] = MEASURES) -> list[Bound]:
    """Return the bounds that texts such as ``actual<=0.5`` state; refuse any other text."""
    limits = []
    for text in texts:
        bound = read_bound(text)
        if bound is None or "-" in text:  # no range and no limit below 0
            raise InputError(
                f"{quoted(text)} is not a bound; write a measure and a limit, as in "
                "reconstructed<=0 or actual<=0.5"
            )
        measure = bound.measure.casefold()
        if measure not in measures:
            raise InputError(f"{quoted(measure)} is no measure{did_you_mean(measure, measures)}")
        limits.append(replace(bound, measure=measure))
    return limits


def largest_distance(rows: Sequence[Mapping[str, Any]], limits: Sequence[Bound]) -> float:
    """Return how far the worst row is from the bound that it misses most: 0 if all are kept."""
    return max(bound.distance(row[bound.measure]) for row in rows for bound in limits)


@dataclass(frozen=True)
class Remedy:
    """A change of the tables: its text, and the tables after it."""

    text: str
    tables: tuple[NewTable, ...]


@dataclass(frozen=True)
class _Outcome:
    """The rows of the attack after a remedy, and how many cells no longer tell their count."""

    remedy: Remedy
    rows: Sequence[Mapping[str, Any]]
    lost: int

    def rank(self, limits: Sequence[Bound]) -> tuple[float, int, str]:
        """Return a key that orders outcomes: the nearest to the bounds first, then the cheapest."""
        return largest_distance(self.rows, limits), self.lost, self.remedy.text

    def lines(self, step: int, *, met: bool | None, chosen: bool) -> list[dict[str, Any]]:
        """Return the lines of the detail ``REMEDIES`` on this outcome, one per secret."""
        about = {"step": step, "remedy": self.remedy.text or None, "cells_lost": self.lost}
        verdict = {"met": met, "chosen": chosen}
        names = ("secret", *MEASURES)
        return [about | {name: row[name] for name in names} | verdict for row in self.rows]


Attempt = Callable[[Sequence[NewTable]], tuple[list[dict[str, Any]], int]]
"""Attack tables; return the rows, and how many cells tell their count."""


def list_remedies(tables: Sequence[NewTable], changes: Sequence[str], small: int) -> list[Remedy]:
    """Return the remedies of tables, each a single change of one table or of a dimension.

    ``changes`` are coarser dimensions (``age:10``); counts below ``small`` are hidden, or rounded
    to its multiples. The tables of a remedy are in the order of ``tables``.
    """
    remedies = []
    droppable = sum(not table.dropped for table in tables) > 1  # one table stays
    for k, table in enumerate(tables):
        if table.dropped:
            continue
        changed: dict[str, NewTable] = {}  # the table after each remedy, by its text
        if droppable:
            changed[f"leave out {table.title}"] = replace(table, dropped=True)
        if table.protection.exact and small > 1:
            words: dict[Kind, str] = {"suppress": "hide counts below", "round": "round to"}
            for kind, deed in words.items():
                protection = Protection(kind, small)
                after = NewTable(f"{table.title}:{protection.text}", table.dims, protection)
                changed[f"{deed} {small} in {table.title}"] = after
        for text, after in changed.items():
            remedies.append(Remedy(text, (*tables[:k], after, *tables[k + 1 :])))
    for change in changes:
        form = change.partition("=")[0]  # of "age=age // 10", or "age:10"
        name = (form.rpartition(":")[0] or form).strip()
        coarser = tuple(_coarsened(table, name, change) for table in tables)
        if coarser != tuple(tables):
            remedies.append(Remedy(f"make {name} coarser: {change}", coarser))
    return remedies


def _coarsened(table: NewTable, name: str, change: str) -> NewTable:
    """Return a table with ``change`` in place of the dimension ``name``, if it has that."""
    dims = tuple(change if dim == name else dim for dim in table.dims)
    if dims == table.dims:
        return table
    text = ",".join(dims)
    title = text if table.protection.exact else f"{text}:{table.protection.text}"
    return NewTable(title, dims, table.protection, table.dropped)


def search(
    tables: Sequence[NewTable],
    attempt: Attempt,
    changes: Sequence[str],
    limits: Sequence[Bound],
    small: int,
) -> tuple[list[dict[str, Any]], list[str] | None]:
    """Return the rows of all remedies that were tried, and the texts of those to take.

    A remedy is a change of the tables; ``attempt`` attacks the changed ones. Without bounds
    (``limits``) each remedy is tried alone. With bounds, each step takes the remedy that keeps them
    at the least cost or, while none does, comes nearest. None in place of the texts if no remedies
    keep the bounds.
    """
    rows_before, cells_before = attempt(tables)
    met = _keeps_limits(rows_before, limits)
    rows = _Outcome(Remedy("", tuple(tables)), rows_before, 0).lines(0, met=met, chosen=True)
    if met:
        return rows, []
    current, taken = tuple(tables), list[str]()
    for step in range(1, MOST_STEPS + 1):
        outcomes = []
        for remedy in list_remedies(current, changes, small):
            rows_after, cells_after = attempt(remedy.tables)
            outcomes.append(_Outcome(remedy, rows_after, max(cells_before - cells_after, 0)))
        if not limits or not outcomes:  # nothing to reach, or nothing more to try
            rows += [line for o in outcomes for line in o.lines(step, met=None, chosen=False)]
            return rows, None if limits else []
        keeping = [outcome for outcome in outcomes if _keeps_limits(outcome.rows, limits)]
        nearest = min(keeping or outcomes, key=lambda outcome: outcome.rank(limits))
        for outcome in outcomes:
            rows += outcome.lines(step, met=outcome in keeping, chosen=outcome is nearest)
        taken.append(nearest.remedy.text)
        current = nearest.remedy.tables
        if keeping:
            return rows, taken
    return rows, None


def _keeps_limits(rows: Sequence[Mapping[str, Any]], limits: Sequence[Bound]) -> bool:
    return bool(limits) and not largest_distance(rows, limits)
