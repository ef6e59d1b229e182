"""Data from standard input: a private file holds them while the command runs."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from qifsql.engine.settings import private_folder
from qifsql.engine.temporary import STANDARD_INPUT, PrivateFolder
from qifsql.errors import DatasetError

NAME = "-"
BYTES_AT_ONCE = 2**20  # bytes that are read at a time
ENDINGS = {  # by the first bytes of the data; all others are CSV
    b"PAR1": ".parquet",
    b"\x1f\x8b": ".csv.gz",
    b"\x28\xb5\x2f\xfd": ".csv.zst",
}
BINARY_FORMATS = {
    b"PK\x03\x04": "a workbook or an archive",
    b"SQLite format 3": "a SQLite database",
}


@dataclass
class _Input:
    """The folder for temporary files, and the file with the data once they are read."""

    temp: Path | None
    folder: PrivateFolder | None = None
    file: Path | None = None


_INPUT: ContextVar[_Input | None] = ContextVar("standard input", default=None)


@contextmanager
def standard_input(temp: Path | None) -> Iterator[None]:
    """Let a command read standard input; remove the private file at the end."""
    current = _Input(temp)
    token = _INPUT.set(current)
    try:
        yield
    finally:
        _INPUT.reset(token)
        if current.folder is not None:
            current.folder.remove()


def private_copy() -> Path:
    """Return the private file with the data of standard input, which are read once.

    While a command runs, ``_INPUT`` has its input: the copy is kept there, is returned again, and
    is removed after the command. Outside a command (a function of Python) each call reads.

    Raises DatasetError if there are none, or if they are neither CSV nor Parquet.
    """
    current = _INPUT.get() or _Input(None)
    if current.file is None:
        if sys.stdin.isatty():
            raise DatasetError(
                f"standard input ({NAME}) is a terminal; give it data, as in {NAME} < data.csv"
            )
        current.folder = private_folder(current.temp)
        current.file = _write_copy(sys.stdin.buffer, current.folder.path)
    return current.file


def _write_copy(data: BinaryIO, folder: Path) -> Path:
    """Write standard input to a file of ``folder``; its first bytes tell the ending."""
    first = data.read(BYTES_AT_ONCE)
    if not first:
        raise DatasetError(f"{STANDARD_INPUT} is empty: it has no bytes at all")
    for magic, kind in BINARY_FORMATS.items():
        if first.startswith(magic):
            raise DatasetError(f"{STANDARD_INPUT} is {kind}; write it to a file, and name that")
    ending = next((e for magic, e in ENDINGS.items() if first.startswith(magic)), ".csv")
    path = folder / (STANDARD_INPUT + ending)
    with path.open("xb") as file:
        while first:
            file.write(first)
            first = data.read(BYTES_AT_ONCE)
    return path
