"""Published tables in studies: the numbers of the command, files beside the study, the gate."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from studies import DATASETS, data, written
from terminal import run as command

import qifsql
from qifsql.commands.run import run as running

MADE = """
[[tables]]
name = "made"
dataset = "people"
table = ["gender,age", "age,illness:suppress<3"]
progressive = true
leave_one_out = true
by = "gender"
"""
OUTSIDE = """
[[tables]]
name = "outside"
published = ["tables/sex.csv:suppress<3", "tables/transport.csv:suppress<3"]
count = 19
across = "sex=girls,boys"
secret = "transport"
possible = "tables/possible.csv"
"""
FILES = {
    "sex.csv": "grade,girls,boys\n1,4,3\n2,3,3\n3,*,5\n",
    "transport.csv": "grade,transport,count\n1,yes,*\n1,no,5\n2,no,6\n3,yes,6\n",
    "possible.csv": "grade,transport\n1,yes\n1,no\n2,no\n3,yes\n",
}
OPTIONS = {"count": 19, "across": "sex=girls,boys", "secret": "transport"}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with records and published tables, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    data(tmp_path)
    (tmp_path / "tables").mkdir()
    for name, text in FILES.items():
        (tmp_path / "tables" / name).write_text(text)
    return tmp_path


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the tables that are attacked from now on."""
    calls: list[str] = []
    real = running.tables.tables

    def called(*arguments: Any, **options: Any) -> Any:
        calls.append("made" if options.get("table") else "outside")
        return real(*arguments, **options)

    monkeypatch.setattr(running.tables, "tables", called)
    return calls


def study(here: Path, text: str, **more: Any) -> qifsql.StudyResult:
    return qifsql.run(written(here, text), **more)


def same(one: qifsql.Result, other: qifsql.Result) -> None:
    """Two results have the same numbers, notes and verdict."""
    assert_frame_equal(one.frame, other.frame)
    assert one.details.keys() == other.details.keys()
    for name, table in one.details.items():
        assert_frame_equal(table, other.details[name])
    assert (one.notes, one.met) == (other.notes, other.met)


@pytest.mark.slow(because="10.7 s; every recorded mutant dies without it")
def test_numbers_are_those_of_the_command(here: Path) -> None:
    result = study(here, DATASETS + MADE + OUTSIDE)
    made = qifsql.tables(
        "people.parquet", table=["gender,age", "age,illness:suppress<3"], secret="illness",
        progressive=True, leave_one_out=True, by="gender",
    )  # fmt: skip
    outside = qifsql.tables(
        published=["tables/sex.csv:suppress<3", "tables/transport.csv:suppress<3"],
        possible="tables/possible.csv", **OPTIONS,
    )  # fmt: skip
    same(result.results["made"], made)
    same(result.results["outside"], outside)
    assert outside.frame["reconstructed"][0] > 0
    rows = result.details["tables"]
    assert rows["name"].to_list() == ["made", "made", "outside"]
    assert_frame_equal(rows.drop("name"), pl.concat([made.frame, outside.frame]))
    assert result.frame.is_empty()
    entries = result.details["entries"]
    assert entries["kind"].to_list() == ["tables", "tables"]
    assert entries["datasets"][0].to_list() == ["people.parquet"]
    assert entries["datasets"][1].to_list() == ["sex.csv", "transport.csv", "possible.csv"]


@pytest.mark.slow(because="4.3 s; every recorded mutant dies without it")
def test_roles_of_the_dataset_hold_and_empty_takes_back(here: Path) -> None:
    text = DATASETS.replace('key = "id"\n', 'key = "id"\nwhere = "age < 50"\n', 1)
    plain = '[[tables]]\nname = "b"\ndataset = "people"\ntable = "gender,age"\nsecret = ""\n'
    results = study(here, text + MADE + plain + 'where = ""\n').results
    assert results["made"].spec["where"] == "age < 50"
    assert results["made"].spec["secrets"] == ["illness"]
    assert results["b"].frame["people"].to_list() == [10]
    assert results["b"].frame["secret"].to_list() == [None]


@pytest.mark.slow(because="3.0 s; every recorded mutant dies without it")
def test_published_tables_are_compared_with_records_that_are_named_only(here: Path) -> None:
    (here / "ages.csv").write_text("gender,count\nF,4\nM,6\n")
    people = pl.read_parquet("people.parquet")
    counts = people.group_by("gender").len("count")
    counts.write_csv("genders.csv")
    entry = '[[tables]]\nname = "a"\npublished = "genders.csv"\nknown = "gender"\n'
    only = DATASETS[: DATASETS.index("[datasets.later]")].replace('secret = "illness"\n', "")
    alone = study(here, only + entry).results["a"]
    both = study(here, only + entry + 'dataset = "people"\n').results["a"]
    assert not alone.spec["from_records"]
    assert alone.frame["records"][0] is None
    assert both.frame["records"][0] == counts.height / people.height


def test_paths_are_relative_to_the_study(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(here, DATASETS + OUTSIDE)
    elsewhere = here / "else:where"
    elsewhere.mkdir()
    for path in [*here.glob("*.toml"), *here.glob("*.csv"), *here.glob("*.parquet")]:
        path.rename(elsewhere / path.name)
    shutil.move(here / "tables", elsewhere / "tables")
    (here / "cwd").mkdir()
    monkeypatch.chdir(here / "cwd")
    result = qifsql.run(elsewhere / "study.toml").results["outside"]
    assert result.frame["reconstructed"][0] > 0
    assert list((here / "cwd").iterdir()) == []
    manifest = json.loads((elsewhere / "study-results/outside.csv.manifest.json").read_text())
    assert [Path(f["path"]).name for f in manifest["inputs"]] == list(FILES)


@pytest.mark.slow(because="7.3 s; every recorded mutant dies without it")
def test_nothing_is_computed_twice(here: Path, computed: list[str]) -> None:
    first = study(here, DATASETS + MADE + OUTSIDE)
    assert computed == ["made", "outside"]
    again = study(here, DATASETS + MADE + OUTSIDE)
    assert computed == ["made", "outside"]
    assert set(again.details["entries"]["state"]) == {"unchanged"}
    for name, result in first.results.items():
        same(again.results[name], result)
        assert again.results[name].origin.paths == result.origin.paths
        assert again.results[name].origin.sql == result.origin.sql


@pytest.mark.slow(because="9.6 s; every recorded mutant dies without it")
@pytest.mark.parametrize("name", list(FILES))
def test_other_contents_of_a_file_are_noticed(here: Path, computed: list[str], name: str) -> None:
    study(here, DATASETS + MADE + OUTSIDE)
    computed.clear()
    file = here / "tables" / name
    changed = {"sex.csv": "4,3", "transport.csv": "no,5", "possible.csv": "3,yes"}[name]
    other = {"sex.csv": "3,4", "transport.csv": "no,6", "possible.csv": "3,yes\n2,yes"}[name]
    file.write_text(file.read_text().replace(changed, other))
    study(here, DATASETS + MADE + OUTSIDE)
    assert computed == ["outside"]


@pytest.mark.slow(because="8.2 s each; every recorded mutant dies without it")
@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("suppress<3\"]\ncount", 'suppress<4"]\ncount', ["outside"]),
        ("illness:suppress<3", "illness:suppress<4", ["made"]),
        ('by = "gender"\n', 'by = "gender"\ntime_budget = 5\n', ["made"]),
        ("[datasets.people]", "seed = 7\n[datasets.people]", ["made"]),
        ('name = "made"', 'name = "other"', []),
        ("", "# a comment\n", []),
    ],
)  # fmt: skip
def test_only_what_has_changed_is_computed(
    here: Path, computed: list[str], old: str, new: str, changed: list[str]
) -> None:
    text = DATASETS + MADE + OUTSIDE
    study(here, text)
    computed.clear()
    study(here, text.replace(old, new, 1))
    assert computed == changed


@pytest.mark.slow(because="4.7 s; every recorded mutant dies without it")
def test_results_may_be_moved_together_with_their_study(
    here: Path, computed: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    study(here, DATASETS + MADE + OUTSIDE)
    computed.clear()
    there = tmp_path_factory.mktemp("moved") / "all"
    here.rename(there)
    here.mkdir()
    qifsql.run(there / "study.toml")
    assert computed == []


@pytest.mark.slow(because="test_run.py has a seed of the study that matters")
def test_noise_takes_the_seed_of_the_study(here: Path) -> None:
    text = DATASETS + MADE.replace("illness:suppress<3", "illness:noise:1")
    text = text.replace("gender,age", "gender,age:noise:1")
    seeded = [study(here, f"seed = {n}\n" + text).results["made"] for n in (1, 2, 1)]
    alone = qifsql.tables(
        "people.parquet", table=["gender,age:noise:1", "age,illness:noise:1"],
        secret="illness", progressive=True, leave_one_out=True, by="gender",
        settings=qifsql.Settings(seed=1),
    )  # fmt: skip
    same(seeded[0], alone)
    same(seeded[2], alone)
    assert not seeded[1].frame.equals(alone.frame)


@pytest.mark.slow(because="6.4 s; every recorded mutant dies without it")
def test_a_bound_that_does_not_hold_ends_with_4_also_when_it_is_kept(here: Path) -> None:
    strict = OUTSIDE + 'require = ["reconstructed<=0", "undone<=99"]\n'
    written(here, DATASETS + strict)
    for _ in range(2):
        done = command("run", "study.toml", "--format", "json")
        assert done.code == 4
        assert "outside: not met: reconstructed<=0" in done.err
        entries = json.loads(done.out)["entries"]
        assert [entry["met"] for entry in entries] == [False]
    written(here, DATASETS + strict.replace("reconstructed<=0", "reconstructed<=19"))
    assert command("run", "study.toml").code == 0
    assert study(here, DATASETS + OUTSIDE).met is True


@pytest.mark.slow(because="5.5 s; every recorded mutant dies without it")
def test_files_are_those_of_the_command(here: Path) -> None:
    written(here, '[output]\nformats = ["csv", "parquet", "json"]\n' + OUTSIDE)
    assert command("run", "study.toml").code == 0
    options = ("--published", "tables/sex.csv:suppress<3", "--possible", "tables/possible.csv",
               "--published", "tables/transport.csv:suppress<3", "--count", 19,
               "--across", "sex=girls,boys", "--secret", "transport", "--quiet")  # fmt: skip
    for name in ("outside.csv", "outside.checks.csv"):
        Path("alone").mkdir(exist_ok=True)
        assert command("tables", *options, "-o", "alone/outside.csv").code == 0
        assert Path("study-results", name).read_text() == Path("alone", name).read_text()
    one = json.loads(Path("study-results/outside.json").read_text())
    assert command("tables", *options, "-o", "alone/outside.json").code == 0
    other = json.loads(Path("alone/outside.json").read_text())
    assert one["results"] == other["results"]
    assert one["checks"] == other["checks"]


@pytest.mark.slow(because="4.5 s; every recorded mutant dies without it")
def test_the_report_has_the_chapter_and_says_it_once(here: Path) -> None:
    result = study(here, DATASETS + MADE + OUTSIDE)
    assert result.report is not None
    page = result.report.read_text()
    heads = re.findall(r"<h2[^>]*>Annex \d: ([^<]*)<", page)
    assert heads[1:3] == ["Published tables: made", "Published tables: outside"]
    assert not [head for head in heads if head.startswith("Study")]  # its entries have chapters
    text = command("run", "study.toml", "--format", "table").out
    assert "Published tables" in text
    assert "Nothing was run." not in text


ONE = DATASETS.replace('secret = "illness"\n', "").split("[datasets.later]", maxsplit=1)[0]
HEAD = len(ONE.splitlines())


@pytest.mark.cases(7)
@pytest.mark.parametrize(
    ("lines", "line", "says"),
    [
        ([], 1, "there is no table to attack; name tables of the records with table"),
        (["table = 3"], 3, "table is a text in quotes or a list of them"),
        (["table = 'age,gendr'"], 3, 'column "gendr" is not in people.parquet; did you mean'),
        (["table = 'age:supress<5'"], 3, 'unknown protection "supress<5"'),
        (["table = 'age'", "count = 5"], 4, "the records tell how many people there are"),
        (["table = 'age'", "secret = 'illness'"], 4, 'secret "illness" is no dimension'),
        (["table = 'age'", "known = 'x'"], 4, 'known "x" is no dimension of the tables'),
        (["table = 'age'", "by = 'gender'"], 4, 'group "gender" is no dimension of the tables'),
        (["table = 'age'", "require = 'reconstructed'"], 4, '"reconstructed" is not a bound'),
        (["table = 'age'", "until = 'reconstructd<=0'"], 4, 'did you mean "reconstructed"?'),
        (["table = 'age'", "where = 'agee > 3'"], 4, "agee"),
        (["tabel = 'age'"], 3, 'there is no "tabel" here; did you mean "table"?'),
        (["published = 'no.csv:suppress<3'"], 3, "no.csv does not exist"),
        (["published = 'tables/sex.csv:supress<3'"], 3, 'unknown protection "supress<3"'),
        (["published = ['tables/transport.csv', 'no.csv']"], 3, "no.csv does not exist"),
        (["published = 'tables/transport.csv'", "possible = 'no.csv'"], 4, "no.csv does not exist"),
        (["published = 'tables/sex.csv'"], 1, "which column of sex.csv has the counts"),
        (["table = 'age'", "published = 'tables/transport.csv'"], 3, "tables to make need records"),
        (["dataset = 'x'", "table = 'age'"], 3, 'there is no dataset "x"'),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(
    here: Path, lines: list[str], line: int, says: str
) -> None:
    written(here, "\n".join([ONE.rstrip("\n"), "", "[[tables]]", 'name = "a"', *lines, ""]))
    before = sorted(here.rglob("*"))
    done = command("run", "study.toml")
    assert (done.code, done.out) == (2, "")
    (error,) = done.err.splitlines()
    assert error.startswith(f"error: study.toml, line {HEAD + line}: "), error
    assert says in error
    assert sorted(here.rglob("*")) == before


def test_records_that_would_not_be_counted_as_their_roles_say_are_refused(here: Path) -> None:
    entry = '[[tables]]\nname = "a"\ndataset = "people"\ntable = "age"\nsecret = ""\n'
    for role in ('weight = "age"', 'null = "drop"'):
        text = DATASETS.replace('secret = "illness"\n', f"{role}\n")
        written(here, text + entry)
        done = command("run", "study.toml")
        assert done.code == 2
        assert "study.toml, line 4: tables count every record once, and the dataset" in done.err
    both = DATASETS + entry.replace('"people"', '["people", "later"]')
    written(here, both)
    done = command("run", "study.toml")
    assert done.code == 2
    assert "tables are made of one dataset; name one" in done.err
