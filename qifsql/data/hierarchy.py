"""Hierarchies of values: the leaves below each node. The format is that of ARX.

A file has one line per value, without header, with fields separated by ``;`` or, where no line has
one, by ``,``: the value, then coarser and coarser nodes, the last usually ``*``. The label
identifies a node, so a label means the same values everywhere. A mapping (value and group) is a
hierarchy, too. A line with fewer fields than others is filled up below the root.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

from qifsql.data.expressions import FLOATING
from qifsql.data.files import check_file, path_text
from qifsql.data.types import NUMBERS, family, scale_of
from qifsql.errors import DatasetError, plural

SEPARATORS = (";", ",")
LONG = 15  # digits of a number that floating numbers keep
TOP = "*"  # everything, in every hierarchy


@dataclass(frozen=True)
class Hierarchy:
    """The leaves in their order, and the leaves below each node; a leaf is a node, too.

    ``lines`` are the fields of each line; ``short`` is the number of lines that were filled up.
    """

    path: str
    leaves: tuple[str, ...]
    nodes: Mapping[str, tuple[str, ...]] = field(repr=False, hash=False)
    lines: tuple[tuple[str, ...], ...] = field(repr=False)
    short: int = 0

    @classmethod
    def read(cls, path: str | Path) -> "Hierarchy":
        """Return the hierarchy in a file; raise DatasetError if it is unreadable or invalid."""
        return cls._from_lines(str(path), _lines(Path(path_text(path))))

    @classmethod
    def of(cls, name: str, rows: Sequence[Sequence[str]]) -> "Hierarchy":
        """Return the hierarchy of these lines; raise DatasetError if they are invalid."""
        return cls._from_lines(name, [(number, list(row)) for number, row in enumerate(rows, 1)])

    @classmethod
    def _from_lines(cls, path: str, lines: "Lines") -> "Hierarchy":
        """Return the hierarchy of numbered lines.

        Raises DatasetError, with line numbers, if there are no lines, if none has a node, if a
        value or node has two parents, or if a node is an ancestor of itself.
        """
        lines, short = _filled(path, lines)
        parents = _parents(path, lines)
        _check_cycles(path, parents)
        below: dict[str, dict[str, None]] = {}  # the leaves below each node, in order
        leaves = dict.fromkeys(fields[0] for _, fields in lines)
        for leaf in leaves:
            node = leaf
            below.setdefault(node, {})[leaf] = None
            while node in parents:  # up to the root, which has none
                node, _line = parents[node]
                below.setdefault(node, {})[leaf] = None
        nodes = {node: tuple(descendants) for node, descendants in below.items()}
        return cls(path, tuple(leaves), nodes, tuple(tuple(f) for _, f in lines), short)

    def of_type(self, type_: str, decimal: str | None = None) -> "Hierarchy":
        """Return the hierarchy with its numbers written as values of a type are: 34 as 34.0.

        ``decimal`` is the decimal mark of the file that has the values; with a comma, 2,5 is 2.5.
        """
        if family(type_) not in NUMBERS:
            return self
        renamed: dict[str, str] = {}
        for leaf in self.leaves:
            name = _as_engine_writes(leaf.replace(",", ".") if decimal == "," else leaf, type_)
            if name != leaf and name not in self.nodes:
                renamed[leaf] = name
        if not renamed:
            return self
        lines = [(renamed.get(leaf, leaf), *up) for leaf, *up in self.lines]
        return replace(self.of(self.path, lines), short=self.short)

    @property
    def remarks(self) -> list[str]:
        """Return a note if lines were filled up."""
        if not self.short:
            return []
        have = "has" if self.short == 1 else "have"
        return [
            f"hierarchy {self.name}: {plural(self.short, 'line')} {have} fewer levels than others, "
            "and the last node of a short line stands on the levels that it lacks"
        ]

    @property
    def name(self) -> str:
        """Return the name of the file."""
        return Path(self.path).name

    @property
    def levels(self) -> int:
        """Return the number of fields in a line."""
        return len(self.lines[0])

    @property
    def height(self) -> int:
        """Return the number of levels below the root, which one node above all values is."""
        has_root = len({line[-1] for line in self.lines}) == 1
        return self.levels - has_root

    def check_levels(self) -> None:
        """Refuse two lines of one value, and nodes with different nodes on the level above them."""
        if len(self.leaves) < len(self.lines):
            raise DatasetError(
                f"hierarchy {self.name} names a value in more than one line; name each once"
            )
        for level in range(1, self.levels - 1):
            parents: dict[str, str] = {}
            for i, line in enumerate(self.lines, 1):
                if parents.setdefault(line[level], line[level + 1]) != line[level + 1]:
                    raise DatasetError(
                        f"hierarchy {self.name}, line {i}: a node of level {level} has another "
                        "node above it than in a line before; a node has one parent"
                    )

    def nodes_of_values(self) -> list[tuple[str | None, int, int]]:
        """Return (value, level, number of the node above it there) for every value and level.

        The values are level 0, and the root is left out. Nodes are numbered from 0 on each level.
        The value None is the missing value, an empty first field.
        """
        nodes_of_values: list[tuple[str | None, int, int]] = []
        for level in range(self.height):
            numbers: dict[str, int] = {}  # of the nodes of the level
            for line in self.lines:
                value, number = line[0] or None, numbers.setdefault(line[level], len(numbers))
                nodes_of_values.append((value, level, number))
        return nodes_of_values


Lines = list[tuple[int, list[str]]]  # the number and the fields of each row that is not empty


def _as_engine_writes(text: str, type_: str) -> str:
    """Return a number as the engine writes it; other texts, and numbers it would round, stay."""
    if len(text) > LONG + 5 or not re.fullmatch(r"[+-]?\d+(\.\d+)?", text, re.ASCII):
        return text
    number = Decimal(text)
    if family(type_) in FLOATING:
        return str(float(number)) if len(number.as_tuple().digits) <= LONG else text
    rounded = round(number, scale_of(type_))
    return str(rounded) if rounded == number else text


def _lines(path: Path) -> Lines:
    """Return the rows of a file, separated by the first of ``SEPARATORS`` that separates any."""
    if path.exists():  # reading says that it is missing
        check_file(path)
    lines: Lines = []
    for separator in SEPARATORS:
        lines = _separated_lines(path, separator)
        if any(len(fields) > 1 for _, fields in lines):
            break
    return lines


def _separated_lines(path: Path, separator: str) -> Lines:
    """Return the rows of a file with this separator."""
    lines: Lines = []
    before = 0  # the last line of the row before; a row may have several lines
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=separator, strict=True)
            for fields in reader:
                if fields:
                    lines.append((before + 1, fields))
                before = reader.line_num
    except OSError as e:
        raise DatasetError(f"hierarchy {path} cannot be read: {e.strerror}; check the path") from e
    except UnicodeDecodeError as e:
        raise DatasetError(f"hierarchy {path} is not UTF-8; save it as that") from e
    except csv.Error as e:
        raise DatasetError(
            f"hierarchy {path} is not CSV at line {before + 1}: a quote is not closed or stands in "
            "a field; double it"
        ) from e
    return lines


def _filled(path: str, lines: Lines) -> tuple[Lines, int]:
    """Return the lines with as many fields as the longest, and the number of those filled up.

    Raises DatasetError if no line has a node.
    """
    if not lines:
        raise DatasetError(f"hierarchy {path} is empty; give a line for each value")
    rows = [_trimmed(fields) for _, fields in lines]
    width = max(map(len, rows))
    if width == 1:
        raise DatasetError(
            f"hierarchy {path} has one field per line; separate value and nodes with "
            f"{' or '.join(SEPARATORS)}"
        )
    full = [row for row in rows if len(row) == width]
    parents = {node: parent for row in full for node, parent in pairwise(row) if node != parent}
    has_root = all(row[-1] == TOP for row in full)
    numbered = zip(lines, rows, strict=True)
    filled = [
        (number, row if len(row) == width else _lengthened(row, width, parents, has_root=has_root))
        for (number, _), row in numbered
    ]
    return filled, len(rows) - len(full)


def _trimmed(fields: list[str]) -> list[str]:
    """Return the fields of a line without empty ones at its end, as spreadsheets write them."""
    last = max((i for i, text in enumerate(fields) if text), default=0)
    row = fields[: last + 1]
    return [*row[:-1], TOP] if row[-1].strip() == TOP else row  # blanks end some lines


def _lengthened(
    row: list[str], width: int, parents: Mapping[str, str], *, has_root: bool
) -> list[str]:
    """Return a short line with ``width`` fields.

    It goes on above its last node as a full line does (``parents``), or else repeats the node; it
    ends with ``*`` if all full lines do (``has_root``).
    """
    # A short line may end with the root: nodes are added below it.
    fields = row[:-1] if len(row) > 1 and row[-1] == TOP else [*row]
    while len(fields) < width - has_root:
        fields.append(parents.get(fields[-1], fields[-1]))
    return [*fields, *[TOP] * (width - len(fields))]


def _parents(path: str, lines: Lines) -> dict[str, tuple[str, int]]:
    """Return the parent of each node, and the first line that states it.

    A label may be on several levels in a row. The node ``*`` has no parent: it is everything.
    """
    parents: dict[str, tuple[str, int]] = {}
    for number, fields in lines:
        for node, parent in pairwise(fields):
            if node in (parent, TOP):
                continue
            first_parent, first_line = parents.setdefault(node, (parent, number))
            if first_parent != parent:
                raise DatasetError(
                    f"hierarchy {path} has conflicting parents: what line {number} puts below one "
                    f"node stands below another in line {first_line}; a label means the same "
                    "values wherever it stands"
                )
    return parents


def _check_cycles(path: str, parents: Mapping[str, tuple[str, int]]) -> None:
    """Refuse a node that is its own ancestor; ``parents`` has its parent and its line."""
    try:
        TopologicalSorter({node: (parent,) for node, (parent, _) in parents.items()}).prepare()
    except CycleError as e:
        lines = sorted({parents[node][1] for node in e.args[1]})  # of the nodes of the cycle
        raise DatasetError(
            f"hierarchy {path} has a cycle: a node is its own ancestor by "
            f"{'line' if len(lines) == 1 else 'lines'} {', '.join(map(str, lines))}"
        ) from e
