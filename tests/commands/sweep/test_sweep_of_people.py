"""Sweeps of people with several records: each subset by its own multisets, in both readings."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from terminal import run

import qifsql
from qifsql.errors import InputError
from qifsql.reference import people_with_records, quasi_identifier_sets

NUMBERS = (
    *("prior_deterministic", "posterior_deterministic"),
    *("prior_probabilistic", "posterior_probabilistic", "worst_case"),
)
COUNTS = ("people", "records", "blocks", "singled_out", "individuals_certain", "k", "l")
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "who": st.sampled_from((None, 1, 2, 3, 4, 5)),
            "a": st.sampled_from((None, "x", "y")),
            "b": st.sampled_from((1, 2)),
            "c": st.sampled_from(("u", "v")),
            "s": st.sampled_from((None, "i", "j")),
        }
    ),
    min_size=2,
    max_size=14,
)
SCHEMA = {"who": pl.Int64, "a": pl.String, "b": pl.Int64, "c": pl.String, "s": pl.String}


@pytest.mark.cases(1)
@settings(max_examples=examples(20), deadline=None)
@given(ROWS)
def test_every_row_is_that_of_the_definition(rows: list[dict[str, Any]]) -> None:
    """Also the Shapley values, which follow from the rows of one reading."""
    frame = pl.DataFrame(rows, schema=SCHEMA)
    result = qifsql.sweep(frame, qids="a,b,c", secret="s", person="who")
    assert result.frame.height == 7 * 2 * 2
    posteriors: dict[tuple[Any, str], dict[frozenset[str], Any]] = {}
    for row in result.rows():
        secret, reading = row["secret"], row["known_records"]
        expected = people_with_records.attack(
            rows, "who", row["qids"], secret, known_records=reading
        )
        values = posteriors.setdefault((secret, reading), {})
        values[frozenset(row["qids"])] = expected["posterior_probabilistic"]
        values[frozenset()] = expected["prior_probabilistic"]
        for name in NUMBERS:
            assert row[name] == float(expected[name])
        for name in COUNTS if reading == "one" else COUNTS[:-2]:
            assert row[name] == expected[name]
    shapley = result.details["shapley"].filter(measure="probabilistic")
    assert shapley.height == 3 * 2 * 2
    for row in shapley.to_dicts():
        values = posteriors[row["secret"], row["known_records"]]
        index = quasi_identifier_sets.index(values, [row["qid"]])
        assert row["shapley"] == pytest.approx(float(index), abs=1e-12)


@pytest.mark.cases(1)
def test_a_sweep_resumes_and_says_what_it_costs(tmp_path: Path) -> None:
    frame = pl.DataFrame({"who": [1, 1, 2, 3], "a": [1, 2, 1, 1], "b": ["x", "y", "x", "z"]})
    frame.write_csv(tmp_path / "visits.csv")
    words = ("sweep", tmp_path / "visits.csv", "-q", "a,b", "--person", "who", "-f", "json")
    done = run(*words, "--workspace", tmp_path / "work")
    assert done.code == 0
    assert "which is attacked alone: in all about" in done.err
    first = json.loads(done.out)
    assert {row["unit"] for row in first["results"]} == {"people"}
    again = json.loads(run(*words, "--workspace", tmp_path / "work").out)
    for document in (first, again):
        for row in document["results"]:
            del row["seconds"]
    assert first["results"] == again["results"]
    other = json.loads(run(*words[:-4], "-f", "json", "--workspace", tmp_path / "work").out)
    assert {row["unit"] for row in other["results"]} == {"records"}


@pytest.mark.parametrize("option", [{"search": True, "threshold": 0.5}, {"sample": 0.5}])
def test_options_of_records_are_refused(option: dict[str, Any]) -> None:
    frame = pl.DataFrame({"who": [1, 1], "a": [1, 2]})
    with pytest.raises(InputError, match="people with several records"):
        qifsql.sweep(frame, qids="a", person="who", **option)


def test_a_sweep_of_people_is_verified(tmp_path: Path) -> None:
    frame = pl.DataFrame({"who": [1, 1, 2, 3], "a": [1, 2, 1, 1], "b": ["x", "y", "x", "z"]})
    frame.write_parquet(tmp_path / "visits.parquet")
    result = qifsql.sweep(tmp_path / "visits.parquet", qids="b", secret="a", person="who")
    checked = qifsql.verify(result)
    assert checked.met
    agreed = checked.frame.filter(way="definition", verdict="agrees")
    assert set(agreed["row"]) == set(range(result.frame.height))


def test_adversaries_have_both_readings(tmp_path: Path) -> None:
    """Somebody who knows everything has the success of the last subset; the file keeps it."""
    frame = pl.DataFrame({"who": [1, 1, 2, 3], "a": [1, 2, 1, 1], "b": ["x", "y", "x", "z"]})
    result = qifsql.sweep(frame, qids="a,b", person="who")
    stored = result.save(tmp_path / "sweep.json")
    for source in (result, stored):
        rows = qifsql.adversaries(source, knows="a=1,b=1").frame
        for reading in ("all", "one"):
            whole = result.frame.filter(known_records=reading, n_qids=2)
            told = rows.filter(known_records=reading, measure="probabilistic")
            assert told["expected"].item() == whole["posterior_probabilistic"].item()
