"""Measures of the channel from secrets to blocks: entropies, capacity, security, pointwise leakage.

For secrets that are attributes SQL computes the sums of entropies (the view ``uncertainty``); the
owner as a secret has one record for each value, so sizes of blocks are enough.
"""

import math
from collections.abc import Iterable
from fractions import Fraction

import polars as pl

from qifsql.measures.distribution import Distribution
from qifsql.measures.profile import Profile

Kind = tuple[Fraction, int]
"""The largest ratio p(v | b) / p(v) of a kind of block, and the people in such blocks."""


def owner_entropy(profile: Profile) -> float:
    """Compute the Shannon entropy of the owner of a record, in bits.

    It is sum_b n_b / N log2 n_b (thesis appendix B): at most log2 N, without any
    quasi-identifiers, and 0 if everybody is alone in a block.
    """
    total = profile.individuals
    return math.fsum(people / total * math.log2(size) for size, people in _sizes(profile))


def owner_guessing(profile: Profile) -> Fraction:
    """Compute the expected number of guesses to find the record: sum_b n_b / N (n_b + 1) / 2."""
    tries = sum(Fraction(people * (size + 1), 2) for size, people in _sizes(profile))
    return Fraction(tries, profile.individuals)


def _sizes(profile: Profile) -> list[tuple[int, int]]:
    """Return the sizes of blocks, in order, and the number of people in blocks of each size."""
    people = (pl.col("size") * pl.col("blocks")).sum()
    return profile.frame.group_by("size").agg(people=people).sort("size").rows()


def entropy(frequencies: Iterable[tuple[int, int]]) -> float:
    """Compute Shannon entropy in bits, the sum of p log2(1/p), from pairs (records, values).

    Source: thesis appendix B. The sum is exact and in sorted order, so that it is reproducible.
    """
    pairs = sorted(frequencies)
    total = sum(n * v for n, v in pairs)
    return math.fsum(v * (n / total) * math.log2(total / n) for n, v in pairs)


def capacity(shares: Iterable[tuple[int, int]]) -> float:
    """Return sum_b max_v C(v, b), the largest factor by which any adversary's success can grow.

    C(v, b) is the share of the people with the value v who are in the block b, over values that the
    prior allows. ``shares`` are the maxima as pairs: people in the block, people with the value;
    maxima with the same second number may be added up in one pair. Sources: PoPETs sections 3 and
    7; QIF book, chapter 7. The result is a ratio from 1 to the number of blocks or of values,
    whichever is smaller; it is never NULL.
    """
    return math.fsum(sorted(people / everybody for people, everybody in shares))


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
