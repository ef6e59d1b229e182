"""Pointwise maximal leakage: what one observed block says at most, and its spread over people."""

import math
from collections.abc import Iterable
from fractions import Fraction

from qifsql.measures.distribution import Distribution

Kind = tuple[Fraction, int]
"""The largest ratio p(v | b) / p(v) of a kind of block, and the people in such blocks."""


def leakage(kinds: Iterable[Kind]) -> tuple[float, float, float, float]:
    """Return mean, median, 95th percentile and maximum of the leakage over people, in bits.

    The leakage of block b is log2 of max_v p(v | b) / p(v) (M167, M168), the same for everybody in
    it: 0 if the block says nothing, and never negative. A quantile at u is the smallest leakage
    that at least the share u of the people do not exceed. Source: Saeidian, Cervia, Oechtering,
    Skoglund, Pointwise maximal leakage, 2023. ``kinds`` are pairs of a ratio and the people in
    blocks with it, at least one.
    """
    people: dict[Fraction, int] = {}
    for ratio, n in kinds:
        people[ratio] = people.get(ratio, 0) + n
    ratios = sorted(people)
    bits = [math.log2(ratio) for ratio in ratios]
    everybody = sum(people.values())
    # Of positions in ``ratios``: a Distribution has whole amounts, and bits are none.
    spread = Distribution.of(((i, people[r]) for i, r in enumerate(ratios)), Fraction(1))
    mean = math.fsum(people[r] * b for r, b in zip(ratios, bits, strict=True)) / everybody
    median, high = (bits[int(spread.quantile(u))] for u in (Fraction(1, 2), Fraction(19, 20)))
    return mean, median, high, bits[-1]
