"""The part of a sweep that takes seconds: chosen from the counts of columns, without the data."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qifsql.commands.sweep.affordable import affordable, allowed_seconds, expected_seconds

COLUMNS = st.fixed_dictionaries(
    {
        "distinct": st.integers(1, 5000),
        "missing": st.sampled_from([0, 0, 10]),
        "entropy": st.floats(0, 12),
    }
)


def counted(people: int, *columns: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Rows of ``describe`` by name."""
    return {f"c{i}": {"records": people, **column} for i, column in enumerate(columns)}


@given(
    columns=st.lists(COLUMNS, min_size=3, max_size=30),
    people=st.integers(20, 10**6),
    alone=st.booleans(),
)
def test_what_is_chosen_takes_seconds(
    columns: list[dict[str, Any]], people: int, *, alone: bool
) -> None:
    """But for one quasi-identifier and the first secret, which are always swept."""
    rows = counted(people, *columns)
    names = list(rows)
    qids, secrets = names[: len(names) // 2], names[len(names) // 2 :]
    some, hidden = affordable(rows, qids, secrets, alone=alone)
    assert some == qids[: len(some)]
    assert some
    assert hidden[0] == secrets[0]
    assert hidden == [name for name in secrets if name in hidden]
    seconds = expected_seconds(rows, some, hidden, threads=1, alone=alone)
    assert seconds <= allowed_seconds(rows) or (len(some), len(hidden)) == (1, 1)


def test_the_expected_time_is_that_of_all_sweeps() -> None:
    """``c1`` is always reported, ``c2`` is not: who reports it is swept again."""
    few = {"distinct": 3, "missing": 0, "entropy": 1.0}
    rows = counted(1000, few, few, few | {"missing": 5})
    once, twice = (expected_seconds(rows, ["c0"], [s], threads=1) for s in ("c1", "c2"))
    assert 1.5 * once < twice < 10 * once


def test_expressions_and_columns_without_counts_are_taken_for_some_values() -> None:
    rows = counted(1000, {"distinct": 3, "missing": 0, "entropy": 1.0})
    nested = rows | {"c1": dict.fromkeys(("records", "distinct", "missing", "entropy"))}
    for name in ("decade=age//10", "c1"):
        assert affordable(nested, ["c0", name], [])[0] == ["c0", name]


@pytest.mark.parametrize("threads", [1, 8])
def test_the_time_of_a_small_file_is_not_that_of_threads(threads: int) -> None:
    """Its tasks follow one another; measured: 2.6 s for ten attributes of 1,500 people."""
    few = {"distinct": 12, "missing": 0, "entropy": 3.0}
    rows = counted(1500, *[few] * 10, few | {"distinct": 2})
    names = list(rows)
    assert 1.3 < expected_seconds(rows, names[:10], names[10:], threads=threads) < 5.2
