"""Worked examples of special uniques: the three columns of a small table are all known."""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

from qifsql.commands.explain.examples.sample import Lines, Sample, equal, number, persons, plus
from qifsql.reference import sample_uniques as suda
from qifsql.reference.sample_uniques import Unique

HALF = Fraction(1, 2)  # the sampling fraction


def msu(sample: Sample) -> Lines:
    """Build an example that counts the minimal sample uniques of each set of columns."""
    sets = _ordered(sample, Counter(columns for uniques in _uniques(sample) for columns in uniques))
    lines = [f"alone by {' and '.join(names)}, by no part of it: {n}" for names, n in sets]
    total = f" = {sum(n for _, n in sets)}" if len(sets) > 1 else ""
    terms = plus([n for _, n in sets] or [0])
    return _head(sample), *lines, f"minimal sample uniques: {terms}{total}"


def suda_score(sample: Sample) -> Lines:
    """Build an example that adds up the scores of all people."""
    sizes = Counter(len(columns) for uniques in _uniques(sample) for columns in uniques)
    names = list(sample.columns)
    of_size = {m: suda.score({frozenset(names[:m])}, 3, 3) for m in (1, 2, 3)}
    terms = " + ".join(f"{n}·{of_size[size]}" for size, n in sorted(sizes.items())) or "nobody's"
    total = sum((suda.score(uniques, 3, 3) for uniques in _uniques(sample)), Fraction())
    return (
        _head(sample),
        f"score of a minimal sample unique: one column {of_size[1]}, two {of_size[2]}, three "
        f"{of_size[3]}",
        equal(f"sum of all scores: {terms}", total),
    )


def dis_suda(sample: Sample) -> Lines:
    """Build an example of the highest DIS-SUDA, if the table is half of the population."""
    rows, columns = sample.rows, sample.columns
    scores = [suda.score(uniques, 3, 3) for uniques in _uniques(sample)]
    if not any(scores):
        return _head(sample), "nobody has a score: 0"
    alone, paired = suda.alone_and_paired(rows, columns)
    powers = suda.powers(scores, 3)
    power, total = "1.25", number(sum(1 / p for p in powers))
    return (
        f"{_head(sample)}; each person stands for two",
        f"alone: U = {alone}; in blocks of two: {paired}; U/DIS - U = {paired}·(1/2)/(1/2)",
        f"sum of score^-{power} over {persons(len(powers))}: {total}",
        equal(
            f"highest: 1 / (1 + {paired} / ({max(scores)}^{power} · {total}))",
            max(suda.dis_suda(scores, rows, columns, HALF)),
        ),
    )


def _uniques(sample: Sample) -> list[set[Unique]]:
    return suda.minimal_uniques(sample.rows, sample.columns, 3)


def _ordered(sample: Sample, sets: Mapping[Unique, int]) -> list[tuple[list[str], int]]:
    """Return sets of columns in the order of the columns, small ones first."""
    names = {s: sorted(s, key=sample.columns.index) for s in sets}
    order = sorted(sets, key=lambda s: (len(s), list(map(sample.columns.index, names[s]))))
    return [(names[s], sets[s]) for s in order]


def _head(sample: Sample) -> str:
    return f"{sample.qid}, {sample.by} and {sample.secret} are known"
