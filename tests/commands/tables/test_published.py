"""Published tables: files of counts become cells with the counts they may stand for."""

import csv
import itertools
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from qifsql.commands.tables import published
from qifsql.commands.tables.table_release import distinct_titles
from qifsql.engine.engines import open_engine
from qifsql.engine.tables import Tables
from qifsql.errors import InputError
from qifsql.query.protections import Protection

Cell = tuple[int, int | None, int, int | None, bool]  # line, published, lower, upper, hidden
COLUMNS = ["line", "published", "lower", "upper", "hidden"]
TYPES = ["BIGINT", "BIGINT", "BIGINT", "BIGINT", "BOOLEAN"]
MARKS = ("*", "**", "..", "...", "…", ":", ":c", "[c]", "(X)", " X ", "s", "D", "n.p.")
MARK = "canary"  # a value that no message may show


@dataclass
class Read:
    """A published table as it was read, with its cells by their values."""

    title: str
    dims: tuple[str, ...]
    protection: Protection
    cells: dict[tuple[str | None, ...], Cell]


@contextmanager
def engine(texts: Sequence[str | Path]) -> Iterator[tuple[Tables, list[Any], list[Protection]]]:
    datasets, protections = published.parse_sources(texts)
    with open_engine(None, sources=datasets) as opened:
        yield Tables(opened, "reading tables", ""), datasets, protections


def read(*texts: str | Path, **options: Any) -> list[Read]:
    asked: dict[str, Any] = {"across": None, "counts": None, "total": (), "people": None, **options}
    with engine(texts) as (tables, datasets, protections):
        result = []
        for table in published.read_files(tables, datasets, protections, **asked):
            cells = exp.table_(table.cells)
            columns = tables.engine.describe(cells, table.title)
            values = [(f"value_{i}", "VARCHAR") for i in range(1, len(table.dims) + 1)]
            assert columns == [*values, *zip(COLUMNS, TYPES, strict=True)]
            rows = tables.rows(exp.select("*").from_(cells))
            by_values = {row[: len(values)]: row[len(values) :] for row in rows}
            assert len(by_values) == len(rows)
            result.append(Read(table.title, table.dims, table.protection, by_values))
        left = tables.engine.query(exp.select("table_name").from_("duckdb_tables()"), "")
        left = [row for row in left if row[0] != "t"]  # of a database
        assert all(name.startswith("published_") for (name,) in left)
        return result


def counts(table: Read) -> dict[tuple[str | None, ...], int | None]:
    return {values: cell[1] for values, cell in table.cells.items()}


def bounds(table: Read) -> list[tuple[int, int | None]]:
    return [cell[2:4] for _, cell in sorted(table.cells.items(), key=lambda item: item[1][0])]


def refused(*texts: str | Path, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(*texts, **options)
    assert MARK not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def written(text: str, name: str = "t.csv") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return written


# Long and wide files.

LONG = "school,sex,n\na,m,12\na,f,3\nb,m,7\nb,f,0\n"
WIDE = "school,m,f\na,12,3\nb,7,0\n"
CELLS = {("a", "m"): 12, ("a", "f"): 3, ("b", "m"): 7, ("b", "f"): 0}


def test_a_long_and_a_wide_file_are_the_same_cells(write: Any) -> None:
    (long,) = read(write(LONG))
    (wide,) = read(write(WIDE), across="sex")
    assert counts(long) == counts(wide) == CELLS
    assert long.dims == wide.dims == ("school", "sex")
    assert long.cells["b", "m"] == (4, 7, 7, 7, False)
    assert wide.cells["b", "m"] == (3, 7, 7, 7, False)
    assert (long.title, long.protection) == ("t.csv", Protection())


def test_a_file_with_the_column_across_is_long(write: Any) -> None:
    long, wide = read(write(LONG), write(WIDE, "w.csv"), across="sex")
    assert counts(long) == counts(wide) == CELLS


@pytest.mark.cases(1)
@pytest.mark.parametrize("name", ["count", "N", " n ", "Total", "OBS_VALUE", "contagem"])
def test_the_column_of_counts_has_a_usual_name(write: Any, name: str) -> None:
    (table,) = read(write(f"year,{name},age\n2020,5,10\n2021,6,10\n"))
    assert table.dims == ("year", "age")
    assert counts(table) == {("2020", "10"): 5, ("2021", "10"): 6}


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_the_last_column_has_the_counts_where_no_other_could(write: Any) -> None:
    (table,) = read(write("sex,alunos\nm,5\nf,6\n"))
    assert counts(table) == {("m",): 5, ("f",): 6}
    assert "name it with --counts" in refused(write("age,alunos\n10,5\n11,6\n"))
    assert "name it with --counts" in refused(write("alunos,sex\n5,m\n6,f\n"))
    assert "name it with --counts" in refused(write("sex,n,people\nm,5,5\nf,6,6\n"))
    assert "name it with --counts" in refused(write("sex,age\nm,x\nf,x\n"))


def test_a_usual_name_of_labels_is_a_dimension(write: Any) -> None:
    (table,) = read(write("freq,place,obs_value\nA,x1,5\nQ,x1,6\n"))
    assert table.dims == ("freq", "place")


def test_the_named_column_has_the_counts(write: Any) -> None:
    file = write("age,alunos\n10,5\n11,6\n")
    (table,) = read(file, counts="Alunos")
    assert counts(table) == {("10",): 5, ("11",): 6}
    other = write("sex,n\nm,5\nf,6\n", "o.csv")
    assert len(read(file, other, counts="alunos")) == 2
    assert 'no published table has a column "aluno"; did you' in refused(file, counts="aluno")


@pytest.mark.slow(because="1.1 s; every recorded mutant dies without it")
def test_the_columns_across_may_be_named(write: Any) -> None:
    file = write("code,m,f\n1,12,3\n2,7,0\n")
    assert '"sex=COLUMN,COLUMN"' in refused(file, across="sex")
    (table,) = read(file, across="sex=m,f")
    assert counts(table) == {("1", "m"): 12, ("1", "f"): 3, ("2", "m"): 7, ("2", "f"): 0}
    (alone,) = read(write("m,f\n12,3\n", "alone.csv"), across="sex=f,m")
    assert counts(alone) == {("m",): 12, ("f",): 3}
    long = write("code,n\n1,15\n2,7\n", "long.csv")
    assert [t.dims for t in read(file, long, across="sex=m,f")] == [("code", "sex"), ("code",)]
    assert 'no column "x"' not in refused(file, across="sex=m,x")
    assert 'no published table has a column "x"' in refused(file, across="sex=m,x")


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_columns_across_that_may_be_dimensions_are_refused(write: Any) -> None:
    clear = "is not clear"
    assert clear in refused(write("region,m,f\na,1,2\nb,oops,2\n"), across="sex")  # a bad count
    assert clear in refused(write("age,m,f\n0,1,2\n1-4,1,2\n"), across="sex")
    assert clear in refused(write("region,n\na,1\nb,2\n"), across="sex")  # a long file?
    assert clear in refused(write("m,region,f\n1,a,2\n2,b,2\n"), across="sex")
    assert clear in refused(write("region,town\na,b\n"), across="sex")
    (table,) = read(write("region,n,f\na,1,2\nb,3,2\n"), across="sex", counts="n")
    assert table.dims == ("region", "f")


def test_a_missing_value_is_null(write: Any) -> None:
    (table,) = read(write("sex,n\nm,5\n,6\n"))
    assert counts(table) == {("m",): 5, (None,): 6}


@pytest.mark.slow(because="0.9 s; every recorded mutant dies without it")
def test_parquet_excel_and_databases_are_read(tmp_path: Path) -> None:
    columns = {"age": [10.0, 11.5, None], "sex": ["m", "m", "f"], "n": [3.0, 4.0, 5.0]}
    expected = {("10", "m"): 3, ("11.5", "m"): 4, (None, "f"): 5}
    frame = pl.DataFrame(columns)
    frame.write_parquet(tmp_path / "t.parquet")
    frame.write_excel(tmp_path / "t.xlsx", worksheet="sheet")
    decimals = {"age": [Decimal("10.0"), Decimal("11.5"), None], "n": [Decimal(3)] * 3}
    pq.write_table(pa.table(decimals), tmp_path / "d.parquet")
    for file in (tmp_path / "t.parquet", f"sheet@{tmp_path / 't.xlsx'}:exact"):
        (table,) = read(file)
        assert counts(table) == expected
        assert table.cells["11.5", "m"][0] == 3
    (table,) = read(tmp_path / "d.parquet")
    assert counts(table) == {("10",): 3, ("11.5",): 3, (None,): 3}
    mixed = pl.DataFrame({"sex": ["m", "f"], "n": ["12", "*"]})
    mixed.write_excel(tmp_path / "m.xlsx")
    (table,) = read(f"{tmp_path / 'm.xlsx'}:suppress<5")
    assert bounds(table) == [(12, 12), (1, 4)]


def test_numbers_of_typed_columns_have_no_thousands(tmp_path: Path) -> None:
    pl.DataFrame({"sex": ["m", "f"], "n": [1.234, 5.0]}).write_parquet(tmp_path / "t.parquet")
    assert "line 2 of t.parquet" in refused(tmp_path / "t.parquet")


@pytest.mark.slow(because="1.8 s; every recorded mutant dies without it")
def test_lines_of_a_large_file_are_in_order(tmp_path: Path) -> None:
    n = 300_000
    file = tmp_path / "t.csv"
    pl.DataFrame({"id": [f"x{i}" for i in range(n)], "n": [1] * n}).write_csv(file)
    with engine([file]) as (tables, datasets, protections):
        asked: dict[str, Any] = dict.fromkeys(("across", "counts", "people")) | {"total": ()}
        (table,) = published.read_files(tables, datasets, protections, **asked)
        line = exp.column("line")
        number = exp.cast(exp.func("substr", exp.column("value_1"), exp.convert(2)), "BIGINT")
        right = (
            exp.select("count(*)")
            .from_(table.cells)
            .where(exp.EQ(this=line, expression=number + 2))
        )
        assert tables.rows(right) == [(n,)]


# Hidden cells and protections.


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
@pytest.mark.parametrize(
    ("text", "suppressed", "zeros", "others"),
    [
        *((mark, (1, 4), (0, 4), (0, None)) for mark in MARKS),
        *((text, (1, 4), (0, 4), (0, 4)) for text in ("<5", "< 5", "<=4", "menos de 5")),
        ("<3", (1, 2), (0, 2), (0, 2)),
        ("<1", (0, 0), (0, 0), (0, 0)),
    ],
)
def test_hidden_cells(write: Any, text: str, suppressed: Any, zeros: Any, others: Any) -> None:
    limit = others[1] is not None
    expected = {
        "suppress<5": suppressed,
        "suppress<5 zeros": zeros,
        "exact": suppressed if limit else others,  # <5 is read as suppress<5
        "round:5": others,
    }
    for protection, interval in expected.items():
        file = write(f"sex,n\nm,20\nf,{text}\n")
        (table,) = read(f"{file}:{protection}")
        assert table.cells["f",] == (3, None, *interval, True)


@pytest.mark.cases(1)
@pytest.mark.parametrize("text", ["5+", "5 or more", "5 ou mais", ">=5", "≥ 5", ">4", "at least 5"])
def test_cells_of_at_least(write: Any, text: str) -> None:
    (table,) = read(write(f"sex,n\nm,20\nf,{text}\n"))
    assert table.cells["f",] == (3, 5, 5, None, False)


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    ("protection", "expected"),
    [
        ("exact", [(10, 10), (0, 0)]),
        ("suppress<5", [(10, 10), (0, 0)]),
        ("round:5", [(8, 12), (0, 2)]),
        ("round:5 random", [(6, 14), (0, 4)]),
        ("noise:2", [(8, 12), (0, 2)]),
        ("atleast:10", [(10, None), (0, 0)]),
    ],
)
def test_printed_cells_have_the_interval_of_their_protection(
    write: Any, protection: str, expected: list[tuple[int, int | None]]
) -> None:
    file = write("sex,n\nm,10\nf,0\n")
    (table,) = read(f"{file}:{protection}")
    assert bounds(table) == expected
    assert table.protection.text == protection


@pytest.mark.parametrize(
    ("protection", "n"), [("suppress<5", 4), ("round:5", 12), ("atleast:10", 11)]
)
def test_a_count_that_a_protection_would_have_changed(write: Any, protection: str, n: int) -> None:
    file = write(f"sex,n\nm,10\nf,{n}\n")
    says = refused(f"{file}:{protection}")
    assert f"line 3 of t.csv has a count that {protection} would not" in says


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["1,234", "5"], [1234, 5]),
        (["1.234", "5"], [1234, 5]),
        (["1,234,567", "12,345"], [1234567, 12345]),
        (["1 234", "12345"], [1234, 12345]),
        (["1\N{NO-BREAK SPACE}234\N{NARROW NO-BREAK SPACE}567", "1'000"], [1234567, 1000]),
        (["3.0", "2,00"], [3, 2]),
        (["007", " 12 "], [7, 12]),
    ],
)
def test_whole_numbers_in_other_spellings(write: Any, texts: list[str], expected: Any) -> None:
    rows = "".join(f'x{i},"{text}"\n' for i, text in enumerate(texts))
    (table,) = read(write(f"key,n\n{rows}"))
    assert [cell[1] for cell in table.cells.values()] == expected


@pytest.mark.parametrize(
    "texts",
    [
        ["1,234", "12,345"],  # two shares with three digits?
        ["1,234", "1.234", "5"],
        ["1,234", "1234", "5"],
    ],
)
def test_a_comma_that_may_be_a_fraction_is_refused(write: Any, texts: list[str]) -> None:
    rows = "".join(f'x{i},"{text}"\n' for i, text in enumerate(texts))
    assert "line 2 of t.csv has a count whose comma" in refused(write(f"key,n\n{rows}"))


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "has no count; write 0, or *"),
        ("-", "write 0 or *"),
        ("–", "write 0 or *"),
        (".", "write 0 or *"),
        ("n/a", "write 0 or *"),
        ("-4", "negative"),
        ("\N{MINUS SIGN}4", "negative"),
        ("4.5", "not whole"),
        ("0.125", "not whole"),
        ("1e3", "not whole"),
        ("12345678901234567", "more than 15 digits"),
        (MARK, "neither a count nor a mark"),
    ],
)
def test_what_is_no_count_is_refused_with_its_line(write: Any, text: str, reason: str) -> None:
    says = refused(write(f'sex,n\nm,20\nf,"{text}"\nx,{MARK}\n'))
    assert says.startswith('line 3 of t.csv, column "n", ')
    assert reason in says
    wide = refused(write(f'sex,a,b\nm,20,1\nf,"{text}",1\n'), across="age=a,b")
    assert wide.startswith('line 3 of t.csv, column "a", ')


# Totals.

TOTALS = (
    "school,sex,n\na,m,12\na,f,3\na,Total,15\nb,m,7\nb,f,0\nb,TOTAL,7\nTotal,m,19\nTotal,f,3\n"
    "Total,Total,22\n"
)


def test_totals_are_tables_of_their_own(write: Any) -> None:
    read_tables = read(write(TOTALS), total=[" total "])
    by_title = {t.title: t for t in read_tables}
    assert read_tables[0].title == "t.csv"
    assert counts(by_title["t.csv"]) == CELLS
    assert counts(by_title["t.csv (totals over sex)"]) == {("a",): 15, ("b",): 7}
    assert by_title["t.csv (totals over sex)"].dims == ("school",)
    assert by_title["t.csv (totals over school)"].cells["m",] == (8, 19, 19, 19, False)
    grand = by_title["t.csv (totals over school, sex)"]
    assert (grand.dims, grand.cells) == ((), {(): (10, 22, 22, 22, False)})
    assert len(read_tables) == 4


def test_totals_of_wide_files(write: Any) -> None:
    file = write("school,m,f,All\na,12,3,15\nb,7,0,7\nAll,19,3,22\n")
    by_title = {t.title: t for t in read(file, across="sex", total=["All"])}
    named = {t.title: t for t in read(file, across="sex=m,f", total=["all"])}
    long = {t.title: t for t in read(write(TOTALS), total=["Total"])}
    for title, table in long.items():
        assert counts(by_title[title]) == counts(named[title]) == counts(table)


def test_empty_cells_may_be_totals(write: Any) -> None:
    """As GROUP BY ROLLUP gives them."""
    base, totals = read(write("school,n\na,1\nb,2\n,3\n"), total=[""])
    assert counts(base) == {("a",): 1, ("b",): 2}
    assert counts(totals) == {(): 3}


def test_totals_have_the_protection_of_their_file(write: Any) -> None:
    file = write("sex,n\nm,10\nf,5\nTotal,20\n")
    assert "line 4 of t.csv is a total, but not the sum" in refused(file, total=["Total"])
    _, totals = read(f"{file}:round:5", total=["Total"])
    assert totals.cells[()] == (4, 20, 18, 22, False)
    assert totals.protection == Protection("round", 5)


def test_totals_alone_are_tables(write: Any) -> None:
    tables = read(write("school,sex,n\na,T,5\nb,T,6\nT,m,11\nT,T,11\n"), total=["T"])
    assert [t.dims for t in tables] == [("sex",), ("school",), ()] or [t.dims for t in tables] == [
        ("school",),
        ("sex",),
        (),
    ]
    wrong = write("school,sex,n\na,T,5\nb,T,6\nT,T,12\n")
    assert "line 4 of t.csv is a total, but not" in refused(wrong, total=["T"])


@pytest.mark.slow(because="1.4 s; every recorded mutant dies without it")
def test_totals_of_hidden_cells_need_only_be_possible(write: Any) -> None:
    assert read(write("sex,n\nm,10\nf,*\nTotal,20\n"), total=["Total"])
    assert read(write("sex,n\nm,10\nf,<5\nTotal,14\n"), total=["Total"])
    assert read(write("sex,n\nm,10\nf,5\nTotal,*\n"), total=["Total"])
    for total in (9, 10, 15):
        file = write(f"sex,n\nm,10\nf,<5\nTotal,{total}\n")
        assert "line 4 of t.csv is a total" in refused(file, total=["Total"])


@pytest.mark.slow(because="1.5 s; every recorded mutant dies without it")
def test_each_total_is_checked(write: Any) -> None:
    for line in TOTALS.splitlines()[3:]:
        if "otal" not in line.lower():
            continue
        wrong = TOTALS.replace(line, f"{line}1")
        number = TOTALS.splitlines().index(line) + 1
        assert f"line {number} of t.csv is a total" in refused(write(wrong), total=["Total"])
    missing = TOTALS.replace("a,Total,15\n", "")
    says = refused(write(missing), total=["Total"])
    assert "line 2 of t.csv has no total where t.csv (totals over sex) has others" in says


@pytest.mark.slow(because="0.9 s; every recorded mutant dies without it")
def test_totals_that_are_not_declared_are_refused(write: Any) -> None:
    says = refused(write(TOTALS))
    assert 'line 8 of t.csv seems to have a total over "school"' in says
    says = refused(write("school,m,f,Total\na,12,3,15\nb,7,0,7\n"), across="sex")
    assert 'line 1 of t.csv seems to have a total over "sex"' in says
    summed = "school,m,f,x\na,12,3,15\nb,7,0,7\nx,19,3,22\n"
    assert "line 4 of t.csv has the sums of all other values" in refused(
        write(summed), across="sex"
    )
    lines = "school,sex,n\na,m,12\nb,m,7\nx,m,19\na,f,3\nb,f,0\nx,f,3\n"
    says = refused(write(lines))
    assert 'line 4 of t.csv has the sums of all other values of "school"' in says
    assert "no published table has a total" in refused(write(summed), across="sex", total=["y"])
    by_accident = write(lines)  # 44 people, if x is a school
    assert len(read(by_accident, people=44)) == 1
    assert "the sums of all other values" in refused(by_accident, people=22)


def test_labels_of_totals_occur(write: Any) -> None:
    says = refused(write(TOTALS), total=["Total", "Sum"])
    assert 'no published table has a total "Sum"' in says
    several = write("school,m,f,All,Total\na,12,3,15,15\n")
    says = refused(several, across="sex", total=["All", "Total"])
    assert "t.csv has several columns of totals" in says


# Names and values.


def test_a_combination_occurs_once(write: Any) -> None:
    says = refused(write(f"sex,age,n\n{MARK},,1\nf,,2\nm,1,3\n{MARK},,1\n"))
    assert says.startswith("lines 2 and 5 of t.csv are about the same combination")
    says = refused(write("school,m,f\na,1,2\nb,1,2\na,3,4\n"), across="sex")
    assert says.startswith("lines 2 and 4 of t.csv")
    says = refused(write("sex,n\nm,1\nAll,1\nTotal,1\n"), total=["All", "Total"])
    assert says.startswith("lines 3 and 4 of t.csv")


@pytest.mark.cases(1)
@pytest.mark.parametrize("name", ["SEX", " sex", "sex "])
def test_a_dimension_has_one_name(write: Any, name: str) -> None:
    one, other = write("sex,n\nm,1\nf,2\n"), write(f"{name},n\nm,1\nf,2\n", "o.csv")
    assert f'"{name}" of o.csv is "sex" in t.csv; write one name' in refused(one, other)
    says = refused(write(f"sex,{name},n\nm,m,1\nf,f,2\n"))
    assert f'columns "sex" and "{name}" of t.csv differ only in case or blanks' in says
    wide = write("age,m,f\nyoung,1,2\n", "w.csv")
    other = write(f"{name},age,n\nm,young,1\nf,young,2\n", "o.csv")
    assert f'"sex" of w.csv is "{name}" in o.csv' in refused(other, wide, across="sex=m,f")


@pytest.mark.slow(because="1.0 s; every recorded mutant dies without it")
def test_a_value_has_one_spelling(write: Any) -> None:
    says = refused(write(f"sex,n\nm,1\n{MARK},2\n{MARK.upper()},3\n"))
    assert 'the value of "sex" in line 3 of t.csv is written with other case' in says
    assert "in line 4 of t.csv" in says
    assert MARK.upper() not in says
    one, other = write("sex,n\nm,1\nf,2\n"), write("sex,n\nx,5\nm ,1\nf,2\n", "o.csv")
    says = refused(one, other)
    assert "in line 2 of t.csv is written with other case or blanks in line 3 of o.csv" in says
    wide = write("age,F,m\nyoung,1,2\n", "w.csv")
    says = refused(one, wide, across="sex")
    assert "in line 3 of t.csv is written with other case or blanks in line 1 of w.csv" in says
    assert "line 2 of t.csv" in refused(write('sex,n\n"",1\n,2\n'))
    different = write("sex,age,n\nm,M,1\nf,F,2\n")
    assert len(read(different)) == 1


def test_files_without_a_table_are_refused(write: Any) -> None:
    assert "t.csv is empty" in refused(write(""))
    assert "t.csv has no lines below its header" in refused(write("sex,n\n"))
    assert "t.csv has counts but no dimension" in refused(write("n\n5\n"))
    assert "column 1 of t.csv has no name" in refused(write(",n\n0,5\n1,6\n"))
    assert "does not exist" in refused("nothing.csv")


def test_a_nested_column_is_refused(tmp_path: Path) -> None:
    pl.DataFrame({"sex": [["m"], ["f"]], "n": [1, 2]}).write_parquet(tmp_path / "t.parquet")
    assert 'column "sex" of t.parquet is nested' in refused(tmp_path / "t.parquet")


def test_files_and_their_protections(write: Any) -> None:
    plain, strange = write(LONG), write(LONG, "t:round:5.csv")
    datasets, protections = published.parse_sources([plain, f"{strange}", f"{plain}:noise:2"])
    assert [p.text for p in protections] == ["exact", "exact", "noise:2"]
    assert [d.name for d in datasets] == ["t.csv", "t:round:5.csv", "t.csv"]
    assert all(d.all_varchar for d in datasets)
    titles = [t.title for t in read(plain, f"{plain}:noise:2")]
    assert titles == [str(plain), str(plain)]
    with pytest.raises(InputError, match="unknown protection"):
        published.parse_sources([f"{plain}:suppres<5"])
    with pytest.raises(InputError):
        published.parse_sources(["x" * 5000])


def test_tables_of_databases_are_read_together(tmp_path: Path) -> None:
    import duckdb

    for name in ("a", "b"):
        with duckdb.connect(tmp_path / f"{name}.duckdb") as connection:
            connection.execute(f"CREATE TABLE t AS SELECT '{name}' AS sex, 5 AS n")
    texts = [f"t@{tmp_path / 'a.duckdb'}", f"t@{tmp_path / 'b.duckdb'}:noise:1"]
    assert [counts(t) for t in read(*texts)] == [{("a",): 5}, {("b",): 5}]


def test_hostile_names_of_columns(tmp_path: Path) -> None:
    names = ['"; DROP TABLE cells; --', "'); DROP TABLE cells; --", 'place_1", 1 AS "x']
    columns = {names[0]: ["a", "b"], names[1]: [1, 2], names[2]: [3, 4]}
    pl.DataFrame(columns).write_parquet(tmp_path / "t.parquet")
    (table,) = read(tmp_path / "t.parquet", across="\0; DROP TABLE cells; --")
    assert table.dims == (names[0], "\0; DROP TABLE cells; --")
    a, b = ({("a", names[1]): 1, ("a", names[2]): 3}, {("b", names[1]): 2, ("b", names[2]): 4})
    assert counts(table) == a | b


# Round trips.

HOSTILE = [
    *('"; DROP TABLE cells; --', "a'b", 'say "x"', "1,234", "a;b", "two\nlines", "*", "<5", "-"),
    *(
        "qid_1",
        "place_1",
        "line",
        "NULL",
        "São Paulo",
        "\N{SNOWMAN}",
        "{x}",
        "%s",
        "\\",
        "0012",
        "$1",
    ),
]
IN_HEADERS = [text for text in HOSTILE if ";" not in text]  # which may be what separates fields
NAMES = st.lists(st.sampled_from(IN_HEADERS), min_size=2, max_size=3, unique=True)


@st.composite
def grids(draw: st.DrawFn) -> tuple[list[str], list[list[str | None]], dict[Any, str]]:
    """The dimensions of a table, the values of each, and the text of each cell."""
    names = draw(NAMES)
    last = [value for value in IN_HEADERS if value not in names]
    values: list[list[str | None]] = [
        draw(st.lists(st.sampled_from([None, *HOSTILE]), min_size=1, max_size=3, unique=True))
        for _ in names[1:]
    ]
    values.append(draw(st.lists(st.sampled_from(last), min_size=1, max_size=3, unique=True)))
    text = st.one_of(st.integers(3, 2000).map(str), st.sampled_from(["*", "<5", "7+", "0"]))
    cells = {key: draw(text) for key in itertools.product(*values)}
    cells[next(iter(cells))] = "12"
    return names, values, cells


@pytest.mark.slow(because="2.1 s; every recorded mutant dies without it")
@settings(max_examples=examples(40))
@given(grids())
def test_a_table_is_read_as_it_was_written(
    grid: tuple[list[str], list[list[str | None]], dict[Any, str]],
) -> None:
    names, values, cells = grid
    with tempfile.TemporaryDirectory() as folder:
        long, wide = Path(folder) / "long.csv", Path(folder) / "wide.csv"
        with long.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(
                [[*names, "people"], *([*k, t] for k, t in cells.items())]
            )
        stubs = list(itertools.product(*values[:-1]))
        with wide.open("w", encoding="utf-8", newline="") as file:
            lines = [[*stub, *(cells[*stub, value] for value in values[-1])] for stub in stubs]
            csv.writer(file, lineterminator="\n").writerows([[*names[:-1], *values[-1]], *lines])
        (from_long,) = read(f"{long}:suppress<3 zeros", counts="people")
        columns = ",".join('"' + (v or "").replace('"', '""') + '"' for v in values[-1])
        (from_wide,) = read(f"{wide}:suppress<3 zeros", across=f"{names[-1]}={columns}")
    assert from_long.dims == from_wide.dims == tuple(names)
    without_line = [{k: cell[1:] for k, cell in t.cells.items()} for t in (from_long, from_wide)]
    expected = {key: expectation(text) for key, text in cells.items()}
    assert without_line == [expected, expected]
    assert [k for k, _ in sorted(from_long.cells.items(), key=lambda i: i[1][0])] == list(cells)


def expectation(text: str) -> tuple[int | None, int, int | None, bool]:
    """The cell of a text under suppress<3 zeros."""
    marks = {"*": (None, 0, 2, True), "<5": (None, 0, 4, True), "7+": (7, 7, None, False)}
    return marks[text] if text in marks else (int(text), int(text), int(text), False)


def test_tables_of_one_title_are_told_apart() -> None:
    """Also where a title is what another one would become."""
    assert distinct_titles(["x", "x", "x (2)", "y"]) == ["x", "x (2)", "x (2) (2)", "y"]
    assert distinct_titles(["x (2)", "x", "x"]) == ["x (2)", "x", "x (3)"]
