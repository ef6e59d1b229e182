"""Missing values that may be anything, against all completions, one by one."""

from collections.abc import Mapping
from typing import Any

import oracle_completions as oc
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from places import SAMPLES

import qifsql
from qifsql.errors import InputError

CENSUS = str(SAMPLES / "school_census_2019_enrolments.parquet")
MISSING = 4  # most missing cells: completions grow fast with them
TYPES = {"a": pa.string(), "b": pa.float64(), "c": pa.int64(), "s": pa.int64()}
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "a": st.sampled_from((None, "x", "y", "x")),
            "b": st.sampled_from((None, float("nan"), 0.0, -0.0, 1.0, 1.0)),
            "c": st.sampled_from((1, 2, 1, None)),
            "s": st.sampled_from((None, 1, 2)),
        }
    ),
    min_size=1,
    max_size=6,
)


def frame(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, pa.schema(list(TYPES.items())))


def missing(rows: list[dict[str, Any]], qids: list[str]) -> int:
    return sum(1 for row in rows for q in qids if row[q] is None or row[q] != row[q])


def check(rows: list[dict[str, Any]], qids: list[str]) -> list[Mapping[str, Any]]:
    """Compare all bounds with all completions; return the rows of bounds."""
    options: dict[str, Any] = {"qids": qids, "secret": "s"}
    result = qifsql.attack("crs,cas", frame(rows), null="match-any", **options)
    plain = qifsql.attack("crs,cas", frame(rows), **options)
    same = [c for c in plain.frame.columns if c != "seconds"]
    assert result.frame.select(same).equals(plain.frame.select(same))
    lines = result.details["bounds"].to_dicts()
    for row, secret in zip(result.rows(), (None, "s"), strict=True):
        attained = oc.bounds(rows, qids, secret, complete_secrets=True)
        own = {r["measure"]: r for r in lines if r["attack_id"] == row["attack_id"]}
        attained.pop("alpha", None)
        if "prior_probabilistic" not in own:  # nobody misses the secret
            attained = {n: ends for n, ends in attained.items() if not n.startswith("prior")}
        assert set(own) == set(attained)
        for name, (least, most) in attained.items():
            bound = own[name]
            assert bound["low"] <= float(least), name
            assert bound["high"] >= float(most), name
            assert bound["low"] == float(least) or not bound["low_sharp"], name
            assert bound["high"] == float(most) or not bound["high_sharp"], name
            assert bound["low"] <= bound["value"] <= bound["high"]
        success = own["posterior_probabilistic"]
        for name in ("low", "high", "low_sharp", "high_sharp"):
            assert row[name] == success[name]
    return lines


@settings(max_examples=examples(30), deadline=None)
@given(ROWS)
def test_bounds_hold_for_all_completions(rows: list[dict[str, Any]]) -> None:
    """No completion is outside of a bound, and one attains each bound that is marked sharp."""
    assume(missing(rows, ["a", "b", "c", "s"]) <= MISSING)
    check(rows, ["a", "b", "c"])


@settings(max_examples=examples(16), deadline=None)
@given(ROWS, st.sampled_from(("a", "b", "c")))
def test_bounds_are_sharp_where_one_column_misses_values(
    rows: list[dict[str, Any]], column: str
) -> None:
    """All ends of success are sharp if only one column misses values."""
    assume(missing(rows, [column, "s"]) <= MISSING)
    whole = {"a": "x", "b": 1.0, "c": 2}
    for row in rows:
        for name in set(whole) - {column}:
            if row[name] is None or row[name] != row[name]:
                row[name] = whole[name]
    for line in check(rows, ["a", "b", "c"]):
        outer = line["measure"].startswith("degradation") and missing(rows, ["s"])
        assert line["high_sharp"] or line["measure"] == "l" or outer
        assert line["low_sharp"] or outer


def test_nothing_missing_has_no_width() -> None:
    """Without missing quasi-identifiers every bound is the number itself."""
    qids = "NU_ANO,TP_SEXO,CO_ENTIDADE"
    result = qifsql.attack("crs,cas", CENSUS, qids=qids, secret="TP_COR_RACA", null="match-any")
    bounds = result.details["bounds"]
    assert bounds["low"].equals(bounds["value"])
    assert bounds["high"].equals(bounds["value"])
    assert bounds["low_sharp"].all()
    assert bounds["high_sharp"].all()


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        ("crs", {"weight": "TP_SEXO"}, "does not take weight"),
        ("irs", {"target": {"NU_ANO": 2004}}, "does not take target"),
        ("crs", {"histogram": True}, "does not take histogram"),
        ("crs", {"by": "CO_ENTIDADE"}, "does not take by"),
        ("crs", {"household": "CO_ENTIDADE"}, "does not take household"),
        ("crs", {"gain": "tries:2"}, "does not take gain"),
        ("crs", {"measures": "all"}, "does not take measures"),
    ],
)
def test_refusals(model: str, options: dict[str, Any], words: str) -> None:
    """Options without bounds are refused by name."""
    with pytest.raises(InputError, match=words):
        qifsql.attack(model, CENSUS, **{"qids": "NU_ANO", "null": "match-any", **options})
