"""Results that are kept between runs, each under a digest of everything that determines it.

A result is a folder with its tables, ``record.json`` and ``digests.json``, which is written last.
If a digest is missing or differs, the result is not used. Only files that a killed run has left
behind are removed. The digests are sealed with a key of the user: a folder that came from elsewhere
may bring any number with its digest, so what another user has kept is computed again.
"""

import hashlib
import hmac
import json
import os
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from qifsql import __version__
from qifsql.adversary.spec import ColumnRoles
from qifsql.commands.check.result import Verdict
from qifsql.commands.sweep.result import Sweep
from qifsql.data.dataset import Dataset
from qifsql.data.files import MANIFEST, parsed_json
from qifsql.engine.temporary import lock_file, unfinished
from qifsql.errors import InputError, OutputError
from qifsql.results.result import Result
from qifsql.results.storage import Origin, atomic_file, digests
from qifsql.study.entry import Entry

FORM = 3  # the version of the format of kept results
CACHE_FOLDER = "kept"  # in the folder of results
RECORD, TABLE, DIGESTS = "record.json", "results.parquet", "digests.json"
KEY_FILE = "key"  # a file of the user's own
RANDOM_OPTIONS = ("sample", "table", "distances", "knows", "learner", "attempts", "links")
"""Options that may draw at random."""
IDLE_OPTIONS = {"attack": ("store",), "sweep": ("time_budget",)}
"""Options that do not change a result, by kind."""


Digest: TypeAlias = Callable[[str], str]
"""A function that returns the digest of a file's content, by its path."""


def digest_of_files() -> Digest:
    """Return a function that reads each file once in a run; InputError if one cannot be read."""

    @cache
    def digest(path: str) -> str:
        try:
            return str(digests([path])[0]["sha256"])
        except OSError as e:
            raise InputError(f"{path} cannot be read: {e.strerror}") from e

    return digest


@dataclass(frozen=True)
class Identity:
    """Everything that determines a result, and its digest.

    ``contents`` are the digests of all files that are read to compute it.
    """

    determined_by: Mapping[str, Any]
    contents: frozenset[str]

    @classmethod
    def of(cls, entry: Entry, digest: Digest, seed: int | None) -> "Identity":
        """Return the identity of an entry's result: options, contents of files, seed, version."""
        options = _identifying_options(entry, digest)
        identity = {
            "form": FORM,
            "qifsql": __version__,
            "kind": entry.kind,
            "models": list(entry.models),
            "options": options,
            "datasets": [_plain_option(dataset, digest) for dataset in entry.datasets],
            "files": [digest(path) for path in entry.files],
            "seed": seed if any(name in options for name in RANDOM_OPTIONS) else None,
        }
        read_digests = frozenset(digest(path) for path in entry.paths)
        return cls(json.loads(json.dumps(identity, sort_keys=True)), read_digests)

    @property
    def digest(self) -> str:
        """Return the digest of everything that determines the result."""
        text = json.dumps(self.determined_by, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]


def _plain_option(value: Any, digest: Digest) -> Any:
    """Return an option as plain data: a dataset as its contents and how it is read, no folder."""
    if isinstance(value, Dataset):
        paths = [Path(path) for path in value.paths]
        shared = os.path.commonpath([path.parent for path in paths])
        # changes of a database that are not yet in its file
        logs = [f"{path}.wal" for path in value.paths if Path(f"{path}.wal").exists()]
        return {
            "name": value.name,
            "format": value.format,
            "table": value.table,
            "csv": value.identity_of_reading,
            "files": [path.relative_to(shared).as_posix() for path in paths],
            # folders such as year=2020, which are read as columns
            "folders": [[p for p in path.parts if value.hive and "=" in p] for path in paths],
            "contents": [digest(path) for path in (*value.paths, *logs)],
        }
    if isinstance(value, Mapping):
        return {n: [type(v).__name__, str(v)] for n, v in value.items()}  # 1 is not "1"
    return [_plain_option(v, digest) for v in value] if isinstance(value, tuple) else value


class Cache:
    """The results that are kept in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / CACHE_FOLDER

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the folder against other runs; remove the unfinished files of a killed run.

        Raises OutputError if another run holds the lock, or if the folder cannot be created.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
            handle = os.open(self.folder / "lock", os.O_CREAT | os.O_RDWR | flags, 0o600)
            lock = os.fdopen(handle, "r+b")
        except OSError as e:
            raise OutputError(
                f"{self.folder} cannot be a folder for results: {e.strerror}; name another"
            ) from e
        with lock:
            if lock_file(handle) is False:  # None: this file system has no locks
                raise OutputError(
                    f"another run has the results in {self.folder}; wait for it, or name another "
                    "folder in [output]"
                )
            for remnant in self.folder.glob("*/.qifsql-*"):
                remnant.unlink(missing_ok=True)
            yield

    def check(self, above: Path) -> None:
        """Refuse links and special files: a folder that came from elsewhere may lead anywhere.

        ``above`` is the folder of the study, whose own place is the user's.
        """
        inside = self.folder.absolute().relative_to(above.absolute()).parts
        steps = [above.joinpath(*inside[:n]) for n in range(1, len(inside) + 1)]
        contents = sorted(self.folder.rglob("*")) if self.folder.is_dir() else []
        for path in (*steps, *contents):
            check_plain(path)

    def place(self, identity: Identity) -> Path:
        """Return the folder of a result."""
        return self.folder / identity.digest

    def workspace(self, identity: Identity) -> Path:
        """Return the file that keeps the finished part of a sweep until the sweep is complete."""
        return self.folder / f"{identity.digest}.sweep"

    def files(
        self, entry: Entry, identity: Identity, result: Result
    ) -> dict[Path, pl.DataFrame | str]:
        """Return the content of the files that keep a result; only ``seal`` makes them valid."""
        record: dict[str, Any] = {
            "name": entry.name,
            "kind": entry.kind,
            "notes": list(result.notes),
            "details": list(result.details),
            "met": result.met,
            "determined_by": identity.determined_by,
        }
        if isinstance(result, Sweep):
            record |= {"qids": list(result.qids), "whole": result.whole}
        place = self.place(identity)
        place.mkdir(exist_ok=True)
        text = json.dumps(record, indent=2) + "\n"
        tables = {_detail_file(place, name): table for name, table in result.details.items()}
        return {place / RECORD: text, place / TABLE: result.frame, **tables}

    def seal(self, identity: Identity, files: Iterable[Path]) -> None:
        """Write the digests of the files of a result and of their manifests; they make it valid."""
        paths = [*files]
        paths += [path.with_name(path.name + MANIFEST) for path in paths]
        records = digests(str(path) for path in paths if path.exists())
        hashes = {Path(str(file["path"])).name: file["sha256"] for file in records}
        sealed = {"files": hashes, "seal": _seal_text(identity, hashes)}
        with atomic_file(self.place(identity) / DIGESTS, Origin.now()) as temporary:
            temporary.write_text(json.dumps(sealed, indent=2) + "\n", "utf-8")

    def is_damaged(self, identity: Identity) -> bool:
        """Return whether a result exists whose files changed since they were written."""
        return (self.place(identity) / RECORD).exists() and not self._is_unchanged(identity)

    def _is_unchanged(self, identity: Identity) -> bool:
        """Return whether the files of a result have the digests that this user has sealed."""
        place = self.place(identity)
        try:
            sealed = parsed_json((place / DIGESTS).read_text("utf-8"))
            stored_hashes, seal = dict(sealed["files"]), _seal_text(identity, sealed["files"])
            if not seal or not hmac.compare_digest(seal, str(sealed["seal"])):
                return False
            hashes = {n: digests([str(place / n)])[0]["sha256"] for n in stored_hashes}
            return bool(
                stored_hashes == hashes and {RECORD, RECORD + MANIFEST, TABLE} <= set(hashes)
            )
        except (OSError, ValueError, TypeError, KeyError):
            return False

    def find(self, entry: Entry, identity: Identity) -> Result | None:
        """Return the result that an earlier run has kept; None if no valid one exists."""
        place = self.place(identity)
        if not self._is_unchanged(identity):
            return None
        try:
            record = parsed_json((place / RECORD).read_text("utf-8"))
            manifest = parsed_json((place / (RECORD + MANIFEST)).read_text("utf-8"))
            if record["determined_by"] != identity.determined_by:
                return None
            if not {file["sha256"] for file in manifest["inputs"]} <= identity.contents:
                return None  # the files had changed before they were read
            frame = pl.read_parquet(place / TABLE, glob=False)
            details = {n: pl.read_parquet(_detail_file(place, n)) for n in record["details"]}
            origin, notes = _read_origin(manifest, entry), tuple(record["notes"])
            if entry.kind == "check":
                return Verdict.of(frame, origin, notes, details)
            result = Result(frame=frame, origin=origin, details=details, notes=notes)
            if entry.kind != "sweep":
                return replace(result, met=record["met"])
            return Sweep(**vars(result), qids=tuple(record["qids"]), whole=bool(record["whole"]))
        except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError):
            return None

    def find_unused(self, used: Sequence[Identity]) -> tuple[list[Path], list[Path]]:
        """Return the results, and the workspaces of unfinished sweeps, that are not in ``used``."""
        places = {path for i in used for path in (self.place(i), self.workspace(i))}
        paths = [path for path in sorted(self.folder.glob("*")) if path not in places]
        results = [path for path in paths if (path / RECORD).is_file()]
        return results, [path for path in paths if path.suffix == ".sweep"]


def _read_origin(manifest: Mapping[str, Any], entry: Entry) -> Origin:
    """Return the origin of a kept result, as its manifest states it."""
    return Origin(
        manifest["started"],
        0.0,
        manifest["spec"],
        statements=(str(manifest["sql"]).removesuffix(";\n"),),  # all of them, as one text
        paths=entry.paths,
        seconds=manifest["seconds"],
        seed=manifest["seed"],
        kind=entry.kind,
        columns=tuple(ColumnRoles.of(column) for column in manifest["columns"]),
    )


def check_plain(path: Path) -> None:
    """Refuse a path that is there and is neither a folder nor a file of its own."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        kind = "a link" if stat.S_ISLNK(mode) else "no file"
        raise OutputError(
            f"{path} is {kind}, and what a study writes stays in its folder; remove it, or name "
            "another folder with --folder"
        )


def _seal_text(identity: Identity, hashes: Mapping[str, Any]) -> str:
    """Return the seal of a result with the key of the user; empty if there can be no key."""
    key = _read_or_make_key()
    text = json.dumps([identity.digest, dict(sorted(hashes.items()))])
    return hmac.new(key, text.encode(), "sha256").hexdigest() if key else ""


def _read_or_make_key() -> bytes:
    """Return the key of the user, which is made when it is first needed.

    It is empty if there is no home, or if another user owns or can write the file.
    """
    home = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        folder = (Path(home) if home else Path.home() / ".local" / "state") / "qifsql"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not (folder / KEY_FILE).exists():
            with unfinished(folder, ".key") as new:
                new.write_bytes(secrets.token_bytes(32))
                with suppress(FileExistsError):  # another process was first
                    os.link(new, folder / KEY_FILE)
        handle = os.open(folder / KEY_FILE, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            user = os.getuid() if hasattr(os, "getuid") else status.st_uid
            is_private = status.st_uid == user and not status.st_mode & 0o022
            return file.read() if is_private else b""
    except (OSError, RuntimeError):
        return b""


def _identifying_options(entry: Entry, digest: Digest) -> dict[str, Any]:
    """Return the options that a result depends on, with files as the study names them.

    Files are named without their folder, as the study may be moved; ``files`` has their digests.
    """
    idle = IDLE_OPTIONS.get(entry.kind, ())
    options = {n: _plain_option(v, digest) for n, v in entry.options.items() if n not in idle}
    for name in {"gain", "published", "release"} & options.keys():
        options[name] = [entry.written.get(text, text) for text in options[name]]
    for name in {"link", "knows"} & options.keys():
        options[name] = [entry.as_written(text) for text in options[name]]
    for name in {"prior", "policy", "baseline", "possible"} & options.keys():
        options[name] = Path(options[name]).name
    if "hierarchies" in options:
        hierarchies = entry.options["hierarchies"].items()
        options["hierarchies"] = {name: Path(path).name for name, path in hierarchies}
    return options


def _detail_file(place: Path, name: str) -> Path:
    return place / f"detail.{name}.parquet"
