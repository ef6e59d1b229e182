"""Files of other programs: the same table gives the same results, and damage is named."""

import datetime as dt
import gzip
import hashlib
import json
import re
import sqlite3
import sys
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from terminal import run

import qifsql
from qifsql.data import installation
from qifsql.errors import DatasetError

CELL = "SECRETCELL"
QIDS = ("age", "sex", "height")
N = 120
TABLE = pl.DataFrame(
    {
        "age": [None if i % 17 == 0 else 20 + i * 7 % 13 for i in range(N)],
        "sex": ["mf"[i * 5 % 7 % 2] for i in range(N)],
        "height": [None if i % 11 == 0 else 1.5 + i % 4 / 8 for i in range(N)],
        "job": [None if i % 7 == 0 else f"job {i * i % 5}" for i in range(N)],
    }
)


def write_sqlite(frame: pl.DataFrame, path: Path) -> str:
    with sqlite3.connect(path) as connection:
        names = ", ".join(f'"{name}"' for name in frame.columns)
        connection.execute(f"CREATE TABLE people ({names})")
        places = ", ".join("?" * frame.width)
        connection.executemany(f"INSERT INTO people VALUES ({places})", frame.rows())
    connection.close()
    return f"people@{path}"


def write_json(frame: pl.DataFrame, path: Path) -> str:
    path.write_text(json.dumps(frame.to_dicts()))
    return str(path)


def write_lines(frame: pl.DataFrame, path: Path) -> str:
    frame.write_ndjson(path)
    return str(path)


def write_packed(frame: pl.DataFrame, path: Path) -> str:
    path.write_bytes(gzip.compress(frame.write_ndjson().encode()))
    return str(path)


def write_excel(frame: pl.DataFrame, path: Path) -> str:
    frame.write_excel(path, worksheet="people")
    return f"people@{path}"


def write_statistics(frame: pl.DataFrame, path: Path) -> str:
    pyreadstat = pytest.importorskip("pyreadstat")
    write = pyreadstat.write_dta if path.suffix == ".dta" else pyreadstat.write_sav
    write(frame, str(path))
    return str(path)


WRITERS: Mapping[str, Callable[[pl.DataFrame, Path], str]] = {
    "sqlite": write_sqlite,
    "db": write_sqlite,
    "json": write_json,
    "jsonl": write_lines,
    "ndjson.gz": write_packed,
    "xlsx": write_excel,
    "dta": write_statistics,
    "sav": write_statistics,
}


def numbers(source: str, qids: Sequence[str] = QIDS, secret: str = "job") -> list[dict[str, Any]]:
    frame = qifsql.attack("crs,cas", source, qids=qids, secret=secret).frame
    return frame.drop("seconds").to_dicts()


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
@pytest.mark.parametrize("ending", WRITERS)
def test_the_same_table_gives_the_same_results(ending: str, tmp_path: Path) -> None:
    table = TABLE.with_columns(pl.col("job").fill_null("")) if ending == "sav" else TABLE
    table.write_parquet(tmp_path / "p.parquet")  # SPSS has no missing texts
    source = WRITERS[ending](table, tmp_path / f"p.{ending}")
    assert numbers(source) == numbers(str(tmp_path / "p.parquet"))
    blocks = [
        qifsql.inspect(path, qids=QIDS, secret="job").frame.sort(pl.all())
        for path in (source, str(tmp_path / "p.parquet"))
    ]
    assert blocks[0].equals(blocks[1])


@pytest.mark.cases(1)
@pytest.mark.parametrize("ending", WRITERS)
def test_a_result_has_the_digest_of_the_original_file(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"p.{ending}"
    source = WRITERS[ending](TABLE, file)
    out = tmp_path / "out.json"
    assert run("attack", "crs", source, "-q", "age", "-o", out, "--temp", tmp_path).code == 0
    (read,) = json.loads((tmp_path / "out.json.manifest.json").read_text())["inputs"]
    assert read["path"] == str(file)
    assert read["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert not list(tmp_path.glob("qifsql-run-*")), "the private copy stayed"


@pytest.mark.cases(2)
@pytest.mark.parametrize("ending", ["sqlite", "jsonl", "xlsx", "sav"])
def test_records_keep_the_order_of_the_file(ending: str, tmp_path: Path) -> None:
    keyed = TABLE.with_row_index("key")
    source = WRITERS[ending](keyed.with_columns(pl.col("key").cast(int)), tmp_path / f"p.{ending}")
    qifsql.inspect(source, show="records", out=tmp_path / "r.parquet", qids=["age"], key="key")
    assert pl.read_parquet(tmp_path / "r.parquet")["key"].to_list() == list(range(N))


CELLS = {
    "texts": st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=3),
    "whole": st.integers(-(2**63), 2**63 - 1),
    "floats": st.floats(allow_nan=False, width=64),
}


@pytest.mark.slow(because="3.3 s each; every recorded mutant dies without it")
@given(
    data=st.lists(
        st.tuples(*(st.none() | cells for cells in CELLS.values())), min_size=1, max_size=20
    )
)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@pytest.mark.parametrize("ending", ["sqlite", "json"])
def test_values_are_apart_exactly_where_they_differ(
    ending: str, data: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    schema = {"texts": pl.String, "whole": pl.Int64, "floats": pl.Float64}
    frame = pl.DataFrame(data, schema=schema, orient="row")
    (tmp_path / f"p.{ending}").unlink(missing_ok=True)
    source = WRITERS[ending](frame, tmp_path / f"p.{ending}")
    described = {row["column"]: row for row in qifsql.describe(source).rows()}
    for name in frame.columns:
        values = frame[name].to_list()
        assert described[name]["distinct"] == len({*values} - {None}), name
        assert described[name]["missing"] == values.count(None), name


# What types the cells have


def types(source: str) -> dict[str, str]:
    return dict(qifsql.describe(source).frame.select("column", "type").rows())


def test_json_whose_names_are_values_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps([{f"k{i}": i} for i in range(20_000)]))
    began = time.monotonic()
    with pytest.raises(DatasetError, match="20,000 different names"):
        qifsql.attack("crs", path, qids="k1")
    assert time.monotonic() - began < 15


def test_json_has_types_that_merge_nothing(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    lines = [
        {"day": "2020-01-01", "odd": "2020-01-01", "n": 2**53 + 1, "mixed": 1, "big": 10**25},
        {"day": "2020-01-02", "odd": "2020-1-1", "n": 2.5, "mixed": "1", "big": 10**25 + 1},
        {"day": None, "more": True},
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    assert types(str(path)) == {
        "day": "DATE",
        "odd": "VARCHAR",
        "n": "VARCHAR",
        "mixed": "VARCHAR",
        "big": "HUGEINT",
        "more": "BOOLEAN",
    }
    distinct = dict(qifsql.describe(str(path)).frame.select("column", "distinct").rows())
    assert distinct == {"day": 2, "odd": 2, "n": 2, "mixed": 2, "big": 2, "more": 1}


def test_sqlite_has_the_types_of_its_cells(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "t.db") as connection:
        connection.execute("CREATE TABLE T (a TEXT, b INT, c, d, e BLOB)")
        rows = [("1", 1, 1, "x", b"1"), ("x", 2, 2.5, 3, b"2"), (None, None, 3, "y", None)]
        connection.executemany("INSERT INTO T VALUES (?, ?, ?, ?, ?)", rows)
    connection.close()
    of_cells = {"a": "VARCHAR", "b": "BIGINT", "c": "DOUBLE", "d": "VARCHAR", "e": "BLOB"}
    assert types(f"t@{tmp_path / 't.db'}") == of_cells, "a name in any case"


def test_sheets_have_records_where_cells_are(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.create_sheet("empty")
    for row in ([], ["n", "day", None], [1, None], [], [2.0, dt.datetime(2020, 1, 1)], [3, "#N/A"]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    described = qifsql.describe(str(tmp_path / "t.xlsx")).frame
    assert described.select("column", "type", "records", "missing").rows() == [
        ("n", "BIGINT", 3, 0),
        ("day", "TIMESTAMP", 3, 2),
    ]


def test_missing_values_of_statistics_programs_are_null(tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pl.DataFrame({"a": [1.0, 9.0, None], "t": ["x", "", "y"]})
    pyreadstat.write_sav(frame, str(tmp_path / "t.sav"), missing_ranges={"a": [9]})
    pyreadstat.write_dta(frame, str(tmp_path / "t.dta"))
    missing = {
        ending: qifsql.describe(str(tmp_path / f"t.{ending}")).frame["missing"].to_list()
        for ending in ("sav", "dta")
    }
    assert missing == {"sav": [2, 0], "dta": [1, 1]}


def test_values_that_a_file_declares_missing_are_null_and_counted(tmp_path: Path) -> None:
    """Ranges and values of SPSS, and .a to .z of Stata, are missing; a note has their number."""
    pyreadstat = pytest.importorskip("pyreadstat")
    sav = pl.DataFrame({"q": ["x", "x", "y", "NA"], "s": [1.0, 8.0, -9.0, None]})
    declared = {"s": [{"lo": 8, "hi": 9}, -9], "q": ["NA"]}
    pyreadstat.write_sav(sav, str(tmp_path / "t.sav"), missing_ranges=declared)
    pandas = pytest.importorskip("pandas")
    dta = pandas.DataFrame({"q": ["x", "x", "y", "y"], "s": [1.0, "a", "z", None]})
    pyreadstat.write_dta(dta, str(tmp_path / "t.dta"), missing_user_values={"s": ["a", "z"]})
    counts = {"t.sav": '"q" (1), "s" (2)', "t.dta": '"s" (2)'}
    for name, listed in counts.items():
        result = qifsql.attack("cas", str(tmp_path / name), qids="q", secret="s")
        assert (
            f"{name}: values that the file declares to be missing are read as missing: {listed}"
            in (result.notes)
        )
        assert result.rows()[0]["reported"] == 1


def test_chunks_without_values_have_the_types_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    from qifsql.engine import statistics_files

    monkeypatch.setattr(statistics_files, "CELLS", 1)  # 1,000 rows
    n = 2500
    days = [dt.date(2020, 1, 1) if i >= 1500 else None for i in range(n)]
    frame = pl.DataFrame({"day": days, "n": [i if i < 900 else None for i in range(n)]})
    pyreadstat.write_sav(frame.with_columns(none=pl.lit(None, float)), str(tmp_path / "t.sav"))
    described = qifsql.describe(str(tmp_path / "t.sav")).frame
    assert described.select("type", "missing", "distinct").rows()[:2] == [
        ("DATE", 1500, 1),
        ("BIGINT", 1600, 900),
    ]
    assert described["missing"].to_list() == [1500, 1600, n]


# What cannot be read


def broken(source: str) -> str:
    with pytest.raises(DatasetError) as caught:
        qifsql.describe(source)
    message = str(caught.value)
    assert CELL not in message
    assert "\n" not in message
    return message


WRONG = {
    "p.sqlite": "people@",
    "p.sqlite3": "people@",
    "p.json": "",
    "p.jsonl": "",
    "p.xlsx": "",
    "s.xlsx": "sheet@",
    "p.dta": "",
    "p.sav": "",
    "p.zsav": "",
    "p.sas7bdat": "",
}


@pytest.mark.cases(3)
@pytest.mark.parametrize("name", WRONG)
def test_wrong_bytes_are_named(name: str, tmp_path: Path) -> None:
    if name.endswith(("dta", "sav", "bdat")):
        pytest.importorskip("pyreadstat")
    file = tmp_path / name
    magic = b"SQLite format 3\0" if "sqlite" in name else b"PK\x03\x04"
    for data in (b"", b"\0", CELL.encode() * 100, magic + b"\xff" * 5000):
        file.write_bytes(data)
        assert name in broken(f"{WRONG[name]}{file}")


@pytest.mark.cases(5)
@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_truncated_file_gives_no_result(ending: str, share: float, tmp_path: Path) -> None:
    rows = TABLE.with_columns(job=pl.lit(CELL) + pl.col("job").hash().cast(str))
    whole = tmp_path / f"p.{ending}"
    source = WRITERS[ending](rows, whole)
    data = whole.read_bytes()
    cut = tmp_path / f"cut.{ending}"
    cut.write_bytes(data[: int(len(data) * share)])
    if ending == "jsonl":  # a cut between lines cannot be seen
        cut.write_bytes(data[: data.index(b"\n") + 5])
    assert cut.name in broken(source.replace(str(whole), str(cut)))


def test_a_table_or_sheet_that_is_missing_has_a_hint(tmp_path: Path) -> None:
    sqlite = write_sqlite(TABLE, tmp_path / "p.sqlite").replace("people@", "pepole@")
    excel = write_excel(TABLE, tmp_path / "p.xlsx").replace("people@", "pepole@")
    for source in (sqlite, excel):
        assert 'did you mean "people"?' in broken(source)
    assert "name a table in it" in broken(str(tmp_path / "p.sqlite"))
    assert "has no table" in broken(f"{'x' * 3000}@{tmp_path / 'p.sqlite'}")
    assert "has no sheet" in broken(f"{'x' * 3000}@{tmp_path / 'p.xlsx'}")
    assert "p.json@" not in broken(f"people@{tmp_path / 'nothing.sqlite'}")


def sqlite(path: Path, *statements: str) -> Path:
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()
    return path


def test_sqlite_that_is_not_a_plain_table_is_refused(tmp_path: Path) -> None:
    file = sqlite(
        tmp_path / "t.db",
        f"CREATE TABLE mixed AS SELECT 1 AS a UNION ALL SELECT '1' UNION ALL SELECT '{CELL}'",
        f"CREATE TABLE rounded AS SELECT {2**53 + 1} AS a UNION ALL SELECT 0.5",
        "CREATE TABLE blobs AS SELECT x'00' AS a UNION ALL SELECT 'x'",
        f"CREATE TABLE latin AS SELECT cast(x'ff' || '{CELL}' AS TEXT) AS a",
        "CREATE VIEW v AS SELECT * FROM mixed",
    )
    assert 'column "a"' in broken(f"mixed@{file}")
    assert "integer, real" in broken(f"rounded@{file}")
    assert "text, blob" in broken(f"blobs@{file}")
    assert "not UTF-8" in broken(f"latin@{file}")
    assert "view" in broken(f"v@{file}")
    (tmp_path / "t.db-wal").write_bytes(b"x")
    assert "t.db-wal" in broken(f"v@{file}")


def test_hostile_names_of_tables_and_columns_are_names(tmp_path: Path) -> None:
    name = 'o\'ne "two" [x]; DROP TABLE t --'
    quoted = '"' + name.replace('"', '""') + '"'
    file = sqlite(
        tmp_path / "t.sqlite",
        f"CREATE TABLE {quoted} (rowid INT, {quoted} INT, {'k' * 5000} INT)",
        f"INSERT INTO {quoted} VALUES (1, 2, 3), (4, 5, 6)",
    )
    assert types(f"{name}@{file}") == dict.fromkeys(["rowid", name, "k" * 5000], "BIGINT")
    write_json(pl.DataFrame({name: [1], "k" * 5000: [2]}), tmp_path / "t.json")
    assert types(str(tmp_path / "t.json")) == dict.fromkeys([name, "k" * 5000], "BIGINT")


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_names_that_sql_cannot_distinguish_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    for text in ('{"ID": 1, "id": 2}', '{"a": 1}\n{"A": 1}'):
        path.write_text(text)
        assert "differ only in case" in broken(str(path))
    path.write_text('{"a_1": 1, "a": 2}')
    assert list(types(str(path))) == ["a_1", "a"]
    for text in ("{}", "[]", "[1, 2]", '"x"', '{"": 1}', CELL, '{"a": 1, "a": 2}'):
        path.write_text(text)
        assert "t.json" in broken(str(path))


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_cells_of_a_sheet_that_would_be_read_as_missing_are_refused(tmp_path: Path) -> None:
    def book(rows: list[list[Any]], *merged: str) -> str:
        made = openpyxl.Workbook()
        sheet = made.active
        sheet.title = "a & <b>"
        for row in rows:
            sheet.append(row)
        for cells in merged:
            sheet.merge_cells(cells)
        made.save(tmp_path / "t.xlsx")
        return str(tmp_path / "t.xlsx")

    many = [[n, f"=2019-A{n}"] for n in range(2, 3000)]
    assert "has 2,998 formulas without a value" in broken(book([["born", "age"], *many]))
    rows = [["ward", "n"], ["x", 1], [None, 2], ["y", 3], ["z", 4]]
    assert "has 1 merged cell below its header" in broken(book(rows, "A2:A3"))
    assert "has 2 merged cells" in broken(book(rows, "A2:A3", "A5:B5"))
    assert qifsql.describe(book([["a", "b"], [1, 2]], "C1:D1")).frame.height == 2
    path = Path(book([["born", "age"], [1999, "=2019-A2"]]))
    with zipfile.ZipFile(path) as source:
        parts = {name: source.read(name) for name in source.namelist()}
    name = "xl/worksheets/sheet1.xml"
    parts[name] = re.sub(rb"<v\s*/>|<v></v>", b"<v>20</v>", parts[name])  # as Excel stores it
    with zipfile.ZipFile(path, "w") as target:
        for part, content in parts.items():
            target.writestr(part, content)
    assert qifsql.describe(path).frame["distinct"].to_list() == [1, 1]


@pytest.mark.slow(because="5.8 s; every recorded mutant dies without it")
def test_a_damaged_sheet_is_refused_or_read(tmp_path: Path) -> None:
    """Of a sheet that is named no cell is read before its text is looked at."""
    path = tmp_path / "t.xlsx"
    made = openpyxl.Workbook()
    for n in range(200):
        made.active.append([f"n{n}", n * 7919 % 1000])
    made.save(path)
    whole = path.read_bytes()
    for place in range(40, len(whole), max(1, len(whole) // 60)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        assert run("describe", f"Sheet@{path}").code in {0, 2}, place


def test_sheets_that_are_no_tables_are_refused(tmp_path: Path) -> None:
    def book(**sheets: list[list[Any]]) -> str:
        made = openpyxl.Workbook()
        made.remove(made.active)
        for title, rows in sheets.items():
            sheet = made.create_sheet(title)
            for row in rows:
                sheet.append(row)
        made.save(tmp_path / "t.xlsx")
        return str(tmp_path / "t.xlsx")

    assert 'column "a"' in broken(book(s=[["a"], [1], [CELL]]))
    assert "column 2" in broken(book(s=[["a", None], [1, 2]]))
    assert "several columns" in broken(book(s=[["a", "A"], [1, 2]]))
    assert "no sheet with cells" in broken(book(s=[]))
    assert '"s", "t"; name one' in broken(book(s=[["a"], [1]], t=[["a"], [2]]))


@pytest.mark.parametrize(
    ("name", "library", "extra"),
    [("p.xlsx", "fastexcel", "excel"), ("p.sav", "pyreadstat", "stats")],
)
def test_a_missing_extra_is_named(
    name: str, library: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    (tmp_path / name).write_bytes(b"x")
    assert f"need the extra: {installation.command(extra)}" in broken(str(tmp_path / name))


def test_several_workbooks_are_no_dataset(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_excel(TABLE, tmp_path / f"{name}.xlsx")
        write_lines(TABLE, tmp_path / f"{name}.jsonl")
    assert "name one of them" in broken(str(tmp_path / "*.xlsx"))
    assert qifsql.describe(str(tmp_path / "*.jsonl")).frame["records"].to_list() == [2 * N] * 4


# Where these files may be given


def test_other_files_of_a_command_may_be_of_any_kind(tmp_path: Path) -> None:
    keyed = TABLE.with_row_index("key").with_columns(pl.col("key").cast(int))
    keyed.write_parquet(tmp_path / "a.parquet")
    paths = [write_sqlite(keyed, tmp_path / "b.sqlite"), write_excel(keyed, tmp_path / "b.xlsx")]
    for path in paths:
        frame = qifsql.attack("crl", [tmp_path / "a.parquet", path], key="key", qids="1:age,2:sex")
        assert frame.frame["records"].to_list() == [N]
    done = run("sql", "crs", paths[0], "-q", "age")
    assert done.code == 0
    assert "-- copy_" in done.out


# Partitions


@pytest.mark.cases(1)
@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("pattern", ["year=*/*.{}", "**/*.{}", "{}"])
def test_names_of_folders_are_columns(
    ending: str, pattern: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if ending == "csv" and pattern == "{}":
        pytest.skip("a folder is one of Parquet")
    whole = TABLE.with_columns(year=2018 + pl.int_range(N) % 3)
    whole.write_parquet(tmp_path / "whole.parquet")
    parts = tmp_path / "parts"
    for (year,), part in whole.group_by("year"):
        folder = parts / f"year={year}"
        folder.mkdir(parents=True)
        getattr(part.drop("year"), f"write_{ending}")(folder / f"part.{ending}")
    monkeypatch.chdir(parts)
    source = str(parts) if pattern == "{}" else pattern.format(ending)
    qids = ("age", "year")
    expected = numbers(str(tmp_path / "whole.parquet"), qids)
    assert numbers(source, qids) == expected
    assert types(source)["year"] == "BIGINT"
    (parts / "month=1").mkdir()
    (parts / "year=2018" / f"part.{ending}").rename(parts / "month=1" / f"part.{ending}")
    if pattern != "year=*/*.{}":
        assert "different partition columns" in broken(source)


def test_texts_of_partitions_stay_apart(tmp_path: Path) -> None:
    for code in ("01", "1", "__HIVE_DEFAULT_PARTITION__"):
        (tmp_path / f"code={code}").mkdir()
        TABLE.write_parquet(tmp_path / f"code={code}" / "p.parquet")
    described = {r["column"]: r for r in qifsql.describe(str(tmp_path / "*/*.parquet")).rows()}
    assert (described["code"]["distinct"], described["code"]["missing"]) == (2, N)


@pytest.mark.cases(1)
@pytest.mark.parametrize("place", ["XFD1048576", "CV1048576", "XFD1"])
def test_a_far_cell_is_refused_with_its_place_and_takes_no_memory(
    place: str, tmp_path: Path
) -> None:
    """The reader holds the whole rectangle; the widest first row is no such rectangle."""
    pytest.importorskip("fastexcel", reason="needs qifsql[excel]")
    xlsxwriter = pytest.importorskip("xlsxwriter", reason="needs qifsql[excel]")
    path = tmp_path / "far.xlsx"
    book = xlsxwriter.Workbook(path)
    sheet = book.add_worksheet("people")
    sheet.write("A1", "age")
    sheet.write("A2", 30)
    sheet.write(place, "far")
    book.close()
    done = run("describe", path)
    if place == "XFD1":
        assert place not in done.err
        return
    assert done.code == 2
    assert f"as far away as {place}" in done.err
    assert len(done.err.splitlines()) == 1
