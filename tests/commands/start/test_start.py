"""From a file to a report: the numbers are those of the commands that it says it ran."""

import io
import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from terminal import run

import qifsql
from qifsql.commands.start import cli
from qifsql.commands.start.chosen_roles import proposed_changes
from qifsql.commands.start.spec import Roles
from qifsql.commands.start.start import Questions
from qifsql.errors import ColumnError, InputError, OutputError


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file of people, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    people = {
        "person_id": range(40),
        "age": [20 + i % 7 for i in range(40)],
        "sex": ["f", "m"] * 20,
        "town": [f"t{i % 3}" for i in range(40)],
        "illness": [f"d{i % 4}" for i in range(40)],
        "fnlwgt": [100 + i for i in range(40)],
    }
    pl.DataFrame(people).write_parquet("people.parquet")
    return tmp_path


def untimed(frame: pl.DataFrame) -> pl.DataFrame:
    """A table without what differs from run to run."""
    return frame.drop("seconds", "attack_id", strict=False)


def entry(study: Path, name: str) -> dict[str, Any]:
    """The options of an entry of a study."""
    return {e.name: dict(e.options) for e in qifsql.Study.load(study).entries}[name]


@pytest.mark.slow(because="6.9 s; every recorded mutant dies without it")
def test_the_commands_that_made_it_make_it_again(here: Path):
    done = run("start", "people.parquet", "--yes")
    assert done.code == 0, done.err
    lines = [line.strip() for line in done.out.splitlines()]
    folder = here / "people-qifsql"
    assert (folder / "study-results" / "report.html").is_file()
    assert "The report: people-qifsql/study-results/report.html" in lines
    first = pl.read_parquet(folder / "study-results" / "everybody.parquet")
    shutil.rmtree(folder)
    folder.mkdir()
    at = lines.index("Commands that made it")
    commands = [line for line in lines[at : lines.index("Next steps")] if line.startswith("qifsql")]
    assert [shlex.split(c)[1] for c in commands] == ["describe", "init", "run"]
    for command in commands:
        assert run(*shlex.split(command)[1:]).code == 0
    again = pl.read_parquet(folder / "study-results" / "everybody.parquet")
    assert_frame_equal(untimed(first), untimed(again))
    alone = qifsql.attack("crs,cas", "people.parquet", qids="age,town,sex", secret="illness")
    columns = ["model", "posterior_probabilistic", "singled_out"]
    assert first.select(columns).rows() == alone.frame.select(columns).rows()


@pytest.mark.slow(because="3.8 s; every recorded mutant dies without it")
def test_the_next_steps_run(here: Path):
    done = run("start", "people.parquet", "--yes")
    lines = [line.strip() for line in done.out.splitlines()]
    steps = [line for line in lines[lines.index("Next steps") :] if line.startswith("qifsql")]
    assert [shlex.split(step)[1] for step in steps] == ["run", "check", "compare", "anonymise"]
    for step in steps:
        assert run(*shlex.split(step)[1:]).code in (0, 4)


def test_changes_are_proposed_for_many_dates_ages_and_years() -> None:
    columns = [
        ("age", "BIGINT", 60, "name: age"),
        ("year", "SMALLINT", 5, "name: time"),
        ("born", "DATE", 300, "name: age"),
        ("code", "BIGINT", 4000, "name: place"),
        ("town", "VARCHAR", 400, "name: place"),
        ("pay", "BIGINT", 900, "name: age"),
    ]
    names = ("column", "type", "distinct", "why")
    rows = [dict(zip(names, column, strict=True)) for column in columns]
    qids = ["age", "year", "born", "code", "town"]
    assert proposed_changes(rows, qids) == ["age:5", "born:year"]


def test_a_file_alone_means_start(here: Path):
    named = run("start", "people.parquet", "--yes", "-o", "one")
    bare = run("people.parquet", "--yes", "-o", "two")
    assert (bare.code, bare.out.replace("two", "one")) == (0, named.out)


def test_a_command_wins_over_a_file_of_its_name(here: Path):
    shutil.copy("people.parquet", "explain")
    assert "best guess" in run("explain", "posterior_probabilistic").out
    assert not (here / "explain-qifsql").exists()


@pytest.mark.slow(because="3.7 s; every recorded mutant dies without it")
def test_columns_that_are_not_considered_are_named(here: Path):
    result = qifsql.start("people.parquet", yes=True)
    assert result.not_considered == ("fnlwgt",)
    assert "Not considered: fnlwgt." in str(result)


def test_without_a_terminal_it_needs_yes(here: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("\n\n\n"))
    done = run("start", "people.parquet")
    assert (done.code, done.out) == (2, "")
    assert "there is no terminal" in done.err
    assert "--yes" in done.err
    with pytest.raises(InputError, match="no terminal"):
        qifsql.start("people.parquet")
    assert [p.name for p in here.iterdir()] == ["people.parquet"]


@pytest.mark.slow(because="2.9 s; every recorded mutant dies without it")
def test_a_person_is_asked(here: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cli, "interactive", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO("n\nage,sex\n-\n"))
    done = run("start", "people.parquet")
    assert done.code == 0, done.err
    options = entry(here / "people-qifsql" / "study.toml", "subsets")
    assert (options["qids"], options.get("secret")) == (("age", "sex"), None)
    assert "--qids age,sex --secret ''" in done.out
    assert "name: age" in done.err


@pytest.mark.slow(because="2.2 s; every recorded mutant dies without it")
def test_roles_that_do_not_fit_are_asked_for_again(here: Path):
    answers = [(["agee"], []), (["age"], ["illness"])]
    lines: list[str] = []

    def roles(_described: object, _qids: Sequence[str], _secrets: Sequence[str]) -> Any:
        return answers.pop(0)

    questions = Questions(roles=roles)
    result = qifsql.start("people.parquet", questions=questions, told=lines.append)
    assert result.spec["qids"] == ["age"]
    assert any('did you mean "age"' in line for line in lines)


@pytest.mark.slow(because="runs a study")
def test_the_sweep_takes_seconds_and_says_what_it_leaves_out(here: Path):
    """All roles are attacked; 2^16 subsets of six secrets would take minutes."""
    people = {
        f"town{i}": [f"t{(j * j + i * j) % (i + 5)}" for j in range(60)] for i in range(1, 17)
    }
    people |= {f"illness{i}": [f"d{(i + j) % 30}" for j in range(60)] for i in range(1, 7)}
    pl.DataFrame(people).write_parquet("people.parquet")
    result = qifsql.start("people.parquet", yes=True)
    everybody, swept = (entry(result.study, name) for name in ("everybody", "subsets"))
    assert (len(everybody["qids"]), len(everybody["secret"])) == (16, 6)
    assert everybody["qids"][: len(swept["qids"])] == swept["qids"]
    assert 2 <= len(swept["qids"]) <= 10
    assert swept["secret"] == everybody["secret"][: len(swept["secret"])]
    taken = f"takes {len(swept['qids'])} of 16 quasi-identifiers and {len(swept['secret'])} of 6"
    assert taken in str(result)
    text = result.study.read_text()
    result.study.write_text(re.sub(r"^(qids|secret) = .*left out: all\n", "", text, flags=re.M))
    assert entry(result.study, "subsets")["qids"] == everybody["qids"]


def told(options: Roles) -> tuple[dict[str, Any], list[str]]:
    """The attack of a study with other roles than the suggested ones, and what was told."""
    lines: list[str] = []
    folder = "-".join(options)
    result = qifsql.start("people.parquet", yes=True, folder=folder, told=lines.append, **options)
    return entry(result.study, "everybody"), lines


@pytest.mark.slow(because="runs four studies")
def test_named_roles_win_over_the_suggested_ones(here: Path):
    frame = pl.read_parquet("people.parquet").with_columns(home=pl.col("person_id") // 2)
    frame.write_parquet("people.parquet")
    usual, lines = told({})
    assert set(usual["qids"]) >= {"age", "sex", "town"}
    assert any('"fnlwgt" looks like a weight and is left out' in line for line in lines)
    other, _ = told({"also": "illness", "without": "town"})
    assert {*other["qids"]} == {*usual["qids"], "illness"} - {"town"}
    assert "secret" not in other
    weighted, lines = told({"weight": "fnlwgt"})
    assert weighted["weight"] == "fnlwgt"
    assert '"fnlwgt" weights the records' in lines
    people, lines = told({"person": "home"})
    assert people["person"] == "home"
    assert "home" not in people["qids"]
    assert any('"home" says whose record it is' in line for line in lines)


def test_roles_of_the_command_line_have_their_names(here: Path):
    done = run(
        "start", "people.parquet", "--yes", "--qid+", "illness", "--not", "town", "--lang", "en"
    )
    assert done.code == 0, done.err
    qids = entry(here / "people-qifsql" / "study.toml", "everybody")["qids"]
    assert ("illness" in qids, "town" in qids, "age" in qids) == (True, False, True)
    assert "age (name: age)" in done.err


@pytest.mark.parametrize("option", ["also", "without", "person", "household", "weight"])
def test_a_role_of_no_column_is_refused(here: Path, option: str):
    with pytest.raises(ColumnError, match="did you mean"):
        qifsql.start("people.parquet", yes=True, **{option: "agee"})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unknown option"):
        qifsql.start("people.parquet", yes=True, alsoo="age")  # type: ignore[call-arg]
    assert [p.name for p in here.iterdir()] == ["people.parquet"]


def test_nothing_is_replaced(here: Path):
    (here / "people-qifsql").mkdir()
    (here / "people-qifsql" / "study.toml").write_text("mine")
    with pytest.raises(OutputError, match=r"qifsql run people-qifsql/study\.toml"):
        qifsql.start("people.parquet", yes=True)
    assert (here / "people-qifsql" / "study.toml").read_text() == "mine"


def test_what_cannot_be_studied_leaves_nothing(here: Path):
    pl.DataFrame({"a": [1, 1], "b": [2, 2]}).write_parquet("constant.parquet")
    with pytest.raises(ColumnError, match=r"no column of constant\.parquet"):
        qifsql.start("constant.parquet", yes=True)
    with pytest.raises(InputError, match="no language"):
        qifsql.start("people.parquet", yes=True, lang="xx")
    with pytest.raises((InputError, TypeError)):
        qifsql.start(pl.read_parquet("people.parquet"), yes=True)  # type: ignore[arg-type]
    with pytest.raises(OutputError, match="not valid UTF-8"):
        qifsql.start("people.parquet", folder="\udcff", yes=True)
    assert {p.name for p in here.iterdir()} == {"people.parquet", "constant.parquet"}


@pytest.mark.slow(because="2.5 s; every recorded mutant dies without it")
def test_it_speaks_portuguese(here: Path):
    done = run("start", "people.parquet", "--yes", "--lang", "pt-BR")
    assert "Risco" in done.out
    report = (here / "people-qifsql" / "study-results" / "report.html").read_text("utf-8")
    assert 'lang="pt-BR"' in report


@pytest.mark.slow(because="2.1 s; every recorded mutant dies without it")
def test_a_csv_is_read_as_it_is_said(here: Path):
    rows = "".join(f"0{i % 3};{'ação' if i % 2 else 'paz'};{i}\n" for i in range(40))
    (here / "p.csv").write_bytes(f"zip;illness;id\n{rows}".encode("latin-1"))
    csv = ("--delimiter", ";", "--encoding", "latin-1", "--all-varchar")
    done = run("start", "p.csv", "--yes", *csv)
    assert done.code == 0, done.err
    study = qifsql.Study.load(here / "p-qifsql" / "study.toml")
    assert qifsql.run(study).met
    assert "--all-varchar --delimiter ';' --encoding latin-1" in done.out
    text = (here / "p-qifsql" / "study.toml").read_text()
    assert 'encoding = "latin-1"' in text
    assert "all_varchar = true" in text


def test_a_column_of_names_is_told_before_all_numbers(tmp_path: Path) -> None:
    """Not nobody: whoever knows the names finds everybody, though no number has them."""
    names = pl.DataFrame(
        {
            "person": [f"Sheriff {'ABCDEFGH'[i % 8]}{i}son Smith" for i in range(24)],
            "dept": [f"Dept {i % 3}" for i in range(24)],
        }
    )
    names.write_csv(tmp_path / "names.csv")
    done = run("start", tmp_path / "names.csv", "--yes", "-o", tmp_path / "begun")
    assert done.code == 0
    before, *numbers = done.out.partition("Re-identification")
    assert "person tells 24 of 24 people apart" in before
    assert ", without person." in "".join(numbers)
    assert "singled out" not in done.out
    assert "Every column of the file has a role" not in done.out


class Described(Exception):
    """The roles are asked for."""


def asked_for_roles(described: Any, *_roles: object) -> Any:
    raise Described(described.frame["column"].to_list(), described.frame["records"][0])


ROWS = "sex;born;w\nm;01/02/1980;1\nf;02/03/1981;2\nf;03/04/1981;3\nm;03/04/1982;4\n"
MISREAD = {  # a file, the option that start takes, and one that wins over it
    "skip": (f"Survey of 2011\n{ROWS.replace('/', '')}".encode(), 1, 1),
    "header_rows": (ROWS.replace("/", "").replace("m;", "your;date;kg\nm;", 1).encode(), 2, 1),
    "encoding": (ROWS.replace("/", "").encode("utf-16-le"), "utf-16-le", "utf-16-le"),
    "decimal": (ROWS.replace("/", "").replace("\n", ",5\n").encode(), ",", "."),
    "date_order": (ROWS.encode(), "dmy", "mdy"),
}


@pytest.mark.parametrize("option", MISREAD)
def test_a_guess_at_the_reading_is_told_and_an_option_wins(here: Path, option: str):
    content, taken, named = MISREAD[option]
    Path("people.csv").write_bytes(content)
    told: list[str] = []
    asking = {"questions": Questions(roles=asked_for_roles), "told": told.append}
    with pytest.raises(Described):
        qifsql.start("people.csv", **asking)
    flag = f"--{option.replace('_', '-')} {taken}"
    assert [line.partition(":")[0] for line in told] == [f"people.csv is read with {flag}"]
    with pytest.raises(Described) as proposed:
        qifsql.start("people.csv", **asking, **{option: taken})
    assert proposed.value.args[1] == 4  # records
    told.clear()
    with pytest.raises(Described):
        qifsql.start("people.csv", **asking, **{option: named})
    assert not told
