"""Worked examples of synthetic releases, made of the counts of a small table.

All people are the original, those of the first group are the records of the release, and those of
the last group are the control.
"""

from collections.abc import Mapping
from fractions import Fraction

from qifsql.commands.explain.examples.sample import (
    Lines,
    Sample,
    equal,
    number,
    over,
    persons,
    plus,
    shown,
)

Blocks = Mapping[str, Mapping[str, int]]


def repu(sample: Sample) -> Lines:
    """Return the people who are alone in the original and have one record in the release."""
    sizes, release = sample.sizes, _release(sample)
    alone = [block for block, size in sizes.items() if size == 1]
    present = [block for block in alone if sum(release.get(block, {}).values()) > 0]
    once = [block for block in alone if sum(release.get(block, {}).values()) == 1]
    return (
        *_stated(sample),
        f"alone in the original: {equal(f'{len(alone)}/{sample.people}', _share(alone, sample))}",
        f"of these, in the release: {len(present)}; with one record there: {len(once)}",
        f"repU: {equal(f'{len(once)}/{sample.people}', _share(once, sample))}",
    )


def disco(sample: Sample) -> Lines:
    """Return the people whose secret the release gives away."""
    release = _release(sample)
    certain = {b: next(iter(v)) for b, v in release.items() if len(v) == 1}
    correct = [sample.blocks[b].get(value, 0) for b, value in certain.items()]
    blocks = ", ".join(f"{b}: {v}" for b, v in certain.items()) or "none"
    return (
        *_stated(sample),
        f"blocks of one value in the release: {blocks}",
        f"DiSCO, people who have it: {over(correct or [0], sample.people)}",
    )


def success_original(sample: Sample) -> Lines:
    """Return the success of who learns from the release, on the people of the original."""
    return (
        *_stated(sample),
        *_lines(sample, sample.blocks),
        f"success: {_success(sample, sample.blocks, sample.people)}",
    )


def individual_leak(sample: Sample) -> Lines:
    """Return the difference of success on the original and on the control."""
    control = _control(sample)
    people = sum(sum(v.values()) for v in control.values())
    right, other = _right(sample, sample.blocks), _right(sample, control)
    leak = right / sample.people - other / people
    terms = f"{number(right / sample.people)} - {number(other / people)}"
    return (
        *_stated(sample),
        f"success on the original: {_success(sample, sample.blocks, sample.people)}",
        f"success on the control: {_success(sample, control, people)}",
        f"individual leak: {equal(terms, leak)}",
    )


def population_knowledge(sample: Sample) -> Lines:
    """Return the difference of success on the control and that of the best constant guess."""
    control = _control(sample)
    people = sum(sum(v.values()) for v in control.values())
    values: dict[str, int] = {}
    for block in control.values():
        for value, n in block.items():
            values[value] = values.get(value, 0) + n
    most, other = max(values.values()), _right(sample, control)
    gain = other / people - Fraction(most, people)
    terms = f"{number(other / people)} - {number(Fraction(most, people))}"
    return (
        *_stated(sample),
        f"success on the control: {_success(sample, control, people)}",
        f"without the release: {equal(f'{most}/{people}', Fraction(most, people))}",
        f"population knowledge: {equal(terms, gain)}",
    )


def _release(sample: Sample) -> Blocks:
    return sample.part[1].blocks


def _control(sample: Sample) -> Blocks:
    return list(sample.groups.values())[-1].blocks


def _stated(sample: Sample) -> Lines:
    """Return what the three files are."""
    names = list(sample.groups)
    head = f"the release has the records of {names[0]}, the control those of {names[-1]}"
    return (head, *(f"release, {line}" for line in shown(_release(sample))))


def _guess(sample: Sample, block: str) -> list[str]:
    """Return the most frequent values of the release in a block, or in all if it has none there."""
    values = _release(sample).get(block) or sample.part[1].values
    return [value for value, n in values.items() if n == max(values.values())]


def _parts(sample: Sample, blocks: Blocks) -> list[Fraction]:
    """Return how many people are guessed right in each block; ties are shared."""
    guesses = {block: _guess(sample, block) for block in blocks}
    return [
        Fraction(sum(values.get(v, 0) for v in guesses[block]), len(guesses[block]))
        for block, values in blocks.items()
    ]


def _right(sample: Sample, blocks: Blocks) -> Fraction:
    return sum(_parts(sample, blocks), Fraction())


def _lines(sample: Sample, blocks: Blocks) -> Lines:
    """Return the guess about each block, and how many people it is right about."""
    return tuple(
        f"{block}: {' or '.join(_guess(sample, block))}, right about {persons(part.numerator)}"
        if part.denominator == 1
        else f"{block}: {' or '.join(_guess(sample, block))}, right about {part} people"
        for block, part in zip(blocks, _parts(sample, blocks), strict=True)
    )


def _success(sample: Sample, blocks: Blocks, people: int) -> str:
    parts = _parts(sample, blocks)
    terms = f"({plus(parts)})/{people}" if len(parts) > 1 else f"{parts[0]}/{people}"
    return equal(terms, sum(parts, Fraction()) / people)


def _share(blocks: list[str], sample: Sample) -> Fraction:
    return Fraction(len(blocks), sample.people)
