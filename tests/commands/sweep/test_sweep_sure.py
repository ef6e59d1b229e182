"""Claims at a threshold in a sweep, from its histograms."""

from typing import Any

import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import qifsql
from qifsql.reference import success
from qifsql.reference.microdata import Rows

CELLS = st.sampled_from((None, "x", "y"))
NUMBERS = st.sampled_from((None, *range(12)))
ROWS = st.lists(
    st.fixed_dictionaries({"a": CELLS, "b": CELLS, "s": CELLS, "t": NUMBERS}),
    min_size=1,
    max_size=40,
)
TYPES = pa.schema([*((name, pa.string()) for name in "abs"), ("t", pa.int64())])


def claims(rows: Rows, qids: list[str], secret: str | None, threshold: float) -> tuple[int, Any]:
    """The people whose success, in whole percents, reaches a threshold, and those guessed right."""
    chances = success.individual_success(rows, qids, secret)
    named = [
        p
        for p in chances
        if p is not None and (p == 1 or (threshold < 1 and round(100 * p) >= 100 * threshold))
    ]
    return len(named), pytest.approx(float(sum(named)), abs=1e-9)


@settings(max_examples=examples(100), deadline=None)
@given(ROWS, st.sampled_from((0, 0.33, 0.5, 0.67, 0.9, 1)))
def test_claims_of_each_subset_are_those_of_its_people(
    rows: list[dict[str, Any]], threshold: float
) -> None:
    """Of few values and of many; a missing one is a value, and those who report one count alone."""
    table = pa.Table.from_pylist(rows, TYPES)
    result = qifsql.sweep(table, qids="a,b", secret="s,t", threshold=threshold)
    for row in result.details["sure"].filter(greatest=False).to_dicts():
        those = [r for r in rows if not row["of_reported"] or r[row["secret"]] is not None]
        people, right = claims(those, row["qids"], row["secret"], threshold)
        assert (row["threshold"], row["claims"], row["right"]) == (threshold, people, right)
        assert row["coverage"] == pytest.approx(people / len(those))
        before = 1 / len(rows) if people and row["secret"] is None else None
        assert row["precision_before"] == before
        assert (row["alc"] is None) == (row["secret"] is not None and people > 0)
    reported = result.details["sure"].filter(of_reported=True)["secret"].unique()
    missed = [n for n in "st" if 0 < sum(r[n] is None for r in rows) < len(rows)]
    assert sorted(reported) == missed
    subsets = result.details["sure"].group_by("secret").agg("greatest").rows()
    assert {secret: sum(greatest) for secret, greatest in subsets} == {None: 3, "s": 0, "t": 0}


def test_a_sweep_that_does_not_count_claims_says_so() -> None:
    """With weights, and where a list of subsets of many quasi-identifiers is attacked."""
    table = pa.table({"a": ["x", "x", "y"], "s": [1, 2, 2], "w": [1, 2, 3]})
    names = [f"q{i}" for i in range(34)]
    wide = pa.table({name: ["x", "x", "y"] for name in names})
    for result in (
        qifsql.sweep(table, qids="a", secret="s", weight="w", threshold=0.5),
        qifsql.sweep(wide, qids=names, subsets=["q1+q2", "q3"], threshold=0.5),
    ):
        assert "sure" not in result.details
        assert any("names who is sure" in note for note in result.notes)
