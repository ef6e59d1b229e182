"""Rules about synthetic releases: the numbers of the command, and the worse end decides."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import oracle_synthetic as oracle
import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from policies import policy, rule, values
from synthetic_files import Line, frame, lines, plain
from terminal import run

import qifsql
from qifsql.commands.check import rule_levels
from qifsql.commands.check.junit import junit
from qifsql.commands.synthetic.individuals import GROUPS
from qifsql.commands.synthetic.synthetic import MEASURES
from qifsql.errors import ColumnError, InputError
from qifsql.measures.release_measures import (
    ABOUT_SECRETS,
    OF_ATTEMPTS,
    OF_CLASSIFIERS,
    OF_DISTANCES,
    OF_GROUPS,
    OF_NEAREST,
)
from qifsql.study.policy import read
from qifsql.study.release_rules import SIGNED, measures

ORIGINAL: list[Line] = [("x", i % 4, "abc"[i % 3]) for i in range(12)] + [("y", 7, "a")]
RELEASE: list[Line] = [("x", i % 4, "abc"[i % 2]) for i in range(10)] + [("y", 7, "a")]
CONTROL: list[Line] = [("x", i % 3, "abc"[i % 3]) for i in range(9)] + [("y", 5, "b")]
KNOWN = {"qids": ["q", "r"], "secret": "t"}


def comparing(measure: str, **keys: object) -> str:
    keys = keys or {"at_least" if measure in SIGNED else "at_most": -1 if measure in SIGNED else 1}
    return rule(model="synthetic", measure=measure, **keys)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an original, a release and a control."""
    monkeypatch.chdir(tmp_path)
    for name, rows in (("original", ORIGINAL), ("release", RELEASE), ("control", CONTROL)):
        frame(rows).write_parquet(f"{name}.parquet")
    return tmp_path


def written(folder: Path, *rules: str, **more: object) -> Path:
    known = {**KNOWN, "original": "original.parquet", "control": "control.parquet", **more}
    return policy(folder, *rules, **{n: v for n, v in known.items() if v is not None})


def compared(**options: Any) -> qifsql.Result:
    return qifsql.synthetic(
        "original.parquet", "release.parquet", control="control.parquet",
        qids=["q", "r"], secret="t", **options,
    )  # fmt: skip


def test_measures_of_rules_are_those_of_the_command() -> None:
    assert set(measures()) == set(MEASURES) - {
        *(*OF_DISTANCES, *OF_ATTEMPTS, *OF_NEAREST, *OF_CLASSIFIERS)
    }
    numbers = {n for n in GROUPS if GROUPS[n] == pl.Float64 and not n.endswith(("_low", "_high"))}
    assert set(OF_GROUPS) == numbers


def test_numbers_are_those_of_the_command_in_one_comparison(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Any] = []
    real = qifsql.synthetic  # which the package keeps: imported now, it is not the stand-in
    monkeypatch.setattr(
        rule_levels.releases, "synthetic", lambda *a, **o: calls.append(o) or real(*a, **o)
    )
    levels = written(here, *map(comparing, measures()), split="q")
    verdict = qifsql.check("release.parquet", levels)
    assert len(calls) == 1
    rows = {r["measure"]: r for r in compared(questions=True, split="q").rows()}
    assert values(verdict, "measure", "secret", "value", "low", "high") == [
        (n, "t" if n in ABOUT_SECRETS else None, *(rows[n][c] for c in ("value", "low", "high")))
        for n in measures()
    ]
    assert set(verdict.frame["model"]) == {"synthetic"}


def test_numbers_within_groups_are_those_of_the_command(here: Path) -> None:
    for name in ("original", "control"):
        people = pl.read_parquet(f"{name}.parquet").with_columns(g=pl.col("r") % 2)
        people.write_parquet(f"{name}.parquet")
    names = [name for name in OF_GROUPS if name not in ("TCAP", "right_when_certain")]
    levels = written(
        here, *(comparing(n) for n in names), comparing("iS", by="u", at_most=1), by="g"
    )
    verdict = qifsql.check("release.parquet", levels)
    groups = compared(by="g").details["groups"]
    for name in names:
        found = verdict.frame.filter(measure=name, by="g")
        assert found.select("group", "value", "individuals").rows() == (
            groups.select("group", name, "people").rows()
        )
        ends = f"{name}_low" if f"{name}_low" in groups.columns else None
        assert found["low"].to_list() == (groups[ends].to_list() if ends else [None, None])
    assert verdict.frame.filter(by="u")["group"].to_list() == ["0", "1"]


def test_each_rule_can_be_met_and_can_fail(here: Path) -> None:
    rows = {r["measure"]: r for r in compared(questions=True, split="q").rows()}
    rules, expected = [], []
    for measure in measures():
        row = rows[measure]
        high = row["value"] if row["high"] is None else row["high"]
        low = row["value"] if row["low"] is None else row["low"]
        bounds = {"at_most": (high, -1e-9), "at_least": (low, 1e-9)}
        for name, (end, beyond) in bounds.items():
            for limit, met in ((end, True), (end + beyond, False)):
                if (-1 if measure in SIGNED else 0) <= limit <= 1:  # no share is beyond these
                    rules.append(comparing(measure, **{name: limit}))
                    expected.append((measure, met))
    verdict = qifsql.check("release.parquet", written(here, *rules, split="q"))
    assert values(verdict, "measure", "met") == expected
    assert {measure for measure, met in expected if not met} == set(measures())


@pytest.mark.slow(because="0.9 s; every recorded mutant dies without it")
@given(original=lines, release=lines, control=lines, share=st.integers(0, 12))
@settings(max_examples=examples(12), deadline=None)
def test_the_worse_end_of_an_interval_decides(
    tmp_path_factory: pytest.TempPathFactory,
    original: list[Line],
    release: list[Line],
    control: list[Line],
    share: int,
) -> None:
    limit = share / 12
    folder = tmp_path_factory.mktemp("levels")
    names = ("repU", "DiSCO", "success_original", "individual_leak")
    levels = policy(folder, *(comparing(name, at_most=limit) for name in names), **KNOWN)
    files: Any = {"original": frame(original), "control": frame(control)}
    verdict = qifsql.check(frame(release), levels, **files)
    expected = oracle.measures(plain(original), plain(release), plain(control))
    measured = qifsql.synthetic(
        frame(original), frame(release), control=frame(control), qids="q,r", secret="t"
    )
    ends = {r["measure"]: r["high"] for r in measured.rows()}
    for row in verdict.rows():
        exact = float(expected[row["measure"]])
        assert row["value"] == exact
        worse = exact if ends[row["measure"]] is None else ends[row["measure"]]
        assert exact <= worse + 1e-12
        assert row["met"] is (worse <= limit + 1e-12)
    assert verdict.met is all(row["met"] for row in verdict.rows())


@pytest.mark.slow(because="0.5 s; every recorded mutant dies without it")
def test_copies_fail_where_independent_columns_pass(tmp_path: Path) -> None:
    people = pl.DataFrame({"q": range(60), "t": [i * 7 % 5 for i in range(60)]})
    others = people.with_columns(q=pl.col("q") + 1000)
    levels = policy(
        tmp_path, comparing("repU", at_most=0.1), comparing("individual_leak", at_most=0.2),
        qids="q", secret="t",
    )  # fmt: skip
    files: Any = {"original": people, "control": others}
    assert not qifsql.check(people, levels, **files)
    assert not qifsql.check(people, levels, **files).frame["met"].any()
    fresh = people.with_columns(q=pl.col("q") - 5000)
    assert qifsql.check(fresh, levels, **files)


def test_people_are_judged_by_the_worse_of_both_readings(tmp_path: Path) -> None:
    """The records of the original are those of other people in the release."""
    levels = policy(tmp_path, comparing("repU", at_most=0.5), qids="q", person="who")
    original = pl.DataFrame({"who": [1, 1, 2], "q": [1, 2, 3]})
    release = pl.DataFrame({"who": [1, 2, 2], "q": [1, 2, 3]})
    columns = ["known_records", "value", "met"]
    result = qifsql.check(release, levels, original=original)
    assert (result.frame.select(columns).rows(), bool(result)) == ([("one", 1.0, False)], False)
    levels = policy(
        tmp_path, comparing("repU", at_most=0.5), qids="q", person="who", known_records="all"
    )
    assert qifsql.check(release, levels, original=original).frame.select(columns).rows() == [
        ("all", 0.0, True)
    ]


@pytest.mark.parametrize(
    ("rules", "more", "line", "says"),
    [
        ([comparing("individual_leak")], {"control": None}, 8, "rule 1 needs a control"),
        ([comparing("population_knowledge")], {"control": None}, 8, "needs a control"),
        ([comparing("repU")], {"split": "q"}, 6, "split is for rules about linkability"),
        ([comparing("inference_risk")], {"control": None}, 8, "needs a control"),
        ([comparing("repU")], {"original": None}, 8, "rule 1 compares with the original"),
        ([comparing("DiSCO")], {"secret": None}, 8, "is about a secret; name one"),
        ([comparing("linkability")], {}, 9, "rule 1 is about two sources (linkability)"),
        ([comparing("repU", secret="t", at_most=1)], {}, 10, "is about no secret (repU)"),
        ([comparing("repu")], {}, 9, 'there is no measure "repu"; did you mean "repU"?'),
        ([comparing("worst_case")], {}, 9, 'there is no measure "worst_case"'),
        ([comparing("distance_original", at_least=0.1)], {}, 9, "distances do not show safety"),
        ([comparing("UiS", by="u", at_most=1)], {}, 9, 'within groups (by "u")'),
        ([comparing("repU", at_most=1.5)], {}, 10, "repU is a share; write at_most between 0"),
        ([comparing("repU", at_most=-0.5)], {}, 10, "repU is a share; write at_most between 0"),
        ([comparing("repU", at_most=0.1, attempt=0.5)], {}, 11, "attempt multiplies"),
        ([rule(model=["crs", "synthetic"], measure="repU", at_most=1)], {}, 8, "no other model"),
        ([comparing("repU")], {"weight": "u"}, 1, "record by record; leave weight out"),
        ([comparing("repU")], {"null": "drop"}, 1, "a missing value is a value of a synthetic"),
        ([rule(model="crs", measure="blocks")], {}, 4, "original is for rules about a synthetic"),
        ([comparing("repU", rise_at_most=0.1)], {}, 7, "rule 1 needs a baseline"),
    ],
)  # fmt: skip
def test_a_rule_that_nobody_can_judge_is_refused(
    here: Path, rules: list[str], more: dict[str, object], line: int, says: str
) -> None:
    levels = written(here, *rules, **more)
    done = run("check", "release.parquet", "--policy", levels)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert done.err.count("\n") == 1
    at = int(done.err.split("line ")[1].split(":")[0])
    assert abs(at - line) <= 1, done.err


def test_a_group_without_control_and_a_share_of_nobody(here: Path) -> None:
    control = pl.read_parquet("control.parquet").with_columns(u=pl.lit(0))
    control.write_parquet("control.parquet")
    levels = written(here, comparing("individual_leak", at_most=0.1), by="u")
    with pytest.raises(InputError, match=r"line 9: rule 1: .*nobody of the control is in it"):
        qifsql.check("release.parquet", levels)
    nobody = frame([("z", 9, "a"), ("z", 9, "b")])
    at_most = qifsql.check(nobody, written(here, comparing("TCAP", at_most=0.0)))
    assert at_most.met
    assert values(at_most, "value", "met") == [(None, True)]
    assert "nobody" in str(at_most)
    with pytest.raises(InputError, match="share of nobody here; only at_most"):
        qifsql.check(nobody, written(here, comparing("TCAP", at_least=0.0)))


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_options_of_the_command_win_over_the_policy(here: Path) -> None:
    levels = written(here, comparing("success_control"), original="none.parquet", control=None)
    done = run("check", "release.parquet", "--policy", levels)
    assert done.code == 2
    frame([*CONTROL, *RELEASE]).write_csv("other.csv")
    frame(ORIGINAL).write_csv("people.csv")
    done = run(
        "check", "release.parquet", "--policy", levels, "--original", "people.csv",
        "--control", "other.csv", "-f", "json",
    )  # fmt: skip
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert document["spec"]["original"] == "people.csv"
    (row,) = document["results"]
    expected = qifsql.synthetic(
        "people.csv", "release.parquet", control="other.csv", qids="q,r", secret="t"
    )
    assert row["value"] == expected.frame.filter(measure="success_control")["value"][0]
    done = run("check", "release.parquet", "--policy", levels, "--original", "people.csv",
               "--control", "other.csv", "-o", "people.csv")  # fmt: skip
    assert done.code == 2
    assert "is the input" in done.err


@pytest.mark.slow(because="1.6 s; every recorded mutant dies without it")
def test_what_a_verdict_covers_and_what_it_does_not(here: Path) -> None:
    levels = written(here, comparing("repU"), comparing("individual_leak", at_most=1))
    done = run("check", "release.parquet", "--policy", levels, "-f", "json")
    document = json.loads(done.out)
    assert (done.code, document["met"], document["not_considered"]) == (0, True, ["u"])
    assert [c["name"] for c in document["columns"] if c["covered"]] == ["q", "r", "t"]
    assert "The records of a synthetic release are nobody's" in done.err
    assert "do not prove that a release is safe" in done.err
    assert "with control.parquet as the control" in done.err
    (row,) = document["uncovered"]
    assert (row["column"], row["people"], row["singled_out"]) == ("u", None, None)
    levels.write_text(f'unnamed = "refuse"\n{levels.read_text()}')
    done = run("check", "release.parquet", "--policy", levels)
    assert done.code == 4
    assert "not met: 1 column in no rule" in done.err
    plain_levels = written(here, comparing("repU"), control=None)
    done = run("check", "release.parquet", "--policy", plain_levels)
    assert "without a control: nobody can tell" in done.err
    mixed = written(here, comparing("repU"), rule(model="crs", measure="blocks"))
    verdict = qifsql.check("release.parquet", mixed)
    assert verdict.uncovered["people"].to_list()[0] == len(RELEASE)  # attacked as records, too
    assert verdict.frame["model"].to_list() == ["synthetic", "CRS"]
    assert verdict.spec["models"] == ["crs", "synthetic"]


@pytest.mark.slow(because="1.0 s; every recorded mutant dies without it")
def test_drift_compares_the_values(here: Path) -> None:
    first = written(here, comparing("right_when_certain"), comparing("repU"))
    assert run("check", "release.parquet", "--policy", first, "-o", "last.json").code == 0
    rules = [comparing(n, rise_at_most=0.001) for n in ("right_when_certain", "repU")]
    drift = written(here, *rules, '[baseline]\nfile = "last.json"')
    assert qifsql.check("release.parquet", drift).met
    frame(ORIGINAL).write_parquet("copy.parquet")
    worse = qifsql.check("copy.parquet", drift)
    assert worse.frame.filter(measure="right_when_certain")["met"].to_list() == [False]


def test_several_files_are_checked_one_by_one(here: Path) -> None:
    levels = written(here, comparing("repU"))
    done = run("check", "release.parquet", "control.parquet", "--policy", levels, "--key", "u")
    assert done.code == 2
    assert "rule 1 is about one synthetic release; check each file by itself" in done.err


def test_names_of_columns_are_looked_up_in_all_files(here: Path) -> None:
    pl.read_parquet("original.parquet").drop("t").write_parquet("original.parquet")
    with pytest.raises(ColumnError, match=r'"t" is not in original.parquet'):
        qifsql.check("release.parquet", written(here, comparing("DiSCO")))


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_junit_and_tables_hold_hostile_names(here: Path) -> None:
    name = 'a"b;--<script>'
    for file in ("original", "release", "control"):
        pl.read_parquet(f"{file}.parquet").rename({"t": name}).write_parquet(f"{file}.parquet")
    levels = written(here, comparing("individual_leak", at_most=0.0), secret=[f'"{name}"'[1:-1]])
    verdict = qifsql.check("release.parquet", levels)
    (case,) = ET.fromstring(junit(verdict)).iter("testcase")
    failure = case.find("failure")
    assert failure is not None
    assert "(between " in (failure.get("message") or "")
    assert name in (case.get("name") or "")
    done = run("check", "release.parquet", "--policy", levels, "-o", "v.html")
    assert done.code == 4
    assert "<script>" not in Path("v.html").read_text().split("</head>")[1].split("<script")[0]


@pytest.mark.slow(because="3.5 s; every recorded mutant dies without it")
def test_a_check_of_a_study_reads_all_files(here: Path) -> None:
    study = here / "study.toml"
    text = (
        '[datasets.release]\npath = "release.parquet"\nqids = ["q", "r"]\nsecret = "t"\n'
        '[datasets.held_out]\npath = "control.parquet"\n'
        '[[check]]\nname = "levels"\ndataset = "release"\noriginal = "original.parquet"\n'
        'control = "held_out"\n[[check.rule]]\nmodel = "synthetic"\nmeasure = "individual_leak"\n'
        "at_most = 1\n"
    )
    study.write_text(text)
    first = qifsql.run(study)
    assert first.met
    assert first.details["checks"]["low"].null_count() == 0
    assert qifsql.run(study).details["entries"]["state"].to_list() == ["unchanged"]
    for file in ("original.parquet", "control.parquet"):
        pl.read_parquet(file).head(8).write_parquet(file)
        assert qifsql.run(study).details["entries"]["state"].to_list() == ["done"]
    page = first.report
    assert page is not None
    assert "is compared with original.parquet, and with control.parquet" in page.read_text()
    study.write_text(text.replace('control = "held_out"\n', ""))
    done = run("run", study)
    assert done.code == 2
    assert "rule 1 needs a control" in done.err
    levels = written(here, comparing("individual_leak", at_most=0.0))
    policed = text.split("original =", maxsplit=1)[0] + f'policy = "{levels.name}"\n'
    study.write_text(policed)
    assert run("run", study).code == 4
    assert run("run", study).code == 4


def test_a_search_says_that_it_cannot_use_these_rules(here: Path) -> None:
    levels = written(here, comparing("repU"))
    done = run("compare", "original.parquet", "--policy", levels)
    assert done.code == 2
    assert "original" in done.err
    assert read(levels).about("synthetic")
