"""The whole campaign: ``python tests/campaign/run.py --lines 10000 --damaged 300 --kills 50``.

Every task is named by its kind and number, and repeated alone with ``--only line:123``. A case is a
command line, a damage of a file, a kill, a text for a reader (``--texts``), or what a stranger puts
into a file or folder (``--strangers``).
"""

import argparse
import json
import multiprocessing as mp
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

if __package__ in (None, ""):
    tests = Path(__file__).resolve().parent.parent
    sys.path[:1] = [str(tests), str(tests / "oracles")]  # as the tests have it

from campaign import work
from campaign.work import DAMAGES, TEXTS

LIMITS = {"line": 60, "damaged": 300, "kill": 300, "text": 300, "stranger": 120}  # seconds


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the campaign; 1 where something was found."""
    asked = _parser().parse_args(arguments)
    began = time.monotonic()
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="campaign-") as folder:
        for outcome in campaign(asked, Path(folder)):
            outcomes.append(outcome)
            _tell(outcome, len(outcomes), asked, began)
    summary = summarised(asked, outcomes, time.monotonic() - began)
    if asked.out:
        asked.out.write_text(json.dumps(summary, indent=1) + "\n", "utf-8")
    print(table(summary))
    return 1 if summary["findings"] else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=150)
    parser.add_argument("--damaged", type=int, default=10)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--strangers", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path)
    parser.add_argument(
        "--command", default="", help="only lines of this command, damage or texts of this kind"
    )
    parser.add_argument("--only", default="", help="one task alone: line:123, damaged:4, kill:5")
    parser.add_argument("--aloud", action="store_true", help="show what every line says")
    parser.add_argument("--quiet", action="store_true")
    return parser


def tasks(asked: argparse.Namespace) -> list[work.Task]:
    """Everything that is to be done; the long ones first."""
    if asked.only:
        kind, _, number = asked.only.rpartition(":")
        return [work.Task(kind or "line", int(number), asked.seed, asked.command, aloud=True)]
    counts = {
        "kill": asked.kills,
        "damaged": -(-asked.damaged // DAMAGES),
        "line": asked.lines,
        "text": -(-asked.texts // TEXTS),
        "stranger": asked.strangers,
    }
    return [
        work.Task(kind, number, asked.seed, asked.command, asked.aloud)
        for kind, n in counts.items()
        for number in range(n)
    ]


class Worker:
    """A process that does one task after another, and is replaced when it hangs or dies."""

    def __init__(self, folder: Path, number: int) -> None:
        self.folder, self.number, self.lives = folder, number, 0
        self.task: work.Task | None = None
        self.start()

    def start(self) -> None:
        """Start the process."""
        self.lives += 1
        context = mp.get_context("spawn")
        self.pipe, other = context.Pipe()
        place = self.folder / f"{self.number}-{self.lives}"
        self.process = context.Process(target=work.serve, args=(other, place), daemon=False)
        self.process.start()
        other.close()
        self.done = 0
        self.pipe.recv()  # it is ready; an error here is one of the campaign

    def send(self, task: work.Task) -> None:
        """Give it a task."""
        self.task, self.since = task, time.monotonic()
        self.pipe.send(task)

    def stop(self) -> None:
        """End the process."""
        self.pipe.close()
        self.process.join(10)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


MANY = 1500  # tasks, after which a worker is replaced: libraries never give memory back


def campaign(asked: argparse.Namespace, folder: Path) -> Iterator[work.Outcome]:
    """The outcome of every task, as they end."""
    left = tasks(asked)[::-1]
    workers = [Worker(folder, n) for n in range(max(1, min(asked.jobs, len(left))))]
    try:
        while left or any(w.task for w in workers):
            for worker in workers:
                if worker.task is None and left:
                    if worker.done >= MANY:
                        worker.stop()
                        worker.start()
                    worker.send(left.pop())
            ready = wait([w.pipe for w in workers if w.task], timeout=1)
            for worker in workers:
                if worker.task and (outcome := _outcome(worker, ready)):
                    worker.task = None
                    worker.done += 1
                    yield outcome
    finally:
        for worker in workers:
            worker.stop()


def _outcome(worker: Worker, ready: Sequence[Connection | Any]) -> work.Outcome | None:
    """Return what a worker says, or what became of it; None where it is still busy."""
    task = worker.task
    assert task is not None
    if worker.pipe in ready:
        try:
            return worker.pipe.recv()  # type: ignore[no-any-return]
        except (EOFError, OSError):
            worker.process.join()
            code = worker.process.exitcode
            worker.start()
            return work.lost(task, worker.folder, "crash", f"the process ended with {code}")
    if time.monotonic() - worker.since > LIMITS[task.kind]:
        worker.process.kill()
        worker.process.join()
        worker.start()
        return work.lost(task, worker.folder, "hang", f"over {LIMITS[task.kind]} seconds")
    return None


def _tell(outcome: work.Outcome, n: int, asked: argparse.Namespace, began: float) -> None:
    for words in outcome.words:
        print(f"{outcome.name} {words}", flush=True)
    for finding in outcome.findings:
        argv = json.dumps(finding["argv"], ensure_ascii=True)
        print(f"{outcome.name} {finding['kind']}: {finding['detail']!r}\n    {argv}", flush=True)
    if n % 100 == 0 and not asked.quiet:
        rate = (time.monotonic() - began) / n
        print(f"{n} tasks, {rate:.3f} s each", file=sys.stderr, flush=True)


def summarised(
    asked: argparse.Namespace, outcomes: Sequence[work.Outcome], seconds: float
) -> dict[str, Any]:
    """The figures of the campaign."""
    codes: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        for code in outcome.codes:
            codes.setdefault(outcome.command, Counter())[str(code)] += 1
    findings = [
        {"task": o.name, "seed": asked.seed, **finding} for o in outcomes for finding in o.findings
    ]
    return {
        "seed": asked.seed,
        "tasks": dict(Counter(o.name.partition(":")[0] for o in outcomes)),
        "cases": sum(o.cases for o in outcomes),
        "command_lines": sum(len(o.codes) for o in outcomes),
        "compared": sum(o.compared for o in outcomes),
        "notes": dict(sum((Counter(o.notes) for o in outcomes), Counter())),
        "codes": {name: dict(sorted(c.items())) for name, c in sorted(codes.items())},
        "kinds": dict(Counter(f["kind"] for f in findings)),
        "findings": findings,
        "seconds": round(seconds, 1),
        "processor_seconds": round(sum(o.processor for o in outcomes), 1),
        "slowest": sorted(
            (
                {"task": o.name, "command": o.command, "seconds": round(o.seconds, 2)}
                for o in outcomes
            ),
            key=lambda row: -row["seconds"],
        )[:10],
    }


def table(summary: dict[str, Any]) -> str:
    """The figures for people."""
    every = sorted({code for codes in summary["codes"].values() for code in codes})
    lines = [f"{'command':12}" + "".join(f"{code:>8}" for code in every)]
    for command, codes in summary["codes"].items():
        lines.append(f"{command:12}" + "".join(f"{codes.get(code, 0):8}" for code in every))
    names = ("tasks", "cases", "command_lines", "compared", "notes", "kinds", "seconds")
    return "\n".join([*lines, *(f"{name}: {summary[name]}" for name in names)])


if __name__ == "__main__":
    raise SystemExit(main())
