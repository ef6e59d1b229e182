"""Numbers of the worked examples of attacks, levels and noisy counts."""

from fractions import Fraction
from itertools import combinations
from math import prod

from qifsql.commands.explain.examples.sample import Blocks, Sample
from qifsql.reference import channel, naive_bayes, success, syntactic_levels

PENALTY = Fraction(1, 2)  # of a wrong guess
WEIGHT, BELIEF = 2, Fraction(3, 4)  # the beliefs of adversaries with a prior of their own
SKEW = 2  # a skewness attack makes a value at least this many times as likely
LEAST_L = 2  # the l of recursive (c, l)-diversity
RIGHT, WRONG = 3, 1  # parts of four: noise of epsilon ln 3 on a count


def largest_shares(sample: Sample) -> list[str]:
    """Return the largest share of the people with one value in each block: ``3/5``."""
    total = sample.values
    return [
        max((Fraction(n, total[v]), f"{n}/{total[v]}") for v, n in values.items())[1]
        for values in sample.blocks.values()
    ]


def overlaps(sample: Sample) -> dict[str, list[Fraction]]:
    """Return what the rows of each two values in the channel have in common, by block."""
    rows = channel.channel(sample.rows, [sample.qid], sample.secret)
    blocks = channel.columns(rows)
    return {
        f"{v} and {w}": [min(inside.get(v, Fraction()), inside.get(w, Fraction()))
                         for inside in blocks.values()]
        for v, w in combinations(sample.values, 2)
    }  # fmt: skip


def weighted(sample: Sample) -> Blocks:
    """Return the blocks with the people of the first group counted ``WEIGHT`` times."""
    heavy = sample.part[1].blocks
    return {
        block: {v: n + (WEIGHT - 1) * heavy.get(block, {}).get(v, 0) for v, n in values.items()}
        for block, values in sample.blocks.items()
    }


def beliefs(sample: Sample) -> dict[str, Fraction]:
    """Return a prior that believes in the likeliest value of the first block."""
    first = next(iter(next(iter(sample.blocks.values()))))
    rest = [value for value in sample.values if value != first]
    belief = {first: BELIEF if rest else Fraction(1)}
    return belief | {value: (1 - BELIEF) / len(rest) for value in rest}


def hyper(sample: Sample) -> list[tuple[str, int, dict[str, Fraction]]]:
    """Return the blocks with each distinct inner, the people in them, and the inner."""
    names: dict[tuple[tuple[str, Fraction], ...], list[str]] = {}
    for (block,), inner in channel.inners(sample.joint).items():
        names.setdefault(tuple(sorted(inner.items())), []).append(f"{sample.qid} {block}")
    sizes = sample.sizes
    return [(" and ".join(b), sum(sizes[x] for x in b), dict(i)) for i, b in names.items()]


def group_means(sample: Sample) -> dict[str, Fraction]:
    """Return the mean chance of the best guess in each group."""
    groups = success.groups(sample.rows, [sample.qid], sample.secret, by=sample.by)
    return {f"{sample.by} {name}": group.probabilistic for name, group in groups.items()}


def household_risks(sample: Sample) -> dict[str, tuple[list[int], Fraction]]:
    """Return the blocks' sizes of the members of each group, and the chance to find some member."""
    sizes = {
        name: [sample.sizes[block] for block, n in group.sizes.items() for _ in range(n)]
        for name, group in sample.groups.items()
    }
    return {
        name: (n, 1 - Fraction(prod(1 - Fraction(1, size) for size in n)))
        for name, n in sizes.items()
    }


def pairs(sample: Sample) -> dict[str, tuple[str]]:
    """Return a hierarchy that has the values in pairs, in their order."""
    return {value: (f"pair {i // 2 + 1}",) for i, value in enumerate(sorted(sample.values))}


def levels(sample: Sample, name: str) -> dict[str, syntactic_levels.Level]:
    """Return a level of each block, 0 where no level is enough."""
    totals = dict(sorted(sample.values.items()))
    measures = syntactic_levels.MEASURES | {
        "l_recursive_c": syntactic_levels.recursive(LEAST_L),
        "t_hierarchical": syntactic_levels.hierarchical(pairs(sample)),
    }
    reports = {
        block: syntactic_levels.assess(measures[name], [values], totals, None)["value"]
        for block, values in sample.blocks.items()
    }
    return {block: level or 0 for block, level in reports.items()}


def noisy_counts(sample: Sample) -> tuple[dict[str, int], list[dict[str, int]]]:
    """Return the people outside the first group, which is counted with noise, and the reports.

    A report, yes or no, has parts of four by value.
    """
    inside = sample.part[1].values
    outside = {v: k - inside.get(v, 0) for v, k in sample.values.items()}
    reports = [
        {v: yes * inside.get(v, 0) + no * n for v, n in outside.items()}
        for yes, no in ((RIGHT, WRONG), (WRONG, RIGHT))
    ]
    return {v: n for v, n in outside.items() if n}, reports


def beliefs_with_and_without(sample: Sample) -> list[naive_bayes.Belief]:
    """Return what is believed of one of the first block from the table, and without them."""
    block, value = next(iter(sample.cells))[0], next(iter(next(iter(sample.blocks.values()))))
    records = [([lambda v, b=row[sample.qid]: v == b], row[sample.secret]) for row in sample.rows]
    person = sample.rows.index(
        next(row for row in sample.rows if (row[sample.qid], row[sample.secret]) == (block, value))
    )
    releases = (records, records[:person] + records[person + 1 :])
    return [naive_bayes.bayes(release, [block], list(sample.values)) for release in releases]
