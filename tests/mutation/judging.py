"""Judge a mutant: run the tests of its view or function on a copy that has it."""

import math
import re
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from mutation import copies, touched
from mutation.mutants import Mutant


@dataclass(frozen=True)
class Effort:
    """Examples and seconds that are spent on a mutant.

    The known tests that usually take ``known`` seconds together are run, the most promising first.
    ``slack`` times these seconds, and two minutes, are the limit for them; ``room`` are the seconds
    for the tests of the rooms, which are the last resort, where no test is known or ``whole`` is
    set.
    """

    examples: str
    known: float
    slack: float
    room: float
    whole: bool


FIRST = Effort(examples="quick", known=8, slack=5, room=60, whole=False)
AGAIN = Effort(examples="usual", known=math.inf, slack=15, room=300, whole=True)
NO_TESTS = 5  # the exit code of pytest that ran none
FEW = 5  # known tests that are tried before the others
SOUND: set[str] = set()  # tests that failed with a mutant, and pass without one


@dataclass(frozen=True)
class Verdict:
    """``killed``, ``survived`` or ``timeout``; the test that failed or did not end; the time."""

    outcome: str
    by: str
    seconds: float


class NotJudged(Exception):
    """The tests of a mutant could not be run: a fault of the harness, which kills nothing."""


def judge(
    mutant: Mutant,
    copy: Path,
    tests: Sequence[str] = (),
    *,
    effort: Effort = FIRST,
    killers: Sequence[str] = (),
) -> Verdict:
    """Write a mutant into a copy, run its tests until one fails, and put the file back.

    First those tests run that are known to use the view or function, then those of its rooms. A
    mutant that these do not kill in their time has survived. ``killers`` are tests that killed
    other mutants of the file: they run with the first.
    """
    file = copy / mutant.file
    text = file.read_text(encoding="utf-8")
    copies.write(file, mutant.text)
    began = time.monotonic()
    known = list(tests) or touched.tests(mutant.target)
    spent = accumulate(touched.seconds([test]) for test in known)
    known = [
        t for i, (t, s) in enumerate(zip(known, spent, strict=True)) if i < FEW or s <= effort.known
    ]
    others = touched.of_room(mutant.target) if not known or (effort.whole and not tests) else []
    try:
        outcome, by = "survived", ""
        for some in (list(dict.fromkeys([*known[:FEW], *killers])), known[FEW:]):
            if some and outcome == "survived":
                limit = 120 + effort.slack * touched.seconds(some)
                outcome, by = _run(copy, some, limit, str(mutant), effort.examples)
        if outcome == "survived" and others:
            outcome, by = _run(copy, others, effort.room, str(mutant), "quick")
            outcome = "survived" if outcome == "timeout" else outcome
    finally:
        copies.write(file, text)
    if outcome == "killed" and by not in SOUND:
        if _run(copy, [by], 300, str(mutant), effort.examples)[0] != "survived":
            raise NotJudged(f"{mutant}: {by} fails without it, too")
        SOUND.add(by)
    return Verdict(outcome, by, round(time.monotonic() - began, 1))


def _run(
    copy: Path, tests: Sequence[str], limit: float, mutant: str, effort: str
) -> tuple[str, str]:
    """Return the outcome of tests, and the first that failed or did not end."""
    words = ["-vvv", "-x", "--tb=no", "-m", copies.fast(), *tests]
    try:
        ran = copies.pytest(copy, words, limit=limit, effort=effort)
    except subprocess.TimeoutExpired as e:
        said = e.stdout.decode(errors="replace") if isinstance(e.stdout, bytes) else e.stdout or ""
        began = re.findall(r"^(\S+::test_\w+)", said, re.M)
        return "timeout", began[-1] if began else ""
    if ran.returncode in (0, NO_TESTS):  # those of other sets are left out
        return "survived", ""
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", ran.stdout, re.M)
    if ran.returncode not in (1, 2) or failed is None:
        raise NotJudged(f"{mutant}: {ran.stdout[-500:]}{ran.stderr[-500:]}")
    return "killed", failed[1].partition("[")[0]
