"""The place of compiled code: a folder of the user's own, whose files are looked at before use.

Compiled code is run as it is, so a folder or file that others may write is left alone, and so is a
file that is not as it was written. Without such a folder the code is compiled in each process.
"""

import hashlib
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba import config, njit

DIGEST = ".sha256"
WRITABLE = stat.S_IWGRP | stat.S_IWOTH


@cache
def folder() -> Path | None:
    """Return the folder for compiled code; None if there is none that only the user can write."""
    of_numba, of_caches = os.environ.get("NUMBA_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME")
    places = [Path(of_numba)] if of_numba else []
    with suppress(RuntimeError):  # a user without a home
        places.append((Path(of_caches) if of_caches else Path.home() / ".cache") / "qifsql")
    return next((place for place in places if _is_usable(place)), None)


def _is_usable(place: Path) -> bool:
    """Make a folder, unless it is there; return whether only the user can write anything in it."""
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        paths = [place, *place.rglob("*")]
        return os.access(place, os.W_OK | os.X_OK) and all(map(_is_private, paths))
    except OSError:
        return False


def _is_private(path: Path) -> bool:
    """Return whether a path is a file or folder of the user that nobody else can write."""
    status = path.lstat()
    user = os.getuid() if hasattr(os, "getuid") else status.st_uid
    if status.st_uid != user or status.st_mode & WRITABLE:
        return False
    return stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Return a function that is compiled when it is first called, or read from the folder."""
    if function is None:  # the decorator has options, and gets the function next
        return lambda inner: compiled(inner, **options)
    jit: Any = njit
    dispatcher = jit(nogil=True, _nrt=False, **options)(function)
    place = folder()
    if place is not None:
        settings: Any = config  # of numba, for all functions of the process
        before, settings.CACHE_DIR = settings.CACHE_DIR, str(place)
        try:
            dispatcher.enable_caching()
            dispatcher._cache = _GuardedCache(dispatcher._cache)
        except RuntimeError:  # numba finds no place after all
            pass
        finally:
            settings.CACHE_DIR = before
    return dispatcher


class _GuardedCache:
    """The files of a compiled function: damaged ones are removed, and no error is that of a sweep.

    It stands for the cache of numba, which keeps an index and a file of code for each signature.
    """

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return compiled code, or None; remove all files of the function if one is damaged."""
        try:
            if not all(map(_is_intact, self._files())):
                self._remove()
                return None
            return self._inner.load_overload(signature, target)
        except Exception:  # whatever unpickling a damaged file raises
            self._remove()
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep compiled code for the next process, if the disk takes it."""
        try:
            self._inner.save_overload(signature, result)
            for file in self._files():
                file.with_name(file.name + DIGEST).write_text(_digest(file))
        except Exception:  # the code itself is compiled: only keeping it has failed
            self._remove()

    def _files(self) -> list[Path]:
        """Return the files of the function in the folder of the cache."""
        base = self._inner._impl.filename_base
        files = Path(self._inner.cache_path).glob("*.nb[ic]")
        return [file for file in files if file.name.startswith(f"{base}.")]

    def _remove(self) -> None:
        for file in self._files():
            for path in (file, file.with_name(file.name + DIGEST)):
                with suppress(OSError):
                    path.unlink(missing_ok=True)


def _is_intact(file: Path) -> bool:
    """Return whether a file of machine code is that which was written, by its digest."""
    try:
        digest = file.with_name(file.name + DIGEST).read_text()
        return _is_private(file) and digest == _digest(file)
    except OSError:
        return False


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
