"""A folder through which several processes, on one or several machines, work on one sweep.

Every participant codes the people and has the complete list of tasks. A task has a name that
depends only on the data and the options, so the names are the same for all participants. The folder
holds:

- ``sweep.json``: digests of the data and the options, so that no other sweep can join;
- ``results/NAME``: the sums that one task found, as Parquet, or the rows of one subset, as JSON, if
  subsets are attacked one by one; they are written elsewhere and then renamed;
- ``leases/NAME``: the participant that works on a task;
- ``participants/ID``: a counter that each participant increases while it lives.

A participant takes the result of a task from the folder if it is there. If not, it takes the lease
of the task and works on it. A lease is void if its participant is silent for ``EXPIRY`` seconds of
the observer's clock: the clocks of two machines are never compared. A slow participant and its
successor may work on one task together. Both write the same sums to the same name, and every
participant reads one result for each of its tasks. So no task counts twice, and leases only save
work: the result never depends on them.

The folder needs no locks, links or modification times, which network file systems may lack: files
are created exclusively, renamed, listed and read.
"""

import hashlib
import json
import os
import secrets
import shutil
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import polars as pl

from qifsql.data import json_text
from qifsql.errors import DatasetError, EngineError, InputError, unwritable

BEAT = 5.0  # seconds from one sign of life to the next
EXPIRY = 60.0  # seconds of silence after which the tasks of a participant are taken over
GLANCE = 0.5  # seconds until the folder is listed again
SWEEP, RESULTS, LEASES, PARTICIPANTS = "sweep.json", "results", "leases", "participants"
VERSIONS = ("qifsql", "form", "engine")  # of a request: they are compared before the rest
NOTE = "qifsql"  # the metadata of a result


class SharedFolder:
    """The shared folder of one sweep, as one participant sees it."""

    def __init__(self, path: Path, request: Mapping[str, Any]) -> None:
        """Open the folder, or create it; ``request`` is what distinguishes the sweep."""
        self.path = path
        self.me = secrets.token_hex(8)
        self.sweep = _digest(request)
        self._results: set[str] = set()
        self._leases: set[str] = set()
        self._looked = float("-inf")
        self._signs: dict[str, tuple[bytes, float]] = {}  # the last sign of life, and since when
        self._beats = 0
        self._trouble: OSError | None = None
        self._ending = threading.Event()
        self._lock = threading.Lock()
        self._open(request)

    def _open(self, request: Mapping[str, Any]) -> None:
        if not self.path.parent.is_dir():
            raise InputError(
                f"the folder {self.path} cannot be made: there is no folder {self.path.parent}; "
                "name another with --join"
            )
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"{self.path} is not a folder; name a folder with --join")
        with self._usable():
            self.path.mkdir(mode=0o700, exist_ok=True)
            names = _names(self.path)
            if SWEEP not in names and names - {RESULTS, LEASES, PARTICIPANTS}:
                raise InputError(
                    f"the folder {self.path} holds other files; name an empty folder, or one of a "
                    "shared sweep, with --join"
                )
            for name in (RESULTS, LEASES, PARTICIPANTS):
                (self.path / name).mkdir(mode=0o700, exist_ok=True)
            if SWEEP not in names:
                items = {k: v if k in VERSIONS else _digest(v) for k, v in request.items()}
                text = json.dumps({"sweep": self.sweep, "items": items}, indent=1)
                self._write(self.path / SWEEP, text.encode(), first=True)
            self._check(request, (self.path / SWEEP).read_bytes())

    def _check(self, request: Mapping[str, Any], text: bytes) -> None:
        """Refuse the folder of another sweep."""
        try:
            document = json_text.parsed(text)
            items, sweep = dict(document["items"]), document["sweep"]
        except (ValueError, LookupError, TypeError) as e:
            raise DatasetError(f"{self.path / SWEEP} is damaged; {self._afresh}") from e
        if any(items.get(name) != request[name] for name in VERSIONS):
            raise InputError(
                f"{self.path} was begun by qifsql {items.get('qifsql')} with "
                f"{items.get('engine')}; run these versions on all machines, or name another "
                "folder with --join"
            )
        other = [k for k, v in request.items() if k not in VERSIONS and items.get(k) != _digest(v)]
        if other:
            raise InputError(
                f"{self.path} is the folder of another sweep: {', '.join(other)} differ; give all "
                "participants the same file and options, or name another folder with --join"
            )
        if sweep != self.sweep:
            raise DatasetError(f"{self.path / SWEEP} is damaged; {self._afresh}")

    @property
    def _afresh(self) -> str:
        return "remove the folder to start over, or name another with --join"

    @contextmanager
    def participating(self) -> Iterator[None]:
        """Give signs of life inside the context; at its end the leases become void."""
        with self._usable():
            self._beat()
        thread = threading.Thread(target=self._live, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._ending.set()
            thread.join()
            with suppress(OSError):
                (self.path / PARTICIPANTS / self.me).unlink(missing_ok=True)

    def _live(self) -> None:
        while not self._ending.wait(BEAT):
            try:
                self._beat()
                self._trouble = None
            except OSError as e:
                self._trouble = e

    def _beat(self) -> None:
        """Increase the counter of this participant."""
        self._beats += 1
        self._write(self.path / PARTICIPANTS / self.me, str(self._beats).encode())

    def participants(self) -> int:
        """Return the number of other participants that may be alive."""
        with self._usable():
            names = _names(self.path / PARTICIPANTS)
        return sum(1 for name in names if "." not in name and name != self.me)

    def available(self, name: str) -> bool:
        """Return whether this participant can go on with a task: with its result, or its lease."""
        with self._lock, self._usable():
            if self._trouble is not None:
                raise self._trouble
            self._look()
            if name in self._results:
                return True
            if name in self._leases and not self._is_void(name):
                return False
            if not self._take(name):
                return False
            if self._path(name).exists():  # finished between the two looks
                self._results.add(name)
                self.release(name)
            return True

    def has(self, name: str) -> bool:
        """Return whether the result of an available task is in the folder."""
        with self._lock:
            return name in self._results

    def results(self) -> int:
        """Return the number of results in the folder."""
        with self._lock, self._usable():
            self._look()
            return len(self._results)

    def _look(self) -> None:
        """List the results and the leases, unless this was done just now."""
        if time.monotonic() - self._looked < GLANCE:
            return
        self._leases = _names(self.path / LEASES)
        self._results = _names(self.path / RESULTS)
        self._looked = time.monotonic()

    def _take(self, name: str) -> bool:
        """Take the lease of a task; False if another participant was faster."""
        lease = self.path / LEASES / name
        if name in self._leases:  # void: whoever is the last to take it over, has it
            self._write(lease, self.me.encode())
            return True
        try:
            handle = os.open(lease, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        except FileExistsError:
            self._leases.add(name)
            return False
        with os.fdopen(handle, "wb") as file:
            file.write(self.me.encode())
        return True

    def _is_void(self, name: str) -> bool:
        """Return whether the participant of a lease ended, or was silent for too long."""
        try:
            owner = (self.path / LEASES / name).read_bytes().decode("ascii", "replace")
        except FileNotFoundError:  # given up since the folder was listed
            self._leases.discard(name)
            return True
        if not owner.isalnum():  # not written to its end: the lease itself is the sign of life
            return self._is_silent(f"{LEASES}/{name}", owner.encode())
        sign = self.path / PARTICIPANTS / owner
        try:
            silent = self._is_silent(owner, sign.read_bytes())
        except FileNotFoundError:
            return True
        if silent:
            sign.unlink(missing_ok=True)  # so that the other participants need not wait, too
        return silent

    def _is_silent(self, participant: str, sign: bytes) -> bool:
        """Return whether the sign of life of a participant is the same for too long."""
        now = time.monotonic()
        before, since = self._signs.get(participant, (None, now))
        if sign != before:
            self._signs[participant] = (sign, now)
            return False
        return now - since > EXPIRY

    def release(self, name: str) -> None:
        """Give up the lease of a task."""
        with suppress(OSError):
            (self.path / LEASES / name).unlink(missing_ok=True)

    def note(self, name: str, **facts: object) -> str:
        """Return the note that a result carries: its sweep, its task, and further facts."""
        return json.dumps({"sweep": self.sweep, "task": name, "participant": self.me, **facts})

    def publish(self, name: str, content: bytes) -> None:
        """Put the result of a task into the folder, and give up the lease."""
        with self._usable():
            if not self._path(name).exists():
                self._write(self._path(name), content)
        with self._lock:
            self._results.add(name)
        self.release(name)

    def keep(self, name: str, document: object) -> None:
        """Put plain data into the folder as the result of a task."""
        digest = _digest(json.loads(json.dumps(document)))
        text = self.note(name, digest=digest, document=document)
        self.publish(name, text.encode())

    def document(self, name: str) -> Any:
        """Return the plain data that are the result of a task."""
        with self._usable():
            text = self._path(name).read_bytes()
        try:
            note = json_text.parsed(text)
            document = note["document"]
            right = self._is_of(note, name) and note["digest"] == _digest(document)
        except (ValueError, LookupError, TypeError, AttributeError) as e:
            raise DatasetError(self.damaged(name)) from e
        if not right:
            raise DatasetError(self.damaged(name))
        return document

    def fetch(self, name: str, file: Path) -> dict[str, Any]:
        """Copy the result of a task to a file of this machine; return its note."""
        with self._usable():
            for attempt in range(3):
                try:
                    shutil.copyfile(self._path(name), file)
                    break
                except OSError:  # on network file systems, if it was replaced meanwhile
                    if attempt == 2:
                        raise
        try:
            note: dict[str, Any] = json_text.parsed(pl.read_parquet_metadata(file)[NOTE])
        except (pl.exceptions.PolarsError, OSError, LookupError, ValueError) as e:
            raise DatasetError(self.damaged(name)) from e
        if not self._is_of(note, name):
            raise DatasetError(self.damaged(name))
        return note

    def _is_of(self, note: Mapping[str, Any], name: str) -> bool:
        """Return whether a note is that of a task of this sweep."""
        return (note.get("sweep"), note.get("task")) == (self.sweep, name)

    def damaged(self, name: str) -> str:
        """Return the message for a result that does not hold what was stored in it."""
        return (
            f"{self._path(name)} is damaged: it does not hold what was stored in it; remove this "
            "file and run the same command again"
        )

    def _path(self, name: str) -> Path:
        return self.path / RESULTS / name

    def _write(self, path: Path, content: bytes, *, first: bool = False) -> None:
        """Write a file under another name, and rename it when it is complete.

        ``first``: a file that is already there stays, where the file system can do that.
        """
        passing = self.path / PARTICIPANTS / f"{self.me}.{secrets.token_hex(4)}"
        handle = os.open(passing, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if first:
                with suppress(FileExistsError):
                    _link(passing, path)
            else:
                passing.replace(path)
        finally:
            passing.unlink(missing_ok=True)

    @contextmanager
    def _usable(self) -> Iterator[None]:
        """Raise EngineError if the folder cannot be read or written."""
        try:
            yield
        except OSError as e:
            raise EngineError(unwritable(self.path, e)) from e


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def _link(file: Path, path: Path) -> None:
    """Give a file a second name; FileExistsError if the name is taken."""
    try:
        os.link(file, path)
    except FileExistsError:
        raise
    except (OSError, AttributeError, NotImplementedError):  # a file system without links
        file.replace(path)


def _digest(value: object) -> str:
    """Return a digest of plain data."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
