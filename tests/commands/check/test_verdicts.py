"""Verdicts on the command line: formats, JUnit, exit codes, and what is refused."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from policies import PEOPLE, counted, hostile, policy, rule, written
from terminal import Done, run

import qifsql
from qifsql.commands.check.junit import junit
from qifsql.study.policy import read


def test_junit_is_well_formed_whatever_names_and_values_are(tmp_path: Path):
    file, known = hostile(tmp_path)
    found = qifsql.check(
        file, policy(tmp_path, rule(model="cas", measure="worst_case", at_most=0.5), **known)
    )
    assert found.frame["met"].n_unique() == 2
    text = junit(found)
    assert all(c.isprintable() or c == "\n" for c in text)
    root = ET.fromstring(text)
    (suite,) = root
    cases = suite.findall("testcase")
    assert len(cases) == len({case.get("name") for case in cases}) == found.frame.height
    for element in (root, suite):
        assert element.get("tests") == str(found.frame.height)
        assert element.get("failures") == str(found.broken)
    for case, row in zip(cases, found.rows(), strict=True):
        failure = case.find("failure")
        assert (failure is None) is row["met"]
        if failure is not None:
            assert failure.get("message") == f"worst_case is {row['value']}, required <= 0.5"
    assert "a\"b'c]]>&<i>" in (cases[0].get("name") or "")


def test_junit_tells_the_baseline_and_where_it_comes_from(tmp_path: Path):
    last = tmp_path / "last.csv"
    run("attack", "crs", PEOPLE, "-q", "gender", "-o", last)
    last.write_text(last.read_text().replace(",gender,", ",age+gender,"))
    levels = policy(tmp_path, rule(model="crs", measure="blocks", rise_at_most=1))
    suite = ET.fromstring(junit(qifsql.check(PEOPLE, levels, baseline=last)))[0]
    about = {p.get("name"): p.get("value") for p in suite.iter("property")}
    assert about == {
        "qifsql": qifsql.__version__, "dataset": Path(PEOPLE).name, "baseline": str(last),
        "not_considered": "id", "not_considered_singled_out": "10",
    }  # fmt: skip
    (failure,) = suite.iter("failure")
    assert failure.get("message") == "blocks is 5.0 (baseline 2.0), required rise <= 1"


def checked(file: object, levels: Path, *more: object) -> Done:
    return run("check", file, "--policy", levels, *more)


@pytest.mark.slow(because="2.0 s; every recorded mutant dies without it")
def test_the_command_gives_what_the_function_gives_and_4_when_not_met(tmp_path: Path):
    at_most = rule(model="cas", by="gender", measure="worst_case", at_most=0.6)
    levels = policy(tmp_path, rule(model="crs", measure="blocks"), at_most)
    expected = qifsql.check(PEOPLE, levels)
    done = checked(PEOPLE, levels, "--format", "json")
    document = json.loads(done.out)
    units = [row.pop("unit") for row in document["results"]]  # of JSON alone
    assert set(units) == {"records"}
    assert document["results"] == expected.rows()
    assert document["qifsql"] == qifsql.__version__
    assert document["spec"]["policy"] == str(levels)
    assert done.code == 4
    verdict = f"{Path(PEOPLE).name} against {levels.name}: {expected.summary}"
    assert done.err.splitlines()[0] == f"note: {verdict}"
    assert checked(PEOPLE, levels, "--quiet").out.startswith(f"{Path(PEOPLE).name} against")
    done = checked(PEOPLE, levels, "--quiet", "-f", "csv")
    assert [r["met"] for r in csv.DictReader(io.StringIO(done.out))] == [
        str(row["met"]).lower() for row in expected.rows()
    ]
    assert (done.code, done.err) == (4, "")
    done = checked(PEOPLE, levels, "--format", "table")
    assert done.code == 4
    assert "Not met: 4 of 5 levels." in done.out
    assert "CAS of illness, gender = F" in done.out
    done = checked(PEOPLE, policy(tmp_path, rule(model="crs", measure="blocks", at_most=5)))
    assert (done.code, "met for the columns named: all of 1 level\n" in done.err) == (0, True)


@pytest.mark.slow(because="1.6 s each; every recorded mutant dies without it")
@pytest.mark.parametrize("ending", ["parquet", "csv", "json", "md", "html"])
def test_results_and_junit_are_written_whether_levels_are_met_or_not(tmp_path: Path, ending: str):
    out, xml = tmp_path / f"r.{ending}", tmp_path / "r.xml"
    file, known = hostile(tmp_path)
    for bound, code in ((0.5, 4), (1, 0)):
        levels = policy(tmp_path, rule(model="cas", measure="worst_case", at_most=bound), **known)
        done = checked(file, levels, "-o", out, "--junit", xml)
        assert (done.code, done.out) == (code, "")
        broken = qifsql.check(file, levels).broken
        assert bool(broken) is bool(code)
        assert ET.parse(xml).getroot().get("failures") == str(broken)
        assert out.stat().st_size
        if ending == "parquet":
            note = json.loads(pl.read_parquet_metadata(out)["qifsql"])
            assert_frame_equal(pl.read_parquet(out), qifsql.check(file, levels).frame)
        else:
            note = json.loads((tmp_path / f"r.{ending}.manifest.json").read_text())
        assert [Path(i["path"]).name for i in note["inputs"]] == ["t.parquet", "levels.toml"]
        assert "GROUP BY" in note["sql"]


def test_options_of_the_command_win_over_the_policy(tmp_path: Path):
    file = tmp_path / "t.csv"
    file.write_text("a,b,s,w,g\n1,1,x,1,m\n1,,y,2,n\n2,1,x,1,m\n9,1,x,1,m\n")
    level = rule(model="cas", measure="posterior_probabilistic")
    levels = policy(tmp_path, level, qids="b", secret="s", null="drop", where="a < 9", by="g")
    plain = json.loads(checked(file, levels, "-f", "json").out)
    assert [plain["spec"][name] for name in ("null", "where", "by")] == ["drop", "a < 9", "g"]
    typed = ("--null", "distinct", "--where", "a < 8", "-q", "a", "--by", "h=b", "--weight", "w")
    document = json.loads(checked(file, levels, "-f", "json", *typed).out)
    spec = document["spec"]
    assert [spec[name] for name in ("null", "where", "qids", "weight")] == [
        "distinct", "a < 8", ["a"], "w",
    ]  # fmt: skip
    assert {(r["by"], r["group"]) for r in document["results"]} == {("h", "1"), ("h", None)}


@pytest.mark.cases(2)
@pytest.mark.parametrize("given", ["policy", "last", "data"])
@pytest.mark.parametrize("option", ["-o", "--junit"])
def test_no_input_is_overwritten(
    tmp_path: Path, given: str, option: str, monkeypatch: pytest.MonkeyPatch
):
    attacks = counted(monkeypatch)
    last = tmp_path / "last.json"
    run("attack", "crs", PEOPLE, "-q", "age", "-o", last)
    levels = policy(
        tmp_path, rule(model="crs", measure="blocks"), '[baseline]\nfile = "last.json"', qids="age"
    )
    data = written(tmp_path, "t.csv", Path(PEOPLE).read_bytes())
    files = {"policy": levels, "last": last, "data": data}
    link = tmp_path / ("out.xml" if option == "--junit" else "out.json")
    link.symlink_to(files[given])
    before = files[given].read_bytes()
    done = checked(data, levels, option, link)
    assert done.code == 2
    assert "is the input" in done.err
    assert files[given].read_bytes() == before
    assert attacks == []


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--junit", "r.json"), "must end in one of .xml"),
        (("--junit", "no/such/r.xml"), "there is no folder"),
        (("-o", "r.txt"), "must end in one of .parquet"),
        (("--format", "yaml"), "there is no format"),
        (("--baseline", "none.csv"), "the baseline none.csv does not exist"),
        (("-s", "nothing"), 'column "nothing" is not in'),
    ],
)
def test_wrong_options_are_one_line(tmp_path: Path, more: tuple[str, ...], says: str):
    done = checked(PEOPLE, policy(tmp_path, rule(model="cas", measure="blocks")), *more)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert done.err.count("\n") == 1


def test_a_mistake_in_the_policy_is_told_by_line(tmp_path: Path):
    levels = policy(tmp_path, rule(model="cas", measure="block"))
    done = checked(PEOPLE, levels)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f'error: {levels}, line 6: there is no measure "block"; did you mean "blocks"?\n'
    )
    assert "--policy" in run("check", PEOPLE).err


@pytest.mark.slow(because="real processes and a pipe; the exit code is tested in this process")
def test_a_reader_that_leaves_early_does_not_make_levels_met(tmp_path: Path):
    levels = policy(tmp_path, rule(model="crs", measure="blocks", at_most=1))
    command = f"{sys.executable} -m qifsql check {PEOPLE} --policy {levels}"
    for form in ("csv", "table", "json"):
        done = subprocess.run(
            f"{command} -f {form} | true; exit ${{PIPESTATUS[0]}}",
            shell=True, executable="/bin/bash", capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, "Traceback" in done.stderr) == (4, False)


def test_the_help_shows_a_policy_that_works(tmp_path: Path):
    lines = [line.strip() for line in run("check", "--help").out.splitlines()]
    begin, end = (
        lines.index("[adversary]"),
        next(i for i, line in enumerate(lines) if line.startswith("file =")),
    )
    file = tmp_path / "p.toml"
    file.write_text("\n".join(lines[begin : end + 1]))
    assert [(rule.by, rule.limits) for rule in read(file).rules] == [
        ("region", "<= 0.9"), (None, "rise <= 10"),
    ]  # fmt: skip
