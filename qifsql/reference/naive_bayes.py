"""Naive Bayes from a release, and the distance of two guesses (M85, M87)."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

Belief: TypeAlias = Mapping[Any, Fraction]
Cell: TypeAlias = Callable[[Any], bool]  # whether a value may stand in the cell
Record: TypeAlias = tuple[Sequence[Cell], Any]  # the cells of a record of a release, and its secret


def bayes(release: Sequence[Record], values: Sequence[Any], domain: Sequence[Any]) -> Belief:
    """Return the probability of each secret of ``domain`` for a person with these ``values``.

    Bernoulli naive Bayes (M85) with alpha 1: the share of the records with the secret, times for
    each value the share of these whose cell it may stand in, with 1 added to both counts.
    """
    weights = {}
    for secret in domain:
        records = [cells for cells, s in release if s == secret]
        weight = Fraction(len(records))
        for j, v in enumerate(values):
            weight *= Fraction(sum(cells[j](v) for cells in records) + 1, len(records) + 2)
        weights[secret] = weight
    total = sum(weights.values())
    return {secret: weight / total for secret, weight in weights.items()}


def l1(p: Belief, q: Belief) -> Fraction:
    """Compute the L1 distance of two guesses (M87)."""
    return sum((abs(p[s] - q[s]) for s in p), Fraction())
