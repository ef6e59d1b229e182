"""Calls in threads: whichever way they end, nothing runs any more."""

import os
import subprocess
import sys
import threading
import time

import pytest
from effort import PATIENCE, SOON
from places import SAMPLES

from qifsql.engine import threads
from qifsql.engine.threads import in_threads
from qifsql.errors import EngineError, Interrupted


class Call:
    """A call that goes on until it is interrupted, and says whether it still does."""

    def __init__(self) -> None:
        self.interrupted = threading.Event()
        self.running = False

    def __call__(self) -> None:
        self.running = True
        assert self.interrupted.wait(PATIENCE)
        time.sleep(0.1)
        self.running = False


def _pressed() -> None:
    raise KeyboardInterrupt


def test_ctrl_c_meanwhile_ends_after_the_calls() -> None:
    calls = [Call(), Call()]

    def interrupt() -> None:
        for call in calls:
            call.interrupted.set()

    with pytest.raises(Interrupted, match=r"^stopped$"):
        in_threads(calls, interrupt=interrupt, look=_pressed, words="stopped")
    assert not any(call.running for call in calls)


@pytest.mark.parametrize("begun", [True, False])
def test_ctrl_c_while_a_call_is_handed_over_ends_after_the_calls(
    monkeypatch: pytest.MonkeyPatch, *, begun: bool
) -> None:
    """Python hears signals while it waits for a thread to begin, too."""
    call, hand_over = Call(), threads._hand_over

    def torn(job: threads._Job) -> None:
        if begun:
            hand_over(job)
        raise KeyboardInterrupt

    monkeypatch.setattr(threads, "_hand_over", torn)
    with pytest.raises(Interrupted):
        in_threads([call], interrupt=call.interrupted.set, look=lambda: None)
    assert not call.running


def test_ctrl_c_while_a_thread_begins_ends_after_the_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    call, start = Call(), threading.Thread.start

    def torn(thread: threading.Thread) -> None:
        start(thread)
        raise KeyboardInterrupt

    monkeypatch.setattr(threads, "_idle", [])
    monkeypatch.setattr(threading.Thread, "start", torn)
    with pytest.raises(Interrupted):
        in_threads([call], interrupt=call.interrupted.set, look=lambda: None)
    assert not call.running


def test_a_thread_is_used_again() -> None:
    """Its next call runs as the first did, whether that succeeded or failed."""
    names: list[str] = []

    def call() -> None:
        names.append(threading.current_thread().name)
        if len(names) == 1:
            raise EngineError("the first")

    with pytest.raises(EngineError):
        in_threads([call], interrupt=lambda: None, look=lambda: None)
    for _ in range(5):
        in_threads([call], interrupt=lambda: None, look=lambda: None)
    assert len(names) == 6
    assert len({*names}) == 1


def test_a_second_ctrl_c_does_not_leave_a_call_behind() -> None:
    call, pressed = Call(), []

    def interrupt() -> None:
        if not pressed:
            pressed.append(True)
            raise KeyboardInterrupt
        call.interrupted.set()

    with pytest.raises(Interrupted):
        in_threads([call], interrupt=interrupt, look=_pressed)
    assert not call.running


def test_the_first_error_stops_the_others_and_is_the_one_that_is_seen() -> None:
    call = Call()

    def fail() -> None:
        raise EngineError("the first")

    with pytest.raises(EngineError, match="the first"):
        in_threads([call, fail], interrupt=call.interrupted.set, look=lambda: None)
    assert not call.running


FORK = """
import os, sys, qifsql
from qifsql.errors import InputError
def attack():
    return qifsql.attack("crs", {path!r}, qids="age,gender").frame["blocks"][0]
first = [] if {late} else [attack()]
pid = os.fork()
if pid == 0:
    try:
        print(attack())
    except InputError as e:
        print(e)
    sys.stdout.flush()
    os._exit(0)
os.waitpid(pid, 0)
print(attack())
"""


@pytest.mark.cases(1)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("late", [True, False])
def test_a_forked_process_works_or_is_refused_but_never_waits_for_ever(*, late: bool) -> None:
    path = str(SAMPLES / "thesis_table_3_2.csv")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK.format(path=path, late=late)],
        capture_output=True, text=True, timeout=SOON, check=True,
    )  # fmt: skip
    child, parent = done.stdout.splitlines()
    assert parent.isdecimal()
    assert child == parent if late else 'get_context("spawn")' in child
