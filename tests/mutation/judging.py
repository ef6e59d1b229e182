"""Judge a mutant: run the tests of its view or function on a copy that has it."""

import re
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mutation import copies, touched
from mutation.mutants import Mutant

LONG = 180  # seconds for the tests of a room, which are the last resort


@dataclass(frozen=True)
class Verdict:
    """``killed``, ``survived`` or ``timeout``; the test that failed, and the time it took."""

    outcome: str
    by: str
    seconds: float


class NotJudged(Exception):
    """The tests of a mutant could not be run: a fault of the harness, which kills nothing."""


def judge(mutant: Mutant, copy: Path, tests: Sequence[str] = ()) -> Verdict:
    """Write a mutant into a copy, run its tests until one fails, and put the file back.

    First those tests run that are known to use the view or function, then those of its rooms. A
    mutant that these do not kill in time has survived.
    """
    file = copy / mutant.file
    text = file.read_text(encoding="utf-8")
    copies.write(file, mutant.text)
    began = time.monotonic()
    quick = list(tests) or touched.tests(mutant.target)
    others = [] if tests else touched.of_room(mutant.target)
    try:
        outcome, by = "survived", ""
        if quick:
            outcome, by = _run(copy, quick, 120 + 5 * touched.seconds(quick), str(mutant))
        if outcome == "survived" and others:
            outcome, by = _run(copy, others, LONG, str(mutant))
            outcome = "survived" if outcome == "timeout" else outcome
    finally:
        copies.write(file, text)
    return Verdict(outcome, by, round(time.monotonic() - began, 1))


def _run(copy: Path, tests: Sequence[str], limit: float, mutant: str) -> tuple[str, str]:
    """Return the outcome of tests, and the first that failed."""
    try:
        ran = copies.pytest(copy, ["-x", "--tb=no", "-m", copies.UNMARKED, *tests], limit=limit)
    except subprocess.TimeoutExpired:
        return "timeout", ""
    if ran.returncode == 0:
        return "survived", ""
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", ran.stdout, re.M)
    if ran.returncode not in (1, 2) or failed is None:
        raise NotJudged(f"{mutant}: {ran.stdout[-500:]}{ran.stderr[-500:]}")
    return "killed", failed[1].partition("[")[0]
