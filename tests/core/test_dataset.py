"""Datasets are read as they are: nothing guessed, merged, doubled or left out."""

import datetime
import os
import re
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import qifsql
from qifsql.data.files import mixed_ends
from qifsql.errors import ColumnError, DatasetError, ExpressionError, TargetError


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def counts(source: str, qids: str = "a", **more: object) -> tuple[int, int, int]:
    row = qifsql.attack("crs", source, qids=[qids], **more).rows()[0]  # type: ignore[arg-type]
    return row["records"], row["blocks"], row["singled_out"]


def test_a_folder_whose_folders_are_named_like_files_is_read_once(here: Path) -> None:
    part = here / "spark" / "2018.parquet"
    part.mkdir(parents=True)
    pl.DataFrame({"a": range(5)}).write_parquet(part / "part-0.PARQUET")
    (here / "spark" / "_temporary").mkdir()
    pl.DataFrame({"other": [1]}).write_parquet(here / "spark" / "_temporary" / "1.parquet")
    assert counts("spark") == (5, 5, 5)


def test_the_names_of_folders_are_columns(here: Path) -> None:
    for year in (2018, 2019):
        (here / "years" / f"year={year}").mkdir(parents=True)
        pl.DataFrame({"a": [1, 2]}).write_parquet(here / "years" / f"year={year}" / "p.parquet")
    assert counts("years", "year") == (4, 2, 0)


def test_a_line_that_begins_like_a_comment_is_a_record() -> None:
    lines = [f"{'#N/A' if i % 50 == 0 else i % 97},{i}" for i in range(1000)]
    Path("excel.csv").write_text("a,b\n" + "\n".join(lines) + "\n")
    assert counts("excel.csv")[0] == 1000


@pytest.mark.parametrize(
    "text",
    [
        "name,age\nAlice,30\nBob,41\nCarla,22,5\n",
        "a,b\n" + "".join(f"{i},{i},{i}\n" for i in range(100)),
        "a,b\n1\n2\n",
    ],
)
def test_lines_with_more_or_fewer_fields_than_names_are_refused_without_showing_them(
    text: str,
) -> None:
    Path("ragged.csv").write_text(text)
    with pytest.raises(DatasetError, match="is not a regular CSV table") as caught:
        qifsql.describe("ragged.csv")
    assert "Carla" not in str(caught.value)


def test_files_whose_types_differ_are_not_cast_to_the_first(here: Path) -> None:
    (here / "parts").mkdir()
    pl.DataFrame({"a": [0, 1, 2]}).write_parquet(here / "parts" / "1.parquet")
    pl.DataFrame({"a": [0.5, 1.5, 2.5]}).write_parquet(here / "parts" / "2.parquet")
    with pytest.raises(DatasetError, match="differ in their columns or types"):
        counts("parts")


def test_csv_files_with_other_columns_are_not_read_together() -> None:
    Path("1.csv").write_text("a,b\n1,2\n")
    Path("2.csv").write_text("b,a\n1,2\n")
    with pytest.raises(DatasetError, match="differ in their first lines"):
        counts("*.csv")


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("a;b\n1;x,y\n2;z\n", {}),
        ("a\tb\n1\tx\n2\ty\n", {}),
        ("\ufeffa,b\r\n1,x\r\n2,y", {}),
        ("a|b\n1|x\n2|y\n", {"delimiter": "|"}),
        ("a,b\r\n1,x\n2,y\r\n", {}),
        ("a,b\n1,x\r\n2,y\n", {}),
        ('a,b\n1,"x\r\nx"\r\n2,y\n', {}),
        ("a\n1\n2\n", {}),
    ],
)
def test_the_usual_dialects_of_csv_are_read(text: str, options: dict[str, str]) -> None:
    Path("dialect.csv").write_bytes(text.encode())
    assert counts(qifsql.Dataset.open("dialect.csv", **options)) == (2, 2, 2)


@pytest.mark.parametrize("block", [1, 2, 3, 100])
def test_the_ends_of_lines_are_known_wherever_a_block_ends(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qifsql.data.files.BLOCK", block)
    for text in (
        "a\r\nb\n",
        "a\nb\r\n",
        "a\r\nb\r\n",
        "a\nb\n",
        "a\rb\n",
        "a\rb\r\n",
        "a\r\r\n",
        "",
    ):
        Path("ends.csv").write_bytes(text.encode())
        mixed = re.search("\r\n", text) and re.search("(?<!\r)\n", text)
        assert mixed_ends(["ends.csv"]) == bool(mixed)


def test_lines_that_end_in_two_ways_anywhere_in_a_large_file() -> None:
    """The engine finds an irregular line where it reads it, after it has told the columns."""
    lines = ["a,b"] + ["1,x"] * 300_000
    for place in (1, 150_000, 299_999):
        parts = ("\r\n".join(lines[:place]), "\r\n".join(lines[place:]))
        Path("large.csv").write_bytes("\n".join(parts).encode())
        assert counts("large.csv") == (300_000, 1, 0)


@pytest.mark.parametrize(
    "text", ['a,b\r\n1,2\n"3,4\r\n', "a,b\r\n1,2,3\n4,5\r\n", "a,b\r\n1\n4,5\r\n"]
)
def test_what_is_irregular_is_refused_whatever_ends_its_lines(text: str) -> None:
    Path("odd.csv").write_bytes(text.encode())
    with pytest.raises(DatasetError, match="not a regular CSV table"):
        counts("odd.csv")


def test_yes_y_and_true_are_three_texts_and_long_numbers_stay_apart() -> None:
    Path("t.csv").write_text("a,b\nyes,12345678901234567890\ny,12345678901234567891\ntrue,1\n")
    assert counts("t.csv", "a") == counts("t.csv", "b") == (3, 3, 3)


@pytest.mark.parametrize("delimiter", ["||", "", '"', "\n"])
def test_a_delimiter_that_cannot_separate_is_refused(delimiter: str) -> None:
    Path("t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DatasetError, match="delimiter"):
        qifsql.Dataset.open("t.csv", delimiter=delimiter)


def test_two_columns_of_one_name_are_named_in_the_message() -> None:
    Path("t.csv").write_text("a,a,b\n1,2,3\n")
    with pytest.raises(ColumnError, match='2 columns named "a"'):
        counts("t.csv")


def test_a_table_of_a_database_is_found_by_its_own_name_first() -> None:
    with duckdb.connect("x.duckdb") as connection:
        connection.execute("CREATE TABLE x AS SELECT 1 AS a")
        connection.execute('CREATE TABLE "x--y" AS SELECT range AS a FROM range(9)')
        connection.execute("CREATE SCHEMA s")
        connection.execute("CREATE TABLE s.t AS SELECT range AS a FROM range(3)")
    assert [counts(f"{t}@x.duckdb")[0] for t in ("x", "x--y", "S.T")] == [1, 9, 3]
    with pytest.raises(DatasetError, match='has no table "xx"; did you mean "x"'):
        counts("xx@x.duckdb")


def test_times_mean_the_same_on_every_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    utc = datetime.UTC
    hours = [datetime.datetime(2020, 1, 1, h, tzinfo=utc) for h in range(3)]
    pl.DataFrame({"a": hours}).write_parquet("t.parquet")
    found = []
    for zone in ("UTC", "America/Sao_Paulo", "Asia/Tokyo"):
        monkeypatch.setitem(os.environ, "TZ", zone)
        found.append(counts("t.parquet", where="a >= '2020-01-01 01:00:00'"))
    assert found == [(2, 2, 2)] * 3
    assert "SET TimeZone = 'UTC'" in qifsql.sql("crs", "t.parquet", qids="a")


@pytest.mark.cases(3)
@pytest.mark.parametrize(
    ("name", "value"),
    [("dec", "1.504"), ("day", "2020-01-01 23:59:59"), ("whole", "49.0"), ("whole", 1.5)],
)
def test_a_target_value_is_neither_rounded_nor_cut(name: str, value: object) -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT 1.50::DECIMAL(10,2) AS dec, DATE '2020-01-01' AS day, 49 AS whole) "
            "TO 't.parquet'"
        )
    with pytest.raises(TargetError, match="does not fit its type"):
        qifsql.attack("irs", "t.parquet", target={name: value})
    fits = {"dec": "1.500", "day": "2020-01-01", "whole": 49}
    assert qifsql.attack("irs", "t.parquet", target=fits).rows()[0]["matches"] == 1


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_values_of_every_type_are_shown_and_written() -> None:
    with duckdb.connect("t.duckdb") as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(
            """CREATE TABLE t AS SELECT
            TIMESTAMPTZ '2020-01-01 00:00:00+00' + to_hours(i) AS zoned, uuid() AS u,
            'ab'::BLOB AS bytes, to_days(i::INT) AS span,
            CASE WHEN i = 0 THEN 'infinity' ELSE '2020-01-01' END::DATE AS day,
            CASE WHEN i = 1 THEN 'inf'::DOUBLE ELSE i END AS f, TIME '01:02:03' AS t,
            (i % 2 = 0)::VARCHAR::ENUM('true', 'false') AS e, '101'::BIT AS bits, i::HUGEINT AS h,
            i FROM range(3) AS r(i)"""
        )
    names = ["zoned", "u", "bytes", "span", "day", "f", "t", "e", "bits", "h"]
    shown = qifsql.inspect("t@t.duckdb", qids=names, secret=["i"]).frame
    assert shown["day"].to_list() == ["infinity", "2020-01-01", "2020-01-01"]
    assert shown["zoned"][0] == "2020-01-01 00:00:00+00"
    for ending in ("csv", "parquet"):
        assert (
            qifsql.inspect(
                "t@t.duckdb", show="records", out=f"r.{ending}", qids="i", secret=names
            ).written
            == 3
        )
    assert pl.read_csv("r.csv")["best_guess_h"].to_list() == [0, 1, 2]


@pytest.mark.slow(because="6.7 s; every recorded mutant dies without it")
def test_more_columns_than_can_be_described_are_refused_at_once() -> None:
    pl.DataFrame({f"c{i}": [1, 2] for i in range(20_000)}).write_parquet("wide.parquet")
    with pytest.raises(DatasetError, match="name some with columns="):
        qifsql.describe("wide.parquet")
    assert qifsql.describe("wide.parquet", columns=["c7", "c19999"]).frame.height == 2


def test_a_text_file_is_described_as_the_same_table_in_parquet() -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT i // 3 AS a, CASE WHEN i % 4 > 0 THEN 'v' || i % 5 END AS b, "
            "i * 0.5 AS c FROM range(40) AS r(i)"
        )
        connection.execute("COPY t TO 't.csv'")
        connection.execute("COPY (SELECT a, b, c::DOUBLE AS c FROM t) TO 't.parquet'")
    text, table = (qifsql.describe(f"t.{e}", values=3, where="a > 1") for e in ("csv", "parquet"))
    assert text.frame.equals(table.frame)
    assert text.details["values"].equals(table.details["values"])
    assert text.origin.sql.startswith("-- microdata")
    loading = "CREATE OR REPLACE TABLE memory.main.loaded AS SELECT"
    assert loading in text.origin.sql.replace('"', "")


@pytest.mark.cases(1)
@pytest.mark.parametrize("line", [1, 2, 160])
def test_a_quoted_cell_may_hold_another_end_of_line(line: int) -> None:
    cells = {line: "x\ny"}
    rows = [f'{i},"{cells.get(i, "z")}",{i}' for i in range(1, 200)]
    Path("excel.csv").write_bytes(("id,m,c\r\n" + "\r\n".join(rows) + "\r\n").encode())
    assert counts("excel.csv", "id") == (199, 199, 199)
    assert counts("excel.csv", "m") == (199, 2, 1)


def test_twins_in_another_order_are_not_swapped(here: Path) -> None:
    (here / "twins").mkdir()
    for name, names in (("1", ["ID", "id"]), ("2", ["id", "ID"])):
        pq.write_table(pa.table([[1, 2], [3, 4]], names=names), here / "twins" / f"{name}.parquet")
    with pytest.raises(DatasetError, match="differ in their columns or types"):
        counts("twins", "ID")


def test_files_of_several_writers_with_one_schema_are_read_together(here: Path) -> None:
    (here / "parts").mkdir()
    frame = pl.DataFrame({"a": [1, 2], "s": ["x", "y"], "d": [datetime.date(2020, 1, 1)] * 2})
    frame.write_parquet(here / "parts" / "polars.parquet")
    pq.write_table(frame.to_arrow().select(["s", "d", "a"]), here / "parts" / "arrow.parquet")
    with duckdb.connect() as connection:
        connection.execute("COPY 'parts/polars.parquet' TO 'parts/duckdb.parquet'")
    assert counts("parts") == (6, 2, 0)
    assert counts("parts", "s") == (6, 2, 0)


def test_a_cast_that_fails_is_not_called_a_bad_file() -> None:
    Path("t.csv").write_text("a,b\nword,2\nx,3\n")
    with pytest.raises(ExpressionError, match="use try_cast"):
        counts("t.csv", "n=a::INT")


def test_files_of_a_folder_that_are_copies_are_told(tmp_path: Path) -> None:
    for name, text in (
        ("a", "x,y\n1,2\n3,4\n"),
        ("b", "x,y\n1,2\n3,4\n"),
        ("c", "x,y\n1,2\n3,5\n"),
    ):
        (tmp_path / f"{name}.csv").write_text(text)
    (note,) = qifsql.attack("crs", f"{tmp_path}/*.csv", qids="x,y").notes
    assert f'"{tmp_path}/b.csv" has the same bytes as "{tmp_path}/a.csv"' in note
    assert qifsql.attack("crs", f"{tmp_path}/[ac].csv", qids="x,y").notes == ()


@pytest.mark.parametrize(
    ("text", "empty"), [("a;b\n1;\n;\n;\n", 2), ("a;b\nx;\n;y\n", 0), ("a\nx\n\n", 0)]
)
def test_lines_without_a_value_are_told(text: str, empty: int, tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text(text)
    notes = qifsql.attack("crs", file, qids="a").notes
    assert [n for n in notes if f"{empty} records without a value" in n] == list(notes)
    assert len(notes) == bool(empty)
