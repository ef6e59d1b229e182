"""Calculations, one after another, in the main thread, where Ctrl-C can stop them.

The server runs in another thread, puts calculations into the line and waits for their results.
"""

import _thread
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from qifsql.errors import INTERRUPTED, Interrupted

LONGEST_WAIT = 0.5  # seconds until the time without a request is looked at again


class Superseded(Exception):  # noqa: N818 - not an error
    """A calculation whose result nobody needs any more."""


@dataclass(frozen=True, eq=False)
class Calculation:
    """A function to call; a newer one of the same ``topic`` makes it superfluous."""

    topic: str
    work: Callable[[], Any]
    future: "Future[Any]" = field(default_factory=Future)


class Calculations:
    """A line of calculations, which the thread that calls ``run`` does one after another."""

    def __init__(self, interrupt: Callable[[], None] | None = _thread.interrupt_main) -> None:
        """Begin with an empty line.

        ``interrupt`` stops the running calculation as Ctrl-C does; without it, it runs to its end.
        """
        self.interrupt = interrupt
        self._last_request = time.monotonic()
        self._line: queue.Queue[Calculation | None] = queue.Queue()  # None is the end
        self._lock = threading.Lock()
        self._waiting: dict[str, Calculation] = {}  # by topic, the newest; others are superseded
        self._running: Calculation | None = None
        self._stopped = False  # the running one was interrupted for a newer one of its topic

    def seen(self) -> None:
        """Note that there was a request."""
        self._last_request = time.monotonic()

    @property
    def idle(self) -> float:
        """Return the seconds since the last request."""
        return time.monotonic() - self._last_request

    def submit(self, topic: str, work: Callable[[], Any]) -> "Future[Any]":
        """Put a calculation into the line; return the future of its result.

        It replaces a waiting calculation of the same topic, and interrupts a running one.
        """
        calculation = Calculation(topic, work)
        with self._lock:
            older = self._waiting.pop(topic, None)
            if older is not None:
                _supersede(older)
            self._waiting[topic] = calculation
            running = self._running
            if running is not None and running.topic == topic and self.interrupt is not None:
                self._stopped = True
                self.interrupt()
        self._line.put(calculation)
        return calculation.future

    def end(self) -> None:
        """End after the running calculation."""
        self._line.put(None)

    def run(self, is_over: Callable[[], bool] = lambda: False) -> None:
        """Do the calculations until ``end``, or until ``is_over`` when none is waiting.

        Raises KeyboardInterrupt at Ctrl-C. Waiting calculations end with ``Superseded``.
        """
        try:
            while self._next(is_over):
                pass
        finally:
            with self._lock:
                for calculation in self._waiting.values():
                    _supersede(calculation)

    def _next(self, is_over: Callable[[], bool]) -> bool:
        """Do one calculation, or wait a moment for one; return whether to go on."""
        calculation = None
        try:
            try:
                calculation = self._line.get(timeout=LONGEST_WAIT)
            except queue.Empty:
                return not is_over()
            if calculation is None:  # put there by ``end``
                return False
            self._do(calculation)
        except (KeyboardInterrupt, Interrupted) as e:
            if calculation is not None:
                _supersede(calculation)
            if not self._stopped:  # by Ctrl-C, not for a newer calculation of the same topic
                raise KeyboardInterrupt from e
        return True

    def _do(self, calculation: Calculation) -> None:
        """Do a calculation, unless it was superseded; set the result or error of its future.

        Raises Interrupted, and leaves the future to the caller, if the calculation was interrupted.
        """
        with self._lock:
            if self._waiting.get(calculation.topic) is not calculation:
                return
            del self._waiting[calculation.topic]
            self._running, self._stopped = calculation, False
        try:
            calculation.future.set_running_or_notify_cancel()
            result = calculation.work()
        except Exception as e:
            if isinstance(e, Interrupted) or self._stopped:
                raise Interrupted(INTERRUPTED) from e
            calculation.future.set_exception(e)
        else:
            calculation.future.set_result(result)
        finally:
            with self._lock:
                self._running = None


def _supersede(calculation: Calculation) -> None:
    """End the future of a calculation with ``Superseded``, unless it has ended."""
    future = calculation.future
    if not future.done():
        if not future.running():
            future.set_running_or_notify_cancel()
        future.set_exception(Superseded())
