"""Checking releases against policies: the numbers are those of attacks, in few attacks."""

from pathlib import Path

import polars as pl
import pytest
from policies import PEOPLE, QIDS, SECRETS, counted, policy, rule, values
from terminal import run

import qifsql
from qifsql.commands.check import result as verdicts
from qifsql.errors import ColumnError, InputError
from qifsql.results.assessment import DETAILS, SCHEMA

SAMPLES = Path(PEOPLE).parent


@pytest.mark.slow(because="0.5 s; every recorded mutant dies without it")
def test_numbers_are_those_of_attack(tmp_path: Path):
    names = [name for name, kind in SCHEMA.items() if kind.is_numeric() and name != "seconds"]
    names += ["prior_entropy", "mutual_information", "posterior_guessing", "capacity"]
    rules = [rule(model="crs,cas", measure=name) for name in names]
    found = qifsql.check(PEOPLE, policy(tmp_path, *rules))
    expected = qifsql.attack("crs,cas", PEOPLE, qids=QIDS, secret=SECRETS, measures="all").rows()
    assert values(found, "rule", "model", "qids", "secret", "measure", "value", "met") == [
        (n, row["model"], QIDS, row["secret"], name, row[name], True)
        for n, name in enumerate(names, 1)
        for row in expected
    ]
    assert found.frame.schema == verdicts.SCHEMA
    assert found.met
    assert found.summary == f"met for the columns named: all of {3 * len(names)} levels"


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_numbers_within_groups_are_those_of_attack(tmp_path: Path):
    names = [name for name, kind in DETAILS["groups"].items() if kind.is_numeric()]
    rules = [rule(model="cas", secret="illness", by="id", measure=name) for name in names]
    found = qifsql.check(
        PEOPLE, policy(tmp_path, *rules, rule(model="crs", by="gender", measure="gap"))
    )
    result = qifsql.attack("cas", PEOPLE, qids=QIDS, secret="illness", by="id")
    groups = result.details["groups"].rows(named=True)
    assert values(found, "by", "group", "measure", "value")[:-2] == [
        ("id", group["group"], name, group[name]) for name in names for group in groups
    ]
    result = qifsql.attack("crs", PEOPLE, qids=QIDS, by="gender")
    assert values(found, "model", "secret", "group", "value")[-2:] == [
        ("CRS", None, g["group"], g["gap"]) for g in result.details["groups"].rows(named=True)
    ]


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_a_column_of_groups_that_every_rule_replaces_must_be_there_all_the_same(tmp_path: Path):
    levels = policy(tmp_path, rule(model="crs", by="gender", measure="worst_case"))
    assert qifsql.check(PEOPLE, levels, by="id").frame.equals(qifsql.check(PEOPLE, levels).frame)
    with pytest.raises(ColumnError, match="gendre"):
        qifsql.check(PEOPLE, levels, by="gendre")


def test_a_missing_value_and_an_empty_text_are_groups(tmp_path: Path):
    file = tmp_path / "t.parquet"
    pl.DataFrame({"a": [1, 1, 2, 3], "g": [None, "", "x", "x"]}).write_parquet(file)
    levels = policy(
        tmp_path, rule(model="crs", by="g", measure="worst_case", at_most=0.5), qids="a"
    )
    found = qifsql.check(file, levels)
    assert set(values(found, "group", "value", "met")) == {
        (None, 0.5, True), ("", 0.5, True), ("x", 1.0, False),
    }  # fmt: skip


def test_a_release_at_its_bound_meets_it_and_beyond_it_does_not(tmp_path: Path):
    exact = qifsql.attack("crs", PEOPLE, qids=QIDS).rows()[0]["posterior_probabilistic"]
    bounds = [("at_most", 0), ("at_least", 0), ("at_most", -1), ("at_least", 1)]
    rules = [
        rule(model="crs", measure="posterior_probabilistic", **{name: exact + side * 1e-9})
        for name, side in bounds
    ]
    found = qifsql.check(PEOPLE, policy(tmp_path, *rules))
    assert found.frame["met"].to_list() == [True, True, False, False]
    assert (found.met, found.broken, found.summary) == (False, 2, "not met: 2 of 4 levels")


def test_a_group_whose_sum_is_rounded_is_at_its_bound(tmp_path: Path):
    """Women: 3/5 for three blocks of 5 and 2/4 for three of 4, so 0.55; the sum gives less."""
    bounds = {"at_least": 0.55, "at_most": 0.55}
    level = rule(model="cas", by="gender", measure="posterior_probabilistic", **bounds)
    found = qifsql.check(PEOPLE, policy(tmp_path, level, qids="age", secret="illness"))
    value, met = found.frame.filter(group="F").select("value", "met").row(0)
    assert value == pytest.approx(0.55, rel=1e-15)
    assert met


def test_a_rule_without_secret_is_about_every_secret(tmp_path: Path):
    every = rule(model="cas", measure="worst_case")
    one = rule(model="cas", measure="worst_case", secret="Occupation")
    named = rule(model="cas", measure="worst_case", secret=["odd", "illness"])
    secrets = ["ill*", "occupation", "odd=id % 2"]
    found = qifsql.check(PEOPLE, policy(tmp_path, every, one, named, qids="age", secret=secrets))
    assert values(found, "rule", "secret") == [
        (1, "illness"), (1, "occupation"), (1, "odd"), (2, "occupation"), (3, "illness"),
        (3, "odd"),
    ]  # fmt: skip


def test_a_secret_that_no_pattern_found_is_told_by_line(tmp_path: Path):
    file = policy(
        tmp_path,
        rule(model="cas", measure="worst_case", secret="illnesss"),
        qids="age",
        secret="il*",
    )
    with pytest.raises(
        InputError, match=r'levels.toml, line 7: secret "illnesss" is not asked for'
    ):
        qifsql.check(PEOPLE, file)


def test_rules_are_answered_by_as_few_attacks_as_possible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    attacks = counted(monkeypatch)
    rules = [
        rule(model="crs", measure="singled_out"),
        rule(model="cas", measure="capacity"),
        rule(model="crs,cas", measure="blocks"),
        rule(model="cas", by="gender", measure="gap"),
        rule(model="crs", by="gender", measure="gap"),
        rule(model="crs", by="id", measure="gap"),
        rule(model="crl", measure="blocks"),
    ]
    found = qifsql.check(PEOPLE, policy(tmp_path, *rules, qids="age", secret="illness"))
    assert [(models, o["by"], o["measures"]) for models, o in attacks] == [
        (["crs", "cas"], "gender", ["capacity"]),
        (["crs"], "id", []),
        (["crl"], None, []),
    ]
    assert found.frame["rule"].is_sorted()
    assert found.frame["model"].to_list() == (
        ["CRS", "CAS", "CRS", "CAS", "CAS", "CAS", "CRS", "CRS", *["CRS"] * 10, "CRL"]
    )
    assert found.notes == ()  # re-identification alone is not asked about a secret


@pytest.mark.cases(1)
@pytest.mark.parametrize("option", ["null", "prior"])
def test_models_that_would_disturb_one_another_run_apart(tmp_path: Path, option: str):
    file, prior = tmp_path / "t.parquet", tmp_path / "prior.csv"
    pl.DataFrame({"a": [1, 1, 2, 3], "s": ["x", None, "y", "x"]}).write_parquet(file)
    prior.write_text("value,probability\nx,0.5\ny,0.25\n,0.25\n")
    options = {"null": "drop"} if option == "null" else {"prior": str(prior)}
    rules = [rule(model="crs,cas", measure=m) for m in ("records", "worst_case", "blocks")]
    found = qifsql.check(file, policy(tmp_path, *rules, qids="a", secret="s", **options))
    crs = qifsql.attack("crs", file, qids="a", null=options.get("null", "distinct")).rows()[0]
    cas = qifsql.attack("cas", file, qids="a", secret="s", **options).rows()[0]
    assert [value for (value,) in values(found, "value")] == [
        row[name] for name in ("records", "worst_case", "blocks") for row in (crs, cas)
    ]


@pytest.mark.slow(because="1.1 s; every recorded mutant dies without it")
def test_membership_populations_and_single_people(tmp_path: Path):
    file, everybody = tmp_path / "t.csv", tmp_path / "all.csv"
    file.write_text("k,a,s,f\n1,1,x,1\n2,1,y,0\n3,2,y,0\n")
    everybody.write_text("k,a\n1,1\n2,1\n3,2\n4,2\n5,2\n")
    rules = [rule(model="cms", measure="worst_case"), rule(model="crs", measure="worst_case")]
    found = qifsql.check(file, policy(tmp_path, *rules, qids="a", secret="s", member="f", key="k"))
    expected = [
        qifsql.attack(m, file, qids="a", **more).rows()[0]
        for m, more in (("cms", {"member": "f", "key": "k"}), ("crs", {}))
    ]
    assert values(found, "secret", "value") == [(r["secret"], r["worst_case"]) for r in expected]
    risk = rule(model="crs", measure="journalist_risk", at_most=0.5)
    found = qifsql.check(file, policy(tmp_path, risk, qids="a", population=everybody.name))
    assert values(found, "value", "met") == [(0.5, True)]
    one = rule(model="ias", measure="matches", at_least=2)
    found = qifsql.check(file, policy(tmp_path, one, qids="a", secret="s"), target={"a": 1})
    assert values(found, "model", "value", "met") == [("IAS", 2.0, True)]


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_a_collection_is_checked_like_one_release(tmp_path: Path):
    files = [SAMPLES / f"school_census_{year}.parquet" for year in (2019, 2018)]
    known = {"qids": ["NU_DIA", "CO_ENTIDADE"], "key": "ID_ALUNO"}
    levels = policy(tmp_path, rule(model="crl", measure="singled_out"), **known)
    (row,) = qifsql.attack("crl", files, **known).rows()
    found = qifsql.check(files, levels)
    assert values(found, "qids", "value") == [(row["qids"], row["singled_out"])]
    with pytest.raises(InputError, match="use crl"):
        qifsql.check(files, policy(tmp_path, rule(model="crs", measure="singled_out"), **known))


def test_options_win_over_the_policy(tmp_path: Path):
    levels = policy(
        tmp_path, rule(model="crs", measure="singled_out"), where="age = 25", qids="gender"
    )
    found = qifsql.check(PEOPLE, levels, qids=QIDS, where="age > 25")
    (row,) = qifsql.attack("crs", PEOPLE, qids=QIDS, where="age > 25").rows()
    assert values(found, "qids", "value") == [(QIDS, row["singled_out"])]
    spec = found.origin.spec
    assert (spec["where"], spec["qids"], spec["rules"][0]["wanted"]) == ("age > 25", QIDS, ">= 0")
    assert str(levels) in found.origin.paths


def test_what_no_policy_can_hold_is_refused(tmp_path: Path):
    levels = policy(tmp_path, rule(model="cas", measure="worst_case"))
    with pytest.raises(InputError, match="check does not take gain"):
        qifsql.check(PEOPLE, levels, gain="tries:2")
    with pytest.raises(TypeError, match="'secrets'; did you mean"):
        qifsql.check(PEOPLE, levels, secrets="illness")  # type: ignore[call-arg]
    with pytest.raises(ColumnError, match='did you mean "age"'):
        qifsql.check(PEOPLE, levels, qids="agee")
    with pytest.raises(ColumnError, match="name one with secret="):
        qifsql.check(PEOPLE, policy(tmp_path, rule(model="cas", measure="blocks"), qids="age"))
    one = policy(tmp_path, rule(model="irs", measure="capacity"), qids="age")
    with pytest.raises(
        InputError, match=r"levels.toml, line 5: capacity has no value in model irs"
    ):
        qifsql.check(PEOPLE, one, target={"age": 49})


def test_a_rule_on_the_harmless_side_is_told(tmp_path: Path):
    rules = [
        rule(model="crs", measure="k", at_most=5),
        rule(model="crs", measure="k", at_most=50, at_least=1),
        rule(model="crs", measure="worst_case", at_least=0.5),
    ]
    told = [
        n for n in qifsql.check(PEOPLE, policy(tmp_path, *rules)).notes if "protects nobody" in n
    ]
    assert told == [
        "rule 1: a smaller k is worse for the people, and at_most alone protects nobody; write "
        "at_least",
        "rule 3: a larger worst_case is worse for the people, and at_least alone protects nobody; "
        "write at_most",
    ]
    changed = qifsql.compare(PEOPLE, qids=QIDS, until=["k<=5", "crs<=1"])
    assert sum("protects nobody" in note for note in changed.notes) == 1


def test_a_verdict_in_json_that_covers_all_columns_is_reported(tmp_path: Path):
    file = tmp_path / "t.csv"
    file.write_text("age,sex\n1,M\n2,F\n")
    for kind in ("json", "parquet"):
        stored = qifsql.check(file, preset="k5", qids="age,sex").save(tmp_path / f"v.{kind}")
        qifsql.report([stored], tmp_path / f"{kind}.md")
    texts = [(tmp_path / f"{kind}.md").read_text("utf-8") for kind in ("json", "parquet")]
    assert "k5" in texts[0]
    assert texts[0].count("|") == texts[1].count("|")


@pytest.mark.slow(because="0.9 s; every recorded mutant dies without it")
def test_a_verdict_about_a_part_of_a_file_says_so(tmp_path: Path):
    rules = policy(tmp_path, rule(model="crs", measure="k"), qids=QIDS)
    for options, part in (
        ([], "thesis_table_3_2.csv against"),
        (["--where", "age > 20"], "(only records that pass the filter) against"),
        (["--null", "drop"], "(without records that miss a value) against"),
    ):
        done = run("check", PEOPLE, "--policy", rules, *options, "--format", "table")
        assert part in " ".join(done.out.split())
