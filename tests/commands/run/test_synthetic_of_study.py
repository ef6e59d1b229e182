"""Synthetic releases in studies: the numbers of the command, all files in the digest, the gate."""

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from studies import written
from terminal import run as command

import qifsql
from qifsql.commands.run import run as running

FILES = ("original.parquet", "first.csv", "second.csv", "control.csv")
DATASETS = """\
[report]
out = ""

[datasets.people]
path = "original.parquet"
qids = ["q", "r"]
secret = "t"

[datasets.held_out]
path = "control.csv"
"""
ENTRY = """
[[synthetic]]
name = "generators"
dataset = "people"
releases = ["first.csv", "second.csv"]
control = "held_out"
"""
DETAILED = 'sweep = true\nquestions = true\nsplit = "q"\ndistances = 5\nby = "u"\n'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an original, two releases and a control, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    for n, name in enumerate(FILES, 3):
        rows = range(8 + n)
        columns = {"q": ["xyz"[i * n % 3] for i in rows], "r": [i * i % n for i in rows]}
        columns |= {"t": ["ab"[i % (1 + n % 2)] for i in rows], "u": [i % 2 for i in rows]}
        people = pl.DataFrame(columns)
        people.write_parquet(name) if name.endswith("parquet") else people.write_csv(name)
    return tmp_path


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the comparisons that run from now on."""
    calls: list[str] = []
    real = running.synthetic.synthetic

    def called(*arguments: Any, **options: Any) -> Any:
        calls.append("synthetic")
        return real(*arguments, **options)

    monkeypatch.setattr(running.synthetic, "synthetic", called)
    return calls


def study(here: Path, text: str = DATASETS + ENTRY, **more: Any) -> qifsql.StudyResult:
    return qifsql.run(written(here, text), **more)


def same(one: qifsql.Result, other: qifsql.Result) -> None:
    """Two results have the same numbers, notes and verdict."""
    assert_frame_equal(one.frame, other.frame)
    assert one.details.keys() == other.details.keys()
    for name, table in one.details.items():
        assert_frame_equal(table, other.details[name])
    assert (one.notes, one.met) == (other.notes, other.met)


@pytest.mark.slow(because="3.3 s; every recorded mutant dies without it")
def test_numbers_are_those_of_the_command_also_when_they_are_kept(here: Path) -> None:
    options: Any = {"sweep": True, "questions": True, "split": "q", "distances": 5, "by": "u"}
    alone = qifsql.synthetic(
        "original.parquet", ["first.csv", "second.csv"], control="control.csv", qids="q,r",
        secret="t", settings=qifsql.Settings(seed=7), **options,
    )  # fmt: skip
    text = f"seed = 7\n{DATASETS}{ENTRY}{DETAILED}"
    for state in ("done", "unchanged"):
        result = study(here, text)
        same(result.results["generators"], alone)
        assert_frame_equal(result.details["synthetic"].drop("name"), alone.frame)
        entry = result.details["entries"].row(0, named=True)
        assert (entry["kind"], entry["state"], entry["met"]) == ("synthetic", state, None)
        assert entry["datasets"] == list(FILES)
    for name in ("generators.csv", "generators.subsets.csv", "generators.groups.csv"):
        assert (here / "study-results" / name).exists()


@pytest.mark.slow(because="4.3 s; every recorded mutant dies without it")
def test_other_contents_of_any_file_are_noticed(here: Path, computed: list[str]) -> None:
    study(here)
    for file in FILES:
        study(here)
        computed.clear()
        if file.endswith(".csv"):
            Path(file).write_text(Path(file).read_text() + "x,1,a,0\n")
        else:
            pl.read_parquet(file).head(6).write_parquet(file)
        study(here)
        assert computed == ["synthetic"], file


@pytest.mark.slow(because="1.2 s each; every recorded mutant dies without it")
@pytest.mark.parametrize(
    ("old", "new", "again"),
    [
        ('control = "held_out"\n', "", True),
        ('control = "held_out"\n', 'control = "held_out"\nwhere = "r < 3"\n', True),
        ('control = "held_out"', 'control = "control.csv"', False),
        ('name = "generators"', 'name = "other"', False),
        ("[report]", "seed = 3\n[report]", False),
        ("", "# a comment\n", False),
    ],
)
def test_only_what_has_changed_runs_again(
    here: Path, computed: list[str], old: str, new: str, *, again: bool
) -> None:
    study(here)
    computed.clear()
    study(here, (DATASETS + ENTRY).replace(old, new, 1))
    assert computed == ["synthetic"] * again


@pytest.mark.slow(because="2.0 s; every recorded mutant dies without it")
def test_draws_of_distances_depend_on_the_seed(here: Path, computed: list[str]) -> None:
    for seed in (1, 2, 1):
        study(here, f"seed = {seed}\n{DATASETS}{ENTRY}distances = 3\n")
    assert computed == ["synthetic"] * 2


@pytest.mark.slow(because="2.0 s; every recorded mutant dies without it")
def test_a_bound_that_does_not_hold_ends_with_4_also_when_it_is_kept(here: Path) -> None:
    written(here, DATASETS + ENTRY + 'require = ["iS<=0.01", "repU<=1"]\n')
    for _ in range(2):
        done = command("run", "study.toml", "--format", "json")
        assert done.code == 4
        assert "generators: not met: iS<=0.01 (first.csv: " in done.err
        assert [entry["met"] for entry in json.loads(done.out)["entries"]] == [False]
    written(here, DATASETS + ENTRY + 'require = "repU<=1"\n')
    assert command("run", "study.toml").code == 0


@pytest.mark.slow(because="1.8 s; every recorded mutant dies without it")
def test_the_report_has_the_chapter_and_the_summary_the_leak(here: Path) -> None:
    page = study(here, DATASETS.replace('out = ""', "") + ENTRY).report
    assert page is not None
    text = page.read_text()
    assert re.search(r"<h2[^>]*>Annex \d: Synthetic releases: generators<", text)
    assert "individual leak" in text
    shown = command("run", "study.toml", "--format", "table").out
    assert "Synthetic releases" in shown
    assert "Nothing was run." not in shown
    rows = [line for line in shown.splitlines() if line.strip().startswith("generators")]
    assert any("first.csv" in row and " pp " in row for row in rows)


def test_without_secret_and_control_the_summary_shows_what_there_is(here: Path) -> None:
    written(here, DATASETS + ENTRY.replace('control = "held_out"\n', 'secret = ""\n'))
    done = command("run", "study.toml", "--format", "table")
    assert done.code == 0
    assert "repU" in done.out
    assert "individual leak" not in done.out


HEAD = len(DATASETS.splitlines())


@pytest.mark.cases(7)
@pytest.mark.parametrize(
    ("lines", "line", "says"),
    [
        ([], 0, "synthetic 1 has no releases; write releases = ..."),
        (["releases = 3"], 3, "releases is a text in quotes or a list of them"),
        (["releases = ['first.csv', 'no.csv']"], 3, "no.csv does not exist"),
        (["releases = 'first.csv'", "control = 'no.csv'"], 4, "no.csv does not exist"),
        (["releases = 'first.csv'", "qids = ['q', 'rr']"], 4, 'column "rr" is not in'),
        (["releases = 'first.csv'", "require = 'repU'"], 4, 'invalid bound "repU"'),
        (["releases = 'first.csv'", "require = 'individual_leak<=0'"], 4, "needs a control"),
        (["releases = 'first.csv'", "split = 'q'"], 4, "add questions"),
        (["releases = 'first.csv'", "records = 'x.csv'"], 4, 'there is no "records" here'),
        (["releases = 'first.csv'", "weight = 'r'"], 4, 'there is no "weight" here'),
        (["releases = 'original.parquet'"], 3, "original.parquet is given twice"),
        (["release = 'first.csv'"], 3, 'there is no "release" here; did you mean "releases"?'),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_before_anything_runs(
    here: Path, lines: list[str], line: int, says: str
) -> None:
    entry = ["", "[[synthetic]]", 'name = "a"', 'dataset = "people"', *lines, ""]
    written(here, DATASETS + "\n".join(entry))
    before = sorted(here.rglob("*"))
    done = command("run", "study.toml")
    assert (done.code, done.out) == (2, "")
    where = f"study.toml, line {HEAD + 2 + line}: "
    errors = done.err.splitlines()
    assert any(says in error and where in error for error in errors), errors
    assert sorted(here.rglob("*")) == before


def test_all_mistakes_are_told_at_once(here: Path) -> None:
    wrong = ENTRY.replace('"held_out"', '"nobody.csv"').replace("first.csv", "none.csv")
    written(here, DATASETS + wrong + "sweep = 3\n" + '[[attack]]\nname = "b"\n')
    done = command("run", "study.toml")
    assert done.code == 2
    assert [int(n) for n in re.findall(r"line (\d+)", done.err)] == sorted(
        int(n) for n in re.findall(r"line (\d+)", done.err)
    )
    for says in ("sweep is true or false", "attack 1 has no model"):
        assert says in done.err


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    ("role", "says"),
    [
        ('weight = "r"', "by counting every record once, and the dataset has weight"),
        ('null = "drop"', "by counting every record once, and the dataset has null"),
        ('where = "r < 2"', "one condition (where) holds for the original, the releases and"),
    ],
)
def test_roles_that_the_comparison_would_not_keep_are_refused(
    here: Path, role: str, says: str
) -> None:
    written(here, f"{DATASETS}{role}\n{ENTRY}")
    done = command("run", "study.toml")
    assert done.code == 2
    assert says in done.err
    if "where" in role:
        written(here, f"{DATASETS}{role}\n{ENTRY}where = 'r < 2'\n")
        assert command("run", "study.toml").code == 0
