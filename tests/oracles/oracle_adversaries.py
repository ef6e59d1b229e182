"""Adversaries who know only some attributes, slowly: from records, set by set, in fractions.

A record is a tuple of values; ``secret`` is a position, or None for
re-identification.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import comb

from qifsql.reference.microdata import Row
from qifsql.reference.quasi_identifier_sets import subsets
from qifsql.reference.success import attack, histogram, individual_success, of_individuals

Record = Sequence[object]
Subset = frozenset[int]
Weights = Mapping[Subset, Fraction]


def success(records: Sequence[Record], subset: Subset, secret: int | None) -> dict[str, Fraction]:
    """The deterministic and the probabilistic success of who knows a subset."""
    numbers = attack(_rows(records), _names(subset), None if secret is None else str(secret))
    return {name: numbers[f"posterior_{name}"] for name in ("deterministic", "probabilistic")}


def _rows(records: Sequence[Record]) -> list[Row]:
    return [{str(i): value for i, value in enumerate(record)} for record in records]


def _names(subset: Subset) -> list[str]:
    return [str(i) for i in sorted(subset)]


def independent(probabilities: Sequence[Fraction]) -> Weights:
    """Each attribute is known with its probability, independently."""
    weights = {}
    for subset in subsets(range(len(probabilities))):
        weight = Fraction(1)
        for a, p in enumerate(probabilities):
            weight *= p if a in subset else 1 - p
        weights[subset] = weight
    return weights


def any_of(n: int, size: int) -> Weights:
    """Each subset of a size with the same probability."""
    return {s: Fraction(len(s) == size, comb(n, size)) for s in subsets(range(n))}


def mixed(parts: Sequence[tuple[Weights, Fraction]]) -> Weights:
    """One of several adversaries, in proportion to their shares."""
    whole = sum(share for _, share in parts)
    everything = set().union(*(weights for weights, _ in parts))
    return {
        s: sum((w.get(s, Fraction(0)) * share / whole for w, share in parts), Fraction(0))
        for s in everything
    }


def summary(
    values: Mapping[Subset, Fraction],
    weights: Weights,
    *,
    attempt: Fraction = Fraction(1),
    threshold: Fraction | None = None,
) -> dict[str, Fraction | None]:
    """Expected value, quantiles, extremes and chance of attempt times success."""
    pairs = sorted((attempt * values[s], w) for s, w in weights.items() if w > 0)
    assert sum(w for _, w in pairs) == 1

    def quantile(share: Fraction) -> Fraction:
        return min(v for v, _ in pairs if sum(w for u, w in pairs if u <= v) >= share)

    chance = (
        None if threshold is None else sum((w for v, w in pairs if v >= threshold), Fraction(0))
    )
    return {
        "expected": sum((v * w for v, w in pairs), Fraction(0)),
        "median": quantile(Fraction(1, 2)),
        "q95": quantile(Fraction(95, 100)),
        "least": pairs[0][0],
        "greatest": pairs[-1][0],
        "chance": chance,
    }


def people_by_percent(
    records: Sequence[Record], weights: Weights, secret: int | None
) -> dict[int, Fraction]:
    """Expected number of people by the success on their block in percent, half to even."""
    people: dict[int, Fraction] = defaultdict(Fraction)
    for subset, weight in weights.items():
        if not weight:
            continue
        successes = individual_success(
            _rows(records), _names(subset), None if secret is None else str(secret)
        )
        for percent, n in enumerate(histogram(of_individuals(successes))):
            people[percent] += weight * n
    return {percent: n for percent, n in people.items() if n}
