"""Worked examples of linking: hashes, a register, and a log, each made from the sample."""

from collections import Counter
from fractions import Fraction

from qifsql.measures.sample import Lines, Sample, counted, equal, over, persons, plus


def recovered(sample: Sample) -> Lines:
    """Hashed values of the secret, of which the candidates are those of one group."""
    name, part = sample.part
    tried = [value for value in sample.values if value in part.values]
    found = [sample.values[value] for value in tried]
    return (
        f"{sample.secret} is hashed, the candidates are the values of {name}: {', '.join(tried)}",
        f"values recovered: {over([1] * len(tried), len(sample.values))}",
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
    """A log in which each block is a person, and each value of the secret in it a point of hers."""
    owners = Counter(value for values in sample.blocks.values() for value in values)
    lines, shares = [], []
    for block, values in sample.blocks.items():
        alone = sum(owners[value] == 1 for value in values)
        shares.append(Fraction(alone, len(values)))
        lines.append(f"{block} has {counted(values)}: {alone} of {len(values)} nobody else has")
    n = len(shares)
    total = equal(f"({plus(map(str, shares))})/{n}", sum(shares, Fraction()) / n)
    head = f"each {sample.known} is a person, {sample.secret} what her records say"
    return head, *lines, f"one known record singles out: {total}"
