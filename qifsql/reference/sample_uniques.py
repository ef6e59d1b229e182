"""Minimal sample uniques and their scores (SUDA), subset by subset (M140 to M145, M190).

Everything is a set or a fraction, but for DIS-SUDA, which has a power with a broken exponent.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import chain, combinations
from math import factorial

from qifsql.reference.microdata import Names, Rows, key, sizes
from qifsql.reference.people_with_records import records_of
from qifsql.reference.quasi_identifier_sets import minimal

Unique = frozenset[str]


def minimal_uniques(
    rows: Rows,
    qids: Names,
    max_size: int,
    *,
    omit_missing: bool = False,
    suppressed: str | None = None,
) -> list[set[Unique]]:
    """Return for every record the sets that single it out, of which no smaller part does (M140).

    ``omit_missing``: sets in which a value of the record is missing are left out. A record all of
    whose values in a set are ``suppressed`` may be anybody's there: it singles out nobody.
    """
    people = [[row] for row in rows]
    return _minimal_sets(people, qids, max_size, omit_missing=omit_missing, suppressed=suppressed)


def minimal_uniques_of_people(
    rows: Rows, person: str, qids: Names, max_size: int, *, suppressed: str | None = None
) -> list[set[Unique]]:
    """Return for every person the sets by which one of her records singles her out (M190).

    Nobody else has a record that equals it there, and no smaller part of the set does.
    ``suppressed`` as in ``minimal_uniques``.
    """
    return _minimal_sets(records_of(rows, person), qids, max_size, suppressed=suppressed)


def _minimal_sets(
    people: Sequence[Rows],
    qids: Names,
    max_size: int,
    *,
    omit_missing: bool = False,
    suppressed: str | None = None,
) -> list[set[Unique]]:
    """Return the minimal sets of each person, up to ``max_size``; ``people`` has their records."""
    unique: list[set[Unique]] = [set() for _ in people]
    sizes_of_sets = range(1, len(qids) + 1)
    for subset in chain.from_iterable(combinations(qids, size) for size in sizes_of_sets):
        # Of each person the values of her records; of each of these, how many people have it.
        tuples = [{key(row, subset) for row in records} for records in people]
        owners = Counter(block for blocks in tuples for block in blocks)
        for place, blocks in enumerate(tuples):
            alone = [block for block in blocks if owners[block] == 1]
            if suppressed is not None and len(people) > 1:  # such a record may be anybody's
                alone = [block for block in alone if {*block} != {suppressed}]
            if omit_missing:
                alone = [block for block in alone if None not in block]
            if alone:
                unique[place].add(frozenset(subset))
    return [{s for s in minimal(sets) if len(s) <= max_size} for sets in unique]


def score(uniques: set[Unique], n: int, max_size: int) -> Fraction:
    """Compute the SUDA score (M142): (n - m)! for each of m attributes, over paths not walked."""
    rest = factorial(n - max_size - 1) if max_size < n - 1 else 1
    return sum((Fraction(factorial(n - len(s)), rest) for s in uniques), Fraction(0))


def contributions(
    uniques: Sequence[set[Unique]], qids: Names, max_size: int
) -> dict[str, Fraction | None]:
    """Return the share of all scores in minimal uniques that hold each attribute (M143).

    ``uniques`` are those of each record; the shares are None if no record has any.
    """
    n = len(qids)
    total = sum((score(sets, n, max_size) for sets in uniques), Fraction(0))
    shares: dict[str, Fraction | None] = {}
    for q in qids:
        held = [{s for s in sets if q in s} for sets in uniques]
        part = sum((score(sets, n, max_size) for sets in held), Fraction(0))
        shares[q] = part / total if total else None
    return shares


def alone_and_paired(rows: Rows, qids: Names, person: str | None = None) -> tuple[int, int]:
    """Return the records alone in their block, and those in blocks of two.

    With a ``person`` they are people, by the fewest people of a block of one of her records.
    """
    if person is None:
        blocks = Counter(sizes(rows, qids).values())
        return blocks[1], 2 * blocks[2]
    people = [{key(row, qids) for row in records} for records in records_of(rows, person)]
    owners = Counter(block for blocks in people for block in blocks)
    smallest = Counter(min(owners[block] for block in blocks) for blocks in people)
    return smallest[1], smallest[2]


def intrusion(rows: Rows, qids: Names, f: Fraction, person: str | None = None) -> Fraction | None:
    """Compute DIS (M144): U f / (U f + P (1 - f)); P are records in blocks of two."""
    u, p = alone_and_paired(rows, qids, person)
    below = u * f + p * (1 - f)
    return u * f / below if below else None


def powers(scores: Sequence[Fraction], n: int) -> list[float]:
    """Return score^Q of each record with a score, Q = 1 + (8 - n)/20 for n attributes."""
    return [float(s) ** (1 + (8 - n) / 20) for s in scores if s]


def sum_of_inverses(powers: Sequence[float]) -> float:
    """Return the sum of score^-Q."""
    return sum(1 / power for power in powers)


def dis_suda(
    scores: Sequence[Fraction], rows: Rows, qids: Names, f: Fraction, person: str | None = None
) -> list[float]:
    """Compute DIS-SUDA of each record, or of each person (M145), 0 without a score.

    It is 1 / (1 + (U / DIS - U) / (score^Q sum score^-Q)); ``f`` is the sampling fraction.
    """
    dis = intrusion(rows, qids, f, person)
    if not dis:
        return [0.0] * len(scores)
    u, _ = alone_and_paired(rows, qids, person)
    total = sum_of_inverses(powers(scores, len(qids)))
    gap = float(u / dis - u)
    return [1 / (1 + gap / (powers([s], len(qids))[0] * total)) if s else 0.0 for s in scores]
