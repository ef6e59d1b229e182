"""Estimates from a sample, slowly: from the definitions in the papers, term by term."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from fractions import Fraction

from qifsql.reference.sample_estimates import Blocks


def sizes(values: Iterable[Hashable]) -> dict[int, int]:
    """Return how many values occur how often."""
    return dict(Counter(Counter(values).values()))


def pitman_likelihood(blocks: Blocks, alpha: float, theta: float) -> float:
    """The log of the chance of these sizes, up to a constant (Hoshino 2001)."""
    n = sum(size * count for size, count in blocks.items())
    u = sum(blocks.values())
    found = math.fsum(math.log(theta + i * alpha) for i in range(1, u))
    found -= math.fsum(math.log(theta + i) for i in range(1, n))
    for size, count in blocks.items():
        found += count * math.fsum(math.log(i - alpha) for i in range(1, size))
    return found


def pitman_uniques(alpha: float, theta: float, people: int) -> float:
    """Expected uniques, one person after the other.

    A person founds a block with chance (theta + alpha blocks) / (theta + people before), and joins
    each person who is alone with chance (1 - alpha) / (theta + people before) (Pitman 1995).
    """
    blocks = alone = 1.0
    for before in range(1, people):
        founds = (theta + alpha * blocks) / (theta + before)
        alone += founds - alone * (1 - alpha) / (theta + before)
        blocks += founds
    return alone


def snb_expected(alpha: float, beta: float, classes: float, fraction: float, drawn: int) -> float:
    """Blocks of which exactly so many are drawn, where a block has 1 + negative binomial people."""
    total, chance = 0.0, beta**alpha
    for size in range(1, 20_000):
        some = math.comb(size, drawn) * fraction**drawn * (1 - fraction) ** (size - drawn)
        total += chance * some if size >= drawn else 0.0
        chance *= (alpha + size - 1) / size * (1 - beta)
        if size > drawn + alpha * (1 - beta) / beta and chance * some < 1e-18:
            break
    return classes * total


def shlosser(blocks: Blocks, q: Fraction) -> Fraction:
    """Blocks of the population: D_Sh3 of Haas and Stokes 1998."""
    items = list(blocks.items())
    up = sum(i * q**2 * (1 - q**2) ** (i - 1) * n for i, n in items)
    down = sum((1 - q) ** i * ((1 + q) ** i - 1) * n for i, n in items)
    unseen = sum((1 - q) ** i * n for i, n in items)
    once = sum(i * q * (1 - q) ** (i - 1) * n for i, n in items)
    ratio = (up / down) * (unseen / once) ** 2 if down and once else Fraction(0)
    return sum(blocks.values()) + blocks.get(1, 0) * ratio


def risk_summed(size: int, p: float, terms: int = 5000) -> float:
    """The same as a sum over the sizes in the population, for large p."""
    total, chance = 0.0, p**size
    for people in range(size, size + terms):
        total += chance / people
        chance *= people / (people - size + 1) * (1 - p)
    return total
