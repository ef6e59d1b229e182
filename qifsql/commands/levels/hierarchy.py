"""Hierarchies of a secret: CSV without header, separated by ``;``, as ARX writes it.

The first field of a line is a value, the next ones ever coarser levels of it, the last usually
``*``. An empty first field is the missing value. A mapping (value and group) is a hierarchy, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

from qifsql.data import hierarchy
from qifsql.errors import InputError, several


@dataclass(frozen=True)
class Hierarchy:
    """The lines of a hierarchy: each is a value and the nodes above it, from below.

    ``None`` is the missing value. All lines are equally long and no two are of one value.
    """

    name: str
    lines: tuple[tuple[str | None, ...], ...]

    @classmethod
    def read(cls, path: str | Path) -> "Hierarchy":
        """The hierarchy in a file; InputError where it is none."""
        tree = hierarchy.Hierarchy.read(path)
        return cls.of(Path(path).name, tree.lines)

    @classmethod
    def of(cls, name: str, rows: Sequence[Sequence[str | None]]) -> "Hierarchy":
        """The hierarchy of these lines; InputError where they make no tree."""
        what = f"hierarchy {name}"
        if not rows:
            raise InputError(f"{what} is empty; a line is a value and its ever coarser levels")
        if len(rows[0]) < 2:
            raise InputError(
                f"{what} has no levels: a line is a value and its ever coarser levels, "
                "separated by semicolons"
            )
        for i, row in enumerate(rows, 1):
            if len(row) != len(rows[0]):
                raise InputError(
                    f"{what}, line {i}: {several(len(row), 'field')} where line 1 has "
                    f"{len(rows[0])}; all leaves must be equally deep: repeat a node to fill a line"
                )
        lines = tuple((row[0] or None, *row[1:]) for row in rows)
        if len({line[0] for line in lines}) < len(lines):
            raise InputError(f"{what} names a value in more than one line; name each once")
        _check_tree(what, lines)
        return cls(name, lines)

    @property
    def rooted(self) -> bool:
        """Whether one node is above all values."""
        return len({line[-1] for line in self.lines}) == 1

    @property
    def height(self) -> int:
        """How many levels are above the values, the root included."""
        return len(self.lines[0]) - self.rooted

    def rungs(self) -> list[tuple[str | None, int, int]]:
        """Each value, each level below the root (0 is the values) and the number of its node."""
        rungs: list[tuple[str | None, int, int]] = []
        for level in range(self.height):
            numbers: dict[str | None, int] = {}
            rungs += [
                (line[0], level, numbers.setdefault(line[level], len(numbers)))
                for line in self.lines
            ]
        return rungs


def _check_tree(what: str, lines: Sequence[Sequence[str | None]]) -> None:
    """Refuse nodes with two parents, and nodes that are above themselves."""
    for level in range(1, len(lines[0]) - 1):
        above: dict[str | None, str | None] = {}
        for i, line in enumerate(lines, 1):
            if above.setdefault(line[level], line[level + 1]) != line[level + 1]:
                raise InputError(
                    f"{what}, line {i}: a node of level {level} has another node above it than in "
                    "a line before; a node has one parent"
                )
    graph: dict[str | None, set[str | None]] = {}
    for line in lines:
        for child, parent in pairwise(line):
            if child != parent:
                graph.setdefault(parent, set()).add(child)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as e:
        raise InputError(
            f"{what} goes in a circle: a node is above itself by way of others; rename one of them"
        ) from e
