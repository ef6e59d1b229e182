"""Draw mutants by a seed and see that tests kill them: ``python tests/mutation/run.py``.

A run goes on where the last one stopped (``--state``); ``--minutes`` ends it. ``--list`` shows what
is drawn, ``--only KEY`` judges one mutant, ``--again`` those that survived. ``--report FILE``
writes the report. ``--trace PATH...`` finds out which views and functions those tests use.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from queue import Queue
from typing import Any

if __package__ in (None, ""):
    sys.path[:1] = [str(Path(__file__).resolve().parents[1])]  # as the tests have it

from places import ROOT

from mutation import copies, report, touched
from mutation.judging import NotJudged, Verdict, judge
from mutation.mutants import Mutant, drawn


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge mutants; 1 where one survives without a reason."""
    options = _parser().parse_args(arguments)
    if options.trace:
        return trace(options.trace, options.jobs)
    mutants = drawn(options.count, options.seed)
    if options.list:
        sys.stdout.write("".join(f"{mutant.key}  {mutant}\n" for mutant in mutants))
        return 0
    options.state.parent.mkdir(parents=True, exist_ok=True)
    rows = stored(options.state)
    waiting = [m for m in mutants if _is_due(m, rows, options)]
    for row in judged(waiting, options.jobs, options.minutes * 60):
        rows[row["key"]] = row
        with options.state.open("a", encoding="utf-8") as f:
            f.write(json.dumps(row) + "\n")
        sys.stdout.write(
            f"{row['outcome']:8} {row['seconds']:6} s  {row['key']}  {row['mutant']}\n"
        )
        sys.stdout.flush()
    text, unexplained = report.written(mutants, rows, options.seed)
    if options.report:
        options.report.write_text(text, encoding="utf-8")
    sys.stdout.write(report.summary(mutants, rows) + "\n")
    return 1 if unexplained else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=600)
    parser.add_argument("--state", type=Path, default=ROOT / ".cache/mutation.jsonl")
    parser.add_argument("--only", default="", help="the key of one mutant")
    parser.add_argument("--again", action="store_true", help="judge survivors once more")
    parser.add_argument("--list", action="store_true", help="only show what is drawn")
    parser.add_argument("--report", type=Path)
    parser.add_argument("--trace", nargs="+", default=[], metavar="PATH")
    return parser


def _is_due(mutant: Mutant, rows: dict[str, dict[str, Any]], options: argparse.Namespace) -> bool:
    if options.only:
        return mutant.key == options.only
    row = rows.get(mutant.key)
    if options.again:
        return row is not None and row["outcome"] == "survived" and not report.reason(mutant)
    return row is None


def stored(state: Path) -> dict[str, dict[str, Any]]:
    """Return the last verdict on each mutant."""
    lines = state.read_text(encoding="utf-8").splitlines() if state.is_file() else []
    return {row["key"]: row for row in map(json.loads, lines)}


def judged(mutants: Sequence[Mutant], jobs: int, seconds: float) -> Iterator[dict[str, Any]]:
    """Yield verdicts as rows, until the time is over."""
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        free: Queue[Path] = Queue()
        for number in range(min(jobs, len(mutants))):
            free.put(copies.copied(Path(folder) / str(number)))

        def verdict(mutant: Mutant) -> Verdict | NotJudged | None:
            if time.monotonic() > end:
                return None
            copy = free.get()
            try:
                return judge(mutant, copy)
            except NotJudged as e:
                return e
            finally:
                free.put(copy)

        with ThreadPoolExecutor(jobs) as pool:
            of = {pool.submit(verdict, mutant): mutant for mutant in mutants}
            for future in as_completed(of):
                mutant, found = of[future], future.result()
                if isinstance(found, NotJudged):
                    sys.stderr.write(f"not judged: {found}\n")
                elif found is not None:
                    yield _row(mutant, found)


def _row(mutant: Mutant, verdict: Verdict) -> dict[str, Any]:
    return {
        "key": mutant.key,
        "outcome": verdict.outcome,
        "by": verdict.by,
        "seconds": verdict.seconds,
        "mutant": str(mutant),
    }


def trace(paths: Sequence[str], jobs: int) -> int:
    """Run tests in a copy that tells which views and functions they use; store what it tells."""
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        copy, file = copies.traced(Path(folder) / "copy"), Path(folder) / "trace"
        file.touch()
        words = ["-p", "mutation_trace", "-n", str(jobs), "--dist", "loadfile", "--tb=no"]
        ignored = [f"--ignore-glob=*/{name}" for name in sorted(touched.BY_TEXT)]
        ran = copies.pytest(
            copy,
            [*words, *ignored, "-m", copies.UNMARKED, *paths],
            limit=7200,
            MUTATION_TRACE=os.fspath(file),
        )
        sys.stdout.write(ran.stdout[-2000:])
        touched.merge(file)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
