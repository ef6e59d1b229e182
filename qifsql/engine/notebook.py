"""Progress in a notebook: one line below the cell, updated in place."""

import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

AFTER, EVERY = 2.0, 0.2  # seconds of work before progress is shown, and between two updates


def is_notebook() -> bool:
    """Return whether Python runs in the kernel of a notebook; other libraries import one, too."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def line(clock: Callable[[], float] = time.monotonic) -> Callable[..., None]:
    """Return a function that shows progress (``qifsql.engine.settings.Progress``)."""
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
