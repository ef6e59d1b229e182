"""Draw mutants by a seed and see that tests kill them: ``python tests/mutation/run.py``.

A run goes on where the last one stopped: the verdicts (``--state``) are kept in the repository, and
one on a mutant holds until its file changes. ``--minutes`` ends a run. ``--list`` shows what is
drawn. ``--only KEY`` judges one mutant, ``--again`` those that no test killed: both try harder.
``--rooms sql,counting`` names what is mutated: ``sql``, or folders of the package.
``--report FILE`` writes the report. ``--trace PATH...`` finds out which views and functions those
tests use.

A view or function that is new changes what a seed draws. ``--recorded`` takes the mutants of the
verdicts that are still there instead. ``--check-killers`` draws nothing, either: it says which
kills of the verdicts are by a test that ``make test`` still runs and that says the same, and judges
the others again; with ``--list`` it only says so.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from queue import Queue
from typing import Any

if __package__ in (None, ""):
    sys.path[:1] = [str(Path(__file__).resolve().parents[1])]  # as the tests have it

from mutation import checking, copies, mutants, report, sources, touched
from mutation.judging import AGAIN, FEW, FIRST, Effort, NotJudged, Verdict, judge
from mutation.mutants import Mutant

STATE = Path(__file__).with_name("verdicts.jsonl")
STATE_OF_ROOMS = Path(__file__).with_name("verdicts_rooms.jsonl")


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge mutants; 1 where one survives without a reason."""
    options = _parser().parse_args(arguments)
    if options.trace:
        return trace(options.trace, options.jobs)
    rooms = options.rooms.split(",")
    options.state = options.state or (STATE if rooms == list(mutants.ROOMS) else STATE_OF_ROOMS)
    if options.check_killers:
        return check_killers(options)
    if options.recorded:
        drawn = list(checking.found(list(stored(options.state).values())).values())
    else:
        drawn = mutants.drawn(options.count, options.seed, mutants.files(rooms))
    if options.list:
        sys.stdout.write("".join(f"{mutant.key}  {mutant}\n" for mutant in drawn))
        return 0
    options.state.parent.mkdir(parents=True, exist_ok=True)
    rows = stored(options.state)
    waiting = [m for m in drawn if _is_due(m, rows, options)]
    waiting.sort(key=lambda mutant: bool(report.reason(mutant)))  # what needs no test comes last
    effort = AGAIN if options.again or options.only else FIRST
    for row in judged(waiting, rows, options, effort):
        _keep(row, rows, options.state)
    text, unexplained = report.section(drawn, rows, options.seed, rooms)
    if options.report:
        report.write(options.report, text)
        store([rows[mutant.key] for mutant in drawn if mutant.key in rows], options.state)
    sys.stdout.write(report.summary(drawn, rows) + "\n")
    return 1 if unexplained else 0


def check_killers(options: argparse.Namespace) -> int:
    """Judge kills of the verdicts again whose test is gone or says something else; 1 if one lives.

    A test that changed is tried alone first.
    """
    rows = stored(options.state)
    states = checking.states(rows)
    counts = Counter(states.values())
    sys.stdout.write(f"{len(states)} kills: {checking.summary(counts)}\n")
    due = {key for key, state in states.items() if state != checking.SAME}
    if options.list:
        lines = [f"{states[key]:8} {key}  {rows[key]['by']}  {rows[key]['mutant']}" for key in due]
        sys.stdout.write("".join(f"{line}\n" for line in sorted(lines)))
        return 0
    found = checking.found([rows[key] for key in due])
    for key in sorted(due - found.keys()):
        sys.stdout.write(f"no more there: {key}  {rows[key]['mutant']}\n")
    changed = {mutant.key: rows[key]["by"] for key, mutant in found.items()
               if states[key] == checking.CHANGED}  # fmt: skip
    alive = 0
    for row in judged(list(found.values()), rows, options, FIRST, changed):
        _keep(row, rows, options.state)
        alive += row["outcome"] == "survived"
    for key, mutant in found.items():
        if mutant.key in rows and mutant.key != key:  # its file has changed, and it was judged
            del rows[key]
    store(rows.values(), options.state)
    sys.stdout.write(f"{alive} of {len(found)} that were judged again survived\n")
    return 1 if alive else 0


def _keep(row: dict[str, Any], rows: dict[str, dict[str, Any]], state: Path) -> None:
    rows[row["key"]] = row
    store([row], state, mode="a")
    sys.stdout.write(f"{row['outcome']:8} {row['seconds']:6} s  {row['key']}  {row['mutant']}\n")
    sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=600)
    parser.add_argument("--rooms", default=",".join(mutants.ROOMS), help="sql, folders of qifsql/")
    parser.add_argument("--state", type=Path, help="the verdicts; those beside this file")
    parser.add_argument("--recorded", action="store_true", help="those of the verdicts, not drawn")
    parser.add_argument("--check-killers", action="store_true", help="see that kills still hold")
    parser.add_argument("--only", default="", help="the key of one mutant")
    parser.add_argument("--again", action="store_true", help="judge once more what no test killed")
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


def store(rows: Iterable[Mapping[str, Any]], state: Path, mode: str = "w") -> None:
    """Write verdicts, or add them."""
    with state.open(mode, encoding="utf-8") as f:
        f.writelines(json.dumps(row) + "\n" for row in rows)


def judged(
    mutants: Sequence[Mutant],
    rows: Mapping[str, Mapping[str, Any]],
    options: argparse.Namespace,
    effort: Effort,
    promising: Mapping[str, str] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield verdicts as rows, until the time is over; ``rows`` are the earlier ones.

    ``promising`` names a test for the keys of some mutants that is run alone before all others.
    """
    end, jobs = time.monotonic() + options.minutes * 60, options.jobs
    killers: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows.values():
        killers[row["mutant"].partition(":")[0]][row["by"]] += 1
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        free: Queue[Path] = Queue()
        for number in range(min(jobs, len(mutants))):
            free.put(copies.copied(Path(folder) / str(number)))

        def verdict(mutant: Mutant) -> Verdict | NotJudged | None:
            if time.monotonic() > end:
                return None
            copy = free.get()
            try:
                alone = (promising or {}).get(mutant.key)
                if alone and (kill := judge(mutant, copy, [alone])).outcome != "survived":
                    return kill
                tests = [by for by, _ in killers[mutant.file].most_common()]
                tests = [test for test in tests if touched.exists(test)][:FEW]
                return judge(mutant, copy, effort=effort, killers=tests)
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
                    killers[mutant.file][found.by] += 1
                    yield _row(mutant, found)


def _row(mutant: Mutant, verdict: Verdict) -> dict[str, Any]:
    return {
        "key": mutant.key,
        "outcome": verdict.outcome,
        "by": verdict.by,
        "source": sources.digest(verdict.by),
        "seconds": verdict.seconds,
        "mutant": str(mutant),
    }


def trace(paths: Sequence[str], jobs: int) -> int:
    """Run tests in a copy that tells which views and functions they use; store what it tells."""
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        copy, file = copies.traced(Path(folder) / "copy"), Path(folder) / "trace"
        file.touch()
        words = ["-p", "mutation_trace", "-n", str(jobs), "--dist", "loadfile", "--tb=no"]
        ignored = [f"--ignore-glob=*/{name}" for name in sorted(touched.NO_JUDGES)]
        ran = copies.pytest(
            copy,
            [*words, *ignored, "-m", copies.fast(), *paths],
            limit=7200,
            MUTATION_TRACE=os.fspath(file),
        )
        sys.stdout.write(ran.stdout[-2000:])
        touched.merge(file)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
