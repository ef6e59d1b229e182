"""Kills at random moments: afterwards the same command gives the numbers of an undisturbed run.

What a signal that can be handled has ended leaves nothing; what was killed outright leaves nothing
after the next run.
"""

import gzip
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from campaign.damage import _results, written
from campaign.judging import TRACE, Finding
from campaign.running import Place
from campaign.tables import CANARY
from campaign.work import Outcome, Task

TOKEN = "QIFSQL_CAMPAIGN"
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
LONG = 120  # seconds that a command may take


@dataclass(frozen=True)
class Case:
    """A command line, how many people it is about, its numbers, and files that may stay."""

    argv: Sequence[str]
    rows: int
    numbers: Callable[[str], Any]
    stays: Sequence[str] = ()


@dataclass(frozen=True)
class Ended:
    """The outcome of a process."""

    code: int
    out: str
    err: str
    seconds: float


def perform(task: Task, place: Place, log: Path) -> Outcome:
    """Run a command undisturbed, kill it in another folder, and run it there again."""
    rng = random.Random(f"{task.seed}:kill:{task.number}")
    name = task.command or list(CASES)[task.number % len(CASES)]
    how = rng.choice(SIGNALS)
    outcome = Outcome(task.name, f"<{name}>")
    with place.fresh() as folder:
        case = CASES[name]
        calm, torn = folder / "calm", folder / "torn"
        for here in (calm, torn):
            here.mkdir()
            people(here, random.Random(f"{task.seed}:{name}"), case.rows)
        token = uuid.uuid4().hex
        environment = dict(os.environ) | {TOKEN: token, "PYTHONPATH": os.pathsep.join(sys.path)}
        os.chdir(calm)
        first = ended(start(case, environment))
        expected = case.numbers(first.out) if first.code == 0 else None
        left = set(files(calm))
        os.chdir(torn)
        moment = rng.uniform(0.02, 1.0) * first.seconds
        killed = ended(start(case, environment), moment, how)
        words = [f"{name} {how.name} after {moment:.2f} of {first.seconds:.2f} s: {killed.code}"]
        found = _gentle(killed, how, torn, place, token) if how != signal.SIGKILL else []
        again = ended(start(case, environment))
        outcome.cases = 1
        outcome.codes += [first.code, f"kill {killed.code}", again.code]
        found += _after(
            case, again, expected=expected, left=left, torn=torn, place=place, token=token
        )
        if first.code != 0:
            found.append(Finding("kill", f"the undisturbed run: {first.code} {first.err[-300:]}"))
        outcome.findings = [
            Finding(f.kind, f"{f.detail} ({words[0]})", case.argv).plain() for f in found
        ]
        outcome.compared = 1
        outcome.words = [words[0] + f"\n{killed.err}\n{again.err}"] if task.aloud else []
        outcome.notes[f"{how.name}: {'in time' if killed.code else 'too late'}"] = 1
        os.chdir(folder)
        _end(token)
    return outcome


def start(case: Case, environment: Mapping[str, str]) -> subprocess.Popen[str]:
    """Start the command in the working folder."""
    words = [sys.executable, "-c", "from qifsql.__main__ import main; main()", *case.argv]
    return subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        env=environment,
        text=True,
        start_new_session=True,
    )


def ended(
    process: subprocess.Popen[str], after: float = LONG, how: signal.Signals = signal.SIGKILL
) -> Ended:
    """Wait for a process, and send it a signal if it still runs after that time."""
    began = time.monotonic()
    try:
        out, err = process.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        process.send_signal(how)
        try:
            out, err = process.communicate(timeout=LONG)
        except subprocess.TimeoutExpired:  # a signal that it should have heeded
            process.kill()
            out, err = "", "it did not stop"
            process.wait()
    return Ended(process.returncode, out, err, time.monotonic() - began)


def files(folder: Path) -> list[str]:
    """All files in a folder, by their place in it."""
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if not p.is_dir())


def _gentle(
    killed: Ended, how: signal.Signals, torn: Path, place: Place, token: str
) -> list[Finding]:
    """Return what is wrong after a signal that can be handled."""
    found = []
    if killed.code not in (0, 130, -how):
        found.append(Finding("kill", f"exit {killed.code} after {how.name}: {killed.err[-300:]}"))
    if TRACE.search(killed.err) and "qifsql" in killed.err:  # not of Python's own first steps
        found.append(Finding("traceback", killed.err[-400:]))
    if killed.code == -how:  # before it could handle anything
        return found
    return found + _litter(torn, place, token, f"after {how.name}")


def _after(
    case: Case,
    again: Ended,
    *,
    expected: Any,
    left: set[str],
    torn: Path,
    place: Place,
    token: str,
) -> list[Finding]:
    """Return what is wrong after the same command has run again."""
    found = _litter(torn, place, token, "after the next run")
    if again.code != 0:
        return [*found, Finding("kill", f"exit {again.code} of the next run: {again.err[-300:]}")]
    if case.numbers(again.out) != expected:
        found.append(Finding("number", "other numbers after a kill"))
    more = [f for f in files(torn) if f not in left and not f.endswith(tuple(case.stays))]
    found += [Finding("left behind", f"{f} after the next run") for f in more]
    if leaked := CANARY.search(again.err):
        found.append(Finding("canary", f"{leaked[0]} in stderr"))
    return found


def _litter(torn: Path, place: Place, token: str, when: str) -> list[Finding]:
    """Temporary files and processes that nobody needs any more."""
    names = [f for f in files(torn) if any(p.startswith(".") for p in Path(f).parts)]
    names += [str(p.relative_to(place.root)) for p in place.temp.iterdir()]
    names += [f"process {pid}" for pid in _alive(token)]
    return [Finding("left behind", f"{name} {when}") for name in names]


def _alive(token: str) -> list[int]:
    """The processes of a task that still run."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            marked = f"{TOKEN}={token}".encode() in (path / "environ").read_bytes()
            dead = b") Z" in (path / "stat").read_bytes()
        except OSError:
            continue
        if marked and not dead:
            found.append(int(path.name))
    return found


def _end(token: str) -> None:
    """End what is left of a task."""
    for pid in _alive(token):
        os.kill(pid, signal.SIGKILL)


def people(folder: Path, rng: random.Random, n: int) -> None:
    """A release of n people, a policy and a study of it."""
    sizes = {"age": 90, "sex": 2, "zip": 400, "job": 30, "race": 6, "status": 5, "illness": 12}
    columns: dict[str, pa.Array] = {"id": pa.array([f"kanabcd0v{i}" for i in range(n)])}
    for i, (name, size) in enumerate(sizes.items(), 1):
        drawn = [min(int(rng.expovariate(4 / size)), size - 1) for _ in range(n)]
        texts = name in ("job", "illness")
        columns[name] = pa.array([f"kanabcd{i}v{v}" for v in drawn] if texts else drawn)
    table = pa.table(columns)
    pq.write_table(table, folder / "people.parquet")
    pc.write_csv(table, folder / "people.csv")
    (folder / "study.toml").write_text(STUDY)


STUDY = """\
[output]
formats = ["csv", "parquet"]
[datasets.people]
path = "people.parquet"
qids = ["age", "sex", "zip", "job", "race"]
secret = "illness"
[[attack]]
name = "all"
model = ["crs", "cas"]
histogram = true
[[sweep]]
name = "subsets"
"""
KNOWN = ("-q", "age,sex,zip,job,race,status", "-s", "illness")


def _file(name: str) -> Callable[[str], Any]:
    """The rows of a file that the command writes."""

    def read(_: str) -> Any:
        path = Path(name)
        if name.endswith(".parquet"):
            table = pq.read_table(path)
            return table.drop([c for c in ("seconds", "attack_id") if c in table.column_names])
        return gzip.decompress(path.read_bytes()) if name.endswith(".gz") else path.read_bytes()

    return read


_COPY = "sh -c 'sleep 0.4; cp {input} {output}'"
_DIT = ("dit", "people.parquet", "-q", "age,sex", "-s", "illness", "--seed", "1", "-f", "json")
CASES: dict[str, Case] = {
    "sweep --workspace": Case(
        ("sweep", "people.parquet", *KNOWN, "--workspace", "kept.sweep", "-f", "json"),
        *(12_000, _results),
    ),
    "sweep --walk": Case(
        ("sweep", "people.parquet", *KNOWN, "--walk", "compiled", "--workspace", "kept.sweep",
         "-f", "json"),
        *(12_000, _results),
    ),
    "sweep": Case(("sweep", "people.csv", *KNOWN, "-f", "json"), 12_000, _results),
    "attack -o": Case(
        ("attack", "crs,cas", "people.csv", *KNOWN, "--histogram", "-o", "risk.parquet"),
        *(60_000, _file("risk.parquet")),
    ),
    "run": Case(("run", "study.toml", "-f", "json"), 6_000, written("study-results/*.csv")),
    "treat": Case(
        (
            *("anonymise", "people.csv", "--one-per", "zip", "--seed", "3"),
            *("-o", "out.csv.gz", *KNOWN[:2]),
        ),
        *(60_000, _file("out.csv.gz")),
    ),
    "anonymise": Case(
        ("anonymise", "people.parquet", "-q", "age,sex,zip", "-s", "illness",
         "--method", "mondrian", "--k", "5", "-o", "out.csv"),
        *(30_000, _file("out.csv")),
    ),
    "dit --store": Case(
        (*_DIT, "--k", "2,3", "--store", "kept.duckdb", "--sample-size", "30"), 300, _results
    ),
    "records -o": Case(
        ("inspect", "--show", "records", "people.csv", *KNOWN, "-o", "rows.csv"),
        60_000,
        _file("rows.csv"),
    ),
    "dit --command": Case(
        (*_DIT, "--method", "command", "--command", _COPY, "--sample-size", "3"), 40, _results
    ),
}  # fmt: skip
