"""The study to begin with: it runs as it is, whatever the data are called, and replaces nothing."""

import os
import re
from pathlib import Path

import duckdb
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from studies import SAMPLES
from terminal import run

import qifsql
from qifsql.commands.init import init
from qifsql.commands.init.init import toml
from qifsql.errors import DatasetError, InputError, OutputError
from qifsql.study import policy as policies


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which commands are run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def untimed(frame: pl.DataFrame) -> pl.DataFrame:
    """A table without what differs from run to run."""
    return frame.drop("name", "seconds", "attack_id", strict=False)


@pytest.mark.slow(because="studies of other files run in test_whatever_the_columns_are")
def test_a_study_of_the_sample_runs_as_it_is(here: Path):
    made = run("init")
    assert (made.code, made.out) == (0, "")
    assert made.err == (
        "note: written: study.toml\nnote: look at it, then: qifsql run study.toml\n"
    )
    done = run("run", "study.toml")
    assert done.code == 0
    assert "error" not in done.err
    result = qifsql.run("study.toml")
    entry = qifsql.Study.load("study.toml").entries[0]
    assert set(result.details["entries"]["state"]) == {"unchanged"}
    alone = qifsql.attack(
        "crs,cas", SAMPLES / "school_census_2019.parquet", qids=entry.options["qids"],
        secret=entry.options["secret"],
    )  # fmt: skip
    assert_frame_equal(untimed(result.frame), untimed(alone.frame))
    assert "sample:school_census_2019.parquet" in Path("study.toml").read_text()


@pytest.mark.slow(because="4 s; every recorded mutant dies without it")
def test_columns_are_listed_with_their_suggested_roles(here: Path):
    pl.read_csv(SAMPLES / "thesis_table_3_2.csv").write_parquet("people.parquet")
    qifsql.init("own.toml", data="people.parquet")
    text = Path("own.toml").read_text()
    described = qifsql.describe("people.parquet").frame
    for row in described.to_dicts():
        assert re.search(rf'^ *(# )?"{row["column"]}", .*: {row["suggested_role"]}, ', text, re.M)
    entry = qifsql.Study.load("own.toml").entries[0]
    roles = dict(zip(described["column"], described["suggested_role"], strict=True))
    assert {roles[q] for q in entry.options["qids"]} == {"quasi-identifier"}
    assert {roles[s] for s in entry.options["secret"]} == {"secret"}
    assert entry.options["key"] == ("id",)
    assert run("run", "own.toml").code == 0
    assert (here / "own-results" / "report.html").exists()


@pytest.mark.slow(because="3 s; every recorded mutant dies without it")
def test_examples_in_comments_are_a_study_too(here: Path):
    """Every line that begins with # and no space: all that may be said, and it is known."""
    pl.DataFrame(
        {"id": [1, 2, 3], "age": [20, 30, 30], "sex": ["f", "m", None], "illness": ["a", "b", "a"],
         "person_weight": [1, 2, 1]}
    ).write_parquet("people.parquet")  # fmt: skip
    Path("before.csv").write_text("id;age;sex\n1;19;f\n2;29;m\n")
    Path("worth.csv").write_text("value,worth\na,1\nb,2\n")
    Path("policy.toml").write_text('[[rule]]\nmodel="crs"\nmeasure="blocks"\nat_most=9\n')
    Path("by_sex.csv").write_text("sex,count\nf,600\nm,600\n")
    Path("by_age.csv").write_text("age,count\n30,1200\n")
    for name in ("synthetic", "held_out"):
        Path(f"{name}.csv").write_text("age,sex\n19,f\n")
    path = qifsql.init(data="people.parquet")
    # a person, a household and a weight exclude one another
    text = re.sub(r"^#(?=\S)(?!person|household)", "", path.read_text(), flags=re.M)
    path.write_text(text.replace("all_varchar = true", "all_varchar = false"))
    study = qifsql.Study.load(path)
    assert [e.name for e in study.entries] == [
        "everybody", "details", "one_person", "over_the_years", "without_a_key", "subsets",
        "riskiest", "made", "from_outside", "generators", "special", "levels", "own_levels",
    ]  # fmt: skip
    planned = qifsql.run(path, dry_run=True)
    assert set(planned.details["entries"]["state"]) == {"to do"}


HOSTILE = ['a"b', "a\\b", "a\nb", "a = 1", "#a", "[[attack]]", "'''", "$qids", "é\u0301", "a\x7fb",
           "2:a", "a*b", " a ", "${name}", "\u202ea"]  # fmt: skip


@pytest.mark.slow(because="test_control_characters.py has hostile names for all commands")
def test_hostile_names_of_columns_and_files(here: Path):
    frame = pl.DataFrame({name: [1, 2, 2, i] for i, name in enumerate(HOSTILE)})
    (here / 'a "b" [c]').mkdir()
    data = here / 'a "b" [c]' / "#d' $x.parquet"
    frame.write_parquet(data)
    path = qifsql.init('own" #.toml', data=data.relative_to(here))
    study = qifsql.Study.load(path)
    entry = study.entries[0]
    assert len(entry.options["qids"]) >= 5
    assert set(entry.options["qids"]) <= set(HOSTILE)
    done = run("run", path)
    assert (done.code, "Traceback" in done.err) == (0, False)
    asked = {name: entry.options[name] for name in ("qids", "secret")}
    alone = qifsql.attack(entry.models, data, **asked)
    assert_frame_equal(untimed(qifsql.run(path).frame), untimed(alone.frame))


@pytest.mark.slow(because="2.7 s; every recorded mutant dies without it")
@pytest.mark.parametrize(
    ("columns", "options"),
    [
        ({"id": range(20)}, {}),
        ({"only": [1, 1]}, {}),
        ({"age": [1, 2], "w": [{"a": 1}, {"a": 2}]}, {}),
        ({f"age{i}": [1, 2, 2] for i in range(40)}, {}),
        ({"x": [0.5, 1.5, 1.5], "weight": [1.0, 2.0, 2.0]}, {}),
    ],
)
def test_whatever_the_columns_are_there_is_a_study(
    here: Path, columns: dict[str, list[object]], options: dict[str, object]
):
    pl.DataFrame(columns).write_parquet("t.parquet")
    path = qifsql.init(data="t.parquet", **options)
    if "only" in columns:  # nothing to know
        assert "there are no quasi-identifiers" in run("run", path).err
    else:
        assert run("run", path).code == 0


@pytest.mark.slow(because="3.3 s; every recorded mutant dies without it")
def test_csv_options_are_kept(here: Path):
    Path("coded.csv").write_bytes("age;código;x\n1;01;a\n2;1;b\n3;01;b\n".encode("latin-1"))
    done = run("init", "--data", "coded.csv", "--delimiter", ";", "--encoding", "latin-1",
               "--all-varchar")  # fmt: skip
    assert done.code == 0
    entry = qifsql.Study.load("study.toml").entries[0]
    (dataset,) = entry.datasets
    assert (dataset.delimiter, dataset.encoding, dataset.all_varchar) == (";", "latin-1", True)
    assert run("run", "study.toml").code == 0


@pytest.mark.slow(because="test_run.py reads paths as seen from the study")
def test_paths_are_as_seen_from_the_study(here: Path):
    (here / "data").mkdir()
    (here / "studies").mkdir()
    frame = pl.DataFrame({"age": [1, 2, 2], "ill": ["y", "n", "n"]})
    frame.write_parquet("data/people.parquet")
    with duckdb.connect("data/people.duckdb") as connection:
        connection.execute("CREATE TABLE people AS FROM 'data/people.parquet'")
    for i, data in enumerate(
        ["data/people.parquet", here / "data/people.parquet", "data/*.parquet", "data",
         "people@data/people.duckdb"]
    ):  # fmt: skip
        path = qifsql.init(f"studies/s{i}.toml", data=data)
        assert qifsql.run(path).frame["blocks"].to_list()[0] == 2


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_what_exists_is_left_alone(here: Path, kind: str):
    path = here / "study.toml"
    if kind == "file":
        path.write_text("mine")
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("nowhere")
    done = run("init")
    assert (done.code, done.out) == (2, "")
    assert "study.toml exists; name another file, or remove it" in done.err
    assert [p.name for p in here.iterdir()] == ["study.toml"]
    if kind == "file":
        assert path.read_text() == "mine"


def test_a_file_that_comes_meanwhile_is_left_alone(here: Path, monkeypatch: pytest.MonkeyPatch):
    real = init.describe

    def slow(*arguments: object, **options: object) -> object:
        Path("study.toml").write_text("mine")
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(init, "describe", slow)
    with pytest.raises(OutputError, match="exists"):
        qifsql.init()
    assert Path("study.toml").read_text() == "mine"


def test_data_that_are_not_there_leave_nothing(here: Path):
    with pytest.raises(DatasetError, match="does not exist"):
        qifsql.init(data="nothing.parquet")
    with pytest.raises(OutputError, match="there is no folder no"):
        qifsql.init("no/study.toml")
    assert list(here.iterdir()) == []


def test_names_that_are_no_unicode_are_told(here: Path):
    name = os.fsdecode(b"bad\xff.csv")
    try:
        Path(name).write_text("age\n1\n2\n")
    except OSError:
        pytest.skip("this file system has no such names")
    done = run("init", "--data", name)
    assert done.code == 2
    assert "Traceback" not in done.err
    assert not Path("study.toml").exists()


def test_texts_in_toml_are_what_they_were():
    import tomllib

    for text in [*HOSTILE, "\x00", "\t", "\U0001f600", "\u2028"]:
        assert tomllib.loads(f"{toml(text)} = {toml([text, 1, 0.5, True])}") == {
            text: [text, 1, 0.5, True]
        }


@pytest.mark.slow(because="0.7 s; every recorded mutant dies without it")
def test_a_policy_holds_a_file_as_it_is(here: Path):
    pl.read_csv(SAMPLES / "thesis_table_3_2.csv").write_parquet("people.parquet")
    made = run("init", "--policy", "--data", "people.parquet")
    assert (made.code, made.out) == (0, "")
    assert "qifsql check people.parquet --policy policy.toml" in made.err
    known = qifsql.Study.load(qifsql.init(data="people.parquet")).entries[0].options
    verdict = qifsql.check("people.parquet", "policy.toml")
    assert verdict.spec["qids"] == list(known["qids"])
    assert values(verdict) == [("k", ">= 5")]
    other = qifsql.init("other.toml", data="people.parquet", policy=True, preset="wp216")
    measures = [m for m, _ in values(qifsql.check("people.parquet", other))]
    assert set(measures) == {"singled_out", "individuals_certain"}
    with pytest.raises(InputError, match='no preset "k4"'):
        qifsql.init("none.toml", data="people.parquet", policy=True, preset="k4")
    assert not Path("none.toml").exists()


def values(verdict: qifsql.Verdict) -> list[tuple[object, ...]]:
    """The measures of a verdict, and their bounds."""
    return verdict.frame.select("measure", "wanted").rows()


def test_examples_in_comments_of_a_policy_are_rules_too(here: Path):
    pl.read_csv(SAMPLES / "thesis_table_3_2.csv").write_parquet("people.parquet")
    path = qifsql.init(data="people.parquet", policy=True)
    text = path.read_text()
    for name in policies.presets():
        assert policies.preset(name).read_text().splitlines()[0] in text
    path.write_text(re.sub(r"^#(?=\S)", "", text, flags=re.M))
    assert len(policies.read(path).rules) == len(policies.presets()) + 2
    (recipient,) = policies.read(path).recipients
    assert recipient.limits == {"maximum": 0.4 / 3, "average": 0.05}


def test_given_roles_sizes_and_language_are_written(here: Path):
    pl.read_csv(SAMPLES / "thesis_table_3_2.csv").write_parquet("people.parquet")
    qifsql.init("a.toml", data="people.parquet", qids="gender,decade=age//10", secret=[],
                sizes="1-2", lang="pt-BR")  # fmt: skip
    study = qifsql.Study.load("a.toml")
    assert study.entries[0].options["qids"] == ("gender", "decade=age//10")
    assert "secret" not in study.entries[0].options
    assert study.entries[1].options["sizes"] == "1-2"
    assert study.reader["lang"] == "pt-BR"
    run("init", "b.toml", "--data", "people.parquet", "--qids", "gender,decade=age//10",
        "--secret", "", "--sizes", "1-2", "--lang", "pt-BR")  # fmt: skip
    first = Path("a.toml").read_text().replace("a.toml", "b.toml")
    assert Path("b.toml").read_text() == first.replace("a-results", "b-results")


@pytest.mark.parametrize("asked", [("-s", "=x"), ("-q", "zap"), ("-q", "age", "-s", "age")])
def test_given_roles_that_do_not_fit_leave_nothing(here: Path, asked: tuple[str, ...]):
    pl.read_csv(SAMPLES / "thesis_table_3_2.csv").write_parquet("people.parquet")
    done = run("init", "a.toml", "--data", "people.parquet", *asked)
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert not Path("a.toml").exists()


def test_the_riskiest_and_the_most_sensitive_come_first(here: Path):
    columns = {f"age{i:02}": [n % (i + 2) for n in range(60)] for i in range(14)}
    sizes = {"score": 9, "income": 7, "opinion": 3, "illness": 2}
    columns |= {name: [n % size for n in range(60)] for name, size in sizes.items()}
    pl.DataFrame(columns).write_parquet("people.parquet")
    entry = qifsql.Study.load(qifsql.init(data="people.parquet")).entries[0]
    assert entry.options["qids"] == tuple(f"age{i:02}" for i in range(13, -1, -1))
    assert entry.options["secret"] == ("illness", "income", "score", "opinion")
