"""Utility of a sanitised column compared with the original: pure functions of counts.

The records of a cell with several values are spread evenly over the different values of the
original that the cell contains.
"""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

PARTS = 2**48  # parts of a record if exact parts would be too many
MOST = 2**72  # most parts that fit the engine's whole numbers, for 2^50 records


class Mass(NamedTuple):
    """A number of ``values`` with equal records in the original and equal mass in the release.

    Each of them has ``people`` records and the mass ``mass``.
    """

    people: int
    mass: int
    values: int


class Distances(NamedTuple):
    """Distances between two marginals: see ``distances``."""

    total_variation: float
    divergence: float


def parts(widths: Sequence[int]) -> int:
    """Compute the number of parts of a record that divides evenly among the values of any cell.

    ``widths`` are the numbers of values in the cells. If their least common multiple is too large,
    it is ``PARTS``: each cell is then wrong by less than its width in 2^-48 records.
    """
    multiple = 1
    for width in widths:
        multiple = math.lcm(multiple, width)
        if multiple > MOST:
            return PARTS
    return multiple


def distances(masses: Iterable[Mass], *, original: int, release: int, parts: int) -> Distances:
    """Return total variation and Kullback-Leibler divergence of a column's marginals.

    With p(v) the share of the ``original`` records that have v, and q(v) that of the mass of the
    ``release`` (its ``parts``, over all its records): total variation is half the sum of
    |p(v) - q(v)|, in [0, 1], including mass on no value of the original; the divergence is the sum
    of p(v) log2(p(v)/q(v)), in bits, and infinite if the release excludes a value of the
    original (Cover and Thomas, Elements of Information Theory, sections 2.3 and 11.6).
    """
    scale = release * parts
    difference = inside = 0
    terms: list[float] = []
    endless = False
    for people, mass, values in masses:
        before, after = people * scale, mass * original  # p(v) and q(v) over one denominator
        difference += abs(before - after) * values
        inside += mass * values
        if not people:
            continue
        if not mass:
            endless = True
            continue
        if before != after:
            terms.append(people * values / original * math.log2(before / after))
    outside = (scale - inside) * original
    total = Fraction(difference + max(outside, 0), 2 * scale * original)
    # Rounded parts may sum to slightly less than the whole, so a negative sum is a rounding error.
    divergence = math.inf if endless else max(0.0, math.fsum(terms))
    return Distances(float(total), divergence)


def penalty(lost: int, total: int, *, suppressed: int, records: int) -> Fraction:
    """Compute the normalised certainty penalty of a column, in [0, 1] (Xu et al. 2006, section 3).

    It is the mean over the records of the share of the column that the cell covers: 0 for one
    value, 1 for a cell that reveals nothing. For numbers, dates and times the share is the distance
    from the smallest to the greatest value in the cell, over that in the column; for other columns,
    and those with a hierarchy, it is the number of values in the cell, over that in the column.
    ``lost`` is the sum of these distances or numbers over the records that are not ``suppressed``,
    ``total`` the distance or number for the whole column.
    """
    if not records:
        return Fraction(0)
    return (Fraction(lost, total or 1) + suppressed) / records


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
