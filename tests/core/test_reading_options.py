"""Options for reading files as they come: text that others write, and what is refused."""

import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

import qifsql
from qifsql.data.dataset import Dataset
from qifsql.data.readers import escaped, relation
from qifsql.engine.decoding import decoded, private_sql, public_sql
from qifsql.engine.settings import private_folder
from qifsql.errors import ColumnError, DatasetError, EngineError, InputError
from qifsql.query.render import render
from qifsql.results.stored import read
from tests.terminal import run

ROWS = "nome;peso;nasc\nÂngela – A;1,5;04/13/1980\nB€;2,25;05/01/1981\nC;3;12/12/1982\n"
TITLED = f"Pacientes\n\n{ROWS}"
OPTIONS = {"skip": 2, "decimal": ",", "date_order": "mdy"}


def types(source: Dataset) -> dict[str, str]:
    frame = qifsql.describe(source).frame
    return dict(frame.select("column", "type").iter_rows())


@pytest.mark.cases(2)
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16", "utf-32", "utf-8-sig"])
def test_text_of_any_encoding_is_the_same_table(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "t.csv"
    file.write_bytes(TITLED.encode(encoding))
    source = Dataset.open(file, encoding=encoding, **OPTIONS)
    assert types(source) == {"nome": "VARCHAR", "peso": "DOUBLE", "nasc": "DATE"}
    attack = qifsql.attack("crs", source, qids="nome,month=month(nasc),heavy=peso>2")
    assert attack.frame["singled_out"].item() == 3
    target = {"nome": "B€", "nasc": "1981-05-01", "peso": "2.25"}
    one = qifsql.attack("irs", source, qids="nome,nasc,peso", target=target)
    assert one.frame["matches"].item() == 1


@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
def test_the_mark_of_utf_16_is_seen(tmp_path: Path, order: str) -> None:
    file = tmp_path / "t.csv"
    file.write_bytes(f"\ufeff{ROWS}".encode(order))
    assert types(Dataset.open(file))["nome"] == "VARCHAR"


@pytest.mark.parametrize(("order", "month"), [("dmy", 4), ("mdy", 7), (None, 4)])
def test_the_order_of_dates_is_named(tmp_path: Path, order: str | None, month: int) -> None:
    file = tmp_path / "t.csv"
    file.write_text("dob,sex\n07/04/1980,f\n07-05-1980,\n1980-07-04,m\n")
    file.write_text("dob,sex\n07/04/1980,f\n07/05/1980,m\n")
    source = Dataset.open(file, date_order=order)
    filtered = qifsql.attack("crs", source, qids="dob", where=f"month(dob) = {month}")
    assert filtered.frame["records"].item() == (2 if order == "mdy" else 1)
    assert any("day first" in note for note in filtered.notes) == (order is None)


def test_dates_of_two_forms_and_orders_have_both_notes(tmp_path: Path) -> None:
    """One day is written twice, and either number of a date may be the month."""
    file = tmp_path / "t.csv"
    file.write_text("dob,sex\n07/04/1980,f\n7/4/1980,m\n07/05/1980,m\n")
    notes = qifsql.attack("crs", file, qids="dob").notes
    assert any("day first" in note for note in notes)
    assert any("are one value" in note for note in notes)


def test_dates_of_several_forms_and_missing_words(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("d,t,s\n7/4/1980,1.2.2020 10:30,a\n07-04-1980,NA,b\n1980-04-07,,c\nNA,,1/2\n")
    source = Dataset.open(file, date_order="dmy", na="NA")
    assert types(source) == {"d": "DATE", "t": "TIMESTAMP", "s": "VARCHAR"}
    assert qifsql.attack("crs", source, qids="d").frame["blocks"].item() == 2


def test_a_decimal_comma_with_words_for_missing(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("w;v\n1,5;1.200\n1,50;2,5\n-;x\n")
    source = Dataset.open(file, decimal=",", na="-,x")
    assert types(source) == {"w": "DOUBLE", "v": "VARCHAR"}  # a point is no decimal mark
    assert qifsql.attack("crs", source, qids="w").frame["blocks"].item() == 2


def test_a_header_of_two_rows(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("sex,,age\nResponse,north,Response\nf,1,30\nm,0,31\nf,1,32\n")
    source = Dataset.open(file, header_rows=2)
    assert types(source) == {"sex": "VARCHAR", "north": "BIGINT", "age": "BIGINT"}
    assert qifsql.attack("crs", source, qids="sex").frame["records"].item() == 3
    notes = qifsql.attack("crs", file, qids="sex").notes
    assert any("header_rows=2" in note for note in notes)


@pytest.mark.parametrize("text", ["Response", 30])
def test_a_second_row_of_the_header_of_a_sheet_is_said(tmp_path: Path, text: str | int) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="needs qifsql[excel]")
    book, file = openpyxl.Workbook(), tmp_path / "t.xlsx"
    values = ["a", "b"] if text == "Response" else [text, text + 1]
    for row in [["sex", "age"], ["Response", "Response"], *[["f", v] for v in values * 2]]:
        book.active.append(row)
    book.save(file)
    try:
        said = qifsql.describe(file).notes
    except DatasetError as e:  # the column has texts and numbers
        said = (str(e),)
    assert any("header_rows=2" in note for note in said)
    assert qifsql.describe(Dataset.open(file, header_rows=2)).frame["records"].to_list() == [4, 4]


def test_a_release_with_decimal_commas_is_that_with_points(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("w;d\n" + "1,5;2019-01-02\n2,25;2019-02-03\n3;2019-05-04\n" * 2)
    comma = '"[1,5;2,25]";2019-01-01/2019-03-31\n1,5-2,25;2019-01-01/..\n>2,5;2019-05-04\n'
    point = "[1.5,2.25];[2019-01-01,2019-03-31]\n[1.5,2.25];[2019-01-01,inf)\n>2.5;2019-05-04\n"
    rows = []
    for text in (comma, point):
        (tmp_path / "r.csv").write_text("w;d\n" + text * 2)
        files = (Dataset.open(tmp_path / name, decimal=",") for name in ("p.csv", "r.csv"))
        compared = qifsql.compare(*files, qids="w,d").rows()
        rows.append([row["posterior_probabilistic"] for row in compared])
    assert rows[0] == rows[1]
    assert rows[0][-1] is not None


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_labels_of_values_are_read_as_text(tmp_path: Path, ending: str) -> None:
    pyreadstat = pytest.importorskip("pyreadstat", reason="needs qifsql[stats]")
    frame = pd.DataFrame({"sex": [1.0, 2.0, None], "age": [34.0, 98.0, 20.5], "t": ["a", "b", "c"]})
    labels = {"sex": {1: "male", 2: "female"}}
    file = tmp_path / f"t.{ending}"
    write = pyreadstat.write_sav if ending == "sav" else pyreadstat.write_dta
    write(frame, str(file), variable_value_labels=labels)
    source = Dataset.open(file, all_varchar=True)
    assert set(types(source).values()) == {"VARCHAR"}
    values = qifsql.describe(source, values=9, rare=True).details["values"]
    assert {*values["value"]} == {"male", "female", None, "34", "98", "20.5", "a", "b", "c"}
    one = qifsql.attack("irs", source, qids="sex,age", target={"sex": "female", "age": "98"})
    assert one.frame["matches"].item() == 1
    with pytest.raises(InputError, match="label of 2: write that"):
        qifsql.attack("irs", file, qids="sex", target={"sex": "female"})


def test_a_sheet_below_a_title_is_the_table_that_csv_has(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="needs qifsql[excel]")
    book = openpyxl.Workbook()
    rows = [["Survey"], [], ["sex", "age"], ["your", "years"], ["f", 30], ["m", None], ["f", 31]]
    for row in rows:
        book.active.append(row)
    book.active.merge_cells("A1:B1")
    book.save(tmp_path / "t.xlsx")
    (tmp_path / "t.csv").write_text("Survey\n\nsex,age\nyour,years\nf,30\nm,\nf,31\n")
    with pytest.raises(DatasetError, match=r"title above its table; add Dataset.open\(skip=2\)$"):
        qifsql.describe(tmp_path / "t.xlsx")
    below = {"skip": 2, "header_rows": 2}
    sheet, text = (Dataset.open(tmp_path / name, **below) for name in ("t.xlsx", "t.csv"))
    first = qifsql.attack("cas", sheet, qids="sex", secret="age")
    assert first.frame.drop("seconds").equals(
        qifsql.attack("cas", text, qids="sex", secret="age").frame.drop("seconds")
    )
    assert first.origin.spec["csv"] == below
    with pytest.raises(DatasetError, match="leave out --decimal: only CSV"):
        Dataset.open(tmp_path / "t.xlsx", skip=2, decimal=",")


@pytest.mark.parametrize("rows", [[[None, "age"], [0, 3], [1, 5]], [["sex", None], ["f", 3]]])
def test_a_column_without_a_name_is_no_title(tmp_path: Path, rows: list[list[object]]) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="needs qifsql[excel]")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(DatasetError, match="has no name; name it"):
        qifsql.describe(tmp_path / "t.xlsx")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_its_mark_is_named(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "t.csv").write_bytes("nome;Ж\nÂngela;1\n".encode(encoding))
    with pytest.raises(DatasetError, match=f'\\(encoding="{encoding}"\\)$'):
        qifsql.describe(tmp_path / "t.csv")


def test_records_are_no_second_header(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("sex,age\nf,30\nm,31\nf,32\nf,33\n")
    assert not qifsql.attack("crs", file, qids="sex").notes


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.json"])
def test_a_table_in_a_zip_is_the_table(tmp_path: Path, name: str) -> None:
    frame = pl.DataFrame({"age": [1, 2, 2], "sex": ["f", "m", "m"]})
    write = {".csv": frame.write_csv, ".parquet": frame.write_parquet, ".json": frame.write_json}
    write[Path(name).suffix](tmp_path / name)
    box = tmp_path / "t.zip"
    with zipfile.ZipFile(box, "w") as packed:
        packed.write(tmp_path / name, f"folder/{name}")
        packed.writestr("read me.txt", "words")
    answers = [qifsql.attack("cas", s, qids="age", secret="sex") for s in (box, tmp_path / name)]
    zipped, plain = (a.frame.drop("seconds") for a in answers)
    assert zipped.equals(plain)


def test_what_is_no_table_in_a_zip_is_refused(tmp_path: Path) -> None:
    box = tmp_path / "t.zip"
    for names, says in (((), "has no table"), (("a.csv", "b.csv"), "a.csv@")):
        with zipfile.ZipFile(box, "w") as packed:
            packed.writestr("x.txt", "")
            for name in names:
                packed.writestr(name, "a\n1\n")
        with pytest.raises(DatasetError, match=says):
            Dataset.open(box)
    assert types(Dataset.open(f"b.csv@{box}")) == {"a": "BIGINT"}
    with pytest.raises(DatasetError, match="has no table"):
        Dataset.open(f"c.csv@{box}")
    box.write_bytes(b"no zip")
    with pytest.raises(DatasetError, match="damaged"):
        Dataset.open(box)


def test_tables_of_one_zip_have_different_names(tmp_path: Path) -> None:
    box = tmp_path / "t.zip"
    with zipfile.ZipFile(box, "w") as packed:
        packed.writestr("a.csv", "id,sex\n1,m\n2,f\n")
        packed.writestr("b.csv", "id,sex\n1,m\n3,f\n")
    names = [f"a.csv@{box}", f"b.csv@{box}"]
    assert [Dataset.open(name).name for name in names] == names


def test_messages_name_the_zip_and_not_its_copy(tmp_path: Path) -> None:
    with pd.ExcelWriter(tmp_path / "a.xlsx") as book:
        for sheet in ("one", "other"):
            pd.DataFrame({"age": [1]}).to_excel(book, sheet_name=sheet, index=False)
    (tmp_path / "a.json").write_text('[{"age":1},')
    for name, says in (("a.xlsx", r"unpack it, and name one: SHEET@FILE$"), ("a.json", "cut off")):
        box = tmp_path / "t.zip"
        with zipfile.ZipFile(box, "w") as packed:
            packed.write(tmp_path / name, name)
        with pytest.raises(DatasetError, match=says) as refusal:
            qifsql.describe(box)
        assert str(refusal.value).split()[0] in (str(box), box.name)


def test_a_table_of_spark_is_no_zip() -> None:
    assert not Dataset.open("s3://place/sales.zip").is_decoded


def test_a_damaged_zip_is_refused(tmp_path: Path) -> None:
    box = tmp_path / "t.zip"
    with zipfile.ZipFile(box, "w") as packed:
        packed.writestr("a.csv", "a\n" + "1\n" * 99)
    box.write_bytes(box.read_bytes().replace(b"1\n1\n", b"1\n2\n", 1))
    with pytest.raises(DatasetError, match="damaged"):
        qifsql.describe(box)


@pytest.mark.parametrize("name", ["t.xls", "t.ods", "t.rda", "t.RData", "t.rds"])
def test_files_of_other_programs_say_how_to_convert(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(DatasetError, match=r"save it as \.xlsx|write\.csv"):
        Dataset.open(tmp_path / name)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--decimal", "x"), "decimal mark"),
        (("--date-order", "xyz"), "date order"),
        (("--date-order", "dmy"), "not all of the order dmy"),
        (("--skip", "-1"), "whole number"),
        (("--skip", "99"), "is empty"),
        (("--header-rows", "0"), "whole number"),
        (("--header-rows", "50"), "fewer rows"),
        (("--encoding", "base64"), "no encoding"),
        (("--encoding", "ascii"), "is not ascii"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    tmp_path: Path, options: tuple[str, ...], says: str
) -> None:
    file = tmp_path / "t.csv"
    file.write_text(ROWS)
    done = run("describe", file, *options)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert "€" not in done.err


def test_options_of_csv_are_refused_for_others(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(DatasetError, match="leave out --date-order"):
        Dataset.open(tmp_path / "t.parquet", date_order="dmy")


def test_studies_and_stored_results_read_in_the_same_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_bytes(TITLED.encode("cp1252"))
    Path("s.toml").write_text(
        '[output]\nfolder = "out"\nformats = ["json"]\n[datasets.t]\npath = "t.csv"\n'
        'encoding = "cp1252"\nskip = 2\ndecimal = ","\ndate_order = "mdy"\n'
        '[[attack]]\nname = "a"\ndataset = "t"\nmodel = "crs"\nqids = ["nasc", "peso"]\n'
    )
    assert run("run", "s.toml").code == 0
    options = ("--encoding", "cp1252", "--skip", "2", "--decimal", ",", "--date-order", "mdy")
    stored = run("attack", "t.csv", "-q", "nasc,peso", *options, "-o", "r.parquet")
    assert stored.code == 0
    verified = run("verify", "r.parquet")
    assert verified.code == 0, verified.err
    sweep = run("sweep", "t.csv", "-q", "nasc,peso", *options, "--format", "csv")
    assert sweep.code == 0
    assert "-- " in run("sql", "crs", "t.csv", "-q", "nasc", *options).out


def test_a_file_of_records_is_no_result_but_attacked(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("a\n1\n")
    done = run("report", file, "-o", tmp_path / "r.html")
    assert (done.code, done.out) == (2, "")
    assert f"qifsql attack {file} --qids" in done.err


def test_a_date_of_a_target_in_another_form_says_the_form(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("born\n1969-10-06\n1969-10-07\n")
    done = run("attack", "irs", file, "-q", "born", "--target", "born=06/10/1969")
    assert (done.code, done.out) == (2, "")
    assert "write it as YEAR-MONTH-DAY" in done.err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Hospital\n2020\n\nsex;age\nM;30\nF;31\n", "skip=3"),
        ("Report, 2020\nsex,age,x\nM,30,1\nF,31,2\n", "skip=1"),
        ("Title;;\nsex;age;x\nM;30;1\nF;31;2\n", "skip=1"),
        ("sex,age\nr1,M,30\nr2,F,31\nr3,F,3\n", "write a name for the names of rows"),
    ],
)
def test_a_title_above_the_names_is_refused_with_the_option(
    tmp_path: Path, text: str, says: str
) -> None:
    file = tmp_path / "t.csv"
    file.write_text(text)
    with pytest.raises(DatasetError, match=says):
        types(Dataset.open(file))
    if "skip" in says:
        assert "sex" in types(Dataset.open(file, skip=int(says[-1])))


def test_one_column_of_texts_is_no_title(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("comment\nhello\nwhat; then\nx;y\n")
    assert types(Dataset.open(file)) == {"comment": "VARCHAR"}


@pytest.mark.parametrize(
    ("header", "is_noted"), [('"sex","age"', True), ('"","sex","age"', False), (",sex,age", False)]
)
def test_names_of_rows_that_r_writes_have_a_name(
    tmp_path: Path, header: str, *, is_noted: bool
) -> None:
    file = tmp_path / "t.csv"
    file.write_text(f'{header}\n"1","M",30\n"2","F",31\n"3","F",31\n')
    assert types(Dataset.open(file)) == {"row_names": "BIGINT", "sex": "VARCHAR", "age": "BIGINT"}
    attack = qifsql.attack("crs", file, qids="row_names,sex")
    assert attack.frame["singled_out"].item() == 3
    assert any("row_names" in note for note in attack.notes) == is_noted


def test_records_that_end_in_a_delimiter_have_no_names_of_rows(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("id,sex\n1,m,\n2,f,\n3,f,\n")
    assert types(Dataset.open(file)) == {"id": "BIGINT", "sex": "VARCHAR"}


def test_files_that_r_writes_are_one_dataset(tmp_path: Path) -> None:
    (tmp_path / "r1.csv").write_text('"sex","age"\n"1","M",30\n"2","F",31\n')
    (tmp_path / "r2.csv").write_text('"sex","age"\n"1","F",31\n')
    result = qifsql.describe(tmp_path / "r*.csv", columns="row_names,age")
    assert result.frame["column"].to_list() == ["row_names", "age"]
    assert result.frame["records"].to_list() == [3, 3]
    (tmp_path / "r2.csv").write_text("sex,age\nM,30\n")
    with pytest.raises(DatasetError, match="has 2 columns"):
        qifsql.describe(tmp_path / "r*.csv")


def test_a_frame_is_read_without_its_mixed_column() -> None:
    frame = pd.DataFrame({"sex": ["f", "m", "m"], "note": [1, "x", None], "age": [3, 4, 4]})
    attack = qifsql.attack("crs", frame, qids="sex,age")
    assert attack.frame["singled_out"].item() == 1
    assert [note for note in attack.notes if "without" in note and '"note"' in note]
    with pytest.raises(ColumnError, match="several types"):
        qifsql.attack("crs", frame, qids="note")
    with pytest.raises(DatasetError, match="one type"):
        qifsql.attack("crs", frame[["note"]], qids="note")


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["Male", "male", "Male ", "Female"], (4, 2)),
        (["Male", "Female", None, "x"], None),
        ([f"name {i}" for i in range(1001)] + ["NAME 1"], None),  # no categories
    ],
)
def test_categories_that_are_nearly_equal_are_noted(
    tmp_path: Path, texts: list[str], numbers: tuple[int, int] | None
) -> None:
    pl.DataFrame({"sex": texts, "age": range(len(texts))}).write_parquet(tmp_path / "t.parquet")
    notes = qifsql.attack("crs", tmp_path / "t.parquet", qids="sex,age").notes
    near = [note for note in notes if "without case" in note]
    described = qifsql.describe(tmp_path / "t.parquet").notes
    assert [note for note in described if "without case" in note] == near
    assert len(near) == (numbers is not None)
    if numbers is not None:
        assert '"sex" has {} values, which are {} '.format(*numbers) in near[0]
    made_one = qifsql.attack("crs", tmp_path / "t.parquet", qids='s=lower(trim("sex"))')
    assert not [note for note in made_one.notes if "without case" in note]


@pytest.mark.parametrize(
    ("fields", "options", "says"),
    [
        (["1,5", "2,5", "x"], {}, "reads those without points as numbers"),
        (["1.200", "2.500", "1.200.000"], {}, "NAME=try_cast(replace(replace(\"w\", '.', '')"),
        (["1,5", "2,5", "3"], {"decimal": ","}, ""),
        (["1.200", "2.500,5", "3,5"], {"decimal": ","}, "points between thousands"),
        (["1,5", "x", "y"], {}, ""),
    ],
)
def test_numbers_that_are_read_as_text_are_noted(
    tmp_path: Path, fields: list[str], options: dict[str, str], says: str
) -> None:
    file = tmp_path / "t.csv"
    file.write_text("\n".join(["w;sex", *(f"{field};f" for field in fields)]))
    source = Dataset.open(file, **options)
    attack = qifsql.attack("cas", source, qids="sex", secret="w")
    for notes in (attack.notes, qifsql.describe(source).notes):
        of_numbers = [note for note in notes if "most values are numbers" in note]
        assert [says in note for note in of_numbers] == ([True] if says else [])


@pytest.mark.parametrize("ending", ["sav", "dta", "parquet"])
def test_labels_are_described_and_say_roles(tmp_path: Path, ending: str) -> None:
    frame = pd.DataFrame({"v1": [1, 2, 2] * 12, "v3": [0, 1, 1] * 12})
    file, label = tmp_path / f"t.{ending}", "Tested positive for HIV"
    if ending == "parquet":
        arrow = pl.from_pandas(frame).to_arrow()
        labelled = arrow.schema.field("v3").with_metadata({b"label": label.encode()})
        pq.write_table(arrow.cast(arrow.schema.set(1, labelled)), file)
    else:
        pyreadstat = pytest.importorskip("pyreadstat", reason="needs qifsql[stats]")
        sexes = {"v1": {1: "Male", 2: "Female"}}
        write = pyreadstat.write_sav if ending == "sav" else pyreadstat.write_dta
        write(frame, file, column_labels=[None, label], variable_value_labels=sexes)
    described = qifsql.describe(file, values=2)
    rows = {row["column"]: row for row in described.rows()}
    assert [rows[name]["label"] for name in ("v1", "v3")] == [None, label]
    assert rows["v3"]["why"] == "name: health"
    if ending != "parquet":
        assert rows["v1"]["why"] == "values: sex"
        assert described.details["values"]["label"].to_list()[:2] == ["Female", "Male"]
    assert label in str(described)


def test_labels_of_variables_are_in_the_manifest_and_the_report(tmp_path: Path) -> None:
    frame = pd.DataFrame({"v1": [1, 2, 2], "v2": ["a", "b", "b"]})
    pyreadstat = pytest.importorskip("pyreadstat")
    file = tmp_path / "t.sav"
    pyreadstat.write_sav(frame, file, column_labels=["What is your <b>sex</b>?", None])
    result = tmp_path / "r.parquet"
    assert run("attack", file, "-q", "v1", "-o", result).code == 0
    labels = [column.label for column in read([result])[0].columns or ()]
    assert labels == ["What is your <b>sex</b>?", ""]
    assert run("report", result, "-o", tmp_path / "r.html").code == 0
    assert "What is your &lt;b&gt;sex&lt;/b&gt;?" in (tmp_path / "r.html").read_text()


def test_a_weight_with_a_decimal_comma_says_the_option(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("w;sex\n1,5;f\n2,5;m\n")
    done = run("attack", file, "-q", "sex", "--weight", "w")
    assert done.code == 2
    assert "--decimal ," in done.err
    assert run("attack", file, "-q", "sex", "--weight", "w", "--decimal", ",").code == 0


@pytest.mark.parametrize("name", ["t.csv", "it's [1]*.csv", "a=%2F ☃.csv", f"{'x' * 240}.csv"])
def test_private_copies_are_shown_as_the_files_of_the_user(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(ROWS.encode("cp1252", errors="replace"))
    folder = private_folder(tmp_path)
    try:
        dataset = Dataset.open(file, encoding="cp1252")
        (copy,) = decoded(folder.path, dataset)
        assert Path(copy).stat().st_mode & 0o077 == 0
        assert Path(copy).read_text() == file.read_bytes().decode("cp1252")
        sql = f"SELECT '', {render(relation(replace(dataset, copies=(copy,))))}, ''''"
        shown = public_sql(sql)
        assert str(folder.path) not in shown
        assert "'" + escaped(str(file)).replace("'", "''") + "'" in shown
        assert private_sql(shown, [replace(dataset, copies=(copy,))]) == sql
    finally:
        folder.remove()


def test_manifests_name_the_file_of_the_user(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_bytes(ROWS.encode("cp1252"))
    result = qifsql.attack("crs", Dataset.open(file, encoding="cp1252"), qids="nome")
    assert str(file) in result.sql
    assert "qifsql-run" not in result.sql
    assert qifsql.verify(result).met


def test_a_zip_that_unpacks_to_more_than_there_is_room_for_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = tmp_path / "t.zip"
    with zipfile.ZipFile(box, "w") as packed:
        packed.writestr("a.csv", "a\n" + "1\n" * 99)
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=50))
    with pytest.raises(EngineError, match=r"settings\.temp="):
        qifsql.describe(box)
