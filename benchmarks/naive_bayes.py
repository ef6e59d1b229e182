"""Encodings of generalised cells as features, and naive Bayes over them in closed form.

Source: the DIT paper, section 3.1 and appendix A.1. With independent features the score of a class
is a sum over attributes: the table of an attribute (record's value, class) is made from counts.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

QUANTILES = 5

Interval = tuple[float, float]
Cell = Interval | frozenset[str]
Bits = tuple[int, ...]
Scores = Mapping[Any, Sequence[float]]  # by the record's value, for each class


# Numbers: DIT paper, appendix A.1.


def scaled(x: float, low: float, high: float) -> float:
    """Return a value in [0, 1]."""
    return (x - low) / (high - low)


def scaling(cell: Interval, low: float, high: float) -> tuple[float]:
    """Return the midpoint, rescaled to [0, 1]."""
    return (scaled(sum(cell) / 2, low, high),)


def bounds(cell: Interval, low: float, high: float) -> tuple[float, float]:
    """Return both ends, rescaled to [0, 1]."""
    return scaled(cell[0], low, high), scaled(cell[1], low, high)


def binary(cell: Interval, low: float, high: float) -> Bits:
    """Return the midpoint above the least value, rounded down, as bits.

    As many as the largest needs.
    """
    width = max(1, int(high - low).bit_length())
    number = math.floor(sum(cell) / 2 - low)
    return tuple(number >> place & 1 for place in reversed(range(width)))


def quantiles(cell: Interval, parts: Sequence[Interval]) -> Bits:
    """Return a bit for each quantile: whether the interval meets it."""
    return tuple(int(cell[0] <= last and first <= cell[1]) for first, last in parts)


def parts_of(values: Iterable[float], n: int = QUANTILES) -> list[Interval]:
    """Return the ranges of ``n`` quantiles of the values, each from its first to its last value."""
    ordered = sorted(values)
    chosen = {ordered[len(ordered) * i // n] for i in range(n)}
    starts = sorted(chosen)
    found = []
    for first, after in zip(starts, [*starts[1:], math.inf], strict=True):
        found.append((first, max(v for v in set(ordered) if first <= v < after)))
    return found


# Categories.


def hot(cell: frozenset[str], values: Sequence[str]) -> Bits:
    """Return a bit for each category there was before: whether the cell has it."""
    return tuple(int(v in cell) for v in values)


def binary_after(cell: frozenset[str], cells: Sequence[frozenset[str]]) -> Bits:
    """Return the cell's number among those of the release, from 1, as bits; 0 where it is none."""
    width = len(cells).bit_length()
    number = cells.index(cell) + 1 if cell in cells else 0
    return tuple(number >> place & 1 for place in reversed(range(width)))


def hot_after(cell: frozenset[str], cells: Sequence[frozenset[str]]) -> Bits:
    """Return a bit for each cell of the release: whether it is this one."""
    return tuple(int(cell == other) for other in cells)


# Both.


def true_false(cell: Cell, value: Any) -> int:
    """Return TF: whether the cell contains the value of the record that is guessed."""
    if isinstance(cell, frozenset):
        return int(value in cell)
    return int(cell[0] <= value <= cell[1])


def single(value: Any) -> Cell:
    """Return a value that is not generalised, as a cell."""
    return frozenset([value]) if isinstance(value, str) else (value, value)


# Naive Bayes in closed form.


Counts = Mapping[Cell, Counter[str]]  # records of each cell by their secret


def log_scores(ones: Sequence[Counter[str]], bits: Bits, totals: Counter[str]) -> list[float]:
    """Return what features add to the score of each class.

    Log of (ones + 1) / (records + 2), or not.
    """
    return [
        math.fsum(
            math.log((one[c] + 1 if bit else n - one[c] + 1) / (n + 2))
            for one, bit in zip(ones, bits, strict=True)
        )
        for c, n in totals.items()
    ]


def encoded(
    encode: Callable[[Cell], Sequence[float]],
    counts: Counts,
    values: Iterable[Any],
    totals: Counter[str],
) -> tuple[Scores, int]:
    """Return the scores of an attribute whose encoding is the same for all; and its features.

    Features are made bits as scikit-learn's BernoulliNB does: above 0 or not.
    """
    ones: list[Counter[str]] = []
    for cell, own in counts.items():
        bits = encode(cell)
        ones = ones or [Counter() for _ in bits]
        for one, bit in zip(ones, bits, strict=True):
            if bit > 0:
                one.update(own)
    scores = {
        v: log_scores(ones, tuple(int(x > 0) for x in encode(single(v))), totals) for v in values
    }
    return scores, len(ones)


def told_apart(counts: Counts, values: Iterable[Any], totals: Counter[str]) -> tuple[Scores, int]:
    """Return the scores of an attribute encoded by TF: one feature, another for each value."""
    scores = {}
    for v in values:
        one: Counter[str] = Counter()
        for cell, own in counts.items():
            if true_false(cell, v):
                one.update(own)
        scores[v] = log_scores([one], (1,), totals)
    return scores, 1
