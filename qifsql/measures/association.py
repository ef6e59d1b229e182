"""Association of two columns, from counts: Cramer's V and Pearson's correlation."""

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple


class Cell(NamedTuple):
    """A number of ``pairs`` of values with equal records, or parts of records.

    Each pair has ``records``; its first value has ``firsts`` and its second ``seconds`` in all.
    """

    records: int
    firsts: int
    seconds: int
    pairs: int


class Moments(NamedTuple):
    """The number of records with two numbers, and the sums of these and of their products."""

    records: int
    x: int
    y: int
    xx: int
    yy: int
    xy: int


def cramers_v(cells: Iterable[Cell], *, records: int, firsts: int, seconds: int) -> float | None:
    """Return Cramer's V of a table of counts, in [0, 1]; None where a column has one value.

    It is the root of chi-squared over ``records`` and one less than the smaller of the numbers of
    different values of both columns, ``firsts`` and ``seconds`` (Cramer 1946, chapter 21).
    ``cells`` are those of the table that are not 0: the count, the totals of its row and column,
    and how many cells have these three numbers.
    """
    if min(firsts, seconds) < 2:
        return None
    expected = 0  # products of totals, of cells that are not 0
    terms: list[float] = []
    for count, first, second, times in cells:
        product = first * second
        terms.append(times * (count * records - product) ** 2 / (product * records * records))
        expected += times * product
    terms.append((records * records - expected) / (records * records))  # cells that are 0
    return min(1.0, math.sqrt(math.fsum(terms) / (min(firsts, seconds) - 1)))


def correlation(moments: Moments) -> float | None:
    """Return Pearson's correlation, in [-1, 1]; None where a column has one number, or none."""
    n, x, y, xx, yy, xy = moments
    spread_x, spread_y, together = n * xx - x * x, n * yy - y * y, n * xy - x * y
    if not spread_x or not spread_y:
        return None
    square = Fraction(together * together, spread_x * spread_y)
    return math.copysign(math.sqrt(square), together)
