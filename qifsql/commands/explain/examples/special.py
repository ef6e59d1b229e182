"""Worked examples of special uniques: the three columns of a small table are all known."""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations

from qifsql.commands.explain.examples.sample import Lines, Sample, equal, number, persons, plus
from qifsql.measures.special_uniques import dis_suda as chance
from qifsql.measures.special_uniques import exponent, score_of_size

HALF = Fraction(1, 2)  # the sampling fraction
Person = tuple[str, str, str]  # block, group, value
Columns = tuple[int, ...]


def msu(sample: Sample) -> Lines:
    """Build an example that counts the minimal sample uniques of each set of columns."""
    sets = Counter(columns for _, minimal in _minimal(sample) for columns in minimal)
    lines = [_head(sample)]
    lines += [f"alone by {_named(sample, s)}, by no part of it: {n}" for s, n in _ordered(sets)]
    return (
        *lines,
        f"minimal sample uniques: {plus([n for _, n in _ordered(sets)] or [0])}{_total(sets)}",
    )


def suda_score(sample: Sample) -> Lines:
    """Build an example that adds up the scores of all people."""
    sizes = Counter(len(columns) for _, minimal in _minimal(sample) for columns in minimal)
    each = {size: score_of_size(3, 3, size) for size in (1, 2, 3)}
    terms = " + ".join(f"{n}·{each[size]}" for size, n in sorted(sizes.items())) or "nobody's"
    total = sum(n * each[size] for size, n in sizes.items())
    return (
        _head(sample),
        f"score of a minimal sample unique: one column {each[1]}, two {each[2]}, three {each[3]}",
        equal(f"sum of all scores: {terms}", Fraction(total)),
    )


def dis_suda(sample: Sample) -> Lines:
    """Build an example of the highest DIS-SUDA, if the table is half of the population."""
    sizes = Counter(Counter(_people(sample)).values())
    scores = [sum(score_of_size(3, 3, len(s)) for s in minimal) for _, minimal in _minimal(sample)]
    scored = sorted(score for score in scores if score)
    if not scored:
        return _head(sample), "nobody has a score: 0"
    powers = sum(float(score) ** -exponent(3) for score in scored)
    paired = 2 * sizes[2]
    power = number(exponent(3))
    highest = chance(scored[-1], n=3, paired=paired, fraction=HALF, powers=powers)
    return (
        f"{_head(sample)}; each person stands for two",
        f"alone: U = {sizes[1]}; in blocks of two: {paired}; U/DIS - U = {paired}·(1/2)/(1/2)",
        f"sum of score^-{power} over {persons(len(scored))}: {number(powers)}",
        equal(
            f"highest: 1 / (1 + {paired} / ({scored[-1]}^{power} · {number(powers)}))",
            highest,
        ),
    )


def _people(sample: Sample) -> list[Person]:
    return [
        (block, group, value)
        for (block, group), values in sample.cells.items()
        for value, n in values.items()
        for _ in range(n)
    ]


def _minimal(sample: Sample) -> list[tuple[Person, list[Columns]]]:
    """Return each person with the smallest sets of columns by which nobody else is alike."""
    people = _people(sample)
    sets: list[Columns] = [s for size in (1, 2, 3) for s in combinations(range(3), size)]
    times = {s: Counter(tuple(person[i] for i in s) for person in people) for s in sets}
    result = []
    for person in people:
        minimal: list[Columns] = []
        for s in sets:  # small ones come first
            part = any(set(smaller) <= set(s) for smaller in minimal)
            if times[s][tuple(person[i] for i in s)] == 1 and not part:
                minimal.append(s)
        result.append((person, minimal))
    return result


def _ordered(sets: Mapping[Columns, int]) -> list[tuple[Columns, int]]:
    return sorted(sets.items(), key=lambda item: (len(item[0]), item[0]))


def _named(sample: Sample, columns: Columns) -> str:
    names = (sample.qid, sample.by, sample.secret)
    return " and ".join(names[i] for i in columns)


def _total(sets: Mapping[Columns, int]) -> str:
    return f" = {sum(sets.values())}" if len(sets) > 1 else ""


def _head(sample: Sample) -> str:
    return f"{sample.qid}, {sample.by} and {sample.secret} are known"
