"""The worse of two readings decides a check: all records of a person known, or one."""

from pathlib import Path

import polars as pl
import pytest
from terminal import run

import qifsql

# All records of p1 and p2 are told apart by their number; one record of anybody is like another's.
STAYS = pl.DataFrame(
    {
        "patient_id": ["p1", "p2", "p2", "p3", "p3", "p3"],
        "ward": ["a"] * 6,
        "illness": ["x", "x", "y", "x", "y", "z"],
    }
)


def judged(tmp_path: Path, *lines: str) -> qifsql.Result:
    policy = tmp_path / "policy.toml"
    policy.write_text("\n".join(lines))
    return qifsql.check(STAYS, policy)


@pytest.mark.parametrize(
    ("bound", "named", "reading", "value"),
    [
        ('measure = "k"\nat_least = 2', "", "all", 1),
        ('measure = "k"\nat_least = 2', 'known_records = "one"', "one", 3),
        ('measure = "singled_out"\nat_most = 0', "", "all", 3),
        ('measure = "posterior_probabilistic"\nat_most = 0.5', "", "all", 1.0),
        (
            'measure = "posterior_probabilistic"\nat_most = 0.5',
            'known_records = "one"',
            "one",
            1 / 3,
        ),
    ],
)
def test_the_worse_reading_is_compared(
    bound: str, named: str, reading: str, value: float, tmp_path: Path
) -> None:
    adversary = f'[adversary]\nqids = "ward"\nperson = "patient_id"\n{named}\n'
    verdict = judged(tmp_path, adversary, f'[[rule]]\nmodel = "crs"\n{bound}')
    (row,) = verdict.rows()
    assert (row["known_records"], row["value"]) == (reading, value)
    assert bool(verdict) == (reading == "one")


def test_one_record_may_be_worse(tmp_path: Path) -> None:
    """Two people with the same records, in different order of wards, are told apart by neither."""
    frame = STAYS.with_columns(ward=pl.Series(["a", "b", "b", "a", "a", "b"]))
    attacked = qifsql.attack("crs", frame, qids="ward", person="patient_id")
    by_reading = {row["known_records"]: row for row in attacked.rows()}
    assert by_reading["all"]["posterior_probabilistic"] == 1.0
    assert by_reading["one"]["posterior_probabilistic"] == 0.5
    assert by_reading["one"]["singled_out"] == 0


def test_gain_functions_alone_are_about_all_records() -> None:
    """Two tries at whose record it is; p1 and p4 are alike, p2 and p3 too."""
    frame = STAYS.with_columns(patient_id=pl.Series(["p1", "p2", "p2", "p3", "p3", "p4"]))
    (row,) = qifsql.attack("crs", frame, qids="ward", person="patient_id", gain="tries:2").rows()
    assert (row["known_records"], row["gain"]) == ("all", "tries:2")
    assert (row["prior_probabilistic"], row["posterior_probabilistic"]) == (0.5, 1.0)
    wider = frame.with_columns(patient_id=pl.Series([1, 2, 3, 4, 4, 5]))
    (row,) = qifsql.attack("crs", wider, qids="ward", person="patient_id", gain="tries:2").rows()
    assert row["posterior_probabilistic"] == pytest.approx(3 / 5)  # four alike, and one alone


def test_a_wrong_reading_is_refused(tmp_path: Path) -> None:
    rule = '[[rule]]\nmodel = "crs"\nmeasure = "k"\nat_least = 2'
    for adversary, words in (
        ('person = "patient_id"\nknown_records = "some"', "one of"),
        ('known_records = "one"', "name the column"),
    ):
        policy = tmp_path / "policy.toml"
        policy.write_text(f'[adversary]\nqids = "ward"\n{adversary}\n{rule}')
        STAYS.write_parquet(tmp_path / "stays.parquet")
        done = run("check", tmp_path / "stays.parquet", "--policy", policy)
        assert done.code == 2
        assert words in done.err
