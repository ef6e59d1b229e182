"""Syntactic levels as exact numbers: k, l, t and their relatives.

Levels are fractions, correctly rounded only when they are shown; those with a logarithm are
computed with 50 digits. ``qifsql levels`` computes the whole numbers of each block in SQL
(``sql/levels``) and reads them as a ``Level``; ``reference.syntactic_levels`` has the definitions.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

DIGITS = 50  # of logarithms
BITS = 10_000_000  # up to this many bits, powers of counts are compared as whole numbers


@dataclass(frozen=True)
class Level:
    """An exact level: ``part / total``, or its natural logarithm; ``total`` 0 is infinity."""

    part: int
    total: int
    logarithm: bool = False

    @property
    def value(self) -> float:
        """Compute the level as a number, correctly rounded; infinite if ``total`` is 0."""
        if self.total == 0:
            return math.inf
        if self.logarithm:
            return float(self._decimal())
        return self.part / self.total

    def beyond(self, threshold: Fraction) -> int:
        """Return 1 if the level is above the threshold, 0 if it is equal to it, else -1."""
        if self.total == 0:
            return 1
        value: Fraction | Decimal = Fraction(self.part, self.total)
        limit: Fraction | Decimal = threshold
        if self.logarithm:
            value = self._decimal()
            with localcontext(prec=DIGITS):
                limit = Decimal(threshold.numerator) / threshold.denominator
        return (value > limit) - (value < limit)

    def order(self) -> Decimal:
        """Return the key for ordering levels; different levels of a release have different keys."""
        if self.total == 0:
            return Decimal("Infinity")
        with localcontext(prec=2 * DIGITS):
            return self._decimal() if self.logarithm else Decimal(self.part) / self.total

    def _decimal(self) -> Decimal:
        """Return the logarithm of the share, in many digits."""
        with localcontext(prec=DIGITS):
            return (Decimal(self.part) / self.total).ln()


def entropy_l(counts: Sequence[int]) -> float:
    """Compute entropy l-diversity of a block: exp(H), with H = -sum q ln q for shares q of values.

    It is 1 if one value occurs, and the number of values if all have the same count. It is
    correctly rounded. Source: Machanavajjhala et al. 2007, entropy l-diversity.
    """
    counts = [n for n in counts if n]
    if len(set(counts)) == 1:
        return float(len(counts))
    with localcontext(prec=DIGITS):
        size = sum(counts)
        terms = (n * Decimal(n).ln() for n in sorted(counts))
        return float((Decimal(size).ln() - sum(terms, Decimal()) / size).exp())


def meets_entropy(counts: Sequence[int], threshold: Fraction) -> bool:
    """Return whether exp(H) is at least ``threshold`` in a block of these counts, exactly.

    exp(H) = (size^size / product n^n)^(1/size), so total numbers are compared; if the powers would
    be too long, numbers of 50 digits are compared. Source: as ``entropy_l``.
    """
    divisor = math.gcd(*counts)
    parts = sorted(n // divisor for n in counts if n)
    size = sum(parts)
    if size * size.bit_length() > BITS:
        with localcontext(prec=DIGITS):
            terms = sum((n * Decimal(n).ln() for n in parts), Decimal())
            entropy = Decimal(size).ln() - terms / size
            return entropy >= (Decimal(threshold.numerator) / threshold.denominator).ln()
    held = math.prod(n**n for n in parts)
    return bool((size * threshold.denominator) ** size >= threshold.numerator**size * held)
