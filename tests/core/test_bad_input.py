"""Every kind of bad input gives one clear line, exit code 2 (3 for the machine), and nothing else:
no traceback, no value of a cell, nothing left behind."""

import math
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import SOON
from terminal import run

import qifsql
from qifsql.errors import DatasetError, InputError, unwritable

CELL = "CELLVALUE"  # stands in cells and must never stand in a message


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small table, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    table = pa.table(
        {
            "age": [25, 25, 60],
            "name": [f"{CELL}1", f"{CELL}2", None],
            "tags": [[1], [2], [2]],
            "home": [{"zip": 1}, {"zip": 2}, {"zip": 2}],
            "negative": [1.0, -1.0, 2.0],
            "nothing": [1.0, None, 2.0],
            "endless": [1.0, math.inf, 2.0],
            "nan": [1.0, math.nan, 2.0],
            "zero": [0, 0, 0],
            "wide": [1e-300, 1e300, 1.0],
            "born": pa.array([0, 1, 2], pa.date32()),
        }
    )
    pq.write_table(table, "people.parquet")
    Path("people.csv").write_text(f"age,name\n25,{CELL}1\n60,{CELL}2\n")
    return tmp_path


def refused(here: Path, *arguments: object, says: str, code: int = 2) -> None:
    """The command fails with one line that says this, prints no result and leaves no file."""
    before = sorted(here.rglob("*"))
    done = run(*arguments)
    assert done.out == ""
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1
    assert says in done.err
    assert CELL not in done.err
    assert "Traceback" not in done.err
    assert done.code == code
    assert sorted(here.rglob("*")) == before


# Files


def test_a_missing_file_is_named_with_the_nearest_one(here: Path):
    refused(
        here, "attack", "crs", "peple.parquet", "-q", "age", says='did you mean "people.parquet"'
    )


def test_an_empty_name_is_not_the_working_folder(here: Path):
    refused(here, "describe", "", says="the name of a dataset is empty")
    refused(here, "link", "people.parquet", "", "-q", "age", says="the name of a dataset is empty")


def test_a_missing_folder_is_named(here: Path):
    refused(here, "attack", "crs", "no/people.parquet", "-q", "age", says="there is no folder no")


def test_a_pattern_that_matches_nothing(here: Path):
    refused(here, "attack", "crs", "*.pq", "-q", "age", says="matches no file")


def test_a_folder_without_parquet(here: Path):
    (here / "empty").mkdir()
    refused(here, "attack", "crs", "empty", "-q", "age", says="has no Parquet files")


def test_a_file_of_an_unknown_kind(here: Path):
    (here / "people.docx").write_text("x")
    refused(here, "attack", "crs", "people.docx", "-q", "age", says="qifsql reads Parquet")


@pytest.mark.parametrize("keep", [4, 1000, -8])
def test_truncated_parquet(here: Path, keep: int):
    whole = (here / "people.parquet").read_bytes()
    (here / "cut.parquet").write_bytes(whole[:keep])
    refused(here, "attack", "crs", "cut.parquet", "-q", "age", says="cut.parquet cannot be read")


def test_corrupt_parquet(here: Path):
    frame = pl.DataFrame({"age": range(100_000)})
    frame.write_parquet("bad.parquet")
    broken = bytearray((here / "bad.parquet").read_bytes())
    broken[2:3000] = b"\x55" * 2998
    (here / "bad.parquet").write_bytes(broken)
    refused(here, "attack", "crs", "bad.parquet", "-q", "age", says="bad.parquet cannot be read")


def test_files_of_a_folder_with_different_columns(here: Path):
    (here / "parts").mkdir()
    pl.DataFrame({"age": [1], "sex": ["f"]}).write_parquet("parts/1.parquet")
    pl.DataFrame({"other": [1]}).write_parquet("parts/2.parquet")
    refused(
        here, "attack", "crs", "parts", "-q", "age,sex", says="differ in their columns or types"
    )


@pytest.mark.parametrize("name", ["empty.csv", "empty.parquet"])
def test_an_empty_file(here: Path, name: str):
    (here / name).touch()
    refused(here, "attack", "crs", name, "-q", "age", says=f"{name} is empty")


def test_a_table_without_records(here: Path):
    (here / "header.csv").write_text("age,name\n")
    refused(here, "attack", "crs", "header.csv", "-q", "age", says="header.csv has no records")


def test_a_filter_that_leaves_nobody(here: Path):
    arguments = ("attack", "crs", "people.parquet", "-q", "age", "--where", "age > 99")
    refused(here, *arguments, says="no records after the filter")


def test_csv_with_ragged_lines(here: Path):
    (here / "ragged.csv").write_text(f"a,b\n1,2\n3\n4,5,{CELL}\n" * 30)
    refused(here, "attack", "crs", "ragged.csv", "-q", "a", says="is not a regular CSV table")


@pytest.mark.cases(2)
@pytest.mark.parametrize("line", [f"25,{CELL}1", f"x,{CELL}1", f"{CELL}1,2019-05-01"])
def test_csv_without_a_line_of_names(here: Path, line: str):
    """Its first record stands for the names, which a message must not show."""
    Path("nameless.csv").write_text(f"{line}\n60,{CELL}2\n25,{CELL}1\n")
    attack = ("attack", "crs", "nameless.csv", "--qids", f"{CELL}9"[4:])
    refused(here, *attack, says="if its first line is a record")
    both = ("attack", "crs", "people.csv", "--aux", "nameless.csv", "--key", "age", "--qids", "x")
    refused(here, *both, says="if its first line is a record")


def test_a_long_text_is_not_repeated_whole(here: Path):
    done = run("attack", "crs", "people.csv", "--qids", "x" * 9000)
    assert done.code == 2
    assert "(9,000 characters)" in done.err
    assert len(done.err) < 1000


def test_csv_with_an_open_quote(here: Path):
    (here / "open.csv").write_text(f'a,b\n1,2\n3,"{CELL}\n4,5\n')
    refused(here, "attack", "crs", "open.csv", "-q", "a", says="is not a regular CSV table")


def test_csv_in_another_encoding(here: Path):
    (here / "latin.csv").write_bytes(f"name,n\n{CELL}\xe9,1\n".encode("latin-1"))
    refused(here, "attack", "crs", "latin.csv", "-q", "name", says="add --encoding cp1252")
    assert run("attack", "crs", "latin.csv", "-q", "name", "--encoding", "latin-1").code == 0


def test_an_encoding_that_does_not_exist(here: Path):
    arguments = ("attack", "crs", "people.csv", "-q", "age", "--encoding", "klingon")
    refused(here, *arguments, says='there is no encoding "klingon"')


def test_csv_options_for_parquet(here: Path):
    arguments = ("attack", "crs", "people.parquet", "-q", "age", "--all-varchar")
    refused(here, *arguments, says="is not CSV")


def test_a_table_that_the_database_lacks(here: Path):
    import duckdb

    with duckdb.connect("census.duckdb") as connection:
        connection.execute("CREATE TABLE people AS SELECT 1 AS age")
    refused(here, "attack", "crs", "pupils@census.duckdb", "-q", "age", says="has no table")
    refused(here, "attack", "crs", "census.duckdb", "-q", "age", says="name a table in it")
    refused(here, "attack", "crs", "people@no.duckdb", "-q", "age", says="no.duckdb does not exist")


def test_the_network_is_never_used(here: Path):
    arguments = ("attack", "crs", "https://example.org/people.parquet", "-q", "age")
    refused(here, *arguments, says="never uses the network")


# Columns


def test_an_unknown_column_is_named_with_the_nearest_one(here: Path):
    refused(here, "attack", "crs", "people.parquet", "-q", "agee", says='did you mean "age"?')


def test_a_quasi_identifier_given_twice(here: Path):
    refused(here, "attack", "crs", "people.parquet", "-q", "age,AGE", says="is given twice")


def test_the_secret_among_the_quasi_identifiers(here: Path):
    arguments = ("attack", "cas", "people.parquet", "-q", "age,name", "-s", "name")
    refused(here, *arguments, says="is among the quasi-identifiers")


def test_the_secret_among_the_quasi_identifiers_under_another_name(here: Path):
    arguments = ("attack", "cas", "people.parquet", "-q", "age,x=name", "-s", "name")
    refused(here, *arguments, says="is among the quasi-identifiers")


def test_no_quasi_identifiers(here: Path):
    refused(here, "attack", "crs", "people.parquet", says="no quasi-identifiers")


def test_no_secret_to_infer(here: Path):
    refused(here, "attack", "cas", "people.parquet", "-q", "age", says="name one with --secret")


@pytest.mark.cases(1)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_two_columns_that_differ_in_case_are_told_apart_by_their_exact_names(here: Path, kind: str):
    file = f"twins.{kind}"
    if kind == "csv":
        (here / file).write_text("ID,id,n\n1,1,7\n1,2,7\n")
    else:
        pq.write_table(pa.table([[1, 1], [1, 2], [7, 7]], names=["ID", "id", "n"]), file)
    refused(here, "attack", "crs", file, "-q", "Id", says='it has "ID", "id"; write the exact name')
    assert '"blocks": 1,' in run("attack", "crs", file, "-q", "ID", "-f", "json").out
    assert '"blocks": 2,' in run("attack", "crs", file, "-q", "id", "-f", "json").out


def test_nested_columns(here: Path):
    refused(here, "attack", "crs", "people.parquet", "-q", "home", says='column "home" is nested')
    asked = ("attack", "cas", "people.parquet", "-q", "name", "-s", "tags")
    refused(here, *asked, says='column "tags" is nested')
    assert run("attack", "crs", "people.parquet", "-q", "tags").code == 0  # sets are cells
    assert run("attack", "crs", "people.parquet", "-q", "zip=home.zip").code == 0


# Weights


@pytest.mark.parametrize("name", ["negative", "nothing", "endless", "nan"])
def test_a_weight_that_is_negative_missing_or_infinite(here: Path, name: str):
    arguments = ("attack", "crs", "people.parquet", "-q", "age", "--weight", name)
    refused(here, *arguments, says="in 1 of 3 records")


@pytest.mark.parametrize("name", ["name", "born"])
def test_a_weight_that_is_no_number(here: Path, name: str):
    arguments = ("attack", "crs", "people.parquet", "-q", "age", "--weight", name)
    refused(here, *arguments, says="not a number")


def test_weights_that_are_all_zero(here: Path):
    arguments = ("attack", "crs", "people.parquet", "-q", "age", "--weight", "zero")
    refused(here, *arguments, says="is 0 in every record")


def test_weights_that_cannot_be_added_exactly(here: Path):
    arguments = ("attack", "crs", "people.parquet", "-q", "age", "--weight", "wide")
    refused(here, *arguments, says="too many orders of magnitude")


# Targets


def test_a_target_that_matches_nobody(here: Path):
    arguments = ("attack", "irs", "people.parquet", "--target", "age=99")
    refused(here, *arguments, says="matches none of the 3 records")


@pytest.mark.parametrize("value", ["old", "60.5", "", "1e2"])
def test_a_target_value_of_the_wrong_type(here: Path, value: str):
    arguments = ("attack", "irs", "people.parquet", "--target", f"age={value}")
    refused(here, *arguments, says="does not fit its type BIGINT")


def test_a_target_value_of_a_column_without_a_type(here: Path):
    pq.write_table(pa.table({"age": [1, 2], "void": pa.nulls(2)}), "void.parquet")
    arguments = ("attack", "irs", "void.parquet", "--target")
    refused(here, *arguments, "void=5", says="every value is missing")
    assert run(*arguments, "void is null").code == 0


@pytest.mark.cases(2)
@pytest.mark.parametrize("digits", [16, 19, 28, 37, 38])
def test_whole_weights_of_any_size_are_used_or_refused(here: Path, digits: int):
    lines = "".join(f"{age},{'9' * digits}\n" for age in (25, 60, 61))
    (here / "heavy.csv").write_text(f"age,w\n{lines}")
    done = run("estimate", "heavy.csv", "-q", "age", "--weight", "w")
    assert done.code in (0, 2)
    assert (done.code == 2) == (done.out == "")


def test_a_target_that_is_not_written_as_a_pair(here: Path):
    arguments = ("attack", "irs", "people.parquet", "--target", "age")
    refused(here, *arguments, says="COLUMN=VALUE")


def test_a_target_that_leaves_a_quasi_identifier_open(here: Path):
    arguments = ("attack", "irs", "people.parquet", "-q", "age,name", "--target", "age=25")
    refused(here, *arguments, says='no value for "name"')


def test_a_target_for_an_attack_on_everybody(here: Path):
    arguments = ("attack", "crs", "people.parquet", "-q", "age", "--target", "age=25")
    refused(here, *arguments, says="use irs for one person")


# Expressions


@pytest.mark.cases(3)
@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("x=age +", "is not a SQL expression"),
        ("x=(SELECT 1)", "has a subquery"),
        ("x=age IN (SELECT age FROM people)", "has a subquery"),
        ("x=max(age)", "has an aggregate"),
        ("x=row_number() OVER ()", "has a window function"),
        ("x=?", "has a parameter"),
        ("x=age; DROP TABLE people", "must be one SQL expression"),
        ("x=nextval('s')", "uses the function nextval"),
        ("x=random()", "uses the function random"),
        ("x=getenv('HOME')", "uses the function getenv"),
        ("x=read_text('people.csv')", "uses the function read_text"),
        ("x=current_date", "uses the function current_date"),
        ("x=no_such(age)", "uses the function no_such"),
        ("x=agee + 1", 'did you mean "age"?'),
        ("age//10", "an expression needs a name"),
        ("x=home", "is nested"),
        ("x=month(age)", "cannot be evaluated"),
    ],
)
def test_expressions_that_are_not_allowed(here: Path, expression: str, says: str):
    done = run(
        "attack",
        "crs",
        "people.parquet",
        "-q",
        f'"{expression}"' if "," in expression else expression,
    )
    assert says.casefold() in done.err.casefold()
    assert (done.code, done.err.count("\n"), done.out) == (2, 1, "")


def test_an_expression_that_fails_on_the_data(here: Path):
    arguments = ("attack", "crs", "people.parquet", "-q", "x=name::int")
    refused(here, *arguments, says="use try_cast")


def test_debug_shows_the_words_of_the_engine(here: Path):
    done = run("attack", "crs", "people.parquet", "-q", "x=name::int", "--debug")
    assert CELL in done.err
    assert done.code == 2


def test_a_filter_that_is_no_condition(here: Path):
    arguments = ("attack", "crs", "people.parquet", "-q", "age", "--where", "age")
    refused(here, *arguments, says="not a condition")


# Options


@pytest.mark.cases(9)
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("attack", "xyz", "people.parquet", "-q", "age"), 'no model "xyz"'),
        (("attack", "crs,irs", "people.parquet", "-q", "age"), "cannot be combined"),
        (
            ("attack", "crs", "people.parquet", "-q", "age", "--null", "zero"),
            'cannot be treated as "zero"',
        ),
        (("attack", "crs", "people.parquet", "-q", "age", "-f", "xml"), 'no format "xml"'),
        (("attack", "crs", "people.parquet", "-q", "age", "-o", "r.xyz"), "must end in one of"),
        (
            ("inspect", "--show", "records", "people.parquet", "-q", "age", "-o", "r.json"),
            "must end in one of",
        ),
        (
            ("inspect", "--show", "records", "people.parquet", "-q", "age", "-o", "\n"),
            r'error: "\n" must end in one of',
        ),
        (("attack", "crs", "people.parquet", "-q", "age", "--memory", "lots"), "memory=lots"),
        (("attack", "crs", "people.parquet", "-q", "age", "--memory", "\udcff"), "memory="),
        (("attack", "crs", "people.parquet", "-q", "age", "--threads", "0"), "threads=0"),
        (("attack", "crs", "people.parquet", "-q", "age", "--threads", "-3"), "threads=-3"),
        (("sweep", "people.parquet", "-q", "age", "--threads", "20000"), "threads=20000"),
        (("describe", "people.parquet", "--threads", "99999999999"), "from 1 to"),
        (("attack", "crs", "people.parquet", "-q", "age", "--threads", str(2**70)), "from 1 to"),
        (("attack", "crs", "people.parquet", "-q", "age", "--temp", "no"), "--temp"),
        (("attack", "crs", "people.parquet", "-q", "age", "--temp", "a\0b"), "--temp"),
        (("sql", "crs", "people.parquet", "-q", "age", "--step", "x"), 'no step "x"'),
        (("sql", "crs", "people.parquet", "-q", "age", "--dialect", "oracle"), "oracle"),
        (("attack", "crs"), "FILE"),
        (("attack", "crs", "people.parquet", "--bogus"), "--bogus"),
        (("bogus",), "bogus"),
    ],
)
def test_options_that_make_no_sense(here: Path, arguments: tuple[str, ...], says: str):
    refused(here, *arguments, says=says)


# Output


def test_an_output_folder_that_does_not_exist(here: Path):
    arguments = ("attack", "crs", "people.parquet", "-q", "age", "-o", "no/r.csv")
    refused(here, *arguments, says="there is no folder no")


def test_an_output_that_is_a_folder(here: Path):
    (here / "r.csv").mkdir()
    arguments = ("attack", "crs", "people.parquet", "-q", "age", "-o", "r.csv")
    refused(here, *arguments, says="is a folder")


@pytest.mark.parametrize("command", ["attack crs", "inspect --show records"])
@pytest.mark.parametrize("name", ["people.parquet", "./people.parquet"])
def test_an_output_that_is_the_input(here: Path, command: str, name: str):
    before = (here / "people.parquet").read_bytes()
    refused(here, *command.split(), "people.parquet", "-q", "age", "-o", name, says="is the input")
    assert (here / "people.parquet").read_bytes() == before


@pytest.mark.parametrize("command", ["attack crs", "inspect --show records"])
def test_a_read_only_output_folder(here: Path, command: str):
    folder = Path("/sys/kernel")  # read-only even for root
    if os.access(folder, os.W_OK) and os.geteuid() != 0:
        pytest.skip("this system lets everybody write there")
    arguments = (*command.split(), "people.parquet", "-q", "age", "-o", folder / "r.csv")
    refused(here, *arguments, says="cannot be written")


def limited(*arguments: str, size: int, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run where no file may grow beyond ``size`` bytes, as on a disk that is full."""

    def limit() -> None:
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return subprocess.run(
        [sys.executable, "-m", "qifsql", *arguments],
        preexec_fn=limit, cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow(because="1.4 s each; every recorded mutant dies without it")
@pytest.mark.parametrize("out", ["r.csv", "r.parquet"])
def test_a_disk_that_is_full_when_the_result_is_written(here: Path, out: str):
    pl.DataFrame({"age": range(50_000)}).write_parquet("many.parquet")
    before = sorted(here.rglob("*"))
    words = ("inspect", "--show", "records", "many.parquet", "-q", "age", "-o", out)
    done = limited(*words, size=20_000, folder=here)
    assert done.returncode == 3
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert sorted(here.rglob("*")) == before


def test_a_store_that_cannot_be_begun_leaves_no_file(here: Path):
    store = ("attack", "crs", "people.parquet", "-q", "age", "--store", "s.duckdb")
    before = sorted(here.rglob("*"))
    done = limited(*store, size=4096, folder=here)
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)
    assert sorted(here.rglob("*")) == before


@pytest.mark.parametrize("number", [None, 28])
def test_a_full_disk_is_named_whoever_says_it(number: int | None):
    """A library may pass on the words of the system without its number."""
    error = OSError(number, "No space left on device") if number else OSError("No space left")
    assert "the disk is full" in unwritable("r.csv", error)


@pytest.mark.slow(because="2.4 s; every recorded mutant dies without it")
def test_a_disk_that_is_full_when_memory_is(here: Path):
    numbers = pl.int_range(3_000_000, eager=True)
    pl.DataFrame({"a": numbers, "b": numbers * 7919 % 3_000_017}).write_parquet("many.parquet")
    (here / "temp").mkdir()
    before = sorted(here.rglob("*"))
    done = limited(
        "attack", "crs", "many.parquet", "-q", "a,b", "--memory", "90MB", "--temp", "temp",
        size=400_000, folder=here,
    )  # fmt: skip
    assert done.returncode == 3
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert "--temp" in done.stderr or "--memory" in done.stderr
    assert sorted(here.rglob("*")) == before


def test_memory_that_is_far_too_small(here: Path):
    numbers = pl.int_range(2_000_000, eager=True)
    pl.DataFrame({"a": numbers}).write_parquet("many.parquet")
    arguments = ("attack", "crs", "many.parquet", "-q", "a", "--memory", "2MB")
    refused(here, *arguments, says="--memory", code=3)


@pytest.mark.parametrize(
    "arguments",
    [
        ("unhash", "hashes.csv", "--column", "hash", "--hash", "md5", "--pattern", "\udcff"),
        ("attack", "crs", "hashes.csv", "-q", "hash", "--encoding", "\udcff"),
        ("init", "study.toml", "--data", "hashes.csv", "--delimiter", "\udcff"),
        ("attack", "crs", "hashes.csv", "-q", "hash", "--where", "hash = '\udcff'"),
    ],
)
def test_bytes_that_are_no_characters_are_named(here: Path, arguments: tuple[str, ...]) -> None:
    (here / "hashes.csv").write_text("hash\n" + "0" * 32 + "\n")
    refused(here, *arguments, says="not UTF-8")


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="there is no folder without files")
def test_no_output_is_written_where_another_one_cannot_be(here: Path) -> None:
    (here / "people.csv").write_text("age,zip\n" + "1,2\n2,3\n" * 9)
    arguments = (
        "anonymise",
        "people.csv",
        "--method",
        "mdav",
        "-q",
        "age",
        "--k",
        "2",
        "-o",
        "out.csv",
    )
    refused(here, *arguments, "--summary", "/proc/self/x.csv", says="cannot be written")


def test_a_name_of_control_characters_is_quoted(here: Path) -> None:
    (here / "people.csv").write_text("age\n1\n2\n")
    refused(here, "attack", "crs", "people.csv", "-q", "age", "-o", "\n", says='"\\n" must end')


def test_an_encoding_that_is_not_that_of_the_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_bytes(b"a;b\nx\x80;1\n")  # the sign of the euro on Windows
    for encoding in ("latin-1", "ascii"):
        done = run("describe", file, "--encoding", encoding)
        assert (done.code, done.out) == (2, "")
        assert f"is not {encoding}" in done.err
        assert "cp1252 (Excel on Windows)" in done.err
    assert run("describe", file, "--encoding", "cp1252").code == 0


def test_a_title_above_the_names_of_columns_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("List of people;;;\nsex;name;zip;\nM;A;1;\n")
    with pytest.raises(DatasetError, match="2 columns with values have no name in its first line"):
        qifsql.attack("crs", file, qids="List of people")
    file.write_text("sex;name;;\nM;A;;\n")  # columns that are empty do no harm
    assert qifsql.attack("crs", file, qids="sex").frame["records"].item() == 1


def test_quasi_identifiers_that_name_no_column_are_told(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("age,sex\n1,M\n2,F\n")
    (note,) = qifsql.attack("crs", file, qids=["age=5", "sex"]).notes
    assert note.startswith('"age": the expression names no column')
    assert qifsql.attack("crs", file, qids=["age=age+1", "sex"]).notes == ()


def test_a_threshold_above_one_is_a_share_that_nobody_reaches(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("age,sex\n1,M\n2,F\n")
    with pytest.raises(InputError, match="threshold 9 is above 1"):
        qifsql.attack("crs", file, qids="age", thresholds=[0.5, 9])


def test_a_population_does_not_go_with_people_of_several_records(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("p,age\n1,1\n1,2\n2,1\n")
    with pytest.raises(InputError, match="cannot be compared with the sets of records"):
        qifsql.attack("crs", file, qids="age", person="p", population=file, measures="risks")


@pytest.mark.cases(6)
@pytest.mark.parametrize(
    "arguments",
    [
        ("attack", "cas", "-s", "sex", "--gain", "penalty:1e999999999"),
        ("attack", "crs", "--threshold", "1e-999999999"),
        ("attack", "crs", "--threshold", "1e999999999"),
        ("compare", "--change", "sample=1e-999999999"),
        ("suda", "--fraction", "1e-999999999"),
        ("estimate", "--fraction", "1/0"),
        ("attack", "crs", "-q", "x" + "[" * 50_000),
    ],
)
def test_no_number_or_pattern_takes_long_to_refuse(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    file = tmp_path / "t.csv"
    file.write_text("age,sex\n1,M\n2,F\n")
    command, *rest = arguments
    models = [rest.pop(0)] if command == "attack" else []
    asked = [] if "-q" in rest else ["-q", "age"]
    began = time.process_time()
    done = run(command, *models, file, *rest, *asked)
    assert (done.code, done.out) == (2, "")
    assert len(done.err) < 1000
    assert time.process_time() - began < SOON
