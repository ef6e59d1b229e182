"""Commands that run beside the page, each as a process of its own, until they end or are stopped.

They are the command lines that the page shows. Stopping one is Ctrl-C.
"""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from qifsql.errors import InputError

RUNNING, DONE, FAILED, STOPPED = "running", "done", "failed", "stopped"
PATIENCE = 10.0  # seconds until a command that was asked to stop is killed
MOST = 10  # commands that are listed
LINE = re.compile(r"progress: (?P<what>.*) (?P<percent>\d+) %\n?")


class Job:
    """Command lines that run one after another; the first that fails ends them.

    ``sweep`` is the file of a sweep that is shown when it is done.
    """

    def __init__(self, number: int, lines: Sequence[Sequence[str]], sweep: str = "") -> None:
        self.number = number
        self.lines = [list(words) for words in lines]
        self.sweep = sweep
        self.state = RUNNING
        self.output = ""
        self.progress: tuple[str, float | None] = ("", None)
        self._began, self._ended = time.monotonic(), 0.0
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name=f"job {number}", daemon=True)
        self._thread.start()

    @property
    def seconds(self) -> float:
        """Return how long it has been running, or how long it took."""
        return (self._ended or time.monotonic()) - self._began

    def _run(self) -> None:
        state = DONE
        for words in self.lines:
            code = self._command(words)
            if code != 0:
                state = STOPPED if self.state == STOPPED or code == 130 else FAILED
                break
        self._ended = time.monotonic()
        self.state = state

    def _command(self, words: Sequence[str]) -> int:
        """Run one command line; return its exit code."""
        with self._lock:
            if self.state == STOPPED:
                return 130
            process = self._process = subprocess.Popen(  # noqa: S603 - qifsql itself
                [sys.executable, "-m", "qifsql", *words, *_with_progress(words)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,  # Ctrl-C in the terminal is for the page, which stops it
            )
        with process:
            for line in process.stderr or ():
                if match := LINE.fullmatch(line):
                    self.progress = match["what"], int(match["percent"]) / 100
                else:
                    self.output += line
        return process.returncode

    def stop(self) -> None:
        """Stop as Ctrl-C does."""
        with self._lock:
            if self.state != RUNNING:
                return
            self.state = STOPPED
            if self._process is not None and self._process.poll() is None:
                self._process.send_signal(signal.SIGINT)

    def close(self) -> None:
        """Stop, and wait for the end."""
        self.stop()
        self._thread.join(PATIENCE)
        if self._thread.is_alive() and self._process is not None:
            self._process.kill()
            self._thread.join(PATIENCE)


class Jobs:
    """The commands that were started from the page."""

    def __init__(self) -> None:
        self._jobs: list[Job] = []
        self._lock = threading.Lock()

    def start(self, lines: Sequence[Sequence[str]], sweep: str = "") -> Job:
        """Start command lines."""
        with self._lock:
            job = Job(len(self._jobs), lines, sweep)
            self._jobs.append(job)
            return job

    def __getitem__(self, number: str) -> Job:
        """Return a job by its number in a form; InputError if there is none."""
        if not number.isdecimal() or int(number) >= len(self._jobs):
            raise InputError("there is no such command; load the page again")
        return self._jobs[int(number)]

    @property
    def latest(self) -> list[Job]:
        """Return the last ones, the newest first."""
        return self._jobs[::-1][:MOST]

    @property
    def is_running(self) -> bool:
        """Return whether any is running."""
        return any(job.state == RUNNING for job in self._jobs)

    def close(self) -> None:
        """Stop all."""
        for job in self._jobs:
            job.stop()
        for job in self._jobs:
            job.close()


def _with_progress(words: Sequence[str]) -> list[str]:
    return [] if words[0] == "report" else ["--progress"]


def new_file(text: str, endings: Sequence[str]) -> str:
    """Return the name of a file to write; InputError if it exists or has another ending."""
    name = text.strip()
    if not name or name.startswith("-"):
        raise InputError("name a file to write")
    if not name.casefold().endswith(tuple(endings)):
        raise InputError(f"{name} does not end in {' or '.join(endings)}; name another file")
    if os.path.lexists(name):
        raise InputError(f"{name} exists; name another file, or remove that one first")
    if not Path(name).parent.is_dir():
        raise InputError(f"there is no folder {Path(name).parent}; make it first")
    return name
