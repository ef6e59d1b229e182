"""Levels over all completions of missing values, against each completion."""

import math
from fractions import Fraction as F
from typing import Any

import oracle_completions as oc
import pytest
from effort import examples
from hypothesis import assume, given, settings
from places import SAMPLES
from test_match_any import MISSING, ROWS, frame, missing

import qifsql
from qifsql.errors import InputError


@pytest.mark.slow(because="4 s; every recorded mutant dies without it")
@settings(max_examples=examples(12), deadline=None)
@given(ROWS)
def test_levels_are_within_their_bounds(rows: list[dict[str, Any]]) -> None:
    """No completion is outside of a bound, and one attains each bound that is marked sharp."""
    qids = ["a", "b", "c"]
    assume(missing(rows, qids) <= MISSING)
    options: dict[str, Any] = {"qids": qids, "secret": "s"}
    result = qifsql.levels(frame(rows), null="match-any", **options)
    plain = qifsql.levels(frame(rows), **options)
    assert result.frame.select(plain.frame.columns).equals(plain.frame)
    attained = oc.bounds(rows, qids, "s")
    n, (fewest, most) = len(rows), attained["blocks"]
    exact = {
        "k": attained["k"],
        "l_distinct": attained["l"],
        "average_class_size": (F(n) / most, F(n) / fewest),
        "alpha": attained["alpha"],
    }
    for row in result.rows():
        if not missing(rows, qids):
            assert row["low"] == row["high"] == row["value"]
        elif row["measure"] in exact:
            low, high = map(float, exact[row["measure"]])
            assert row["low"] <= low
            assert row["high"] >= high
            assert math.isclose(row["low"], low) or not row["low_sharp"]
            assert math.isclose(row["high"], high) or not row["high_sharp"]
        elif row["measure"] == "l_entropy":
            assert row["low"] <= row["value"] <= row["high"] + 1e-12
        else:
            assert row["low"] is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"k": 2}, "leave the required levels out"),
        ({"suppressed": "out"}, "does not take suppressed"),
        ({"show_blocks": True}, "does not take show_blocks"),
    ],
)
def test_refusals(options: dict[str, Any], words: str) -> None:
    """Options that are not about bounds are refused by name."""
    with pytest.raises(InputError, match=words):
        qifsql.levels(
            str(SAMPLES / "thesis_table_3_2.csv"), qids="gender", null="match-any", **options
        )
