"""Mutants: one node of a parsed tree is changed, in a view of ``sql/`` or in a function."""

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from places import PACKAGE, ROOT

from mutation import python_trees, sql_trees

ROOMS = ("sql", "measures")
"""The rooms that are mutated unless others are named: ``sql/``, and a folder of the package."""
PYTHON = ("measures", "query", "counting", "adversary", "commands/check")
"""The folders of the package whose functions are traced (see ``touched``)."""


@dataclass(frozen=True)
class Mutant:
    """A changed file: which node of which view or function is how else.

    ``target`` is what tests touch: ``sql:levels/near``, ``measures:bayes.inference``,
    ``commands/check:coverage.unattacked_columns``.
    """

    file: str
    target: str
    line: int
    kind: str
    before: str
    after: str
    text: str = field(repr=False)

    @property
    def key(self) -> str:
        """Return its name in stored results: it changes when the mutated view or function does."""
        digest = hashlib.sha256("\0".join((self.file, self.text)).encode())
        return digest.hexdigest()[:16]

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.kind}: {self.before}  ->  {self.after}"


def of_file(path: Path) -> Iterator[Mutant]:
    """Yield every mutant of a file whose tree differs from the tree of the file as it is."""
    name = path.relative_to(ROOT).as_posix()
    trees = sql_trees if path.suffix == ".sql" else python_trees
    for target, line, kind, before, after, text in trees.mutated(path):
        yield Mutant(name, target, line, kind, before, after, text)


def files(rooms: Sequence[str] = ROOMS) -> list[list[Path]]:
    """Return the files that are mutated in each room: ``sql``, or a folder of the package."""
    groups = [
        sorted((ROOT / "sql").rglob("*.sql"))
        if room == "sql"
        else sorted((PACKAGE / room).glob("[!_]*.py"))
        for room in rooms
    ]
    empty = [room for room, group in zip(rooms, groups, strict=True) if not group]
    if empty:
        raise LookupError(f"nothing to mutate in {', '.join(empty)}")
    return groups


def drawn(count: int, seed: int, paths: Sequence[Sequence[Path]] | None = None) -> list[Mutant]:
    """Draw mutants, an equal share from each group of files, in turn.

    Each part draws a view or function first, then a kind of change, then a node: otherwise long
    views and frequent changes, such as those of literals, would be most of them.
    """
    groups = paths or files()
    rng = random.Random(seed)
    sides = []
    for number, group in enumerate(groups):
        share = (count + len(groups) - 1 - number) // len(groups)
        pools: dict[str, dict[str, list[Mutant]]] = {}
        for mutant in (m for path in group for m in of_file(path)):
            pools.setdefault(mutant.target, {}).setdefault(mutant.kind, []).append(mutant)
        side: list[Mutant] = []
        while len(side) < share and pools:
            target = rng.choice(sorted(pools))
            kind = rng.choice(sorted(pools[target]))
            pool = pools[target][kind]
            side.append(pool.pop(rng.randrange(len(pool))))
            if not pool:
                del pools[target][kind]
            if not pools[target]:
                del pools[target]
        sides.append(side)
    longest = max(map(len, sides))
    return [side[i] for i in range(longest) for side in sides if i < len(side)]
