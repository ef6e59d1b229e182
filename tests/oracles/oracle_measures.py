"""A slow, exact oracle for what is measured on blocks: gains, entropies, groups, release risks.

From the joint p(v, b) of a secret's value v and a block b, in fractions, each number follows its
definition (thesis Defs. 1-8 and App. B; PoPETs Sec. 3). Only entropies are floats, in bits.

A missing secret, None, is re-identification: every record is its own value, named by its
position. Rows of weight zero are no individuals.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations
from typing import Any

from oracle import Row, View, Weight, _check, _masses, _views, partition, value

Rows = Sequence[Row]
Names = Sequence[str]
Secret = str | None
Weights = Sequence[Weight] | None
Prior = Mapping[Any, Weight] | None
Block = tuple[object, ...]
Joint = dict[tuple[Block, object], Fraction]
Distribution = Mapping[Any, Fraction]
Gain = Callable[[Any, Any], Fraction]
Gains = tuple[list[object], Gain]

ABSTAIN = object()  # the guess that says nothing


@dataclass(frozen=True)
class Group:
    """The individuals of one group, attacked by an adversary who sees the whole release."""

    individuals: int
    weight: Fraction
    singled_out: int
    certain: int
    deterministic: Fraction
    probabilistic: Fraction
    worst_case: Fraction
    guessed_right: Fraction | None
    prior_probabilistic: Fraction


@dataclass(frozen=True)
class Risks:
    """Re-identification risks of a release; a journalist's need a population."""

    prosecutor_highest: Fraction
    prosecutor_average: Fraction
    journalist_highest: Fraction | None
    journalist_average: Fraction | None
    marketer: Fraction


def joint(
    rows: Rows, qids: Names, secret: Secret, *, weights: Weights = None, prior: Prior = None
) -> Joint:
    """p(v, b) = n_bv / W, or prior_v C(v, b) with the adversary's own prior (thesis Def. 3)."""
    cells = _cells(rows, qids, secret, weights)
    if prior is None:
        total = sum(cells.values(), Fraction())
        return {key: n / total for key, n in cells.items()}
    counts = secret_prior(cells)
    belief = _belief(prior, counts)
    return {(b, v): belief[v] * n / counts[v] for (b, v), n in cells.items() if belief.get(v)}


def channel(rows: Rows, qids: Names, secret: Secret, *, weights: Weights = None) -> Joint:
    """C(v, b) = n_bv / n_v for the v that somebody has, b first in the key (PoPETs A3-C)."""
    cells = _cells(rows, qids, secret, weights)
    counts = secret_prior(cells)
    return {(b, v): n / counts[v] for (b, v), n in cells.items()}


def secret_prior(joint: Joint) -> dict[object, Fraction]:
    """p(v) = sum_b p(v, b) (thesis Def. 3)."""
    sums: dict[object, Fraction] = {}
    for (_, v), p in joint.items():
        sums[v] = sums.get(v, Fraction()) + p
    return sums


def outers(joint: Joint) -> dict[Block, Fraction]:
    """p(b) = sum_v p(v, b) (thesis Def. 3)."""
    return {b: sum(column.values(), Fraction()) for b, column in _columns(joint).items()}


def inners(joint: Joint) -> dict[Block, dict[object, Fraction]]:
    """p(v | b) = p(v, b) / p(b) for each possible block (thesis Def. 3)."""
    outer = outers(joint)
    return {b: {v: p / outer[b] for v, p in c.items()} for b, c in _columns(joint).items()}


def hyper(joint: Joint) -> dict[frozenset[tuple[object, Fraction]], Fraction]:
    """The outer of each distinct inner: equal inners are one, outers added (thesis Def. 4)."""
    outer = outers(joint)
    merged: dict[frozenset[tuple[object, Fraction]], Fraction] = {}
    for b, inner in inners(joint).items():
        key = frozenset(inner.items())
        merged[key] = merged.get(key, Fraction()) + outer[b]
    return merged


def _cells(rows: Rows, qids: Names, secret: Secret, weights: Weights) -> Joint:
    """n_bv, the weight in block b of those whose secret is v, where positive."""
    _check(qids, secret)
    masses = _masses(rows, weights)
    cells: Joint = {}
    for block, positions in partition(rows, qids).items():
        for i in positions:
            if masses[i]:
                key = block, i if secret is None else value(rows[i][secret])
                cells[key] = cells.get(key, Fraction()) + masses[i]
    return cells


def _columns(joint: Joint) -> dict[Block, dict[object, Fraction]]:
    """The columns p(-, b) of the joint."""
    columns: dict[Block, dict[object, Fraction]] = {}
    for (b, v), p in joint.items():
        columns.setdefault(b, {})[v] = p
    return columns


def _belief(prior: Mapping[Any, Weight], counts: Distribution) -> dict[object, Fraction]:
    """The given prior, exact; it may not believe in values that have no row in the channel."""
    belief = {value(v): Fraction(p) for v, p in prior.items()}
    if len(belief) < len(prior) or min(belief.values(), default=-1) < 0:
        raise ValueError("the prior has a value twice, or a negative probability")
    if any(p and v not in counts for v, p in belief.items()):
        raise ValueError("the prior believes in a value that nobody has")
    if abs(sum(belief.values(), Fraction(-1))) > Fraction(1, 10**9):  # floats need not add up to 1
        raise ValueError("the prior does not add up to 1")
    return belief


def identity(domain: Sequence[object]) -> Gains:
    """g(w, v) = [w = v] (thesis Def. 8): Bayes vulnerability."""
    return worth(domain, dict.fromkeys(domain, 1))


def worth(domain: Sequence[object], worths: Mapping[Any, Weight]) -> Gains:
    """g(w, v) = worth(v) [w = v]; each value has a worth."""
    known = {value(v): Fraction(worths[v]) for v in worths}
    guesses = _distinct(domain)
    if not set(guesses) <= set(known):
        raise ValueError("a value has no worth")
    return guesses, lambda w, v: known[v] if w == v else Fraction()


def penalty(domain: Sequence[object], cost: Weight) -> Gains:
    """1 for a right guess, -cost for a wrong one, 0 for no guess."""
    wrong = -Fraction(cost)

    def gain(w: object, v: object) -> Fraction:
        return Fraction() if w is ABSTAIN else Fraction(1) if w == v else wrong

    return [*_distinct(domain), ABSTAIN], gain


def tolerance(domain: Sequence[object], width: Weight) -> Gains:
    """g(w, v) = [|w - v| <= width], w in the domain; only missing is near missing."""

    def gain(w: Any, v: Any) -> Fraction:
        if w == v or w is None or v is None:
            return Fraction(w == v)
        x, y = (Fraction(n) if math.isfinite(n) else n for n in (w, v))
        return Fraction(abs(x - y) <= Fraction(width))

    return _distinct(domain), gain


def matrix(domain: Sequence[object], gains: Mapping[tuple[Any, Any], Weight]) -> Gains:
    """g(w, v) as written, for each guess w that occurs and each v of the domain."""
    table = {(value(w), value(v)): Fraction(g) for (w, v), g in gains.items()}
    guesses = _distinct(w for w, _ in table)
    if any((w, v) not in table for w in guesses for v in _distinct(domain)):
        raise ValueError("a guess has no gain for a value")
    return guesses, lambda w, v: table[w, v]


def tries(domain: Sequence[object], k: int) -> Gains:
    """k guesses at once: g(w, v) = [v in w], w the k-subsets (all of a smaller domain)."""
    values = _distinct(domain)
    guesses: list[object] = [frozenset(w) for w in combinations(values, min(k, len(values)))]
    return guesses, lambda w, v: Fraction(isinstance(w, frozenset) and v in w)


def _distinct(values: Iterable[object]) -> list[object]:
    """The values once each, canonical, in the order given."""
    return list(dict.fromkeys(map(value, values)))


def vulnerability(distribution: Distribution, guesses: Sequence[object], gain: Gain) -> Fraction:
    """V_g(pi) = max_w sum_v pi_v g(w, v) (thesis Def. 6)."""
    return max(sum((p * gain(w, v) for v, p in distribution.items()), Fraction()) for w in guesses)


def prior_gain(joint: Joint, guesses: Sequence[object], gain: Gain) -> Fraction:
    """V_g(pi), pi the prior of the joint (thesis Def. 6)."""
    return vulnerability(secret_prior(joint), guesses, gain)


def posterior_gain(joint: Joint, guesses: Sequence[object], gain: Gain) -> Fraction:
    """V_g[pi > C] = sum_b max_w sum_v p(v, b) g(w, v) (thesis Def. 6)."""
    return sum((vulnerability(c, guesses, gain) for c in _columns(joint).values()), Fraction())


def worst_case_gain(joint: Joint, guesses: Sequence[object], gain: Gain) -> Fraction:
    """max_b V_g(p(- | b)) over the possible blocks."""
    return max(vulnerability(inner, guesses, gain) for inner in inners(joint).values())


def tries_vulnerability(distribution: Distribution, k: int) -> Fraction:
    """Success in k tries: the sum of the k largest probabilities."""
    return sum(sorted(distribution.values(), reverse=True)[:k], Fraction())


def posterior_tries(joint: Joint, k: int) -> Fraction:
    """sum_b (sum of the k largest p(v, b))."""
    return sum((tries_vulnerability(c, k) for c in _columns(joint).values()), Fraction())


def worst_case_tries(joint: Joint, k: int) -> Fraction:
    """max_b (sum of the k largest p(v | b))."""
    return max(tries_vulnerability(inner, k) for inner in inners(joint).values())


def entropy(distribution: Distribution) -> float:
    """H = sum_v p_v log2 (1 / p_v), in bits (thesis App. B)."""
    return math.fsum(-p * math.log2(p) for p in distribution.values() if p)


def posterior_entropy(joint: Joint) -> float:
    """H(S | X) = sum_b p(b) H(S | X = b) (thesis App. B)."""
    outer = outers(joint)
    return math.fsum(outer[b] * entropy(inner) for b, inner in inners(joint).items())


def mutual_information(joint: Joint) -> float:
    """I(S; X) = sum p(v, b) log2 (p(v, b) / p(v) p(b)), that is H(S) - H(S | X)."""
    p_v, p_b = secret_prior(joint), outers(joint)
    return math.fsum(p * math.log2(p / p_v[v] / p_b[b]) for (b, v), p in joint.items())


def guessing(distribution: Distribution) -> Fraction:
    """G = sum_i i p_(i), p sorted descending: guesses until one is right, on average."""
    ranked = sorted(distribution.values(), reverse=True)
    return sum((i * p for i, p in enumerate(ranked, 1)), Fraction())


def posterior_guessing(joint: Joint) -> Fraction:
    """G(S | X) = sum_b p(b) G(S | X = b)."""
    return sum((guessing(column) for column in _columns(joint).values()), Fraction())


def capacity(channel: Joint) -> Fraction:
    """sum_b max_v C(v, b): most that any prior and any gain >= 0 can leak multiplicatively."""
    return sum((max(column.values()) for column in _columns(channel).values()), Fraction())


def pointwise_leakage(joint: Joint) -> list[tuple[Fraction, Fraction]]:
    """For each block, max_v p(v | b) / p(v), whose logarithm leaks, and the share of its people."""
    prior, outer = secret_prior(joint), outers(joint)
    return [
        (max(p / prior[v] for v, p in inner.items() if p), outer[block])
        for block, inner in inners(joint).items()
    ]


def bayes_security(channel: Joint) -> Fraction:
    """1 - the greatest total-variation distance of two rows of a channel; 1 with one row."""
    rows: dict[object, dict[Block, Fraction]] = {}
    for (block, v), p in channel.items():
        rows.setdefault(v, {})[block] = p
    distances = [
        sum((abs(a.get(b, 0) - c.get(b, 0)) for b in {*a, *c}), Fraction(0)) / 2
        for a, c in combinations(rows.values(), 2)
    ]
    return 1 - max(distances, default=Fraction(0))


def individual_success(
    rows: Rows, qids: Names, secret: Secret, *, weights: Weights = None, prior: Prior = None
) -> list[Fraction | None]:
    """Per row max_v p(v | b), b its block; None if the adversary finds b impossible."""
    seen = inners(joint(rows, qids, secret, weights=weights, prior=prior))
    best = {b: max(inner.values()) for b, inner in seen.items()}
    return [best.get(tuple(value(row[qid]) for qid in qids)) for row in rows]


def of_individuals(successes: Sequence[Fraction | None], weights: Weights = None) -> list[Fraction]:
    """The successes of the rows of positive weight, without the rows that have no number."""
    given: Sequence[Weight] = [1] * len(successes) if weights is None else weights
    return [p for p, w in zip(successes, given, strict=True) if w and p is not None]


def histogram(successes: Iterable[Fraction]) -> list[int]:
    """Return how many are in bin 100 p rounded half to even, 0..100."""
    bins = Counter(round(100 * p) for p in successes)
    return [bins[percent] for percent in range(101)]


def at_or_above(successes: Iterable[Fraction], threshold: Weight) -> int:
    """Return how many have p >= threshold, compared exactly."""
    return sum(p >= Fraction(threshold) for p in successes)


def quantile(successes: Sequence[Fraction], q: Weight) -> Fraction:
    """The smallest p such that at least q of the individuals have at most p."""
    wanted = Fraction(q) * len(successes)
    return min(p for p in successes if sum(other <= p for other in successes) >= wanted)


def groups(
    rows: Rows, qids: Names, secret: Secret, *, by: str, weights: Weights = None
) -> dict[object, Group]:
    """Per value of column ``by`` that somebody has: its individuals alone, on their full blocks."""
    _check(qids, secret)
    masses = _masses(rows, weights)
    prior = next(view for view in _views(rows, [], secret, masses) if view)
    people: dict[object, list[tuple[Row, Fraction, View]]] = {}
    for row, mass, view in zip(rows, masses, _views(rows, qids, secret, masses), strict=True):
        if mass and view:
            people.setdefault(value(row[by]), []).append((row, mass, view))
    return {group: _group(members, secret, prior) for group, members in people.items()}


def _group(members: Sequence[tuple[Row, Fraction, View]], secret: Secret, prior: View) -> Group:
    """Shares of the group's weight, and counts of its individuals."""
    weight = sum((mass for _, mass, _ in members), Fraction())
    right = None
    if secret is not None:
        own = (m for row, m, view in members if value(row[secret]) == view.best_guess)
        right = sum(own, Fraction()) / weight
    return Group(
        individuals=len(members),
        weight=weight,
        singled_out=sum(view.size == 1 for _, _, view in members),
        certain=sum(view.certain for _, _, view in members),
        deterministic=sum((m for _, m, view in members if view.certain), Fraction()) / weight,
        probabilistic=sum((m * view.success for _, m, view in members), Fraction()) / weight,
        worst_case=max(view.success for _, _, view in members),
        guessed_right=right,
        prior_probabilistic=prior.success,
    )


def risks(rows: Rows, qids: Names, population_rows: Rows | None = None) -> Risks:
    """With f_b records of the release and F_b people of the population in block b, n records:

    prosecutor max 1/f_b and #blocks / n, journalist max 1/F_b and (1/n) sum_b f_b/F_b, marketer
    the share she links rightly, which is the average against what she links to.
    """
    if not rows:
        raise ValueError("the release is empty")
    n = len(rows)
    f = {b: len(positions) for b, positions in partition(rows, qids).items()}
    highest, average = Fraction(1, min(f.values())), Fraction(len(f), n)
    if population_rows is None:
        return Risks(highest, average, None, None, average)
    big_f = {b: len(positions) for b, positions in partition(population_rows, qids).items()}
    if any(big_f.get(b, 0) < size for b, size in f.items()):
        raise ValueError("the release is not a part of the population")
    shared = sum((Fraction(size, big_f[b]) for b, size in f.items()), Fraction()) / n
    return Risks(highest, average, max(Fraction(1, big_f[b]) for b in f), shared, shared)


def minimal_sample_uniques(
    rows: Rows, qids: Names, target: Mapping[str, object]
) -> set[frozenset[str]]:
    """The minimal sets of qids on which exactly one record agrees with the target."""
    return minimal(s for s in subsets(qids) if len(_agreeing(rows, s, target)) == 1)


def minimal_revealing(
    rows: Rows, qids: Names, secret: str, target: Mapping[str, object]
) -> set[frozenset[str]]:
    """The minimal sets of qids on which those who agree with the target share one secret."""
    _check(qids, secret)
    found = ((s, {value(r[secret]) for r in _agreeing(rows, s, target)}) for s in subsets(qids))
    return minimal(s for s, secrets in found if len(secrets) == 1)


def _agreeing(rows: Rows, names: Iterable[str], target: Mapping[str, object]) -> list[Row]:
    """The records equal to the target in each of the columns."""
    columns = list(names)
    return [row for row in rows if all(value(row[c]) == value(target[c]) for c in columns)]


def refines(rows: Rows, a: Names, b: Names) -> bool:
    """Return whether each block by ``a`` lies within one block by ``b``."""
    coarse = [set(positions) for positions in partition(rows, b).values()]
    return all(any(block <= c for c in coarse) for block in map(set, partition(rows, a).values()))


def subsets(names: Iterable[str]) -> list[frozenset[str]]:
    """All sets of the names, the empty one too, small ones first."""
    columns = sorted(set(names))
    sizes = (combinations(columns, size) for size in range(len(columns) + 1))
    return [frozenset(chosen) for chosen in chain.from_iterable(sizes)]


def minimal(family: Iterable[frozenset[str]]) -> set[frozenset[str]]:
    """The sets of the family that contain no other of it."""
    members = set(family)
    return {s for s in members if not any(other < s for other in members)}


def maximal(family: Iterable[frozenset[str]]) -> set[frozenset[str]]:
    """The sets of the family that no other of it contains."""
    members = set(family)
    return {s for s in members if not any(other > s for other in members)}
