"""Shannon's entropy and the number of guesses, of the owner of a record.

For secrets of attributes the sums are made in SQL (the view ``uncertainty``); whose record it is
has one record for each value, so sizes of blocks are enough.
"""

import math
from collections.abc import Iterable
from fractions import Fraction

import polars as pl

from qifsql.measures.profile import Profile


def owner_entropy(profile: Profile) -> float:
    """Compute Shannon entropy in bits of whose record it is.

    Sum_b n_b / N log2 n_b (thesis appendix B).

    At most log2 N, before the release, where nothing is known; 0 where everybody is alone.
    """
    total = profile.individuals
    return math.fsum(people / total * math.log2(size) for size, people in _sizes(profile))


def owner_guessing(profile: Profile) -> Fraction:
    """Compute the expected number of guesses until the record is found.

    Sum_b n_b / N (n_b + 1) / 2.
    """
    tries = sum(Fraction(people * (size + 1), 2) for size, people in _sizes(profile))
    return Fraction(tries, profile.individuals)


def _sizes(profile: Profile) -> list[tuple[int, int]]:
    """Compute sizes of blocks, in order, and how many people stand in blocks of each."""
    people = (pl.col("size") * pl.col("blocks")).sum()
    return profile.frame.group_by("size").agg(people=people).sort("size").rows()


def entropy(frequencies: Iterable[tuple[int, int]]) -> float:
    """Compute Shannon entropy in bits, the sum of p log2(1/p), from pairs (records, values).

    Source: thesis appendix B. Summed exactly and in one order, so it depends on nothing else.
    """
    pairs = sorted(frequencies)
    total = sum(n * v for n, v in pairs)
    return math.fsum(v * (n / total) * math.log2(total / n) for n, v in pairs)
