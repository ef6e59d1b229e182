"""The tests that use a view or a function, found by running them in a copy that tells."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path

from places import PACKAGE, ROOT

TABLE = Path(__file__).with_name("touched.json")
MOST = 30  # tests of a view or function that are kept
FOCUSED = 10  # of these use little else
SECONDS = 25.0  # that they may take together
NO_JUDGES = {
    *("test_golden_sql.py", "test_sweep_sql.py", "test_templates.py"),
    *("test_documentation.py", "test_reference.py", "test_language.py", "test_mutation.py"),
    *("test_every_command.py", "test_display.py", "test_bad_input.py"),
    *("test_report.py", "test_sharing.py", "test_report_browser.py", "test_doctests.py"),
}
"""Tests that look at texts, and would notice every mutant, or at no number at all, or that run many
commands first."""
ROOMS = {
    "attack": ("attack",),
    "weighted": ("attack", "sweep"),
    "population": ("attack", "levels", "check"),
    "collection": ("attack", "sweep"),
    "keyless": ("attack",),
    "learning": ("attack", "synthetic"),
    "noisy": ("attack",),
    "match_any": ("attack", "levels"),
    "cells": ("compose", "compare", "dit"),
    "sweep_valued": ("sweep",),
    "simple": ("sql",),
    "link": ("link", "check"),
}
"""The commands whose tests are about a part of ``sql/`` that has not the name of one command."""
FIRST = {
    "measures": ("tests/core/test_measures.py", "tests/oracles/test_oracle_measures.py"),
    "query": ("tests/core/test_questions.py", "tests/core/test_splice.py"),
    "counting": ("tests/core/test_counting.py",),
    "adversary": tuple(
        f"tests/core/test_{name}.py" for name in ("questions", "gain_functions", "value_files")
    ),
    "commands/check": ("tests/commands/check/test_parts_of_verdicts.py",),
}
"""The tests of a room of functions that run before those of the commands that use it."""


@cache
def table() -> tuple[dict[str, float], dict[str, list[str]]]:
    """Return the seconds of each test, and the tests of each view or function, the quick first."""
    stored = json.loads(TABLE.read_text(encoding="utf-8"))
    names = [name for name, _ in stored["tests"]]
    of = {target: [names[i] for i in numbers] for target, numbers in stored["targets"].items()}
    return dict(stored["tests"]), of


def tests(target: str) -> list[str]:
    """Return the tests of a view or function that exist, the most promising first.

    These are quick and use little else. The table names none for a view or function that is newer,
    or that no traced test uses.
    """
    found = [name for name in table()[1].get(target, []) if _is_judge(name) and exists(name)]
    side = _side(target)
    return sorted(found, key=lambda name: seconds([name]) * _uses()[side][name])


@cache
def _uses() -> dict[bool, Counter[str]]:
    """Return how many views and functions of each side each test is known to use."""
    return _counted(table()[1])


def _counted(of: Mapping[str, Iterable[str]]) -> dict[bool, Counter[str]]:
    counts: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for target, names in of.items():
        counts[_side(target)].update(names)
    return counts


def _side(target: str) -> bool:
    """Return whether a target is a view or a measure; most tests use many functions of the rest."""
    return target.partition(":")[0] in ("sql", "measures")


def seconds(names: Iterable[str]) -> float:
    """Return the time that tests took when they were traced."""
    return sum(table()[0].get(name, 1.0) for name in names)


@cache
def of_room(target: str) -> list[str]:
    """Return the files of tests about the rooms that a view or function serves.

    Those with its part in their names come first, then the shortest.
    """
    kind, _, name = target.partition(":")
    part = re.split(r"[/.]", name)[0].rstrip("s")
    first = list(FIRST.get(kind, ()))
    if kind == "sql":
        home = name.partition("/")[0] if "/" in name else "attack"
        rooms: Iterable[str] = (*_namers(name), *ROOMS.get(home, (home,)))
    elif kind.startswith("commands/"):
        rooms = (kind.removeprefix("commands/"),)
    else:
        module = name.partition(".")[0]
        core = sorted((ROOT / "tests/core").glob(f"test_{module.rstrip('s')}*.py"))
        first += [str(p.relative_to(ROOT)) for p in core if p.name not in NO_JUDGES]
        rooms = _users(kind, module)
    folders = [ROOT / "tests/commands" / room for room in dict.fromkeys(rooms)]
    found = [path for f in folders for path in sorted(f.glob("test_*.py"), key=_size)]
    found.sort(key=lambda path: part not in path.name)
    judges = [str(p.relative_to(ROOT)) for p in found if p.name not in NO_JUDGES]
    return list(dict.fromkeys([*first, *judges]))


def _namers(view: str) -> list[str]:
    """Return the commands whose code names a view."""
    return [
        room.name
        for room in sorted((ROOT / "qifsql/commands").iterdir())
        if any(f'"{view}"' in file.read_text(encoding="utf-8") for file in room.rglob("*.py"))
    ]


def _users(room: str, module: str) -> list[str]:
    """Return the commands that import a module of a room; attack, if only shared rooms do."""
    pattern = re.compile(rf"^\s*from qifsql\.{room}(\.{module} import|.* \b{module}\b)", re.M)
    rooms = [home for home in sorted((PACKAGE / "commands").iterdir()) if home.is_dir()]
    users = [
        home.name
        for home in rooms
        if any(pattern.search(file.read_text(encoding="utf-8")) for file in home.rglob("*.py"))
    ]
    return users or ["attack"]


def _size(path: Path) -> int:
    return path.stat().st_size


def _is_judge(name: str) -> bool:
    return name.partition("::")[0].rpartition("/")[2] not in NO_JUDGES


@cache
def exists(name: str) -> bool:
    """Return whether there is a test of this name."""
    file, _, function = name.partition("::")
    return function in _functions(ROOT / file)


@cache
def _functions(path: Path) -> frozenset[str]:
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return frozenset(re.findall(r"^def (test_\w+)\(", text, re.M))


def merge(trace: Path) -> None:
    """Write what a trace says into the table; tests that it does not name stay as they are."""
    took: dict[str, float] = defaultdict(float)
    used: dict[str, set[str]] = defaultdict(set)
    for line in trace.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        name = row["test"].partition("[")[0]
        if not _is_judge(name):
            continue
        took[name] += row["seconds"]
        for target in row["used"]:
            used[target].add(name)
    old_seconds, old = table() if TABLE.is_file() else ({}, {})
    every = dict(old_seconds) | {name: round(spent, 2) for name, spent in took.items()}
    of_all = {
        target: {n for n in old.get(target, []) if n not in took} | used.get(target, set())
        for target in {*old, *used}
    }
    uses = _counted(of_all)
    of = {target: _chosen(names, every, uses[_side(target)]) for target, names in of_all.items()}
    names = sorted({name for chosen in of.values() for name in chosen})
    number = {name: i for i, name in enumerate(names)}
    lines = [json.dumps(target) + ": " + json.dumps([number[n] for n in of[target]])
             for target in sorted(of)]  # fmt: skip
    rows = [json.dumps([name, every[name]]) for name in names]
    text = (
        '{"tests": [\n' + ",\n".join(rows) + '\n],\n"targets": {\n' + ",\n".join(lines) + "\n}}\n"
    )
    TABLE.write_text(text, encoding="utf-8")
    table.cache_clear()


def _chosen(
    names: Collection[str], took: Mapping[str, float], uses: Mapping[str, int]
) -> list[str]:
    """Return quick tests that use little else, and then quick tests of many files.

    Of each file the quickest comes first, then the second of each, ...
    """
    files: dict[str, list[str]] = defaultdict(list)
    for name in sorted(names, key=lambda n: (took[n], n)):
        files[name.partition("::")[0]].append(name)
    turns = [
        (place, took[name], name) for tests in files.values() for place, name in enumerate(tests)
    ]
    focused = sorted(names, key=lambda n: (took[n] * uses[n], n))[:FOCUSED]
    chosen: list[str] = []
    spent = 0.0
    for name in dict.fromkeys([*focused, *(name for *_, name in sorted(turns))]):
        if len(chosen) < MOST and (spent + took[name] <= SECONDS or not chosen):
            chosen.append(name)
            spent += took[name]
    return sorted(chosen, key=lambda n: (took[n], n))
