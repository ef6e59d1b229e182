"""Syntactic levels of a partition: k, l, t and their relatives, exactly.

``counts`` are the numbers of people in a block by value of the secret, ``totals`` those in the
release; a missing value is a value. Levels are fractions, correctly rounded only when they are
shown; those with a logarithm are computed with 50 digits. ``qifsql levels`` computes the whole
numbers of each block in SQL (``sql/levels``) and reads them as a ``Level``; the functions below
compute the same from counts, as the sources define it.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

Counts = Mapping[str, int]
DIGITS = 50  # of logarithms
BITS = 10_000_000  # up to this many bits, powers of counts are compared as whole numbers


@dataclass(frozen=True)
class Level:
    """An exact level: ``part / whole``, or its natural logarithm; ``whole`` 0 is infinity."""

    part: int
    whole: int
    logarithm: bool = False

    @property
    def value(self) -> float:
        """Compute the level as a number, correctly rounded; infinite if ``whole`` is 0."""
        if self.whole == 0:
            return math.inf
        if self.logarithm:
            return float(self._decimal())
        return self.part / self.whole

    def beyond(self, threshold: Fraction) -> int:
        """Return 1 if the level is above the threshold, 0 if it is equal to it, else -1."""
        if self.whole == 0:
            return 1
        value: Fraction | Decimal = Fraction(self.part, self.whole)
        other: Fraction | Decimal = threshold
        if self.logarithm:
            value = self._decimal()
            with localcontext(prec=DIGITS):
                other = Decimal(threshold.numerator) / threshold.denominator
        return (value > other) - (value < other)

    def order(self) -> Decimal:
        """Return the key for ordering levels; different levels of a release have different keys."""
        if self.whole == 0:
            return Decimal("Infinity")
        with localcontext(prec=2 * DIGITS):
            return self._decimal() if self.logarithm else Decimal(self.part) / self.whole

    def _decimal(self) -> Decimal:
        with localcontext(prec=DIGITS):
            return (Decimal(self.part) / self.whole).ln()


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

    exp(H) = (size^size / product n^n)^(1/size), so whole numbers are compared; if the powers would
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


def recursive_ratio(counts: Counts, l: int) -> Level:  # noqa: E741 - the field's own letter
    """Compute the ratio of recursive (c, l)-diversity of a block.

    It is the c above which r_1 < c (r_l + ... + r_m) holds. r_1, r_2, ... are the counts of the
    values, the largest first. It is infinite if fewer than l values occur. Source: Machanavajjhala
    et al. 2007, recursive (c, l)-diversity.
    """
    ordered = sorted(counts.values(), reverse=True)
    return Level(ordered[0], sum(ordered[l - 1 :]))


def variational(counts: Counts, totals: Counts) -> Fraction:
    """Compute distance t with equal ground distance, in [0, 1].

    It is half the sum of |q - p| over the values; q and p are a value's shares in the block and in
    the release. Source: Li et al. 2007, t-closeness with equal distance (earth mover's distance if
    all values are equally far apart).
    """
    size, everybody = sum(counts.values()), sum(totals.values())
    moved = sum(max(0, n * everybody - totals[v] * size) for v, n in counts.items())
    return Fraction(moved, size * everybody)


def ordered(counts: Counts, totals: Counts) -> Fraction:
    """Compute distance t with |i - j| / (m - 1) between the values number i and j, in [0, 1].

    ``totals`` are in the order of the values; t is 0 for one value. Source: Li et al. 2007,
    t-closeness with ordered distance.
    """
    size, everybody = sum(counts.values()), sum(totals.values())
    met = before = moved = 0
    for value, n in totals.items():
        met, before = met + counts.get(value, 0), before + n
        moved += abs(met * everybody - before * size)
    return Fraction(moved, size * everybody * max(len(totals) - 1, 1))


def hierarchical(counts: Counts, totals: Counts, levels: Sequence[Mapping[str, str]]) -> Fraction:
    """Compute distance t with hierarchical ground distance, in [0, 1].

    The distance of two values depends on the level of the first node above both.
    ``levels`` map each value to its node, one for each level below the root and the values
    themselves; all leaves are equally deep. In such a tree Li et al.'s sum over the nodes is the
    mean of the variational distances between the nodes of a level, over all levels, the values
    included. Source: Li et al. 2007, t-closeness with hierarchical distance.
    """
    every: list[Mapping[str, str]] = [{value: value for value in totals}, *levels]
    parts = [variational(_above(counts, level), _above(totals, level)) for level in every]
    return sum(parts, Fraction()) / len(parts)


def alpha(counts: Counts) -> Fraction:
    """Compute (alpha, k)-anonymity: the largest share of a value in the block, in (0, 1].

    Source: Wong et al. 2006, (alpha, k)-anonymity, of all values of the secret.
    """
    return Fraction(max(counts.values()), sum(counts.values()))


def basic_beta(counts: Counts, totals: Counts) -> Fraction:
    """Compute basic beta-likeness: the largest relative gain (q - p) / p of a value, from 0.

    Source: Cao and Karras 2012, basic beta-likeness.
    """
    return max(_factors(counts, totals).values()) - 1


def enhanced_beta(counts: Counts, totals: Counts) -> float:
    """Compute enhanced beta-likeness: the largest gain (q - p) / p, at most -ln p of the rarest.

    The limit is that of pyCANON: a larger gain never satisfies the definition. But if the gain of a
    value is above -ln p of the same value, the block satisfies the definition for no beta. Source:
    Cao and Karras 2012, enhanced beta-likeness.
    """
    rarest = Level(sum(totals.values()), min(totals.values()), logarithm=True)
    return min(float(basic_beta(counts, totals)), rarest.value)


def delta_disclosure(counts: Counts, totals: Counts) -> float:
    """Compute delta-disclosure: the largest |ln(q / p)| over the values in the block, from 0.

    Values that do not occur are left out, as in pyCANON; by the exact definition they would make it
    infinite. Source: Brickell and Shmatikov 2008, delta-disclosure privacy.
    """
    factors = _factors(counts, totals).values()
    most = max(*factors, 1 / min(factors))
    return Level(most.numerator, most.denominator, logarithm=True).value


def _factors(counts: Counts, totals: Counts) -> dict[str, Fraction]:
    """Compute the factor q / p of each value that occurs in the block."""
    size, everybody = sum(counts.values()), sum(totals.values())
    return {v: Fraction(n * everybody, size * totals[v]) for v, n in counts.items() if n}


def _above(counts: Counts, level: Mapping[str, str]) -> dict[str, int]:
    """Compute the counts of the nodes of a level."""
    sums: Counter[str] = Counter()
    for value, n in counts.items():
        sums[level[value]] += n
    return sums
