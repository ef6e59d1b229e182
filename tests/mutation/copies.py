"""Copies of the project, to be changed: the files that people work on are never written."""

import ast
import math
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from places import ROOT

from mutation import mutants, sql_trees
from qifsql.query import shapes
from qifsql.query.templates import VIEW

PARTS = ("qifsql", "sql", "tests", "data-samples", "benchmarks", "docs")
FILES = (
    *("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile", "LICENSE"),
    "zensical.toml",
)
OUTSIDE = "not browser and not spark and not reference"
"""The marks of tests that are skipped where a browser, Java or reference data are missing."""

HITS = '''"""Names of views and functions that are used while a test runs."""

USED = set()
'''
WRAPPED = """

from qifsql._used import USED as _USED

_load, _text = load, text


def load(name, **shape):
    _USED.add("sql:" + name)
    return _load(name, **shape)


def text(name):
    _USED.add("sql:" + name)
    return _text(name)
"""
PLUGIN = '''"""Write which views and functions each passed test has used."""

import json
import os

import pytest

_passed = {}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    from qifsql._used import USED

    USED.clear()
    yield
    if seconds := _passed.pop(item.nodeid, None):
        row = {"test": item.nodeid, "seconds": round(seconds, 3), "used": sorted(USED)}
        with open(os.environ["MUTATION_TRACE"], "a") as f:
            f.write(json.dumps(row) + "\\n")


def pytest_runtest_logreport(report):
    if not report.passed:
        _passed.pop(report.nodeid, None)
    elif report.when != "teardown":
        _passed[report.nodeid] = _passed.get(report.nodeid, 0) + report.duration
'''


@cache
def fast() -> str:
    """Return the marks of the tests that judge mutants: those of ``make test``, as it says them."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    marks = re.search(r"^FAST := (.+)$", makefile, re.M)
    if marks is None:
        raise LookupError("the Makefile does not say which tests are FAST")
    return f"({marks[1]}) and {OUTSIDE}"


def collected(files: Iterable[str]) -> set[str]:
    """Return the test functions of files that ``make test`` runs."""
    there = sorted({file for file in files if (ROOT / file).is_file()})
    if not there:
        return set()
    ran = pytest(ROOT, ["-v", "-n", "0", "--collect-only", "-m", fast(), *there], limit=600)
    if ran.returncode not in (0, 5):  # 5: nothing is left to run
        raise LookupError(f"tests cannot be collected: {ran.stdout[-500:]}{ran.stderr[-500:]}")
    return {line.partition("[")[0] for line in ran.stdout.splitlines() if "::" in line}


def copied(place: Path) -> Path:
    """Return a copy of the project in a new folder."""
    place.mkdir(parents=True)
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, place / part, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        if (ROOT / name).is_file():
            shutil.copy(ROOT / name, place / name)
    return place


def write(path: Path, text: str) -> None:
    """Write a file with a time of change that no earlier text of it had.

    Compiled files are known by the whole seconds of this time and by the size.
    """
    seconds = int(path.stat().st_mtime) + 1
    path.write_text(text, encoding="utf-8")
    os.utime(path, (seconds, seconds))


def traced(place: Path) -> Path:
    """Return a copy whose views and functions say that they are used.

    They are written from their trees, as those of mutants are: a test that fails there looks at the
    text of a file and not at what it does, so it is no judge of a mutant.
    """
    copy = copied(place)
    for path in (copy / "sql").rglob("*.sql"):
        parts = path.read_text(encoding="utf-8").split("\n\n")
        path.write_text("\n\n".join(map(_rewritten, parts)), encoding="utf-8")
    for path in (path for group in mutants.files(mutants.PYTHON) for path in group):
        (copy / path.relative_to(ROOT)).write_text(_announced(path), encoding="utf-8")
    (copy / "qifsql/_used.py").write_text(HITS, encoding="utf-8")
    with (copy / "qifsql/query/templates.py").open("a", encoding="utf-8") as f:
        f.write(WRAPPED)
    (copy / "tests/mutation_trace.py").write_text(PLUGIN, encoding="utf-8")
    return copy


def _rewritten(part: str) -> str:
    found = VIEW.search(part)
    if found is None or shapes.is_template(part):
        return part
    query = sql_trees.parsed(part).sql(dialect="duckdb", pretty=True)
    return f"{part[: found.end()]}\n{query};"


def _announced(path: Path) -> str:
    from mutation.python_trees import functions

    tree = ast.parse(path.read_text(encoding="utf-8"))
    for name, function in functions(tree, path):
        first = 1 if ast.get_docstring(function) is not None else 0
        function.body.insert(first, ast.parse(f"_USED.add({name!r})").body[0])
    first = 1 if ast.get_docstring(tree) is not None else 0
    tree.body.insert(first, ast.parse("from qifsql._used import USED as _USED").body[0])
    return ast.unparse(tree) + "\n"


def pytest(
    copy: Path, words: Sequence[str], *, limit: float, effort: str = "quick", **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run pytest in a copy, on the package of the copy; raise TimeoutExpired beyond a limit.

    ``limit`` are seconds of its processor time, so that a busy machine kills no mutant; a run that
    waits has ten times as long.
    """
    profile = {"QIFSQL_EFFORT": effort, "CI": "1", "HYPOTHESIS_PROFILE": "judge"}
    environment = dict(os.environ) | profile | variables
    environment["PYTHONPATH"] = os.pathsep.join([str(copy), str(copy / "tests")])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    limited = ["sh", "-c", f'ulimit -t {math.ceil(limit)} && exec "$@"', "sh", *command]
    ran = subprocess.run(
        limited,
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
        timeout=10 * limit,
        check=False,
    )
    if ran.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise subprocess.TimeoutExpired(command, limit, ran.stdout, ran.stderr)
    return ran
