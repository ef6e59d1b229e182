"""Multiplicative Bayes capacity: the most that a release can leak, whatever the prior."""

import math
from collections.abc import Iterable


def capacity(shares: Iterable[tuple[int, int]]) -> float:
    """Return sum_b max_v C(v, b), the most by which the success of any adversary is multiplied.

    C(v, b) is the share of the people with the value v who stand in the block b, over values that
    the prior allows. ``shares`` are the maxima, put together where their values are of as many
    people: how many stand there, of how many. Sources: PoPETs sections 3 and 7; QIF book,
    chapter 7. A ratio from 1 to the number of blocks and to that of values; it is never NULL.
    """
    return math.fsum(sorted(people / everybody for people, everybody in shares))


def bits(factor: float) -> float:
    """Return a capacity in bits: its logarithm to base 2, at least 0."""
    return math.log2(factor)
