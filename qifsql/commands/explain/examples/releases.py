"""Numbers of the worked examples of synthetic releases.

All people are the original, those of the first group are the records of the release, and those of
the last group are the control.
"""

from collections.abc import Mapping
from fractions import Fraction

from qifsql.commands.explain.examples.sample import Blocks, Sample
from qifsql.reference import synthetic_releases as synthetic

LEVEL = Fraction(3, 10)  # a confidence adds more than this part of what the frequency leaves


def _file(blocks: Blocks) -> synthetic.File:
    """Return a record (its key, its secret) for each of the people counted in blocks."""
    return [
        ((block,), value)
        for block, values in blocks.items()
        for value, n in values.items()
        for _ in range(n)
    ]


def guess(sample: Sample, block: str) -> list[str]:
    """Return the most frequent values of the release in a block, or in all if it has none there."""
    return sorted(map(str, synthetic.guesses(_file(sample.part.blocks), (block,))))


def right(sample: Sample, blocks: Blocks) -> dict[str, Fraction]:
    """Return how many people are guessed right in each block; ties are shared."""
    release = _file(sample.part.blocks)
    return {
        block: sum((synthetic.chance(release, p) for p in _file({block: values})), Fraction())
        for block, values in blocks.items()
    }


def success(sample: Sample, blocks: Blocks) -> Fraction:
    """Return the success of who learns from the release, on these people."""
    return synthetic.success(_file(sample.part.blocks), _file(blocks))


def correct(sample: Sample) -> list[int]:
    """Return the people who have the only value that the release has in their block."""
    release = sample.part
    return [sample.blocks[b].get(next(iter(release.blocks[b])), 0) for b in release.certain]


def present(sample: Sample) -> Blocks:
    """Return the blocks that the release has, too."""
    release = sample.part.blocks
    return {block: values for block, values in sample.blocks.items() if block in release}


def confidences(sample: Sample) -> list[tuple[str, str, int, Fraction, Fraction, Fraction]]:
    """Return block, value, people, overall share, share in the release, and what that adds."""
    release, rows = _file(sample.part.blocks), []
    for block, values in sample.blocks.items():
        for value, n in values.items():
            base = Fraction(sample.values[value], sample.people)
            share = synthetic.confidence(release, ((block,), value))
            rows.append((block, value, n, base, share, synthetic.gain(share, base)))
    return rows


def disclosed(sample: Sample) -> list[int]:
    """Return the people with each value in each block if the release adds more than ``LEVEL``."""
    return [n if gain > LEVEL else 0 for _, _, n, *_, gain in confidences(sample)]


def median(sample: Sample) -> str:
    """Return the lower median of the release, here the last group, in the order of the blocks."""
    sizes = sample.control.sizes
    records = [block for block in sample.sizes for _ in range(sizes.get(block, 0))]
    return records[(len(records) - 1) // 2]


def conditions(sample: Sample) -> Mapping[str, list[str]]:
    """Return a condition for each block of the release, with the blocks for which it holds.

    It is ``BLOCK or more`` above the median of the release, otherwise ``BLOCK or less``.
    """
    blocks = list(sample.sizes)
    middle = blocks.index(median(sample))
    ranges: dict[str, list[str]] = {}
    for place, block in enumerate(blocks):
        if block in sample.control.sizes:
            above = place > middle
            name = f"{block} or {'more' if above else 'less'}"
            ranges[name] = blocks[place:] if above else blocks[: place + 1]
    return ranges


def true_once(ranges: Mapping[str, list[str]], people: Sample) -> Mapping[str, list[str]]:
    """Return the conditions, with their blocks, that are true for exactly one of the people."""
    sizes = people.sizes
    return {
        name: blocks
        for name, blocks in ranges.items()
        if sum(sizes.get(block, 0) for block in blocks) == 1
    }


def links(sample: Sample) -> list[tuple[str, str, int, int, int]]:
    """Return (block, group, people of the block, of the group, of both) of a copied release.

    The people of both are those whose two halves, block and group, are linked.
    """
    rows = []
    for block, inside in sample.groups_of.items():
        for group, n in inside.items():
            title = f"{sample.by} {group}"
            rows.append((block, title, sample.sizes[block], sample.groups[title].people, n))
    return rows


def linked(sample: Sample, people: Sample) -> Fraction:
    """Return how many people are linked by their block and their group."""
    original = [((row[sample.qid], row[sample.by]), None) for row in sample.rows]
    attacked = [((row[sample.qid], row[sample.by]), None) for row in people.rows]
    return synthetic.linked(original, attacked, [0])


def nearest(sample: Sample) -> list[tuple[str, int, int, Fraction]]:
    """Return (block and value, equals in the original, equals in the control, records nearer).

    A record has its nearest people among its equals. Each of them has an equal part of it, so the
    number of records that are nearer to the original is a fraction.
    """
    blocks_of_control, rows = sample.control.blocks, []
    for block, values in sample.part.blocks.items():
        for value, n in values.items():
            in_original = sample.blocks[block][value]
            in_control = blocks_of_control.get(block, {}).get(value, 0)
            nearer = Fraction(n * in_original, in_original + in_control)
            rows.append((f"{block}, {value}", in_original, in_control, nearer))
    return rows
