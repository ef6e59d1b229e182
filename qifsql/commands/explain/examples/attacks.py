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
    """Return, by block, the greatest share of a value's people who are in the block: ``3/5``."""
    total = sample.values
    shares = []
    for people in sample.blocks.values():
        texts = {f"{n}/{total[value]}": Fraction(n, total[value]) for value, n in people.items()}
        shares.append(max(texts, key=lambda text: (texts[text], text)))
    return shares


def overlaps(sample: Sample) -> dict[str, list[Fraction]]:
    """Return, for each pair of values, the smaller of their probabilities of each block.

    A row of the channel has the probability of each block, given a value.
    """
    rows = channel.channel(sample.rows, [sample.qid], sample.secret)
    columns = channel.columns(rows).values()  # of blocks: probabilities by value
    return {
        f"{v} and {w}": [min(column.get(v, Fraction()), column.get(w, Fraction()))
                         for column in columns]
        for v, w in combinations(sample.values, 2)
    }  # fmt: skip


def weighted(sample: Sample) -> Blocks:
    """Return people by value in each block, with those of the first group counted WEIGHT times."""
    heavy = sample.part.blocks
    return {
        block: {v: n + (WEIGHT - 1) * heavy.get(block, {}).get(v, 0) for v, n in values.items()}
        for block, values in sample.blocks.items()
    }


def _first_person(sample: Sample) -> tuple[str, str]:
    """Return the first block and its most frequent value."""
    block, _ = next(iter(sample.cells))
    return block, next(iter(sample.blocks[f"{sample.qid} {block}"]))


def beliefs(sample: Sample) -> dict[str, Fraction]:
    """Return the prior of each value: ``BELIEF`` in the most frequent of the first block."""
    _, likely = _first_person(sample)
    rest = [value for value in sample.values if value != likely]
    belief = {likely: BELIEF if rest else Fraction(1)}
    return belief | {value: (1 - BELIEF) / len(rest) for value in rest}


def hyper(sample: Sample) -> list[tuple[str, int, dict[str, Fraction]]]:
    """Return each different distribution of the secret in blocks, after their titles and people."""
    blocks_of: dict[tuple[tuple[str, Fraction], ...], list[str]] = {}
    for (block,), inner in channel.inners(sample.joint).items():
        blocks_of.setdefault(tuple(sorted(inner.items())), []).append(f"{sample.qid} {block}")
    people = {inner: sum(sample.sizes[b] for b in blocks) for inner, blocks in blocks_of.items()}
    return [(" and ".join(b), people[inner], dict(inner)) for inner, b in blocks_of.items()]


def group_means(sample: Sample) -> dict[str, Fraction]:
    """Return the mean chance of the best guess in each group."""
    groups = success.groups(sample.rows, [sample.qid], sample.secret, by=sample.by)
    return {f"{sample.by} {name}": group.probabilistic for name, group in groups.items()}


def household_risks(sample: Sample) -> dict[str, tuple[list[int], Fraction]]:
    """Return, by group (a household), its members' block sizes and the chance to find any."""
    risks: dict[str, tuple[list[int], Fraction]] = {}
    for name, group in sample.groups.items():
        sizes: list[int] = []
        for block, n in group.sizes.items():
            sizes += n * [sample.sizes[block]]
        risks[name] = sizes, 1 - Fraction(prod(1 - Fraction(1, size) for size in sizes))
    return risks


def pairs(sample: Sample) -> dict[str, tuple[str]]:
    """Return a hierarchy that has the values in pairs, in their order."""
    return {value: (f"pair {i // 2 + 1}",) for i, value in enumerate(sorted(sample.values))}


def levels(sample: Sample, name: str) -> dict[str, syntactic_levels.Level]:
    """Return the level of this name of each block; 0: the block has none, whatever is required."""
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
    """Return the people outside the first group by value, and the weights of values by report.

    The reports are "yes" and "no": whether somebody is in the first group, with noise. A weight is
    four times the expected number of people with a value who get this report.
    """
    inside = sample.part.values
    outside = {v: n - inside.get(v, 0) for v, n in sample.values.items()}
    reports = [
        {v: yes * inside.get(v, 0) + no * n for v, n in outside.items()}
        for yes, no in ((RIGHT, WRONG), (WRONG, RIGHT))
    ]
    return {v: n for v, n in outside.items() if n}, reports


def beliefs_with_and_without(sample: Sample) -> list[naive_bayes.Belief]:
    """Return the beliefs about a person of the first block, from all records and without theirs."""
    block, value = _first_person(sample)
    people = [(row[sample.qid], row[sample.secret]) for row in sample.rows]
    person = people.index((block, value))
    records = [([lambda v, b=qid: v == b], secret) for qid, secret in people]  # cells as tests
    releases = (records, records[:person] + records[person + 1 :])
    return [naive_bayes.bayes(release, [block], list(sample.values)) for release in releases]
