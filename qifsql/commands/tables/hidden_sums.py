"""Hidden sums of magnitude tables: what the printed cells and totals tell of them.

The cells that fail a rule are hidden; all other cells are printed, and the totals over each
dimension. In each line, the cells that differ in one dimension alone, the hidden sums then have a
known sum together. The bounds of each hidden sum are proved in whole numbers. A hidden cell stays
*exposed* if its sum follows, or if it fails dominance or the p % rule even with the largest sum
that it may have. The union of the hidden cells of a line is a cell whose sum is printed: it can
fail a rule, too. Source: M108, M109, M221; Hundepool et al. 2012, chapter 4.
"""

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import polars as pl

from qifsql.commands.tables.sum_rules import Rules
from qifsql.counting import integer_programs
from qifsql.counting.integer_programs import OpenError, Program, Row

MOST_HIDDEN = 5_000  # cells of a table whose sums are bounded
MOST_ROUNDS = 100  # in which lines narrow bounds

HIDDEN_SUMS: dict[str, pl.DataType] = {
    "table": pl.String(),
    **dict.fromkeys(("hidden", "undone", "exposed", "unions", "failing_unions"), pl.Int64()),
    "open": pl.Int64(),
}
"""One row per table of sums: the ``hidden`` cells, which fail a rule; those ``undone``, whose sum
follows from the totals; those ``exposed``, which are undone or fail dominance or the p % rule with
the largest sum that they may have; the ``unions`` of the hidden cells of a line, where there are
several, and the ``failing_unions`` that fail a rule; the ``open`` cells, whose bounds may not be
sharp, so that more may be undone or exposed. NULL: too many hidden cells."""


@dataclass(frozen=True)
class HiddenSum:
    """A hidden cell: its values, the number of its contributors, its sum, the largest ones."""

    cell: tuple[Any, ...]
    contributors: int
    total: int
    largest: tuple[int, ...]


def audit(sums: Sequence[HiddenSum] | None, rules: Rules, seconds: float) -> dict[str, int | None]:
    """Return the numbers of a row of ``HIDDEN_SUMS``; None: there are too many hidden cells."""
    if sums is None:
        return dict.fromkeys(list(HIDDEN_SUMS)[1:])
    lines = _lines(sums)
    bounds, open_cells = _bounds(sums, lines, time.monotonic() + seconds)
    undone = [low == high for low, high in bounds]
    exposed = [
        is_undone or rules.expose(cell.largest, high)
        for cell, is_undone, (_, high) in zip(sums, undone, bounds, strict=True)
    ]
    unions = [[sums[j] for j in line] for line in lines if len(line) > 1]
    return {
        "hidden": len(sums),
        "undone": sum(undone),
        "exposed": sum(exposed),
        "unions": len(unions),
        "failing_unions": sum(_fails(union, rules) for union in unions),
        "open": open_cells,
    }


def _lines(sums: Sequence[HiddenSum]) -> list[list[int]]:
    """Return the places of the hidden cells of each line: they differ in one dimension alone."""
    lines: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for j, hidden in enumerate(sums):
        for d, _ in enumerate(hidden.cell):
            lines[d, hidden.cell[:d], hidden.cell[d + 1 :]].append(j)
    return list(lines.values())


def _fails(union: Sequence[HiddenSum], rules: Rules) -> bool:
    """Return whether the union of cells fails a rule; its sum is told by the totals."""
    largest = sorted(chain.from_iterable(cell.largest for cell in union), reverse=True)
    is_small = sum(cell.contributors for cell in union) < rules.small
    return is_small or rules.expose(largest, sum(cell.total for cell in union))


def _bounds(
    sums: Sequence[HiddenSum], lines: Sequence[Sequence[int]], deadline: float
) -> tuple[list[tuple[int, int]], int]:
    """Return the least and the largest sum of each hidden cell, and how many may not be sharp.

    Lines narrow bounds until nothing changes; the integer programs of components prove the rest.
    """
    totals = [sum(sums[j].total for j in line) for line in lines]
    bounds = [(0, sum(totals)) for _ in sums]
    _narrow(bounds, lines, totals)
    open_cells = 0
    for places in _components(len(sums), lines):
        free = [j for j in places if bounds[j][0] < bounds[j][1]]
        if not free:
            continue
        numbers = {j: k for k, j in enumerate(places)}
        rows = [
            Row([numbers[j] for j in line], [1] * len(line), total, total)
            for line, total in zip(lines, totals, strict=True)
            if line[0] in numbers
        ]
        program = Program([bounds[j] for j in places], rows, deadline)
        for j in free:
            bounds[j], is_sharp = _proved(program, numbers[j], bounds[j])
            open_cells += not is_sharp
    return bounds, open_cells


def _narrow(
    bounds: list[tuple[int, int]], lines: Sequence[Sequence[int]], totals: Sequence[int]
) -> None:
    """Narrow bounds by each line, whose cells add up to its total; they hold after any round."""
    for _ in range(MOST_ROUNDS):
        before = list(bounds)
        for line, total in zip(lines, totals, strict=True):
            lows, highs = (sum(bounds[j][end] for j in line) for end in (0, 1))
            for j in line:
                low, high = bounds[j]
                narrower = max(low, total - highs + high), min(high, total - lows + low)
                lows, highs = lows + narrower[0] - low, highs + narrower[1] - high
                bounds[j] = narrower
        if before == bounds:
            return


def _components(n: int, lines: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the places of cells that lines connect with one another."""
    parent = list(range(n))

    def root(j: int) -> int:
        while parent[j] != j:
            parent[j] = parent[parent[j]]
            j = parent[j]
        return j

    for line in lines:
        for j in line[1:]:
            parent[root(j)] = root(line[0])
    groups: Mapping[int, list[int]] = defaultdict(list)
    for j in range(n):
        groups[root(j)].append(j)
    return list(groups.values())


def _proved(program: Program, j: int, bounds: tuple[int, int]) -> tuple[tuple[int, int], bool]:
    """Return the least and the largest value of a column, and whether both are attained."""
    if not integer_programs.available():
        return bounds, False
    low, high = bounds
    try:
        least = program.minimise({j: 1})
        low = max(low, least.bound)
        largest = program.minimise({j: -1})
        high = min(high, -largest.bound)
    except OpenError:
        return (low, high), False
    return (low, high), least.sharp and largest.sharp
