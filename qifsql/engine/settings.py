"""Settings of an engine: memory, threads, temporary files, progress."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from qifsql.engine.temporary import PrivateFolder
from qifsql.errors import InputError


class Progress(Protocol):
    """Called now and then with what is being done, and the share of it that is done, 0 to 1.

    ``detail`` says more where there is more to say.
    """

    def __call__(self, what: str, share: float, detail: str = "", /) -> None:
        """Show it."""


ENOUGH = 4 * 2**30  # bytes of memory beyond which an attack gets no faster
PRIVATE = 0o077  # the umask of files that the user alone may read
PER_CORE, ALWAYS = 8, 64  # threads that a core may be given at most, and that any machine may


def silent(*_: object) -> None:
    """Show nothing, whatever there is to say."""


@dataclass(frozen=True)
class Settings:
    """Limits of one engine.

    ``memory`` is a size such as ``8GB`` (default: half of the machine's, at most 4 GiB: more makes
    grouping slower, because fresh memory costs more than cached files; never more than the machine
    has), ``threads`` a number
    (default: all cores; at most eight for each core, or 64), ``temp`` a folder for temporary files
    (default: the system's). What is put there is readable by the user alone and is removed.
    ``seed`` is for what draws at random and is kept in manifests; attacks draw nothing.
    """

    memory: str | None = None
    threads: int | None = None
    temp: Path | None = None
    progress: Progress = silent
    seed: int | None = None

    def check_threads(self) -> None:
        """Raise InputError unless the number of threads is one that the machine can bear."""
        cores = os.cpu_count() or 1
        most = max(ALWAYS, PER_CORE * cores)
        if self.threads is not None and not 1 <= self.threads <= most:
            raise InputError(
                f"threads={self.threads} cannot be used; give a number from 1 to {most} (more than "
                f"the {cores} cores here makes nothing faster)"
            )

    @property
    def memory_limit(self) -> str | None:
        """Return the limit to set; None leaves the engine's own default where nothing is known."""
        if self.memory is not None:
            return self.memory
        if (machine := machine_memory()) is None:
            return None
        return f"{min(machine // 2, ENOUGH) // 2**20}MiB"


def machine_memory() -> int | None:
    """Return the bytes of memory that the machine has; None if that is not known."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


def private_folder(parent: Path | None) -> PrivateFolder:
    """Make a new folder that only the user can read; it goes when it is removed.

    Raises InputError where there can be none.
    """
    try:
        return PrivateFolder.make(parent)
    except OSError as e:
        raise InputError(
            f"the folder for temporary files ({parent or tempfile.gettempdir()}) "
            f"cannot be used: {e.strerror}; name another with --temp"
        ) from e


@contextmanager
def masked(mask: int | None = PRIVATE) -> Iterator[int | None]:
    """Make files with these permissions taken away, by default all but the user's own.

    Yields the mask of before, to be restored inside for a while; None changes nothing.
    """
    before = None if mask is None else os.umask(mask)
    try:
        yield before
    finally:
        if before is not None:
            os.umask(before)
