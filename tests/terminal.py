"""Run the command line in this process and keep what it says; wait for one in another process."""

import io
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from effort import PATIENCE
from typer.main import get_command

from qifsql import app
from qifsql.presentation.language import of_locale

application = app.application


class Done(NamedTuple):
    """The outcome of a command: its exit code, stdout and stderr."""

    code: int
    out: str
    err: str


@cache
def _built(names: Sequence[str], language: str) -> Callable[..., int | None]:
    """Return the parser of these commands, whose help texts are in the language of the locale."""
    return get_command(application(names))


def _built_once(names: Sequence[str]) -> Callable[..., int | None]:
    """Return the parser of these commands: to build one takes as long as a small attack."""
    return _built(tuple(names), of_locale())


def run(*arguments: object) -> Done:
    """Run ``qifsql`` with these arguments."""
    out, err = io.StringIO(), io.StringIO()
    with (
        patch.object(app, "application", _built_once),
        patch.object(sys, "argv", ["qifsql", *map(str, arguments)]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        code = app.main()
    return Done(code, out.getvalue(), err.getvalue())


def wait_for_work(process: subprocess.Popen[Any], seconds: float, folder: Path) -> None:
    """Wait until a process has files in a folder, and has then worked for so long.

    Work is time of a processor, so the process is as far on a busy machine as on an idle one.
    """
    end = time.monotonic() + PATIENCE
    while not any(folder.iterdir()):
        _waited(process, end)
    start = _worked(process)
    while _worked(process) < start + seconds:
        _waited(process, end)


def _waited(process: subprocess.Popen[Any], end: float) -> None:
    assert process.poll() is None, "the process has ended"
    assert time.monotonic() < end, "the process does not get to work"
    time.sleep(0.01)


def _worked(process: subprocess.Popen[Any]) -> float:
    """Return the processor time of a process; the time of a clock where there is no ``/proc``."""
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return time.monotonic()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
