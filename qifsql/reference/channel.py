"""Joint distribution, channel, hyper-distribution and gains (M4 to M6, M20 to M22)."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any, TypeAlias

from qifsql.reference.microdata import Blocks, Key, Names, Rows, Weight, Weights, blocks, value

Prior: TypeAlias = Mapping[Any, Weight] | None
Joint: TypeAlias = dict[tuple[Key, Any], Fraction]  # probabilities of a block and a value
Distribution: TypeAlias = Mapping[Any, Fraction]
Gain: TypeAlias = Callable[[Any, Any], Fraction]
Gains: TypeAlias = tuple[list[Any], Gain]
"""The guesses, and what a guess gains if the secret has a value."""

ABSTAIN = object()  # the guess that says nothing


def joint(
    rows: Rows, qids: Names, secret: str | None, *, weights: Weights = None, prior: Prior = None
) -> Joint:
    """Return the joint p(v, b) = n_bv / N (M5); with a prior of her own, prior(v) C(v, b)."""
    return joint_of(blocks(rows, qids, secret, weights), prior)


def joint_of(cells: Blocks, prior: Prior = None) -> Joint:
    """Return the joint p(b, v) of blocks (M5); with a ``prior``, prior(v) C(v, b)."""
    n = _weights(cells)
    if prior is None:
        total = sum(n.values(), Fraction())
        return {place: weight / total for place, weight in n.items()}
    counts = secret_prior(n)
    belief = _belief(prior, counts)
    return {(b, v): belief[v] * m / counts[v] for (b, v), m in n.items() if belief.get(v)}


def channel(rows: Rows, qids: Names, secret: str | None, *, weights: Weights = None) -> Joint:
    """Return C(v, b) = n_bv / n_v (M5) for the values that somebody has; b is first in the key."""
    return channel_of(blocks(rows, qids, secret, weights))


def channel_of(cells: Blocks) -> Joint:
    """Return the channel of blocks (M5)."""
    n = _weights(cells)
    counts = secret_prior(n)
    return {(b, v): weight / counts[v] for (b, v), weight in n.items()}


def _weights(cells: Blocks) -> Joint:
    return {(b, v): cell.weight for b, inside in cells.items() for v, cell in inside.items()}


def secret_prior(joint: Joint) -> dict[Any, Fraction]:
    """Return p(v) (M4)."""
    sums: dict[Any, Fraction] = {}
    for (_, v), p in joint.items():
        sums[v] = sums.get(v, Fraction()) + p
    return sums


def columns(joint: Joint) -> dict[Key, dict[Any, Fraction]]:
    """Return p(-, b) of each block."""
    by_block: dict[Key, dict[Any, Fraction]] = {}
    for (b, v), p in joint.items():
        by_block.setdefault(b, {})[v] = p
    return by_block


def outers(joint: Joint) -> dict[Key, Fraction]:
    """Return p(b) of each block (M6)."""
    return {b: sum(column.values(), Fraction()) for b, column in columns(joint).items()}


def inners(joint: Joint) -> dict[Key, dict[Any, Fraction]]:
    """Return p(v | b) of each possible block (M6)."""
    outer = outers(joint)
    return {b: {v: p / outer[b] for v, p in c.items()} for b, c in columns(joint).items()}


def hyper(joint: Joint) -> dict[frozenset[tuple[Any, Fraction]], Fraction]:
    """Return the outer of each distinct inner, a set of pairs (v, p): equal ones merged (M6)."""
    outer, merged = outers(joint), dict[frozenset[tuple[Any, Fraction]], Fraction]()
    for b, inner in inners(joint).items():
        pairs = frozenset(inner.items())
        merged[pairs] = merged.get(pairs, Fraction()) + outer[b]
    return merged


def _belief(prior: Mapping[Any, Weight], counts: Distribution) -> dict[Any, Fraction]:
    """Return a prior exactly: probabilities by value. ``counts`` has the values that people have.

    Raises ValueError if it is no distribution, or believes in a value that nobody has.
    """
    belief = {value(v): Fraction(p) for v, p in prior.items()}
    if len(belief) < len(prior) or min(belief.values(), default=-1) < 0:
        raise ValueError("the prior has a value twice, or a negative probability")
    if any(p and v not in counts for v, p in belief.items()):
        raise ValueError("the prior believes in a value that nobody has")
    if abs(sum(belief.values(), Fraction(-1))) > Fraction(1, 10**9):  # floats need not add up to 1
        raise ValueError("the prior does not add up to 1")
    return belief


def identity(domain: Sequence[object]) -> Gains:
    """Return g(w, v) = [w = v] (M22): Bayes vulnerability."""
    return worth(domain, dict.fromkeys(domain, 1))


def worth(domain: Sequence[object], worths: Mapping[Any, Weight]) -> Gains:
    """Return g(w, v) = [w = v] times what the value is worth (M22)."""
    exact = {value(v): Fraction(worths[v]) for v in worths}
    guesses = _distinct(domain)
    if not set(guesses) <= set(exact):
        raise ValueError("a value has no worth")
    return guesses, lambda w, v: exact[v] if w == v else Fraction()


def penalty(domain: Sequence[object], cost: Weight) -> Gains:
    """Return guesses that gain 1 if right, -cost if wrong, and one that gains 0 (M22)."""
    right, wrong = Fraction(1), -Fraction(cost)

    def gain(w: object, v: object) -> Fraction:
        if w is ABSTAIN:
            return Fraction()
        return right if w == v else wrong

    return [*_distinct(domain), ABSTAIN], gain


def tolerance(domain: Sequence[object], width: Weight) -> Gains:
    """Return guesses and g(w, v) = [|w - v| <= width] (M22); only missing is near missing."""

    def gain(w: Any, v: Any) -> Fraction:
        if w == v or w is None or v is None:
            return Fraction(w == v)
        guess, true = (Fraction(n) if math.isfinite(n) else n for n in (w, v))
        return Fraction(abs(guess - true) <= Fraction(width))

    return _distinct(domain), gain


def gains_of_table(domain: Sequence[object], gains: Mapping[tuple[Any, Any], Weight]) -> Gains:
    """Return the guesses w and their gain g(w, v), read from a table by guess and value (M22).

    ValueError if a guess lacks the gain for a value of the domain.
    """
    table = {(value(w), value(v)): Fraction(g) for (w, v), g in gains.items()}
    guesses = _distinct(w for w, _ in table)
    if any((w, v) not in table for w in guesses for v in _distinct(domain)):
        raise ValueError("a guess has no gain for a value")
    return guesses, lambda w, v: table[w, v]


def tries(domain: Sequence[object], k: int) -> Gains:
    """Return k guesses at once (M22): g(w, v) = [v in w], w the sets of k values."""
    values = _distinct(domain)
    guesses: list[Any] = [frozenset(w) for w in combinations(values, min(k, len(values)))]
    return guesses, lambda w, v: Fraction(isinstance(w, frozenset) and v in w)


def _distinct(values: Iterable[object]) -> list[Any]:
    return list(dict.fromkeys(map(value, values)))


def vulnerability(distribution: Distribution, guesses: Sequence[Any], gain: Gain) -> Fraction:
    """Return V_g: the largest expected gain of a guess (M21)."""
    return max(sum((p * gain(w, v) for v, p in distribution.items()), Fraction()) for w in guesses)


def prior_gain(joint: Joint, guesses: Sequence[Any], gain: Gain) -> Fraction:
    """Return V_g of the prior (M21)."""
    return vulnerability(secret_prior(joint), guesses, gain)


def posterior_gain(joint: Joint, guesses: Sequence[Any], gain: Gain) -> Fraction:
    """Return V_g after the release (M21): each block has its best guess."""
    return sum((vulnerability(c, guesses, gain) for c in columns(joint).values()), Fraction())


def worst_case_gain(joint: Joint, guesses: Sequence[Any], gain: Gain) -> Fraction:
    """Return the largest V_g of a block (M21)."""
    return max(vulnerability(inner, guesses, gain) for inner in inners(joint).values())


def tries_vulnerability(distribution: Distribution, k: int) -> Fraction:
    """Return the success in k tries (M22): the sum of the k largest probabilities."""
    return sum(sorted(distribution.values(), reverse=True)[:k], Fraction())


def posterior_tries(joint: Joint, k: int) -> Fraction:
    """Return the success in k tries after the release (M22)."""
    return sum((tries_vulnerability(c, k) for c in columns(joint).values()), Fraction())


def worst_case_tries(joint: Joint, k: int) -> Fraction:
    """Return the largest success in k tries in a block (M22)."""
    return max(tries_vulnerability(inner, k) for inner in inners(joint).values())
