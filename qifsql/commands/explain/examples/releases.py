"""Worked examples of sanitised releases: two that meet, and what generalising costs."""

import math
from fractions import Fraction

from qifsql.commands.explain.examples.sample import Lines, Sample, equal, over, persons


def composition(sample: Sample) -> Lines:
    """One release groups people by what is known, another by group; both tell the secret."""
    qid, by = sample.qid, sample.by
    lines, fewest, left = [], [], []
    for (block, group), values in sample.cells.items():
        one, other = sample.blocks[f"{qid} {block}"], sample.groups[f"{by} {group}"].values
        both = sorted({*one} & {*other})
        people = sum(values.values())
        lines.append(
            f"{qid} {block}, {by} {group}, {persons(people)}: {_set(sorted(one))} and "
            f"{_set(sorted(other))} leave {_set(both)}"
        )
        fewest.append(people * min(len(one), len(other)))
        left.append((people, len(both)))
    return (
        f"one release groups people by {qid}, another by {by}; both tell {sample.secret}",
        *lines,
        f"perfect breach, people with one value left: {sum(n for n, k in left if k == 1)}",
        f"effective prior, the fewest values in one release: {over(fewest, sample.people)}",
        f"effective posterior: {over((n * k for n, k in left), sample.people)}",
    )


def generalisation(sample: Sample) -> Lines:
    """The first two values of what is known become one cell."""
    sizes, n = sample.sizes, sample.people
    first = dict(list(sizes.items())[:2])
    together, share = sum(first.values()), Fraction(len(first), len(sizes))
    even = Fraction(together, len(first))
    alone = len(first) == 1
    lost = Fraction() if alone else together * share / n
    bits = math.fsum(size / n * math.log2(size / even) for size in first.values())
    moved = [abs(size - even) for size in first.values()]
    return (
        f"{' and '.join(first)} become one cell, of {len(first)} of {len(sizes)} values",
        equal(f"certainty penalty: {0 if alone else together}·{share}/{n}", lost),
        f"spread evenly, each has {even} of {persons(together)}",
        equal("divergence", bits) + " bits",
        equal(f"total variation: ({' + '.join(map(str, moved))})/(2·{n})", sum(moved) / (2 * n)),
    )


def _set(values: list[str]) -> str:
    return "{" + ", ".join(values) + "}"
