"""Pairs of columns before and after, record by record, and intervals of an estimate."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import NamedTuple

Value = Hashable
Pair = tuple[Value, Value]


class Cell(NamedTuple):
    """A cell of a release: how it is written, the values of the original in it, and its number.

    A cell without a value contains none of the original; one that stands for everything has None.
    """

    text: Value
    values: frozenset[Value] | None
    number: Fraction | None = None


def total_variation(original: Sequence[Pair], release: Sequence[tuple[Cell, Cell]]) -> Fraction:
    """Return the total variation between pairs of values and what pairs of cells spread (M211).

    Each record of the release spreads evenly over the pairs of values that its cells contain; one
    with a cell without any value is on no pair.
    """
    before = {pair: Fraction(n, len(original)) for pair, n in Counter(original).items()}
    after = {pair: n / len(release) for pair, n in spread(original, release).items()}
    keys, nothing = before.keys() | after.keys(), Fraction()
    distance = sum((abs(before.get(k, nothing) - after.get(k, nothing)) for k in keys), nothing)
    return (distance + 1 - sum(after.values(), nothing)) / 2


def spread(original: Sequence[Pair], release: Sequence[tuple[Cell, Cell]]) -> dict[Pair, Fraction]:
    """Return the records of each pair of values; a record is shared by the pairs in its cells."""
    columns = [frozenset(pair[i] for pair in original) for i in (0, 1)]
    records: dict[Pair, Fraction] = {}
    for cells in release:
        first, second = (
            everything if cell.values is None else cell.values
            for cell, everything in zip(cells, columns, strict=True)
        )
        pairs = list(product(first, second))
        for pair in pairs:
            records[pair] = records.get(pair, Fraction()) + Fraction(1, len(pairs))
    return records


def _totals(shares: Mapping[Pair, Fraction], side: int) -> dict[Value, Fraction]:
    """Return the records of each value of the first column (0), or of the second (1)."""
    totals: dict[Value, Fraction] = {}
    for pair, share in shares.items():
        totals[pair[side]] = totals.get(pair[side], Fraction()) + share
    return totals


def cramers_v_squared(shares: Mapping[Pair, Fraction]) -> Fraction | None:
    """Return the square of Cramer's V of the records of pairs; None if a column has one (M211)."""
    firsts, seconds = _totals(shares, 0), _totals(shares, 1)
    if min(len(firsts), len(seconds)) < 2:
        return None
    n, nothing = sum(shares.values(), Fraction()), Fraction()
    squared = Fraction()
    for first, second in product(firsts, seconds):
        expected = firsts[first] * seconds[second] / n
        squared += (shares.get((first, second), nothing) - expected) ** 2 / expected
    return squared / n / (min(len(firsts), len(seconds)) - 1)


def correlation_squared(pairs: Iterable[tuple[Fraction, Fraction]]) -> tuple[int, Fraction] | None:
    """Return sign and square of Pearson's correlation; None if a column is constant (M212)."""
    numbers = list(pairs)
    if not numbers:
        return None
    means = [sum(column, Fraction()) / len(numbers) for column in zip(*numbers, strict=True)]
    offsets = [(x - means[0], y - means[1]) for x, y in numbers]
    together = sum((x * y for x, y in offsets), Fraction())
    spread = sum(x * x for x, _ in offsets) * sum(y * y for _, y in offsets)
    if not spread:
        return None
    return (together > 0) - (together < 0), Fraction(together**2) / spread


def interval_overlap(
    first: tuple[Fraction, Fraction], second: tuple[Fraction, Fraction]
) -> Fraction:
    """Return the mean of the shares of two intervals that they have in common (M213)."""
    common = max(Fraction(), min(first[1], second[1]) - max(first[0], second[0]))
    return sum((common / (high - low) for low, high in (first, second)), Fraction()) / 2
