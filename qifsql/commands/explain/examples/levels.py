"""Worked examples of syntactic levels of a small table, and of the attacks that still succeed.

The level of each block is that of ``reference``; the release has the worst of them.
"""

import math
from collections.abc import Callable
from fractions import Fraction

from qifsql.commands.explain.examples.sample import (
    Lines,
    Sample,
    Values,
    counted,
    equal,
    number,
    persons,
)
from qifsql.reference import syntactic_levels as levels

SKEW = 2  # a skewness attack makes a value at least this many times as likely
LEAST_L = 2  # the l of the example of recursive (c, l)-diversity


def average_class_size(sample: Sample) -> Lines:
    """Return people over blocks."""
    blocks = len(sample.sizes)
    return (equal(f"{sample.people}/{blocks}", Fraction(sample.people, blocks)),)


def l_entropy(sample: Sample) -> Lines:
    """Return the block whose values are least uncertain."""
    return _worst(sample, lambda values, _: levels.l_entropy(values), min)


def l_recursive_c(sample: Sample) -> Lines:
    """Return the most frequent value against the others, in blocks that have several."""
    head = f"l = {LEAST_L}: the most frequent value over the others; 0 where no c is enough"
    return head, *_worst(sample, lambda v, _: levels.l_recursive_c(v, LEAST_L) or Fraction())


def t_equal(sample: Sample) -> Lines:
    """Return half the sum of the differences of the shares."""
    return _worst(sample, levels.t_equal)


def t_ordered(sample: Sample) -> Lines:
    """Return the differences of the shares up to each value."""
    order = ", ".join(sorted(sample.values))
    return f"{sample.secret} in the order {order}", *_worst(sample, levels.t_ordered)


def t_hierarchical(sample: Sample) -> Lines:
    """Return the mean of the distance of values and that of pairs of values."""
    pairs = {value: (f"pair {i // 2 + 1}",) for i, value in enumerate(sorted(sample.values))}
    hierarchy = ", ".join(f"{value} below {pair}" for value, (pair,) in pairs.items())
    lines = _worst(sample, lambda v, totals: levels.t_hierarchical(v, totals, pairs))
    return f"a hierarchy of two levels: {hierarchy}", *lines


def alpha(sample: Sample) -> Lines:
    """Return the largest share of a value."""
    return _worst(sample, lambda values, _: levels.alpha(values))


def basic_beta(sample: Sample) -> Lines:
    """Return the largest relative gain of a value."""
    return _worst(sample, levels.basic_beta)


def enhanced_beta(sample: Sample) -> Lines:
    """Return the largest relative gain, capped at minus the log of the rarest value's share."""
    rare, n = min(sample.values.values()), sample.people
    log = equal(f"-ln of the share of the rarest value: -ln({rare}/{n})", math.log(n / rare))

    def level(values: Values, totals: Values) -> float:
        return levels.enhanced_beta(levels.basic_beta(values, totals), totals)

    return f"basic beta, but at most {log}", *_worst(sample, level)


def delta_disclosure(sample: Sample) -> Lines:
    """Return the logarithm of the largest factor between shares, either way."""
    return _worst(sample, lambda values, totals: math.log(levels.farthest(values, totals)))


def k_map(sample: Sample) -> Lines:
    """Return the smallest block of the population that contains somebody of the release."""
    name, release = sample.part
    among = {b: sample.sizes[b] for b in release.sizes}
    each = ", ".join(f"{b} has {persons(n)}" for b, n in among.items())
    return (
        f"only {name} is released; of all {persons(sample.people)}, {each}",
        f"the fewest: {min(among.values())}",
    )


def delta_presence(sample: Sample) -> Lines:
    """Return the least and the largest share of a population's block that is in the release."""
    name, release = sample.part
    shares = {b: Fraction(release.sizes.get(b, 0), n) for b, n in sample.sizes.items()}
    each = ", ".join(f"{b} {release.sizes.get(b, 0)} of {n}" for b, n in sample.sizes.items())
    return (
        f"only {name} is released: {each}",
        f"least share: {number(min(shares.values()))}",
        f"largest share: {number(max(shares.values()))}",
    )


def bites(sample: Sample) -> Lines:
    """Count the people exposed to homogeneity, background knowledge and skewness attacks."""
    people = levels.bites(sample.blocks.values(), sample.values, SKEW)
    return (
        f"homogeneity, people in blocks of one value: {people['homogeneity']}",
        f"background knowledge, people in blocks of two values: {people['background']}",
        f"skewness, people in blocks where a value is at least {SKEW} times as likely as among "
        f"all: {people['skewness']}",
    )


def _worst(
    sample: Sample,
    level: Callable[[Values, Values], Fraction | float],
    worst: Callable[..., Fraction | float] = max,
) -> Lines:
    """Return the level of each block, and the worst of them."""
    totals = dict(sorted(sample.values.items()))
    of_blocks = {block: level(values, totals) for block, values in sample.blocks.items()}
    lines = [equal(f"{b}: {counted(sample.blocks[b])}", x) for b, x in of_blocks.items()]
    return *lines, f"the worst of them: {number(worst(of_blocks.values()))}"
