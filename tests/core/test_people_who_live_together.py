"""Households: a number that repeats with people who differ is proposed, and its risk is told."""

import json
import tomllib
from pathlib import Path

import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from terminal import run

import qifsql
from qifsql.data.topics import numbers_households, numbers_people

NOTE = "people live together"
HOMES = pl.DataFrame(
    {
        "hhid": [i // 3 for i in range(36)],
        "sex": ["f" if i % 2 else "m" for i in range(36)],
        "age": [20 + i % 9 for i in range(36)],
        "illness": ["flu" if i % 5 else "cold" for i in range(36)],
    }
)


@pytest.fixture
def homes(tmp_path: Path) -> Path:
    HOMES.write_parquet(tmp_path / "homes.parquet")
    return tmp_path / "homes.parquet"


def test_names_say_that_households_are_numbered() -> None:
    english = "hhid hh_id household household_id HouseholdID ori_hid"
    numbers = f"{english} id_domicilio domicilio foyer Haushalt hogar ID_FAMILIA menage db030"
    sizes = "hh_size household_income household_weights hhcivil number_of_family_members housing"
    others = f"{sizes} patient_id id pid ward_id age family_status family_name tipo_domicilio_id"
    named = [name for name in f"{numbers} {others}".split() if numbers_households(name)]
    assert named == numbers.split()
    assert not any(map(numbers_people, named))


@settings(max_examples=examples(20), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=30))
def test_a_household_is_proposed_if_people_in_it_differ(rows: list[tuple[int, bool]]) -> None:
    """The same number on people who are all alike may be that of one person."""
    frame = pl.DataFrame(rows, schema={"hhid": pl.Int64, "sex": pl.Boolean}, orient="row")
    described = qifsql.describe(frame)
    roles = dict(described.frame.select("column", "suggested_role").iter_rows())
    numbers = {number for number, _ in rows}
    repeats = len(numbers) < len(rows) <= len(numbers) ** 2
    differ = len({*rows}) > len(numbers)
    assert (roles["hhid"] == "household") == (repeats and differ)
    assert any(note.startswith(NOTE) for note in described.notes) == (repeats and differ)


def test_a_beginner_is_told_the_risk_of_households(homes: Path, tmp_path: Path) -> None:
    """The study of ``start`` names the household, and its text states that risk."""
    done = run("start", homes, "--yes", "--folder", tmp_path / "begun")
    study = tomllib.loads((tmp_path / "begun" / "study.toml").read_text())
    assert study["datasets"]["homes"]["household"] == "hhid"
    exact = qifsql.attack("crs", homes, qids="age,sex", household="hhid").details["households"]
    n = exact["singled_out"][0]
    assert done.code == 0
    assert f"(hhid) with a member who is singled out: {n} of 12" in done.out
    assert done.out.count("--household hhid") == 1
    assert NOTE not in done.err
    assert "--household hhid" in run("describe", homes, "--format", "table").out


@pytest.mark.cases(1)
@pytest.mark.parametrize("where", ["option", "policy"])
def test_a_check_states_the_risk_of_households(where: str, homes: Path, tmp_path: Path) -> None:
    """Beside the levels, in words and in JSON; without the column a note names it."""
    policy = tmp_path / "policy.toml"
    named = 'household = "hhid"\n' if where == "policy" else ""
    policy.write_text(
        f'[adversary]\n{named}[[rule]]\nmodel = ["crs", "cas", "irs"]\n'
        'measure = "posterior_deterministic"\nat_most = 1\n'.replace(', "irs"', "")
    )
    words = ["check", homes, "-q", "age,sex", "-s", "illness", "--policy", policy]
    assert (NOTE in run(*words).err) == (where == "option")
    words += ["--household", "hhid"] if where == "option" else []
    done = run(*words, "-f", "json")
    rows = json.loads(done.out)["households"]
    exact = qifsql.attack("crs,cas", homes, qids="age,sex", secret="illness", household="hhid")
    for row, expected in zip(rows, exact.details["households"].to_dicts(), strict=True):
        assert {name: row[name] for name in ("singled_out", "risk", "expected_people")} == {
            name: expected[name] for name in ("singled_out", "risk", "expected_people")
        }
    assert [(row["model"], row["secret"]) for row in rows] == [("CRS", None), ("CAS", "illness")]
    assert (done.code, NOTE in done.err) == (0, False)
    assert "whose illness is certain" in run(*words).err + run(*words).out


def test_people_with_several_records_live_together(tmp_path: Path) -> None:
    """Studies and check measure households as attack does; estimate says why it does not."""
    visits = tmp_path / "visits.csv"
    ages = (30, 31, 30, 31, 40, 41, 50, 60)
    rows = [f"{i // 2},{i // 4},{age},{'fm'[i % 2]}" for i, age in enumerate(ages)]
    visits.write_text("\n".join(["pid,hhid,age,sex", *rows]) + "\n")
    people = ("--person", "pid", "--household", "hhid")
    known = {"person": "pid", "household": "hhid"}
    exact = qifsql.attack("crs", visits, qids="age,sex", **known).details["households"]
    assert exact.select("households", "people", "singled_out", "risk").row(0) == (2, 4, 1, 0.875)
    done = run("check", visits, "-q", "age,sex", "--preset", "k3", *people, "-f", "json")
    (row,) = json.loads(done.out)["households"]
    assert {name: row[name] for name in row} == exact.drop("attack_id").row(0, named=True) | {
        name: row[name] for name in ("model", "secret")
    }
    assert run("init", tmp_path / "study.toml", "--data", visits, *people).code == 0
    homes = qifsql.run(tmp_path / "study.toml").details["households"]
    assert homes["singled_out"].to_list() == [1]
    refused = run("estimate", visits, "-q", "sex", "--fraction", "0.5", *people)
    assert (refused.code, "attack and check take both" in refused.err) == (2, True)


@pytest.mark.slow(because="5 s; a study of start measures households")
def test_entries_that_measure_no_households_leave_them_out(homes: Path, tmp_path: Path) -> None:
    """The role of a dataset holds for attacks on everybody and for checks."""
    study = tmp_path / "study.toml"
    study.write_text(
        f'[datasets.homes]\npath = "{homes}"\nqids = ["age", "sex"]\nhousehold = "hhid"\n'
        '[[attack]]\nname = "all"\nmodel = "crs"\n'
        '[[attack]]\nname = "one"\nmodel = "irs"\ntarget = { age = 22, sex = "m" }\n'
        '[[attack]]\nname = "weighed"\nmodel = "crs"\nweight = "age"\n'
        '[[sweep]]\nname = "subsets"\n[[suda]]\nname = "special"\n'
        '[[check]]\nname = "levels"\npreset = "k3"\n'
    )
    result = qifsql.run(study)
    assert result.details["households"]["name"].to_list() == ["all"]
    assert "households" in result.parts["levels"].details


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--weight", "age", "--household", "hhid"), "cannot be combined"),
        (("--household", "nothing"), "nothing"),
    ],
)
def test_households_that_do_not_fit_are_bad_input(
    options: tuple[str, ...], problem: str, homes: Path
) -> None:
    done = run("check", homes, "-q", "sex", "--preset", "k3", *options)
    assert (done.code, problem in done.err) == (2, True)
