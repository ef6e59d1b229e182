"""The slow oracle of lattices and global recoding: every node is looked at, in plain Python.

A ladder of an attribute is a list of steps, each a mapping from values to groups; the first maps
every value to itself.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
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
) -> Release:
    """Return the classes of a node that keep the limits, and the others."""
    groups: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for n, row in enumerate(zip(*columns, strict=True)):
        key = (ladder[s][v] for ladder, s, v in zip(ladders, node, row, strict=True))
        groups[tuple(key)].append(n)
    fits = allowed(secrets, limits)
    return Release(
        [group for group in groups.values() if fits(group)],
        [group for group in groups.values() if not fits(group)],
    )


def penalty(step: Mapping[Any, Any], cells: Sequence[Any], *, by_distance: bool) -> Fraction:
    """The mean certainty penalty of a step over all records: suppression is not counted."""
    scale = places(cells)
    whole = max(scale.values()) - min(scale.values())
    groups: dict[Any, set[Any]] = defaultdict(set)
    for v in scale:
        groups[step[v]].add(v)
    if not by_distance:
        widths = {g: len(vs) if len(vs) > 1 else 0 for g, vs in groups.items()}
        whole = len(scale)
    else:
        widths = {
            g: max(scale[v] for v in vs) - min(scale[v] for v in vs) for g, vs in groups.items()
        }
    return Fraction(sum(widths[step[v]] for v in cells), len(cells) * (whole or 1))


def entropy(step: Mapping[Any, Any], cells: Sequence[Any]) -> float:
    """The mean over all records of log(records of the group / records of the value), in nats."""
    values, groups = Counter(cells), Counter(step[v] for v in cells)
    return math.fsum(math.log(groups[step[v]] / values[v]) for v in cells) / len(cells)


def losses(
    name: str, node: Node, made: Release, steps: Sequence[Sequence[Fraction]], records: int
) -> Fraction:
    """The loss of a node by its definition; ``steps`` has that of each step of each attribute."""
    if name in ("penalty", "entropy"):
        total = sum((ladder[s] for ladder, s in zip(steps, node, strict=True)), Fraction(0))
        return total / len(node)
    if name == "classes":
        return Fraction(records, len(made.classes))
    squares = sum(len(group) ** 2 for group in made.classes)
    return Fraction(squares + made.suppressed * records, records)
