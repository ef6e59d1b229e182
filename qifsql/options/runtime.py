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

LEAST, CORES = 3 * 2**29, 2  # bytes of address space that the libraries need with two cores
PER_CORE = 2**27  # bytes of address space for the threads of each further core
BROKEN_OFF = "Query interrupted"  # how DuckDB reports Ctrl-C in a statement of the main thread


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
    """Run a command; print any error as one line, and return the exit code."""
    _obey_signals()
    try:
        return command() or 0
    except QifError as e:
        text = str(e)
        if text.startswith("\n"):  # the name of a file
            text = printable(text)
        talk(f"error: {text}")
        if debug and e.detail:
            talk(e.detail)
        return e.exit_code
    except KeyboardInterrupt:
        talk(f"error: {INTERRUPTED}")
        return Interrupted.exit_code
    except (BrokenPipeError, SystemExit):  # typer and rich exit when a pipe is closed
        return 0  # the reader needs no more output
    except OSError as e:
        talk(f"error: {unwritable(e.filename or 'the result', e)}")
        return InputError.exit_code if e.errno == errno.ENAMETOOLONG else EngineError.exit_code
    except UnicodeEncodeError:  # a byte of the command line that is not a character
        talk(f"error: {NOT_UTF8}")
        return InputError.exit_code
    except Exception as e:
        if _SIGNALS or str(e) == BROKEN_OFF:  # compiled code may turn an interruption into an error
            talk(f"error: {INTERRUPTED}")
            return Interrupted.exit_code
        if starved(e):
            talk(f"error: {STARVED}")
            return EngineError.exit_code
        talk(f"error: internal error ({type(e).__name__}); please report it with --debug")
        if debug:
            traceback.print_exc()
        return 1


def check_address_space() -> None:
    """Raise EngineError if the shell gives the process less memory than the libraries need.

    A library that gets no memory for a thread ends the process without an error in Python.
    """
    try:
        import resource
    except ImportError:
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    need = LEAST + PER_CORE * max(0, (os.cpu_count() or 1) - CORES)
    if limit != resource.RLIM_INFINITY and limit < need:
        raise EngineError(
            f"the shell limits the address space to {limit // 2**20:,} MiB (ulimit -v), and the "
            f"libraries need {need // 2**20:,} MiB here, most of it unused; raise that limit, and "
            "limit memory with --memory instead"
        )


def _obey_signals() -> None:
    """Let signals that ask the command to stop interrupt it, and remember them."""
    _SIGNALS.clear()
    signal.signal(signal.SIGTERM, _stop)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stop)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:
        signal.signal(signal.SIGHUP, _stop)  # the terminal was closed; nohup ignores it


def _stop(number: int, _frame: FrameType | None) -> None:
    _SIGNALS.append(number)
    raise KeyboardInterrupt
