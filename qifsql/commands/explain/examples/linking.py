"""Numbers of the worked examples of linking, of estimates, and of special uniques."""

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from qifsql.commands.explain.examples.sample import Sample
from qifsql.reference import sample_estimates as estimates
from qifsql.reference import sample_uniques as suda

HALF = Fraction(1, 2)  # the share of the population that is in the table
GAP = Fraction(3, 10)  # the chance that the quasi-identifier is not known of a person
PRESENCE = Fraction(9, 10)  # the share of the people of one release who are in the next


def trails(sample: Sample) -> dict[str, list[str]]:
    """Return the trail of each block, which stands for a person: points ``GROUP and VALUE``."""
    points: dict[str, set[str]] = {}
    for (block, group), values in sample.cells.items():
        points.setdefault(f"{sample.qid} {block}", set()).update(f"{group} and {v}" for v in values)
    return {person: sorted(trail) for person, trail in points.items()}


def singled_out(sample: Sample) -> dict[str, tuple[int, Fraction]]:
    """Return the points of each person that nobody else has, and their share."""
    points = trails(sample)
    owners = Counter(point for trail in points.values() for point in trail)
    alone = {person: sum(owners[p] == 1 for p in trail) for person, trail in points.items()}
    return {person: (n, Fraction(n, len(points[person]))) for person, n in alone.items()}


def population_uniques(sample: Sample) -> Fraction:
    """Return Zayatz's estimate for a population of twice as many people."""
    sizes = Counter(sample.sizes.values())
    return sizes[1] / HALF * estimates.zayatz(sizes, 2 * sample.people)


def individual_risks(sample: Sample) -> list[tuple[int, float]]:
    """Return the people in blocks of each size, and their risk in a population twice as large."""
    blocks = Counter(sorted(sample.sizes.values()))
    return [(n * size, estimates.risk(size, HALF)) for size, n in blocks.items()]


def special_uniques(sample: Sample) -> list[tuple[str, int]]:
    """Return the minimal sets of columns that single out records, and how many; smallest first."""
    counts = Counter(columns for sets in minimal_uniques(sample) for columns in sets)
    place = sample.columns.index
    ordered = {tuple(sorted(columns, key=place)): n for columns, n in counts.items()}
    sets = sorted(ordered, key=lambda columns: (len(columns), [place(name) for name in columns]))
    return [(" and ".join(columns), ordered[columns]) for columns in sets]


def minimal_uniques(sample: Sample) -> list[set[suda.Unique]]:
    """Return the minimal sample uniques of each record, of at most three columns."""
    return suda.minimal_uniques(sample.rows, sample.columns, 3)


def scores_by_size(sample: Sample) -> list[tuple[int, Fraction]]:
    """Return, by size from 1, the number of minimal sample uniques, and the score of one such."""
    sizes = Counter(len(columns) for sets in minimal_uniques(sample) for columns in sets)
    return [(n, _score({frozenset(sample.columns[:m])})) for m, n in sorted(sizes.items())]


def suda_scores(sample: Sample) -> list[Fraction]:
    """Return the SUDA score of each record."""
    return [_score(uniques) for uniques in minimal_uniques(sample)]


def _score(uniques: set[suda.Unique]) -> Fraction:
    return suda.score(uniques, n=3, max_size=3)  # of three columns


class Meeting(NamedTuple):
    """The people of a block and a group, and the values that each release and both leave them."""

    block: str
    group: str
    people: int
    first: list[str]
    second: list[str]
    both: list[str]


def meetings(sample: Sample) -> list[Meeting]:
    """Return the secrets that two releases leave possible, one by block and one by group."""
    rows = []
    for (block, group), values in sample.cells.items():
        first = sorted(sample.blocks[f"{sample.qid} {block}"])
        second = sorted(sample.groups[f"{sample.by} {group}"].values)
        both = [value for value in first if value in second]
        rows.append(Meeting(block, group, sum(values.values()), first, second, both))
    return rows


def values_left(sample: Sample) -> tuple[list[int], list[int]]:
    """Return, by meeting, people times secrets left: by the better release alone, and by both."""
    met = meetings(sample)
    better = [m.people * min(len(m.first), len(m.second)) for m in met]
    return better, [m.people * len(m.both) for m in met]


def breached(sample: Sample) -> int:
    """Return the people to whom both releases leave one value."""
    return sum(part.people for part in meetings(sample) if len(part.both) == 1)


def divergence(sizes: Iterable[int], people: int) -> float:
    """Return the divergence of blocks from their mean size, in bits."""
    blocks = list(sizes)
    mean = Fraction(sum(blocks), len(blocks))
    return math.fsum(size / people * math.log2(size / mean) for size in blocks)
