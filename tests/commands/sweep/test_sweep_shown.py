"""The view of a sweep: numbers to the right, and the dots of a chart."""

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from places import SAMPLES
from terminal import run

import qifsql
from qifsql.commands.sweep import charts, view
from qifsql.presentation.parts import Table
from qifsql.results.stored import read

NUMBER = re.compile(r"[+-]? ?(x )?[\d.,]+( %| pp)?( to \d+)?")


@pytest.fixture(scope="module")
def swept() -> qifsql.Sweep:
    options: dict[str, Any] = {"qids": ["TP_SEXO", "NU_ANO", "NU_DIA"]}
    return qifsql.sweep(SAMPLES / "school_census_2018.parquet", threshold=0.05, **options)


def test_columns_of_numbers_stand_to_the_right(swept: qifsql.Sweep) -> None:
    tables = [p for p in view.parts(swept.frame, swept.details, swept.spec) if isinstance(p, Table)]
    assert len(tables) >= 4
    for table in tables:
        for i, head in enumerate(table.heads):
            numeric = all(NUMBER.fullmatch(row[i]) for row in table.rows if row[i])
            assert numeric == (i in table.right), (head, [row[i] for row in table.rows])


@pytest.mark.slow(because="1.1 s; every recorded mutant dies without it")
def test_the_chart_says_what_its_dots_are(
    swept: qifsql.Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("altair")
    for most, text in (
        (charts.MOST_DOTS, "Each dot is one set"),
        (1, "Thin bars: all sets of a size"),
    ):
        monkeypatch.setattr(charts, "MOST_DOTS", most)
        drawn = charts.charts(swept.frame, swept.details, swept.spec)
        assert text in json.dumps(next(iter(drawn.values())).to_dict())


def test_a_sweep_that_tells_nothing_is_drawn_from_json_too(tmp_path: Path) -> None:
    """No share of nothing: the column has no value, and JSON does not tell its type."""
    people = pl.DataFrame({"a": [1, 1], "b": [2, 2], "s": ["x", "x"]})
    result = qifsql.sweep(people, qids="a,b", secret="s")
    path = result.save(tmp_path / "swept.json")
    assert read([path])[0].details["shapley"].schema == result.details["shapley"].schema
    assert run("report", path, "-o", tmp_path / "page.html").code == 0
