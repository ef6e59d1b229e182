"""Hierarchies as whole numbers, along which Mondrian cuts.

The place of a value is its path from the root, a digit per level, and the places of a node's
values are one range. A node with several children is cut into all of them at once: a child is what
a shift of a place by ``cut`` bits leaves. If a path is shorter than others, its last digits are 0.
A missing value that has no line is a child of the root.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from qifsql.data.hierarchy import TOP, Hierarchy
from qifsql.errors import DatasetError

BITS = 30  # of a place
WHOLE = 2**BITS  # the width of the root

Path = tuple[str | None, ...]


class Branch(NamedTuple):
    """A node with several children: its places, its width, and the shift that leaves its children.

    The width is the share of the values of the hierarchy that are below the node, of 2^30.
    """

    first_place: int
    last_place: int
    width: int
    cut: int
    label: str


@dataclass(frozen=True)
class Tree:
    """The place of each value (None: missing), as a text, and the nodes with several children."""

    places: Mapping[str | None, int]
    branches: tuple[Branch, ...]

    @classmethod
    def of(cls, hierarchy: Hierarchy) -> "Tree":
        """Return the tree of a hierarchy; DatasetError if its paths need more than ``BITS`` bits.

        A place is the path to a value: at each depth, the number of the child that it goes through,
        in as many bits as the nodes there need. Also refuses a value that is a node above others.
        """
        if any(len(hierarchy.nodes[leaf]) > 1 for leaf in hierarchy.leaves):
            raise DatasetError(
                f"hierarchy {hierarchy.name} has a value that is also a node above other values, "
                "so that its cell could be either; give the node another name"
            )
        root, paths = _paths(hierarchy)
        children = _numbered_children(paths.values())
        shifts = _shifts(children, hierarchy.name)

        def place(path: Path) -> int:
            """Return the first place below a node: the numbers of its path, then zeros."""
            return sum(
                children[path[:depth]][label] << shifts[depth + 1]
                for depth, label in enumerate(path)
            )

        below = dict.fromkeys(children, 0)  # values below each node, without the missing one
        for value, path in paths.items():
            for depth in range(len(path) if value is not None else 0):
                below[path[:depth]] += 1
        leaves = max(1, below[()])
        branches = []
        for path, labels in children.items():
            if len(labels) > 1 or not path:  # the root, too: one row, at least
                first, depth = place(path), len(path)
                branch = Branch(
                    first_place=first,
                    last_place=first + (1 << shifts[depth]) - 1,
                    width=below[path] * WHOLE // leaves,
                    cut=shifts[depth + 1],
                    label=str(path[-1] if path else root),
                )
                branches.append(branch)
        return cls({value: place(path) for value, path in paths.items()}, tuple(branches))


def _shifts(children: Mapping[Path, Mapping[str | None, int]], name: str) -> list[int]:
    """Return how many bits of a place are below a node of each depth, from the root (0) on.

    ``children`` are those of each node, whose number takes as many bits as the node of this depth
    with the most children needs. DatasetError, about hierarchy ``name``, if there are too many.
    """
    widest = [
        max(len(labels) for path, labels in children.items() if len(path) == depth)
        for depth in range(max(map(len, children)) + 1)
    ]
    bits = [(count - 1).bit_length() for count in widest]
    if sum(bits) > BITS:
        raise DatasetError(
            f"hierarchy {name} has too many levels with too many nodes: its values need "
            f"{sum(bits)} bits, and have {BITS}; leave a level out"
        )
    return [sum(bits[depth:]) for depth in range(len(bits) + 1)]


def _numbered_children(paths: Iterable[Path]) -> dict[Path, dict[str | None, int]]:
    """Return the children of each node that has some, numbered from 0; a node is its path."""
    children: dict[Path, dict[str | None, int]] = {}
    for path in paths:
        for depth, label in enumerate(path):
            numbers = children.setdefault(path[:depth], {})
            numbers.setdefault(label, len(numbers))
    return children


def _paths(hierarchy: Hierarchy) -> tuple[str, dict[str | None, Path]]:
    """Return the root, and the path to each value: the labels from the node below the root on.

    Levels that repeat a node are one. The root is ``*`` if lines end in different nodes.
    """
    lines = [tuple(dict.fromkeys(reversed(fields))) for fields in hierarchy.lines]
    is_rooted = len({line[0] for line in lines}) == 1
    paths: dict[str | None, Path] = {None: (None,)}
    for fields, line in zip(hierarchy.lines, lines, strict=True):
        paths[fields[0] or None] = line[1:] if is_rooted else line
    return lines[0][0] if is_rooted else TOP, paths
