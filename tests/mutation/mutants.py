"""Mutants: one node of a parsed tree is changed, in a view of ``sql/`` or in a measure."""

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from places import ROOT

from mutation import python_trees, sql_trees


@dataclass(frozen=True)
class Mutant:
    """A changed file: which node of which view or function is how else.

    ``target`` is what tests touch: ``sql:levels/near``, ``measures:bayes.inference``.
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


def files() -> tuple[list[Path], list[Path]]:
    """Return the files that are mutated: of ``sql/``, and of ``qifsql/measures/``."""
    sql = sorted((ROOT / "sql").rglob("*.sql"))
    return sql, sorted((ROOT / "qifsql/measures").glob("[!_]*.py"))


def drawn(
    count: int, seed: int, paths: tuple[list[Path], list[Path]] | None = None
) -> list[Mutant]:
    """Draw half of the mutants from ``sql/`` and half from the measures, in turn.

    Each part draws a view or function first, then a kind of change, then a node: otherwise long
    views and frequent changes, such as those of literals, would be most of them.
    """
    rng = random.Random(seed)
    sides = []
    for group, share in zip(paths or files(), (count - count // 2, count // 2), strict=True):
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
