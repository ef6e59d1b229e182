"""Exact tables of decomposable sets of attributes: bounds, means and success (M93, M101, M104).

A person is a tuple of values; attributes are named by their places in it.
"""

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TypeAlias

Cell: TypeAlias = tuple[Hashable, ...]
Dims: TypeAlias = tuple[int, ...]


def of(cell: Sequence[Hashable], dims: Dims) -> Cell:
    """Return the values of some attributes."""
    return tuple(cell[i] for i in dims)


def count(people: Sequence[Cell], dims: Dims) -> Counter[Cell]:
    """Return how many people have each combination of values."""
    return Counter(of(person, dims) for person in people)


def domains(people: Sequence[Cell]) -> tuple[Cell, ...]:
    """Return the values of each attribute that occur."""
    return tuple(tuple(dict.fromkeys(column)) for column in zip(*people, strict=True))


@dataclass(frozen=True)
class ClosedForm:
    """Bounds and mean of each cell by the formulas for decomposable sets of exact tables."""

    bounds: dict[Cell, tuple[int, int]]
    means: dict[Cell, Fraction]


def closed_form(people: Sequence[Cell], order: Sequence[tuple[Dims, Dims]]) -> ClosedForm:
    """Return bounds (M93) and means (M101) of each cell.

    ``order`` has the attributes of each table, with those that it shares with all tables before it.
    """
    margins = {dims: count(people, dims) for pair in order for dims in pair}
    bounds, means = {}, {}
    for cell in product(*domains(people)):
        counts = [margins[table][of(cell, table)] for table, _ in order]
        shared = [margins[common][of(cell, common)] for _, common in order[1:]]
        bounds[cell] = (max(0, sum(counts) - sum(shared)), min(counts))
        mean = Fraction(math.prod(counts), math.prod(shared)) if min(counts) else Fraction(0)
        means[cell] = mean
    return ClosedForm(bounds, means)


def guesses(means: Mapping[Cell, Fraction]) -> dict[Cell, list[Cell]]:
    """Return the best guesses of the secret (last) for each combination of the others: all ties."""
    tied: dict[Cell, list[Cell]] = {}
    for qids in dict.fromkeys(c[:-1] for c in means):
        greatest = max(m for c, m in means.items() if c[:-1] == qids)
        tied[qids] = [c for c, m in means.items() if c[:-1] == qids and m == greatest]
    return tied


def success(tied: Mapping[Cell, Sequence[Cell]], counts: Mapping[Cell, int]) -> Fraction:
    """Return for how many people guesses are right (M104); of equally good ones the mean."""
    return sum(
        (Fraction(sum(counts[c] for c in cells), len(cells)) for cells in tied.values()),
        Fraction(0),
    )
