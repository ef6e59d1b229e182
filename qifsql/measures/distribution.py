"""Exact distributions of success over what an adversary may know."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import ceil


@dataclass(frozen=True)
class Distribution:
    """A random number with finitely many values, exactly.

    ``weights`` maps amounts in ascending order to whole weights above 0. The value of an amount is
    amount / ``unit``; its probability is its weight divided by the sum of all weights.
    """

    weights: Mapping[int, int]
    unit: Fraction

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, int]], unit: Fraction) -> "Distribution":
        """Build a distribution from amounts with their weights; the same amount may come twice."""
        weights: dict[int, int] = {}
        for amount, weight in pairs:
            if weight:
                weights[amount] = weights.get(amount, 0) + weight
        return cls({amount: weights[amount] for amount in sorted(weights)}, unit)

    @cached_property
    def total(self) -> int:
        """Return the sum of all weights."""
        return sum(self.weights.values())

    @property
    def expected(self) -> Fraction:
        """Return the expected value (M161)."""
        total = sum(amount * weight for amount, weight in self.weights.items())
        return Fraction(total, self.total) / self.unit

    @property
    def least(self) -> Fraction:
        """Return the least value."""
        return next(iter(self.weights)) / self.unit

    @property
    def greatest(self) -> Fraction:
        """Return the greatest value."""
        return next(reversed(list(self.weights))) / self.unit

    def quantile(self, share: Fraction) -> Fraction:
        """Return the smallest value v with P(V <= v) >= ``share``, which is in (0, 1] (M163)."""
        sums, enough = accumulate(self.weights.values()), ceil(share * self.total)
        for amount, below in zip(self.weights, sums, strict=True):
            if below >= enough:
                return amount / self.unit
        return self.greatest

    def chance(self, threshold: Fraction) -> Fraction:
        """Return the probability that the value is at least a threshold (M162)."""
        least = ceil(threshold * self.unit)
        return Fraction(sum(w for amount, w in self.weights.items() if amount >= least), self.total)

    def times(self, factor: Fraction) -> "Distribution":
        """Return the distribution of the value multiplied by a factor in [0, 1] (M164)."""
        if not factor:
            return Distribution({0: self.total}, self.unit)
        return Distribution(self.weights, self.unit / factor)
