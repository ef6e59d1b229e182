"""The choice of a way for chunks, from the time of the chunks before."""

import math
import time
from typing import Any

import polars as pl
import pytest
from places import SAMPLES

import qifsql
from qifsql.commands.sweep import kernel_choice, sweep_run
from qifsql.commands.sweep.layout import Layout
from qifsql.commands.sweep.plan import READING, Progress, Task
from qifsql.commands.sweep.walk import (
    PER_ROLLED_ROW,
    PER_SUBSET,
    PROMISING,
    SECONDS_OF_CALLS,
    WALKS_TRIED,
    Choice,
)
from qifsql.engine.duckdb import DuckDB

LIMITS = {name: getattr(kernel_choice, name) for name in ("LEAST_PEOPLE", "LEAST_WORK")}
SMALL = sweep_run.ALONE

ROWS = 100_000
LEFT = 8
EXPECTED = (PER_ROLLED_ROW * ROWS + PER_SUBSET) * 2**LEFT  # seconds that a roll-up of these takes


def choice(**others: object) -> Choice:
    return Choice(LEFT, may_roll=True, valued=False, **others)  # type: ignore[arg-type]


def walked(chosen: Choice, *shares: float, done: bool = True) -> Choice:
    """Chunks that took so much of the time that a roll-up is expected to take."""
    for share in shares:
        chosen.learn(ROWS, share * EXPECTED, walked=True, done=done)
    return chosen


def test_a_promising_walk_is_not_compared() -> None:
    assert walked(choice(), *[PROMISING * 0.9] * WALKS_TRIED).should_walk()
    assert not walked(choice(), *[PROMISING * 1.1] * WALKS_TRIED).should_walk()


def test_the_cheaper_way_is_taken_once_both_are_known() -> None:
    chosen = walked(choice(), *[0.8] * WALKS_TRIED)
    chosen.learn(ROWS, 0.9 * EXPECTED, walked=False)
    assert chosen.should_walk()
    chosen.learn(ROWS, 0.5 * EXPECTED, walked=False)
    assert not chosen.should_walk()


def test_one_chunk_unlike_the_others_decides_nothing() -> None:
    chosen = walked(choice(), 1.5, done=False)
    assert chosen.should_walk()  # as long as it is the only one
    chosen = walked(choice(), *[0.2] * 9)
    walked(chosen, 1.0, done=False)
    assert chosen.should_walk()


def test_a_walk_is_given_up_after_what_a_roll_up_takes() -> None:
    chosen = choice()
    assert chosen.time_limit(ROWS) == pytest.approx(EXPECTED + SECONDS_OF_CALLS)
    chosen.learn(ROWS, 2 * EXPECTED, walked=False)
    assert chosen.time_limit(ROWS) == pytest.approx(2 * EXPECTED + SECONDS_OF_CALLS)


def test_where_roll_ups_were_cheaper_the_next_attribute_begins_with_one() -> None:
    before = walked(choice(), *[2.0] * WALKS_TRIED)
    before.learn(ROWS, EXPECTED, walked=False)
    assert not choice(before=before).should_walk()
    assert choice(before=walked(choice(), *[0.1] * WALKS_TRIED)).should_walk()


def test_only_a_walk_heeds_sizes() -> None:
    chosen = Choice(LEFT, may_roll=False, valued=False)
    assert walked(chosen, *[9.0] * 5).should_walk()
    assert chosen.time_limit(ROWS) == math.inf


def test_the_seconds_of_tasks_are_those_of_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time that is left is predicted from them."""
    seconds: list[float] = []
    done = Progress.count_done

    def counted(self: Progress, task: Task, took: float, *others: object) -> None:
        seconds.append(took)
        done(self, task, took, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(Progress, "count_done", counted)
    began = time.perf_counter()
    qifsql.sweep(SAMPLES / "popets_table_2a.csv", qids=["language", "gender", "age"])
    assert seconds
    assert all(0 <= took <= time.perf_counter() - began for took in seconds)


@pytest.mark.parametrize("per_walk", [0.02, 0.04, 0.12])
@pytest.mark.parametrize("n", [4, 6, 8])
def test_the_time_left_of_a_small_file_is_right_within_a_factor_of_two(
    n: int, per_walk: float
) -> None:
    """Its tasks take their time for attributes, hardly for rows: all after the first is known."""
    layout = Layout(tuple(range(n)), (1000,) * n, (False,) * n, 1000, {1: 2})
    progress = Progress([layout], threads=1)
    seconds = [per_walk * (n - position) for position in range(n)]
    for position in range(n):
        task = Task(position, 0, "walk", "coded", position, 0, 0, 0, 1000)
        progress.count_done(task, seconds[position], "walk")
        left = sum(seconds[position + 1 :]) + READING
        assert left / 2 <= progress.remaining_seconds() <= left * 2


@pytest.mark.parametrize(
    ("people", "n", "kept", "chosen"),
    [
        (200_000, 1, False, True),
        (199_999, 2, True, False),
        (2_000, 11, True, True),
        (2_000, 11, False, False),
        (2_000, 10, True, False),
    ],
)
def test_the_walk_is_compiled_where_sql_takes_longer_than_compiling(
    people: int, n: int, *, kept: bool, chosen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, limit in LIMITS.items():  # the fixture changes them
        monkeypatch.setattr(kernel_choice, name, limit)
    monkeypatch.setattr(kernel_choice, "is_cached", lambda: kept)
    monkeypatch.setattr(kernel_choice, "is_installed", lambda: True)
    layout = Layout(tuple(range(n)), (2,) * n, (False,) * n, people, {1: 2})
    assert kernel_choice.can_walk(layout)
    assert kernel_choice.uses_kernel("auto", layout, 2**40) == chosen
    assert not kernel_choice.uses_kernel("auto", layout, 0)


@pytest.mark.parametrize(("rows", "most"), [(5, 1), (20_000, 2)])
def test_a_small_sweep_takes_one_stream_and_a_large_one_more(
    rows: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another stream takes longer to prepare than five rows take in all."""
    together, seen = DuckDB.together, []

    def counted(_engine: DuckDB, streams: Any, work: Any, look: Any) -> None:
        seen.append(len(streams))
        together(streams, work, look)

    monkeypatch.setattr(DuckDB, "together", counted)
    monkeypatch.setattr(sweep_run, "ALONE", SMALL)  # as it is, whatever other tests ask for
    people = pl.DataFrame({"a": range(rows), "b": [i % 7 for i in range(rows)]})
    qifsql.sweep(people, qids="a,b", settings=qifsql.Settings(threads=2))
    assert max(seen) == most


def test_few_rows_are_not_rolled_up_because_each_subset_takes_statements() -> None:
    chosen = choice()
    for _ in range(WALKS_TRIED):
        chosen.learn(100, 0.5 * PROMISING * PER_SUBSET * 2**LEFT, walked=True)
    assert chosen.should_walk()
    assert chosen.time_limit(100) > PER_SUBSET * 2**LEFT
