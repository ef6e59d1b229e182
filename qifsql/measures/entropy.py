"""Shannon entropy and the number of guesses, for the owner of a record.

For secrets that are attributes SQL computes the sums (the view ``uncertainty``); the owner as a
secret has one record for each value, so sizes of blocks are enough.
"""

import math
from collections.abc import Iterable
from fractions import Fraction

import polars as pl

from qifsql.measures.profile import Profile


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
