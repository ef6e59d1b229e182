"""Minimal sample uniques and SUDA: the definitions, published examples, other programs."""

import csv
from fractions import Fraction
from pathlib import Path
from typing import Any

import oracle_suda as oracle
import polars as pl
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import Table, tables, to_arrow
from terminal import run

import qifsql
from qifsql.commands.suda import minimal_uniques
from qifsql.commands.suda.suda import (
    BY_QID,
    BY_SET,
    BY_SIZE,
    BY_VALUE,
    GROUPS,
    HISTOGRAM,
    SUDA,
)
from qifsql.errors import ColumnError, DatasetError, InputError, OutputError
from qifsql.measures import special_uniques as measures

CENSUS = "data-samples/school_census_2018.parquet"
QIDS = "NU_ANO,TP_SEXO,TP_COR_RACA,CO_ENTIDADE"
FRACTIONS = st.fractions(Fraction(1, 200), 1, max_denominator=200)


@st.composite
def releases(draw: st.DrawFn) -> tuple[list[str], list[dict[str, Any]]]:
    """1 to 5 attributes and 1 to 14 records, with missing values, duplicates and constants."""
    qids = [f"a{i}" for i in range(draw(st.integers(1, 5)))]
    pools = {
        q: draw(st.sampled_from([(0, 1), (None, 0, 1, 2), (7,), (None,), (0, 1, 2)])) for q in qids
    }
    cells = st.fixed_dictionaries({q: st.sampled_from(pools[q]) for q in qids})
    return qids, draw(st.lists(cells, min_size=1, max_size=14))


def arrow(qids: list[str], rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, pa.schema([(q, pa.int64()) for q in qids]))


def measured(result: Any) -> dict[str, float]:
    return dict(result.frame.iter_rows())


def rows_of(path: Path) -> list[dict[str, Any]]:
    return pl.read_parquet(path).to_dicts()


def compare(
    result: Any, path: Path, records: list[dict[str, Any]], qids: list[str], most: int,
    fraction: Fraction, *, omit_missing: bool = False,
) -> None:  # fmt: skip
    """Hold everything of a result against the definitions."""
    n = len(qids)
    msus = oracle.minimal_uniques(records, qids, most, omit_missing=omit_missing)
    scores = [oracle.score(mine, n, most) for mine in msus]
    chances = oracle.dis_suda(scores, records, qids, fraction)
    rows = rows_of(path)
    assert [row["record"] for row in rows] == list(range(len(records)))
    assert [row["msus"] for row in rows] == [len(mine) for mine in msus]
    assert [row["score"] for row in rows] == scores
    assert [row["smallest"] for row in rows] == [min(map(len, mine), default=None) for mine in msus]
    assert [row["dis_suda"] for row in rows] == pytest.approx(chances, rel=1e-12)
    values = measured(result)
    dis = oracle.intrusion(records, qids, fraction)
    assert values["dis"] == (None if dis is None else pytest.approx(float(dis), rel=1e-15))
    assert values["msus"] == sum(map(len, msus))
    assert values["records_with_msu"] == sum(map(bool, msus))
    assert values["mean_dis_suda"] == pytest.approx(sum(chances) / len(chances), abs=1e-12)
    assert values["highest_dis_suda"] == pytest.approx(max(chances), rel=1e-12)
    wanted = oracle.contributions(msus, qids, most)
    by_qid = result.details["by_qid"]
    assert dict(zip(by_qid["qid"], by_qid["contribution"], strict=True)) == {
        q: None if share is None else pytest.approx(float(share), rel=1e-15)
        for q, share in wanted.items()
    }
    by_set = {frozenset(row["qids"]): row["msus"] for row in result.details["by_set"].to_dicts()}
    every = {s for mine in msus for s in mine}
    assert by_set == {s: sum(s in mine for mine in msus) for s in every}
    by_size = {row["size"]: row for row in result.details["by_size"].to_dicts()}
    assert {size: row["msus"] for size, row in by_size.items()} == {
        size: sum(len(s) == size for mine in msus for s in mine) for size in map(len, every)
    }


@settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))
@given(releases(), st.integers(1, 5), FRACTIONS, st.booleans(), st.sampled_from((1, 3, 10**6)))
def test_every_number_is_that_of_the_definition(
    tmp_path_factory: pytest.TempPathFactory,
    release: tuple[list[str], list[dict[str, Any]]],
    most: int,
    fraction: Fraction,
    omit_missing: bool,
    chunk: int,
):
    qids, records = release
    out = tmp_path_factory.mktemp("suda") / "records.parquet"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(minimal_uniques, "CHUNK", chunk)
        patch.setattr(minimal_uniques, "LISTED", chunk)
        result = qifsql.suda(
            arrow(qids, records), qids=qids, max_size=most, fraction=fraction,
            omit_missing=omit_missing, records=out,
        )  # fmt: skip
    compare(result, out, records, qids, min(most, len(qids)), fraction, omit_missing=omit_missing)
