"""The SQL of a manifest, pasted into a plain DuckDB: it runs, and counts the same people."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

import qifsql

YEARS = {
    "first.csv": "id,school,grade,x\n"
    + "".join(f"{i},{i % 7},{i % 3},{i % 11}\n" for i in range(99)),
    "second.csv": "id,school,grade\n" + "".join(f"{i},{i % 5},{i % 2}\n" for i in range(30, 120)),
}
KNOWN = {"qids": ["school", "grade"]}
ASKED: dict[str, dict[str, Any]] = {
    "single": {"model": "crs,cas", "secret": "x"},
    "details": {"model": "crs,cas", "secret": "x", "histogram": True, "thresholds": 0.5},
    "groups": {"model": "crs,cas", "secret": "x", "by": "band=id//50"},
    "gains": {"model": "cas", "secret": "x", "gain": ["tries:2", "penalty:1"], "measures": "all"},
    "weights": {"model": "crs", "weight": "x"},
    "target": {"model": "irs,ias", "secret": "x", "target": {"school": 1, "grade": 2}},
    "collection": {"model": "crl,cal", "secret": "x"},
    "progressive": {"model": "crl,cal", "secret": "x", "progressive": True, "histogram": True},
    "membership": {"model": "cms", "member": "member=id < 40"},
    "filter": {"model": "crs", "where": "x < 5"},
}


def pasted(sql: str) -> list[tuple[list[str], list[tuple[Any, ...]]]]:
    """Return what each SELECT of a text gives in a DuckDB that knows nothing of qifsql."""
    found = []
    with duckdb.connect() as connection:
        for one in connection.extract_statements(sql):
            cursor = connection.execute(one)
            rows = cursor.fetchall()
            if one.type == duckdb.StatementType.SELECT:
                found.append(([d[0] for d in cursor.description], rows))
    return found


@pytest.mark.cases(2)
@pytest.mark.parametrize("case", ASKED)
def test_the_sql_that_is_shown_counts_the_same_people(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in YEARS.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    asked = dict(ASKED[case])
    model = asked.pop("model")
    files = list(YEARS) if model[2] == "l" else ["first.csv"]
    key = {"key": "id"} if model[2] == "l" else {}
    result = qifsql.attack(model, files, **KNOWN, **key, **asked)
    blocks = []
    for columns, rows in pasted(result.origin.sql):
        if {"size", "blocks"} <= set(columns):
            dicts = [dict(zip(columns, row, strict=True)) for row in rows]
            for question in {(d["secret"], d["gain"]) for d in dicts}:
                own = [d for d in dicts if (d["secret"], d["gain"]) == question]
                blocks.append(sum(d["blocks"] for d in own if d["size"] is not None))
    assert blocks
    if "target" not in asked:
        assert set(result.frame["blocks"]) <= set(blocks)
