"""A release is like its input, and is read again by qifsql and by the library of its format."""

import csv
import gzip
import shutil
import subprocess
import zipfile
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyreadstat
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import qifsql
from qifsql.errors import InputError, OutputError

PEOPLE = pl.DataFrame(
    {
        "age": [20 + i for i in range(24)],
        "zip": [f"0{7000 + 7 * i}" for i in range(24)],
        "born": [date(1980 + i, 1 + i % 12, 1 + i) for i in range(24)],
        "pay": [i / 2 if i % 5 else None for i in range(24)],
        "town": ["Bonn", "Köln", "Ulm"] * 8,
    }
)
LABELS: dict[str, Any] = {
    "column_labels": {"age": "Age in years", "pay": "Pay per hour"},
    "variable_value_labels": {"pay": {1: "little", 2: "more"}},
}
CHANGES = {"change": ["age:10", "zip:3", "born:10y"], "qids": "age,zip,born"}
CELLS = ("20-29", "070**", "1980s")


def write_input(folder: Path, ending: str, people: pl.DataFrame = PEOPLE) -> Path:
    """Write the people in a format."""
    path = folder / f"in{ending}"
    if ending == ".parquet":
        people.write_parquet(path)
    elif ending in (".csv", ".csv.gz"):
        people.to_pandas().to_csv(path, index=False, date_format="%Y-%m-%d")
    elif ending in (".tsv", ".tsv.zst"):  # pandas needs one more library for the latter
        with pa.output_stream(str(path), compression="zstd" if ".zst" in ending else None) as text:
            people.to_pandas().to_csv(text, index=False, sep="\t")
    elif ending in (".jsonl", ".ndjson"):
        people.write_ndjson(path)
    elif ending == ".json":
        path.write_text(people.with_columns(pl.col("born").cast(pl.String)).write_json())
    elif ending == ".xlsx":
        people.write_excel(path)
    elif ending == ".dta":
        pyreadstat.write_dta(people, path, **LABELS)
    elif ending == ".xpt":
        pyreadstat.write_xport(people, path)
    else:
        pyreadstat.write_sav(people, path, compress=ending == ".zsav", **LABELS)
    return path


def read_by_others(path: Path, ending: str) -> pd.DataFrame:
    """Read a release with the library that people use for its format."""
    readers: dict[str, Any] = {
        ".parquet": pd.read_parquet,
        ".xlsx": pd.read_excel,  # openpyxl
        ".json": lambda p: pd.read_json(p, orient="records"),
        ".jsonl": lambda p: pd.read_json(p, lines=True),
        ".sav": lambda p: pyreadstat.read_sav(p)[0],
        ".zsav": lambda p: pyreadstat.read_sav(p)[0],
        ".dta": lambda p: pyreadstat.read_dta(p)[0],
        ".xpt": lambda p: pyreadstat.read_xport(p)[0],
    }
    if ending in readers:
        return readers[ending](path)
    separator = "\t" if ".tsv" in ending else ","
    if ending.endswith(".zst"):
        with pa.input_stream(str(path), compression="zstd") as text:
            return pd.read_csv(text, sep=separator)
    return pd.read_csv(path, sep=separator)


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    "ending",
    [
        *(".csv", ".xlsx", ".sav", ".jsonl", ".parquet", ".csv.gz", ".tsv", ".tsv.zst"),
        *(".json", ".zsav", ".dta", ".xpt"),
    ],
)
def test_a_release_has_the_format_of_its_input(ending: str, tmp_path: Path) -> None:
    source, out = write_input(tmp_path, ending), tmp_path / f"out{ending}"
    result = qifsql.anonymise(source, out, **CHANGES)
    made = read_by_others(out, ending)
    assert list(made.columns) == PEOPLE.columns
    assert tuple(made.iloc[0][:3].astype(str)) == CELLS
    assert made["pay"].dropna().tolist() == PEOPLE["pay"].drop_nulls().to_list()
    assert made["town"].tolist() == PEOPLE["town"].to_list()
    compared = qifsql.compare(source, out, qids="age,zip,born")
    assert set(compared.details["columns"]["outside"]) == {0}
    blocks = compared.frame.filter(view="cells")["blocks"].to_list()
    assert blocks == [24, result.frame["blocks"].item()]


IN_R = r"""
absent <- Filter(function(name) !requireNamespace(name, quietly = TRUE), c("haven", "readxl"))
if (length(absent)) {
  cat(absent)
  quit(status = 3)
}
readers <- list(
  .csv = read.csv, .tsv = read.delim, .xlsx = readxl::read_excel,
  .sav = haven::read_sav, .dta = haven::read_dta, .xpt = haven::read_xpt,
  utf_16.csv = function(path) read.csv(path, fileEncoding = "UTF-16"),
  cp1252.csv = function(path) read.csv2(path, fileEncoding = "CP1252")
)
cells <- function(v) {
  labels <- attr(v, "labels")
  text <- if (is.numeric(v)) sprintf("%.17g", unclass(v)) else as.character(v)
  text[is.na(v)] <- ""
  told <- paste(c(attr(v, "label"), names(labels), labels), collapse = "|")
  c(told, is.numeric(v), enc2utf8(text))
}
for (name in names(readers)) {
  table <- readers[[name]](paste0("out", name))
  write.csv(sapply(table, cells), paste0(name, ".txt"), row.names = FALSE, fileEncoding = "UTF-8")
}
"""
READ_IN_R = (".csv", ".tsv", ".xlsx", ".sav", ".dta", ".xpt")


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_r_reads_releases_as_they_are(tmp_path: Path) -> None:
    """One process of R reads all formats; a release in Parquet says what their cells are."""
    people = PEOPLE.with_columns(seen=pl.col("born"), town=pl.col("town").replace("Ulm", None))
    sources = [qifsql.Dataset.open(write_input(tmp_path, ending, people)) for ending in READ_IN_R]
    outs = [f"out{ending}" for ending in READ_IN_R]
    for encoding, how in (("utf_16", {}), ("cp1252", {"sep": ";", "decimal": ","})):
        source, out = tmp_path / f"{encoding}.csv", f"out{encoding}.csv"
        people.to_pandas().to_csv(source, index=False, encoding=encoding, **how)
        read_with = {"encoding": encoding, "decimal": how.get("decimal")}
        sources.append(qifsql.Dataset.open(source, **read_with))
        outs.append(out)
    for data, out in zip(sources, outs, strict=True):
        qifsql.anonymise(data, tmp_path / out, **CHANGES)
    qifsql.anonymise(people, tmp_path / "out.parquet", **CHANGES)
    command = ["Rscript", "--vanilla", "-e", IN_R]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    if done.returncode == 3:
        pytest.skip(f"R has no package {done.stdout}")
    assert done.returncode == 0, done.stderr
    made = pl.read_parquet(tmp_path / "out.parquet").with_columns(pl.col("seen").cast(pl.String))
    for out in outs:
        with (tmp_path / f"{out.removeprefix('out')}.txt").open(encoding="utf-8") as file:
            columns, labels, numbers, *cells = csv.reader(file)
        assert columns == made.columns
        pay = columns.index("pay")
        assert numbers == ["TRUE" if name == "pay" else "FALSE" for name in columns]
        assert (labels[pay] == "Pay per hour|little|more|1|2") == out.endswith(("sav", "dta"))
        read = [[*row[:pay], float(row[pay] or "nan"), *row[pay + 1 :]] for row in cells]
        assert (
            pl.DataFrame(read, made.columns, orient="row")
            .fill_nan(None)
            .equals(made.with_columns(pl.col("town").fill_null("")))
        ), out


def test_labels_of_spss_are_kept_in_stata_too(tmp_path: Path) -> None:
    source = write_input(tmp_path, ".sav")
    qifsql.anonymise(source, tmp_path / "out.dta", **CHANGES)
    _, contents = pyreadstat.read_dta(tmp_path / "out.dta")
    labels = {n: text for n, text in contents.column_names_to_labels.items() if text}
    assert labels == LABELS["column_labels"]
    assert contents.variable_value_labels == LABELS["variable_value_labels"]


CODED = pl.DataFrame({"sex": [1, 2] * 4, "age": [*range(20, 28)], "region": [*"aaaabbbb"]})
CODES: dict[str, Any] = {
    "sex": {1: "male", 2: "female"},
    "age": {20: "twenty", 25: "twenty-five", 99: "unknown"},
    "region": {"a": "North", "b": "South", "c": "East"},
}


@pytest.mark.cases(3)
@pytest.mark.parametrize(
    ("options", "labelled", "lost"),
    [
        ({"method": "recode", "change": "age:4"}, "sex,region", "age"),
        ({"k": 2, "method": "mondrian"}, "sex,region", "age"),
        ({"method": "recode", "change": "top(age)=26"}, "sex,age,region", ""),
        ({"method": "recode", "change": "age=age//5*5"}, "sex,region", "age"),
        ({"qids": "age=age//5*5,sex", "change": "sex=3-sex"}, "region", "sex,age"),
        ({"qids": "age", "k": 4, "cells": "centroid"}, "sex,region", "age"),
    ],
)
def test_labels_of_values_are_those_of_single_codes(
    options: dict[str, Any], labelled: str, lost: str, tmp_path: Path
) -> None:
    source, out = tmp_path / "in.sav", tmp_path / "out.sav"
    pyreadstat.write_sav(CODED, source, variable_value_labels=CODES)
    result = qifsql.anonymise(source, out, **{"qids": "age,sex,region", **options})
    cells, contents = pyreadstat.read_sav(out)
    assert ",".join(n for n in CODED.columns if n in contents.variable_value_labels) == labelled
    for name, codes in contents.variable_value_labels.items():
        before = {str(code): label for code, label in CODES[name].items()}
        after = {str(code).removesuffix(".0"): label for code, label in codes.items()}
        assert after.items() <= before.items()
        assert cells[name].dtype.kind == "f" or {*codes} <= {*cells[name]}
    names = ", ".join(f'"{name}"' for name in lost.split(",") if name)
    assert [n.partition(" have no labels")[0] for n in result.notes if "have no labels" in n] == (
        [f"values of {names}"] if names else []
    )


def test_texts_have_no_labels_in_stata_and_a_note_says_so(tmp_path: Path) -> None:
    source, out = tmp_path / "in.sav", tmp_path / "out.dta"
    pyreadstat.write_sav(CODED, source, variable_value_labels=CODES)
    result = qifsql.anonymise(source, out, drop="age")
    assert pyreadstat.read_dta(out)[1].variable_value_labels == {"sex": CODES["sex"]}
    assert any('values of "region" have no labels' in note for note in result.notes)


def test_columns_without_suppressed_cells_keep_numbers_and_labels(tmp_path: Path) -> None:
    source, out = tmp_path / "in.sav", tmp_path / "out.sav"
    pyreadstat.write_sav(CODED, source, variable_value_labels=CODES)
    options: dict[str, Any] = {"method": "recode", "suppress_cells": "age", "k": 4}
    qifsql.anonymise(source, out, qids="age,sex", suppress=0, **options)
    cells, contents = pyreadstat.read_sav(out)
    assert ({*cells["age"]}, {*cells["sex"]}) == ({"*"}, {1, 2})
    assert contents.variable_value_labels == {
        "sex": CODES["sex"],
        "region": {"a": "North", "b": "South"},
    }


def test_csv_keeps_its_encoding_marks_dates_and_line_ends(tmp_path: Path) -> None:
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    lines = ["town;born;pay", "Köln;31/01/1980;1,5", "Köln;02/11/1985;2,5", "Ulm;05/06/1991;3,0"]
    source.write_bytes("\r\n".join([*lines, ""]).encode("cp1252"))
    data = qifsql.Dataset.open(source, encoding="cp1252", decimal=",")
    qifsql.anonymise(data, out, qids="town,born,pay", change="pay:2", method="recode")
    assert out.read_bytes().decode("cp1252").split("\r\n") == [
        "town;born;pay",
        'Köln;31/01/1980;"[0,0;2,0)"',
        'Köln;02/11/1985;"[2,0;4,0)"',
        'Ulm;05/06/1991;"[2,0;4,0)"',
        "",
    ]
    released = qifsql.Dataset.open(out, encoding="cp1252", decimal=",")
    compared = qifsql.compare(data, released, qids="town,born,pay")
    assert set(compared.details["columns"]["outside"]) == {0}
    qifsql.anonymise(
        data, out, qids="pay,born", change=["pay:2/2.5", "born:month"], cells="centroid"
    )
    assert out.read_bytes().decode("cp1252").split("\r\n")[1:4] == [
        "Köln;31/01/1980;<2",
        "Köln;02/11/1985;>=2,5",
        "Ulm;05/06/1991;>=2,5",
    ]
    qifsql.anonymise(data, out, qids="pay", change="pay:1.5/2.5/3")
    assert '\r\nKöln;31/01/1980;"[1,5;2,5)"\r\n' in out.read_bytes().decode("cp1252")
    source.write_bytes(b"\xef\xbb\xbfa,b\n1,x\n1,y\n")
    qifsql.anonymise(source, out, qids="a", k=2)
    assert out.read_bytes() == b"\xef\xbb\xbfa,b\n1,x\n1,y\n"


@pytest.mark.parametrize(
    ("encoding", "packing"),
    [("utf-16", ""), ("utf-16-be", ""), ("utf-8", ".gz"), ("utf-8", ".zst"), ("utf-8", ".zip")],
)
def test_line_ends_are_those_of_the_input(encoding: str, packing: str, tmp_path: Path) -> None:
    source, out = tmp_path / f"in.csv{packing}", tmp_path / "out.csv"
    text = "a,b\r\n1,x\r\n1,y\r\n".encode(encoding)
    if packing == ".zip":
        with zipfile.ZipFile(source, "w") as box:
            box.writestr("in.csv", text)
    else:
        packers = {"": bytes, ".gz": gzip.compress, ".zst": partial(pa.compress, codec="zstd")}
        source.write_bytes(packers[packing](text))
    qifsql.anonymise(qifsql.Dataset.open(source, encoding=encoding), out, drop="b")
    assert out.read_bytes().decode(encoding) == "a\r\n1\r\n1\r\n"


def test_characters_that_the_encoding_lacks_are_refused(tmp_path: Path) -> None:
    source, tree, out = (tmp_path / name for name in ("in.csv", "tree.csv", "out.csv"))
    source.write_bytes("a\né\né\n".encode("latin-1"))
    tree.write_text("é;中;*\n", "utf-8")
    data = qifsql.Dataset.open(source, encoding="latin-1")
    with pytest.raises(OutputError, match=r"lacks; write \.parquet"):
        qifsql.anonymise(data, out, change="a:@1", hierarchies={"a": tree})
    assert not out.exists()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("out.sas7bdat", "name .xpt"),
        ("out.duckdb", "no table of a database"),
        ("out.zip", "name .csv.gz"),
        ("out.doc", "must end in one of"),
    ],
)
def test_other_formats_are_refused_with_what_to_name(name: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=says):
        qifsql.anonymise(PEOPLE, tmp_path / name, **CHANGES)


def test_a_table_of_a_database_becomes_a_file(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "in.duckdb")) as base:
        base.execute("CREATE TABLE people AS SELECT * FROM (VALUES (31, 'x'), (34, 'y')) t(age, s)")
    out = tmp_path / "out.xlsx"
    qifsql.anonymise(f"people@{tmp_path / 'in.duckdb'}", out, qids="age", change="age:10")
    assert pl.read_excel(out).rows() == [("30-39", "x"), ("30-39", "y")]


# Changes and their cells.


DAYS = [date(1980, 1, 31), date(1987, 10, 5), date(1991, 6, 30), None]
BANDS = {
    "d:10y": ["1980s", "1980s", "1990s"],
    "d:5y": ["1980-1984", "1985-1989", "1990-1994"],
    "d:year": ["1980", "1987", "1991"],
    "d:quarter": ["Jan-Mar 1980", "Oct-Dec 1987", "Apr-Jun 1991"],
    "d:month": ["Jan 1980", "Oct 1987", "Jun 1991"],
    "d:week": ["1980-01-28 to 1980-02-03", "1987-10-05 to 1987-10-11", "1991-06-24 to 1991-06-30"],
    "d:age@2020-06-30": ["40", "32", "29"],
    "d:age10@2020-06-30": ["40-49", "30-39", "20-29"],
    "d:1985-01-01/": ["<1985-01-01", ">=1985-01-01", ">=1985-01-01"],
    "d:q3": ["<1987-10-05", "1987-10-05 to 1991-06-29", ">=1991-06-30"],
    "n:10": ["-10 to -1", "0-9", "20-29"],
    "n:0/18": ["<0", "0-17", ">=18"],
    "n:q3": ["<7", "7-24", ">=25"],
    "w:2.5": ["[0.0,2.5)", "[0.0,2.5)", "[2.5,5.0)"],
    "w:q2": ["<1.0", ">=1.0", ">=1.0"],
}


@pytest.mark.slow(because="5 s; formats are read back in the fast set, too")
def test_cells_are_what_people_write_and_compare_reads(tmp_path: Path) -> None:
    """A column for each change; a missing value stays one."""
    values = {"d": DAYS, "n": [-5, 7, 25, None], "w": [0.5, 1.0, 3.0, None]}
    names = {change: f"{change[0]}{i}" for i, change in enumerate(BANDS)}
    people = pl.DataFrame({name: values[change[0]] for change, name in names.items()})
    out = tmp_path / "out.csv"
    changes = [f"{name}{change[1:]}" for change, name in names.items()]
    qifsql.anonymise(people, out, change=changes)
    made = pl.read_csv(out, infer_schema=False)
    assert {change: made[name].to_list() for change, name in names.items()} == {
        change: [*cells, None] for change, cells in BANDS.items()
    }
    others = [name for change, name in names.items() if "age" not in change]  # these are no dates
    compared = qifsql.compare(people, out, qids=others)
    assert set(compared.details["columns"]["outside"]) == {0}


LATEST = date(2031, 12, 31)


@pytest.mark.slow(because="10 s; each change has a case above")
@settings(max_examples=examples(15))
@given(
    days=st.lists(st.dates(date(1900, 1, 1), date(2030, 12, 31)) | st.none(), max_size=12),
    how=st.sampled_from(["week", "month", "quarter", "year", "3d", "2w", "5m", "7y", "10y", "q2"]),
    form=st.sampled_from(["%Y-%m-%d", "%d/%m/%Y", "%m.%d.%Y"]),
)
def test_every_date_is_in_its_cell_in_any_form(
    days: list[date | None], how: str, form: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("dates")
    texts = [day.strftime(form) if day else "" for day in [date(1950, 1, 1), *days, LATEST]]
    (folder / "in.csv").write_text("\n".join(["d,s", *(f"{text},x" for text in texts), ""]))
    data = qifsql.Dataset.open(folder / "in.csv", date_order="mdy" if "." in form else None)
    result = qifsql.anonymise(data, folder / "out.csv", change=f"d:{how}")
    compared = qifsql.compare(data, folder / "out.csv", qids="d")
    assert set(compared.details["columns"]["outside"]) == {0}
    blocks = compared.frame.filter(view="cells")["blocks"].to_list()
    assert blocks[1] == result.frame["blocks"].item()


@pytest.mark.cases(2)
@pytest.mark.parametrize("change", ["d:10", "n:18/0", "d:7q", "d:age@2020-02-30", "n:a/b", "s:1/2"])
def test_changes_that_make_no_bands_are_refused(change: str, tmp_path: Path) -> None:
    people = pl.DataFrame({"d": [date(2020, 1, 1)], "n": [1], "s": ["x"]})
    with pytest.raises(InputError, match="no coarser"):
        qifsql.anonymise(people, tmp_path / "out.csv", change=change)


# Roles that nobody names.


@pytest.mark.parametrize("most", [2000, 2])
def test_identifiers_are_left_out_unless_they_are_kept(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the columns are more than are described at a time."""
    monkeypatch.setattr("qifsql.commands.anonymise.proposed.MOST", most)
    people = PEOPLE.with_columns(person_id=pl.arange(5000, 5024), note=pl.col("zip") + "x")
    out = tmp_path / "out.csv"
    result = qifsql.anonymise(people, out, qids="age", k=3)
    assert pl.read_csv(out).columns == [*PEOPLE.columns, "note"]
    assert any('identify people: "person_id"' in note for note in result.notes)
    qifsql.anonymise(people, out, qids="age", k=3, keep="person_id", drop="note")
    assert pl.read_csv(out).columns == [*PEOPLE.columns, "person_id"]


def test_roles_are_those_of_start_if_none_are_named(tmp_path: Path) -> None:
    visits = pl.DataFrame(
        {
            "patient_id": [9000 + i // 2 for i in range(24)],
            "age": [30 + i // 4 for i in range(24)],
            "sex": ["f", "m"] * 12,
            "diagnosis": ["I10", "E11", "J18"] * 8,
        }
    )
    out = tmp_path / "out.csv"
    result = qifsql.anonymise(visits, out, k=3)
    row = result.frame.row(0, named=True)
    assert (row["method"], row["people"], row["smallest_class"] >= 3) == ("mondrian", 12, True)
    assert result.details["quasi_identifiers"]["quasi_identifier"].to_list() == ["age", "sex"]
    assert pl.read_csv(out).columns == ["age", "sex", "diagnosis"]
    assert any("these are taken, as start does: age (name: age)" in note for note in result.notes)
    nothing = pl.DataFrame({"diagnosis": ["I10", "E11"]})
    with pytest.raises(InputError, match="looks like a quasi-identifier; name some"):
        qifsql.anonymise(nothing, out, k=1)


def test_columns_alone_are_dropped(tmp_path: Path) -> None:
    qifsql.anonymise(PEOPLE, tmp_path / "out.csv", drop="zip,pay")
    assert pl.read_csv(tmp_path / "out.csv").columns == ["age", "born", "town"]


def test_a_column_in_which_nothing_is_merged_keeps_its_type(tmp_path: Path) -> None:
    people = pl.DataFrame({"a": [0, 0, 1, 1], "b": [1, 2, 3, 4]})
    release = tmp_path / "release.parquet"
    qifsql.anonymise(people, release, method="mondrian", k=2, qids=["a", "b"])
    cells = pl.read_parquet(release)
    assert cells["a"].dtype == pl.Int64
    assert sorted(cells.rows()) == [(0, "1-2"), (0, "1-2"), (1, "3-4"), (1, "3-4")]
    assert qifsql.compare(people, [release], qids=["a", "b"]).frame["misled"].sum() == 0


def test_files_that_are_made_in_memory_have_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qifsql.results.release_files.MOST_CELLS", 7)
    people = pl.DataFrame({"a": [0, 0, 1, 1], "b": [1, 2, 3, 4]})
    for name in ("release.sav", "release.xlsx"):
        with pytest.raises(OutputError, match="4 records of 2 columns are too many"):
            qifsql.anonymise(people, tmp_path / name, method="mondrian", k=2, qids=["a", "b"])
        assert not list(tmp_path.iterdir())
