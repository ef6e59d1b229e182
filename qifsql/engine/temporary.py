"""Private files that exist as long as their process, and removal of those of killed processes.

A process holds a lock (``flock``) on a file in its folder for temporary files, and on each output
that it has not finished. The system releases the locks of a process even if it is killed. So the
next run of the same user finds the files of ended processes, and removes them. On a system
without such locks nothing is removed.
"""

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

PREFIX = "qifsql-run-"  # of folders; with a dot before it, of unfinished outputs
LOCK = ".lock"  # in a folder
MARK = "QIFSQL_FOLDER"  # a variable of the commands that a run starts: the folder of the run
STANDARD_INPUT = "standard input"  # its data, as a file in a folder
TIME_TO_LOCK = 60.0  # seconds: a younger folder may not have its lock yet


@dataclass(frozen=True)
class PrivateFolder:
    """A folder that only the user can read, and its lock, held while its process runs."""

    path: Path
    handle: int | None

    @classmethod
    def make(cls, parent: Path | None) -> "PrivateFolder":
        """Create a new folder, and remove those of processes that were killed."""
        with suppress(OSError):
            for entry in _list_entries(Path(parent or tempfile.gettempdir()), PREFIX):
                with suppress(OSError):
                    _remove_folder(entry)
        while True:
            path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
            handle = os.open(path / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
            if not lock_file(handle, wait=True):  # the system has no locks
                os.close(handle)
                (path / LOCK).unlink(missing_ok=True)
                return cls(path, None)
            # Without its lock, another process may have removed the folder.
            if _is_at(path / LOCK, handle):
                return cls(path, handle)
            os.close(handle)

    def remove(self) -> None:
        """Remove the folder and its contents."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self.handle is not None:
            with suppress(OSError):  # it was removed before
                os.close(self.handle)


@contextmanager
def unfinished(folder: Path, suffix: str, path: Path | None = None) -> Iterator[Path]:
    """Yield a new, private file next to an output; remove it at the end unless it was moved.

    ``path`` is its name (default: a random one). Raises OSError if it cannot be created.
    """
    _remove_abandoned(folder)
    while True:
        if path is None:
            handle, name = tempfile.mkstemp(prefix=f".{PREFIX}", suffix=suffix, dir=folder)
            file = Path(name)
        else:
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
            file = path
        if not lock_file(handle, wait=True) or _is_at(file, handle):
            break
        os.close(handle)  # before it was locked, another process removed it as abandoned
    try:
        yield file
    finally:
        file.unlink(missing_ok=True)
        os.close(handle)


def _remove_abandoned(folder: Path) -> None:
    """Remove the unfinished outputs in a folder that processes left when they were killed."""
    with suppress(OSError):
        for output in _list_entries(folder, f".{PREFIX}"):
            if output.is_file() and not output.is_symlink():
                with _lock_abandoned(output) as is_abandoned:
                    if is_abandoned:
                        output.unlink(missing_ok=True)


def lock_file(handle: int, *, wait: bool = False) -> bool | None:
    """Lock an open file; return whether this handle now holds it, None if there are no locks."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _remove_folder(path: Path) -> None:
    """Remove the folder of a killed process, and stop the commands that the process started."""
    status = path.lstat()
    if path.is_symlink() or not path.is_dir() or status.st_mode & 0o077:  # not made by qifsql
        return
    if not (path / LOCK).exists():
        if time.time() - status.st_mtime > TIME_TO_LOCK:
            path.rmdir()  # which refuses unless it is empty
        return
    with _lock_abandoned(path / LOCK) as is_abandoned:
        if is_abandoned:
            _end_commands(path)
            shutil.rmtree(path, ignore_errors=True)


def _list_entries(folder: Path, prefix: str) -> list[Path]:
    """Return the user's entries in a folder whose names begin with a prefix."""
    if not hasattr(os, "geteuid"):
        return []
    with os.scandir(folder) as entries:
        named = [entry for entry in entries if entry.name.startswith(prefix)]
    of_user = (e for e in named if e.stat(follow_symlinks=False).st_uid == os.geteuid())
    return [Path(entry.path) for entry in of_user]


@contextmanager
def _lock_abandoned(path: Path) -> Iterator[bool]:
    """Yield whether no running process holds the lock of a file; hold the lock meanwhile."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        yield False
        return
    try:
        yield bool(lock_file(handle)) and _is_at(path, handle)
    finally:
        os.close(handle)


def _is_at(path: Path, handle: int) -> bool:
    """Return whether a path still names this open file."""
    try:
        there = path.lstat()
    except OSError:
        return False
    return os.path.samestat(there, os.fstat(handle))


def _end_commands(folder: Path) -> None:
    """Stop the commands of a killed run: processes with its folder in their environment."""
    mark = f"{MARK}={folder.resolve()}".encode()
    for entry in Path("/proc").glob("[0-9]*") if hasattr(os, "pidfd_open") else ():
        with suppress(OSError):  # it ended meanwhile, or belongs to another user
            process = os.pidfd_open(int(entry.name))
            try:
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    signal.pidfd_send_signal(process, signal.SIGKILL)
            finally:
                os.close(process)


def public_path(path: str) -> str:
    """Return the path of an input as people know it: data of standard input have no path."""
    file = Path(path)
    is_input = file.parent.name.startswith(PREFIX) and file.name.startswith(STANDARD_INPUT)
    return STANDARD_INPUT if is_input else path


def remove(path: Path) -> None:
    """Remove a DuckDB file, such as a workspace, and its journal."""
    for file in (path, path.with_name(path.name + ".wal")):
        file.unlink(missing_ok=True)
