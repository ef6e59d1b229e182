"""Entropies, capacity, pointwise leakage and Bayes security (M23 to M25, M167 to M169, M171)."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations

from qifsql.reference.channel import Distribution, Joint, columns, inners, outers, secret_prior
from qifsql.reference.microdata import Key


def entropy(distribution: Distribution) -> float:
    """Compute Shannon entropy in bits (M23)."""
    return math.fsum(-p * math.log2(p) for p in distribution.values() if p)


def posterior_entropy(joint: Joint) -> float:
    """Compute the mean entropy of the blocks in bits (M23)."""
    outer = outers(joint)
    return math.fsum(outer[b] * entropy(inner) for b, inner in inners(joint).items())


def mutual_information(joint: Joint) -> float:
    """Compute what the blocks tell of the secret, in bits (M23)."""
    p_v, p_b = secret_prior(joint), outers(joint)
    return math.fsum(p * math.log2(p / p_v[v] / p_b[b]) for (b, v), p in joint.items())


def guessing(distribution: Distribution) -> Fraction:
    """Compute guessing entropy (M24): the mean number of guesses until one is right."""
    ranked = sorted(distribution.values(), reverse=True)
    return sum((i * p for i, p in enumerate(ranked, 1)), Fraction())


def posterior_guessing(joint: Joint) -> Fraction:
    """Compute the mean guessing entropy of the blocks (M24)."""
    return sum((guessing(column) for column in columns(joint).values()), Fraction())


def capacity(channel: Joint) -> Fraction:
    """Compute multiplicative Bayes capacity (M25): the sum over blocks of the largest C(v, b)."""
    return sum((max(column.values()) for column in columns(channel).values()), Fraction())


def pointwise_leakage(joint: Joint) -> list[tuple[Fraction, Fraction]]:
    """Return max_v p(v | b) / p(v) of each block, whose logarithm leaks (M167), and p(b)."""
    prior, outer = secret_prior(joint), outers(joint)
    return [
        (max(p / prior[v] for v, p in inner.items() if p), outer[block])
        for block, inner in inners(joint).items()
    ]


def leakage_over_people(ratios: Iterable[tuple[Fraction, Fraction | int]]) -> dict[str, float]:
    """Return mean, median, 95th percentile and maximum over people of log2 of a ratio (M168).

    ``ratios`` are pairs of a ratio and the people who have it; the results are bits.
    """
    ordered = sorted(ratios)
    people = sum(n for _, n in ordered)
    bits = [(math.log2(ratio), n) for ratio, n in ordered]
    return {
        "pointwise_mean": math.fsum(value * n for value, n in bits) / float(people),
        "pointwise_median": _quantile(bits, people / Fraction(2)),
        "pointwise_q95": _quantile(bits, people * Fraction(19, 20)),
        "pointwise_worst": bits[-1][0],
    }


def _quantile(ordered: Sequence[tuple[float, Fraction | int]], people: Fraction) -> float:
    """Return the first value (of value and people, in order) up to which there are ``people``."""
    below: Fraction | int = 0
    for value, n in ordered:
        below += n
        if below >= people:
            return value
    return ordered[-1][0]


def bayes_security(channel: Joint) -> Fraction:
    """Compute Bayes security (M169): the least overlap of two rows of the channel; 1 with one row.

    A row is the distribution of a value over the blocks. The overlap is 1 less the distance in
    total variation.
    """
    rows: dict[object, dict[Key, Fraction]] = {}
    for (block, v), p in channel.items():
        rows.setdefault(v, {})[block] = p
    overlaps = (
        sum((min(p, second[b]) for b, p in first.items() if b in second), Fraction())
        for first, second in combinations(rows.values(), 2)
    )
    return min(overlaps, default=Fraction(1))
