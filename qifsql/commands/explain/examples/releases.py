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


def classifier_leak(sample: Sample) -> Lines:
    """Return the leak to a tree that tells all blocks apart."""
    *lines, last = individual_leak(sample)
    return (*lines, last.replace("individual", "classifier"))


def rapid(sample: Sample) -> Lines:
    """Return the people whose value gets a confidence beyond its frequency."""
    level, release = Fraction(3, 10), _release(sample)
    names = list(sample.groups)
    lines, confident = [], []
    for block, values in sample.blocks.items():
        alike = release.get(block) or sample.part[1].values
        for value, people in values.items():
            base = Fraction(sample.values[value], sample.people)
            chance = Fraction(alike.get(value, 0), sum(alike.values()))
            gain = (chance - base) / (1 - base) if base < 1 else Fraction()
            confident.append(people if gain > level else 0)
            terms = f"({number(chance)} - {number(base)})/(1 - {number(base)})"
            if base == 1:
                terms = "nothing beyond a frequency of 1"
            sign = ">" if gain > level else "<="
            lines.append(
                f"{block}, {persons(people)} with {value}: {equal(terms, gain)} {sign} 0.3"
            )
    return (
        f"the file that is learned from has the records of {names[0]}",
        *(f"file, {line}" for line in shown(release)),
        *lines,
        f"RAPID: {over(confident, sample.people)}",
    )


def success_present(sample: Sample) -> Lines:
    """Return the success on people who look like a record."""
    release = _release(sample)
    present = {b: v for b, v in sample.blocks.items() if sum(release.get(b, {}).values())}
    people = sum(sum(values.values()) for values in present.values())
    return (
        *_stated(sample),
        *_lines(sample, present),
        f"success on those who look like a record: {_success(sample, present, people)}",
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


def singling_out_all(sample: Sample) -> Lines:
    """Return the conditions that are true for one record, and for one person."""
    first, *_, last = sample.groups if len(sample.groups) > 1 else [*sample.groups] * 2
    release = {block: sum(v.values()) for block, v in _control(sample).items()}
    conditions = [block for block, n in release.items() if n == 1]
    alone = [block for block in conditions if sample.sizes[block] == 1]
    head = f"the release has the records of {last}, the control those of {first}"
    names = ", ".join(conditions) or "none"
    share = Fraction(len(alone), len(conditions)) if conditions else Fraction()
    terms = f"{len(alone)}/{len(conditions)}" if conditions else "no condition to try"
    return (
        head,
        *(f"release, {line}" for line in shown(_control(sample))),
        f"conditions that are true for one record of the release: {names}",
        f"singling out, of these true for one person of the original: {equal(terms, share)}",
    )


def singling_out_some(sample: Sample) -> Lines:
    """Return the conditions with ranges that are true for one record, and for one person."""
    first, *_, last = sample.groups if len(sample.groups) > 1 else [*sample.groups] * 2
    release = {block: sum(v.values()) for block, v in _control(sample).items()}
    blocks = list(sample.sizes)
    records = [block for block in blocks for _ in range(release.get(block, 0))]
    middle = blocks.index(records[(len(records) - 1) // 2])
    conditions = {}
    for place, block in enumerate(blocks):
        if release.get(block):
            above = place > middle
            name = f"{block} or {'more' if above else 'less'}"
            conditions[name] = blocks[place:] if above else blocks[: place + 1]
    single = {
        name: each
        for name, each in conditions.items()
        if sum(release.get(block, 0) for block in each) == 1
    }
    alone = [n for n, each in single.items() if sum(sample.sizes[block] for block in each) == 1]
    terms = f"{len(alone)}/{len(single)}" if single else "no condition to try"
    share = Fraction(len(alone), len(single)) if single else Fraction()
    return (
        f"the release has the records of {last}, the control those of {first}",
        *(f"release, {line}" for line in shown(_control(sample))),
        f"median of the release: {blocks[middle]}",
        f"conditions: {', '.join(conditions)}",
        f"of these, true for one record of the release: {', '.join(single) or 'none'}",
        f"singling out, of these true for one person of the original: {equal(terms, share)}",
    )


def linkability_nearest(sample: Sample) -> Lines:
    """Return the links by the nearest record of each half in a copy of the original."""
    totals = {name: group.people for name, group in sample.groups.items()}
    cells = {
        (f"{sample.qid} {block}", f"{sample.by} {group}"): sum(values.values())
        for (block, group), values in sample.cells.items()
    }
    lines, right = [], Fraction()
    for (block, group), n in cells.items():
        if n:
            first, second = sample.sizes[block], totals[group]
            right += Fraction(n * n, first * second)
            lines.append(
                f"{block}, {group}: nearest are {first} and {second}, in common {n}: linked with "
                f"chance {n}/({first}·{second}) = {Fraction(n, first * second)}"
            )
    chance = Fraction(1, sample.people)
    return (
        "the release is a copy of the original; one nearest record of each half",
        f"one source knows the {sample.qid}, the other the {sample.by}",
        *lines,
        f"by chance: {equal(f'1/{sample.people}', chance)}",
        f"linkability: {equal(f'({right})/{sample.people}', right / sample.people)}",
    )


def linkability_risk(sample: Sample) -> Lines:
    """Return the links of two halves in a copy of the original, beyond those of the control."""
    last = list(sample.groups)[-1]
    totals = {name: group.people for name, group in sample.groups.items()}
    cells = {
        (f"{sample.qid} {block}", f"{sample.by} {group}"): sum(values.values())
        for (block, group), values in sample.cells.items()
    }
    chances = {
        (block, group): Fraction(n, sample.sizes[block] * totals[group])
        for (block, group), n in cells.items()
        if n
    }
    right = sum((n * chances[cell] for cell, n in cells.items() if n), Fraction())
    other = sum(
        (n * chances[cell] for cell, n in cells.items() if n and cell[1] == last), Fraction()
    )
    original, control = right / sample.people, other / totals[last]
    return (
        f"the release is a copy of the original, the control has the records of {last}",
        f"one source knows the {sample.qid}, the other the {sample.by}",
        *(f"{block}, {group}: linked with chance {c}" for (block, group), c in chances.items()),
        f"linkability of the original: {equal(f'{right}/{sample.people}', original)}",
        f"linkability of the control: {equal(f'{other}/{totals[last]}', control)}",
        f"risk: {_beyond(original, control)}",
    )


def inference_risk(sample: Sample) -> Lines:
    """Return the success of guesses beyond the control."""
    control = _control(sample)
    people = sum(sum(v.values()) for v in control.values())
    success = _right(sample, sample.blocks) / sample.people
    other = _right(sample, control) / people
    return (
        *_stated(sample),
        f"success on the original: {_success(sample, sample.blocks, sample.people)}",
        f"success on the control: {_success(sample, control, people)}",
        f"inference risk: {_beyond(success, other)}",
    )


def nearer_original(sample: Sample) -> Lines:
    """Return the share of records that are nearer to the original than to the control."""
    control = _control(sample)
    parts = {
        f"{block}, {value}": (
            records,
            sample.blocks[block][value],
            control.get(block, {}).get(value, 0),
        )
        for block, values in _release(sample).items()
        for value, records in values.items()
    }
    records = sum(n for n, _, _ in parts.values())
    nearer = sum((Fraction(n * o, o + u) for n, o, u in parts.values()), Fraction())
    people = sum(sum(v.values()) for v in control.values())
    chance = equal(f"{sample.people}/{sample.people + people}",
                   Fraction(sample.people, sample.people + people))  # fmt: skip
    return (
        *_stated(sample),
        *(
            f"{cell}, at distance 0: of the original {o}, of the control {u}"
            for cell, (_, o, u) in parts.items()
        ),
        f"by chance: {chance}",
        f"nearer to the original: {equal(f'({nearer})/{records}', nearer / records)}",
    )


def _beyond(success: Fraction, control: Fraction) -> str:
    """Return a success beyond the control, of what the control leaves to find out."""
    if control == 1:
        return "the control leaves nothing to find out, so there is none: 0"
    terms = f"({number(success)} - {number(control)})/(1 - {number(control)})"
    return equal(terms, (success - control) / (1 - control))


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
