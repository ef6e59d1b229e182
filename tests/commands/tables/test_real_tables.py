"""Tables of real data: the truth lies inside every bound, and known numbers come out."""

from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from places import SAMPLES

import qifsql


def check(frame: pl.DataFrame, tables: list[str], secret: str) -> qifsql.Result:
    """Attack tables made of records, and compare with the records what must hold of any bound."""
    result = qifsql.tables(frame, table=tables, secret=secret, time_budget=5, progressive=True)
    rows = result.rows()
    dims = [*rows[-1]["known"], secret]
    counts = frame.group_by(dims).len()
    alone = counts.filter(pl.col("len") == 1).height
    known = frame.group_by(dims[:-1]).len().filter(pl.col("len") == 1).height
    best = counts.group_by(dims[:-1]).agg(pl.col("len").max())["len"].sum() / frame.height
    for row in rows:
        assert row["reconstructed_ones"] <= alone
        assert row["singled_out"] <= known
        assert row["reconstructed"] <= frame.height
        assert row["certain_inference"] <= frame.height
        assert row["lowest"] - 1e-12 <= best <= row["highest"] + 1e-12, "the truth is consistent"
        assert row["records"] == pytest.approx(best, abs=1e-12)
        assert row["actual"] is None or row["actual"] <= best + 1e-12, "actual <= records always"
    for before, after in pairwise(rows):
        for name in ("reconstructed", "singled_out", "certain_inference", "cells_proved"):
            assert before[name] <= after[name], "a table never widens a bound"
        assert before["lowest"] <= after["lowest"] + 1e-12
        assert after["highest"] <= before["highest"] + 1e-12
    return result


@pytest.mark.slow(because="3.1 s; every recorded mutant dies without it")
@pytest.mark.reference
@pytest.mark.parametrize("protection", ["", ":suppress<10"])
def test_adult(shared: Path, protection: str) -> None:
    frame = pl.read_parquet(shared / "data" / "adult.parquet")
    frame = frame.select(
        (pl.col("age") // 10).alias("decade"), "sex", "race", "education", "classification"
    )
    tables = ["education,sex", "decade,sex,race", "classification,sex,education"]
    check(frame, [f"{t}{protection}" for t in tables], "classification")


@pytest.mark.slow(because="5.6 s; every recorded mutant dies without it")
@pytest.mark.reference
def test_compas(shared: Path) -> None:
    frame = pl.read_parquet(shared / "data" / "compas_two_years.parquet")
    names = ["sex", "age_cat", "race", "c_charge_degree", "two_year_recid"]
    frame = frame.select(names)
    tables = ["sex,race,two_year_recid", "age_cat,race:suppress<5", "c_charge_degree,race,sex"]
    result = check(frame, tables, "two_year_recid")
    assert result.rows()[-1]["people"] == frame.height


@pytest.mark.slow(because="2.1 s; every recorded mutant dies without it")
@pytest.mark.parametrize(
    ("tables", "secret"),
    [
        (["CO_ENTIDADE,TP_SEXO,TP_COR_RACA:suppress<5", "CO_ENTIDADE,TP_SEXO"], "TP_COR_RACA"),
        (
            # two tables of schools and stages, then one of schools: components become larger
            [
                "CO_ENTIDADE,TP_ETAPA_ENSINO,TP_SEXO",
                "CO_ENTIDADE,TP_ETAPA_ENSINO,IN_TRANSPORTE_PUBLICO",
                "CO_ENTIDADE,TP_COR_RACA:suppress<5",
            ],
            "IN_TRANSPORTE_PUBLICO",
        ),
    ],
    ids=["one size", "larger components"],
)
def test_sample_tables_of_schools(tables: list[str], secret: str) -> None:
    sample = pl.read_parquet(SAMPLES / "school_census_2018.parquet")
    names = dict.fromkeys(name for text in tables for name in text.split(":")[0].split(","))
    check(sample.select(*names), tables, secret)
