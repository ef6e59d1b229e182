"""The data of a stored result, identified by their SHA-256 digests wherever they are now."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from qifsql.data.dataset import Dataset
from qifsql.data.files import check_file
from qifsql.errors import DatasetError, InputError, quoted
from qifsql.results.stored import Stored


@dataclass(frozen=True)
class Inputs:
    """The files of a result: each path of the manifest with the path where the file is now."""

    paths: Mapping[str, str]

    @property
    def now(self) -> tuple[str, ...]:
        """Return the paths where the files are now, in the order of the manifest."""
        return tuple(self.paths.values())

    @property
    def moved(self) -> dict[str, str]:
        """Return the files whose path differs from that of the manifest."""
        return {before: now for before, now in self.paths.items() if before != now}


def locate(stored: Stored, sources: Sequence[str], home: Path | None) -> Inputs:
    """Return the files of a stored result, found by their digests.

    A file is looked for among ``sources``, at its path in the manifest, and in the folder ``home``
    of the result. Raises InputError if a source is not one of the files, or a file is missing.
    """
    inputs = stored.manifest["inputs"]
    expected = {str(file["sha256"]): int(file["bytes"]) for file in inputs}
    by_digest: dict[str, str] = {}
    for source in sources:
        files = _source_files(source)
        same_size = [f for f in files if Path(f).stat().st_size in expected.values()]
        digests = {_digest(path): path for path in same_size}
        if not digests.keys() & expected:
            raise InputError(
                f"{quoted(source)} is not the data of {stored.name}: its SHA-256 digest "
                "is not in the manifest; name the file that was attacked, unchanged"
            )
        by_digest |= digests
    places: dict[str, str] = {}
    for file in inputs:
        before, digest = str(file["path"]), str(file["sha256"])
        places[before] = by_digest.get(digest) or _search_file(before, digest, stored.name, home)
    return Inputs(places)


def _source_files(text: str) -> tuple[str, ...]:
    """Return the files of a source: a file, a folder, a glob, or a table of a database."""
    if Path(text).is_file():  # also a database, whose table is in the manifest
        check_file(text)
        return (text,)
    return Dataset.open(text).paths


def _search_file(before: str, digest: str, name: str, home: Path | None) -> str:
    """Return where a file is that nobody named: at its old path, or next to the result."""
    if before == "frame":
        raise InputError(
            f"{name} is about a data frame, which is not stored; write the data to a file, and "
            "store the result of that file"
        )
    places = [before] if home is None else [before, str(home / Path(before).name)]
    changed = False
    for place in places:
        try:
            if not Path(place).is_file():
                continue
            check_file(place)
        except (OSError, DatasetError):
            continue
        if _digest(place) == digest:
            return place
        changed = True
    if changed:
        raise InputError(
            f"{quoted(before)} has changed since {name} was made: its SHA-256 digest differs from "
            f"that of the manifest; name the file as it was: qifsql verify RESULT FILE"
        )
    raise InputError(
        f"the data of {name} are not at {quoted(before)}; name the file where it is now: "
        "qifsql verify RESULT FILE"
    )


def _digest(path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as e:
        raise DatasetError(f"{quoted(path)} cannot be read: {e.strerror}; check the path") from e


def path_literals(texts: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return SQL literals of paths, with the literals that replace them."""
    return {_literal(before): _literal(now) for before, now in texts}


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
