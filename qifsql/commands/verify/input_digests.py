"""The data of a stored result, identified by their SHA-256 digests wherever they are now."""

import hashlib
from collections.abc import Mapping, Sequence
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

    def relocate(self, script: str) -> str:
        """Return SQL with the paths of the manifest replaced by the paths where the files are."""
        for paths in self.paths.items():
            before, now = ("'" + path.replace("'", "''") + "'" for path in paths)  # SQL literals
            script = script.replace(before, now)
        return script


def locate(stored: Stored, sources: Sequence[str], folder: Path | None) -> Inputs:
    """Return the files of a stored result, found by their digests.

    A file is looked for among ``sources``, at its path in the manifest, and in ``folder``, where
    the result is. Raises InputError if a source is not one of the files, or a file is missing.
    """
    inputs = stored.manifest["inputs"]
    bytes_by_digest = {str(file["sha256"]): int(file["bytes"]) for file in inputs}
    path_by_digest: dict[str, str] = {}
    for source in sources:
        source_paths: Sequence[str] = [source]
        if Path(source).is_file():  # also a database, whose table is in the manifest
            check_file(source)
        else:
            source_paths = Dataset.open(source).paths
        sizes = {path: Path(path).stat().st_size for path in source_paths}
        candidates = [path for path, size in sizes.items() if size in bytes_by_digest.values()]
        digests = {_digest(path): path for path in candidates}
        if not digests.keys() & bytes_by_digest:
            raise InputError(
                f"{quoted(source)} is not the data of {stored.name}: its SHA-256 digest "
                "is not in the manifest; name the file that was attacked, unchanged"
            )
        path_by_digest |= digests
    paths: dict[str, str] = {}
    for file in inputs:
        before, digest = str(file["path"]), str(file["sha256"])
        now = path_by_digest.get(digest)
        paths[before] = now or _search_file(before, digest, stored.name, folder)
    return Inputs(paths)


def _search_file(before: str, digest: str, name: str, folder: Path | None) -> str:
    """Return the path of the file with a ``digest``: that of the manifest, or in ``folder``.

    ``before`` is the path in the manifest of the result ``name``; the result is in ``folder``.
    """
    if before == "frame":  # what a manifest writes for a data frame
        raise InputError(
            f"{name} is about a data frame, which is not stored; write the data to a file, and "
            "store the result of that file"
        )
    paths = [before] if folder is None else [before, str(folder / Path(before).name)]
    changed = False
    for path in paths:
        try:
            if not Path(path).is_file():
                continue
            check_file(path)
        except (OSError, DatasetError):
            continue
        if _digest(path) == digest:
            return path
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
    """Return the SHA-256 digest of a file; DatasetError if it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as e:
        raise DatasetError(f"{quoted(path)} cannot be read: {e.strerror}; check the path") from e
