"""Numbers of the worked examples of sweeps: subsets of two quasi-identifiers compared.

One quasi-identifier makes the blocks of the sample, the other makes its groups.
"""

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from qifsql.commands.explain.examples.sample import Sample, Values
from qifsql.reference import quasi_identifier_sets as sets
from qifsql.reference.success import attack

THRESHOLD = Fraction(7, 10)  # the success that is risky in the example
STUDENT = Fraction(2262, 1000)  # 97.5 % of Student's t with 9 degrees of freedom
UNSEEN = 3  # -ln 0.05, rounded up: the rule of three
CHANCES = (Fraction(1, 2), Fraction(1, 4))  # that an adversary knows each quasi-identifier


def right(sample: Sample) -> dict[str, list[int]]:
    """Return, by set of known qids, how many people of each block have its most frequent value."""
    blocks: dict[str, Iterable[Values]] = {
        "nothing": [sample.values],
        sample.qid: sample.blocks.values(),
        sample.by: [group.values for group in sample.groups.values()],
        f"{sample.qid} and {sample.by}": sample.cells.values(),
    }
    return {names: [max(values.values()) for values in inside] for names, inside in blocks.items()}


def success(sample: Sample) -> dict[sets.Members, Fraction]:
    """Return the success by each set of quasi-identifiers: none, the first, the second, both."""
    names = ((), (sample.qid,), (sample.by,), (sample.qid, sample.by))
    return {
        frozenset(qids): attack(sample.rows, qids, sample.secret)["posterior_probabilistic"]
        for qids in names
    }


def borders(sample: Sample) -> list[tuple[str, str, Fraction]]:
    """Return (border, names, success) of the smallest sets at the threshold and largest below."""
    by_set = success(sample)
    names = dict(zip(by_set, right(sample), strict=True))
    risky = sets.minimal(s for s, chance in by_set.items() if chance >= THRESHOLD)
    safe = sets.maximal(s for s, chance in by_set.items() if chance < THRESHOLD)
    first = [("minimal risky", names[s], by_set[s]) for s in by_set if s in risky]
    return first + [("maximal safe", names[s], by_set[s]) for s in by_set if s in safe]


def coarser(sample: Sample) -> list[tuple[str, str, Fraction]]:
    """Return (quasi-identifier, its values in pairs as a text, success if each pair is merged)."""
    results = []
    for name in (sample.qid, sample.by):
        values = list(dict.fromkeys(row[name] for row in sample.rows))
        values = sorted(values) if name == sample.by else values  # those of qid are in order
        pairs = [values[i : i + 2] for i in range(0, len(values), 2)]
        rows = [row | {name: str(values.index(row[name]) // 2)} for row in sample.rows]
        merged = attack(rows, [sample.qid, sample.by], sample.secret)["posterior_probabilistic"]
        results.append((name, " | ".join(" or ".join(pair) for pair in pairs), merged))
    return results


def knowledge(sample: Sample) -> list[tuple[Fraction, Fraction]]:
    """Return the chance of each set of known quasi-identifiers, and the success by it."""
    first, second = CHANCES
    weights = ((1 - first) * (1 - second), first * (1 - second), (1 - first) * second)
    return list(zip((*weights, first * second), success(sample).values(), strict=True))


def drawn(sample: Sample) -> dict[str, Any] | None:
    """Return an estimate of the success as if all blocks but the first were a random sample.

    None if these are fewer than two. ``share`` is how many of the blocks are drawn; ``ratio`` how
    many of their people are guessed right, and ``squares`` the sum of its squared residuals;
    ``unseen`` is the part of the ``error`` that stands for blocks not drawn.
    """
    sizes, guessed = dict(list(sample.sizes.items())[1:]), right(sample)[sample.qid][1:]
    if len(sizes) < 2:
        return None
    people, blocks, largest = sum(sizes.values()), len(sample.sizes), max(sample.sizes.values())
    share, ratio = Fraction(len(sizes), blocks), Fraction(sum(guessed), people)
    pairs = zip(sizes.values(), guessed, strict=True)
    squares = sum(((y - ratio * n) ** 2 for n, y in pairs), Fraction())
    unseen = Fraction(UNSEEN * largest * blocks, len(sizes) * sample.people)
    spread = math.sqrt((1 - share) / (1 - Fraction(1, len(sizes))) * squares) / people
    return {
        **{"sizes": sizes, "right": guessed, "people": people, "share": share, "ratio": ratio},
        **{"squares": squares, "unseen": unseen, "error": float(STUDENT) * spread + float(unseen)},
    }


def stages(sample: Sample) -> dict[str, list[int]]:
    """Return, by quasi-identifier, the squares of the numbers of people who share a value."""
    counts = {
        sample.qid: sample.sizes.values(),
        sample.by: [group.people for group in sample.groups.values()],
    }
    return {name: [n * n for n in people] for name, people in counts.items()}


def order(stages: dict[str, list[int]]) -> list[str]:
    """Return the quasi-identifiers, the one with the smallest groups first."""
    return sorted(stages, key=lambda name: sum(stages[name]))
