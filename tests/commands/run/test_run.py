"""Studies: the numbers of attacks and sweeps, and nothing is computed that has not changed."""

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import polars as pl
import pytest
from effort import PATIENCE
from polars.testing import assert_frame_equal
from studies import ATTACK, CHECK, DATASETS, SAMPLES, SWEEP, data, written
from terminal import run as command

import qifsql
from qifsql.commands.run import run as running
from qifsql.commands.run.outputs import Outputs
from qifsql.errors import EngineError, InputError, Interrupted, OutputError

QIDS = ["age", "gender", "occupation"]
ALL = DATASETS + ATTACK + SWEEP + CHECK
CENSUS = SAMPLES / "school_census_2019.parquet"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two releases, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    data(tmp_path)
    return tmp_path


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what is computed from now on, by the names of the functions."""
    calls: list[str] = []

    def spy(kind: str, name: str) -> None:
        module = getattr(running, kind)
        real = getattr(module, name)

        def called(*arguments: Any, **options: Any) -> Any:
            calls.append(kind)
            return real(*arguments, **options)

        monkeypatch.setattr(module, name, called)

    for kind, name in {"attack": "attack", "sweep": "sweep", "check": "judge"}.items():
        getattr(qifsql, kind)  # imported when it is first named, and kept: not a spy
        spy(kind, name)
    return calls


def untimed(frame: pl.DataFrame) -> pl.DataFrame:
    """A table without what differs from run to run."""
    return frame.select(n for n in frame.columns if "seconds" not in n and n != "attack_id")


def study(here: Path, text: str = ALL, **more: Any) -> qifsql.StudyResult:
    """The result of a study that is written now."""
    return qifsql.run(written(here, text).relative_to(here), **more)


def files(folder: Path) -> dict[str, bytes]:
    """All files of a folder, but what tells of the last run."""
    own = {p for p in folder.rglob("*") if p.is_file() and p.name not in ("lock", "written.json")}
    return {str(p.relative_to(folder)): p.read_bytes() for p in own}


# Numbers


@pytest.mark.slow(because="4 s; only what has changed is computed, and equal")
def test_numbers_are_those_of_attack_and_sweep_and_check(here: Path):
    result = study(here)
    alone = qifsql.attack("crs,cas", "people.parquet", qids=QIDS, secret="illness", key="id")
    assert_frame_equal(untimed(result.frame.drop("name")), untimed(alone.frame))
    swept = qifsql.sweep("people.parquet", qids=QIDS, secret="illness")
    found = result.results["subsets"]
    assert_frame_equal(untimed(found.frame), untimed(swept.frame))
    assert found.qids == swept.qids
    assert found.whole
    for name in swept.details.keys() - {"plan"}:
        assert_frame_equal(found.details[name], swept.details[name])
    assert_frame_equal(result.details["sweeps"].drop("name"), swept.details["best"])
    assert result.details["checks"]["value"].to_list() == [
        alone.frame.filter(model="CRS")["singled_out"][0]
    ]
    assert result.frame["name"].unique().to_list() == ["birth"]


@pytest.mark.slow(because="3.9 s; every recorded mutant dies without it")
def test_every_option_of_an_attack_is_handed_on(here: Path):
    (here / "worth.csv").write_text("value,worth\nyes,3\nno,1\n")
    (here / "belief.csv").write_text("value,probability\nyes,0.2\nno,0.8\n")
    options = """
qids = ["decade=age//10", "gender"]
secret = "illness"
gain = ["money", "identity", "tries:2"]
by = "gender"
thresholds = [0.5, 0.75]
quantiles = 0.9
measures = "all"
histogram = true
unit = "BRL"
where = "occupation > 1"
null = "drop"
store = "counts.duckdb"
"""
    text = (
        DATASETS + '[gains]\nmoney = "worth:worth.csv"\n' + ATTACK.replace("crs", "cas") + options
    )
    found = study(here, text).results["birth"]
    alone = qifsql.attack(
        "cas", "people.parquet", qids=["decade=age//10", "gender"], secret="illness", key="id",
        gain=["worth:worth.csv", "identity", "tries:2"], by="gender", thresholds=[0.5, 0.75],
        quantiles=0.9, measures="all", histogram=True, unit="BRL", where="occupation > 1",
        null="drop",
    )  # fmt: skip
    assert_frame_equal(untimed(found.frame), untimed(alone.frame))
    names = {"histogram", "thresholds", "quantiles", "groups", "group_capacity"}
    names |= {"sure", "sure_curve"}  # of thresholds
    assert found.details.keys() == names
    for name, table in alone.details.items():
        assert_frame_equal(untimed(found.details[name]), untimed(table))
    assert (here / "counts.duckdb").exists()


@pytest.mark.slow(because="5.2 s; every recorded mutant dies without it")
def test_one_person_collections_priors_and_membership(here: Path):
    (here / "belief.csv").write_text("value,probability\nyes,0.2\nno,0.8\n")
    pl.read_parquet("people.parquet").head(5).write_parquet("some.parquet")
    text = (
        DATASETS
        + """
[datasets.some]
path = "some.parquet"
key = "id"

[collections.years]
datasets = ["people", "later"]

[[attack]]
name = "person"
model = "irs, ias"
dataset = "people"
target = { age = 49, gender = "M" }

[[attack]]
name = "years"
model = ["crl", "cal"]
dataset = "years"
qids = ["gender", "1:age", "2:age"]
progressive = true

[[attack]]
name = "listed"
model = "crl"
dataset = ["people", "later"]
qids = ["gender", "1:age", "2:age"]

[[attack]]
name = "believed"
model = "cas"
dataset = "people"
qids = "age"
prior = "belief.csv"

[[attack]]
name = "member"
model = "cms"
dataset = "some"
qids = "age"
population = "people"

[[sweep]]
name = "releases"
dataset = "years"
releases = true
"""
    )
    result = study(here, text)
    both, frames = ["people.parquet", "later.csv"], {}
    for name in result.results:
        frames[name] = untimed(result.results[name].frame)
    target = {"age": 49, "gender": "M"}
    person = qifsql.attack("irs,ias", "people.parquet", target=target, secret="illness", key="id")
    assert_frame_equal(frames["person"], untimed(person.frame))
    tagged = ["gender", "1:age", "2:age"]
    years = qifsql.attack(
        "crl,cal", both, key="id", qids=tagged, secret="illness", progressive=True
    )
    assert_frame_equal(frames["years"], untimed(years.frame))
    listed = qifsql.attack("crl", both, key="id", qids=tagged)
    assert_frame_equal(frames["listed"], untimed(listed.frame))
    believed = qifsql.attack(
        "cas", "people.parquet", qids="age", secret="illness", prior="belief.csv"
    )
    assert_frame_equal(frames["believed"], untimed(believed.frame))
    member = qifsql.attack("cms", "some.parquet", qids="age", population="people.parquet", key="id")
    assert_frame_equal(frames["member"], untimed(member.frame))
    swept = qifsql.sweep(both, qids=QIDS, secret="illness", key="id", releases=True)
    assert_frame_equal(frames["releases"], untimed(swept.frame))
    assert result.frame.columns[:3] == ["name", "model", "datasets"]
    assert result.frame.filter(name="person")["matches"].to_list() == [1, 1]
    assert result.frame.filter(name="years")["matches"].null_count() == 4


@pytest.mark.slow(because="3.7 s; every recorded mutant dies without it")
def test_waves_of_a_long_table(here: Path):
    people = pl.read_parquet("people.parquet")
    waves = [people.with_columns(year=pl.lit(y), age=pl.col("age") + y % 2) for y in (2018, 2019)]
    pl.concat(waves).write_parquet("long.parquet")
    text = DATASETS.replace("people.parquet", "long.parquet")
    text += ATTACK.replace('"crs", "cas"', '"crl", "cal"') + 'wave = "year=2019,2018"\n'
    found = study(here, text + SWEEP + 'wave = "year=2019,2018"\n').results
    asked = {"qids": QIDS, "secret": "illness", "key": "id", "wave": "year=2019,2018"}
    alone = qifsql.attack("crl,cal", "long.parquet", **asked)
    assert_frame_equal(untimed(found["birth"].frame), untimed(alone.frame))
    swept = qifsql.sweep("long.parquet", **asked)
    assert_frame_equal(untimed(found["subsets"].frame), untimed(swept.frame))


def test_a_missing_value_of_a_target_is_written_as_such(here: Path):
    frame = pl.DataFrame({"a": [1, None, None], "b": ["x", "x", "y"]})
    frame.write_parquet("gaps.parquet")
    text = '[datasets.gaps]\npath = "gaps.parquet"\n[[attack]]\nname = "one"\nmodel = "irs"\n'
    result = study(here, text + 'target = { a = { missing = true }, b = "x" }\n')
    assert result.frame["matches"].to_list() == [1]
    assert result.frame["target"].to_list() == ["a=(missing), b=x"]


@pytest.mark.slow(because="1.2 s; every recorded mutant dies without it")
def test_what_an_entry_says_wins_over_its_dataset_and_empty_takes_back(here: Path):
    roles = DATASETS.replace('key = "id"\n', 'key = "id"\nweight = "age"\nwhere = "age < 50"\n', 1)
    text = roles + ATTACK + 'where = "age > 0"\n' + ATTACK.replace("birth", "plain")
    found = study(here, text + 'where = ""\nweight = ""\nqids = "age"\n').results
    weighed = qifsql.attack(
        "crs,cas", "people.parquet", qids=QIDS, secret="illness", weight="age", where="age > 0"
    )
    plain = qifsql.attack("crs,cas", "people.parquet", qids="age", secret="illness")
    assert_frame_equal(untimed(found["birth"].frame), untimed(weighed.frame))
    assert_frame_equal(untimed(found["plain"].frame), untimed(plain.frame))


@pytest.mark.slow(because="0.7 s; every recorded mutant dies without it")
def test_csv_is_read_as_its_dataset_says(here: Path):
    (here / "coded.csv").write_bytes("id;código\n1;01\n2;1\n3;01\n".encode("latin-1"))
    text = """
[datasets.coded]
path = "coded.csv"
all_varchar = true
delimiter = ";"
encoding = "latin-1"
[[attack]]
name = "codes"
model = "crs"
qids = "código"
"""
    assert study(here, text).frame["blocks"].to_list() == [2]


@pytest.mark.slow(because="4.7 s; every recorded mutant dies without it")
def test_paths_are_relative_to_the_study(here: Path, tmp_path_factory: pytest.TempPathFactory):
    elsewhere = tmp_path_factory.mktemp("a [b] folder")
    for name in ("people.parquet", "later.csv"):
        (here / name).rename(elsewhere / name)
    (elsewhere / "parts").mkdir()
    shutil.copy(elsewhere / "people.parquet", elsewhere / "parts/1.parquet")
    (elsewhere / "worth.csv").write_text("value,worth\nyes,3\nno,1\n")
    text = ALL.replace('"people.parquet"', '"parts/*.parquet"')
    more = '\n[[attack]]\nname = "money"\nmodel = "cas"\ndataset = "people"\n'
    path = written(elsewhere, text + more + 'gain = "worth:worth.csv"\nhistogram = true\n')
    result = qifsql.run(path)
    assert result.frame.height == 3
    assert (elsewhere / "study-results" / "birth.parquet").exists()
    assert list(here.iterdir()) == []
    assert result.frame.filter(name="money")["gain"].to_list() == ["worth:worth.csv"]
    spec = json.loads((elsewhere / "study-results/money.csv.manifest.json").read_text())["spec"]
    assert spec["gains"] == ["worth:worth.csv"]


# What has not changed


@pytest.mark.slow(because="2.5 s; every recorded mutant dies without it")
def test_nothing_is_computed_twice(here: Path, computed: list[str]):
    first = study(here)
    assert computed == ["attack", "sweep", "check"]
    before = files(here / "study-results")
    again = study(here)
    assert computed == ["attack", "sweep", "check"]
    assert files(here / "study-results") == before
    assert_frame_equal(again.frame, first.frame)
    assert again.notes == first.notes
    assert set(again.details["entries"]["state"]) == {"unchanged"}
    for name, result in first.results.items():
        same = again.results[name]
        assert type(same) is type(result)
        assert_frame_equal(same.frame, result.frame)
        assert same.notes == result.notes
        assert dict(same.origin.spec) == json.loads(json.dumps(dict(result.origin.spec)))
        assert same.origin.sql == result.origin.sql
        assert same.origin.paths == result.origin.paths
        for detail, table in getattr(result, "details", {}).items():
            assert_frame_equal(same.details[detail], table)


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ('model = ["crs", "cas"]', 'model = "crs"', ["attack"]),
        ('name = "subsets"', 'name = "subsets"\nsizes = 1', ["sweep"]),
        ("at_most = 5", "at_most = 6", ["check"]),
        ('secret = "illness"', 'secret = "cold=illness"', ["attack", "sweep", "check"]),
        ('path = "people.parquet"', 'path = "people.parquet"\nnull = "drop"',
         ["attack", "sweep", "check"]),
        ("", "\n[output]\nformats = ['md']\n", []),
        ("", "# a comment\n", []),
        ('name = "birth"', 'name = "another"', []),
        ('"later.csv"', '"people.parquet"', []),
        ('model = ["crs", "cas"]', 'model = "CRS,cas"', []),
        ("datasets.people", "datasets.persons", []),
        ("[datasets.people]", "seed = 7\n[datasets.people]", []),
    ],
)  # fmt: skip
def test_only_what_has_changed_is_computed(
    here: Path, computed: list[str], old: str, new: str, changed: list[str]
):
    study(here)
    computed.clear()
    if old == "datasets.people":
        text = ALL.replace(old, new).replace('"people"', '"persons"')
    else:
        text = ALL.replace(old, new, 1) if old else ALL + new
    study(here, text)
    assert computed == changed
    study(here)  # and back: what was is still there
    assert computed == changed


@pytest.mark.slow(because="2.1 s; every recorded mutant dies without it")
def test_other_contents_are_noticed_and_only_those(here: Path, computed: list[str]):
    text = DATASETS + ATTACK + ATTACK.replace("birth", "next").replace('"people"', '"later"')
    text = text.replace('name = "next"', 'name = "next"\nqids = "age"\nsecret = "occupation"')
    study(here, text)
    computed.clear()
    frame = pl.read_parquet("people.parquet")
    os.utime("people.parquet")
    study(here, text)
    assert computed == []  # another time, the same contents
    frame.with_columns(age=pl.lit(1)).write_parquet("people.parquet")
    changed = study(here, text)
    assert computed == ["attack"]
    assert changed.frame["blocks"].to_list()[0] < 10
    frame.write_parquet("people.parquet")
    study(here, text)
    assert computed == ["attack"]


@pytest.mark.slow(because="digests of files are tested by themselves")
@pytest.mark.parametrize("name", ["worth.csv", "belief.csv", "all.csv", "policy.toml"])
def test_other_contents_of_small_files_are_noticed(here: Path, computed: list[str], name: str):
    contents = {
        "worth.csv": ("value,worth\nyes,3\nno,1\n", "value,worth\nyes,4\nno,1\n"),
        "belief.csv": ("value,probability\nyes,.2\nno,.8\n", "value,probability\nyes,.3\nno,.7\n"),
        "all.csv": ("age\n" + "25\n49\n60\n" * 9, "age\n" + "25\n49\n60\n" * 10),
        "policy.toml": ('[[rule]]\nmodel="crs"\nmeasure="blocks"\nat_most=1\n',
                        '[[rule]]\nmodel="crs"\nmeasure="blocks"\nat_most=99\n'),
    }  # fmt: skip
    for file, (first, _) in contents.items():
        (here / file).write_text(first)
    text = DATASETS + "".join(
        f'[[attack]]\nname = "{option}"\nmodel = "{model}"\ndataset = "people"\nqids = "age"\n'
        f'{option} = "{value}"\n'
        for option, model, value in [
            ("gain", "cas", "worth:worth.csv"),
            ("prior", "cas", "belief.csv"),
            ("population", "crs", "all.csv"),
        ]
    )
    pl.read_parquet("people.parquet").cast({"age": pl.Int64}).write_csv("people.csv")
    text = text.replace("people.parquet", "people.csv")
    text += '[[check]]\nname = "levels"\ndataset = "people"\npolicy = "policy.toml"\n'
    study(here, text)
    assert len(computed) == 4
    computed.clear()
    (here / name).write_text(contents[name][1])
    study(here, text)
    assert computed == (["check"] if name == "policy.toml" else ["attack"])
    study(here, text)
    assert len(computed) == 1


@pytest.mark.slow(because="0.9 s; every recorded mutant dies without it")
def test_a_new_version_of_qifsql_computes_anew(
    here: Path, computed: list[str], monkeypatch: pytest.MonkeyPatch
):
    study(here, DATASETS + ATTACK)
    monkeypatch.setattr("qifsql.commands.run.cache.__version__", "99")
    study(here, DATASETS + ATTACK)
    assert computed == ["attack", "attack"]


@pytest.mark.slow(because="2.2 s; every recorded mutant dies without it")
def test_results_may_be_moved_together_with_their_study(
    here: Path, computed: list[str], tmp_path_factory: pytest.TempPathFactory
):
    study(here)
    computed.clear()
    there = tmp_path_factory.mktemp("moved") / "all"
    here.rename(there)
    here.mkdir()
    qifsql.run(there / "study.toml")
    assert computed == []


@pytest.mark.slow(because="1.2 s; every recorded mutant dies without it")
def test_entries_that_ask_the_same_are_computed_once(here: Path, computed: list[str]):
    result = study(here, DATASETS + ATTACK + ATTACK.replace("birth", "again"))
    assert computed == ["attack"]
    assert result.frame.height == 4
    assert (here / "study-results" / "again.csv").exists()


@pytest.mark.slow(because="0.9 s; every recorded mutant dies without it")
@pytest.mark.parametrize(
    "damage", ["record.json", "results.parquet", "record.json.manifest.json", "digests.json"]
)
@pytest.mark.parametrize("how", ["gone", "cut", "other"])
def test_what_is_damaged_is_computed_again(here: Path, computed: list[str], damage: str, how: str):
    study(here, DATASETS + ATTACK)
    (file,) = (here / "study-results" / "kept").glob(f"*/{damage}")
    if how == "gone":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:50] if how == "cut" else b"[]")
    result = study(here, DATASETS + ATTACK)
    assert computed == ["attack", "attack"]
    assert result.details["entries"]["state"].to_list() == ["done"]
    study(here, DATASETS + ATTACK)
    assert len(computed) == 2


@pytest.mark.slow(because="1.5 s; every recorded mutant dies without it")
def test_no_flipped_bit_of_a_kept_result_is_copied_out(here: Path, computed: list[str]):
    asked, random = DATASETS + ATTACK + "histogram = true\n", Random(13)
    expected = untimed(study(here, asked).frame)
    files = [p for p in (here / "study-results" / "kept").rglob("*.*") if p.is_file()]
    files = [p for p in files if p.name not in {"written.json"}]
    assert len(files) >= 5
    for number, file in enumerate(sorted(files), 1):
        damaged = bytearray(file.read_bytes())
        damaged[random.randrange(len(damaged))] ^= 1 << random.randrange(8)
        file.write_bytes(damaged)
        (here / "study-results" / "birth.csv").unlink()
        lines: list[str] = []
        again = study(here, asked, told=lines.append)
        assert len(computed) == number + 1, file
        assert "damaged" in "".join(lines), file
        assert_frame_equal(untimed(again.frame), expected)


@pytest.mark.slow(because="0.9 s; every recorded mutant dies without it")
def test_data_that_change_while_they_are_read_are_read_again(
    here: Path, computed: list[str], monkeypatch: pytest.MonkeyPatch
):
    real = running.attack.attack

    def late(*arguments: Any, **options: Any) -> Any:
        found = real(*arguments, **options)
        frame = pl.read_parquet("people.parquet")
        frame.with_columns(age=pl.lit(1)).write_parquet("people.parquet")
        return found

    before = (here / "people.parquet").read_bytes()
    monkeypatch.setattr(running.attack, "attack", late)
    study(here, DATASETS + ATTACK)
    monkeypatch.setattr(running.attack, "attack", real)
    (here / "people.parquet").write_bytes(before)
    result = study(here, DATASETS + ATTACK)
    assert result.details["entries"]["state"].to_list() == ["done"]


# Outputs


@pytest.mark.slow(because="1.5 s; every recorded mutant dies without it")
def test_every_format_is_what_the_command_of_the_same_name_writes(here: Path):
    formats = '[output]\nfolder = "out"\nformats = ["parquet", "csv", "json", "md", "html"]\n'
    study(here, formats + DATASETS + ATTACK + "histogram = true\n")
    arguments = ("people.parquet", "-q", ",".join(QIDS), "-s", "illness", "--key", "id")
    for kind in ("parquet", "csv", "json", "md", "html"):
        command("attack", "crs,cas", *arguments, "--histogram", "-o", here / f"birth.{kind}")
    names = {p.name for p in here.glob("birth*")}
    assert names == {p.name for p in (here / "out").glob("birth*")}
    assert_frame_equal(untimed(pl.read_csv("out/birth.csv")), untimed(pl.read_csv("birth.csv")))
    assert_frame_equal(
        pl.read_parquet("out/birth.histogram.parquet", columns=["bin", "individuals"]),
        pl.read_parquet("birth.histogram.parquet", columns=["bin", "individuals"]),
    )
    own, alone = (json.loads(Path(p).read_text()) for p in ("out/birth.json", "birth.json"))
    assert own["spec"] == alone["spec"]
    pages = (Path(p).read_text() for p in ("out/birth.html", "birth.html"))
    own_page, page = (re.sub(r"results of [-+:\dT]+\.", "", text) for text in pages)
    assert own_page.replace("birth: people", "qifsql: people") == page
    manifest = json.loads(Path("out/birth.csv.manifest.json").read_text())
    assert len(manifest["inputs"][0]["sha256"]) == 64
    assert "GROUP BY" in manifest["sql"]


@pytest.mark.slow(because="0.7 s; every recorded mutant dies without it")
def test_manifests_of_results_from_before_are_the_same(here: Path):
    study(here, DATASETS + ATTACK)
    first = json.loads((here / "study-results/birth.csv.manifest.json").read_text())
    for file in (here / "study-results").glob("birth*"):
        file.unlink()
    study(here, DATASETS + ATTACK)
    assert json.loads((here / "study-results/birth.csv.manifest.json").read_text()) == first


@pytest.mark.slow(because="2.1 s; every recorded mutant dies without it")
def test_files_that_are_gone_or_changed_are_written_again(here: Path, computed: list[str]):
    study(here)
    before = files(here / "study-results")
    (here / "study-results" / "birth.csv").unlink()
    (here / "study-results" / "subsets.best.csv").write_text("changed")
    study(here)
    assert files(here / "study-results") == before
    assert computed == ["attack", "sweep", "check"]


@pytest.mark.slow(because="1.0 s; every recorded mutant dies without it")
def test_files_of_an_earlier_result_do_not_stay_beside_the_new_one(here: Path):
    study(here, DATASETS + ATTACK + "histogram = true\n")
    folder = here / "study-results"
    assert (folder / "birth.histogram.csv").exists()
    mine = folder / "birth.notes.csv"
    mine.write_text("my own")
    (folder / "birth.histogram.parquet").write_text("changed by hand")
    study(here, "[output]\nformats = ['csv']\n" + DATASETS + ATTACK)
    assert {p.name for p in folder.glob("birth*")} == {
        "birth.csv", "birth.csv.manifest.json", "birth.notes.csv", "birth.histogram.parquet",
    }  # fmt: skip
    assert mine.read_text() == "my own"


@pytest.mark.slow(because="2.7 s; every recorded mutant dies without it")
def test_entries_that_are_gone_are_left_alone_and_told(here: Path):
    study(here)
    before = files(here / "study-results")
    result = study(here, DATASETS + SWEEP)
    told = "\n".join(result.notes)
    assert 'no longer in the study, but with files in study-results: "birth", "levels"' in told
    assert "2 results of before that this study does not use stay in" in told
    after = files(here / "study-results")
    assert {n: c for n, c in before.items() if "study." not in n and n in after} == {
        n: c for n, c in before.items() if "study." not in n
    }


@pytest.mark.slow(because="6.2 s; every recorded mutant dies without it")
def test_a_damaged_list_of_files_is_no_trouble(here: Path):
    study(here)
    before = files(here / "study-results")
    list_ = here / "study-results" / "kept" / "written.json"
    for text in ("", "[1]", '{"birth": {"digest": 1}}', '{"birth": {"digest": "x", "formats": [], '
                 '"files": {"../people.parquet": "y"}}}'):  # fmt: skip
        list_.write_text(text)
        study(here)
        assert files(here / "study-results").keys() == before.keys()
    assert (here / "people.parquet").exists()


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_names_of_lists_never_lead_out_of_the_folder(here: Path):
    folder = here / "study-results"
    (folder / "kept").mkdir(parents=True)
    sha = qifsql.results.storage.digests(["people.parquet"])[0]["sha256"]
    known = {"birth": {"digest": "x", "formats": [], "files": {"../people.parquet": sha}}}
    (folder / "kept" / "written.json").write_text(json.dumps(known))
    assert Outputs(folder, ("csv",)).records["birth"]["files"] == {"people.parquet": sha}
    study(here, DATASETS + ATTACK)
    assert (here / "people.parquet").exists()


@pytest.mark.slow(because="2.8 s; every recorded mutant dies without it")
def test_the_order_of_entries_is_that_of_the_file(here: Path):
    text = DATASETS + CHECK + SWEEP + ATTACK + SWEEP.replace("subsets", "more")
    result = study(here, text)
    assert list(result.results) == ["levels", "subsets", "birth", "more"]


# Sweeps that do not end


@pytest.mark.slow(because="2.5 s; every recorded mutant dies without it")
def test_a_sweep_whose_time_is_over_goes_on(here: Path, computed: list[str]):
    text = f'[datasets.census]\npath = "{CENSUS.as_posix()}"\n[[sweep]]\nname = "long"\n'
    text += 'qids = ["NU_DIA", "NU_MES", "NU_ANO", "TP_SEXO", "CO_ENTIDADE", "CO_MUNICIPIO_END"]\n'
    path = written(here, text + "time_budget = 0.0001\n")
    states = []
    for budget in ("0.0001", "600", "600"):
        path.write_text(f"{text}time_budget = {budget}\n")
        try:
            states += qifsql.run(path).details["entries"]["state"].to_list()
        except InputError:  # not even one subset was complete
            states.append("incomplete")
    assert states == ["incomplete", "done", "unchanged"]
    assert not list((here / "study-results" / "kept").glob("*.sweep*"))


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_unfinished_sweeps_of_before_are_told(here: Path):
    (here / "study-results" / "kept").mkdir(parents=True)
    (here / "study-results" / "kept" / "abc.sweep").write_bytes(b"")
    result = study(here, DATASETS + ATTACK)
    assert any("an unfinished sweep of before stays in" in note for note in result.notes)


# Ends of all kinds


LONG = """
[datasets.census]
path = "census.parquet"
qids = ["NU_DIA", "NU_MES", "NU_ANO", "TP_SEXO", "CO_ENTIDADE", "CO_MUNICIPIO_END"]
secret = ["IN_TRANSPORTE_PUBLICO", "TP_COR_RACA"]

[[attack]]
name = "first"
model = ["crs", "cas"]

[[sweep]]
name = "long"

[[attack]]
name = "last"
model = "crs"
qids = "NU_DIA"
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of a few seconds that ran to its end."""
    folder = tmp_path_factory.mktemp("whole")
    census = pl.read_parquet(CENSUS)
    times = range(8)
    many = pl.concat(census.with_columns(NU_ANO=pl.col("NU_ANO") + 200 * i) for i in times)
    many.write_parquet(folder / "census.parquet")
    qifsql.run(written(folder, LONG))
    return folder


@pytest.mark.slow(because="16.0 s; every recorded mutant dies without it")
@pytest.mark.parametrize(
    ("sent", "there", "seconds"),
    [
        (signal.SIGKILL, "study-results/kept/lock", 0),
        (signal.SIGKILL, "study-results/kept/*/record.json", 0),
        (signal.SIGINT, "study-results/kept/*.sweep", 0.2),
        (signal.SIGTERM, "study-results/kept/lock", 0),
    ],
)
def test_a_run_that_is_killed_goes_on_and_gives_the_same(
    here: Path, whole: Path, sent: int, there: str, seconds: float
):
    (here / "census.parquet").hardlink_to(whole / "census.parquet")
    path = written(here, LONG)
    process = subprocess.Popen(
        [sys.executable, "-m", "qifsql", "run", str(path), "--format", "csv"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + PATIENCE
    while not list(here.glob(there)) and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(seconds)
    process.send_signal(sent)
    output, errors = process.communicate(timeout=PATIENCE)
    assert output == ""
    assert process.returncode == (-9 if sent == signal.SIGKILL else 130)
    if sent != signal.SIGKILL:
        assert re.match(r"error: interrupted; [01] of 3 are done", errors.splitlines()[-1])
    results = here / "study-results"
    for file in [*results.glob("*.parquet"), *results.glob("kept/*/results.parquet")]:
        pl.read_parquet(file)  # whatever is there is whole
    again = qifsql.run(path)
    assert not list(results.rglob("*.sweep"))
    for file in sorted((whole / "study-results").glob("*.parquet")):
        if "plan" not in file.name and "entries" not in file.name:
            same = pl.read_parquet(results / file.name)
            assert_frame_equal(untimed(same), untimed(pl.read_parquet(file)))
    assert again.details["entries"]["name"].to_list() == ["first", "long", "last"]


KILLED = """
import os, signal, sys
import qifsql

def progress(what, share, detail=""):
    if what == "sweeping" and share >= float(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

qifsql.run(sys.argv[1], settings=qifsql.Settings(progress=progress, threads=2))
"""


@pytest.mark.slow(because="a sweep that is killed goes on in test_sweep_workspace.py")
def test_a_sweep_that_is_killed_goes_on_from_where_it_was(here: Path, whole: Path):
    (here / "census.parquet").hardlink_to(whole / "census.parquet")
    path = written(here, LONG)
    done = []
    for share in (0.1, 0.3):
        process = subprocess.run(
            [sys.executable, "-c", KILLED, str(path), str(share)], check=False, capture_output=True
        )
        assert process.returncode == -signal.SIGKILL, process.stderr
        (workspace,) = here.glob("study-results/kept/*.sweep")
        with duckdb.connect(str(workspace)) as connection:
            done += [n for (n,) in connection.execute("SELECT count(*) FROM done").fetchall()]
    assert 0 < done[0] <= done[1]
    told: list[str] = []
    found = qifsql.run(path, told=told.append).results["long"]
    assert told[0] == "1 of 3, attack first: unchanged"
    same = pl.read_parquet(whole / "study-results" / "long.parquet")
    assert_frame_equal(untimed(found.frame), untimed(same))
    assert not list(here.rglob("*.sweep"))


@pytest.mark.slow(because="2.2 s; every recorded mutant dies without it")
def test_what_was_done_before_an_interruption_stays(
    here: Path, computed: list[str], monkeypatch: pytest.MonkeyPatch
):
    def interrupted(*_arguments: Any, **_options: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(running.sweep, "sweep", interrupted)
        with pytest.raises(Interrupted, match=r"^interrupted; 1 of 3 are done and kept in .*kept"):
            study(here)
    study(here)
    assert computed == ["attack", "sweep", "check"]


def test_an_error_of_the_machine_says_which_entry(here: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*_arguments: Any, **_options: Any) -> None:
        raise EngineError("the disk is full", detail="words of the engine")

    monkeypatch.setattr(running.sweep, "sweep", full)
    with pytest.raises(EngineError, match=r"study.toml, line 16: sweep .subsets.: the disk") as e:
        study(here)
    assert e.value.detail == "words of the engine"
    assert (here / "study-results" / "birth.csv").exists()


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_two_runs_at_once_are_refused(here: Path, monkeypatch: pytest.MonkeyPatch):
    real = running.attack.attack

    def meanwhile(*arguments: Any, **options: Any) -> Any:
        with pytest.raises(OutputError, match="another run has the results in study-results"):
            qifsql.run("study.toml")
        return real(*arguments, **options)

    monkeypatch.setattr(running.attack, "attack", meanwhile)
    study(here, DATASETS + ATTACK)


@pytest.mark.slow(because="0.7 s; every recorded mutant dies without it")
def test_what_a_killed_run_was_writing_goes(here: Path):
    study(here, DATASETS + ATTACK)
    (kept,) = (here / "study-results" / "kept").glob("*/")
    (kept / ".qifsql-x.parquet").write_text("half")
    study(here, DATASETS + ATTACK)
    assert not (kept / ".qifsql-x.parquet").exists()


def test_a_folder_that_cannot_be_written_is_told(here: Path):
    (here / "study-results").mkdir(mode=0o500)
    if os.access(here / "study-results", os.W_OK):
        pytest.skip("this user may write everywhere")
    with pytest.raises(OutputError, match="cannot be a folder for results"):
        study(here)


# The command line


def rows(text: str) -> Iterator[list[dict[str, str]]]:
    """The tables of a CSV text, each after an empty line."""
    for part in text.split("\n\n"):
        yield list(csv.DictReader(io.StringIO(part)))


@pytest.mark.slow(because="2.6 s; every recorded mutant dies without it")
def test_the_command_prints_all_attacks_sweeps_and_checks(here: Path):
    path = written(here, ALL)
    done = command("run", path)
    attacks, sweeps, checks = rows(done.out)
    assert [(r["name"], r["model"]) for r in attacks] == [("birth", "CRS"), ("birth", "CAS")]
    assert {r["name"] for r in sweeps} == {"subsets"}
    assert [r["met"] for r in checks] == ["true"]
    assert done.code == 0
    assert "note: 1 of 3, attack birth\n" in done.err
    assert "note: levels: met: all of 1 level\n" in done.err
    again = command("run", path)
    assert again.out == done.out
    assert "note: 1 of 3, attack birth: unchanged\n" in again.err
    assert command("run", path, "--quiet").err == ""


@pytest.mark.slow(because="2.1 s; every recorded mutant dies without it")
def test_json_of_the_command_is_all_there_is(here: Path):
    found = json.loads(command("run", written(here, ALL), "-f", "json").out)
    assert found["spec"]["study"] == "study.toml"
    assert len(found["results"]) == 2
    assert [e["state"] for e in found["entries"]] == ["done"] * 3
    assert found["checks"][0]["value"] == 4


@pytest.mark.slow(because="2.5 s; every recorded mutant dies without it")
def test_the_table_of_the_command_says_what_became_of_each(here: Path):
    out = command("run", written(here, ALL), "-f", "table").out
    for word in ("Attacks", "whose record it is", "Sweeps: the best subset", "Checks", "done"):
        assert word in out
    assert "\x1b" not in out


@pytest.mark.slow(because="2.9 s; every recorded mutant dies without it")
def test_a_level_that_is_not_met_ends_with_4(here: Path):
    path = written(here, ALL.replace("at_most = 5", "at_most = 0"))
    for _ in range(2):
        done = command("run", path)
        assert done.code == 4
        assert "note: levels: not met: 1 of 1 level" in done.err
    assert not qifsql.run(path).met


@pytest.mark.slow(because="3.0 s; every recorded mutant dies without it")
def test_a_dry_run_writes_and_runs_nothing(here: Path, computed: list[str]):
    path = written(here, ALL)
    done = command("run", path, "--dry-run", "-f", "json")
    assert [e["state"] for e in json.loads(done.out)["entries"]] == ["to do"] * 3
    assert (done.code, computed) == (0, [])
    assert not (here / "study-results").exists()
    qifsql.run(path)
    planned = qifsql.run(path, dry_run=True)
    assert planned.details["entries"]["state"].to_list() == ["unchanged"] * 3
    assert planned.frame.height == 2


@pytest.mark.slow(because="3.0 s; every recorded mutant dies without it")
def test_all_together_goes_to_a_file_too(here: Path):
    path = written(here, ALL)
    done = command("run", path, "-o", "all.parquet")
    assert done.out == ""
    assert_frame_equal(pl.read_parquet("all.parquet"), qifsql.run(path).frame)
    assert pl.read_parquet("all.checks.parquet").height == 1
    refused = command("run", path, "-o", "people.parquet")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "people.parquet is the input" in refused.err


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_limits_are_handed_on(here: Path):
    path = written(here, DATASETS + ATTACK)
    done = command("run", path, "--memory", "lots")
    assert done.code == 2
    assert "memory=lots cannot be used" in done.err
    assert not (here / "study-results").exists()
    temp = here / "temp"
    temp.mkdir()
    assert command("run", path, "--temp", temp, "--threads", "1", "--seed", "3").code == 0
    assert list(temp.iterdir()) == []
    assert json.loads((here / "study-results/birth.csv.manifest.json").read_text())["seed"] == 3


@pytest.mark.slow(because="8.7 s; every recorded mutant dies without it")
def test_a_seed_of_the_study_matters_where_something_is_drawn(here: Path, computed: list[str]):
    text = f'[datasets.census]\npath = "{CENSUS.as_posix()}"\nqids = ["CO_ENTIDADE", "NU_DIA"]\n'
    text += '[[sweep]]\nname = "some"\nsample = 0.5\n[[sweep]]\nname = "whole"\n'
    study(here, "seed = 1\n" + text)
    study(here, "seed = 1\n" + text)
    assert computed == ["sweep", "sweep"]
    found = study(here, "seed = 2\n" + text)
    assert computed == ["sweep", "sweep", "sweep"]
    assert found.results["some"].origin.seed == 2
    alone = qifsql.sweep(
        CENSUS, qids=["CO_ENTIDADE", "NU_DIA"], sample=0.5, settings=qifsql.Settings(seed=2)
    )
    assert_frame_equal(untimed(found.results["some"].frame), untimed(alone.frame))


# Releases without a person key

LINKED = """
[[attack]]
name = "unkeyed"
model = ["crl", "cal"]
dataset = ["people", "later"]
qids = ["age", "occupation"]
link = ["age:+1", "occupation:table=law;s.csv"]
presence = 0.9
truth = ["id"]
"""


def _law(folder: Path, stays: str) -> None:
    """A law of transitions of occupations: so many stay, the others take the next."""
    lines = [f"{a},{a},{stays}" for a in range(1, 6)]
    lines += [f"{a},{a % 5 + 1},{1 - float(stays)}" for a in range(1, 6)]
    (folder / "law;s.csv").write_text("\n".join(["from,to,probability", *lines]), "utf-8")


@pytest.mark.slow(because="3.6 s; every recorded mutant dies without it")
def test_a_study_links_releases_without_a_key(here: Path, computed: list[str]):
    text = DATASETS + LINKED.replace("table=law;s.csv", 'table=\\"law;s.csv\\"')
    _law(here, "0.75")
    alone = qifsql.attack(
        ["crl", "cal"], ["people.parquet", "later.csv"],
        qids=["age", "occupation"], secret="illness",
        link='age:+1; occupation:table="law;s.csv"', presence=0.9, truth="id",
    )  # fmt: skip
    computed.clear()
    result = study(here, text).results["unkeyed"]
    assert_frame_equal(untimed(result.frame), untimed(alone.frame))
    assert set(result.frame["knowledge"]) == {"focal alone", "linked", "with the key"}
    assert result.origin.spec["link"] == ["age:+1", 'occupation:table="law;s.csv"']
    assert computed == ["attack"]
    assert study(here, text).results["unkeyed"].frame.equals(result.frame)
    assert computed == ["attack"]  # kept
    _law(here, "0.5")
    study(here, text)
    assert computed == ["attack", "attack"]  # the table of transitions changed


NOISY = """
[[attack]]
name = "noisy"
model = ["crs", "cas"]
dataset = "people"
qids = ["age", "occupation"]
secret = ["illness"]
knows = ["age:+-2", "occupation:table=labels.csv"]
"""


def test_a_study_has_noisy_knowledge(here: Path, computed: list[str]):
    lines = "value,known as,probability\n1,1,0.5\n1,2,0.5\n"
    (here / "labels.csv").write_text(lines, "utf-8")
    knows = "age:+-2; occupation:table=labels.csv"
    alone = qifsql.attack(
        ["crs", "cas"], "people.parquet", qids=["age", "occupation"], secret="illness", knows=knows
    )
    computed.clear()
    result = study(here, DATASETS + NOISY).results["noisy"]
    assert_frame_equal(untimed(result.frame), untimed(alone.frame))
    assert set(result.frame["knows"]) == {"exact", knows}
    study(here, DATASETS + NOISY)
    assert computed == ["attack"]  # kept
    (here / "labels.csv").write_text(lines.replace("0.5", "0.25") + "1,3,0.5\n", "utf-8")
    study(here, DATASETS + NOISY)
    assert computed == ["attack", "attack"]  # the table changed
    with pytest.raises(InputError, match='"agee", which is not a quasi-identifier'):
        study(here, DATASETS + NOISY.replace("age:+-2", "agee:+-2"))
    laws = 'knows = ["age:+-2", "occupation:table=labels.csv"]'
    with pytest.raises(InputError, match="knows"):
        study(here, DATASETS + NOISY.replace(laws, "draws = 5"))


@pytest.mark.slow(because="4.2 s; every recorded mutant dies without it")
def test_a_study_lets_people_compete_for_records(here: Path):
    """Links one to one; they change the numbers, and so are kept apart from links one by one."""
    text = DATASETS + LINKED.replace('"age:+1", "occupation:table=law;s.csv"', '"occupation"')
    text = text.replace("presence = 0.9", "presence = 0.5")
    alone = study(here, text).results["unkeyed"].frame
    one = study(here, text.replace("truth", "one_to_one = true\ntruth")).results["unkeyed"].frame
    linked = [f.filter(pl.col("knowledge") == "linked") for f in (alone, one)]
    assert [f["one_to_one"].to_list() for f in linked] == [[False, False], [True, True]]
    assert linked[0]["link_vulnerability"][0] != linked[1]["link_vulnerability"][0]


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("presence = 0.9", "one_to_one = 1", 17, "true or false"),
        ("occupation:table=law;s.csv", "nowhere:+1", 16, 'column "nowhere"'),
        ("occupation:table=law;s.csv", "age:+", 16, "not understood"),
        ("occupation:table=law;s.csv", "age:table=gone.csv", 16, "gone.csv"),
        ("presence = 0.9", "presence = 1.5", 17, "a number from 0 to 1"),
        ("presence = 0.9", "presence = 0.9\nhistogram = true", 18, "does not take histogram"),
        ('["age:+1", "occupation:table=law;s.csv"]', "[]", 17, "presence is about links"),
        ('"crl", "cal"', '"crs"', 16, "link rules are for the models"),
    ],
)
def test_what_is_wrong_with_links_is_said_before_anything_runs(  # noqa: PLR0917 - a table
    here: Path, computed: list[str], old: str, new: str, line: int, words: str
):
    text = LINKED.replace(old, new).replace("occupation:table=law;s.csv", "occupation")
    written(here, DATASETS + text)
    done = command("run", "study.toml")
    assert done.code == 2
    assert f"study.toml, line {line}: " in done.err
    assert words in done.err
    assert not computed


# A folder that came from elsewhere


@pytest.mark.parametrize(
    "place", ["lock", "written.json", "", "..", "x/record.json", "../birth.csv"]
)
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_no_link_and_no_pipe_of_a_folder_is_followed(here: Path, place: str, kind: str) -> None:
    precious = here / "precious"
    precious.write_text("stays")
    (here / "elsewhere").mkdir()
    path = here / "study-results" / "kept" / place
    is_folder = place in ("", "..")
    path = Path(os.path.normpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "link":
        path.symlink_to(here / "elsewhere" if is_folder else precious)
    else:
        os.mkfifo(path)
    (here / "study.toml").write_text(DATASETS + ATTACK)
    for more in ((), ("--dry-run",)):
        done = command("run", here / "study.toml", *more)
        assert done.code == 2, done.err
        assert len(done.err.splitlines()) == 1
    assert precious.read_text() == "stays"
    assert list((here / "elsewhere").iterdir()) == []


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    "name", ["birth.histogram.csv", "birth.csv.manifest.json", "report.html.manifest.json"]
)
def test_what_a_link_leads_to_is_not_even_read(here: Path, name: str) -> None:
    """Reading moves the time of access, where that is behind the time of the last change."""
    text = '[output]\nformats = ["csv"]\n' + DATASETS + ATTACK + "histogram = true\n"
    (here / "study.toml").write_text(text)
    assert command("run", here / "study.toml").code == 0
    path = here / "study-results" / name
    path.rename(here / "equal.csv")
    path.symlink_to(here / "equal.csv")
    before = path.read_bytes()
    os.utime(path, ns=(0, path.stat().st_mtime_ns))
    for more in ((), ("--fresh",)):
        done = command("run", here / "study.toml", *more)
        assert done.code == 2
        assert "is a link" in done.err
    assert path.stat().st_atime_ns == 0
    assert (here / "equal.csv").read_bytes() == before


def test_only_results_and_new_files_are_written(here: Path) -> None:
    (here / "birth.csv").write_text("mine")
    text = '[output]\nfolder = "."\nformats = ["csv"]\n' + DATASETS + ATTACK
    (here / "study.toml").write_text(text)
    for more in ((), ("--dry-run",)):
        done = command("run", here / "study.toml", *more)
        assert (done.code, done.out) == (2, "")
        assert "birth.csv is there and is no result" in done.err
    assert (here / "birth.csv").read_text() == "mine"


def test_a_folder_elsewhere_is_asked_for_on_the_command_line(
    here: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    (here / "study.toml").write_text(f'[output]\nfolder = "{other}"\n' + DATASETS + ATTACK)
    done = command("run", here / "study.toml")
    assert done.code == 2
    assert "not in its own folder" in done.err
    assert list(other.iterdir()) == []
    assert command("run", here / "study.toml", "--folder", other / "results").code == 0
    assert (other / "results" / "birth.csv").exists()


def test_what_another_user_has_kept_is_computed_again(
    here: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The maker of the folder can write any number with its digest, but not seal it."""
    study(here, DATASETS + ATTACK)
    (table,) = (here / "study-results" / "kept").glob("*/results.parquet")
    right = pl.read_parquet(table)
    sealed = json.loads((table.parent / "digests.json").read_text())
    pl.read_parquet(table).with_columns(
        pl.lit(0).cast(pl.Int64).alias("singled_out")
    ).write_parquet(table)
    sha = qifsql.results.storage.digests([str(table)])[0]["sha256"]
    sealed["files"]["results.parquet"] = sha
    (table.parent / "digests.json").write_text(json.dumps(sealed))
    again = study(here, DATASETS + ATTACK)
    assert again.frame["singled_out"].to_list() == right["singled_out"].to_list()
    assert again.details["entries"]["state"].to_list() == ["done"]
    assert study(here, DATASETS + ATTACK).details["entries"]["state"].to_list() == ["unchanged"]
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
    assert study(here, DATASETS + ATTACK).details["entries"]["state"].to_list() == ["done"]
    fresh = qifsql.run(here / "study.toml", fresh=True)
    assert fresh.details["entries"]["state"].to_list() == ["done"]
