"""Reports: made of stored results alone, the same in every form, with nothing of a person."""

import csv
import html
import io
import json
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from unicodedata import category

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from terminal import run

import qifsql
from qifsql.commands.report import chapters, summary
from qifsql.commands.report.report import report
from qifsql.presentation import paper, words
from qifsql.presentation.parts import Box, Card, Cards, Light, Paragraph, Part, Table
from qifsql.results import exports
from qifsql.results.assessment import SCHEMA
from qifsql.results.result import Display, save
from qifsql.results.stored import Stored

pytestmark = pytest.mark.xdist_group("report")  # their fixtures take long

CELL = "zQxv"  # begins every value of a cell that nobody may see
WAGE = 918_273_000
QIDS, SECRETS = ["birth", "town", "wage"], ["illness", "debt"]
PEOPLE = 240

SCRIPT = "<script>alert(1)</script>"
IMAGE = "\"'><img src=x onerror=alert(2)>"
FORMULA = "=cmd()|' /C calc'!A0"
TURNED = "\u202eabc\u2066\u200f"  # the text after it would run from right to left
LONG = "n" * 5_000
LINES = "one\n\n# two\r\n| --- |\n```"
MARKUP = "**b** [a](http://x.test) ![i](x) `c` ~~s~~ &lt;i&gt; <http://y.test>"
HOSTILE = [SCRIPT, IMAGE, FORMULA, TURNED, LONG, LINES, MARKUP, "🙂 年齢"]
DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f]")

POLICY = """
[adversary]
qids = ["birth", "town"]
secret = ["illness"]
[[rule]]
model = "crs"
measure = "singled_out"
at_most = 5
by = "region"
[[rule]]
model = "cas"
measure = "worst_case"
at_most = 0.9
by = "town"
"""


KNOWN, WANTED = ("-q", ",".join(QIDS)), ("-s", ",".join(SECRETS))
SHOWN = ("--histogram", "--threshold", "0.5", "--threshold", "1")


# Data of people, whose values cannot be mistaken for anything else, and results about them.


def people(folder: Path) -> Path:
    """A release: 60 dates of birth, 5 towns, 12 wages; Tiny is a region of three people."""
    rows = range(PEOPLE)
    path = folder / "people.parquet"
    pl.DataFrame(
        {
            "person": [f"{CELL}key{i:04d}" for i in rows],
            "birth": [f"{CELL}birth{i * 7 % 60:02d}" for i in rows],
            "town": [f"{CELL}town{i * i % 7 % 5}" for i in rows],
            "wage": [WAGE + i % 11 for i in rows],
            "illness": [f"{CELL}flu" if i % 10 else f"{CELL}cold" for i in rows],
            "debt": [f"{CELL}debt{i * i % 13 % 3}" for i in rows],
            "region": ["Tiny" if i < 3 else ("North", "South")[i % 2] for i in rows],
        }
    ).write_parquet(path)
    return path


def made(*arguments: object) -> None:
    done = run(*arguments, *([] if arguments[0] == "report" else ["--quiet"]))
    assert done.code in (0, 4), done.err  # 4: a level is not met


def attack_by(group: str, data: Path, out: Path) -> None:
    """Store the result of an attack with all that is about everybody, by groups."""
    made("attack", "crs,cas", data, *KNOWN, *WANTED, *SHOWN, "--by", group, "-o", out)


def further(folder: Path, data: Path, own: Path) -> None:
    """Results of the other commands: releases treated, linked, hashed, counted with noise."""
    known = ("-q", "birth,town", "-s", "illness")
    one, two = folder / "one.parquet", folder / "two.parquet"
    generalised = ("--method", "mondrian", "--k", 3, "--summary", own / "generalised.parquet")
    made("anonymise", data, "-o", one, *generalised, *known)
    treated = ("--one-per", "town", "-q", "birth", "--summary", own / "treated.parquet")
    made("anonymise", data, "-o", folder / "treated.parquet", *treated)
    made("anonymise", data, "-o", two, "--method", "mondrian", "--k", 5, *known)
    made("levels", data, *known, "--k", 3, "--show-blocks", "-o", own / "grades.parquet")
    made("compare", data, one, two, *known, "-o", own / "compared.parquet")
    change = ("--change", "drop=town", "--change", "birth:12", "--until", "k >= 2")
    made("compare", data, *known, *change, "-o", own / "changes.parquet")
    made("compose", one, two, "--people", data, *known, "-o", own / "composed.parquet")
    made("link", data, data, "-q", "birth,town", "--truth", "person", "-o", own / "linked.parquet")
    log = folder / "log.parquet"
    hashed = pl.col("person").map_elements(lambda t: sha256(t.encode()).hexdigest(), pl.String)
    pl.read_parquet(data).with_columns(hash=hashed, log="region").write_parquet(log)
    tried = ("--column", "hash", "--hash", "sha256", "--pattern", CELL + "key[0-9]{4}")
    made("unhash", log, *tried, "-o", own / "hashes.parquet")
    made("unicity", log, "--person", "town", "-q", "birth,wage", "-o", own / "trails.parquet")
    sampled = ("-q", "birth,town", "--fraction", "0.1")
    made("estimate", data, *sampled, "-o", own / "sampled.parquet")
    made(
        "check",
        "--preset",
        "wp216",
        "--questions",
        log,
        *known,
        "--register",
        data,
        "--key",
        "town",
        "-o",
        own / "opinion.parquet",
    )
    asked = ("--useful", "wage", "--predicate", "wage % 2 = 0", "--secret", "illness")
    test = ("-q", "birth,town", "-s", "illness", "--k", "2,5")
    made("dit", data, *test, "-o", own / "inference.parquet")
    made("dp", data, *asked, "--epsilon", "1,2", "-o", own / "noise.parquet")
    links = ("--link", "birth", "--link", "town:stay=0.9", "--presence", 0.9, "--truth", "person")
    made("attack", "crl,cal", data, log, *known, *links, "-o", own / "unkeyed.parquet")


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of results of every kind; the data are gone when reports are made."""
    folder = tmp_path_factory.mktemp("secretfolder")
    data, own = people(folder), folder / "results"
    own.mkdir()
    policy = folder / "levels.toml"
    policy.write_text(POLICY)
    known, wanted, shown = KNOWN, WANTED, SHOWN
    for by in ("region", "town", "illness"):
        attack_by(by, data, own / f"by_{by}.parquet")
    target = ("--target", f"birth={CELL}birth07", "--target", f"town={CELL}town1")
    one = ("-s", "illness", "--key", "person")
    made("attack", "irs,ias", data, *target, *one, "-o", own / "one.parquet")
    work = ("--workspace", folder / "work.sweep")
    made("sweep", data, *known, *wanted, *shown[:3], *work, "-o", own / "sweep.parquet")
    made("describe", data, "-o", own / "columns.parquet")
    made("check", data, "--policy", policy, "-o", own / "levels.parquet")
    made("blocks", data, *known, *wanted, "-o", own / "blocks.parquet")
    made("hyper", data, "-q", "birth,town", "-s", "illness", "-o", own / "hyper.parquet")
    made("records", data, *known, *wanted, "-o", own / "records.parquet")
    made("receipt", data, *target, *one[:2], "-o", own / "receipt.parquet")
    made("compare", data, "-q", "birth,town", "--refines", "town", "-o", own / "refines.parquet")
    further(folder, data, own)
    data.unlink()
    return folder


@pytest.fixture(scope="module")
def shared_files(kinds: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The texts of the report that may be shared, in all forms, by the names of their files."""
    folder = tmp_path_factory.mktemp("shared")
    for ending in ("html", "md", "csv"):
        made("report", kinds / "results", "-o", folder / f"shared.{ending}")
    wanted = [p for p in folder.iterdir() if not p.name.endswith(".manifest.json")]
    return {p.name: p.read_text("utf-8") for p in wanted}


def stored(frame: pl.DataFrame, kind: str = "attack", **details: pl.DataFrame) -> Stored:
    """A result as if it had been read."""
    return Stored("result", kind, frame, details, {"spec": {"dataset": "people"}})


# Results in, the same report out, whatever the form.


@pytest.mark.slow(because="results of both kinds are read back in test_display.py")
def test_parquet_and_json_give_the_same_report(tmp_path: Path) -> None:
    data = people(tmp_path)
    attacked = qifsql.attack(
        *("crs,cas", data), qids=QIDS, secret=SECRETS, histogram=True, thresholds=[0.5], by="region"
    )
    swept = qifsql.sweep(data, qids=QIDS, secret=SECRETS, histogram=True, threshold=0.5)
    pages = {}
    for ending in ("parquet", "json"):
        folder = tmp_path / ending
        folder.mkdir()
        for name, result in {"risk": attacked, "sweep": swept}.items():
            shown = Display(result=result, title=name)
            save(shown, folder / f"{name}.{ending}")
        report([folder / f"{n}.{ending}" for n in ("risk", "sweep")], folder / "r.html")
        pages[ending] = (folder / "r.html").read_text("utf-8")
    assert pages["parquet"] == pages["json"]


@pytest.mark.slow(because="1.3 s; every recorded mutant dies without it")
def test_a_sweep_of_one_fact_has_no_pairs_in_any_form(tmp_path: Path) -> None:
    data = people(tmp_path)
    swept = qifsql.sweep(data, qids=QIDS[:1])
    assert swept.details["interactions"].is_empty()
    for ending in ("parquet", "json"):
        path = tmp_path / f"sweep.{ending}"
        shown = Display(result=swept, title="sweep")
        save(shown, path)
        report([path], tmp_path / f"{ending}.md")
        assert "What to do first" in (tmp_path / f"{ending}.md").read_text("utf-8")


def test_a_sweep_of_releases_whose_shares_are_undefined_is_told_in_any_form(tmp_path: Path) -> None:
    """If no release adds anything there is no share of the rise: its column is empty."""
    same = {"id": [1, 2], "age": [30, 30], "city": ["a", "a"]}
    for name in ("before", "after"):
        pl.DataFrame(same).write_parquet(tmp_path / f"{name}.parquet")
    both = [tmp_path / "before.parquet", tmp_path / "after.parquet"]
    swept = qifsql.sweep(both, key="id", qids=["age", "2:city"], releases=True)
    assert swept.details["releases"]["share"].null_count() == swept.details["releases"].height
    pages = {}
    for ending in ("parquet", "json"):
        path = tmp_path / f"sweep.{ending}"
        save(Display(result=swept, title="sweep"), path)
        report([path], tmp_path / f"{ending}.md")
        pages[ending] = (tmp_path / f"{ending}.md").read_text("utf-8")
    assert "share of the rise" in pages["json"]


@pytest.mark.slow(because="24 s; folders are read in test_report_of_study.py")
def test_a_folder_stands_for_the_results_in_it_each_once(kinds: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "notes.json").write_text("{}")
    pl.DataFrame({"a": [1]}).write_parquet(folder / "other.parquet")
    for path in (kinds / "results").glob("*.parquet"):
        if path.name.startswith(("by_region", "sweep")):
            shutil.copy(path, folder)
    report(folder, tmp_path / "folder.md")
    report([folder / "by_region.parquet", folder / "sweep.parquet"], tmp_path / "files.md")
    assert (tmp_path / "folder.md").read_bytes() == (tmp_path / "files.md").read_bytes()


@pytest.mark.slow(because="3.5 s; every recorded mutant dies without it")
def test_the_folder_of_a_study_is_a_folder_of_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people(tmp_path)
    monkeypatch.chdir(tmp_path)
    lines = ["[datasets.people]", 'path = "people.parquet"', 'qids = ["birth", "town"]']
    lines += ['secret = "illness"', "[[attack]]", 'name = "first"', 'model = ["crs", "cas"]']
    lines += ['dataset = "people"', "[[sweep]]", 'name = "subsets"', 'dataset = "people"']
    Path("study.toml").write_text("\n".join(lines))
    made("run", "study.toml")
    made("report", "study-results", "-o", "study.md")
    text = Path("study.md").read_text()
    for name in ("first", "subsets"):
        assert text.count(f"Settings: {name}\n") == 1


SOME_RESULTS = ("by_region", "sweep", "grades")


@pytest.mark.slow(because="25 s; results are compared over orders and threads")
@pytest.mark.parametrize("names", [SOME_RESULTS, ()], ids=["some", "all"])
@pytest.mark.parametrize("ending", ["md", "html", "csv"])
def test_a_report_made_twice_is_the_same(
    kinds: Path, tmp_path: Path, names: Sequence[str], ending: str
) -> None:
    files = [kinds / "results" / f"{name}.parquet" for name in names]
    texts = []
    for folder in (tmp_path / "once", tmp_path / "twice"):
        folder.mkdir()
        made("report", *files or [kinds / "results"], "-o", folder / f"shared.{ending}")
        made_files = [p for p in folder.iterdir() if not p.name.endswith(".manifest.json")]
        texts.append({p.name: p.read_text("utf-8") for p in made_files})
    assert texts[0] == texts[1]
    assert texts[0]


@pytest.mark.slow(because="0.5 s; every recorded mutant dies without it")
def test_results_of_one_name_are_all_in_the_tables(tmp_path: Path) -> None:
    data = people(tmp_path)
    for name, qids in {"a": "birth", "b": "town"}.items():
        (tmp_path / name).mkdir()
        made("attack", "crs", data, "-q", qids, "-o", tmp_path / name / "risk.parquet")
    done = run("report", tmp_path / "a/risk.parquet", tmp_path / "b", "-o", tmp_path / "out.csv")
    if done.code == 0:  # else it says that they have one name
        text = "".join(p.read_text() for p in tmp_path.glob("out.*.csv"))
        assert "birth" in text
        assert "town" in text
    else:
        assert (done.code, "risk" in done.err) == (2, True)


def test_a_report_beside_its_results_is_no_result(kinds: Path, tmp_path: Path) -> None:
    for path in (kinds / "results").glob("by_region*"):
        shutil.copy(path, tmp_path)
    made("report", tmp_path, "-o", tmp_path / "report.parquet")
    first = {p.name: p.read_bytes() for p in tmp_path.glob("report.*.parquet")}
    made("report", tmp_path, "-o", tmp_path / "report.parquet")
    assert {p.name for p in tmp_path.glob("report.*.parquet")} == set(first)
    made("report", tmp_path, "-o", tmp_path / "report.md")
    assert (tmp_path / "report.md").read_text().count("Settings:") == 1


def test_labels_are_shown_instead_of_the_names_of_columns(kinds: Path, tmp_path: Path) -> None:
    names = {"birth": "day of birth", "illness": "an illness", "region": "part of the country"}
    options = [f"--label={column}={name}" for column, name in names.items()]
    own = [kinds / "results" / f"{name}.parquet" for name in ("by_region", "sweep", "columns")]
    made("report", *own, *options, "-o", tmp_path / "out.md")
    text = re.split(r"## .*How it was measured", (tmp_path / "out.md").read_text())[0]
    for column, name in names.items():
        assert name in text
        lines = re.findall(rf"^.*\b(?<!day of ){column}\b.*$", text.replace("an illness", ""), re.M)
        assert lines == []


def test_names_of_people_lead_unless_a_result_is_about_them(tmp_path: Path) -> None:
    surnames = ("Silva", "Costa", "Dias", "Ramos", "Pinto", "Mota")
    names = [f"{first} da {last}" for first in ("Ana", "Rui") for last in surnames]
    frame = pl.DataFrame({"who": names, "ward": ["a", "b"] * 6})
    results = []
    for file, qids in (("a", "ward"), ("b", "ward"), ("a", "who")):
        frame.write_parquet(tmp_path / f"{file}.parquet")
        results.append(tmp_path / f"{file}_{qids}.json")
        made("attack", "crs", tmp_path / f"{file}.parquet", "-q", qids, "-o", results[-1])
    told = "who looks like names of people, with 12 values in 12 records."

    def summary(*stored: Path, label: str = "who=who") -> str:
        made("report", *stored, "--label", label, "-o", tmp_path / "out.md")
        return (tmp_path / "out.md").read_text().split("What to do first")[0]

    assert told in summary(results[0])
    assert "Re-identification, without person" in summary(results[0], label="who=person")
    of_both = summary(*results[:2])
    assert all(f"{file}.parquet: {told}" in of_both for file in "ab")
    assert "who looks like" not in summary(results[0], results[2])
    assert "without who" not in summary(results[0], results[2])


# What is refused.


@pytest.fixture(scope="module")
def risk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the result of one attack, whose data are gone."""
    folder = tmp_path_factory.mktemp("risk")
    data = people(folder)
    attack_by("region", data, folder / "risk.parquet")
    data.unlink()
    return folder


@pytest.fixture
def here(risk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a result, in which reports are asked for."""
    monkeypatch.chdir(tmp_path)
    for path in risk.glob("risk*"):
        shutil.copy(path, path.name)
    return tmp_path


def refused(here: Path, *arguments: object, says: str) -> None:
    """Exit code 2, one line that says this, and no file is left."""
    before = {p: p.read_bytes() for p in sorted(here.rglob("*")) if p.is_file()}
    done = run("report", *arguments)
    assert (done.code, done.out) == (2, ""), done.err
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1
    assert says in done.err
    assert {p: p.read_bytes() for p in sorted(here.rglob("*")) if p.is_file()} == before


@pytest.mark.slow(because="0.1 s each; every recorded mutant dies without it")
@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["-o", "out.docx"], "must end in one of .html, .pdf, .md, .csv, .parquet"),
        (["-o", "out.html", "--name-groups", "town"], 'no result has groups by "town"'),
        (["-o", "out.html", "--lang", "tlh"], "use one of en"),
        (["-o", "out.html", "--minimum", "0"], "minimum"),
        (["-o", "out.html", "--minimum", "-3"], "minimum"),
        (["-o", "out.html", "--label", "birth"], "--label"),
        (["-o", "out.html", "--label", "=birth"], "--label"),
        (["-o", "out.html", "--label", "birth="], "--label"),
        (["-o", "nowhere/out.html"], "no folder nowhere"),
        (["-o", "risk.parquet"], "is the input"),
    ],
)
def test_options_that_cannot_be_are_refused(here: Path, options: list[str], says: str) -> None:
    refused(here, "risk.parquet", *options, says=says)


def test_a_file_that_is_not_there(here: Path) -> None:
    refused(here, "no.parquet", "-o", "out.html", says="no.parquet does not exist")


@pytest.mark.parametrize("name", ["risk.csv", "risk.html", "risk"])
def test_a_file_that_is_no_stored_result(here: Path, name: str) -> None:
    Path(name).write_text("a,b\n1,2\n")
    refused(here, name, "-o", "out.html", says=f"{name} is not a result of qifsql")


def test_a_folder_without_results(here: Path) -> None:
    Path("empty").mkdir()
    refused(here, "empty", "-o", "out.html", says="folder empty has no results")
    pl.DataFrame({"a": [1]}).write_parquet("empty/other.parquet")
    Path("empty/other.json").write_text("[]")
    refused(here, "empty", "-o", "out.html", says="folder empty has no results")


def test_parquet_that_qifsql_did_not_write(here: Path) -> None:
    pl.DataFrame({"a": [1]}).write_parquet("other.parquet")
    refused(here, "other.parquet", "-o", "out.html", says="other.parquet is not a result")


@pytest.mark.parametrize("keep", [0, 4, 2_000])
def test_parquet_that_is_cut_off(here: Path, keep: int) -> None:
    Path("cut.parquet").write_bytes(Path("risk.parquet").read_bytes()[:keep])
    refused(here, "cut.parquet", "-o", "out.html", says="cut.parquet is not a result")


def test_json_without_its_manifest(here: Path) -> None:
    Path("risk.json").write_text('{"qifsql": "0.1.0", "spec": {}, "results": []}')
    refused(here, "risk.json", "-o", "out.html", says="risk.json is not a result")


@pytest.mark.parametrize(
    "text",
    ["", "[]", "3", "{", '{"results": 3}', '{"results": [3]}', "[" * 9000],
    ids=lambda text: text[:16],
)
def test_json_of_another_kind(here: Path, text: str) -> None:
    Path("risk.json").write_text(text)
    Path("risk.json.manifest.json").write_text('{"result": "attack", "spec": {}}')
    refused(here, "risk.json", "-o", "out.html", says="risk.json is not a result")


@pytest.mark.parametrize("note", ["[]", "{}", '{"result": "attack"}', "null"])
@pytest.mark.parametrize("kind", ["json", "parquet"])
def test_a_manifest_of_another_kind(here: Path, kind: str, note: str) -> None:
    frame = pl.read_parquet("risk.parquet")
    if kind == "parquet":
        frame.write_parquet("odd.parquet", metadata={"qifsql": note})
    else:
        Path("odd.json").write_text(json.dumps({"results": frame.to_dicts()}))
        Path("odd.json.manifest.json").write_text(note)
    refused(here, f"odd.{kind}", "-o", "out.html", says=f"odd.{kind} is not a result")


# What may be shared.


def prose(page: str) -> str:
    """A page without the library that draws its charts."""
    return re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)


def leaks(text: str, *hidden: str) -> list[str]:
    """Return where one of these stands in a text, with some words around it."""
    found = re.finditer("|".join(map(re.escape, hidden)), html.unescape(prose(text)))
    return [m.string[max(m.start() - 40, 0) : m.end() + 20] for m in found]


def test_a_shared_report_has_no_value_of_a_person(shared_files: Mapping[str, str]) -> None:
    wages = (str(WAGE)[:7], f"{WAGE:,}"[:8])
    assert {n: t for n, text in shared_files.items() if (t := leaks(text, CELL, *wages)[:3])} == {}


def test_a_shared_report_has_no_place_on_the_machine(
    kinds: Path, shared_files: Mapping[str, str]
) -> None:
    places = (str(kinds), "secretfolder", str(Path.home()))
    assert {n: t for n, text in shared_files.items() if (t := leaks(text, *places)[:3])} == {}
    assert "people.parquet" in shared_files["shared.md"]


def test_groups_under_the_minimum_are_masked(shared_files: Mapping[str, str]) -> None:
    assert {n: t for n, text in shared_files.items() if (t := leaks(text, "Tiny")[:3])} == {}
    for name in ("shared.html", "shared.md", "shared.by_region.groups.csv"):
        assert "other groups" in shared_files[name]
    groups = csv.DictReader(io.StringIO(shared_files["shared.by_region.groups.csv"]))
    sizes = {row["group"]: row["individuals"] for row in groups}
    assert sizes == {"other groups (2 groups)": "121", "group 1": "119"}


def test_with_a_minimum_of_one_every_group_is_shown(kinds: Path, tmp_path: Path) -> None:
    source, named = kinds / "results" / "by_region.parquet", {"name_groups": ["region"]}
    report(source, tmp_path / "all.md", minimum=1, **named)
    assert "Tiny" in (tmp_path / "all.md").read_text()
    report(source, tmp_path / "most.md", minimum=119, **named)
    text = (tmp_path / "most.md").read_text()
    assert "South" in text
    assert "North" not in text


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_what_is_a_secret_in_one_result_is_one_in_all(tmp_path: Path) -> None:
    data, folder = people(tmp_path), tmp_path / "results"
    folder.mkdir()
    made("attack", "crs", data, "-q", "birth", "--by", "debt", "-o", folder / "a.parquet")
    made("attack", "cas", data, "-q", "town", "-s", "debt", "-o", folder / "b.parquet")
    report(folder, tmp_path / "out.md")
    assert leaks((tmp_path / "out.md").read_text(), CELL)[:3] == []


@pytest.mark.slow(because="1.3 s each; every recorded mutant dies without it")
@pytest.mark.parametrize(
    "options",
    [
        ("attack", "crs", "-q", "t=town,birth", "--by", "town"),
        ("attack", "crs", "-q", "town,birth", "--by", "t=town"),
        ("attack", "cas", "-q", "birth", "-s", "d=debt", "--by", "debt"),
        ("attack", "cas", "-q", "birth", "-s", "debt", "--by", "d=debt"),
        ("describe", "--values", "5"),
        ("levels", "-q", "town,birth", "-s", "illness,debt", "--k", "5", "--l", "2"),
        ("levels", "-q", "town,birth", "-s", "illness", "--k", "5", "--show-blocks"),
    ],
    ids=["known", "group", "secret", "group-secret", "values", "levels", "blocks"],
)
def test_no_other_name_and_no_other_result_shows_values(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    data = people(tmp_path)
    command = options[:2] if options[0] == "attack" else options[:1]
    made(*command, data, *options[len(command) :], "-o", tmp_path / "result.parquet")
    found = {}
    for form in ("html", "md", "csv"):
        done = run("report", tmp_path / "result.parquet", "-o", tmp_path / f"out.{form}")
        found |= {} if done.code == 0 else {form: done.err}
        texts = {p.name: p.read_text() for p in tmp_path.glob(f"out*.{form}")}
        found |= {name: t for name, text in texts.items() if (t := leaks(text, CELL)[:2])}
    assert found == {}


def test_what_was_behind_hashes_is_not_shown(tmp_path: Path) -> None:
    towns = pl.read_parquet(people(tmp_path))["town"].to_list()
    hashes = [sha256(town.encode()).hexdigest() for town in towns]
    pl.DataFrame({"hash": hashes}).write_parquet(tmp_path / "hashed.parquet")
    (tmp_path / "all.txt").write_text("\n".join(sorted(set(towns))) + "\n")
    asked = ("-c", "hash", "--hash", "sha256", "--candidates", tmp_path / "all.txt")
    own = tmp_path / "own"
    own.mkdir()
    to = ("--mapping", own / "mapping.parquet", "-o", own / "unhash.parquet")
    made("unhash", tmp_path / "hashed.parquet", *asked, *to)
    report(own, tmp_path / "out.md")
    assert leaks((tmp_path / "out.md").read_text(), CELL, hashes[0])[:3] == []


@pytest.mark.slow(because="15 s; what is shared is checked in every run")
def test_a_private_report_shows_blocks_and_records_and_says_so(kinds: Path, tmp_path: Path) -> None:
    said = "Confidential: shows values of people"
    for form in ("html", "md", "csv"):
        made("report", kinds / "results", "--private", "-o", tmp_path / f"out.{form}")
    page, text = ((tmp_path / f"out.{form}").read_text() for form in ("html", "md"))
    assert f'<aside class="mark">{said}</aside>' in page
    assert f"**{said}**" in text
    for name in ("blocks", "records", "hyper", "receipt", "one"):
        assert f"Settings: {name}\n" in text
    for shown in (page, text):
        for value in ("birth07", "town1", "flu"):
            assert f"{CELL}{value}" in shown
        assert "Tiny" in shown
    assert f"{CELL}birth" in (tmp_path / "out.blocks.csv").read_text()


def test_a_shared_report_is_not_called_confidential(shared_files: Mapping[str, str]) -> None:
    for name in ("shared.html", "shared.md"):
        assert "Confidential" not in prose(shared_files[name])
    assert not {n for n in shared_files if re.search("blocks|records|hyper|receipt|one", n)}


# Names and values are text.


class Page(HTMLParser):
    """The elements, attributes and visible texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.texts: list[str] = []
        self.within: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag] += 1
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        self.within.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.within and self.within.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self.within and self.within[-1] not in ("script", "style"):
            self.texts.append(data)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a report of columns and groups whose names would like to be markup."""
    folder = tmp_path_factory.mktemp("hostile")
    names = dict(zip(("q1", "q2", "q3", "q4", "q5", "secret"), HOSTILE, strict=False))
    data = {name: [i * (j + 3) % 7 for i in range(240)] for j, name in enumerate(names.values())}
    data["group"] = [HOSTILE[i % len(HOSTILE)] for i in range(240)]  # type: ignore[misc]
    path = folder / "people.parquet"
    pl.DataFrame(data).write_parquet(path)
    *known, wanted = names.values()
    attacked = qifsql.attack(
        *("crs,cas", path),
        qids=known,
        secret=[wanted],
        histogram=True,
        thresholds=[0.5],
        by="group",
    )
    swept = qifsql.sweep(path, qids=known, secret=[wanted], threshold=0.5, sizes="1-2")
    for name, result in {"attack": attacked, "sweep": swept}.items():
        shown = Display(result=result, title=name)
        save(shown, folder / f"{name}.parquet")
    told = dict(zip(("title", "people"), (SCRIPT, MARKUP), strict=True))
    results = [folder / f"{name}.parquet" for name in ("attack", "sweep")]
    for form in ("html", "md", "csv"):
        names = {"labels": {LONG: IMAGE + LONG}, "name_groups": "group"}
        report(results, folder / f"out.{form}", **told, **names)
    return folder


def test_hostile_names_are_text_in_html(hostile: Path, shared_files: Mapping[str, str]) -> None:
    page, friendly = Page((hostile / "out.html").read_text()), Page(shared_files["shared.html"])
    assert set(page.elements) <= set(friendly.elements)
    assert page.elements["script"] == page.elements["figure"] + 2  # data of charts, two scripts
    assert page.attributes <= friendly.attributes
    assert all(link.startswith("#") for link in page.links)
    text = " ".join(page.texts)
    for name in (SCRIPT, IMAGE, FORMULA, LONG, MARKUP, "🙂 年齢"):
        assert name in text


def test_a_page_may_not_move_its_links_or_send_a_form(shared_files: Mapping[str, str]) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', shared_files["shared.html"])
    assert policy
    rules = dict(rule.split(None, 1) for rule in html.unescape(policy[1]).split(";"))
    banned = {"default-src", "base-uri", "form-action"}
    assert {name: rules.get(name) for name in banned} == dict.fromkeys(banned, "'none'")


@pytest.mark.slow(because="4.7 s; every recorded mutant dies without it")
def test_no_name_turns_the_direction_of_the_text_around_it(hostile: Path) -> None:
    page = re.sub(
        r"<(script|pre)\b.*?</\1>", "", (hostile / "out.html").read_text(), flags=re.DOTALL
    )
    assert [page[max(m.start() - 60, 0) : m.end()] for m in DIRECTIONS.finditer(page)][:3] == []
    text = re.sub(r"\n(```+)\n.*?\n\1\n", "", (hostile / "out.md").read_text(), flags=re.DOTALL)
    assert [text[max(m.start() - 60, 0) : m.end()] for m in DIRECTIONS.finditer(text)][:3] == []


@pytest.mark.slow(because="4.7 s; every recorded mutant dies without it")
def test_hostile_names_are_text_in_markdown(hostile: Path) -> None:
    text = (hostile / "out.md").read_text()
    tokens = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)
    inner = [t for token in tokens for t in (token, *(token.children or ()))]
    banned = ("html_block", "html_inline", "link_open", "image", "code_inline", "em_open", "s_open")
    banned += ("code_block", "blockquote_open", "ordered_list_open", "hr", "lheading_open")
    assert {t.type: t.content[:80] for t in inner if t.type in banned} == {}
    joined = "".join(t.content for t in inner if t.type in ("text", "text_special"))
    for name in (SCRIPT, IMAGE, MARKUP, "🙂 年齢"):
        assert name in joined, name
    heads = [tokens[i + 1].content for i, t in enumerate(tokens) if t.type == "heading_open"]
    assert "two" not in heads


def test_no_cell_of_hostile_csv_is_a_formula(hostile: Path) -> None:
    tables = list(hostile.glob("out.*.csv"))
    assert len(tables) > 5
    for path in tables:
        with path.open(encoding="utf-8", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert [c for c in cells if is_formula(c)] == []
    assert "'=cmd()" in (hostile / "out.attack.groups.csv").read_text()


NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)*([eE][+-]?[0-9]+)?\Z")


BLANK = [
    *(
        c
        for c in map(chr, range(sys.maxunicode + 1))
        if category(c) in ("Cc", "Cf", "Zs", "Zl", "Zp")
    ),
    *"\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\ufe00\ufe0f\uffa0\U000e0100",
]  # the second line: further characters that are drawn as nothing
SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet may run a text."""
    begins = text[:1] in tuple("\t\r\n") or text.lstrip("".join(BLANK))[:1] in tuple(SIGNS)
    return begins and not NUMBER.match(text)


@pytest.mark.parametrize("sign", SIGNS)
def test_no_blank_hides_a_formula_from_csv(sign: str) -> None:
    hidden = [between + sign + "cmd()" for blank in BLANK for between in (blank, f"\u200b{blank} ")]
    written = exports.comma_separated(pl.DataFrame({"text": hidden}))
    cells = [row[0] for row in csv.reader(io.StringIO(written, newline=""))][1:]
    assert [(c, t) for c, t in zip(cells, hidden, strict=True) if c != f"'{t}"] == []
    names = csv.reader(io.StringIO(exports.comma_separated(pl.DataFrame({hidden[0]: ["-1"]}))))
    assert [row[0] for row in names] == [f"'{hidden[0]}", "-1"]


texts = st.text(st.sampled_from("=+-@'\t\r\n,;\"1.e a|<\u00e9\x00\u00a0\u200b\ufeff"), max_size=6)


@given(st.lists(texts, min_size=1, max_size=4, unique=True), st.data())
def test_csv_gives_every_text_back_and_none_is_a_formula(
    names: list[str], data: st.DataObject
) -> None:
    rows = data.draw(st.lists(st.tuples(*[texts | st.none()] * len(names)), max_size=4))
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    written = exports.comma_separated(frame)
    head, *lines = (line or [""] for line in csv.reader(io.StringIO(written, newline="")))
    assert len(set(head)) == len(names)
    assert {len(line) for line in lines} <= {len(names)}
    for text, cell in [
        *zip(names, head, strict=True),
        *(
            (t, c)
            for row, line in zip(rows, lines, strict=True)
            for t, c in zip(row, line, strict=True)
        ),
    ]:
        assert not is_formula(cell)
        assert cell.lstrip("'") == (text or "").lstrip("'")
        assert is_formula(text or "") == (cell != (text or "")) or text in names


# Numbers are those of the results.


def parsed(text: str) -> tuple[float, float, int]:
    """The range that a natural frequency stands for, and its scale."""
    match = re.fullmatch(
        r"(all |fewer than |more than )?([\d,]+) (?:of every|of|in) ([\d,]+)", text
    )
    assert match, text
    sign, n, of = match[1], _whole(match[2]), _whole(match[3])
    if sign == "fewer than ":
        return 0, n / of, of
    if sign == "more than ":
        return n / of, 1, of
    return (n - 0.5) / of, (n + 0.5) / of, of


def _whole(text: str) -> int:
    return int(text.replace(",", ""))


shares = (
    st.just(0)
    | st.floats(1e-15, 1)
    | st.floats(1e-15, 0.02)
    | st.floats(0.98, 1)
    | st.builds(lambda a, b: min(a, b) / max(a, b), *[st.integers(1, 10**9)] * 2)
)


@given(shares, st.sampled_from([0, 100, 1_000, 10_000]))
@example(0.995, 0)
@example(0.00005, 0)
@example(0.0001, 0)
@example(0.005, 100)
def test_a_natural_frequency_is_within_its_rounding(p: float, of: int) -> None:
    for text in (words.frequency(p, of), words.share(p, of)):
        least, most, scale = parsed(text)
        assert least - 1e-12 <= p <= most + 1e-12
        assert scale in (of or words.scale(p), 10_000)
        n = _whole(re.findall(r"[\d,]+", text)[0])
        bounded = text.startswith(("fewer", "more"))
        assert (n == 0) == (p == 0)
        assert (n == scale and not bounded) == (p == 1)


@given(st.lists(shares, min_size=1, max_size=4))
def test_shares_on_one_scale_have_that_scale_but_the_tiniest(some: list[float]) -> None:
    of = words.scale(*some)
    assert of in (100, 1_000, 10_000)
    assert max(some) * of >= 5 or of == 10_000 or max(some) == 0
    for p in some:
        assert parsed(words.share(p, of))[2] == (of if p == 0 or p >= 0.0001 else 10_000)


def chance_of(text: str) -> float:
    """The probability that a chance in words says."""
    if text in ("never", "always"):
        return float(text == "always")
    if match := re.fullmatch(r"(?:more than )?([\d.]+) of 100", text):
        return float(match[1]) / 100
    return 1 / _whole(text.removeprefix("1 in ")) if "." not in text else 1 / float(text[5:])


@given(shares)
@example(0.9999)
@example(0.99996)
def test_a_chance_is_within_its_rounding_and_is_certain_only_where_it_is(p: float) -> None:
    text = words.chance(p)
    assert (text == "never") == (p == 0)
    assert (text == "always") == (p == 1)
    n = chance_of(text)
    assert p == pytest.approx(n, rel=0.005)
    assert (n == 1) == (p == 1)


@given(shares)
@example(0.99995)
@example(0.00005)
def test_a_percentage_is_within_its_rounding_and_is_whole_only_where_it_is(p: float) -> None:
    text = words.percent(p)
    n = float(text.strip("<> %")) / 100
    within = {"<": n - 1.0001e-4 < p < n, ">": n < p < n + 1.0001e-4}
    assert within.get(text[0], abs(p - n) <= 0.00005 + 1e-9)
    assert (text == "0.00 %") == (p == 0)
    assert (text == "100.00 %") == (p == 1)


@given(shares, shares)
@example(0.9999, 0.5)
@example(1.0, 0.01)
def test_compared_chances_are_within_their_rounding_and_never_become_certain(
    p: float, q: float
) -> None:
    for chance, text in zip((p, q), words.compared(p, q), strict=True):
        n = chance_of(text)
        assert n == pytest.approx(chance, rel=0.005, abs=0.0005)
        assert (n == 1) == (chance == 1)
        assert (n == 0) == (chance == 0)


@st.composite
def rows(draw: st.DrawFn) -> dict[str, Any]:
    """A row of results: what was known, what is known."""
    secret = draw(st.sampled_from([None, "illness", "debt"]))
    prior, after = sorted(draw(st.tuples(shares, shares)))
    sure = min(draw(shares), after)
    known = draw(st.sampled_from([["birth"], ["birth", "town"], ["birth", "town", "wage"]]))
    return {
        "model": draw(st.sampled_from(["CRS", "CRL"] if secret is None else ["CAS", "CAL"])),
        "datasets": 1,
        "n_qids": len(known),
        "qids": known,
        "secret": secret,
        "records": 1000,
        "blocks": 10,
        "singled_out": 1,
        "prior_deterministic": 0.0,
        "posterior_deterministic": sure,
        "prior_probabilistic": prior,
        "posterior_probabilistic": after,
    }


def of_rows(found: Iterable[dict[str, Any]]) -> pl.DataFrame:
    names = {name: kind for name, kind in SCHEMA.items() if name in rows_columns}
    return pl.DataFrame(list(found), schema=names)


rows_columns = (
    *("model", "datasets", "n_qids", "qids", "secret", "records", "blocks", "singled_out"),
    *("prior_deterministic", "posterior_deterministic"),
    *("prior_probabilistic", "posterior_probabilistic"),
)


def parts_of(parts: Iterable[Part], kind: type) -> list[Any]:
    return [part for part in parts if isinstance(part, kind)]


@given(st.lists(st.lists(rows(), min_size=1, max_size=5), min_size=1, max_size=3))
def test_the_first_page_shows_the_worst_of_each_question_and_its_numbers(
    found: list[list[dict[str, Any]]],
) -> None:
    parts = summary.summary([stored(of_rows(some)) for some in found])
    each: dict[str | None, list[dict[str, Any]]] = {}
    for row in (row for some in found for row in some):
        each.setdefault(row["secret"], []).append(row)
    cards: list[Card] = list(parts_of(parts, Cards)[0].cards)
    assert len(cards) == len(each)
    order = sorted(each, key=lambda s: (s is not None, s or ""))
    for secret, drawn in zip(order, cards, strict=True):
        success = max(row["posterior_probabilistic"] for row in each[secret])
        assert drawn.after[1] == success
        worst = [row for row in each[secret] if row["posterior_probabilistic"] == success]
        sure = max(row["posterior_deterministic"] for row in worst)
        own = [row for row in worst if row["posterior_deterministic"] == sure]
        assert drawn.before[1] in [row["prior_probabilistic"] for row in own]
        base, after = drawn.before[1], drawn.after[1]
        of = words.scale(base, after, sure)
        assert drawn.amount.casefold() == words.share(sure, of).casefold()
        for told, share in (drawn.before, drawn.after):
            assert told.endswith(f": {words.share(share, of)}")
        assert words.difference(after - base) in drawn.difference
        mostly = 0.5 <= base < 1 and after < 1.1 * base and secret is not None
        assert bool(drawn.remark) == mostly
        if secret == order[0]:
            lead = parts_of(parts, Paragraph)[0].text
            assert words.frequency(sure, of) in lead[0].lower() + lead[1:]
            least = min(row["n_qids"] for row in own)
            assert words.listed(next(r["qids"] for r in own if r["n_qids"] == least)) in lead


@pytest.mark.parametrize("secret", [None, "illness"])
@pytest.mark.parametrize("sure", [0.0, 1.0])
def test_nobody_and_everybody_are_said_in_good_english(secret: str | None, sure: float) -> None:
    row = {"model": "CRS" if secret is None else "CAS", "secret": secret, "qids": ["birth"]}
    row |= {"prior_probabilistic": 0.1, "posterior_probabilistic": max(0.2, sure)}
    told = summary.lead(row | {"posterior_deterministic": sure})
    assert not re.search(r"\b(none people|of none)\b", told, flags=re.IGNORECASE), told


def test_a_high_base_rate_is_said(tmp_path: Path, kinds: Path) -> None:
    report(kinds / "results" / "sweep.parquet", tmp_path / "sweep.md")
    frame = pl.read_parquet(kinds / "results" / "sweep.parquet").filter(secret="illness")
    assert frame["prior_probabilistic"][0] == 0.9
    made(
        "attack", "cas", people(tmp_path), "-q", "town", "-s", "illness", "-o", tmp_path / "a.json"
    )
    report(tmp_path / "a.json", tmp_path / "base.md")
    text = (tmp_path / "base.md").read_text()
    assert "Mostly the base rate" in text
    assert "90 of 100 could be guessed without the release." in text


# Lights are those of the user's own policy.


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=4), max_size=3), rows())
def test_a_light_is_red_only_where_a_level_is_broken(
    checks: list[list[bool]], row: dict[str, Any]
) -> None:
    results = [stored(of_rows([row]))]
    results += [stored(pl.DataFrame({"met": met}), "check") for met in checks]
    parts = summary.summary(results)
    lights: list[Light] = parts_of(parts, Light)
    assert [light.met for light in lights] == [all(met) for met in checks]
    told = [p.text for p in parts_of(parts, Paragraph) if "policy" in p.text]
    assert len(told) == (not checks)
    for light, met in zip(lights, checks, strict=True):
        numbers = re.findall(r"\d+", light.text)
        assert numbers == ([str(len(met))] if all(met) else [str(met.count(False)), str(len(met))])


@pytest.mark.cases(1)
@pytest.mark.parametrize(("most", "met"), [(PEOPLE, True), (0, False)])
def test_the_light_of_a_policy_is_that_of_its_check(tmp_path: Path, most: int, met: bool) -> None:
    policy = tmp_path / "levels.toml"
    policy.write_text(POLICY.partition("by =")[0].replace("5", str(most)))
    made("check", people(tmp_path), "--policy", policy, "-o", tmp_path / "levels.parquet")
    assert pl.read_parquet(tmp_path / "levels.parquet")["met"].all() == met
    report(tmp_path / "levels.parquet", tmp_path / "out.html")
    page = (tmp_path / "out.html").read_text()
    assert re.findall(r'<p class="light (\w+)"', page) == ["qualified" if met else "unmet"]
    report(tmp_path / "levels.parquet", tmp_path / "out.md")
    assert ("**Your policy is met" in (tmp_path / "out.md").read_text()) == met


# What to do first.


def test_what_to_drop_first_is_what_saves_most(kinds: Path) -> None:
    whole = pl.read_parquet(kinds / "results" / "sweep.parquet").filter(pl.col("secret").is_null())
    success = {frozenset(q): p for q, p in whole.select("qids", "posterior_probabilistic").rows()}
    without = {qid: success[frozenset(QIDS) - {qid}] for qid in QIDS}
    best = min(without, key=without.__getitem__)
    drop = pl.read_parquet(kinds / "results" / "sweep.drop_first.parquet")
    [told] = summary.first_steps([stored(whole, "sweep", drop_first=drop)], [])[:1]
    assert f"Drop or coarsen {best}." in told
    numbers = re.search(r": ([^:]+) with it, (.+) without it\.$", told)
    assert numbers
    for text, p in ((numbers[1], success[frozenset(QIDS)]), (numbers[2], without[best])):
        least, most, _ = parsed(text)
        assert least <= p <= most


@given(st.lists(st.tuples(st.sampled_from(QIDS), st.floats(0, 0.5)), min_size=1, max_size=3))
def test_the_largest_saving_comes_first_whatever_the_order(
    savings: list[tuple[str, float]],
) -> None:
    table = pl.DataFrame(
        [
            {
                "secret": None,
                "qid": qid,
                "posterior_all": 0.9,
                "posterior_without": 0.9 - saved,
                "saved": saved,
            }
            for qid, saved in dict(savings).items()
        ],
        schema_overrides={"secret": pl.String},
    )
    table = table.sort("saved", descending=True)  # as a sweep gives it
    told = summary.first_steps([stored(pl.DataFrame(), "sweep", drop_first=table)], [])
    most = max(dict(savings).values())
    assert len(told) == 1
    if round(100 * (0.9 - most)) == 90:  # a reader would see the same number twice
        assert "No single column helps" in told[0]
    else:
        best = [q for q, s in dict(savings).items() if s == most]
        assert any(f"Drop or coarsen {q}." in told[0] for q in best)


def test_without_a_sweep_the_report_says_how_to_learn_what_to_do() -> None:
    row = {"prior_probabilistic": 0.1, "posterior_probabilistic": 0.9}
    assert "Run qifsql sweep" in summary.first_steps([], [row])[0]
    assert "Nothing" in summary.first_steps([], [row | {"posterior_probabilistic": 0.1}])[0]


# Two pages and annexes.


JARGON = re.compile(
    r"deterministic|probabilistic|\b(?:CRS|CAS|CMS|IRS|IAS|CRL|CAL)\b|shapley|degradation|posterior",
    re.IGNORECASE,
)


@pytest.mark.cases(2)
@pytest.mark.parametrize("lang", ["en", "pt-BR"])
@pytest.mark.parametrize("private", [False, True])
def test_no_jargon_is_in_front_of_the_annexes(
    kinds: Path, tmp_path: Path, lang: str, *, private: bool
) -> None:
    document = report(kinds / "results", tmp_path / "all.md", lang=lang, private=private)
    pages = [section for section in document.sections if not section.annex]
    assert len(pages) == 2
    assert pages == list(document.sections[:2])
    front, _, annexes = (tmp_path / "all.md").read_text().partition("\n## An")
    assert JARGON.findall(front.replace("determinístico", "deterministic")) == []
    assert JARGON.search(annexes)
    assert re.findall(r"\d[.,]?\d* (?:in|em) 1\b|\b1 in \d+\.\d", front) == []


def test_the_first_page_says_what_to_do_in_three_lines_and_what_it_does_not_say(
    kinds: Path, tmp_path: Path
) -> None:
    document = report(kinds / "results", tmp_path / "all.md")
    first, limits = parts_of(document.sections[0].parts, Box)
    assert first.title == "What to do first"
    assert 1 <= len(first.lines) <= 3
    assert limits.title == "What it does not say"
    assert limits.lines[-1] == document.withheld
    text = " ".join(limits.lines)
    assert "Someone who knows more" in text
    assert "that was not estimated" not in text  # there is an estimate
    alone = report(kinds / "results" / "sweep.parquet", tmp_path / "alone.md")
    assert "that was not estimated" in " ".join(parts_of(alone.sections[0].parts, Box)[1].lines)


ALONE = ("grades", "generalised", "treated", "composed", "linked", "hashes", "trails")
ALONE += ("sampled", "inference", "noise", "opinion", "compared", "changes", "levels")


@pytest.mark.parametrize("name", ALONE)
def test_a_result_without_an_attack_on_everybody_is_summed_up(
    kinds: Path, tmp_path: Path, name: str
) -> None:
    document = report(kinds / "results" / f"{name}.parquet", tmp_path / "alone.md")
    parts = document.sections[0].parts
    texts = [part.text for part in (*parts_of(parts, Paragraph), *parts_of(parts, Light))]
    assert [t for t in texts if "in the annexes" in t] == []
    assert re.search(r"\d|[Nn]obody|None of|everybody|hides nothing", texts[0]), texts[0]


def test_a_person_who_was_attacked_is_on_no_page_for_others(kinds: Path, tmp_path: Path) -> None:
    for private in (False, True):
        out = tmp_path / f"{private}.md"
        report(kinds / "results" / "one.parquet", out, private=private)
        assert ("of one person: a guess is right in" in out.read_text()) == private


@given(st.lists(st.tuples(st.integers(0, 40), shares), min_size=1, max_size=12))
def test_the_second_page_names_the_groups_with_the_highest_risk(
    sized: list[tuple[int, float]],
) -> None:
    columns = {"group": [f"g{i}" for i, _ in enumerate(sized)], "by": ["region"] * len(sized)}
    table = pl.DataFrame(
        columns
        | {
            "attack_id": ["a"] * len(sized),
            "individuals": [n for n, _ in sized],
            "posterior_probabilistic": [float(p) for _, p in sized],
        }
    )
    row = {"attack_id": "a", "model": "CRS", "secret": None, "datasets": 1, "qids": ["birth"]}
    frame = pl.DataFrame([row], schema_overrides={"secret": pl.String})
    section = chapters.second_page([stored(frame, groups=table)], [])
    [sheet] = parts_of(section.parts, Table)
    of = words.scale(*(p for _, p in sized))
    ordered = sorted((p for _, p in sized), reverse=True)
    assert [cells[2] for cells in sheet.rows] == [words.share(p, of) for p in ordered[:5]]
    left = [p.text for p in parts_of(section.parts, Paragraph) if "in the annex" in p.text]
    assert len(left) == (len(sized) > 5)
    gap = parts_of(section.parts, Paragraph)[-1].text
    same = ordered[0] == ordered[-1]
    assert ("have the same risk" if same else words.difference(ordered[0] - ordered[-1])) in gap


# PDF.


def test_a_pdf_needs_a_browser_and_says_so(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(paper.VARIABLE, "no-such-browser")
    refused(here, "risk.parquet", "-o", "out.pdf", says="QIFSQL_BROWSER names no program")
    monkeypatch.delenv(paper.VARIABLE)
    monkeypatch.setattr(paper, "BROWSERS", ())
    refused(here, "risk.parquet", "-o", "out.pdf", says="install one (such as apt install")


@pytest.mark.slow(because="10 s; every recorded mutant dies without it")
def test_a_browser_that_does_not_print_leaves_no_file(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (script := here / "browser").write_text("#!/bin/sh\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setenv(paper.VARIABLE, str(script))
    done = run("report", "risk.parquet", "-o", "out.pdf")
    assert done.code == 3
    assert "did not print the report" in done.err
    assert list(here.glob("out.pdf*")) == []


@pytest.mark.slow(because="2.0 s; every recorded mutant dies without it")
def test_infinite_numbers_of_json_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("q,s\n1,a\n1,a\n2,b\n2,b\n3,c\n3,a\n", "utf-8")
    for ending in ("json", "parquet"):
        made("dit", path, "-q", "q", "-s", "s", "--k", 1, "-o", tmp_path / f"dit.{ending}")
        made("report", tmp_path / f"dit.{ending}", "-o", tmp_path / f"{ending}.md")
    assert "inf" in (tmp_path / "dit.json").read_text()
    tables = [
        (tmp_path / f"{ending}.md").read_text().partition("How it was")[0].replace(ending, "")
        for ending in ("json", "parquet")
    ]
    assert tables[0] == tables[1]


@pytest.mark.slow(because="0.7 s; every recorded mutant dies without it")
def test_a_summary_of_several_datasets_says_which_it_is_about(tmp_path: Path) -> None:
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        data = people(folder).rename(folder / f"{name}.parquet")
        made("attack", "crs", data, "-q", "birth", "-o", tmp_path / f"{name}_risk.parquet")
        alone = tmp_path / f"{name}.md"
        made("report", tmp_path / f"{name}_risk.parquet", "-o", alone)
        assert f"{name}.parquet: " not in alone.read_text().partition("What was released")[0]
    both = tmp_path / "both.md"
    made("report", tmp_path / "one_risk.parquet", tmp_path / "two_risk.parquet", "-o", both)
    assert "one.parquet: " in both.read_text().partition("What was released")[0]
