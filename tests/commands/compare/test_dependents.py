"""Columns that undo a generalisation are found: those that are functions of what is generalised."""

from collections import Counter
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import qifsql
from qifsql.counting.dependents import CONSTANT_SHARE, DEPENDENT_SHARE, FEWEST_RECORDS

ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 40)), min_size=1, max_size=60
)  # the quasi-identifier, and a lot: the column differs from its function in one of 41


def share(rows: list[tuple[int, str]]) -> Fraction:
    """Return the share of the people with the most frequent value of their block."""
    most: dict[int, int] = {}
    for (qid, _), n in Counter(rows).items():
        most[qid] = max(n, most.get(qid, 0))
    return Fraction(sum(most.values()), len(rows))


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
@given(ROWS)
@settings(max_examples=examples(25))
def test_a_column_is_named_if_it_is_nearly_a_function(drawn: list[tuple[int, int]]) -> None:
    rows = [(q, "odd" if lot == 0 else f"group {q // 2}") for q, lot in drawn] * 3
    frame = pl.DataFrame(rows, schema=["q", "same"], orient="row").with_columns(
        p=pl.int_range(pl.len())
    )
    notes = qifsql.compare(frame, qids="q", change="q:10").notes
    overall = share([(0, value) for _, value in rows])
    blocks = len({q for q, _ in rows})
    expected = (
        share(rows) >= DEPENDENT_SHARE
        and overall < CONSTANT_SHARE
        and len(rows) >= FEWEST_RECORDS * blocks
    )
    assert any('"same" is' in note and 'a function of "q"' in note for note in notes) == expected
    assert not any('column "p" is' in note for note in notes)


@pytest.mark.slow(because="1.7 s; every recorded mutant dies without it")
def test_a_release_names_it_unless_it_is_left_out(tmp_path: Path) -> None:
    ages = [18 + i % 60 for i in range(600)]
    columns = {"age": ages, "band": [age // 25 for age in ages], "lot": [i % 7 for i in range(600)]}
    frame, out = pl.DataFrame(columns), tmp_path / "release.csv"
    options = {"method": "mondrian", "k": 5, "qids": "age"}
    notes = qifsql.anonymise(frame, out, **options).notes  # type: ignore[arg-type]
    assert [note for note in notes if "function of" in note] == [
        'column "band" is a function of "age" (100.0% of the people): it reveals what '
        "generalising hides; change or drop it, too"
    ]
    notes = qifsql.anonymise(frame, out, drop="band", **options).notes  # type: ignore[arg-type]
    assert not any("function of" in note for note in notes)
