"""Calls in threads of their own, which Ctrl-C and the first error stop."""

import threading
from collections.abc import Callable, Sequence

from qifsql.errors import Interrupted

POLL = 0.05  # seconds between looks at what runs


def in_threads(
    calls: Sequence[Callable[[], object]],
    *,
    interrupt: Callable[[], None],
    look: Callable[[], None],
    words: str = "interrupted",
) -> None:
    """Make every call in a thread of its own until all return.

    ``look`` is called meanwhile. The first error, or Ctrl-C, stops all of them: ``interrupt`` is
    called until they have returned, and a call that is about to begin does not. So nothing runs
    any more when this ends, whichever way it ends. Raises Interrupted with these ``words``.
    """
    trouble: list[BaseException] = []
    stopped = threading.Event()
    finished = [threading.Event() for _ in calls]  # not Thread.join: a signal may end it too early

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
    """Interrupt until all that began have returned: a query that is about to begin forgets it."""
    # One without a number has not begun, and finds that it is stopped where it still does.
    begun = [done for thread, done in zip(threads, finished, strict=True) if thread.ident]
    while True:
        try:
            while not all(done.wait(POLL) for done in begun):
                interrupt()
            return
        except KeyboardInterrupt:  # once more, while they are being stopped already
            continue
