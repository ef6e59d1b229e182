"""Calls in separate threads, which Ctrl-C and the first error stop."""

import threading
from collections.abc import Callable, Sequence

from qifsql.errors import Interrupted

POLL = 0.05  # seconds between two checks of the threads


def in_threads(
    calls: Sequence[Callable[[], object]],
    *,
    interrupt: Callable[[], None],
    look: Callable[[], None],
    words: str = "interrupted",
) -> None:
    """Run every call in its own thread until all return.

    ``look`` is called meanwhile. The first error, or Ctrl-C, stops all calls: ``interrupt`` is
    called until they have returned, and no further call begins. So no call runs when this
    function ends, even after an error. Ctrl-C raises Interrupted with these ``words``.
    """
    trouble: list[BaseException] = []
    stopped = threading.Event()
    finished = [threading.Event() for _ in calls]  # a signal may end Thread.join too early

    def run(call: Callable[[], object], done: threading.Event) -> None:
        try:
            if not stopped.is_set():
                call()
        except BaseException as e:
            trouble.append(e)
        finally:
            done.set()

    pairs = zip(calls, finished, strict=True)
    threads = [threading.Thread(target=run, args=pair, daemon=True) for pair in pairs]
    try:
        for thread in threads:
            thread.start()
        while not all(done.wait(POLL) for done in finished):
            look()
            if trouble:
                break
    except BaseException as e:
        stopped.set()
        _stop(threads, finished, interrupt)
        if isinstance(e, KeyboardInterrupt):
            raise Interrupted(words) from e
        raise
    _stop(threads, finished, interrupt)
    if trouble:
        raise next((e for e in trouble if not isinstance(e, Interrupted)), trouble[0])


def _stop(
    threads: Sequence[threading.Thread],
    finished: Sequence[threading.Event],
    interrupt: Callable[[], None],
) -> None:
    """Interrupt until all threads return: an interrupt before a query begins has no effect."""
    # A thread without a number has not begun; if it still begins, it finds ``stopped`` set.
    begun = [done for thread, done in zip(threads, finished, strict=True) if thread.ident]
    while True:
        try:
            while not all(done.wait(POLL) for done in begun):
                interrupt()
            return
        except KeyboardInterrupt:  # a second Ctrl-C, while the threads are stopping
            continue
