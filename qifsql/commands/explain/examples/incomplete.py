"""Worked examples of households, sets of records, and missing values that may be anything."""

from collections import Counter
from fractions import Fraction
from math import prod

from qifsql.commands.explain.examples.sample import Lines, Sample, equal, over


def households(sample: Sample) -> Lines:
    """Return the chance to re-identify some member of each group, and the mean."""
    lines, risks = [], []
    for name, group in sample.groups.items():
        sizes = [sample.sizes[block] for block, n in group.sizes.items() for _ in range(n)]
        risks.append(1 - prod(1 - Fraction(1, size) for size in sizes))
        terms = "·".join(f"(1 - 1/{size})" for size in sizes)
        lines.append(equal(f"{name} as a household: 1 - {terms}", risks[-1]))
    mean = sum(risks, Fraction(0)) / len(risks)
    each = " + ".join(map(str, risks))
    return *lines, equal(f"mean of all households: ({each})/{len(risks)}", mean)


def person(sample: Sample) -> Lines:
    """Return what is known of each group if it is one person's records, and the success."""
    people = {name: tuple(sorted(group.sizes.items())) for name, group in sample.groups.items()}
    shown = (
        f"{name} as one person: {', '.join(f'{n} x {block}' for block, n in records)}"
        for name, records in people.items()
    )
    different = len(Counter(people.values()))
    success = over([different], len(people))
    return *shown, f"different sets of records, one right guess for each: {success}"


def bounds(sample: Sample) -> Lines:
    """Return the bounds of re-identification if a block misses its quasi-identifier."""
    name, size = next(iter(sample.sizes.items()))
    others, n = len(sample.sizes) - 1, sample.people
    return (
        f"{sample.qid} of the {size} in {name} is missing, {others} blocks are complete",
        f"least, all join the complete blocks or one another: {over([max(1, others)], n)}",
        f"most, each has a value of its own: {over([others, size], n)}",
    )
