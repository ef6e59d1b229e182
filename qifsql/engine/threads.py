"""Calls in separate threads, which Ctrl-C and the first error stop.

The threads wait for further calls when they are done: most statements take less time than the start
of a thread.
"""

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue

from qifsql.errors import InputError, Interrupted

POLL = 0.05  # seconds between two checks of the threads


@dataclass(eq=False)
class _Job:
    """A call that one thread takes, unless it is withdrawn before.

    Errors go to ``trouble``, and no call begins when ``stopped`` is set. ``owner`` says under the
    key "owner" who has the job (see ``run``), once that is decided.
    """

    call: Callable[[], object]
    trouble: list[BaseException]
    stopped: threading.Event
    owner: dict[str, str] = field(default_factory=dict)
    done: threading.Event = field(default_factory=threading.Event)  # Thread.join may end too early

    def run(self) -> None:
        """Make the call, unless the job was withdrawn or another call failed.

        Whoever sets ``owner`` first has the job: this thread, or ``withdraw``. ``setdefault`` is
        atomic.
        """
        if self.owner.setdefault("owner", "thread") == "thread" and not self.stopped.is_set():
            try:
                self.call()
            except BaseException as e:
                self.trouble.append(e)

    def withdraw(self) -> bool:
        """Withdraw the job unless a thread has taken it; return whether it is withdrawn."""
        return self.owner.setdefault("owner", "caller") == "caller"


_Jobs = SimpleQueue[_Job]
_idle: list[_Jobs] = []  # the queues of threads that wait; each operation on the list is atomic
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # a child process has none of the threads


_first_process: list[int] = []  # the process in which the first engine was opened


def check_process() -> None:
    """Refuse a process that was forked from one in which an engine was open.

    It has none of the threads of DuckDB and Polars, and would wait for them for ever.
    """
    if not _first_process:
        _first_process.append(os.getpid())
    if _first_process[0] != os.getpid():
        raise InputError(
            "this process was forked from one that has used qifsql, and lacks its threads; start "
            'processes with multiprocessing.get_context("spawn"), or fork before the first call'
        )


def _serve(jobs: _Jobs) -> None:
    """Run one job after another, for as long as the process lives."""
    while True:
        job = jobs.get()
        job.run()
        _idle.append(jobs)
        job.done.set()
        del job  # it holds what its call refers to


def _hand_over(job: _Job) -> None:
    """Give a job to a thread that waits, or to a new one."""
    try:
        jobs = _idle.pop()
    except IndexError:
        jobs = SimpleQueue()
        threading.Thread(target=_serve, args=(jobs,), daemon=True).start()
    jobs.put(job)


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
    jobs = [_Job(call, trouble, stopped) for call in calls]
    try:
        for job in jobs:
            _hand_over(job)
        while not all(job.done.wait(POLL) for job in jobs):
            look()
            if trouble:
                break
    except BaseException as e:
        stopped.set()
        _stop(jobs, interrupt)
        if isinstance(e, KeyboardInterrupt):
            raise Interrupted(words) from e
        raise
    _stop(jobs, interrupt)
    if trouble:
        raise next((e for e in trouble if not isinstance(e, Interrupted)), trouble[0])


def _stop(jobs: Sequence[_Job], interrupt: Callable[[], None]) -> None:
    """Interrupt until all calls return: an interrupt before a query begins has no effect."""
    while True:
        try:
            begun = [job for job in jobs if not job.withdraw()]
            while not all(job.done.wait(POLL) for job in begun):
                interrupt()
            return
        except KeyboardInterrupt:  # a second Ctrl-C, while the calls are stopping
            continue
