"""Uniques of a population, and risks of people and households, from a sample (M69, M73, M195)."""

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TypeAlias

Blocks: TypeAlias = Mapping[int, int]  # the number of blocks of the sample by their size


def zayatz(blocks: Blocks, population: int) -> Fraction:
    """Return the chance that a unique of the sample is one of the population (M69)."""
    n = sum(size * count for size, count in blocks.items())  # people of the sample
    u = sum(blocks.values())

    def once(size: int) -> Fraction:
        """Return the hypergeometric chance that exactly one person of a block is drawn."""
        ways = size * math.comb(population - size, n - 1)
        return Fraction(ways, math.comb(population, n))

    # Sizes of blocks are taken to be as frequent in the population as in the sample.
    likely = sum(Fraction(count, u) * once(size) for size, count in blocks.items())
    return Fraction(blocks.get(1, 0), u) * once(1) / likely if likely else Fraction(0)


def risk(size: int, share: Fraction) -> float:
    """Compute E(1/F | f) with F negative binomial (M73), by a recursion over the size f.

    Decimals have enough digits for what the recursion loses.
    """
    if share >= 1:
        return 1 / size
    with localcontext() as context:
        context.prec = 120 + 4 * size
        p = Decimal(share.numerator) / Decimal(share.denominator)
        odds = (1 - p) / p
        mean = -p.ln() / odds
        for i in range(1, size):
            mean = (1 / Decimal(i) - mean) / odds
        return float(mean)


def household_risks(
    risks: Sequence[float], households: Sequence[Hashable | None]
) -> list[Fraction]:
    """Return for each record the chance that some member of its household is found (M195).

    Guesses about members are independent. A record without a household is one of its own.
    """
    missed: dict[Hashable, Fraction] = defaultdict(lambda: Fraction(1))
    names = [("alone", i) if name is None else ("home", name) for i, name in enumerate(households)]
    for name, chance in zip(names, risks, strict=True):
        missed[name] *= 1 - Fraction(chance)
    return [1 - missed[name] for name in names]
