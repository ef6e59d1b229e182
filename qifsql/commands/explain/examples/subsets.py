"""Worked examples of sweeps: smallest blocks, and subsets of quasi-identifiers compared.

One quasi-identifier makes the blocks of the sample, the other makes its groups.
"""

import math
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
)

THRESHOLD = Fraction(7, 10)  # the success that is risky in the example
STUDENT = Fraction(2262, 1000)  # 97.5 % of Student's t with 9 degrees of freedom
UNSEEN = 3  # -ln 0.05, rounded up: the rule of three


def k(sample: Sample) -> Lines:
    """Return the smallest block."""
    return _each(sample.sizes), f"k, the smallest: {min(sample.sizes.values())}"


def l(sample: Sample) -> Lines:  # noqa: E743 - the name of the measure
    """Return the block with the fewest values."""
    values = {block: len(counts) for block, counts in sample.blocks.items()}
    each = ", ".join(f"{block} has {n}" for block, n in values.items())
    return f"different values of {sample.secret}: {each}", f"l, the fewest: {min(values.values())}"


def subset(sample: Sample) -> Lines:
    """Return the numbers of the subsets of two quasi-identifiers."""
    return f"{sample.qid}: 1", f"{sample.by}: 2", f"{sample.qid} and {sample.by}: 1 + 2 = 3"


def shapley(sample: Sample) -> Lines:
    """Return the gain from each of two quasi-identifiers, added first and added last."""
    before, one, other, both = _values(sample)
    return (
        *_shown(sample),
        _averaged(sample.qid, one - before, both - other),
        _averaged(sample.by, other - before, both - one),
    )


def interaction(sample: Sample) -> Lines:
    """Return the gain from both together, minus the gains from each."""
    before, one, other, both = _values(sample)
    terms = f"{number(both)} - {number(one)} - {number(other)} + {number(before)}"
    return *_shown(sample), equal(terms, both - one - other + before)


def partial_knowledge(sample: Sample) -> Lines:
    """Return the success of an adversary who knows each of two quasi-identifiers by chance."""
    success = _values(sample)
    one, other = Fraction(1, 2), Fraction(1, 4)  # chances that each is known
    weights = ((1 - one) * (1 - other), one * (1 - other), (1 - one) * other, one * other)
    terms = [f"{number(w)}·{number(v)}" for w, v in zip(weights, success, strict=True)]
    whole = Fraction(sum(w * v for w, v in zip(weights, success, strict=True)))
    reached = sum((w for w, v in zip(weights, success, strict=True) if v >= THRESHOLD), Fraction())
    return (
        *_shown(sample),
        f"p({sample.qid}) = {number(one)}, p({sample.by}) = {number(other)}",
        f"least: {number(min(success))}; greatest: {number(max(success))}",
        f"chance of {number(THRESHOLD)} or more: {number(reached)}",
        equal(f"expected: {plus(terms)}", whole),
    )


def borders(sample: Sample) -> Lines:
    """Return the smallest sets that reach a threshold, and the largest that do not."""
    names, (before, *_) = [*_modes(sample)], _values(sample)
    value = dict(zip(names, _values(sample), strict=True))
    risky = {name for name in names if value[name] >= THRESHOLD}
    nothing, *singles, both = names
    if before >= THRESHOLD:
        borders = [("minimal risky", nothing)]
    elif both not in risky:
        borders = [("maximal safe", both)]
    else:
        borders = [("minimal risky", s) for s in singles if s in risky] or [("minimal risky", both)]
        safe = [("maximal safe", s) for s in singles if s not in risky]
        borders += safe or [("maximal safe", nothing)]
    lines = (equal(f"{border}: {name}, success", value[name]) for border, name in borders)
    return *_shown(sample), f"threshold: {number(THRESHOLD)}", *lines


def saved(sample: Sample) -> Lines:
    """Return the success that is saved by dropping or coarsening a quasi-identifier."""
    _, one, other, both = _values(sample)
    blocks = list(dict.fromkeys(block for block, _ in sample.cells))
    groups = sorted({group for _, group in sample.cells})
    coarser = {
        (name, _pairs(values)): Fraction(_merged(sample, i, values), sample.people)
        for i, (name, values) in enumerate(((sample.qid, blocks), (sample.by, groups)))
    }
    best, least = min(coarser.items(), key=lambda item: item[1])
    return (
        *_shown(sample),
        f"{sample.qid} dropped: {_less(both, other)} saved",
        f"{sample.by} dropped: {_less(both, one)} saved",
        *(f"{name} as {pairing}: {_less(both, v)} saved" for (name, pairing), v in coarser.items()),
        f"{best[0]} is to be coarsened first: {_less(both, least)}",
    )


def sampled(sample: Sample) -> Lines:
    """Build an example of a sample: all blocks are drawn except the first."""
    parts = list(zip(sample.sizes.values(), sample.modes, strict=True))[1:]
    if len(parts) < 2:
        return ("blocks are too few to leave some out, all are drawn: sampled 1, error 0",)
    seen, right, m = sum(n for n, _ in parts), sum(y for _, y in parts), len(parts)
    share, ratio = Fraction(seen, sample.people), Fraction(right, seen)
    squares = sum(((y - ratio * n) ** 2 for n, y in parts), Fraction())
    blocks, largest = len(sample.sizes), max(sample.sizes.values())
    drawn, unseen = Fraction(m, blocks), Fraction(UNSEEN * largest * blocks, m * sample.people)
    spread = float(STUDENT) * math.sqrt((1 - drawn) / (1 - Fraction(1, m)) * squares) / seen
    terms = plus(f"({y} - {n}·{ratio})²" for n, y in parts)
    root = f"√((1 - {drawn})/(1 - 1/{m})·{number(squares)})"
    return (
        f"drawn, each block a part: {_each(dict(list(sample.sizes.items())[1:]))}",
        equal(f"sampled: {seen}/{sample.people}", share),
        f"success, estimated: {over([y for _, y in parts], seen)}",
        equal(f"squares: {terms}", squares),
        equal(f"not drawn: {UNSEEN}·{largest}·{blocks}/({m}·{sample.people})", unseen),
        equal(f"error: {number(STUDENT)}·{root}/{seen} + {number(unseen)}", spread + float(unseen)),
    )


def plan(sample: Sample) -> Lines:
    """Order the quasi-identifiers; the one with the smallest groups comes first."""
    sizes = {
        sample.qid: list(sample.sizes.values()),
        sample.by: [group.people for group in sample.groups.values()],
    }
    squares = {name: sum(n * n for n in counts) for name, counts in sizes.items()}
    first, last = sorted(squares, key=squares.__getitem__)
    lines = (
        equal(f"{name}, squares of people with one value: {plus(n * n for n in sizes[name])}", s)
        for name, s in squares.items()
    )
    return (
        *lines,
        f"{first} comes first: 2 subsets begin with it, {len(sample.cells)} rows",
        f"{last} comes last: 1 subset begins with it, rows: {len(sizes[last])}",
    )


def _modes(sample: Sample) -> dict[str, list[int]]:
    """Return the people with the likeliest value of each block, by the known quasi-identifiers."""
    return {
        "nothing": [max(sample.values.values())],
        sample.qid: sample.modes,
        sample.by: [max(group.values.values()) for group in sample.groups.values()],
        f"{sample.qid} and {sample.by}": [max(values.values()) for values in sample.cells.values()],
    }


def _values(sample: Sample) -> list[Fraction]:
    """Return the success, knowing nothing, the one, the other, or both."""
    return [Fraction(sum(modes), sample.people) for modes in _modes(sample).values()]


def _shown(sample: Sample) -> Lines:
    n = sample.people
    return tuple(f"knowing {what}: {over(m, n)}" for what, m in _modes(sample).items())


def _averaged(name: str, first: Fraction, last: Fraction) -> str:
    mean = equal(f"({number(first)} + {number(last)})/2", (first + last) / 2)
    return f"{name} adds {number(first)} alone and {number(last)} last, on average {mean}"


def _less(whole: Fraction, part: Fraction) -> str:
    return equal(f"{number(whole)} - {number(part)}", whole - part)


def _pairs(values: list[str]) -> str:
    pairs = (values[i : i + 2] for i in range(0, len(values), 2))
    return " | ".join(" or ".join(pair) for pair in pairs)


def _merged(sample: Sample, axis: int, values: list[str]) -> int:
    """Return the people guessed right if one quasi-identifier's values are merged in pairs."""
    cells: dict[tuple[int, str], dict[str, int]] = {}
    for key, counts in sample.cells.items():
        block = cells.setdefault((values.index(key[axis]) // 2, key[1 - axis]), {})
        for value, n in counts.items():
            block[value] = block.get(value, 0) + n
    return sum(max(counts.values()) for counts in cells.values())


def _each(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{block} has {persons(n)}" for block, n in sizes.items())
