"""The progress bar on a terminal, and lines of progress for other programs."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from qifsql.engine.progress import Progress, silent
from qifsql.errors import printable

BAR_AFTER = 2.0  # seconds of work before a bar is shown
LINE_AFTER = 0.5  # seconds between two lines of progress


@contextmanager
def progress(is_visible: bool | None, write: Callable[[str], None]) -> Iterator[Progress]:
    """Give a function that shows progress on stderr, inside the context.

    ``is_visible``: show it; None: only on a terminal. On a terminal it is a bar, else lines of text
    for other programs, which ``write`` writes.
    """
    if not (sys.stderr.isatty() if is_visible is None else is_visible):
        yield silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    detail = TextColumn("{task.fields[detail]}", markup=False)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), detail)
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _progress_in_lines(write)
        return
    bar = Bar(*columns, console=console, transient=True)
    try:
        yield _progress_on_bar(bar)
    finally:
        if bar.tasks:  # the bar was started
            bar.stop()


def _progress_on_bar(bar: Any) -> Progress:
    """Return a function that shows progress on a bar of Rich, but not before BAR_AFTER seconds.

    It gets what is done, the share that is done (0 to 1) and a detail to show.
    """
    began = time.monotonic()
    tasks: dict[str, object] = {}  # Rich's number of each task, by what is done

    def show(what: str, share: float, detail: str = "", /) -> None:
        if time.monotonic() - began < BAR_AFTER:
            return
        if not tasks:
            bar.start()
        detail = printable(detail)
        if what not in tasks:
            tasks[what] = bar.add_task(printable(what), total=1.0, detail=detail)
        bar.update(tasks[what], completed=share, detail=detail)

    return show


def _progress_in_lines(write: Callable[[str], None]) -> Progress:
    """Return a function that writes a line per new percentage, at most one in LINE_AFTER s."""
    written_at, written = 0.0, -1  # time and percentage of the latest line

    def show(what: str, share: float, _detail: str = "", /) -> None:
        nonlocal written_at, written
        percent = int(100 * share)
        if time.monotonic() - written_at >= LINE_AFTER and percent != written:
            written_at, written = time.monotonic(), percent
            write(f"progress: {what} {percent} %")

    return show
