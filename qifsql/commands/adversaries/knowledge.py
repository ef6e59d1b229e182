"""Knowledge of adversaries: distributions over subsets of attributes, with whole weights (M160).

Subsets are numbers: bit i stands for the i-th attribute. An adversary who knows each attribute
independently has 2^k subsets, where k attributes are neither known for sure nor unknown for sure.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from qifsql.errors import InputError, quoted


@dataclass(frozen=True)
class Adversary:
    """One adversary, with a distribution over the subsets that she may know.

    ``support`` is the number of subsets that have a probability above 0. It is known before the
    subsets are listed, because it may be large.
    """

    name: str
    knowledge: "Independent | AnyOf | Listed | Mixture"

    @property
    def support(self) -> int:
        """Return the number of subsets that the adversary may know (for a mixture at least)."""
        return self.knowledge.support

    def weights(self) -> dict[int, int]:
        """Return the weight of each subset that the adversary may know, a whole number above 0."""
        return self.knowledge.weights()


@dataclass(frozen=True)
class Independent:
    """Knowledge of each attribute with its probability, independent of the others."""

    probabilities: tuple[Fraction, ...]

    @property
    def support(self) -> int:
        """Return the number of subsets."""
        return int(2 ** sum(0 < p < 1 for p in self.probabilities))

    def weights(self) -> dict[int, int]:
        """Return w(S) = product of p_a in S and 1 - p_a outside, times all denominators (M160)."""
        weights = {0: 1}
        for i, p in enumerate(self.probabilities):
            yes, no = p.numerator, p.denominator - p.numerator
            without = {s: w * no for s, w in weights.items()} if no else {}
            with_it = {s | 1 << i: w * yes for s, w in weights.items()} if yes else {}
            weights = without | with_it
        return weights


@dataclass(frozen=True)
class AnyOf:
    """Knowledge of any ``size`` of ``n`` attributes, each set of them equally likely."""

    n: int
    size: int

    @property
    def support(self) -> int:
        """Return the number of subsets."""
        return math.comb(self.n, self.size)

    def weights(self) -> dict[int, int]:
        """Return the weight 1 for each subset of the size."""
        bits = [1 << i for i in range(self.n)]
        return {sum(subset): 1 for subset in combinations(bits, self.size)}


@dataclass(frozen=True)
class Listed:
    """Subsets with weights, which are taken in proportion."""

    shares: Mapping[int, Fraction]

    @property
    def support(self) -> int:
        """Return the number of subsets."""
        return sum(share > 0 for share in self.shares.values())

    def weights(self) -> dict[int, int]:
        """Return the weights as whole numbers in the same proportions."""
        return integer_weights(self.shares)


@dataclass(frozen=True)
class Mixture:
    """One of several adversaries, each with a share; shares are taken in proportion."""

    members: tuple[tuple[Adversary, Fraction], ...]

    @property
    def support(self) -> int:
        """Return the number of subsets of the member that has most: the mixture has no fewer."""
        return max(member.support for member, share in self.members if share)

    def weights(self) -> dict[int, int]:
        """Return w(S) = sum of shares times the probability of S for the member (M160)."""
        parts = [(member.weights(), share) for member, share in self.members if share]
        factors = integer_weights(
            {i: share / sum(w.values()) for i, (w, share) in enumerate(parts)}
        )
        mixed: dict[int, int] = {}
        for i, (weights, _) in enumerate(parts):
            for subset, weight in weights.items():
                mixed[subset] = mixed.get(subset, 0) + weight * factors[i]
        return mixed


def integer_weights(shares: Mapping[int, Fraction]) -> dict[int, int]:
    """Return shares above 0 as whole numbers in the same proportions."""
    unit = math.lcm(*(share.denominator for share in shares.values()))
    return {key: int(share * unit) for key, share in shares.items() if share}


def any_of(n: int, first: int, last: int) -> list[Adversary]:
    """Return the adversaries who know any r of n attributes, for each r from least to most."""
    return [Adversary(f"any {r} of {n}", AnyOf(n, r)) for r in range(first, last + 1)]


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


def mixture(name: str, shares: Mapping[str, Fraction], among: Sequence[Adversary]) -> Adversary:
    """Return the mixture of the adversaries of these names."""
    by_name = {adversary.name: adversary for adversary in among}
    members = tuple((by_name[member], share) for member, share in shares.items())
    return Adversary(name, Mixture(members))
