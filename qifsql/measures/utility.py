"""Utility of a sanitised column compared with the original: pure functions of counts.

A cell that stands for several values is taken to be each of them alike: its records are spread
evenly over the different values of the original that it contains.
"""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

PARTS = 2**48  # parts of a record where exact ones would be too many
MOST = 2**72  # parts that whole numbers of the engine hold, for 2^50 records


class Mass(NamedTuple):
    """So many ``values`` have that many records in the original, and such a mass in the release."""

    people: int
    mass: int
    values: int


class Distances(NamedTuple):
    """Distances between two marginals: see ``distances``."""

    total_variation: float
    divergence: float


def parts(widths: Sequence[int]) -> int:
    """Compute the number of parts of a record that divides evenly among all its cells.

    Where that would be too many, ``PARTS``: each cell is then wrong by less than its width in
    2^-48 records.
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
    |p(v) - q(v)|, in [0, 1], mass on no value of the original counting as well; the divergence is
    the sum of p(v) log2(p(v)/q(v)), in bits: infinite where the release excludes a value that
    the original has (Cover and Thomas, Elements of Information Theory, sections 2.3 and 11.6).
    """
    whole = release * parts
    difference = inside = 0
    terms: list[float] = []
    endless = False
    for people, mass, values in masses:
        one, other = people * whole, mass * original
        difference += abs(one - other) * values
        inside += mass * values
        if not people:
            continue
        if not mass:
            endless = True
            continue
        if one != other:
            terms.append(people * values / original * math.log2(one / other))
    outside = (whole - inside) * original
    total = Fraction(difference + max(outside, 0), 2 * whole * original)
    # Rounded parts of the release may sum to a little less than all: no more than rounding.
    divergence = math.inf if endless else max(0.0, math.fsum(terms))
    return Distances(float(total), divergence)


def penalty(lost: int, whole: int, *, suppressed: int, records: int) -> Fraction:
    """Compute the normalised certainty penalty of a column, in [0, 1] (Xu et al. 2006, section 3).

    The mean over the records of the share of the values that a cell contains: 0 for one of them, 1
    where nothing is told. Of numbers, dates and times it is how far the least and the greatest
    value in it are apart, over all; of other columns, and of those with a hierarchy, the number of
    its values over all. ``lost``: the sum of these, over the records that are not ``suppressed``,
    in units of which there are ``whole``.
    """
    if not records:
        return Fraction(0)
    return (Fraction(lost, whole or 1) + suppressed) / records
