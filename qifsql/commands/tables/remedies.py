"""Remedies, and their cost: the attack on the tables with each of them.

Remedies are to leave a table out, to hide its small counts, to round it, to coarsen a dimension.
The cost is the number of published cells that no longer tell their count.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from qifsql.commands.tables.made_tables import NewTable
from qifsql.errors import InputError, did_you_mean, quoted
from qifsql.query.protections import Protection

MEASURES = (
    "reconstructed",
    "reconstructed_ones",
    "singled_out",
    "certain_inference",
    "lowest",
    "highest",
    "believed",
    "actual",
    "undone",
)
STEPS = 20  # remedies that are combined at most
_LIMIT = re.compile(r"\s*(\w+)\s*(<=|>=)\s*(\d+(?:\.\d+)?)\s*")

REMEDIES: dict[str, pl.DataType] = {
    "step": pl.Int64(),
    "remedy": pl.String(),
    "secret": pl.String(),
    "cells_lost": pl.Int64(),
    **{name: pl.Int64() for name in ("reconstructed", "reconstructed_ones", "singled_out")},
    "certain_inference": pl.Int64(),
    **{name: pl.Float64() for name in ("lowest", "highest", "believed", "actual")},
    "undone": pl.Int64(),
    "met": pl.Boolean(),
    "chosen": pl.Boolean(),
}
"""One row per remedy that was tried and secret, in the order of the search. ``step`` 0 are the
tables as they are; step n adds a remedy to those that were chosen before. ``cells_lost`` published
cells no longer tell their count (they are left out, hidden, rounded or merged). The measures are
those of the result, ``undone`` the hidden cells whose count follows. ``met``: all bounds hold
(NULL without bounds); ``chosen``: the remedy is kept."""


@dataclass(frozen=True)
class Limit:
    """A bound on a measure: ``reconstructed<=0``."""

    text: str
    measure: str
    at_most: bool
    limit: float

    def distance(self, row: Mapping[str, Any]) -> float:
        """Return how far a row is from the bound: 0 if it keeps it, infinite without a value."""
        value = row[self.measure]
        if value is None:
            return math.inf
        return max(0.0, float(value - self.limit if self.at_most else self.limit - value))


def parse_limits(texts: Sequence[str]) -> list[Limit]:
    """Return the bounds that texts state; raise InputError if a text is none."""
    limits = []
    for text in texts:
        parts = _LIMIT.fullmatch(text)
        if parts is None:
            raise InputError(
                f"{quoted(text)} is not a bound; write a measure and a limit, as in "
                "reconstructed<=0 or actual<=0.5"
            )
        measure, sign, limit = parts[1].casefold(), parts[2], float(parts[3])
        if measure not in MEASURES:
            raise InputError(f"{quoted(measure)} is no measure{did_you_mean(measure, MEASURES)}")
        limits.append(Limit(text.strip(), measure, sign == "<=", limit))
    return limits


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

    def rank(self, limits: Sequence[Limit]) -> tuple[float, int, str]:
        """Return by what outcomes are ordered: those nearest to the bounds first."""
        distance = max(limit.distance(row) for row in self.rows for limit in limits)
        return distance, self.lost, self.remedy.text

    def lines(self, step: int, met: bool | None, *, chosen: bool) -> list[dict[str, Any]]:
        """Return the lines of the detail ``remedies``."""
        return _remedy_rows(step, self.remedy.text, self.rows, self.lost, met, chosen=chosen)


Attempt = Callable[[Sequence[NewTable]], tuple[list[dict[str, Any]], int]]
"""Attack tables; return the rows, and how many cells tell their count."""


def candidates(tables: Sequence[NewTable], changes: Sequence[str], small: int) -> list[Remedy]:
    """Return the single remedies of tables."""
    remedies = []
    droppable = sum(not table.dropped for table in tables) > 1
    for k, table in enumerate(tables):
        if table.dropped:
            continue
        if droppable:
            without = (*tables[:k], replace(table, dropped=True), *tables[k + 1 :])
            remedies.append(Remedy(f"leave out {table.title}", without))
        if table.protection.exact and small > 1:
            for protection in (Protection("suppress", small), Protection("round", small)):
                after = NewTable(f"{table.title}:{protection.text}", table.dims, protection)
                word = "hide counts below" if protection.kind == "suppress" else "round to"
                text = f"{word} {small} in {table.title}"
                remedies.append(Remedy(text, (*tables[:k], after, *tables[k + 1 :])))
    for change in changes:
        name = change.split("=")[0].rpartition(":")[0] or change.split("=")[0]
        changed = tuple(_coarsened(table, name.strip(), change) for table in tables)
        if changed == tuple(tables):
            continue
        remedies.append(Remedy(f"make {name.strip()} coarser: {change}", changed))
    return remedies


def _coarsened(table: NewTable, name: str, change: str) -> NewTable:
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
    limits: Sequence[Limit],
    small: int,
) -> tuple[list[dict[str, Any]], list[str] | None]:
    """Return the rows of all remedies that were tried, and those that keep the bounds.

    Without bounds each remedy is tried alone. Else the cheapest one that keeps all bounds is taken,
    or, while none does, the one that comes nearest for its cost. None: no remedies keep them.
    """
    rows: list[dict[str, Any]] = []
    base, cells = attempt(tables)
    met = _keeps_limits(base, limits)
    rows += _remedy_rows(0, "", base, 0, met, chosen=True)
    if met:
        return rows, []
    current, taken = tuple(tables), list[str]()
    for step in range(1, STEPS + 1):
        tried = []
        for remedy in candidates(current, changes, small):
            after, exact_cells = attempt(remedy.tables)
            tried.append(_Outcome(remedy, after, max(cells - exact_cells, 0)))
        if not limits or not tried:
            for outcome in tried:
                rows += outcome.lines(step, None, chosen=False)
            return rows, None if limits else []
        keeping = [outcome for outcome in tried if _keeps_limits(outcome.rows, limits)]
        best = min(keeping or tried, key=lambda outcome: outcome.rank(limits))
        for outcome in tried:
            rows += outcome.lines(step, _keeps_limits(outcome.rows, limits), chosen=outcome is best)
        taken.append(best.remedy.text)
        current = best.remedy.tables
        if keeping:
            return rows, taken
    return rows, None


def _keeps_limits(rows: Sequence[Mapping[str, Any]], limits: Sequence[Limit]) -> bool:
    return bool(limits) and all(not bound.distance(row) for row in rows for bound in limits)


def _remedy_rows(
    step: int,
    text: str,
    results: Sequence[Mapping[str, Any]],
    lost: int,
    met: bool | None,
    *,
    chosen: bool,
) -> list[dict[str, Any]]:
    return [
        {"step": step, "remedy": text or None, "secret": row["secret"], "cells_lost": lost}
        | {name: row[name] for name in MEASURES}
        | {"met": met, "chosen": chosen}
        for row in results
    ]
