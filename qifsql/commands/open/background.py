"""Commands that run beside the page, each as a process of its own, until they end or are stopped.

They are the command lines that the page shows, with the limits of the page. Stopping one is Ctrl-C.
A sweep works in steps, so that the page can show its answers as they come.
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

from qifsql.commands.open.fields import integer
from qifsql.commands.open.walking import Walk
from qifsql.engine import masks
from qifsql.engine.settings import Settings
from qifsql.engine.temporary import PrivateFolder
from qifsql.errors import InputError, QifError

RUNNING, DONE, FAILED, STOPPED = "running", "done", "failed", "stopped"
KILLED_AFTER = 10.0  # seconds until a command that was asked to stop is killed
MOST_LISTED = 10  # commands
FIRST_STEP = 4.0  # seconds of the first step of a sweep; later ones take half of the time so far
REFUSED = 2  # the exit code of bad input, and of a sweep in which nothing is complete yet
CTRL_C = 130  # the exit code of a command that was interrupted
PROGRESS_LINE = re.compile(r"progress: (?P<what>.*) (?P<percent>\d+) %\n?")


class Job:
    """Command lines that run one after another; the first that fails ends them.

    A line is the words after ``qifsql``. ``limits`` are added to each line but ``report``.
    """

    def __init__(
        self, number: int, lines: Sequence[Sequence[str]], limits: Sequence[str] = ()
    ) -> None:
        """Start the lines in another thread; jobs have numbers from 0."""
        self.number = number
        self.lines = [list(words) for words in lines]
        self.limits = list(limits)
        self.state = RUNNING
        self.output = ""  # messages of the lines
        self.progress: tuple[str, float | None] = ("", None)  # what is done, the share done
        self._began, self._ended = time.monotonic(), 0.0  # 0: not at its end
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name=f"job {number}", daemon=True)
        self._thread.start()

    @property
    def seconds(self) -> float:
        """Return how long it has been running, or how long it took."""
        return (self._ended or time.monotonic()) - self._began

    def _run(self) -> None:
        """Run the lines one after another; set the state and the time at the end."""
        state = DONE
        for words in self.lines:
            try:
                code = self._run_line(words)
            except (OSError, ValueError, QifError) as e:  # ValueError: of a NUL in a word
                code, self.output = 1, f"error: {e}"
            if code != 0:
                state = STOPPED if self.state == STOPPED or code == CTRL_C else FAILED
                break
        self._ended = time.monotonic()
        self.state = state

    def _run_line(self, words: Sequence[str]) -> int:
        """Run ``qifsql`` with these words as a process; return its exit code.

        Its progress goes to ``progress``, and its other messages are added to ``output``.
        """
        # report reads no data, and has neither of these options
        more = [] if words[0] == "report" else ["--progress", *self.limits]
        with self._lock:
            if self.state == STOPPED:
                return CTRL_C
            process = self._process = subprocess.Popen(  # noqa: S603 - qifsql itself
                [sys.executable, "-m", "qifsql", *words, *more],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                umask=masks.PRIVATE,  # what is written is for its owner alone
                start_new_session=True,  # Ctrl-C in the terminal is for the page, which stops it
            )
        with process:
            for line in process.stderr or ():
                if match := PROGRESS_LINE.fullmatch(line):
                    self.progress = match["what"], int(match["percent"]) / 100
                else:
                    self.output += line
        return process.returncode

    def stop(self) -> None:
        """Interrupt the running line as Ctrl-C does; no further line is run."""
        with self._lock:
            if self.state != RUNNING:
                return
            self.state = STOPPED
            if self._process is not None and self._process.poll() is None:
                self._process.send_signal(signal.SIGINT)

    def close(self) -> None:
        """Stop, and wait for the end."""
        self.stop()
        self._thread.join(KILLED_AFTER)
        if self._thread.is_alive() and self._process is not None:
            self._process.kill()
            self._thread.join(KILLED_AFTER)


class SweepJob(Job):
    """A sweep that ends in ``-o FILE``, with what is complete of it so far.

    It works in steps. A step has a time budget, resumes from the workspace of the step before, and
    stores the subsets that are complete; the last step writes the file. ``answers`` is the result
    of the latest step, ``version`` the number of results so far (0: none yet). The workspace and
    these results are in a private folder in ``temp``, which is removed at the end.
    """

    def __init__(
        self,
        number: int,
        lines: Sequence[Sequence[str]],
        limits: Sequence[str],
        *,
        private: bool,
        temp: Path | None,
    ) -> None:
        """Start the sweep; ``private``: its results show small groups and values of cells."""
        self.answers: Walk | None = None
        self.version = 0
        self.private = private
        self.temp = temp
        super().__init__(number, lines, limits)

    def _run_line(self, words: Sequence[str]) -> int:
        """Run the sweep in steps, whose files are in a private folder; return the exit code."""
        folder = PrivateFolder.make(self.temp)
        try:
            return self._run_steps(words, folder.path)
        finally:
            folder.remove()

    def _run_steps(self, words: Sequence[str], folder: Path) -> int:
        """Sweep in steps of growing time budgets, then write the file; return the exit code.

        The last two of ``words`` are ``-o FILE``; a step writes to a file of ``folder`` instead. A
        budget is half of ``seconds``, the time that the job has taken so far, so it grows.
        ``_run_line`` sets ``output``, what the line prints; ``_read_answers`` sets ``answers``.
        """
        so_far, resumed = str(folder / "so-far.parquet"), ["--workspace", str(folder / "workspace")]
        step = [*words[:-1], so_far, *resumed, "--time-budget"]
        while self.answers is None or not self.answers.is_whole:
            # Half as long as all steps so far: time to write answers is then a small share.
            began, budget = time.monotonic(), max(FIRST_STEP, self.seconds / 2)
            self.output = ""
            code = super()._run_line([*step, f"{budget:.0f}s"])
            # bad input is refused at once: after the whole budget, no subset was complete yet
            is_incomplete = code == REFUSED and time.monotonic() - began >= budget
            if code != 0 and not is_incomplete:
                return code
            if code == 0 and not self._read_answers(so_far):
                return REFUSED
        self.output = ""
        code = super()._run_line([*words, *resumed])
        if code == 0:
            self._read_answers(words[-1])
        return code

    def _read_answers(self, file: str) -> bool:
        """Take the answers of a stored sweep; return whether the page can show them."""
        try:
            self.answers = Walk.of(file, private=self.private)
        except InputError as e:
            self.output = f"error: {e}"
            return False
        self.version += 1
        return True


class Jobs:
    """The commands that were started from the page; ``settings`` are the limits of each."""

    def __init__(self, settings: Settings | None = None) -> None:
        named = settings or Settings()
        limits = {"--memory": named.memory, "--threads": named.threads, "--temp": named.temp}
        self._limits: list[str] = []  # as words of a command line
        for flag, limit in limits.items():
            self._limits += [] if limit is None else [flag, str(limit)]
        self._temp = None if named.temp is None else Path(named.temp)
        self._jobs: list[Job] = []
        self._lock = threading.Lock()

    def start(self, lines: Sequence[Sequence[str]]) -> Job:
        """Start command lines."""
        with self._lock:
            self._jobs.append(Job(len(self._jobs), lines, self._limits))
            return self._jobs[-1]

    def sweep(self, words: Sequence[str], *, private: bool) -> Job:
        """Start a sweep, whose last words are ``-o FILE``."""
        with self._lock:
            number, limits = len(self._jobs), self._limits
            self._jobs.append(SweepJob(number, [words], limits, private=private, temp=self._temp))
            return self._jobs[-1]

    def __getitem__(self, number: str) -> Job:
        """Return a job by its number in a form; InputError if there is none."""
        n = integer(number)
        if n is None or n >= len(self._jobs):
            raise InputError("there is no such command; load the page again")
        return self._jobs[n]

    @property
    def latest(self) -> list[Job]:
        """Return the last jobs, the newest first."""
        return self._jobs[::-1][:MOST_LISTED]

    @property
    def are_running(self) -> bool:
        """Return whether any of them is running."""
        return any(job.state == RUNNING for job in self._jobs)

    def close(self) -> None:
        """Stop all; wait for their end."""
        for job in self._jobs:
            job.stop()
        for job in self._jobs:
            job.close()


def new_file(text: str, endings: Sequence[str]) -> str:
    """Return the name of a file to write; InputError if it exists or has another ending."""
    name = text.strip()
    if not name or name.startswith("-") or "\0" in name:
        raise InputError("name a file to write")
    if not name.casefold().endswith(tuple(endings)):
        raise InputError(f"{name} does not end in {' or '.join(endings)}; name another file")
    if os.path.lexists(name):
        raise InputError(f"{name} exists; name another file, or remove that one first")
    if not Path(name).parent.is_dir():
        raise InputError(f"there is no folder {Path(name).parent}; make it first")
    return name
