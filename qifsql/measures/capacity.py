"""Capacity and Bayes security: the largest leakage and the least security over all priors."""

import math
from collections.abc import Iterable
from fractions import Fraction


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


def security(values: int, pairs: int, overlap: Fraction) -> float:
    """Return the Bayes security: 1 minus the largest distance of two rows of the channel (M169).

    The distance is total variation; 1 minus it is the overlap sum_b min(C(v, b), C(w, b)).
    ``pairs`` of the ``values`` overlap, and ``overlap`` is the least of these overlaps. A pair that
    is never in one block has none: the security is then 0. With one value there is nothing to
    guess, and it is 1. Source: Chatzikokolakis, Cherubin, Palamidessi, Troncoso, Bayes security: a
    not so average metric, 2023. The result is in [0, 1].
    """
    if values < 2:
        return 1.0
    return 0.0 if pairs < values * (values - 1) // 2 else float(overlap)
