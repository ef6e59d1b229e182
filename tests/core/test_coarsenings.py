"""Coarser forms of columns: age:5, place:3, time:hour, against Python's own arithmetic."""

import math
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from places import SAMPLES
from terminal import run

import qifsql
from qifsql.errors import ExpressionError

MOMENT = datetime(2020, 5, 14, 23, 59, 58)


def values(
    tmp_path: Path, cells: list[Any], how: str, type_: pa.DataType | None = None
) -> list[Any]:
    """The coarser values of cells, in the order of these."""
    found = []
    for cell in cells:
        table = pa.table({"x": pa.array([cell], type_)})
        pq.write_table(table, tmp_path / "x.parquet")
        frame = qifsql.inspect(tmp_path / "x.parquet", qids=f"x:{how}").frame
        assert frame.columns[0] == f"x:{how}"
        found.append(frame[f"x:{how}"][0])
    return found


@pytest.mark.slow(because="1.0 s; every recorded mutant dies without it")
@pytest.mark.parametrize("type_", [pa.int8(), pa.int32(), pa.int64()])
def test_whole_numbers_become_the_lower_ends_of_intervals(tmp_path: Path, type_: pa.DataType):
    cells = [0, 1, 4, 5, 37, -1, -5, -6, -128, 127, None]
    expected = [None if x is None else x // 5 * 5 for x in cells]
    assert values(tmp_path, cells, "5", type_) == expected


def test_the_largest_whole_numbers_stay_exact(tmp_path: Path):
    cells = [2**63 - 1, 9 - 2**63, 2**53 + 1]
    assert values(tmp_path, cells, "10", pa.int64()) == [x // 10 * 10 for x in cells]
    assert values(tmp_path, [200, -100], "1000000000000", pa.int16()) == [0, -(10**12)]


def test_broken_numbers_become_the_lower_ends_too(tmp_path: Path):
    cells = [0.0, -0.0, 0.4, 7.5, -0.1, math.nan, None]
    expected = [0.0, 0.0, 0.0, 7.5, -0.5, None, None]
    assert values(tmp_path, cells, "0.5", pa.float64()) == expected
    decimals = [Decimal("7.49"), Decimal("-0.01"), None]
    found = values(tmp_path, decimals, "0.5", pa.decimal128(10, 2))
    assert found == [Decimal("7.0"), Decimal("-0.5"), None]


def test_texts_become_their_first_characters(tmp_path: Path):
    cells = ["", "a", "13012", "\N{SLIGHTLY SMILING FACE}éab", None]
    assert values(tmp_path, cells, "3", pa.string()) == [
        None if c is None else c[:3] for c in cells
    ]


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("year", "2020-01-01"),
        ("quarter", "2020-04-01"),
        ("month", "2020-05-01"),
        ("week", "2020-05-11"),
        ("day", "2020-05-14"),
        ("hour", "2020-05-14 23:00:00"),
        ("minute", "2020-05-14 23:59:00"),
    ],
)
def test_dates_and_times_become_the_beginning_of_what_they_are_in(
    tmp_path: Path, how: str, expected: str
):
    for moment, type_ in (
        (MOMENT, pa.timestamp("us")),
        (MOMENT, pa.timestamp("ns")),
        (MOMENT.replace(tzinfo=UTC), pa.timestamp("us", "America/Sao_Paulo")),
        (MOMENT.date(), pa.date32()),
    ):
        if type_ == pa.date32() and how in ("hour", "minute"):
            continue
        assert [str(v) for v in values(tmp_path, [moment], how, type_)] == [expected]
    assert values(tmp_path, [None], how, pa.timestamp("us")) == [None]


def test_times_of_day_become_hours(tmp_path: Path):
    assert [str(v) for v in values(tmp_path, [time(23, 59, 58)], "hour", pa.time64("us"))] == [
        "23:00:00"
    ]


def test_texts_of_few_values_are_texts(tmp_path: Path):
    with duckdb.connect(str(tmp_path / "t.duckdb")) as con:
        con.execute("CREATE TABLE t AS SELECT 'abc'::ENUM('abc', 'abd') AS x")
    assert qifsql.inspect(f"t@{tmp_path / 't.duckdb'}", qids="x:2").frame["x:2"][0] == "ab"


def test_a_column_of_that_very_name_comes_first_and_both_can_be_used(tmp_path: Path):
    pl.DataFrame({"a:5": ["x", "y"], "a": [1, 2], "1:a": [0, 0]}).write_parquet(
        tmp_path / "t.parquet"
    )
    frame = qifsql.inspect(tmp_path / "t.parquet", qids=["a:5", "a", "a:10", "1:a"]).frame
    assert frame.select("a:5", "a:10").sort("a:5").rows() == [("x", 0), ("y", 0)]


def test_of_a_collection_every_dataset_that_has_the_column_is_coarser(samples: Path):
    files = [samples / "school_census_2016.parquet", samples / "school_census_2017.parquet"]
    both = qifsql.attack("crl", files, key="ID_ALUNO", qids=["CO_ENTIDADE:1000"]).rows()[0]
    assert both["qids"] == ["1:CO_ENTIDADE:1000", "2:CO_ENTIDADE:1000"]
    one = qifsql.attack("crl", files, key="ID_ALUNO", qids=["2:CO_ENTIDADE:1000"]).rows()[0]
    assert one["qids"] == ["2:CO_ENTIDADE:1000"]


def test_limits_may_be_written_in_any_form_of_their_values(tmp_path: Path):
    assert values(tmp_path, [15, 20], "10.0/2e1", pa.int64()) == ["10-19", ">=20"]
    assert values(tmp_path, [15, 20], "-1/18/300", pa.uint8()) == ["-1 to 17", "18-299"]
    assert values(tmp_path, [15], "10/1e30", pa.int64()) == [f"10-{10**30 - 1}"]
    cells = [Decimal("15.5")]
    assert values(tmp_path, cells, "10/1000", pa.decimal128(3, 1)) == ["[10,1000)"]
    assert values(tmp_path, cells, "1e1/1_6", pa.decimal128(10, 2)) == ["[10,16)"]
    born = [date(1960, 1, 1), date(1959, 12, 31)]
    assert values(tmp_path, born, "19600101/19700101") == [
        "1960-01-01 to 1969-12-31",
        "<1960-01-01",
    ]


@pytest.mark.cases(5)
@pytest.mark.parametrize(
    ("how", "type_", "says"),
    [
        ("1e9999/", pa.int64(), "limits in ascending order"),
        ("0", pa.int64(), "a whole number from 1, as in x:5"),
        ("0.5", pa.int64(), "a whole number from 1, as in x:5"),
        ("-5", pa.int64(), "a whole number from 1"),
        ("month", pa.int64(), "a whole number from 1"),
        ("٣", pa.int64(), "a whole number from 1"),
        ("0", pa.float64(), "a width above 0, as in x:0.5"),
        ("", pa.string(), "as in x:3"),
        ("month", pa.string(), "as in x:3"),
        ("hour", pa.date32(), "one of year, quarter, month, week, day"),
        ("moth", pa.timestamp("us"), "one of year, quarter"),
        ("q4", pa.timestamp("us"), "make it a date with NAME=CAST(x AS DATE)"),
        ("day", pa.time64("us"), "one of hour, minute"),
        ("2", pa.bool_(), "which has no coarser form here"),
    ],
)
def test_what_a_type_does_not_know_is_an_error_that_says_what_it_does(
    tmp_path: Path, how: str, type_: pa.DataType, says: str
):
    pq.write_table(pa.table({"x": pa.array([None], type_)}), tmp_path / "x.parquet")
    with pytest.raises(ExpressionError) as e:
        qifsql.attack("crs", tmp_path / "x.parquet", qids=f"x:{how}")
    assert says in str(e.value)


def test_a_misspelt_column_is_said_to_be_one():
    file = SAMPLES / "thesis_table_3_2.csv"
    done = run("attack", "crs", file, "-q", "agee:5")
    assert done.code == 2
    assert 'column "agee:5" is not in thesis_table_3_2.csv; did you mean "age"?' in done.err
