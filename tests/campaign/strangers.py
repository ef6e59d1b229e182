"""Strangers: what somebody else may put into a file or a folder, and what must not come of it."""

import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow.parquet as pq
from forgeries import forged
from openpyxl.utils import get_column_letter

from campaign import tables
from campaign.damage import again, attack, damaged, judged, study, written
from campaign.draft import Draft, Step, identifier, row
from campaign.judging import Finding, Run, digest
from campaign.running import Place
from campaign.work import Outcome, Task
from qifsql.commands.report import sharing
from qifsql.engine.growth import GROWING, LENGTH_ARGUMENTS, PAIRED, PATTERNS, RANGES
from qifsql.results.storage import digests
from qifsql.results.stored import read

FAST = 20.0  # seconds that reading a small file takes at most
FEW = 10  # people, below which a report for others shows no number
Case = Callable[[Draft, "Runner"], Iterator[str]]
"""Run lines; yield what is wrong with what came of them."""


class Runner:
    """Runs lines, and remembers them with what is wrong with any line."""

    def __init__(self, place: Place, folder: Path, log: Path) -> None:
        self.place, self.folder, self.log = place, folder, log
        self.runs: list[Run] = []
        self.findings: list[Finding] = []

    def __call__(self, *argv: str) -> Run:
        """Run a line."""
        done = self.place.run(Step(list(argv)), self.log)
        self.runs.append(done)
        self.findings += [replace(f, argv=argv) for f in judged(done, self.folder)]
        return done


def perform(task: Task, place: Place, log: Path) -> Outcome:
    """Do what a stranger may do, and look at what comes of it."""
    rng = random.Random(f"{task.seed}:stranger:{task.number}")
    kind = task.command or list(CASES)[task.number % len(CASES)]
    outcome = Outcome(task.name, f"({kind})", cases=1)
    with place.fresh() as folder:
        run = Runner(place, folder, log)
        wrong = list(CASES[kind](Draft(rng, hostile=0.1, rows=60), run))
    argv = [word for done in run.runs[-1:] for word in done.step.argv]
    found = [*run.findings, *(Finding("stranger", text, argv) for text in wrong)]
    outcome.findings = [f.plain() for f in found]
    outcome.codes = [done.code for done in run.runs]
    outcome.notes = {f"{kind}: {done.code}": 1 for done in run.runs[-1:]}
    if task.aloud:
        outcome.words = [f"{d.code} {d.step.argv}\n{d.err}" for d in run.runs]
    return outcome


def _forged_result(d: Draft, run: Runner) -> Iterator[str]:
    """A result of other numbers, with another request or other SQL, is never confirmed."""
    file = tables.write(d.data, "people", ".parquet")
    run(*attack(d, file).argv[:-2], "-o", "risk.json")
    _, done = forged(Path("risk.json"), d.rng)
    verified = run("verify", "forged.json")
    if verified.code not in (2, 4):
        yield f"a forgery is confirmed: {done}"


def _forged_study(d: Draft, run: Runner) -> Iterator[str]:
    """A kept result of another number is computed again, also with its digest."""
    line = list(study(d).step.argv)
    run(*line)
    right = written("study-results/*.csv")("")
    files = sorted(Path("study-results/kept").glob("*/results.parquet"))
    if not files:  # the study was refused
        return
    file = files[0]
    table = pq.read_table(file)
    name = d.one(*(n for n in table.column_names if n in ("singled_out", "blocks", "records")))
    place = table.column_names.index(name)
    pq.write_table(table.set_column(place, name, [[0] * table.num_rows]), file)
    sealed = json.loads((file.parent / "digests.json").read_text())
    sealed["files"]["results.parquet"] = digests([str(file)])[0]["sha256"]
    (file.parent / "digests.json").write_text(json.dumps(sealed))
    again(Path())
    repeated = run(*line)
    if repeated.code == 0 and written("study-results/*.csv")("") != right:
        yield f"a forged kept result is taken: {name}"


def _link(d: Draft, run: Runner) -> Iterator[str]:
    """A link in a folder of results leads to no other file when something is written."""
    line = list(study(d).step.argv)
    run(*line)
    results = Path("study-results")
    if not results.exists():  # the study was refused
        return
    path = d.one(*sorted(p for p in results.rglob("*") if not p.is_symlink()))
    outside = run.place.beside / "hush.txt"
    before, listed = digest(outside), sorted(run.place.beside.iterdir())
    is_folder = path.is_dir()
    shutil.rmtree(path) if is_folder else path.unlink()
    path.symlink_to(run.place.beside if is_folder else outside)
    run(*line, *d.one((), ("--fresh",)))
    if digest(outside) != before or sorted(run.place.beside.iterdir()) != listed:
        yield f"a link at {path} is followed"


def _expression(d: Draft, run: Runner) -> Iterator[str]:
    """An expression that may grow is computed soon, or refused before it runs."""
    text = f"({identifier(d.data.qids[0])})::VARCHAR"
    for _ in range(d.rng.randint(1, 3)):
        name = d.one(*(n for n in sorted(GROWING) if n.isidentifier()))
        number = str(d.one(1, 3, 40, 1000, 10**6, 3 * 10**9, 2**63 - 1))
        if name in LENGTH_ARGUMENTS:
            more = ["'a'"] if name in ("lpad", "rpad") else []
            text = f"{name}({text}, {', '.join([number, *more])})"
        elif name in RANGES:
            text = f"list_sum({name}({d.one(number, f'length({text})')}))::VARCHAR"
        elif name in (*PAIRED, *PATTERNS):
            pattern = d.one(f"'(a?){{{number}}}'", "'(a|b)*'", f"repeat({text}, {number})")
            text = f"({name}({text}, {pattern}))::VARCHAR"
        else:
            text = f"({name}({text}{d.one('', f', {number}', f', {text}, {text}')}))::VARCHAR"
    file = tables.write(d.data, "people", ".parquet")
    began = time.monotonic()
    run("attack", "crs", file, "-q", row([f"x={text}"]))
    if (seconds := time.monotonic() - began) > FAST:
        yield f"an expression took {seconds:.0f} seconds"


def _far_cell(d: Draft, run: Runner) -> Iterator[str]:
    """A workbook with a cell far away is read soon, or refused."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for values in (["a", "b"], [1, 2], [3, 4]):
        sheet.append(values)
    column = d.rng.choice((3, 50, 2_000, 16_384))
    height = d.rng.choice((3, 1_000, 100_000, 1_048_576))
    sheet[f"{get_column_letter(column)}{height}"] = d.one(1, "x", "=1+1")
    book.save("far.xlsx")
    began = time.monotonic()
    run("attack", "crs", "far.xlsx", "-q", "a,b")
    if (seconds := time.monotonic() - began) > FAST:
        yield f"a workbook with a cell in column {column}, line {height} took {seconds:.0f} seconds"


def _contradiction(d: Draft, run: Runner) -> Iterator[str]:
    """Tables of one array agree with its number of people; with a count changed they do not."""
    cells = {pair: d.rng.randint(1, 30) for pair in itertools.product("pqr", "xyz")}
    empty = d.one(*cells)
    cells[empty] = 0
    people, changed = sum(cells.values()), dict(cells)
    tables_of = {
        "exact.csv": {("a", "b"): cells},
        "first.csv": {("a",): _margin(cells, 0)},
        "second.csv": {("b",): _margin(cells, 1)},
    }
    protection = d.one("", ":suppress<5", ":round:5", ":noise:2")
    changed[empty] = 40  # which no protection makes of nobody
    for name, table in tables_of.items():
        ((heads, counts),) = table.items()
        _counts(name, heads, counts)
    _counts("changed.csv", ("a", "b"), changed)
    published = [w for n in d.rng.sample(sorted(tables_of), 2) for w in ("--published", n)]
    if run("tables", *published, "--counts", "n", "--count", str(people)).code != 0:
        yield "tables of one array are refused"
    published = ["--published", "exact.csv", "--published", f"changed.csv{protection}"]
    if run("tables", *published, "--counts", "n").code != 2:
        yield f"a contradiction is missed: {protection}"


def _margin(cells: dict[tuple[str, str], int], place: int) -> dict[tuple[str, ...], int]:
    sums: Counter[tuple[str, ...]] = Counter()
    for pair, count in cells.items():
        sums[(pair[place],)] += count
    return dict(sums)


def _counts(name: str, heads: tuple[str, ...], counts: Any) -> None:
    lines = [",".join((*heads, "n")), *(",".join((*k, str(n))) for k, n in counts.items())]
    Path(name).write_text("\n".join(lines) + "\n")


def _subtraction(d: Draft, run: Runner) -> Iterator[str]:
    """A report for others tells the size of no small group, also by subtraction."""
    sizes = {f"g{i}": d.one(d.rng.randint(1, 12), d.rng.randint(10, 60)) for i in range(4)}
    rows = [
        (g, d.rng.randint(0, 3), d.one("s", "t", "u")) for g, n in sizes.items() for _ in range(n)
    ]
    rows += [(g, a, d.one("s", "t", "u")) for g, a, _ in d.rng.sample(rows, len(rows) // 3)]
    lines = ["g,a,s", *(",".join(map(str, row)) for row in rows)]
    d.text("people.csv", "\n".join(lines) + "\n")
    asked = ["people.csv", "-q", d.one("a", "g,a"), "-s", "s"]
    some = d.rng.sample(sorted(sizes), 3)
    run("attack", "crs,cas", *asked, "--by", "g", "-o", "by.json")
    run("sweep", "people.csv", "-q", "g,a", "-s", "s", "--histogram", "-o", "swept.json")
    run("levels", *asked, "-o", "levels.json")
    for i, g in enumerate(some):
        sign = d.one("=", "<>")
        run(
            "attack",
            "crs",
            "people.csv",
            "-q",
            "a",
            "--where",
            f"g {sign} '{g}'",
            "-o",
            f"{i}.json",
        )
    files = [name for name in ("by", "swept", "levels", "0", "1", "2") if d.chance(0.8)]
    run("report", *(f"{name}.json" for name in files), "-o", "page.md")
    shown = (
        sharing.share(read([f"{name}.json" for name in files]), sharing.Reader())[0]
        if files
        else []
    )
    counts: set[int] = set()
    for stored in shown:
        counts |= (
            {int(n) for n in stored.frame["records"]}
            if "records" in stored.frame.columns
            else set()
        )
        for name, table in ({"results": stored.frame} | stored.details).items():
            columns = {"k", "smallest_class"} | (
                {"individuals"} if "bin" in table.columns else set()
            )
            columns |= {"records"} if name == "groups" else set()
            for column in columns & set(table.columns):
                few = [n for n in table[column] if n is not None and 0 < n < FEW]
                if few:
                    yield f"{column} of {name} is shown: {few}"
    if close := [(a, b) for a, b in itertools.combinations(sorted(counts), 2) if b - a < FEW]:
        yield f"results differ by few people: {close}"


def _damaged_code(d: Draft, run: Runner) -> Iterator[str]:
    """Compiled code that somebody has changed is compiled again, and never run."""
    program, cache = Path("program.py"), Path("cache").absolute()
    program.write_text(COMPILED)
    place = {"XDG_CACHE_HOME": str(cache), "NUMBA_CACHE_DIR": ""}
    if alone(program, place)[:2] != (0, "42"):
        yield "no code is compiled"
    file = d.one(*sorted(p for p in cache.rglob("*") if p.is_file()))
    kind = d.one("bytes", "bytes", "mode", "link", "folder", "gone")
    if kind == "bytes":
        file.write_bytes(damaged(d.rng, file.read_bytes())[1])
    elif kind == "mode":
        d.one(file, file.parent, cache / "qifsql").chmod(0o777)
    else:
        file.unlink()
        if kind == "folder":
            file.mkdir()
        elif kind == "link":
            file.symlink_to(run.place.beside / "hush.txt")
    done = alone(program, place)
    if done != (0, "42", ""):
        yield f"{kind} of {file.name}: {done}"


def _another_user(d: Draft, run: Runner) -> Iterator[str]:
    """Private files can be read by their user alone, whatever the mask of the process is."""
    before = os.umask(0)
    try:
        file = tables.write(d.data, "people", ".parquet")
        known = ["-q", row(list(d.data.qids)), "-s", row(list(d.data.secrets)[:1])]
        run("levels", file, *known, "--show-blocks", "-o", "levels.json")
        run("attack", "crs", file, *known[:2], "--store", "kept.duckdb")
        run("inspect", "--show", "records", file, *known[:2], "-o", "records.csv")
        run(*study(d).step.argv)
    finally:
        os.umask(before)
    private = [*run.place.home.rglob("*"), *(Path(n) for n in ("levels.json", "kept.duckdb"))]
    for path in (p for p in private if p.is_file()):
        if path.stat().st_mode & 0o077:
            yield f"{path.name} is open to others"


def _fork(d: Draft, run: Runner) -> Iterator[str]:
    """A process that forks after a call goes on, and its child works or says why not."""
    file = tables.write(d.data, "people", ".parquet")
    call = d.one("attack('crs', ", "levels(", "describe(", "suda(", "hyper(")
    more = "" if call == "describe(" else f", qids={list(d.data.qids)!r}"
    program = Path("program.py")
    program.write_text(FORKED.format(call=f"qifsql.{call}{file!r}{more})", early=d.chance(0.8)))
    done = alone(program, {})
    if done[0] != 0 or "ended" not in done[1]:
        yield f"a fork: {done}"


def alone(program: Path, environment: dict[str, str]) -> tuple[int, str, str]:
    """Run a program in a process of its own; its exit code, what it prints, and its errors."""
    paths = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(program)],
        env=os.environ | {"PYTHONPATH": paths} | environment,
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout.strip(), done.stderr.strip()


COMPILED = """
from qifsql.commands.sweep.code_cache import compiled
@compiled
def doubled(n):
    return 2 * n
print(doubled(21))
"""

FORKED = """
import os, sys, qifsql
from qifsql.errors import QifError
def call():
    try:
        {call}
    except QifError as e:
        print(e)
if {early}:
    call()
pid = os.fork()
if pid == 0:
    call()
    sys.stdout.flush()
    os._exit(0)
_, status = os.waitpid(pid, 0)
call()
print("ended" if status == 0 else f"the child: {{status}}")
"""

CASES: dict[str, Case] = {
    "forged result": _forged_result,
    "forged study": _forged_study,
    "link": _link,
    "expression": _expression,
    "far cell": _far_cell,
    "contradiction": _contradiction,
    "subtraction": _subtraction,
    "damaged code": _damaged_code,
    "another user": _another_user,
    "fork": _fork,
}
