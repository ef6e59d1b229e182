"""Sweeps over collections: every subset of tagged quasi-identifiers, every set of releases."""

import json
from fractions import Fraction
from itertools import combinations
from math import factorial
from pathlib import Path

import polars as pl
import pytest

import qifsql
from qifsql.errors import InputError
from tests.terminal import run

YEARS = ("2016", "2017", "2018")
KNOWN = ["NU_DIA", "CO_ENTIDADE"]
SECRET = "IN_NECESSIDADE_ESPECIAL"
NUMBERS = [
    "datasets", "n_qids", "records", "blocks", "singled_out", "prior_deterministic",
    "posterior_deterministic", "degradation_deterministic", "prior_probabilistic",
    "posterior_probabilistic", "degradation_probabilistic", "leakage_additive",
    "min_entropy_leakage", "worst_case", "individuals_certain",
]  # fmt: skip


@pytest.fixture(scope="module")
def years(samples: Path) -> list[Path]:
    """Three releases of the synthetic school census."""
    return [samples / f"school_census_{year}.parquet" for year in YEARS]


@pytest.fixture(scope="module")
def swept(years: list[Path]) -> qifsql.Sweep:
    """All 63 subsets of two quasi-identifiers of three years."""
    return qifsql.sweep(years, key="ID_ALUNO", qids=KNOWN, secret=SECRET, histogram=True)


@pytest.mark.slow(because="3.0 s each; every recorded mutant dies without it")
def test_every_subset_of_tagged_quasi_identifiers_is_a_longitudinal_attack(
    swept: qifsql.Sweep, years: list[Path]
) -> None:
    assert swept.frame.height == 2 * 63
    for row in swept.frame.sample(10, seed=4).iter_rows(named=True):
        single = qifsql.attack(
            "crl,cal", years, key="ID_ALUNO", qids=row["qids"], secret=SECRET
        ).frame
        wanted = single.filter(pl.col("model") == row["model"]).row(0, named=True)
        tags = {name[0] for name in row["qids"]} | {"1"}
        assert {n: row[n] for n in NUMBERS} == {n: wanted[n] for n in NUMBERS} | {
            "datasets": len(tags)
        }


@pytest.mark.slow(because="1.0 s each; every recorded mutant dies without it")
def test_answers_and_histograms_have_the_names_of_the_longitudinal_models(
    swept: qifsql.Sweep,
) -> None:
    for name in ("histogram", "best", "shapley", "interactions", "drop_first"):
        assert set(swept.details[name]["model"]) == {"CRL", "CAL"}
    assert set(swept.frame["model"]) == {"CRL", "CAL"}


@pytest.mark.slow(because="0.9 s each; every recorded mutant dies without it")
def test_a_release_more_never_lowers_a_success(swept: qifsql.Sweep) -> None:
    rows = {(r["subset"], r["secret"]): r for r in swept.rows()}
    for (mask, secret), row in rows.items():
        for bit in range(6):
            larger = rows[mask | 1 << bit, secret]
            for name in ("posterior_deterministic", "posterior_probabilistic"):
                assert row[name] <= larger[name]


@pytest.mark.slow(because="5 s; every recorded mutant dies without it")
def test_releases_are_the_focal_dataset_with_every_set_of_others(years: list[Path]) -> None:
    found = qifsql.sweep(years, key="ID_ALUNO", qids=KNOWN, secret=SECRET, releases=True)
    values: dict[tuple[str, tuple[int, ...]], Fraction] = {}
    for size in range(3):
        for chosen in combinations((2, 3), size):
            files = [years[0], *(years[i - 1] for i in chosen)]
            whole = qifsql.attack("crl,cal", files, key="ID_ALUNO", qids=KNOWN, secret=SECRET)
            names = sorted(f"{i}:{name}" for i in (1, *chosen) for name in KNOWN)
            for row in whole.rows():
                mine = found.frame.filter(
                    pl.col("model") == row["model"], pl.col("qids").list.sort() == names
                ).row(0, named=True)
                assert {n: mine[n] for n in NUMBERS} == {n: row[n] for n in NUMBERS}
                right = round(row["posterior_probabilistic"] * row["records"])
                values[row["model"], chosen] = Fraction(right, row["records"])
    assert found.frame.height == len(values)
    table = found.details["releases"].filter(measure="probabilistic")
    assert table["dataset"].to_list() == [f"{i}: {years[i - 1].name}" for i in (2, 3)] * 2
    for row in table.iter_rows(named=True):
        own = (int(row["dataset"][0]),)
        other = tuple({2, 3} - set(own))
        v = {c: values[row["model"], c] for c in ((), own, other, (2, 3))}
        half = Fraction(1, factorial(2))
        assert row["alone"] == float(v[own] - v[()])
        assert row["last"] == float(v[2, 3] - v[other])
        assert row["shapley"] == float(half * (v[own] - v[()]) + half * (v[2, 3] - v[other]))


@pytest.mark.slow(because="3.1 s each; every recorded mutant dies without it")
def test_a_long_table_is_swept_as_its_waves(years: list[Path], tmp_path: Path) -> None:
    parts = [pl.read_parquet(file).with_columns(year=pl.lit(int(year))) for file, year in
             zip(years, YEARS, strict=True)]  # fmt: skip
    pl.concat(parts, how="diagonal").sample(fraction=1, shuffle=True, seed=1).write_parquet(
        tmp_path / "long.parquet"
    )
    options = {"key": "ID_ALUNO", "qids": KNOWN, "secret": SECRET}
    long = qifsql.sweep(tmp_path / "long.parquet", wave="year", **options).frame
    apart = qifsql.sweep(years, **options).frame
    assert long.drop("seconds").equals(apart.drop("seconds"))


def test_a_release_without_quasi_identifiers_is_refused(years: list[Path]) -> None:
    with pytest.raises(InputError, match="dataset 3 has no quasi-identifier"):
        qifsql.sweep(years, key="ID_ALUNO", qids=["1:NU_DIA", "2:NU_DIA"], releases=True)
    with pytest.raises(InputError, match="leave sizes, subsets, search, sample out"):
        qifsql.sweep(years, key="ID_ALUNO", qids=KNOWN, releases=True, sizes=2)


@pytest.mark.slow(because="2.6 s each; every recorded mutant dies without it")
def test_the_command_sweeps_a_collection_and_goes_on_from_its_workspace(
    years: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = tuple(str(y) for y in years)
    asked = ("--key", "ID_ALUNO", "-q", "NU_DIA,CO_ENTIDADE", "-s", SECRET, "-f", "json")
    work = ("--workspace", "w.sweep")
    first = run("sweep", *files, *asked, "--releases", *work)
    assert first.code == 0
    again = run("sweep", *files, *asked, "--releases", *work)
    assert json.loads(again.out)["results"][0]["model"] in ("CRL", "CAL")
    assert json.loads(first.out)["releases"] == json.loads(again.out)["releases"]
    other = run("sweep", *files, *asked, "--releases", "--absent", "distinct", *work)
    assert other.code == 2
    assert "collection" in other.err
    assert "differ" in other.err
    table = run("sweep", *files, *asked[:-2], "--releases", "--format", "table")
    assert "3: school_census_2018.parquet" in table.out
