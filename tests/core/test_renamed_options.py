"""Options that had another name before: it still works, with a note."""

import re
from pathlib import Path

import polars as pl
import pytest
from terminal import run

import qifsql

TABLE = Path(__file__).parents[2] / "data-samples" / "thesis_table_3_2.csv"
DIT = ("dit", TABLE, "-q", "age", "-s", "illness", "--k", "2", "--format", "json")
CENSUS = Path(__file__).parents[2] / "data-samples" / "school_census_2018.parquet"
ESTIMATE = ("estimate", CENSUS, "-q", "TP_SEXO", "--format", "json")
RENAMED = [
    (DIT, ("--sample", "3"), ("--sample-size", "3")),
    (DIT, ("--sample=3",), ("--sample-size=3",)),
    (DIT, ("--threshold", "0.5"), ("--distance", "0.5")),
    (ESTIMATE, ("--weight", "10"), ("--sampling-weight", "10")),
]


def answer(*words: object) -> str:
    """The answer of a command without the times."""
    done = run(*words, "--quiet")
    assert (done.code, done.err) == (0, "")
    return re.sub(r'"\w*seconds?": [0-9.e-]+', "", done.out)


@pytest.mark.slow(because="3.5 s each; every recorded mutant dies without it")
@pytest.mark.parametrize(("command", "old", "new"), RENAMED)
def test_an_old_name_does_what_the_new_does_and_says_so(
    command: tuple[object, ...], old: tuple[str, ...], new: tuple[str, ...]
) -> None:
    assert answer(*command, *old) == answer(*command, *new)
    flag, name = old[0].split("=")[0], new[0].split("=")[0]
    assert f"note: {flag} is now {name}\n" in run(*command, *old).err
    assert f"note: {flag} is now" not in run(*command, *new).err
    assert f" {flag} " not in run(command[0], "--help").out


@pytest.mark.cases(1)
@pytest.mark.parametrize("short", [("-c", "hash"), ("-chash",)])
def test_a_short_name_can_hold_its_value(short: tuple[str, ...], tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("hash\ncfcd208495d565ef66e7dff9f98764da\n")
    asked = ("unhash", log, "--hash", "md5", "--pattern", "[0-9]", "--format", "json", "--quiet")
    assert answer(*asked, *short) == answer(*asked, "--column", "hash")


def test_a_report_calls_people_by_the_old_option(tmp_path: Path) -> None:
    assert run("attack", "crs", TABLE, "-q", "age", "-o", tmp_path / "r.json").code == 0
    asked = ("report", tmp_path / "r.json", "-o", tmp_path / "r.md")
    done = run(*asked, "--people", "pupils")
    assert (done.code, "note: --people is now --people-word" in done.err) == (0, True)
    assert "pupils" in (tmp_path / "r.md").read_text()


@pytest.mark.slow(because="1.7 s; every recorded mutant dies without it")
def test_an_old_name_works_in_python_with_a_warning() -> None:
    asked = {"qids": "age", "secret": "illness", "k": 2}
    with pytest.warns(DeprecationWarning, match="sample is now sample_size") as caught:
        old = qifsql.dit(TABLE, **asked, sample=3)
    assert [w.filename for w in caught] == [__file__]
    new = qifsql.dit(TABLE, **asked, sample_size=3)
    assert old.frame.drop("seconds", strict=False).equals(new.frame.drop("seconds", strict=False))
    with pytest.warns(DeprecationWarning, match="weight is now sampling_weight"):
        qifsql.estimate(CENSUS, qids="TP_SEXO", weight="10")


@pytest.mark.slow(because="3.3 s; every recorded mutant dies without it")
def test_hierarchies_name_their_column_everywhere(tmp_path: Path) -> None:
    tree = tmp_path / "a=b.csv"
    values = pl.read_csv(TABLE)["illness"].unique().to_list()
    tree.write_text("".join(f"{value};ill;any\n" for value in values))
    assert answer(*DIT, "--hierarchy", f"illness={tree}") == answer(*DIT, "--hierarchy", tree)
    levels = ("levels", TABLE, "-q", "age", "-s", "illness", "--format", "json")
    named, alone = (answer(*levels, "--hierarchy", x) for x in (f"illness={tree}", tree))
    assert named == alone
    done = run(*DIT, "--hierarchy", f"age={tree}")
    assert done.code == 2
    assert "is cut at medians, not along a hierarchy" in done.err


@pytest.mark.slow(because="2.1 s each; every recorded mutant dies without it")
@pytest.mark.parametrize(("old", "new"), [("candidates", "everyone"), ("ignored", "out")])
def test_suppressed_records_have_one_vocabulary(old: str, new: str, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("age,s\n20-29,x\n*,y\n")
    (tmp_path / "people.csv").write_text("age,id\n25,1\n")
    releases = [tmp_path / "a.csv", tmp_path / "b.csv"]
    asked = {"people": tmp_path / "people.csv", "qids": "age", "secret": "s"}
    frames = [qifsql.compose(releases, **asked, suppressed=x).frame for x in (old, new)]
    assert frames[0].drop("seconds", strict=False).equals(frames[1].drop("seconds", strict=False))
