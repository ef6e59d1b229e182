"""Published microdata: every number equals that of two other libraries, to the last digit.

The degradation (``pCA``) is the ratio of two exact counts, rounded once.
"""

import csv
import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

import qifsql

Row = Mapping[str, Any]

ADULT_SECRETS = ("relationship", "education-num")
INEP_PRIORS = {"IN_NECESSIDADE_ESPECIAL": 194_246, "IN_TRANSPORTE_PUBLICO": 162_670}
INEP_EVERY = 17  # one subset in so many


def subsets(lines: Iterable[str]) -> list[dict[str, str]]:
    return list(csv.DictReader(lines))


def reference(shared: Path, name: str) -> Any:
    text = (shared / "data" / "reference" / name).read_text("utf-8")
    return json.loads(text)


def adult(shared: Path) -> list[dict[str, str]]:
    text = (shared / "data" / "reference" / "adult_subsets.csv").read_text("utf-8")
    return subsets(text.splitlines())


def check_adult(source: Path, row: Row) -> None:
    """The numbers as they are printed in the reference, digit by digit."""
    qids = row["qids"].split("+")
    found = qifsql.attack("crs,cas", source, qids=qids, secret=ADULT_SECRETS)
    largest = qifsql.inspect(source, qids=qids, order="largest", limit=1).frame["size"].item()
    identity, *inferences = found.rows()
    numbers = {
        "size": identity["n_qids"],
        "qids": "+".join(identity["qids"]),
        "rows": identity["records"],
        "blocks": identity["blocks"],
        "unique_rows": identity["singled_out"],
        "largest_block": largest,
        "prior_crs": identity["prior_probabilistic"],
        "dCR": identity["posterior_deterministic"],
        "post_crs": identity["posterior_probabilistic"],
    }
    for inference in inferences:
        parts = {
            "sum_max": round(inference["posterior_probabilistic"] * inference["records"]),
            "one_value_rows": inference["individuals_certain"],
            "prior_cas": inference["prior_probabilistic"],
            "dCA": inference["posterior_deterministic"],
            "post_cas": inference["posterior_probabilistic"],
            "pCA": inference["degradation_probabilistic"],
        }
        numbers |= {f"{inference['secret']}:{name}": number for name, number in parts.items()}
    assert {name: str(number) for name, number in numbers.items()} == row


def check(found: qifsql.Result, case: Row) -> None:
    """The whole result of ``crs,cas`` against the counts of a case.

    ``case`` has ``rows, blocks, unique_rows`` and for each secret in ``sensitive`` the counts
    ``prior_count, sum_max, one_value_rows``.
    """
    n, blocks, alone = (case[name] for name in ("rows", "blocks", "unique_rows"))
    expected = [
        {
            "secret": None,
            "individuals_certain": alone,
            "prior_probabilistic": 1 / n,
            "posterior_deterministic": alone / n,
            "posterior_probabilistic": blocks / n,
            "degradation_probabilistic": float(blocks),
            "leakage_additive": (blocks - 1) / n,
        }
    ]
    for secret, counts in case["sensitive"].items():
        prior, best, certain = (
            counts[name] for name in ("prior_count", "sum_max", "one_value_rows")
        )
        expected.append(
            {
                "secret": secret,
                "individuals_certain": certain,
                "prior_probabilistic": prior / n,
                "posterior_deterministic": certain / n,
                "posterior_probabilistic": best / n,
                "degradation_probabilistic": best / prior,
                "leakage_additive": (best - prior) / n,
            }
        )
    common = {"records": n, "blocks": blocks, "singled_out": alone, "prior_deterministic": 0.0}
    expected = [row | common for row in expected]
    assert [{k: row[k] for k in expected[0]} for row in found.rows()] == expected, found.rows()


@pytest.mark.slow(because="15.1 s; every recorded mutant dies without it")
def test_subsets_of_adult_in_parquet(shared: Path) -> None:
    for row in adult(shared):
        check_adult(shared / "data" / "adult.parquet", row)


@pytest.mark.slow(because="3.2 s; every recorded mutant dies without it")
def test_subsets_of_adult_in_compressed_csv(shared: Path) -> None:
    rows = adult(shared)
    for row in (rows[0], rows[len(rows) // 2], rows[-1]):
        check_adult(shared / "data" / "adult.csv.gz", row)


@pytest.mark.cases(2)
@pytest.mark.parametrize("number", range(9))
def test_other_public_data_with_missing_values(shared: Path, number: int) -> None:
    cases = reference(shared, "other_datasets.json")["cases"]
    assert len(cases) == 9
    case = cases[number]
    source = shared / "data" / f"{case['dataset']}.parquet"
    qids, secrets = case["quasi_identifiers"], list(case["sensitive"])
    found = qifsql.attack("crs,cas", source, qids=qids, secret=secrets)
    check(found, case)
    identity, *inferences = found.rows()
    assert [case["prior_crs"], case["dCR"], case["post_crs"]] == [
        identity["prior_probabilistic"],
        identity["posterior_deterministic"],
        identity["posterior_probabilistic"],
    ]
    assert [
        [s["prior_cas"], s["dCA"], s["post_cas"], s["pCA"]] for s in case["sensitive"].values()
    ] == [
        [
            row["prior_probabilistic"],
            row["posterior_deterministic"],
            row["posterior_probabilistic"],
            row["degradation_probabilistic"],
        ]
        for row in inferences
    ]
    largest = qifsql.inspect(source, qids=qids, order="largest", limit=1)
    assert largest.frame["size"].to_list() == [case["largest_block"]]


@pytest.mark.slow(because="subsets of Adult are compared with reference results")
def test_subsets_of_a_census_of_200_000(shared: Path) -> None:
    packed = shared / "data" / "reference" / "inep_like_200k_subsets.csv.gz"
    with gzip.open(packed, "rt", encoding="utf-8") as lines:
        rows = subsets(lines)[::INEP_EVERY]
    assert len(rows) > 60
    assert {len(row["qids"].split("+")) for row in rows} >= set(range(2, 10))
    source = shared / "data" / "inep_like_200k.parquet"
    for row in rows:
        case = {name: int(row[name]) for name in ("rows", "blocks", "unique_rows")}
        sensitive = {
            secret: {
                "prior_count": prior,
                "sum_max": int(row[f"{secret}:sum_max"]),
                "one_value_rows": int(row[f"{secret}:one_value_rows"]),
            }
            for secret, prior in INEP_PRIORS.items()
        }
        found = qifsql.attack("crs,cas", source, qids=row["qids"].split("+"), secret=[*sensitive])
        check(found, case | {"sensitive": sensitive})


@pytest.mark.cases(2)
@pytest.mark.parametrize("number", range(4))
def test_the_focal_release_of_a_collection(shared: Path, number: int) -> None:
    cases = reference(shared, "longitudinal.json")["cases"]
    assert len(cases) == 4
    case = cases[number]
    study, focal = case["collection"].split(" focal=")
    first = case["steps"][0]
    assert first["releases"] == [focal]
    table, where = (f"star_grade_{focal}", None) if study == "star" else (study, f"year = {focal}")
    found = qifsql.attack(
        "crs,cas",
        shared / "data" / f"{table}.parquet",
        qids=case["quasi_identifiers"],
        secret=case["sensitive"],
        where=where,
    )
    check(found, first)
    identity, *inferences = found.rows()
    assert [first["prior_crl"], first["det_crl"], first["post_crl"]] == [
        identity["prior_probabilistic"],
        identity["posterior_deterministic"],
        identity["posterior_probabilistic"],
    ]
    assert [[s["prior_cal"], s["det_cal"], s["post_cal"]] for s in first["sensitive"].values()] == [
        [
            row["prior_probabilistic"],
            row["posterior_deterministic"],
            row["posterior_probabilistic"],
        ]
        for row in inferences
    ]
