"""Hierarchies of values: which leaves stand below each node. The format is ARX's.

One line per value, without header, fields separated by ``;``: the value, then ever coarser nodes,
the last usually ``*``. A node is its label, so a label means the same values wherever it stands.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from qifsql.data.files import check_file, path_text
from qifsql.errors import DatasetError, several

SEPARATOR = ";"
TOP = "*"  # everything, in every hierarchy


@dataclass(frozen=True)
class Hierarchy:
    """The leaves in their order, and those below each node; a leaf is a node of its own.

    ``levels`` is how many fields a line has, ``lines`` are the fields themselves.
    """

    path: str
    leaves: tuple[str, ...]
    nodes: Mapping[str, tuple[str, ...]] = field(repr=False, hash=False)
    levels: int = 0
    lines: tuple[tuple[str, ...], ...] = field(default=(), repr=False)

    @classmethod
    def read(cls, path: str | Path) -> "Hierarchy":
        """The hierarchy in a file.

        Raises DatasetError, with line numbers, where the file cannot be read, lines differ in their
        fields, a value stands twice with other parents, a node has two parents, or one is its own
        ancestor.
        """
        lines = _lines(Path(path_text(path)))
        _check_rows(path, lines)
        parents = _parents(path, lines)
        _check_cycles(path, parents)
        below: dict[str, dict[str, None]] = {}
        leaves = dict.fromkeys(fields[0] for _, fields in lines)
        for leaf in leaves:
            node: str | None = leaf
            while node is not None:
                below.setdefault(node, {})[leaf] = None
                node = parents[node][0] if node in parents else None
        nodes = {node: tuple(descendants) for node, descendants in below.items()}
        fields = tuple(tuple(fields) for _, fields in lines)
        return cls(str(path), tuple(leaves), nodes, len(fields[0]), fields)


Lines = list[tuple[int, list[str]]]


def _lines(path: Path) -> Lines:
    """The fields of every line that is not empty, with its number."""
    if path.exists():
        check_file(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=SEPARATOR, strict=True)
            lines = []
            before = 0
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
    if not lines:
        raise DatasetError(f"hierarchy {path} is empty; give a line for each value")
    return lines


def _check_rows(path: str | Path, lines: Lines) -> None:
    """Refuse lines with other numbers of fields than the first, and lines of values alone."""
    first, width = lines[0][0], len(lines[0][1])
    for number, fields in lines:
        if len(fields) != width:
            raise DatasetError(
                f"hierarchy {path} is ragged: line {number} has {several(len(fields), 'field')}, "
                f"line {first} has {width}; give every value the same levels"
            )
    if width == 1:
        raise DatasetError(
            f"hierarchy {path} has one field per line; separate value and nodes with {SEPARATOR}"
        )


def _parents(path: str | Path, lines: Lines) -> dict[str, tuple[str, int]]:
    """The parent of each node and the line that says so first; a label may stand on levels in turn.

    The node ``*`` has none: it is everything.
    """
    parents: dict[str, tuple[str, int]] = {}
    for number, fields in lines:
        for node, parent in pairwise(fields):
            if node in (parent, TOP):
                continue
            entry = parents.setdefault(node, (parent, number))
            if entry[0] != parent:
                raise DatasetError(
                    f"hierarchy {path} has conflicting parents: what line {number} puts below one "
                    f"node stands below another in line {entry[1]}; a label means the same values "
                    "wherever it stands"
                )
    return parents


def _check_cycles(path: str | Path, parents: Mapping[str, tuple[str, int]]) -> None:
    """Refuse a node that is its own ancestor."""
    settled: set[str] = set()
    for start in parents:
        seen: dict[str, None] = {}
        node = start
        while node in parents and node not in settled:
            if node in seen:
                lines = sorted({parents[n][1] for n in list(seen)[list(seen).index(node) :]})
                raise DatasetError(
                    f"hierarchy {path} has a cycle: a node is its own ancestor by "
                    f"{'line' if len(lines) == 1 else 'lines'} {', '.join(map(str, lines))}"
                )
            seen[node] = None
            node = parents[node][0]
        settled.update(seen)
