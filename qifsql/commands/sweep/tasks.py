"""A queue of tasks for the streams of a sweep."""

import math
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from qifsql.commands.sweep.plan import Task
from qifsql.engine.connections import Stream
from qifsql.errors import Interrupted


class Tasks:
    """A queue that ends when no task waits and no task at work can add more.

    ``stop``: no more tasks are given out once it returns True. Tasks that settle one subset each
    are given out up to ``together`` at a time, to ``streams`` streams.
    """

    def __init__(
        self,
        tasks: Iterable[Task],
        stop: Callable[[], bool],
        *,
        together: int = 1,
        streams: int = 1,
    ) -> None:
        self._waiting = deque(tasks)
        self._together = together
        self._streams = streams
        self._working = 0
        self._stop = stop
        self._changed = threading.Condition()

    def add(self, tasks: Iterable[Task]) -> None:
        """Add tasks to the queue."""
        with self._changed:
            self._waiting.extend(tasks)
            self._changed.notify_all()

    @contextmanager
    def next_batch(self, stream: Stream) -> Iterator[list[Task]]:
        """Yield the next task for a stream, or several for one subset each; none at the end."""
        try:
            tasks = self._take(stream)
        except BaseException:
            self.close()
            raise
        try:
            yield tasks
        except BaseException:
            self.close()
            raise
        finally:
            if tasks:
                with self._changed:
                    self._working -= 1
                    self._changed.notify_all()

    def close(self) -> None:
        """Give out no more tasks."""
        with self._changed:
            self._waiting.clear()
            self._stop = lambda: True
            self._changed.notify_all()

    def _take(self, stream: Stream) -> list[Task]:
        """Return the tasks of ``next_batch``, as soon as there are some or no stream adds more."""
        with self._changed:
            while not self._stop():
                if self._waiting:
                    self._working += 1
                    task = self._waiting.popleft()
                    return [task, *self._more_like(task)]
                if not self._working:
                    break
                self._changed.wait()
                if stream.interrupted.is_set():
                    raise Interrupted("interrupted")
            self._waiting.clear()
            self._changed.notify_all()
            return []

    def _more_like(self, task: Task) -> list[Task]:
        """Return the waiting tasks that are done with a task: if each settles one subset."""
        if task.kind != "group":
            return []
        # Not more than leaves the same number for each other stream.
        share = min(self._together, math.ceil((1 + len(self._waiting)) / self._streams))
        more: list[Task] = []
        while len(more) + 1 < share and self._waiting and self._waiting[0].kind == "group":
            more.append(self._waiting.popleft())
        return more
