"""Run the command line in this process and keep what it says; wait for one in another process."""

import io
import os
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from effort import PATIENCE

from qifsql.app import main


class Done(NamedTuple):
    """The outcome of a command: its exit code, stdout and stderr."""

    code: int
    out: str
    err: str


def run(*arguments: object) -> Done:
    """Run ``qifsql`` with these arguments."""
    out, err = io.StringIO(), io.StringIO()
    with (
        patch.object(sys, "argv", ["qifsql", *map(str, arguments)]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        code = main()
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
