"""Fields of CSV that are written differently are one value only where a note says so."""

from pathlib import Path

import pytest
from effort import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from terminal import Done, run

import qifsql
from qifsql.engine import remembered

NOTE = "different fields of"
DIGITS = st.text("0123456789", min_size=1, max_size=22)
SIGN = st.sampled_from(["", "", "+", "-", " "])
NUMBERS = st.one_of(
    st.sampled_from(
        ["7", "007", "+7", " 7", "7 ", "7.0", "7.", "0x7", "7e0", "70e-1", "7_0", "0b111"]
    ),
    st.sampled_from(
        ["", "0", "-0", "0.0", "nan", "NaN", "inf", "Infinity", "1e400", "1e-400", "9e399"]
    ),
    st.tuples(SIGN, DIGITS).map("".join),
    st.tuples(SIGN, DIGITS, st.just("."), DIGITS).map("".join),
    DIGITS.map(lambda digits: "1" + "0" * 30 + digits),
    st.floats(allow_nan=False).map(repr),
    st.floats(0, 1).map(lambda x: f"{x:.20f}"),
)
MOMENTS = st.one_of(
    st.sampled_from(
        ["2020-01-01", "2020-1-1", "2020-01-1", "01/02/2020", "1/2/2020", "13/02/2020"]
    ),
    st.sampled_from(["2020-01-01 10:00:00", "2020-01-01 10:00", "2020-01-01T10:00:00", "epoch"]),
    st.integers(0, 30).map(lambda i: f"2020-01-01 10:00:00.{i:08d}"),
    st.integers(0, 30).map(lambda i: f"10:00:00.{i:08d}"),
    st.sampled_from(["10:00", "10:00:00", "9:00:00", "09:00:00", "24:00:00", ""]),
)
COLUMNS = st.one_of(
    st.lists(NUMBERS, min_size=2, max_size=8),
    st.lists(st.tuples(SIGN, DIGITS).map("".join), min_size=2, max_size=8),
    st.lists(MOMENTS, min_size=2, max_size=8),
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(fields: list[str], name: str = "data.csv") -> None:
    Path(name).write_text("id,x\n" + "".join(f"{i},{field}\n" for i, field in enumerate(fields)))


def blocks(name: str = "data.csv", *more: str) -> tuple[int, Done]:
    done = run("attack", "crs", name, "-q", "x", "-f", "csv", *more)
    assert done.code == 0, done.err
    names, values = (line.split(",") for line in done.out.splitlines())
    return int(values[names.index("blocks")]), done


@pytest.mark.slow(because="3.4 s; every recorded mutant dies without it")
@settings(max_examples=examples(25))
@given(COLUMNS)
@example(["9007199254740993", "9007199254740992", "0.5"])
@example([f"{10**43 + i}" for i in range(3)])
@example(["0.10000000000000001", "0.10000000000000002", "0.1"])
@example(["1/2/2020", "01/02/2020", "13/2/2020"])
@example(["nan", "", "1.5"])
@example(["12e5", "1200000"])
@example(["0x10", "16"])
@example(["0x7", "0.0"])
def test_fields_are_one_value_only_where_a_note_says_so(fields: list[str]) -> None:
    written(fields)
    found, done = blocks()
    different = len(set(fields))
    assert found <= different
    assert (NOTE in done.err) == (found < different)
    if found < different:
        assert '"x"' in done.err
        assert "--all-varchar" in done.err
    assert blocks("data.csv", "--all-varchar")[0] == different


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    "fields",
    [
        [f"{10**43 + i}" for i in range(3)],
        ["9007199254740993", "9007199254740992", "0.5"],
        ["170141183460469231731687303715884105728", "170141183460469231731687303715884105729"],
        ["0.10000000000000001", "0.1"],
        ["1e-400", "2e-400"],
        ["10:00:00.1234567", "10:00:00.1234568"],
        ["2020-01-01 10:00:00.1234567", "2020-01-01 10:00:00.1234568"],
    ],
)
def test_what_a_type_would_round_stays_text(fields: list[str]) -> None:
    written(fields)
    assert blocks()[0] == len(fields)
    assert qifsql.describe("data.csv").frame["type"].to_list() == ["BIGINT", "VARCHAR"]


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    ("fields", "type_"),
    [
        (["1.50", "1.5", "2.25"], "DOUBLE"),
        (["12.50", "7.25"], "DOUBLE"),
        (["0.1234567890123456", "0.2"], "DOUBLE"),
        (["007", "7"], "VARCHAR"),
        (["0x7", "7"], "BIGINT"),
        ([f"{10**37 + i}" for i in range(3)], "HUGEINT"),
        (["2020-1-1", "2020-01-01"], "DATE"),
        (["13/02/2020", "1/2/2020"], "DATE"),
    ],
)
def test_columns_that_are_not_rounded_keep_their_type(fields: list[str], type_: str) -> None:
    written(fields)
    assert qifsql.describe("data.csv", columns="x").frame["type"].to_list() == [type_]
    assert run("attack", "crs", "data.csv", "-q", "y=x < x").code == 0


def test_a_column_that_stays_text_is_explained_where_a_number_is_needed() -> None:
    written([f"{10**43 + i}" for i in range(3)])
    done = run("attack", "crs", "data.csv", "-q", "y=x//10")
    assert done.code == 2
    assert '"x"' in done.err
    assert "is read as text" in done.err


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_other_columns_give_no_note() -> None:
    written(["1.50", "1.5"])
    assert NOTE not in run("attack", "crs", "data.csv", "-q", "id").err
    for used in (("-q", "id", "-s", "x"), ("-q", "y=floor(x)"), ("-q", "id", "--where", "x > 1")):
        model = "cas" if "-s" in used else "crs"
        assert NOTE in run("attack", model, "data.csv", *used).err, used


@pytest.mark.slow(because="0.7 s; every recorded mutant dies without it")
def test_files_that_write_a_value_differently_are_compared_with_a_note() -> None:
    written(["1.50", "2.25"], "one.csv")
    written(["1.5", "2.25"], "other.csv")
    for arguments in (
        ("link", "one.csv", "other.csv", "-q", "x"),
        ("attack", "crl", "one.csv", "other.csv", "--key", "x", "-q", "1:id,2:id"),
        ("attack", "crs", "one.csv", "-q", "x", "--population", "other.csv"),
    ):
        done = run(*arguments)
        assert done.code == 0, done.err
        assert "1.50 equals 1.5" in done.err, arguments
        assert "one.csv" in done.err


@pytest.mark.slow(because="5.0 s; every recorded mutant dies without it")
def test_every_command_says_it() -> None:
    written(["1.50", "1.5", "2"])
    written(["1.50", "1.5", "3"], "other.csv")
    for arguments in (
        ("describe", "data.csv"),
        ("sweep", "data.csv", "-q", "id,x"),
        ("levels", "data.csv", "-q", "x", "-s", "id"),
        ("inspect", "data.csv", "-q", "x"),
        ("inspect", "--show", "hyper", "data.csv", "-q", "x", "-s", "id"),
        ("compare", "data.csv", "-q", "id", "--refines", "x"),
        ("inspect", "--show", "records", "data.csv", "-q", "x", "-o", "records.csv"),
        ("estimate", "data.csv", "-q", "x", "--fraction", "0.5"),
        ("anonymise", "data.csv", "-q", "x", "--k", "2", "--method", "mondrian", "-o", "a.csv"),
        ("anonymise", "data.csv", "--one-per", "x", "-o", "t.csv"),
        ("compare", "data.csv", "other.csv", "-q", "x", "-s", "id"),
        ("compose", "data.csv", "other.csv", "--people", "data.csv", "-q", "x", "-s", "id"),
    ):
        done = run(*arguments)
        assert NOTE in done.err, (arguments, done)


@pytest.mark.parametrize("settled", [0.0, remembered.SETTLED])
def test_a_changed_file_is_looked_at_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settled: float
) -> None:
    """A process forgets what it read of a file that was changed, however short ago."""
    monkeypatch.setattr(remembered, "SETTLED", settled)
    path = tmp_path / "x.csv"
    for fields, singled_out in (("1 2 3", 3), ("1 1.0 3", 1), ("1 a b", 3), ("1 2 2", 1)):
        path.write_text("x\n" + fields.replace(" ", "\n") + "\n")
        for _ in range(2):
            result = qifsql.attack("crs", path, qids=["x"])
            assert result.frame["singled_out"][0] == singled_out
            assert any(NOTE in note for note in result.notes) == ("1.0" in fields)
