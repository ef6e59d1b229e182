"""Worked examples of the spread of risk over people: risks of a release, distribution, groups."""

import math
from collections import Counter
from fractions import Fraction

from qifsql.commands.explain.examples.sample import (
    Lines,
    Sample,
    equal,
    number,
    over,
    persons,
    plus,
)


def prosecutor(sample: Sample) -> Lines:
    """Return the smallest block of the release."""
    block, size = min(sample.sizes.items(), key=lambda item: item[1])
    return (f"the smallest block of the release, {block}: {over([1], size)}",)


def journalist(sample: Sample) -> Lines:
    """Return the smallest block of the population that contains somebody of the release."""
    name, release = sample.part
    among = {block: sample.sizes[block] for block in release.sizes}
    each = ", ".join(f"{block} {n} of {among[block]}" for block, n in release.sizes.items())
    return (
        f"only {name} is released, {persons(sample.people)} are the population: {each}",
        f"the fewest of the population in such a block: {over([1], min(among.values()))}",
    )


def marketer(sample: Sample) -> Lines:
    """Return the share of people expected to be matched rightly, without and with a population."""
    name, release = sample.part
    n, pairs = release.people, [(size, sample.sizes[b]) for b, size in release.sizes.items()]
    mean = sum(Fraction(*pair) for pair in pairs) / n
    return (
        f"everybody is released, one right match in each block: "
        f"{over([len(sample.blocks)], sample.people)}",
        f"only {name} is released, matched with the population: "
        + equal(f"({plus(f'{size}/{people}' for size, people in pairs)})/{n}", mean),
    )


def risks(sample: Sample) -> Lines:
    """Return the three risks of one release."""
    lines = journalist(sample)
    return (
        lines[0],
        f"prosecutor, {prosecutor(sample.part[1])[0]}",
        f"journalist, {lines[-1]}",
        f"marketer, {marketer(sample)[-1]}",
    )


def histogram(sample: Sample) -> Lines:
    """Return people by their chance in whole percent."""
    bins: Counter[int] = Counter()
    for chance, people in sample.by_chance.items():
        bins[round(100 * chance)] += people
    return tuple(f"bin {percent}: {persons(n)}" for percent, n in bins.items())


def thresholds(sample: Sample) -> Lines:
    """Return the people with at least each chance that occurs."""
    people_by_chance, n = sample.by_chance, sample.people
    reached = {
        least: [n for chance, n in people_by_chance.items() if chance >= least]
        for least in people_by_chance
    }
    return tuple(f"{number(t)} or more: {over(parts, n)}" for t, parts in reached.items())


def quantiles(sample: Sample) -> Lines:
    """Return the chance that half of the people do not exceed."""
    people_by_chance, half = sample.by_chance, math.ceil(Fraction(sample.people, 2))
    middle = [chance for chance, n in people_by_chance.items() for _ in range(n)][half - 1]
    each = ", ".join(f"{persons(n)} {chance}" for chance, n in people_by_chance.items())
    return (
        f"lowest chance first: {each}",
        f"half of {sample.people} is {half}, and number {half} from the lowest has {middle}",
        f"quantile 0.5: {number(middle)}",
    )


def groups(sample: Sample) -> Lines:
    """Return the mean chance in each group, and the gap between the highest and the lowest."""
    lines, means = [], {}
    for name, group in sample.groups.items():
        parts = [(size, sample.chances[block]) for block, size in group.sizes.items()]
        means[name] = sum(size * chance for size, chance in parts) / Fraction(group.people)
        terms = plus(f"{size}·{chance}" for size, chance in parts)
        lines.append(equal(f"{name}: ({terms})/{group.people}", means[name]))
    name, low = max(means, key=means.__getitem__), min(means.values())
    gap = equal(f"{number(means[name])} - {number(low)}", means[name] - low)
    return *lines, f"gap of {name}: {gap}"
