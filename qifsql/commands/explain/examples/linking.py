"""Worked examples of linking: hashes, a register, a log, a population, releases.

The examples of releases: without a key, two combined, and the cost of generalising one.
"""

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
from qifsql.measures.uniqueness import Sizes, zayatz

HALF = Fraction(1, 2)  # the share of the population that is in the table
GAP = Fraction(3, 10)  # the chance that the quasi-identifier is not known of a person
PRESENCE = Fraction(9, 10)  # the share of the people of one release who are in the next


def recovered(sample: Sample) -> Lines:
    """Build an example of a hashed column; the candidates are the values of one group."""
    name, part = sample.part
    sizes = [n for block, n in sample.sizes.items() if block in part.sizes]
    return (
        f"{sample.qid} is hashed; the candidates are those of {name}: {', '.join(part.sizes)}",
        f"values recovered: {over([1] * len(sizes), len(sample.sizes))}",
        f"records recovered: {over(sizes, sample.people)}",
    )


def linked(sample: Sample) -> Lines:
    """Build an example where one group is released and everybody is in the register."""
    name, release = sample.part
    sizes = [(n, sample.sizes[block]) for block, n in release.sizes.items()]
    shares = sum((Fraction(f, big) for f, big in sizes), Fraction())
    each = ", ".join(f"{block} {n} of {sample.sizes[block]}" for block, n in release.sizes.items())
    return (
        f"{name} is released, {persons(sample.people)} are in the register: {each}",
        f"unique in the release: {sum(f == 1 for f, _ in sizes)}",
        f"unique in the register: {sum(n == 1 for n in sample.sizes.values())}",
        f"unique in both: {sum(big == 1 for _, big in sizes)}",
        equal(f"links expected to be right: {plus(f'{f}/{big}' for f, big in sizes)}", shares),
    )


def unicity(sample: Sample) -> Lines:
    """Build an example of a log: each block is a person, each point a group and a value."""
    trails: dict[str, set[str]] = {}
    for (block, group), values in sample.cells.items():
        block_points = {f"{group} and {value}" for value in values}
        trails.setdefault(f"{sample.qid} {block}", set()).update(block_points)
    owners = Counter(point for points in trails.values() for point in points)
    lines, shares = [], []
    for person, points in trails.items():
        alone = sum(owners[point] == 1 for point in points)
        shares.append(Fraction(alone, len(points)))
        lines.append(f"{person}: {', '.join(sorted(points))}; nobody else has {alone} of them")
    total = equal(f"({plus(shares)})/{len(shares)}", sum(shares, Fraction()) / len(shares))
    head = f"each {sample.qid} is a person, whose records say {sample.by} and {sample.secret}"
    return head, *lines, f"one known record singles out: {total}"


def population_uniques(sample: Sample) -> Lines:
    """Build an example of Zayatz's estimate: the people are half of a population."""
    sizes = Sizes(Counter(sample.sizes.values()), HALF)
    return (
        f"{persons(sample.people)} are drawn from {sizes.population}: the fraction is {HALF}",
        f"alone in their block: {sizes.alone}",
        f"unique in the population, by Zayatz: {number(zayatz(sizes).number or 0)}",
    )


def individual_risk(sample: Sample) -> Lines:
    """Build an example where the people are half of a population.

    The risk at f is 1/(f - 1) minus the risk at f - 1.
    """
    blocks = Counter(sorted(sample.sizes.values()))
    risks = {1: math.log(2)}  # each person stands for two
    for size in range(2, max(blocks) + 1):
        risks[size] = 1 / (size - 1) - risks[size - 1]
    parts = plus(f"{n * size}·{number(risks[size])}" for size, n in blocks.items())
    total = math.fsum(n * size * risks[size] for size, n in blocks.items())
    return (
        "each stands for two; alone in a block: ln 2; one of f: 1/(f - 1) less the risk of f - 1",
        equal(f"right links expected: {parts}", total),
    )


def link_vulnerability(sample: Sample) -> Lines:
    """Build an example where the same people, with the same values, are in the next release."""
    blocks = sample.sizes
    each = [f"{block}: {PRESENCE}·1/{n} = {PRESENCE / n}" for block, n in blocks.items()]
    parts = " + ".join(f"{n}·{PRESENCE / n}" for n in blocks.values())
    mean = PRESENCE * len(blocks) / sample.people
    return (
        f"all are in the next release, too; presence {PRESENCE}; {sample.qid} stays as it is",
        "a person's candidates are their block, all alike; the best link:",
        *each,
        equal(f"link vulnerability: ({parts})/{sample.people}", mean),
    )


def noisy_knowledge(sample: Sample) -> Lines:
    """Build an example where the quasi-identifier is not known of some people."""
    blocks, n = len(sample.sizes), sample.people
    parts = f"{1 - GAP}·{blocks}/{n} + {GAP}·1/{n}"
    return (
        f"{sample.qid} is known with probability {1 - GAP} ({sample.qid}:missing={number(GAP)})",
        f"where it is known, one record of each block is guessed right: {blocks} of {n}",
        f"where nothing is known, one of all: 1 of {n}",
        equal(f"success of re-identification: {parts}", (1 - GAP) * Fraction(blocks, n) + GAP / n),
    )


def wp29(sample: Sample) -> Lines:
    """Return the answers to the three questions for an adversary who knows the quasi-identifier."""
    alone = [n for n in sample.sizes.values() if n == 1]
    one_value = [sum(n.values()) for n in sample.blocks.values() if len(n) == 1]
    return (
        f"singling out, blocks of one: {over(alone, sample.people)}",
        f"linkability, at most these, by any register: {over(alone, sample.people)}",
        f"inference of {sample.secret}, blocks of one value: {over(one_value, sample.people)}",
    )


def composition(sample: Sample) -> Lines:
    """Build an example of two releases: one by the quasi-identifier, one by group."""
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
    """Build an example where the first two values of the quasi-identifier become one cell."""
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
