"""Progress of work: of one statement or of many; nothing, or a line in a notebook.

The bar of the terminal is in ``presentation``.
"""

import logging
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol

SHOWN_AFTER = 2.0  # seconds of work before progress is shown
SHOWN_EVERY = 0.2  # seconds between two updates
LOGGED = 10.0  # seconds between two lines of the log
LOG = logging.getLogger("qifsql")
_last_logged = [0.0]  # the time of the last line


class Progress(Protocol):
    """A function that shows progress: the current work, and the finished share of it, 0 to 1.

    ``detail`` may add further words.
    """

    def __call__(self, what: str, share: float, detail: str = "", /) -> None:
        """Show the progress."""


class Meter:
    """Progress of the whole work ``what``, in place of the engine's progress of each statement."""

    def __init__(self, what: str, show: Progress) -> None:
        self._what = what
        self._draw = show
        self._done, self._stages, self._inside = 0, 1, 0.0
        self._detail = "reading"

    def __call__(self, _what: str, _share: float, _detail: str = "", /) -> None:
        """Show the progress of the work; ignore the engine's progress of one statement."""
        self._draw(self._what, (self._done + self._inside) / self._stages, self._detail)

    def show(self) -> None:
        """Show the progress of the work."""
        self("", 0.0)

    def begin(self, done: int, stages: int, detail: str) -> None:
        """Begin a stage: set the number of stages done, of all stages, and the text to show."""
        self._done, self._stages, self._inside, self._detail = done, stages, 0.0, detail

    def inside(self, share: float, detail: str) -> None:
        """Set the share of the stage that is done, 0 to 1, and the text to show."""
        self._inside, self._detail = max(self._inside, share), detail


def silent(*_: object) -> None:
    """Show no progress."""


def usual() -> Progress:
    """Return the default progress: a line in a notebook, lines of the log (INFO) elsewhere."""
    return line() if is_notebook() else logged


def is_notebook() -> bool:
    """Return whether Python runs in the kernel of a notebook; other libraries import one, too."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def line(clock: Callable[[], float] = time.monotonic) -> Callable[..., None]:
    """Return a function that shows progress in one line below the cell, updated in place."""
    display = import_module("IPython.display").display
    began, last_shown = clock(), 0.0
    handles: list[Any] = []  # of the line, once it is there

    def show(what: str, share: float, detail: str = "", /) -> None:
        nonlocal last_shown
        now = clock()
        if now - began < SHOWN_AFTER or (share < 1 and now - last_shown < SHOWN_EVERY):
            return
        last_shown = now
        words = {"text/plain": f"{what}: {share:.0%} {detail}".rstrip()}
        if handles:
            handles[0].update(words, raw=True)
        else:
            handles.append(display(words, raw=True, display_id=True))

    return show


def logged(what: str, share: float, detail: str = "", /) -> None:
    """Write progress to the log of qifsql at the level INFO, every ten seconds."""
    if LOG.isEnabledFor(logging.INFO) and time.monotonic() - _last_logged[0] >= LOGGED:
        _last_logged[0] = time.monotonic()
        LOG.info("%s: %.0f %% %s", what, 100 * share, detail)
