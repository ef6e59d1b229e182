"""The worker of the campaign: one task after another, each in empty folders."""

import faulthandler
import os
import resource
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

MOST = 8 * 2**30  # bytes: what asks for all memory must not take the machine down
DAMAGES = 10  # of a file, which takes longer to make than to be read again
TEXTS = 200  # of a task


@dataclass(frozen=True)
class Task:
    """A command line, damages of a file, a kill, texts for readers, or a deed of a stranger."""

    kind: str
    number: int
    seed: int
    command: str = ""
    aloud: bool = False

    @property
    def name(self) -> str:
        """Return how it is asked for alone."""
        return f"{self.kind}:{self.number}"


@dataclass
class Outcome:
    """The outcome of a task."""

    name: str
    command: str
    codes: list[int | str] = field(default_factory=list)
    findings: list[dict[str, Any]] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)
    cases: int = 0
    compared: int = 0
    words: list[str] = field(default_factory=list)
    seconds: float = 0.0
    processor: float = 0.0


def serve(pipe: Connection, root: Path) -> None:
    """Do the tasks that come through the pipe, until it is closed."""
    from campaign.running import Place

    root.mkdir(parents=True)
    log = root / "log"
    log.touch()
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    trace = (root / "trace").open("w")
    faulthandler.enable(trace)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST, MOST))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    place = Place(root)
    pipe.send(None)
    while True:
        try:
            task = pipe.recv()
        except (EOFError, OSError):
            return
        faulthandler.dump_traceback_later(50, file=trace)
        outcome = perform(task, place, log)
        faulthandler.cancel_dump_traceback_later()
        pipe.send(outcome)


def perform(task: Task, place: Any, log: Path) -> Outcome:
    """Do a task; whatever goes wrong with the campaign itself is a finding, too."""
    from campaign import damage, kills, lines, strangers, texts

    began, clock = time.monotonic(), time.process_time()
    does = {
        "line": lines.perform,
        "damaged": damage.perform,
        "kill": kills.perform,
        "text": texts.perform,
        "stranger": strangers.perform,
    }[task.kind]
    try:
        outcome: Outcome = does(task, place, log)
    except BaseException as e:
        detail = f"{type(e).__name__}: {e}, line {_line(e)}"
        outcome = Outcome(task.name, task.kind, findings=[_finding("campaign", detail)])
    outcome.seconds = time.monotonic() - began
    outcome.processor = time.process_time() - clock
    return outcome


def _line(error: BaseException) -> str:
    trace, found = error.__traceback__, ""
    while trace is not None:
        found = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found


def lost(task: Task, folder: Path, kind: str, detail: str) -> Outcome:
    """The outcome of a task whose worker did not come back."""
    traces = sorted(folder.glob("*/trace"), key=lambda p: p.stat().st_mtime)
    where = traces[-1].read_text(errors="replace")[-1500:] if traces else ""
    return Outcome(task.name, task.kind, [kind], [_finding(kind, f"{detail}\n{where}")])


def _finding(kind: str, detail: str) -> dict[str, Any]:
    return {"kind": kind, "detail": detail, "argv": []}
