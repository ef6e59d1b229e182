"""Progress of the current work: nothing, or one line in a notebook; the bar is in presentation."""

import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol

AFTER, EVERY = 2.0, 0.2  # seconds of work before progress is shown, and between two updates


class Progress(Protocol):
    """A function that shows progress: the current work, and the finished share of it, 0 to 1.

    ``detail`` may add further words.
    """

    def __call__(self, what: str, share: float, detail: str = "", /) -> None:
        """Show the progress."""


def silent(*_: object) -> None:
    """Show no progress."""


def usual() -> Progress:
    """Return the default progress: a line in a notebook, nothing elsewhere."""
    return line() if is_notebook() else silent


def is_notebook() -> bool:
    """Return whether Python runs in the kernel of a notebook; other libraries import one, too."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def line(clock: Callable[[], float] = time.monotonic) -> Callable[..., None]:
    """Return a function that shows progress in one line below the cell, updated in place."""
    display = import_module("IPython.display").display
    began, last = clock(), 0.0
    handles: list[Any] = []

    def show(what: str, share: float, detail: str = "", /) -> None:
        nonlocal last
        now = clock()
        if now - began < AFTER or (share < 1 and now - last < EVERY):
            return
        last = now
        words = {"text/plain": f"{what}: {share:.0%} {detail}".rstrip()}
        if handles:
            handles[0].update(words, raw=True)
        else:
            handles.append(display(words, raw=True, display_id=True))

    return show
