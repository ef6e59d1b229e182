"""Multiplicative Bayes capacity: the largest leakage of a release over all priors."""

import math
from collections.abc import Iterable


def capacity(shares: Iterable[tuple[int, int]]) -> float:
    """Return sum_b max_v C(v, b), the largest factor by which any adversary's success can grow.

    C(v, b) is the share of the people with the value v who are in the block b, over values that the
    prior allows. ``shares`` are the maxima as pairs: people in the block, people with the value;
    maxima with the same second number may be added up in one pair. Sources: PoPETs sections 3 and
    7; QIF book, chapter 7. The result is a ratio from 1 to the number of blocks or of values,
    whichever is smaller; it is never NULL.
    """
    return math.fsum(sorted(people / everybody for people, everybody in shares))


def bits(factor: float) -> float:
    """Return a capacity in bits: its logarithm to base 2, at least 0."""
    return math.log2(factor)
