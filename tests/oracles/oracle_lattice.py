"""The slow oracle of lattices and global recoding: every node is looked at, in plain Python.

A ladder of an attribute is a list of steps, each a mapping from values to groups; the first maps
every value to itself.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from oracle_anonymise import Limits, allowed, places

Ladder = Sequence[Mapping[Any, Any]]
Node = tuple[int, ...]


@dataclass(frozen=True)
class Release:
    """The classes of a node, as numbers of records: those that keep the limits, and others."""

    classes: list[list[int]]
    refused: list[list[int]]

    @property
    def suppressed(self) -> int:
        return sum(map(len, self.refused))


def nodes(ladders: Sequence[Ladder]) -> Iterator[Node]:
    yield from product(*(range(len(ladder)) for ladder in ladders))


def release(
    node: Node,
    ladders: Sequence[Ladder],
    columns: Sequence[Sequence[Any]],
    secrets: Sequence[Sequence[Any]],
    limits: Limits,
    *,
    whose: Sequence[Any] | None = None,
) -> Release:
    """Return the classes of a node that keep the limits, and the others."""
    groups: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for n, row in enumerate(zip(*columns, strict=True)):
        key = (ladder[s][v] for ladder, s, v in zip(ladders, node, row, strict=True))
        groups[tuple(key)].append(n)
    fits = allowed(secrets, limits, whose)
    return Release(
        [group for group in groups.values() if fits(group)],
        [group for group in groups.values() if not fits(group)],
    )


def shares_of_groups(
    step: Mapping[Any, Any], cells: Sequence[Any], *, by_distance: bool
) -> dict[Any, Fraction]:
    """The share of all values, or of the length from the first to the last, of each group."""
    scale = places(cells)
    groups: dict[Any, set[Any]] = defaultdict(set)
    for v in scale:
        groups[step[v]].add(v)
    if not by_distance:
        return {g: Fraction(len(vs), len(scale)) * (len(vs) > 1) for g, vs in groups.items()}
    whole = max(scale.values()) - min(scale.values()) or 1
    ends = {g: sorted(scale[v] for v in vs) for g, vs in groups.items()}
    return {g: Fraction(spots[-1] - spots[0], whole) for g, spots in ends.items()}


def penalty(
    step: Mapping[Any, Any], cells: Sequence[Any], *, by_distance: bool, gone: Container[int] = ()
) -> Fraction:
    """The mean certainty penalty of a step over all records; those that are ``gone`` lose all."""
    shares = shares_of_groups(step, cells, by_distance=by_distance)
    lost = [Fraction(1) if n in gone else shares[step[v]] for n, v in enumerate(cells)]
    return sum(lost, Fraction(0)) / len(cells)


def entropy(step: Mapping[Any, Any], cells: Sequence[Any], gone: Container[int] = ()) -> float:
    """The mean over all records of log(records of the group / records of the value), in nats.

    Those that are ``gone`` are in one group of all.
    """
    values, groups = Counter(cells), Counter(step[v] for v in cells)
    sizes = [len(cells) if n in gone else groups[step[v]] for n, v in enumerate(cells)]
    return math.fsum(math.log(n / values[v]) for n, v in zip(sizes, cells, strict=True)) / len(
        cells
    )


def step_losses(
    name: str, ladders: Sequence[Ladder], columns: Sequence[Sequence[Any]], *, by_distance: bool
) -> list[list[Fraction]]:
    """The loss of each step of each attribute, suppression not counted."""
    return [
        [
            Fraction(entropy(step, cells))
            if name == "entropy"
            else penalty(step, cells, by_distance=by_distance)
            for step in ladder
        ]
        for ladder, cells in zip(ladders, columns, strict=True)
    ]


def loss(
    name: str,
    node: Node,
    made: Release,
    ladders: Sequence[Ladder],
    columns: Sequence[Sequence[Any]],
    *,
    by_distance: bool,
) -> Fraction:
    """The loss of a node by its definition, over all records."""
    records = len(columns[0])
    if name == "classes":
        return Fraction(records, len(made.classes))
    if name == "discernibility":
        squares = sum(len(group) ** 2 for group in made.classes)
        return Fraction(squares + made.suppressed * records, records)
    gone = {n for group in made.refused for n in group} if name != "generalisation" else set()
    steps = [ladder[s] for ladder, s in zip(ladders, node, strict=True)]
    lost = [
        Fraction(entropy(step, cells, gone))
        if name == "entropy"
        else penalty(step, cells, by_distance=by_distance, gone=gone)
        for step, cells in zip(steps, columns, strict=True)
    ]
    return sum(lost, Fraction(0)) / len(node)
