"""The tasks that wait, handed out to streams; a task may bring new ones."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from qifsql.commands.sweep.workspace import Task


class Tasks:
    """A queue that ends when nothing waits and nobody works who could bring more.

    ``stop``: when it says so, no more tasks are handed out.
    """

    def __init__(self, tasks: Iterable[Task], stop: Callable[[], bool]) -> None:
        self._waiting = deque(tasks)
        self._working = 0
        self._stop = stop
        self._changed = threading.Condition()

    def add(self, tasks: Iterable[Task]) -> None:
        """Let more tasks wait."""
        with self._changed:
            self._waiting.extend(tasks)
            self._changed.notify_all()

    @contextmanager
    def next(self) -> Iterator[Task | None]:
        """The next task, once there is one; None at the end."""
        task = self._take()
        try:
            yield task
        except BaseException:
            self.close()
            raise
        finally:
            if task is not None:
                with self._changed:
                    self._working -= 1
                    self._changed.notify_all()

    def close(self) -> None:
        """Hand out nothing more."""
        with self._changed:
            self._waiting.clear()
            self._stop = _always
            self._changed.notify_all()

    def _take(self) -> Task | None:
        with self._changed:
            while not self._waiting and self._working:
                self._changed.wait()
            if not self._waiting or self._stop():
                self._waiting.clear()
                return None
            self._working += 1
            return self._waiting.popleft()


def _always() -> bool:
    return True
