"""Collections on the command line: what is asked and shown, and what is refused and how."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from places import SAMPLES
from polars.testing import assert_frame_equal
from terminal import run

import qifsql
from qifsql.results.assessment import SCHEMA

CELL = "CELLVALUE"  # stands in cells and must never stand in a message
BOTH = ("a.parquet", "b.parquet", "--key", "id")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with small datasets, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    few: dict[str, dict[str, Any]] = {
        "a": {
            "id": [1, 2, 3],
            "q": [1, 2, 2],
            "s": [f"{CELL}1", f"{CELL}2", None],
            "flag": [True, False, True],
            "three": [f"{CELL}x", f"{CELL}y", f"{CELL}z"],
            "unsure": [True, None, False],
            "day": pa.array([1, 2, 3], pa.date32()),
            "tags": [[1], [2], [3]],
        },
        "b": {"id": [1, 2, 4], "q": [5, 6, 7], "s": [CELL] * 3, "school": [1, 2, 3]},
        "repeated": {"id": [1, 1, 2, 2, 2, None, None], "q": [1] * 7},
        "texts": {"id": ["1", "2", "007"], "q": [1, 2, 3]},
        "others": {"id": [100, 200], "q": [1, 2]},
        "named": {"ident": [1, 2], "q": [1, 2]},
        "nobody": {"id": pa.array([], pa.int64()), "q": pa.array([], pa.int64())},
        "long": {
            "id": [1, 2, 1, 2],
            "year": [f"{CELL}1", f"{CELL}1", f"{CELL}2", f"{CELL}2"],
            "q": [1, 2, 3, 4],
            "nothing": pa.array([None] * 4, pa.int64()),
            "tags": [[1]] * 4,
        },
        "days": {"id": range(101), "day": range(101), "q": range(101)},
        "release": {"id": [1, 9, None], "q": [1, 2, 3]},
        "hostile": {"id": [1, 2], "2:x": [1, 2], '"; drop table a': [1, 2], "\U0001f642\n": [1, 2]},
        "keys": {"'); drop\ntable a --": [f"{CELL}'); --", f'{CELL}"', f"{CELL}"]},
    }
    for name, columns in few.items():
        pq.write_table(pa.table({k: pa.array(v) for k, v in columns.items()}), f"{name}.parquet")
    Path("nobody.csv").write_text("id,q\n")
    Path("zeros.csv").write_text(f"id,q\n001,{CELL}\n002,{CELL}\n")
    return tmp_path


def refused(here: Path, *arguments: object, says: str) -> None:
    """The command fails with one line that says this, prints no result and leaves no file."""
    before = sorted(here.rglob("*"))
    done = run("attack", *arguments)
    assert done.out == ""
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1
    assert says in done.err
    assert CELL not in done.err
    assert done.code == 2
    assert sorted(here.rglob("*")) == before


# The key


@pytest.mark.parametrize("files", ["a.parquet repeated.parquet", "repeated.parquet a.parquet"])
def test_a_key_that_several_records_have_is_counted_and_can_be_treated(here: Path, files: str):
    says = 'repeated.parquet has 5 records of 2 people with several: key "id" must be unique'
    refused(here, "crl", *files.split(), "-q", "q", "--key", "id", says=says)
    says = "choose one record per person: qifsql anonymise repeated.parquet --one-per id -o OUT"
    refused(here, "crl", *files.split(), "-q", "q", "--key", "id", says=says)


def test_a_command_that_is_advised_can_be_copied_whatever_the_names_are(here: Path):
    columns = {"rm\n*": [1, 1], "q": [1, 2]}
    pq.write_table(pa.table(columns), "it's.parquet")
    says = """qifsql anonymise 'it'"'"'s.parquet' --one-per 'rm\\n*' -o OUT"""
    arguments = ("it's.parquet", "a.parquet", "-q", "q", "--key", "rm\n*", "--key", "id")
    refused(here, "crl", *arguments, says=says)


def test_several_datasets_without_a_key(here: Path):
    says = "2 datasets are joined by a person key; name it with --key"
    refused(here, "crl", "a.parquet", "b.parquet", "-q", "q", says=says)


def test_a_key_that_a_dataset_lacks(here: Path):
    arguments = ("crl", "a.parquet", "named.parquet", "-q", "q", "--key")
    refused(here, *arguments, "idd", says='"idd" is not in a.parquet; did you mean "id"?')
    refused(here, *arguments, "id,idnt", says='is not in named.parquet; did you mean "ident"?')
    says = '"id" is not in named.parquet; it has "ident", "q"; where its key has another name'
    refused(here, *arguments, "id", says=says)


@pytest.mark.parametrize("other", ["texts.parquet", "zeros.csv"])
def test_a_key_of_another_type(here: Path, other: str):
    """Zeros before a number are lost in a number, so it is not made one."""
    says = f'key "id" is VARCHAR in {other} but BIGINT in a.parquet: values are not converted'
    refused(here, "crl", "a.parquet", other, "-q", "q", "--key", "id", says=says)


def test_zeros_before_a_number_are_part_of_a_key(here: Path):
    arguments = ("crl", "zeros.csv", "texts.parquet", "-q", "q", "--key", "id", "--all-varchar")
    refused(here, *arguments, says="zeros.csv and texts.parquet have no person in common")
    refused(here, *arguments, says="check that both columns hold the same identifier")


def test_a_key_that_cannot_be_one(here: Path):
    arguments = ("crl", "a.parquet", "b.parquet", "-q", "q", "--key")
    refused(here, *arguments, "tags,id", says='key "tags" of a.parquet is nested; name another')
    refused(here, *arguments, "day,id", says="is BIGINT in b.parquet but DATE in a.parquet")


def test_numbers_that_would_be_rounded_are_not_compared(here: Path):
    with duckdb.connect("wide.duckdb") as connection:
        connection.execute(f"CREATE TABLE u AS SELECT {2**127 - 1}::UHUGEINT AS id, 1 AS q")
        connection.execute(f"CREATE TABLE s AS SELECT {2**127 - 2}::HUGEINT AS id, 1 AS q")
    arguments = ("crl", "s@wide.duckdb", "u@wide.duckdb", "-q", "q", "--key", "id")
    refused(here, *arguments, says="is UHUGEINT in u@wide.duckdb but HUGEINT in s@wide.duckdb")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("crl a.parquet b.parquet -q q --key id,id,id", "3 keys for 2 datasets"),
        ("crl a.parquet -q q --key id,id", "2 keys for 1 dataset"),
        ("crl a.parquet b.parquet b.parquet -q q --key id,id", "2 keys for 3 datasets"),
        ("crl long.parquet -q q --wave q --key id,q", "2 keys for one long table"),
    ],
)
def test_a_number_of_keys_that_fits_nothing(here: Path, arguments: str, says: str):
    refused(here, *arguments.split(), says=says)


def test_datasets_of_other_people(here: Path):
    arguments = ("crl", "a.parquet", "others.parquet", "-q", "q", "--key", "id")
    refused(here, *arguments, says="a.parquet and others.parquet have no person in common")


def test_hostile_keys_and_names_stay_what_they_are(here: Path):
    key = "'); drop\ntable a --"
    arguments = ("crl", "keys.parquet", "keys.csv", "-q", f"1:{key}", "-q", "2:n")
    cells = [f"{CELL}'); --", f'{CELL}"']
    lines = ['"{}",{}'.format(cell.replace('"', '""'), n) for n, cell in enumerate(cells)]
    Path("keys.csv").write_text("\n".join(["k,n", *lines, ""]))
    done = run("attack", *arguments, "--key", key, "--key", "k", "-f", "json")
    assert "2 of 3 people of keys.parquet are in keys.csv, too" in done.err
    assert json.loads(done.out)["results"][0]["blocks"] == 3
    names = ["1:2:x", '1:"; drop table a', "1:\U0001f642\n"]
    result = qifsql.attack("crl", ["hostile.parquet", "a.parquet"], qids=names, key="id")
    assert result.rows()[0]["qids"] == names


# Files


def test_one_file_given_twice(here: Path):
    Path("link.parquet").symlink_to("a.parquet")
    for other in ("a.parquet", "./a.parquet", "link.parquet"):
        arguments = ("crl", "a.parquet", other, "-q", "q", "--key", "id")
        refused(here, *arguments, says="is given twice; a collection has different datasets")


@pytest.mark.parametrize("empty", ["nobody.parquet", "nobody.csv"])
def test_a_dataset_without_records(here: Path, empty: str):
    """Types of CSV without records mean nothing, so nothing is said of them."""
    arguments = ("crl", "a.parquet", empty, "-q", "q", "--key", "id")
    refused(here, *arguments, says=f"{empty} has no records; name another file")
    arguments = ("crl", empty, "a.parquet", "-q", "q", "--key", "id")
    refused(here, *arguments, says="no records")


def test_an_auxiliary_file_that_is_not_there(here: Path):
    arguments = ("crl", "a.parquet", "bb.parquet", "-q", "q", "--key", "id")
    refused(here, *arguments, says='did you mean "b.parquet"?')


@pytest.mark.cases(2)
@pytest.mark.parametrize("out", ["b.parquet", "./b.parquet", "a.parquet"])
def test_a_result_never_takes_the_place_of_what_is_read(here: Path, out: str):
    before = (here / out).read_bytes()
    arguments = ("crl", *BOTH, "-q", "q", "--quiet", "-o", out)
    refused(here, *arguments, says=f"{Path(out).name} is the input; name another file")
    assert (here / out).read_bytes() == before


# Models


@pytest.mark.parametrize("model", ["crs", "cas", "marketer"])
def test_auxiliary_datasets_for_a_single_dataset_model(here: Path, model: str):
    says = "attacks a single dataset, and here are 2; for the collection use c"
    refused(here, model, *BOTH, "-q", "q", "-s", "s", says=says)


def test_models_of_membership_are_run_apart(here: Path):
    refused(here, "crl,cml", *BOTH, "-q", "q", says="membership models cannot be combined")


def test_a_rule_of_absence_that_is_none(here: Path):
    for files in (BOTH, ("a.parquet",)):
        arguments = ("crl", *files, "-q", "q", "--absent", "maybe")
        refused(here, *arguments, says="absent is one of null, distinct")


# Names


@pytest.mark.cases(3)
@pytest.mark.parametrize(
    ("qids", "says"),
    [
        ("3:q", "tag 3 is beyond the collection, which has 2 datasets; write 1 to 2"),
        ("0:q", "tag 0 is beyond the collection"),
        ("2:qq", 'column "qq" is not in b.parquet; did you mean "q"?'),
        ("scool", 'is not in any dataset of the collection; did you mean "school"?'),
        ("n=scool + 1", 'is not in any dataset of the collection; did you mean "school"?'),
        ("n=school + day", "no dataset of the collection has all columns"),
        ("x*", "no column of any dataset of the collection matches"),
        ("q,1:q", '"1:q" is given twice'),
        ("q +", "an expression needs a name"),
        ("tags", 'column "1:tags" is nested'),
    ],
)
def test_quasi_identifiers_that_no_dataset_has(here: Path, qids: str, says: str):
    refused(here, "crl", *BOTH, "-q", qids, says=says)


def test_a_column_whose_name_looks_like_a_tag(here: Path):
    files = ("hostile.parquet", "a.parquet", "--key", "id")
    says = 'the column "2:x" of hostile.parquet is written "1:2:x"'
    refused(here, "crl", *files, "-q", "2:x", says=says)
    refused(here, "cal", *files, "-q", "q", "-s", "2:x", says=says)


def test_a_secret_under_the_name_of_a_quasi_identifier(here: Path):
    pq.write_table(pa.table({"id": [1, 2], "q": [1, 1], "1:q": [3, 4]}), "twins.parquet")
    files = ("twins.parquet", "a.parquet", "--key", "id", "-q", "1:q")
    says = 'secret "1:q" has the name of a quasi-identifier; give it another'
    refused(here, "cal", *files, "-s", "1:1:q", says=says)
    assert run("attack", "cal", *files, "-s", 'other="1:q"').code == 0
    refused(here, "cas", "a.parquet", "-q", "x=q + 1", "-s", "x=q * 2", says="has the name of a")


def test_the_secret_among_the_quasi_identifiers_of_all_years(here: Path):
    says = 'secret "s" is among the quasi-identifiers; what the adversary knows is not a secret'
    refused(here, "cal", *BOTH, "-q", "q,s", "-s", "s", says=says)
    refused(here, "cal", *BOTH, "-q", "q,s", "-s", "s", says='of another dataset, write "2:s"')
    refused(here, "cal", *BOTH, "-q", "q,1:s", "-s", "1:s", says=says)
    assert run("attack", "cal", *BOTH, "-q", "q,2:s", "-s", "s").code == 0


@pytest.mark.parametrize(
    "option", [("-s", "2:s"), ("--by", "2:s"), ("--weight", "2:q"), ("--member", "2:q")]
)
def test_what_is_not_known_of_a_person_is_of_the_focal_dataset(here: Path, option: tuple[str, str]):
    model = "cml" if option[0] == "--member" else "cal" if option[0] == "-s" else "crl"
    says = f'"{option[1]}" is of an auxiliary dataset; it must be of the focal one, as in 1:'
    refused(here, model, *BOTH, "-q", "q", *option, says=says)


def test_the_key_as_a_secret_and_as_a_quasi_identifier(here: Path):
    refused(here, "cal", *BOTH, "-q", "q", "-s", "id", says='secret "id" is the key')
    for name in ("1:id", "2:id"):
        done = run("attack", "crl", *BOTH, "-q", name)
        assert f'the key "{name}" is among the quasi-identifiers' in done.err


def test_a_progressive_attack_begins_with_the_focal_dataset(here: Path):
    arguments = ("crl", *BOTH, "-q", "2:q", "--progressive")
    refused(here, *arguments, says="begins with the focal dataset alone")


# Targets


def test_a_target_that_is_known_in_one_year_only(here: Path):
    arguments = ("irl", *BOTH, "-q", "q", "--target", "1:q=1")
    refused(here, *arguments, says='no value for "2:q"')
    refused(here, *arguments, says='"COLUMN is null" for a dataset that the person is not in')
    says = '"COLUMN is absent" for a dataset that the person is not in'
    refused(here, *arguments, "--absent", "distinct", says=says)


def test_a_target_that_is_absent_where_absence_is_a_missing_value(here: Path):
    arguments = ("irl", *BOTH, "-q", "q", "--target", "q=2", "--target", "2:q is absent")
    refused(here, *arguments, says="write COLUMN is null, or ask for --absent distinct")
    done = run("attack", *arguments, "--absent", "distinct", "-f", "json")
    assert json.loads(done.out)["results"][0]["matches"] == 1
    arguments = ("irl", *BOTH, "-q", "q", "--target", "q=2", "--target", "1:q is absent")
    refused(here, *arguments, "--absent", "distinct", says='absent for "1:q"')


def test_a_target_that_nobody_is(here: Path):
    arguments = ("irl", *BOTH, "--target", "1:q=1", "--target", "2:q=6")
    refused(here, *arguments, says="matches none of the 3 records")
    arguments = ("irl", *BOTH, "-q", "q", "--target", "q=1", "--target", "3:q=1")
    refused(here, *arguments, says='names "3:q", which is not a quasi-identifier')


# Membership


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("--member three", 'member "three" has 3 values; a flag has two'),
        ("--member unsure", 'member "unsure" has a missing value; a flag has two'),
        ("--member flagg", 'did you mean "flag"?'),
        ("--member flag -s s", "leave the secret out, or name the flag with --member"),
        ("--member flag -q flag", "is among the quasi-identifiers"),
        ("", "a flag (--member COLUMN), or everybody who may be in it (--population FILE)"),
    ],
)
def test_who_is_in_the_release_must_be_said(here: Path, arguments: str, says: str):
    refused(here, "cms", "a.parquet", "-q", "q", *arguments.split(), says=says)


def test_a_release_with_people_of_whom_the_population_knows_nothing(here: Path):
    arguments = ("cms", "release.parquet", "-q", "q", "--population", "a.parquet")
    says = (
        "the release release.parquet has 2 records of people who are not in the population "
        "a.parquet"
    )
    refused(here, *arguments, "--key", "id", says=says)
    refused(here, *arguments, says="name it with --key")
    arguments = ("cms", "nobody.parquet", *arguments[2:], "--key", "id")
    refused(here, *arguments, says="nobody.parquet has no records")


# Long tables


@pytest.mark.cases(3)
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("long.parquet --wave yeer --key id", 'is not in long.parquet; did you mean "year"?'),
        ("long.parquet --wave year=1999 --key id", "wave 1 of those named does not occur"),
        ("long.parquet --wave year", "a long table needs the key that tells people apart"),
        ("long.parquet --wave nothing --key id", "has no values; a wave is a release"),
        ("days.parquet --wave day --key id", "has more than 100 values"),
        ("long.parquet --wave tags --key id", 'wave "tags" of long.parquet is nested'),
        ("long.parquet --wave year --key year", 'key "year" must be unique in each wave'),
        ("long.parquet b.parquet --wave year --key id", "those of one long table; name one file"),
        ("long.parquet --wave year --key q", "have no person in common"),
    ],
)
def test_waves_that_are_none(here: Path, arguments: str, says: str):
    refused(here, "crl", *arguments.split(), "-q", "q", says=says)


def test_waves_for_a_single_dataset_model(here: Path):
    arguments = ("crs", "long.parquet", "--wave", "year", "--key", "id", "-q", "q")
    refused(here, *arguments, says="for the collection use crl")


# What is asked and shown

FOCAL, AUXILIARY = SAMPLES / "popets_table_3a.csv", SAMPLES / "popets_table_3b.csv"
ASKED = ("-q", "gender,grade", "-s", "disability", "--key", "id")


def results(*arguments: object) -> list[dict[str, Any]]:
    """The rows that a command prints, without the time it took."""
    done = run(*arguments, "-f", "json")
    assert done.code == 0, done.err
    rows: list[dict[str, Any]] = json.loads(done.out)["results"]
    return [{k: v for k, v in row.items() if k not in ("seconds", "attack_id")} for row in rows]


def python(*arguments: Any, **options: Any) -> list[dict[str, Any]]:
    """The rows of the function of the same name."""
    frame = qifsql.attack(*arguments, **options).frame.drop("seconds")
    return frame.drop("attack_id", strict=False).to_dicts()


@pytest.mark.slow(because="0.9 s; every recorded mutant dies without it")
def test_auxiliary_datasets_are_arguments_or_options():
    wanted = python(
        "crl,cal", [FOCAL, AUXILIARY], qids=["gender", "grade"], secret="disability", key="id"
    )
    assert wanted[1]["posterior_probabilistic"] == 0.9  # PoPETs Table 4
    assert results("attack", "crl,cal", FOCAL, AUXILIARY, *ASKED) == wanted
    assert results("attack", "CRL,CAL", FOCAL, "--aux", AUXILIARY, *ASKED) == wanted
    keys = ("--key", "id", "--key", "id")
    assert results("attack", "crl,cal", FOCAL, AUXILIARY, *ASKED[:4], *keys) == wanted


@pytest.mark.slow(because="0.5 s; every recorded mutant dies without it")
def test_keys_are_one_for_all_or_one_for_each(tmp_path: Path):
    other = tmp_path / "other.csv"
    other.write_text(AUXILIARY.read_text().replace("id,", "person,", 1))
    wanted = results("attack", "crl,cal", FOCAL, AUXILIARY, *ASKED)
    assert results("attack", "crl,cal", FOCAL, other, *ASKED[:4], "--key", "id,person") == wanted


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_a_progressive_attack_has_a_row_for_each_prefix():
    rows = results("attack", "crl,cal", FOCAL, AUXILIARY, *ASKED, "--progressive")
    assert [(row["model"], row["datasets"]) for row in rows] == [
        ("CRL", 1), ("CAL", 1), ("CRL", 2), ("CAL", 2),
    ]  # fmt: skip
    assert rows[2:] == results("attack", "crl,cal", FOCAL, AUXILIARY, *ASKED)


@pytest.fixture
def long(tmp_path: Path) -> Path:
    """PoPETs Tables 3a and 3b in one table, with the year they are of."""
    frames = [
        pl.read_csv(file).with_columns(year=pl.lit(year))
        for file, year in ((FOCAL, 2018), (AUXILIARY, 2019))
    ]
    path = tmp_path / "long.csv"
    pl.concat(frames, how="diagonal").sample(fraction=1.0, shuffle=True, seed=1).write_csv(path)
    return path


@pytest.mark.slow(because="1.3 s; every recorded mutant dies without it")
def test_a_long_table_is_a_collection_of_its_waves(long: Path):
    """A long table has all columns in all years: the gender of the second is missing there."""
    asked = ("-q", "1:gender,grade", *ASKED[2:])
    wanted = results("attack", "crl,cal", FOCAL, AUXILIARY, *asked)
    for wave in ("year", "year=2018,2019"):
        assert results("attack", "crl,cal", long, *asked, "--wave", wave) == wanted
    (focal,) = results("attack", "crl", long, *asked, "--wave", "year=2019,2018")
    assert (focal["records"], focal["qids"]) == (10, ["1:gender", "1:grade", "2:grade"])
    (alone,) = results("attack", "crl", long, "-q", "grade", "--key", "id", "--wave", "year=2019")
    assert (alone["datasets"], alone["blocks"]) == (1, 5)


@pytest.mark.slow(because="0.7 s; every recorded mutant dies without it")
def test_absence_is_a_missing_value_or_one_of_its_own(tmp_path: Path):
    other = tmp_path / "other.csv"
    other.write_text("id,grade\n1,\n2,A\n")
    asked = ("attack", "crl", FOCAL, other, "-q", "2:grade", "--key", "id")
    blocks = [
        row["blocks"]
        for absent in ((), ("--absent", "null"), ("--absent", "distinct"))
        for row in results(*asked, *absent)
    ]
    assert blocks == [2, 2, 3]


@pytest.mark.slow(because="0.7 s; every recorded mutant dies without it")
def test_a_person_who_is_not_in_a_dataset_is_a_target():
    asked = ("attack", "irl", FOCAL, AUXILIARY, "-q", "gender,grade", "--key", "id")
    known = ("--target", "gender=M", "--target", "1:grade=D")
    (missing,) = results(*asked, *known, "--target", "2:grade is null")
    (absent,) = results(*asked, *known, "--target", "2:grade is absent", "--absent", "distinct")
    (both,) = results(*asked, "--target", "gender=F", "--target", "grade=C")
    assert missing["target"] == "1:gender=M, 1:grade=D, 2:grade=(missing)"
    assert absent["target"] == "1:gender=M, 1:grade=D, 2:grade=(absent)"
    assert (missing["best_guess"], absent["best_guess"]) == ("10", "10")
    assert (both["matches"], both["best_guess"]) == (2, "3")


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    ("name", "same", "known"),
    [
        ("prosecutor", "irs", ("--target", "gender=M")),
        ("Marketer", "crs", ("-q", "gender")),
        ("journalist", "ims", ("--target", "gender=M", "--member", "m=age = 60")),
    ],
)
def test_attackers_of_disclosure_control_are_models(name: str, same: str, known: tuple[str, ...]):
    assert results("attack", name, FOCAL, *known) == results("attack", same, FOCAL, *known)


@pytest.mark.slow(because="1.3 s; every recorded mutant dies without it")
def test_membership_is_told_by_a_flag_or_by_the_file_of_the_release(tmp_path: Path):
    published = tmp_path / "published.csv"
    published.write_text("person\n1\n2\n3\n6\n8\n")
    asked = ("-q", "gender,grade")
    (flag,) = results(
        "attack", "cml", FOCAL, AUXILIARY, *asked, "--key", "id", "--member",
        "member=id in (1, 2, 3, 6, 8)",
    )  # fmt: skip
    (file,) = results(
        "attack", "cml", published, AUXILIARY, *asked, "--population", FOCAL,
        "--key", "person,id,id",
    )  # fmt: skip
    assert flag == file
    assert (flag["secret"], flag["posterior_probabilistic"]) == ("member", 0.9)
    (single,) = results(
        "attack", "cms", published, "-q", "gender", "--population", FOCAL, "--key", "person,id"
    )
    assert (single["datasets"], single["posterior_probabilistic"]) == (1, 0.9)
    (someone,) = results(
        "attack", "ims", published, "--target", "gender=M", "--population", FOCAL,
        "--key", "person,id",
    )  # fmt: skip
    assert (someone["best_guess"], someone["posterior_deterministic"]) == ("false", 1)


@pytest.mark.slow(because="0.5 s; every recorded mutant dies without it")
def test_sql_gives_the_numbers_of_a_collection_when_pasted():
    asked = (FOCAL, AUXILIARY, *ASKED)
    with duckdb.connect() as connection:
        cursor = connection.execute(run("sql", "crl,cal", *asked).out)
        names = [d[0] for d in cursor.description]
        pasted = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    for row, same in zip(pasted, results("attack", "crl,cal", *asked), strict=True):
        assert {k: v for k, v in row.items() if k != "matches"} == {
            k: same[k] for k in row if k != "matches"
        }


@pytest.mark.slow(because="3.4 s; every recorded mutant dies without it")
def test_every_format_has_the_same_rows(tmp_path: Path):
    asked = ("attack", "crl,cal", FOCAL, AUXILIARY, *ASKED, "--progressive")
    wanted = results(*asked)
    lines = list(csv.DictReader(io.StringIO(run(*asked, "-f", "csv").out)))
    assert list(lines[0]) == list(SCHEMA)
    assert [line["qids"] for line in lines] == ["+".join(row["qids"]) for row in wanted]
    for line, row in zip(lines, wanted, strict=True):
        assert float(line["posterior_probabilistic"]) == row["posterior_probabilistic"]
    for ending in ("csv", "parquet", "json", "md", "html"):
        assert run(*asked, "-o", tmp_path / f"r.{ending}").code == 0
    stored = pl.read_parquet(tmp_path / "r.parquet").drop("seconds")
    assert_frame_equal(stored, pl.DataFrame(wanted, schema=stored.schema))
    for text in (run(*asked, "-f", "table").out, run(*asked, "-f", "markdown").out):
        assert "2:grade" in text
    assert "after: 80 of 100" in run(*asked, "-f", "table").out


@pytest.mark.slow(because="1.7 s each; every recorded mutant dies without it")
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_manifest_names_all_that_was_read(tmp_path: Path, long: Path, ending: str):
    published = tmp_path / "published.csv"
    published.write_text("id\n1\n2\n3\n")

    def inputs(*arguments: object) -> list[str]:
        out = tmp_path / f"r.{ending}"
        assert run("attack", *arguments, "--key", "id", "-o", out).code == 0
        if ending == "csv":
            note = json.loads(Path(f"{out}.manifest.json").read_text())
        else:
            note = json.loads(pl.read_parquet_metadata(out)["qifsql"])
        assert "LEFT JOIN" in note["sql"]
        assert all(file["sha256"] for file in note["inputs"])
        return [Path(file["path"]).name for file in note["inputs"]]

    names = ["popets_table_3a.csv", "popets_table_3b.csv"]
    assert inputs("crl", FOCAL, AUXILIARY, "-q", "grade") == names
    assert inputs("crl", FOCAL, "--aux", AUXILIARY, "-q", "grade", "--progressive") == names
    assert inputs("crl", long, "-q", "grade", "--wave", "year") == ["long.csv"]
    members = ("cml", published, AUXILIARY, "-q", "grade", "--population", FOCAL)
    assert sorted(inputs(*members)) == [*names, "published.csv"]


def test_remarks_say_how_many_come_again_and_who_has_no_key(tmp_path: Path):
    other = tmp_path / "other.csv"
    other.write_text("id,grade\n1,A\n,B\n2,A\n")
    done = run("attack", "crl", FOCAL, other, "-q", "grade", "--key", "id")
    assert done.err.splitlines() == [
        "note: other.csv has 1 record without a key: each is a person of its own, who matches "
        "nobody",
        "note: 2 of 10 people of popets_table_3a.csv are in other.csv, too",
    ]
    assert run("attack", "crl", FOCAL, other, "-q", "grade", "--key", "id", "--quiet").err == ""
