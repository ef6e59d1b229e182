"""Drift: what is compared with the last release, and baselines that cannot be."""

import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from policies import PEOPLE, QIDS, SECRETS, Row, counted, hostile, policy, rule, values, written
from terminal import run

import qifsql
from qifsql.errors import InputError

DRIFT: Sequence[Row] = (
    {"model": "crs,cas", "measure": "posterior_probabilistic", "rise_at_most": 0.05},
    {"model": "cas", "by": "gender", "measure": "posterior_probabilistic", "fall_at_most": 0.05},
)


@pytest.mark.slow(because="0.7 s; every recorded mutant dies without it")
@pytest.mark.parametrize("ending", ["json", "parquet", "csv"])
@pytest.mark.parametrize("written_by", ["attack", "check", "sweep"])
def test_drift_is_the_difference_from_the_last_release(
    tmp_path: Path, written_by: str, ending: str
):
    """In the last release those aged 25 were said to be 49."""
    before, last = tmp_path / "before.csv", tmp_path / f"last.{ending}"
    pl.read_csv(PEOPLE).with_columns(pl.col("age").replace({25: 49})).write_csv(before)
    known = ("-q", "gender,age", "-s", "illness,occupation")
    rules = DRIFT if written_by != "sweep" else DRIFT[:1]
    levels = policy(tmp_path, *(rule(**keys) for keys in rules))
    if written_by == "attack":
        done = run("attack", "crs,cas", before, *known, "--by", "gender", "-o", last)
    elif written_by == "sweep":
        done = run("sweep", before, *known, "-o", last, "--workspace", tmp_path / "work")
    else:
        first = tmp_path / "first.toml"
        asked = ("model", "measure", "by")
        plain = [{name: keys[name] for name in asked if name in keys} for keys in DRIFT]
        first.write_text("\n".join(rule(**keys) for keys in plain))
        done = run("check", before, *known, "--policy", first, "-o", last)
    assert done.code == 0, done.err
    found = qifsql.check(PEOPLE, levels, baseline=last)
    old, now = (
        qifsql.attack("crs,cas", file, qids=QIDS, secret=SECRETS, by="gender")
        for file in (before, PEOPLE)
    )
    both = zip(now.rows(), old.rows(), strict=True)
    measure = "posterior_probabilistic"
    expected = [(row["model"], None, row[measure], last[measure]) for row, last in both]
    rows = [r for r in found.rows() if r["by"] is None]
    assert [(r["model"], r["group"], r["value"], r["baseline"]) for r in rows] == expected
    for row in found.rows():
        rise = row["value"] - row["baseline"]
        assert row["met"] is ((rise if row["by"] is None else -rise) <= 0.05)
    grouped = {(r["secret"], r["group"]): r["baseline"] for r in found.rows() if r["by"]}
    groups = old.details["groups"].join(old.frame, on="attack_id").filter(model="CAS")
    same = {(r["secret"], r["group"]): r[measure] for r in groups.to_dicts()}
    assert grouped == (same if len(rules) == 2 else {})
    assert {True, False} <= set(found.frame["met"].to_list())


def test_a_baseline_is_shown_where_no_rule_needs_it(tmp_path: Path):
    last = tmp_path / "last.csv"
    run("attack", "crs", PEOPLE, "-q", "gender,age", "-o", last)
    found = qifsql.check(
        PEOPLE, policy(tmp_path, rule(model="crs,cas", measure="blocks")), baseline=last
    )
    assert values(found, "value", "baseline") == [(5, 5), (5, None), (5, None)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("l.json", "{"),
        ("l.json", "[]"),
        ("l.json", "null"),
        ("l.json", '{"results": 3}'),
        ("l.json", '{"results": [3]}'),
        ("l.json", '{"results": [{"model": "CRS"}]}'),
        ("l.json", '{"results": [{"model": "CRS", "qids": [[1]]}]}'),
        ("l.json", '{"results": [{"model": "CRS", "qids": ["a"], "secret": []}]}'),
        ("l.json", '{"results": [], "groups": [{}]}'),
        ("l.json", "[" * 100_000),
        ("l.json", b"\xff"),
        ("l.csv", ""),
        ("l.csv", "a,b\n1,2\n"),
        ("l.csv", "qids,b\n1,2\n"),
        ("l.csv", b"qids,\xff\n1,2\n"),
        ("l.parquet", "no parquet"),
        ("l.parquet", b""),
    ],
)
def test_a_baseline_that_is_no_result_is_refused(tmp_path: Path, name: str, content: str | bytes):
    levels = policy(tmp_path, rule(model="crs", measure="blocks"))
    with pytest.raises(InputError, match=r"l\.\w+\" is no result that qifsql exported") as caught:
        qifsql.check(PEOPLE, levels, baseline=written(tmp_path, name, content))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "says"),
    [("none.json", "does not exist"), ("l.md", "must end in one of .json"), (".", "must end in")],
)
def test_a_baseline_that_is_not_there_is_told_by_line(tmp_path: Path, name: str, says: str):
    written(tmp_path, "l.md", "| |")
    levels = policy(tmp_path, rule(model="crs", measure="blocks"), f'[baseline]\nfile = "{name}"\n')
    with pytest.raises(InputError, match=rf"levels.toml, line 10: the baseline .*{says}"):
        qifsql.check(PEOPLE, levels)


def test_drift_without_a_baseline_is_told_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    attacks = counted(monkeypatch)
    levels = policy(tmp_path, rule(model="crs", measure="blocks"), rule(**DRIFT[0]))
    with pytest.raises(InputError, match=r"levels.toml, line 9: rule 2 needs a baseline"):
        qifsql.check(PEOPLE, levels)
    assert attacks == []


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    "arguments",
    [
        ("cas", PEOPLE, "-q", "gender,age", "-s", "illness"),  # another model
        ("crs", PEOPLE, "-q", "gender"),  # other quasi-identifiers
        ("crs", PEOPLE, "-q", "gender,age", "--gain", "tries:2"),  # another gain
        ("irs,irl", PEOPLE, "-q", "gender,age", "--target", "gender=M", "--target", "age=49"),
    ],
)
def test_a_baseline_without_that_row_is_told_by_line(tmp_path: Path, arguments: tuple[str, ...]):
    last = tmp_path / "last.json"
    assert run("attack", *arguments, "-o", last).code == 0
    levels = policy(tmp_path, rule(model="crs", measure="blocks", rise_at_most=0))
    with pytest.raises(
        InputError,
        match=r"levels.toml, line 4: the baseline .* has no blocks, or several, for 1 row",
    ):
        qifsql.check(PEOPLE, levels, baseline=last)


def test_a_group_that_is_new_is_told_without_its_name(tmp_path: Path):
    last = tmp_path / "last.json"
    run("attack", "cas", PEOPLE, "-q", "gender,age", "-s", "illness,occupation", "--by", "gender",
        "--where", "gender = 'M'", "-o", last)  # fmt: skip
    with pytest.raises(InputError, match="for 2 groups of model cas") as caught:
        qifsql.check(PEOPLE, policy(tmp_path, rule(**DRIFT[1])), baseline=last)
    assert '"F"' not in str(caught.value)


@pytest.mark.cases(4)
@pytest.mark.parametrize("value", ["true", '"x"', "NaN", "1e999", "[]", "null", "1" + "0" * 400])
def test_a_baseline_that_holds_no_number_has_no_value(tmp_path: Path, value: str):
    text = '{"results": [{"model": "CRS", "qids": ["age", "gender"], "blocks": VALUE}]}'
    last = written(tmp_path, "last.json", text.replace("VALUE", value))
    levels = policy(tmp_path, rule(model="crs", measure="blocks", rise_at_most=0))
    with pytest.raises(InputError, match="has no blocks, or several"):
        qifsql.check(PEOPLE, levels, baseline=last)


def test_rows_that_disagree_are_no_baseline(tmp_path: Path):
    row = {"model": "CRS", "qids": ["age", "gender"], "blocks": 5}
    levels = policy(tmp_path, rule(model="crs", measure="blocks", rise_at_most=0))
    same = written(tmp_path, "same.json", json.dumps({"results": [row, row]}))
    assert qifsql.check(PEOPLE, levels, baseline=same).met
    other = written(
        tmp_path, "other.json", json.dumps({"results": [row, row | {"blocks": 4}, row]})
    )
    with pytest.raises(InputError, match="or several, for 1 row"):
        qifsql.check(PEOPLE, levels, baseline=other)


def test_exported_verdicts_are_baselines_whatever_names_and_values_are(tmp_path: Path):
    file, known = hostile(tmp_path)
    plain = policy(tmp_path, rule(model="cas", measure="worst_case"), **known)
    assert run("check", file, "--policy", plain, "-o", tmp_path / "l.csv").code == 0
    levels = policy(tmp_path, rule(model="cas", measure="worst_case", rise_at_most=0), **known)
    found = qifsql.check(file, levels, baseline=tmp_path / "l.csv")
    assert found.frame["value"].equals(found.frame["baseline"])
    assert found.met
