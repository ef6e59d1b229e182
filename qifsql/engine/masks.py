"""The mask of permissions of new files: one for the whole process, whichever threads run."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

PRIVATE = 0o077  # of files that only the user may read
_lock = threading.Lock()
_private_outputs: ContextVar[bool] = ContextVar("private_outputs", default=False)
_usual_masks: list[int] = []  # one, once for each open context of ``private``


@contextmanager
def private(*, when: bool = True) -> Iterator[None]:
    """Create files that only the user may read, if ``when`` is true.

    The usual mask returns when the last of these contexts ends, in whichever thread.
    """
    if not when:
        yield
        return
    with _lock:  # the first context sets the private mask; each keeps the usual one
        _usual_masks.append(_usual_masks[-1] if _usual_masks else os.umask(PRIVATE))
    try:
        yield
    finally:
        with _lock:
            usual_mask = _usual_masks.pop()
            if not _usual_masks:
                os.umask(usual_mask)


@contextmanager
def private_outputs(*, when: bool) -> Iterator[None]:
    """Let results that are written here be read by the user alone, if ``when`` is true."""
    token = _private_outputs.set(when or _private_outputs.get())
    try:
        yield
    finally:
        _private_outputs.reset(token)


def usual() -> int:
    """Return the mask of results: that of the user, or inside ``private_outputs`` the private."""
    if _private_outputs.get():
        return PRIVATE
    with _lock:
        if _usual_masks:  # the mask of the process is private now; this was the user's
            return _usual_masks[-1]
        mask = os.umask(PRIVATE)  # the only way to read it
        os.umask(mask)
        return mask
