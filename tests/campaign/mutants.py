"""Mutants: lines drawn by a seed are changed one at a time, and some test has to see each.

``python tests/campaign/mutants.py --lines 40 --seed 0``. The lines are of ``qifsql/measures``, of
the sweep and of ``sql/``. Tests that compare texts of SQL are left out: they would see everything.
"""

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("qifsql", "sql", "tests", "data-samples", "benchmarks", "docs")
FILES = ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile", "LICENSE")
LIMIT = 900  # seconds that the tests of one mutant may take
TEXTS = {"test_golden_sql.py", "test_sweep_sql.py", "test_templates.py", "test_architecture.py"}
COMMANDS = {
    "attack": ("attack", "sweep", "records"),
    "weighted": ("attack", "sweep"),
    "population": ("attack", "levels", "check"),
    "collection": ("attack", "sweep"),
    "keyless": ("attack",),
    "cells": ("compose", "compare", "dit"),
    "sweep_valued": ("sweep",),
    "link": ("link", "wp29"),
}
"""The commands whose tests are about a part of ``sql/``, where it is not of that name alone."""

PYTHON = (
    (r" < ", " <= "),
    (r" <= ", " < "),
    (r" > ", " >= "),
    (r" >= ", " > "),
    (r" == ", " != "),
    (r" != ", " == "),
    (r" \+ ", " - "),
    (r" - ", " + "),
    (r" \* ", " + "),
    (r" / ", " * "),
    (r" // ", " + "),
    (r" and ", " or "),
    (r" or ", " and "),
    (r" is not ", " is "),
    (r" is None", " is not None"),
    (r" not in ", " in "),
    (r"\bif not ", "if "),
    (r"\bmin\(", "max("),
    (r"\bmax\(", "min("),
    (r"\bTrue\b", "False"),
    (r"\bFalse\b", "True"),
    (r"(?<![\w.])1(?![\w.])", "2"),
    (r"(?<![\w.])0(?![\w.])", "1"),
)
SQL = (
    (r" < ", " <= "),
    (r" <= ", " < "),
    (r" > ", " >= "),
    (r" >= ", " > "),
    (r" = ", " <> "),
    (r" <> ", " = "),
    (r" \+ ", " - "),
    (r" - ", " + "),
    (r" \* ", " + "),
    (r" / ", " * "),
    (r"\bAND\b", "OR"),
    (r"\bOR\b(?! REPLACE)", "AND"),
    (r"\bMAX\(", "MIN("),
    (r"\bMIN\(", "MAX("),
    (r"\bSUM\(", "MAX("),
    (r"\bLEFT JOIN\b", "JOIN"),
    (r"\bDESC\b", "ASC"),
    (r"\bIS NOT NULL\b", "IS NULL"),
    (r"\bNOT\b ", ""),
    (r"(?<![\w.])1(?![\w.])", "2"),
    (r"(?<![\w.])0(?![\w.])", "1"),
)
"""Mutations, in the order in which a line is searched for them."""


@dataclass(frozen=True)
class Mutant:
    """A line of a file as it is, and changed."""

    file: str
    line: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before.strip()}  ->  {self.after.strip()}"


def main(words: Sequence[str] | None = None) -> int:
    """Change lines and run tests; 1 where a mutant is not seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="only show them")
    asked = parser.parse_args(words)
    mutants = drawn(asked.lines, asked.seed)
    if asked.list:
        sys.stdout.write("".join(f"{mutant}\n" for mutant in mutants))
        return 0
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        copies: Queue[Path] = Queue()
        for number in range(asked.jobs):
            copies.put(_copied(Path(folder) / str(number)))

        def judged(mutant: Mutant) -> tuple[Mutant, str]:
            copy = copies.get()
            try:
                return mutant, judge(mutant, copy)
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(asked.jobs) as pool:
            for mutant, seen in pool.map(judged, mutants):
                survivors += not seen
                sys.stdout.write(f"{'seen' if seen else 'NOT SEEN'}  {mutant}  {seen}\n")
                sys.stdout.flush()
    sys.stdout.write(f"{survivors} of {len(mutants)} not seen\n")
    return 1 if survivors else 0


def drawn(lines: int, seed: int) -> list[Mutant]:
    """Return as many mutants: a third each of measures, of the sweep, of SQL."""
    rng = random.Random(seed)
    places = (
        sorted((ROOT / "qifsql/measures").glob("*.py")),
        sorted((ROOT / "qifsql/commands/sweep").glob("*.py")),
        sorted((ROOT / "sql").rglob("*.sql")),
    )
    mutants: list[Mutant] = []
    for number, files in enumerate(places):
        candidates = [mutant for file in files for mutant in changeable(file, rng)]
        share = lines // len(places) + (number < lines % len(places))
        mutants += rng.sample(candidates, min(share, len(candidates)))
    return mutants


def changeable(file: Path, rng: random.Random) -> Iterator[Mutant]:
    """Yield one mutant of each line of a file that does something that can be changed."""
    text = file.read_text()
    lines = text.splitlines()
    code = _code(text) if file.suffix == ".py" else range(1, len(lines) + 1)
    for number in code:
        before = lines[number - 1]
        if file.suffix == ".sql":
            changes = _changes(before, SQL) if not before.startswith(("--", "CREATE")) else []
        else:
            changes = [after for after in _changes(before, PYTHON) if _parses(lines, number, after)]
        if changes:
            yield Mutant(str(file.relative_to(ROOT)), number, before, rng.choice(changes))


def _code(text: str) -> list[int]:
    """Return the lines of functions that are neither documentation nor a signature."""
    numbers: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            first = 1 if ast.get_docstring(node) is not None else 0
            for part in node.body[first:]:
                numbers.update(range(part.lineno, (part.end_lineno or part.lineno) + 1))
    return sorted(numbers)


def _changes(line: str, rules: Sequence[tuple[str, str]]) -> list[str]:
    """Return the line with each change that can be made to what is not a text and no comment."""
    end = line.find("  #") if "  #" in line else len(line)
    texts = [m.span() for m in re.finditer(r"\"[^\"]*\"|'[^']*'", line)]
    return [
        line[: match.start()] + new + line[match.end() :]
        for old, new in rules
        for match in re.finditer(old, line[:end])
        if not any(a <= match.start() < b for a, b in texts)
    ]


def _parses(lines: Sequence[str], number: int, after: str) -> bool:
    """Return whether the file is still Python, and says something else."""
    try:
        changed = ast.dump(ast.parse("\n".join([*lines[: number - 1], after, *lines[number:]])))
    except SyntaxError:
        return False
    return changed != ast.dump(ast.parse("\n".join(lines)))


def tests(mutant: Mutant) -> list[str]:
    """Return the tests that are about the file, the quickest first."""
    file = Path(mutant.file)
    if file.parts[1] == "measures":
        rooms = sorted(r for r in (ROOT / "qifsql/commands").iterdir() if r.is_dir())
        measures = _with_importers(file.stem)
        shared = [ROOT / "qifsql" / name for name in ("counting", "results", "presentation")]
        between = [
            f"{folder.name}.{module.stem}"
            for folder in shared
            for module in folder.glob("*.py")
            if any(_imports(module, f"measures.{name}") for name in measures)
        ]
        modules = [*(f"measures.{name}" for name in measures), *between]
        users = [room.name for room in rooms if any(_uses(room, name) for name in modules)]
        first = ["tests/core/test_measures.py", "tests/oracles", "tests/core/test_every_command.py"]
        commands = [*dict.fromkeys(users)]
    elif file.parts[0] == "sql":
        stem = file.parts[1].removesuffix(".sql")
        first, commands = ["tests/core/test_every_command.py"], COMMANDS.get(stem, (stem,))
    else:
        first, commands = [], ["sweep"]
    folders = (ROOT / "tests/commands" / name for name in dict.fromkeys(commands))
    more = [t for f in folders if f.is_dir() for t in sorted(f.glob("test_*.py"), key=_size)]
    return first + [str(t.relative_to(ROOT)) for t in more if t.name not in TEXTS]


def _with_importers(stem: str) -> set[str]:
    """Return a measure's module and those of measures that import it, at any remove."""
    names = {stem}
    while True:
        files = (ROOT / "qifsql/measures").glob("*.py")
        more = {
            f.stem for f in files if any(_imports(f, f"measures.{name}") for name in names)
        } | names
        if more == names:
            return names
        names = more


def _uses(room: Path, module: str) -> bool:
    """Return whether a room imports a module, such as ``measures.bayes``."""
    return any(_imports(file, module) for file in room.rglob("*.py"))


def _imports(file: Path, module: str) -> bool:
    """Return whether a file imports a module."""
    home, _, stem = module.rpartition(".")
    pattern = rf"qifsql\.{home}\.{stem}\b|qifsql\.{home} import [^\n]*\b{stem}\b"
    return re.search(pattern, file.read_text()) is not None


def _size(file: Path) -> int:
    return file.stat().st_size


def judge(mutant: Mutant, copy: Path) -> str:
    """Return the test that sees a mutant; nothing where none does."""
    file = copy / mutant.file
    text = file.read_text()
    lines = text.splitlines(keepends=True)
    lines[mutant.line - 1] = mutant.after + "\n"
    file.write_text("".join(lines))
    environment = dict(os.environ) | {"PYTHONPATH": str(copy), "QIFSQL_EFFORT": "quick", "CI": "1"}
    words = ["-q", "-x", "-p", "no:cacheprovider", "-m", "not slow", "--tb=no", *tests(mutant)]
    try:
        ran = subprocess.run(
            [sys.executable, "-m", "pytest", *words],
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "it does not end"
    finally:
        file.write_text(text)
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", ran.stdout, re.M)
    return "" if ran.returncode == 0 else failed[1] if failed else json.dumps(ran.stdout[-200:])


def _copied(place: Path) -> Path:
    """Return a copy of the project, to be changed."""
    place.mkdir(parents=True)
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, place / part, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        if (ROOT / name).is_file():
            shutil.copy(ROOT / name, place / name)
    return place


if __name__ == "__main__":
    sys.exit(main())
