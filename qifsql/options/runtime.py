"""The frame of every command: limits, progress, remarks, errors and exit codes."""

import errno
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from qifsql.errors import (
    INTERRUPTED,
    NOT_UTF8,
    STARVED,
    EngineError,
    InputError,
    Interrupted,
    QifError,
    printable,
    starved,
    unwritable,
)

TWO_CORES = 3 * 2**29  # bytes of address space that the libraries need with two cores
FURTHER_CORE = 2**27  # bytes of address space for the threads of each further core
DUCKDB_INTERRUPTED = "Query interrupted"  # how DuckDB reports Ctrl-C in the main thread
INTERNAL = 1  # exit code of an error that qifsql does not know


def print_notes(notes: Sequence[str], *, quiet: bool) -> None:
    """Print notes for the reader on stderr."""
    if not quiet:
        for note in notes:
            talk(f"note: {note}")


@contextmanager
def noting_created(path: str | Path | None, *, quiet: bool) -> Iterator[None]:
    """Print a note if a file is created inside the context: it holds values of cells."""
    new = path is not None and not Path(path).exists()
    try:
        yield
    finally:
        if new and Path(str(path)).exists():
            note = f"{path} holds values of cells, which only you can read; "
            note += "delete it when it is done"
            print_notes([note], quiet=quiet)


def talk(text: str) -> None:
    """Write one line for the user to stderr, without characters that control the terminal."""
    with suppress(OSError, ValueError):  # stderr may be closed
        sys.stderr.write(printable(text, "\n") + "\n")


_SIGNALS: list[int] = []  # that asked the command to stop


def run_guarded(command: Callable[[], int | None], *, debug: bool) -> int:
    """Run a command; print any error as one line, and return the exit code.

    Signals that ask the command to stop interrupt it, and are remembered.
    """
    _SIGNALS.clear()
    signal.signal(signal.SIGTERM, _stop)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stop)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:
        signal.signal(signal.SIGHUP, _stop)  # the terminal was closed; nohup ignores it
    try:
        return command() or 0
    except (BrokenPipeError, SystemExit):  # typer and rich exit when a pipe is closed
        return 0  # the reader needs no more output
    except (Exception, KeyboardInterrupt) as e:
        message, code = _explain(e)
        talk(f"error: {message}")
        if debug and isinstance(e, QifError) and e.detail:
            talk(e.detail)
        elif debug and not isinstance(e, QifError) and code == INTERNAL:
            traceback.print_exc()
        return code


def _explain(error: BaseException) -> tuple[str, int]:
    """Return the message about an error, and the exit code."""
    if isinstance(error, QifError):
        text = str(error)  # it may begin with the name of a file, which may begin a line
        return printable(text) if text.startswith("\n") else text, error.exit_code
    if isinstance(error, OSError):
        code = InputError if error.errno == errno.ENAMETOOLONG else EngineError
        return unwritable(error.filename or "the result", error), code.exit_code
    if isinstance(error, UnicodeEncodeError):  # a byte of the command line that is no character
        return NOT_UTF8, InputError.exit_code
    # Compiled code may turn an interruption into another error.
    if isinstance(error, KeyboardInterrupt) or _SIGNALS or str(error) == DUCKDB_INTERRUPTED:
        return INTERRUPTED, Interrupted.exit_code
    if starved(error):
        return STARVED, EngineError.exit_code
    return f"internal error ({type(error).__name__}); please report it with --debug", INTERNAL


def check_address_space() -> None:
    """Raise EngineError if the shell gives the process less memory than the libraries need.

    A library that gets no memory for a thread ends the process without an error in Python.
    """
    try:
        import resource
    except ImportError:
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    need = TWO_CORES + FURTHER_CORE * max(0, (os.cpu_count() or 1) - 2)
    if limit != resource.RLIM_INFINITY and limit < need:
        raise EngineError(
            f"the shell limits the address space to {limit // 2**20:,} MiB (ulimit -v), and the "
            f"libraries need {need // 2**20:,} MiB here, most of it unused; raise that limit, and "
            "limit memory with --memory instead"
        )


def _stop(number: int, _frame: FrameType | None) -> None:
    _SIGNALS.append(number)
    raise KeyboardInterrupt
