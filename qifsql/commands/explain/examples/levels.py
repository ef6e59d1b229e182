"""Worked examples of syntactic levels: what all blocks of a small table keep, and whom it fails."""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from qifsql.commands.explain.examples.sample import (
    Lines,
    Sample,
    counted,
    equal,
    number,
    persons,
    plus,
)
from qifsql.measures import syntactic

SKEW = 2  # how many times as likely a value is where skewness bites
LEAST_L = 2  # the l of the example of recursive (c, l)-diversity


def average_class_size(sample: Sample) -> Lines:
    """People over blocks."""
    blocks = len(sample.sizes)
    return (equal(f"{sample.people}/{blocks}", Fraction(sample.people, blocks)),)


def l_entropy(sample: Sample) -> Lines:
    """The block whose values are least uncertain."""
    entropies = {b: syntactic.entropy_l(list(v.values())) for b, v in sample.blocks.items()}
    lines = [
        equal(f"{b}: exp({_nats(v)})", entropies[b]) for b, v in sample.blocks.items() if len(v) > 1
    ]
    alone = [f"{b}: one value, exp(0) = 1" for b, v in sample.blocks.items() if len(v) == 1]
    return (*lines, *alone, f"the smallest of them: {number(min(entropies.values()))}")


def l_recursive_c(sample: Sample) -> Lines:
    """The most frequent value against the others, in blocks that have several."""
    several = {b: v for b, v in sample.blocks.items() if len(v) >= LEAST_L}
    ratios = [syntactic.recursive_ratio(v, LEAST_L) for v in several.values()]
    lines = [
        f"{b}, l = {LEAST_L}: the most frequent value over the others "
        + equal(f"{ratio.part}/{ratio.whole}", Fraction(ratio.part, ratio.whole))
        for (b, _), ratio in zip(several.items(), ratios, strict=True)
    ]
    lines += [f"{b}: one value, no c is enough" for b in sample.blocks if b not in several]
    most = max((Fraction(r.part, r.whole) for r in ratios), default=Fraction())
    return (*lines, f"the largest c that is reached: {number(most)}")


def t_equal(sample: Sample) -> Lines:
    """Half the sum of the differences of the shares."""
    return _largest(sample, lambda v: syntactic.variational(v, _totals(sample)), _differences)


def t_ordered(sample: Sample) -> Lines:
    """The differences of the shares up to each value."""
    totals = _totals(sample)
    lines = _largest(sample, lambda v: syntactic.ordered(v, totals))
    return (f"{sample.secret} in the order {', '.join(totals)}", *lines)


def t_hierarchical(sample: Sample) -> Lines:
    """Half way between the distance of values and that of pairs of values."""
    totals = _totals(sample)
    pairs = {value: f"pair {i // 2 + 1}" for i, value in enumerate(totals)}
    hierarchy = ", ".join(f"{value} below {pair}" for value, pair in pairs.items())
    lines = _largest(sample, lambda v: syntactic.hierarchical(v, totals, [pairs]))
    return (f"a hierarchy of two levels: {hierarchy}", *lines)


def alpha(sample: Sample) -> Lines:
    """The largest share of a value."""
    return _largest(sample, syntactic.alpha)


def basic_beta(sample: Sample) -> Lines:
    """The largest relative gain of a value."""
    return _largest(sample, lambda v: syntactic.basic_beta(v, _totals(sample)), _factors)


def enhanced_beta(sample: Sample) -> Lines:
    """The same, not above minus the logarithm of the rarest value's share."""
    totals, n = _totals(sample), sample.people
    rare = min(totals.values())
    most = max(syntactic.enhanced_beta(v, totals) for v in sample.blocks.values())
    return (
        *basic_beta(sample),
        equal(f"-ln of the share of the rarest value: -ln({rare}/{n})", math.log(n / rare)),
        f"the smaller of both: {number(most)}",
    )


def delta_disclosure(sample: Sample) -> Lines:
    """The logarithm of the largest factor between shares, either way."""
    totals = _totals(sample)
    return _largest(sample, lambda v: syntactic.delta_disclosure(v, totals), _factors)


def k_map(sample: Sample) -> Lines:
    """The smallest block of the population in which somebody of the release is."""
    name, release = sample.part
    among = {b: sample.sizes[b] for b in release.sizes}
    each = ", ".join(f"{b} has {persons(n)}" for b, n in among.items())
    return (
        f"only {name} is released; of all {persons(sample.people)}, {each}",
        f"the fewest: {min(among.values())}",
    )


def delta_presence(sample: Sample) -> Lines:
    """The share of a block of the population that is in the release."""
    name, release = sample.part
    shares = {b: Fraction(release.sizes.get(b, 0), n) for b, n in sample.sizes.items()}
    each = ", ".join(f"{b} {release.sizes.get(b, 0)} of {n}" for b, n in sample.sizes.items())
    return (
        f"only {name} is released: {each}",
        f"least share: {number(min(shares.values()))}",
        f"largest share: {number(max(shares.values()))}",
    )


def bites(sample: Sample) -> Lines:
    """Whom homogeneity, background knowledge and skewness bite."""
    totals, sizes = _totals(sample), sample.sizes
    one = [sizes[b] for b, v in sample.blocks.items() if len(v) == 1]
    two = [sizes[b] for b, v in sample.blocks.items() if len(v) == 2]
    skewed = [
        sizes[b] for b, v in sample.blocks.items() if syntactic.basic_beta(v, totals) + 1 >= SKEW
    ]
    return (
        f"homogeneity, people in blocks of one value: {sum(one)}",
        f"background knowledge, people in blocks of two values: {sum(two)}",
        f"skewness, people in blocks where a value is at least {SKEW} times as likely as among "
        f"all: {sum(skewed)}",
    )


PROMISES: dict[str, Callable[[Sample], Lines]] = {
    example.__name__: example
    for example in (
        *(average_class_size, l_entropy, l_recursive_c, t_equal, t_ordered, t_hierarchical),
        *(alpha, basic_beta, enhanced_beta, delta_disclosure, k_map, delta_presence, bites),
    )
}
"""The worked example of each level by its name."""


def _totals(sample: Sample) -> dict[str, int]:
    """How many people have each value, in the order of the values."""
    return dict(sorted(sample.values.items()))


def _largest(
    sample: Sample,
    level: Callable[[Mapping[str, int]], Fraction | float],
    terms: Callable[[Sample, str], str] | None = None,
) -> Lines:
    """The level of each block, and the largest of them."""
    levels = {block: level(values) for block, values in sample.blocks.items()}
    lines = [
        equal(f"{b}: {terms(sample, b) if terms else counted(sample.blocks[b])}", x)
        for b, x in levels.items()
    ]
    return (*lines, f"the largest of them: {number(max(levels.values()))}")


def _differences(sample: Sample, block: str) -> str:
    """Half the sum of the differences, written out."""
    size, n = sample.sizes[block], sample.people
    terms = plus(
        f"|{sample.blocks[block].get(v, 0)}/{size} - {k}/{n}|" for v, k in _totals(sample).items()
    )
    return f"({terms})/2"


def _factors(sample: Sample, block: str) -> str:
    """How many times as likely each value is, written out."""
    size, n = sample.sizes[block], sample.people
    totals = _totals(sample)
    each = ", ".join(
        f"{v} {number(Fraction(k * n, size * totals[v]))} times"
        for v, k in sample.blocks[block].items()
    )
    return f"{each}, so"


def _nats(values: Mapping[str, int]) -> str:
    """The entropy, written out."""
    size = sum(values.values())
    return plus(f"{n}/{size}·ln({size}/{n})" for n in values.values())
