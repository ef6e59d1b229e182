"""Send results to stdout in a format, or to a file by its ending."""

import os
import sys
from pathlib import Path

import typer

from qifsql.errors import UNMET, InputError, OutputError, printable
from qifsql.options import runtime
from qifsql.options.shared_options import Output
from qifsql.results.result import Display, save, text
from qifsql.results.storage import check_ending, check_place

__all__ = ["FORMATS", "Display", "check", "save", "show"]

FORMATS = ("table", "json", "csv", "markdown")


def check(output: Output, **files: str | Path | None) -> None:
    """Refuse an output that cannot be written, before any work.

    ``files`` are further files of the same command, by their options: all files must differ.
    """
    if output.format_ is not None and output.format_ not in FORMATS:
        raise InputError(f'there is no format "{output.format_}"; use one of {", ".join(FORMATS)}')
    if output.out is not None:
        check_ending(output.out)
        check_place(output.out, ())
        for option, path in files.items():
            check_differ(output.out, "-o", path, f"--{option}")


def check_differ(path: Path, option: str, other_path: str | Path | None, other_option: str) -> None:
    """Refuse two options that name the same file: one output would overwrite the other."""
    if other_path is not None and os.path.realpath(path) == os.path.realpath(other_path):
        raise OutputError(f"{option} and {other_option} both name {path}; name two files")


def show(display: Display, output: Output, *, met: bool = True, unmet: str = "") -> None:
    """Write a result to stdout, and to a file if one is named.

    A result that is not ``met`` ends with ``UNMET``, and with the words ``unmet`` on stderr.
    """
    try:
        _show(display, output)
    except (BrokenPipeError, SystemExit):  # the reader has stopped; the exit code still counts
        if met:
            raise
    if not met:
        if unmet:
            runtime.talk(unmet)
        raise typer.Exit(UNMET)


def _show(display: Display, output: Output) -> None:
    """Write a result to its file, and to stdout unless a file is enough."""
    if output.out is not None:
        save(display, output.out)
        if output.format_ is None and not sys.stdout.isatty():
            return
    readable = sys.stdout.isatty() or display.prose
    chosen = output.format_ or ("table" if readable else "csv")
    if chosen == "table":
        from qifsql.presentation import terminal

        terminal.draw(display.parts)
    else:
        write(text(display, chosen))
    sys.stdout.flush()


def write(data: str) -> None:
    """Write data to stdout; for a terminal, replace characters that control it."""
    sys.stdout.write(printable(data, "\n\t") if sys.stdout.isatty() else data)
