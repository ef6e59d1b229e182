"""Files: paths of inputs and their checks, patterns of names, what comes with qifsql, JSON."""

import filecmp
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from qifsql.data.formats import PACKED
from qifsql.errors import DatasetError, InternalError, quoted

BLOCK = 1 << 20  # bytes of a file that are read at once
ENDS = 4096  # bytes at both ends of a file that are compared first


def path_text(source: object) -> str:
    """Return the path of an input as text.

    Raises TypeError for anything else. It names only the type: the text of a data frame is its
    rows.
    """
    if isinstance(source, os.PathLike):
        source = os.fspath(source)
    if isinstance(source, str):
        return source
    raise TypeError(
        f"expected a path (str or Path), not {type(source).__name__}; write it to a file and name "
        "that file"
    )


def several_paths(sources: object) -> list[Any]:
    """Return the paths of a list or iterator, or a single path in a list.

    A data frame counts as a single path, because its elements are cells.
    """
    if isinstance(sources, Sequence | Iterator) and not isinstance(sources, str | bytes):
        return list(sources)
    return [sources]


def check_file(path: str | Path) -> None:
    """Refuse a path that is not a regular file, before it is opened: a pipe would block it."""
    try:
        str(path).encode()
        mode = os.stat(path).st_mode  # noqa: PTH116 - raises what Path.is_file hides
    except UnicodeEncodeError as e:
        raise DatasetError(
            f"{quoted(str(path))} has a name that is not valid UTF-8; rename the file"
        ) from e
    except (OSError, ValueError) as e:  # a ValueError: a NUL in the name
        why = getattr(e, "strerror", None) or "there is no such file"
        raise DatasetError(f"{quoted(str(path))} cannot be read: {why}; check the name") from e
    if stat.S_ISDIR(mode):
        raise DatasetError(f"{path} is a folder; name a file")
    if not stat.S_ISREG(mode):
        raise DatasetError(
            f"{path} is not a regular file but a pipe, socket or device; write what it gives to a "
            "file, and name that"
        )


def equal_files(paths: Iterable[str]) -> list[tuple[str, str]]:
    """Return pairs of files with the same bytes: a file, and an earlier one in ``paths``."""
    by_size: dict[int, list[str]] = {}
    for path in (path for path in paths if Path(path).is_file()):
        by_size.setdefault(Path(path).stat().st_size, []).append(path)
    pairs: list[tuple[str, str]] = []
    for size, same_size in by_size.items():
        if size == 0 or len(same_size) == 1:  # empty files are no copies of each other
            continue
        first_with: dict[bytes, str] = {}  # by the bytes at both ends
        for path in same_size:
            with Path(path).open("rb") as file:
                ends = file.read(ENDS)
                file.seek(max(0, size - ENDS))
                ends += file.read(ENDS)
            earlier = first_with.setdefault(ends, path)
            if earlier != path and filecmp.cmp(earlier, path, shallow=False):
                pairs.append((path, earlier))
    return pairs


def marked_encoding(path: str) -> str | None:
    """Return the encoding of a text file that begins with the mark of UTF-16, else None."""
    with Path(path).open("rb") as file:
        return "utf-16" if file.read(2) in (b"\xff\xfe", b"\xfe\xff") else None


def unmarked_encoding(path: str) -> str | None:
    """Return the encoding of a text that seems to be UTF-16 without a mark, else None.

    In it, many bytes at odd places are 0, or many at even ones, and none at the others.
    """
    with Path(path).open("rb") as file:
        start = file.read(ENDS)
    for zeros, others, encoding in ((1, 0, "utf-16-le"), (0, 1, "utf-16-be")):
        if 10 * start[zeros::2].count(0) > len(start[zeros::2]) and 0 not in start[others::2]:
            return encoding
    return None


def mixed_ends(paths: Iterable[str]) -> bool:
    """Return whether lines of text files end in two ways: some with CR LF, some with LF alone.

    Packed files are left out: they would have to be unpacked once more.
    """
    has_crlf = has_lf = False
    for path in (path for path in paths if not path.casefold().endswith(PACKED)):
        with Path(path).open("rb") as file:
            last_byte = b""  # of the block before, which may end between CR and LF
            while not (has_crlf and has_lf) and (block := file.read(BLOCK)):
                n_crlf = block.count(b"\r\n") if b"\r" in block else 0
                n_crlf += last_byte == b"\r" and block.startswith(b"\n")
                has_crlf = has_crlf or n_crlf > 0
                has_lf = has_lf or block.count(b"\n") > n_crlf
                last_byte = block[-1:]
    return has_crlf and has_lf


def misplaced(path: Path) -> str:
    """Return the reason why a file cannot be written at a path; empty if it can."""
    if path.is_dir():
        return "is a folder"
    return "" if path.parent.is_dir() else f"cannot be made: there is no {path.parent}"


def is_duckdb(path: Path) -> bool:
    """Return whether DuckDB has written a file, by its magic bytes; raise OSError if unreadable."""
    with path.open("rb") as file:
        return file.read(12)[8:] == b"DUCK"


Identity = tuple[int, int, int, int, int]


def identities(paths: Iterable[str]) -> dict[str, Identity]:
    """Return the identity of each file, which differs if the file was replaced or changed.

    It has device, inode, size, and the times of the last change of contents and of attributes.
    """
    by_path = {}
    for path in paths:
        try:
            s = os.stat(path)  # noqa: PTH116 - one call for all of it
        except OSError as e:
            raise DatasetError(f"{path} cannot be read: {e.strerror}; check the path") from e
        by_path[path] = (s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns)
    return by_path


def check_unchanged(before: Mapping[str, Identity]) -> None:
    """Refuse files that were replaced or changed since their identities were taken."""
    for path, identity in before.items():
        try:
            now = identities([path])[path]
        except DatasetError:
            now = None
        if now != identity:
            raise DatasetError(
                f"{path} was replaced or changed while it was read, so there is no result; wait "
                "until it is complete, and run the command again"
            )


@cache
def bundled(name: str) -> Path:
    """Return a folder that comes with qifsql: ``sql`` or ``data-samples``.

    It is inside an installed package, or next to it in the source tree.

    Raises:
        InternalError: The installation lacks it.
    """
    package = Path(__file__).resolve().parent.parent
    for folder in (package / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise InternalError(f"the folder {name}/ is missing from this installation; reinstall qifsql")


def matches(name: str, pattern: str) -> bool:
    """Return whether a name matches a pattern: ``*``, ``?``, ``[abc]``; an open ``[`` is itself."""
    closed, bracket, rest = pattern.rpartition("]")
    literal = rest.replace("[", "[[]")  # fnmatch would look for the end of each in all the text
    return fnmatchcase(name, f"{closed}{bracket}{literal}")


MANIFEST = ".manifest.json"  # of the manifest next to a file


def parsed_json(text: str | bytes) -> Any:
    """Return the data of a JSON text, which may be damaged or hostile.

    Raise ValueError if it is none, or is nested too deeply.
    """
    try:
        return json.loads(text)
    except RecursionError as e:
        raise ValueError("the JSON is nested too deeply") from e
