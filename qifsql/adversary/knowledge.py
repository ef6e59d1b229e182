"""Knowledge of adversaries: distributions over subsets of attributes, with whole weights (M160).

Subsets are numbers: bit i stands for the i-th attribute. An adversary who knows each attribute
independently has 2^k subsets, where k attributes are neither known for sure nor unknown for sure.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations

from qifsql.errors import InputError, quoted


@dataclass(frozen=True)
class Adversary:
    """One adversary, with a distribution over the subsets that she may know.

    ``support`` is the number of subsets that have a probability above 0 (of a mixture, at least).
    It is known before the subsets are listed, because it may be large. ``weights`` returns the
    weight of each of them, a whole number.
    """

    name: str
    support: int
    weights: Callable[[], Mapping[int, int]]


def independent(name: str, probabilities: Sequence[Fraction]) -> Adversary:
    """Return an adversary who knows each attribute with its probability, independent of others."""
    uncertain = sum(0 < p < 1 for p in probabilities)
    return Adversary(name, 2**uncertain, partial(_independent_weights, probabilities))


def _independent_weights(probabilities: Sequence[Fraction]) -> dict[int, int]:
    """Return the whole weight of each subset (a bit mask) if attributes are known independently.

    It is the product of p in the subset and 1 - p outside it, times all denominators (M160).
    """
    weights = {0: 1}
    for i, p in enumerate(probabilities):
        yes, no = p.numerator, p.denominator - p.numerator
        without = {s: w * no for s, w in weights.items()} if no else {}
        with_it = {s | 1 << i: w * yes for s, w in weights.items()} if yes else {}
        weights = without | with_it
    return weights


def any_of(n: int, first: int, last: int) -> list[Adversary]:
    """Return, for each r from first to last, who knows any r of n attributes, equally likely."""
    return [
        Adversary(f"any {r} of {n}", math.comb(n, r), partial(_equal_weights, n, r))
        for r in range(first, last + 1)
    ]


def _equal_weights(n: int, size: int) -> dict[int, int]:
    return {sum(subset): 1 for subset in combinations([1 << i for i in range(n)], size)}


def of_shares(name: str, shares: Mapping[int, Fraction]) -> Adversary:
    """Return an adversary who knows each subset with its share, taken in proportion."""
    weights = _integer_weights(shares)
    return Adversary(name, len(weights), lambda: weights)


def mixture(name: str, shares: Mapping[str, Fraction], among: Sequence[Adversary]) -> Adversary:
    """Return one of several adversaries, by their names; shares are taken in proportion."""
    by_name = {adversary.name: adversary for adversary in among}
    members = [(by_name[member], share) for member, share in shares.items() if share]
    support = max(member.support for member, _ in members)
    return Adversary(name, support, partial(_mixed_weights, members))


def _mixed_weights(members: Sequence[tuple[Adversary, Fraction]]) -> dict[int, int]:
    """Return the whole weight of each subset (a bit mask) that an adversary of a mixture may know.

    It is in proportion to the sum over members of share x probability of the subset (M160).
    """
    weights = [member.weights() for member, _ in members]
    sums = [sum(by_subset.values()) for by_subset in weights]
    factors = _integer_weights({i: share / sums[i] for i, (_, share) in enumerate(members)})
    mixed: Counter[int] = Counter()
    for i, by_subset in enumerate(weights):
        for subset, weight in by_subset.items():
            mixed[subset] += weight * factors[i]
    return mixed


def _integer_weights(shares: Mapping[int, Fraction]) -> dict[int, int]:
    """Return shares above 0 as whole numbers in the same proportions."""
    unit = math.lcm(*(share.denominator for share in shares.values()))
    return {key: int(share * unit) for key, share in shares.items() if share}


def check_names(adversaries: Iterable[Adversary]) -> list[Adversary]:
    """Return the adversaries; refuse two of one name."""
    named: dict[str, Adversary] = {}
    for adversary in adversaries:
        if adversary.name in named:
            raise InputError(
                f"there are two adversaries {quoted(adversary.name)}; name each once, as in "
                '"neighbour: age=0.9"'
            )
        named[adversary.name] = adversary
    return list(named.values())
