"""The slow oracle of ``dit``, without SQL, written from the paper and the documentation.

Every release without one record is made anew; naive Bayes is the formula of Bayes in fractions.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from oracle_anonymise import Limits, allowed, mondrian, ordered, places, value

from qifsql.reference.microdata import Row
from qifsql.reference.naive_bayes import Belief, Cell, Record, bayes


def cells(values: Sequence[Any], kind: str) -> Cell:
    """The raw values that the cell of a class holds: those between its ends, or its own."""
    there = ordered(values)
    if kind == "set":
        return lambda v: v in there
    known = [v for v in there if v is not None]
    return lambda v: v in there if v is None or not known else known[0] <= v <= known[-1]


def released(
    rows: Sequence[Row], qids: Mapping[str, str], secret: str, groups: Sequence[Sequence[int]]
) -> list[Record]:
    """The records of a release of these classes."""
    found: list[Record] = []
    for group in groups:
        shown = [cells([rows[i][q] for i in group], kind) for q, kind in qids.items()]
        found += [(shown, value(rows[i][secret])) for i in group]
    return found


def guess(p: Belief) -> Any:
    """The most probable value, of several the first."""
    return max(p, key=lambda s: p[s])


def releases(
    rows: Sequence[Row], qids: Mapping[str, str], secret: str, limits: Limits
) -> tuple[list[Record], list[list[Record]]] | None:
    """The release and those without each record; None where one of them cannot be."""

    def made(some: Sequence[Row]) -> list[Record] | None:
        fits = allowed([[row[secret] for row in some]], limits)
        if not some or not fits(range(len(some))):
            return None
        spots = []
        for q in qids:
            scale = places([row[q] for row in some])
            spots.append([scale[value(row[q])] for row in some])
        groups = mondrian(range(len(some)), spots, fits)
        return released(some, qids, secret, groups)

    whole = made(rows)
    without = [made([row for j, row in enumerate(rows) if j != i]) for i, _ in enumerate(rows)]
    if whole is None or any(release is None for release in without):
        return None
    return whole, [release for release in without if release is not None]


def believed(
    rows: Sequence[Row], qids: Mapping[str, str], secret: str, limits: Limits
) -> list[tuple[Belief, Belief]] | None:
    """Return what is believed of each person with and without them."""
    made = releases(rows, qids, secret, limits)
    if made is None:
        return None
    domain = ordered([row[secret] for row in rows])
    found = []
    for row, without in zip(rows, made[1], strict=True):
        own = [value(row[q]) for q in qids]
        found.append((bayes(made[0], own, domain), bayes(without, own, domain)))
    return found
