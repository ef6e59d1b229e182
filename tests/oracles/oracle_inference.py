"""The slow oracle of ``dit``, without SQL, written from the paper and the documentation.

Every release without one record is made anew; naive Bayes is the formula of Bayes in fractions.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from oracle_anonymise import Limits, Spots, allowed, along, mondrian, ordered, places, value

from qifsql.reference.microdata import Row
from qifsql.reference.naive_bayes import Belief, Cell, Record, bayes

Trees = Mapping[str, Sequence[Sequence[str]]]


def cells(values: Sequence[Any], kind: str) -> Cell:
    """The raw values that the cell of a class holds: those between its ends, or its own."""
    there = ordered(values)
    if kind == "set":
        return lambda v: v in there
    known = [v for v in there if v is not None]
    return lambda v: v in there if v is None or not known else known[0] <= v <= known[-1]


def node(values: Sequence[Any], lines: Sequence[Sequence[str]]) -> Cell:
    """The values below the lowest node that is above these; one value is its own."""
    whole = along(values, lines)
    lowest = whole.lowest(range(len(values)))

    def holds(v: Any) -> bool:
        return along([v], lines).paths[0][: len(lowest)] == lowest

    return holds


def released(
    rows: Sequence[Row],
    qids: Mapping[str, str],
    secret: str,
    groups: Sequence[Sequence[int]],
    trees: Trees,
) -> list[Record]:
    """The records of a release of these classes."""
    found: list[Record] = []
    for group in groups:
        values = {q: [rows[i][q] for i in group] for q in qids}
        shown = [
            node(values[q], trees[q]) if q in trees else cells(values[q], kind)
            for q, kind in qids.items()
        ]
        found += [(shown, value(rows[i][secret])) for i in group]
    return found


def guess(p: Belief) -> Any:
    """The most probable value, of several the first."""
    return max(p, key=lambda s: p[s])


def releases(
    rows: Sequence[Row], qids: Mapping[str, str], secret: str, limits: Limits, trees: Trees
) -> tuple[list[Record], list[list[Record]]] | None:
    """The release and those without each record; None where one of them cannot be."""

    def made(some: Sequence[Row]) -> list[Record] | None:
        fits = allowed([[row[secret] for row in some]], limits)
        if not some or not fits(range(len(some))):
            return None
        spots: list[Spots] = []
        for q in qids:
            column = [row[q] for row in some]
            scale = places(column)
            spots.append(
                along(column, trees[q]) if q in trees else [scale[value(v)] for v in column]
            )
        groups = mondrian(range(len(some)), spots, fits)
        return released(some, qids, secret, groups, trees)

    whole = made(rows)
    without = [made([row for j, row in enumerate(rows) if j != i]) for i, _ in enumerate(rows)]
    if whole is None or any(release is None for release in without):
        return None
    return whole, [release for release in without if release is not None]


def believed(
    rows: Sequence[Row],
    qids: Mapping[str, str],
    secret: str,
    limits: Limits,
    trees: Trees | None = None,
) -> list[tuple[Belief, Belief]] | None:
    """Return what is believed of each person with and without them.

    ``trees`` has the lines of the hierarchies along which quasi-identifiers are cut.
    """
    made = releases(rows, qids, secret, limits, trees or {})
    if made is None:
        return None
    domain = ordered([row[secret] for row in rows])
    found = []
    for row, without in zip(rows, made[1], strict=True):
        own = [value(row[q]) for q in qids]
        found.append((bayes(made[0], own, domain), bayes(without, own, domain)))
    return found
