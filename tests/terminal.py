"""Run the command line in this process and keep what it says."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple
from unittest.mock import patch

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
