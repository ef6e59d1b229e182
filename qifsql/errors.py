"""The tree of errors.

    QifError                 everything that qifsql raises on purpose
    ├── InputError           the user's input (exit code 2)
    │   ├── DatasetError     a file is missing, empty, corrupt or not a table
    │   ├── ColumnError      a column is unknown, ambiguous, nested or used twice
    │   ├── ExpressionError  an expression does not parse, is not allowed or fails on the data
    │   ├── WeightError      a weight is not a finite number >= 0, or all are 0
    │   ├── TargetError      a target value does not fit its column, or matches nobody
    │   └── OutputError      a result cannot be written to the requested place
    ├── EngineError          the engine or the machine: memory, disk (exit code 3)
    ├── Interrupted          Ctrl-C or a request to stop (exit code 130)
    └── InternalError        a mistake in qifsql (exit code 1)

A message is one line: the error, its place, and what to try. It never contains a value of a
cell. The engine's message may quote values, so it is kept in ``detail`` and shown only
when the user asks for it (``--debug``), and at the prompt of ``qifsql shell``.
"""

import errno
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches

UNMET = 4  # the exit code of a verdict: a bound, a level or a number does not hold
INTERRUPTED = "interrupted; nothing was left behind"
STARVED = (
    "the system gives this process no more memory or threads; raise its limits (ulimit -v, "
    "ulimit -u), or use fewer threads with --threads"
)
STARVATION = (  # words of Python's and DuckDB's messages in that case
    "can't start new thread",
    "resource temporarily unavailable",
    "bad_alloc",
    "cannot allocate memory",
)


class QifError(Exception):
    """The base class of all errors that qifsql raises on purpose."""

    exit_code = 1

    def __init__(self, message: str, *, detail: str | None = None) -> None:
        super().__init__(message)
        self.detail = detail


class InputError(QifError):
    """The user's input is wrong."""

    exit_code = 2


class DatasetError(InputError):
    """A file is missing, empty, corrupt or not a table.

    ``reading`` are the options of reading that the message names, with which it may be a table.
    """

    def __init__(
        self,
        message: str,
        *,
        detail: str | None = None,
        reading: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message, detail=detail)
        self.reading = reading or {}


class ColumnError(InputError):
    """A column is unknown, ambiguous, nested or used twice."""


class ExpressionError(InputError):
    """An expression does not parse, is not allowed or fails on the data."""


class WeightError(InputError):
    """A weight is not a finite number >= 0, or all weights are 0."""


class TargetError(InputError):
    """A target value does not fit its column, or the target matches nobody."""


class OutputError(InputError):
    """A result cannot be written to the requested place."""


class EngineError(QifError):
    """The engine or the machine failed: too little memory or disk."""

    exit_code = 3


class Interrupted(QifError):  # noqa: N818 - not an error
    """Ctrl-C or a request to stop."""

    exit_code = 130


class InternalError(QifError):
    """A mistake in qifsql."""


def did_you_mean(name: str, available: Iterable[str]) -> str:
    """Return ``; did you mean "age"?``, or the first names, or nothing if there are no names."""
    names = list(dict.fromkeys(available))
    near = [n for n in names if len(name) <= LONGEST >= len(n)]  # longer ones take minutes
    close = get_close_matches(name, near, n=1) or get_close_matches(
        name.casefold(), [n.casefold() for n in near], n=1
    )
    if close:
        match = next(n for n in near if close[0] in (n, n.casefold()))
        return f"; did you mean {quoted(match)}?"
    if not names:
        return ""
    listing = ", ".join(quoted(n) for n in names[:8])
    return f"; it has {listing}" + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def no_records(name: str, purpose: str, *, filtered: bool) -> DatasetError:
    """Return the error for data without records; ``filtered``: none passes the filter (where)."""
    after = " under the filter (where)" if filtered else ""
    return DatasetError(f"{name} has no records{after}; there is {purpose}")


def unwritable(path: object, error: OSError) -> str:
    """Return the message that a file cannot be written, with the reason and what to try."""
    if error.errno == errno.ENAMETOOLONG:
        return f"{path} cannot be written: its name is too long; name another file"
    full = error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
    if full or re.search("no space left|quota exceeded|file too large", str(error), re.I):
        return f"{path} cannot be written: the disk is full; name a folder with more room"
    return (
        f"{path} cannot be written: {error.strerror or 'no reason is known'}; name another folder"
    )


def starved(error: BaseException) -> bool:
    """Return whether an error says that the system refused memory, a thread or a library."""
    words = str(error).casefold()
    if isinstance(error, ImportError):
        return "cannot allocate" in words or "failed to map" in words
    if isinstance(error, OSError):
        return error.errno in {errno.ENOMEM, errno.EAGAIN}
    return isinstance(error, MemoryError) or any(text in words for text in STARVATION)


def large(n: int) -> str:
    """Return a count with all digits below 10^15, else as a power of ten."""
    return f"{n:,}" if n < 10**15 else f"about 10^{len(str(n)) - 1}"


def plural(n: int, thing: str) -> str:
    """Return a number of things in words: ``1 line``, ``2 lines``, ``2 people``."""
    if n != 1 and thing == "person":
        return f"{n:,} people"
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


LONGEST = 400
NOT_UTF8 = "a name or a text that was given is not UTF-8; write it with other characters"


def quoted(name: str) -> str:
    """Return a name for a message: in quotes, on one line, without control characters.

    Of a text of more than 400 characters only the beginning is shown.
    """
    beginning = name if len(name) <= LONGEST else name[: LONGEST // 2]
    text = '"' + "".join(c if c.isprintable() else ascii(c)[1:-1] for c in beginning) + '"'
    return text if beginning == name else f"{text}... ({len(name):,} characters)"


def printable(text: str, keep: str = "") -> str:
    """Return a text for people, with a mark for each character that cannot be printed.

    These are control characters, marks of direction and characters without width. Those in
    ``keep``, such as line breaks, stay.
    """
    hidden = {c for c in set(text) if not c.isprintable() and c not in keep}
    return text.translate({ord(c): "\N{REPLACEMENT CHARACTER}" for c in hidden})
