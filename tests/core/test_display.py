"""Results as a prompt and a notebook show them, and as they are saved."""

import json
from datetime import UTC, datetime
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import openpyxl
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import SAMPLES
from rich.console import Console

import qifsql
from qifsql.errors import InputError, OutputError
from qifsql.presentation import spreadsheet
from qifsql.presentation.parts import Paragraph, Table
from qifsql.presentation.terminal import rendered

CENSUS = SAMPLES / "school_census_2018.parquet"
KNOWN: dict[str, Any] = {"qids": ["TP_SEXO", "NU_ANO"], "secret": "IN_TRANSPORTE_PUBLICO"}
RESULTS: dict[str, Any] = {
    "attack": lambda: qifsql.attack(["crs", "cas"], CENSUS, histogram=True, **KNOWN),
    "sweep": lambda: qifsql.sweep(CENSUS, **KNOWN),
    "levels": lambda: qifsql.levels(CENSUS, **KNOWN),
    "blocks": lambda: qifsql.inspect(CENSUS, **KNOWN),
    "describe": lambda: qifsql.describe(CENSUS),
    "dp": lambda: qifsql.dp(
        CENSUS, useful="TP_SEXO", predicate="TP_SEXO = 2", secret="TP_COR_RACA", epsilon=1
    ),
    "wp29": lambda: qifsql.check(CENSUS, preset="wp216", questions=True, **KNOWN),
}
CHARTED = {"attack", "sweep", "dp"}


@pytest.fixture(scope="module", params=RESULTS)
def result(request: pytest.FixtureRequest) -> qifsql.Result:
    made: qifsql.Result = RESULTS[request.param]()
    return made


@pytest.mark.cases(1)
def test_repr_is_a_few_lines_without_values(result: qifsql.Result) -> None:
    lines = repr(result).splitlines()
    assert len(lines) == 3
    assert max(map(len, lines)) < 300
    assert CENSUS.name in lines[0]


@pytest.mark.cases(2)
def test_print_shows_what_the_terminal_shows(result: qifsql.Result) -> None:
    text = str(result)
    assert "Expression" not in text
    assert not any(line.endswith(" ") for line in text.splitlines())
    assert len(text.splitlines()) > 3
    assert all(" ".join(note.split()[:3]) in text for note in result.notes)


@pytest.mark.cases(1)
def test_a_notebook_shows_a_table_that_is_accessible(result: qifsql.Result) -> None:
    fragment = result._repr_html_()
    assert "<table>" in fragment
    assert 'scope="col"' in fragment or "scope=col" in fragment
    assert "<script" not in fragment
    assert "http" not in fragment.replace("http://www.w3.org", "")
    assert ("data:image/svg+xml" in fragment) == (result.kind in CHARTED)


@given(
    st.lists(
        st.tuples(
            st.text("ab ", min_size=1, max_size=50).filter(lambda name: name == name.strip()),
            st.integers(0, 10**15),
            st.text("ab ", max_size=80),
        ),
        min_size=1,
        max_size=5,
    ),
    st.integers(20, 120),
)
def test_a_narrow_terminal_cuts_no_number_and_no_name(
    rows: list[tuple[str, int, str]], width: int
) -> None:
    table = Table.of(["name of it", "people", "a remark"], right=(1,))
    for name, number, remark in rows:
        table.add_row(name, f"{number:,}", remark)
    console = Console(width=width, record=True, file=StringIO())
    console.print(rendered([table, Paragraph("some words " * 9)]), crop=False)
    lines = console.export_text().splitlines()
    for name, number, _ in rows:
        assert any(name in line and f"{number:,}" in line for line in lines)
    told = "".join("".join(lines).split())
    for _, _, remark in rows:
        assert all(letters in told for letters in remark.split())


@pytest.mark.cases(1)
def test_charts(result: qifsql.Result) -> None:
    if result.kind not in CHARTED:
        with pytest.raises(InputError, match="has no charts"):
            result.chart()
        return
    assert result.chart().to_dict()["description"]
    with pytest.raises(InputError, match="there is no chart pie; the charts are"):
        result.chart("pie")


@pytest.mark.cases(1)
def test_sql_is_that_of_the_manifest(result: qifsql.Result, tmp_path: Path) -> None:
    path = result.save(tmp_path / "result.csv")
    note = json.loads(path.with_name("result.csv.manifest.json").read_text("utf-8"))
    assert note["sql"] == result.sql
    assert note["result"] == result.kind


@pytest.mark.cases(8)
@pytest.mark.parametrize("ending", ["parquet", "csv", "json", "md", "html", "xlsx"])
def test_every_form_is_saved(result: qifsql.Result, tmp_path: Path, ending: str) -> None:
    path = result.save(tmp_path / f"result.{ending}")
    assert path == tmp_path / f"result.{ending}"
    if ending == "parquet":
        assert pl.read_parquet(path).equals(result.frame)
    elif ending == "json":
        rows = json.loads(path.read_text("utf-8"))["results"]
        assert len(rows) == result.frame.height
    elif ending == "xlsx":
        sheets = pl.read_excel(path, sheet_id=0)
        assert list(sheets) == [result.kind, *result.details]
        assert sheets[result.kind].height == result.frame.height
    else:
        assert path.stat().st_size > 100


def test_an_unknown_ending_is_refused(result: qifsql.Result, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="must end in one of"):
        result.save(tmp_path / "result.docx")


@pytest.mark.slow(because="2.2 s; every recorded mutant dies without it")
def test_a_report_takes_results_as_it_takes_files(tmp_path: Path) -> None:
    attack, sweep = RESULTS["attack"](), RESULTS["sweep"]()
    attack.save(tmp_path / "attack.parquet")
    sweep.save(tmp_path / "sweep.parquet")
    qifsql.report([attack, sweep], tmp_path / "results.md")
    qifsql.report([tmp_path / "attack.parquet", tmp_path / "sweep.parquet"], tmp_path / "files.md")
    assert (tmp_path / "results.md").read_text() == (tmp_path / "files.md").read_text()


HOSTILE = ["=1+1", "+cmd|' /C calc'!A0", "@SUM(A1)", "-2", "http://a.b", "12", "\t=x", "", None]


@given(
    st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=5),
    st.lists(st.sampled_from([0, 7, 10**15, -(2**63), None]), min_size=1, max_size=5),
    st.lists(st.sampled_from([0.1, 1e-9, float("inf"), -0.5, None]), min_size=1, max_size=5),
)
def test_a_workbook_holds_the_values_and_no_formula(
    texts: list[str | None], whole: list[int | None], real: list[float | None]
) -> None:
    height = min(len(texts), len(whole), len(real))
    frame = pl.DataFrame(
        {"text": texts[:height], "whole": whole[:height], "real": real[:height]},
        schema={"text": pl.String, "whole": pl.Int64, "real": pl.Float64},
    )
    made = spreadsheet.workbook({"t": frame}, datetime(2026, 1, 1, tzinfo=UTC))
    assert made == spreadsheet.workbook({"t": frame}, datetime(2026, 1, 1, tzinfo=UTC))
    sheet = openpyxl.load_workbook(BytesIO(made))["t"]
    for row, (text, n, x) in enumerate(frame.iter_rows(), 2):
        cells = [sheet.cell(row, column) for column in (1, 2, 3)]
        assert all(cell.data_type != "f" for cell in cells)
        assert (cells[0].value or None) == (text or None)
        assert str(cells[1].value) == str(n)
        assert (None if x is None else float(cells[2].value)) == x


def test_a_table_that_no_sheet_holds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreadsheet, "MOST_ROWS", 3)
    with pytest.raises(OutputError, match="has 4 rows and a sheet holds 3"):
        spreadsheet.workbook({"t": pl.DataFrame({"a": range(4)})}, datetime.now(UTC))
