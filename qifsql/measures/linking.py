"""Worked examples of linking: hashes, a register, and a log, each made from the sample."""

from collections import Counter
from fractions import Fraction

from qifsql.measures.sample import Lines, Sample, equal, over, persons, plus


def recovered(sample: Sample) -> Lines:
    """What is known is hashed; the candidates are the values that one group has."""
    name, part = sample.part
    found = [n for block, n in sample.sizes.items() if block in part.sizes]
    return (
        f"{sample.known} is hashed; the candidates are those of {name}: {', '.join(part.sizes)}",
        f"values recovered: {over([1] * len(found), len(sample.sizes))}",
        f"records recovered: {over(found, sample.people)}",
    )


def linked(sample: Sample) -> Lines:
    """One group is released, everybody is in the register."""
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
    """A log in which each block is a person, and her points are pairs of a group and a value."""
    trails: dict[str, set[str]] = {}
    for (block, group), values in sample.cells.items():
        own = {f"{group} and {value}" for value in values}
        trails.setdefault(f"{sample.known} {block}", set()).update(own)
    owners = Counter(point for points in trails.values() for point in points)
    lines, shares = [], []
    for person, points in trails.items():
        alone = sum(owners[point] == 1 for point in points)
        shares.append(Fraction(alone, len(points)))
        lines.append(f"{person}: {', '.join(sorted(points))}; nobody else has {alone} of them")
    total = equal(f"({plus(shares)})/{len(shares)}", sum(shares, Fraction()) / len(shares))
    head = f"each {sample.known} is a person, whose records say {sample.by} and {sample.secret}"
    return head, *lines, f"one known record singles out: {total}"


def wp29(sample: Sample) -> Lines:
    """The three questions, asked of who knows the quasi-identifier."""
    alone = [n for n in sample.sizes.values() if n == 1]
    one_value = [sum(n.values()) for n in sample.blocks.values() if len(n) == 1]
    return (
        f"singling out, blocks of one: {over(alone, sample.people)}",
        f"linkability, at most these, by any register: {over(alone, sample.people)}",
        f"inference of {sample.secret}, blocks of one value: {over(one_value, sample.people)}",
    )
