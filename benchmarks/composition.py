"""Composition of two anonymised releases: the shape of Ganta et al.'s figures, on public data.

    python benchmarks/composition.py [--data DIR] [--out benchmarks/composition.md] [--several]

Two samples, each of half of the people and with half of them in common, are anonymised apart, with
Mondrian and with microaggregation, and intersected on the people in both. Then up to four releases
of two fifths of the people each, half of them in all; ``--several`` measures these alone. DIR holds
adult.parquet and acs_us2019.parquet (by default ../shared/data or $QIFSQL_SHARED/data).
"""

import argparse
import math
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

import qifsql

HERE = Path(__file__).resolve().parent
KS = (2, 3, 5, 7, 10, 15, 20)


@dataclass(frozen=True)
class Data:
    """One table: what is known, and what is secret."""

    name: str
    qids: tuple[str, ...]
    secret: str


DATA = (
    Data("adult", ("age", "workclass", "education", "marital-status", "race", "sex"), "occupation"),
    Data("acs_us2019", ("AGEP", "SEX", "RAC1P", "MSP", "EDU", "PUMA"), "INDP_CAT"),
    Data("acs_us2019", ("AGEP", "SEX", "RAC1P", "MSP", "EDU", "PUMA"), "PINCP"),
)
WAYS: dict[str, dict[str, Any]] = {
    "Mondrian": {"method": "mondrian"},
    "MDAV": {"method": "mdav"},
    "MDAV, centroids": {"method": "mdav", "cells": "centroid"},
    "Mondrian, l = 3": {"method": "mondrian", "l": 3},
    "Mondrian, t = 0.3": {"method": "mondrian", "t": "0.3"},
}


def measured(data: Data, source: Path, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield a row for each way and k.

    What the intersection of both releases leaves of the overlap.
    """
    table = pl.read_parquet(source).drop_nulls([*data.qids, data.secret]).with_row_index("person")
    table = table.select("person", *data.qids, data.secret)
    part = table["person"].hash(seed=7) % 4  # quarters: in A alone, in B alone, in both, in none
    samples = {"a": table.filter(part.is_in([0, 2])), "b": table.filter(part.is_in([1, 2]))}
    people = folder / "people.parquet"
    table.filter(part == 2).write_parquet(people)
    for name, sample in samples.items():
        sample.write_parquet(folder / f"{name}.parquet")
    for way, asked in WAYS.items():
        for k in KS:
            try:
                yield {"way": way, "k": k} | _one(data, folder, people, {"k": k, **asked})
            except qifsql.QifError as e:
                yield {"way": way, "k": k, "refused": str(e)}


def _one(data: Data, folder: Path, people: Path, asked: dict[str, Any]) -> dict[str, Any]:
    releases = []
    for name in ("a", "b"):
        out = folder / f"{name}_anonymous.parquet"
        qifsql.anonymise(
            folder / f"{name}.parquet",
            out,
            qids=list(data.qids),
            secret=data.secret,
            keep=["person"],
            **asked,
        )
        releases.append(out)
    known = {"qids": list(data.qids), "secret": data.secret, "truth": data.secret}
    known |= {"key": "person", "nearest": True}
    found = qifsql.compose(releases, people=people, confidence=["0.25", "0.5", "1"], **known)
    located, truth = found.details["releases"].sum(), found.details["truth"].row(0, named=True)
    nearest, people_twice = located["by_nearest"][0], 2 * row_count(people)
    row = found.frame.row(-1, named=True)
    curve = {r["confidence"]: r["share"] for r in found.details["curve"].iter_rows(named=True)}
    return {
        "effective_prior": row["effective_prior"],
        "effective_posterior": row["effective_posterior"],
        "vulnerable": row["vulnerable_share"],
        "quarter": curve.get(0.25),
        "breach": row["perfect_breach_share"],
        "breach_before": row["perfect_breach_before"] / row["people"],
        "breach_right": truth["perfect_breach_right"] / row["people"],
        "nearest": nearest / people_twice,
        "right": located["rightly_located"][0] / people_twice,
        "nearest_right": located["rightly_nearest"][0] / nearest if nearest else None,
    }


SEVERAL = 4  # releases at most
MIXED = ({"method": "mondrian"}, {"method": "mdav"})
SERIES: dict[str, tuple[dict[str, Any], ...]] = {
    "Mondrian": MIXED[:1],
    "Mondrian, l = 3": (WAYS["Mondrian, l = 3"],),
    "Mondrian, t = 0.3": (WAYS["Mondrian, t = 0.3"],),
    "Mondrian and MDAV": MIXED,
}
MEANS = ("partition_size", "effective_prior", "effective_posterior", "drop")


def several(data: Data, source: Path, folder: Path) -> str:
    """Return what one to four releases tell, ways taking turns, as Markdown."""
    table = pl.read_parquet(source).drop_nulls([*data.qids, data.secret])
    table = table.select(*data.qids, data.secret).with_row_index("person")
    part = table["person"].hash(seed=7) % (SEVERAL + 1)  # 0 is in all
    people = folder / "people.parquet"
    table.filter(part == 0).write_parquet(people)
    known: dict[str, Any] = {"qids": list(data.qids), "secret": data.secret}
    lines = [
        f"### Up to {SEVERAL} releases: {data.name}, secret {data.secret}",
        "",
        "| releases | k | number | records of a class | values possible in one release | in all | "
        "drop | confidence of at least 25 % | one value left |",
        "| --- | --: | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for way, turns in SERIES.items():
        for k in KS[:1] if "t" in turns[0] else KS[::2]:  # t makes larger classes than any k
            releases = [folder / f"release_{i}.parquet" for i in range(SEVERAL)]
            for i, out in enumerate(releases):
                raw = folder / f"raw_{i}.parquet"
                table.filter(part.is_in([0, i + 1])).write_parquet(raw)
                qifsql.anonymise(raw, out, k=k, **turns[i % len(turns)], **known)
            found = qifsql.compose(
                releases, people=people, confidence=["0.25", "1"], progressive=True, **known
            )
            size = found.details["releases"]["partition_size"].to_list()
            quarter = found.details["curve"].filter(confidence=0.25)
            share = dict(quarter.select("releases", "share").iter_rows())
            for row in found.frame.iter_rows(named=True):
                number = row["releases"]
                row["partition_size"] = math.fsum(size[:number]) / number
                means = " | ".join(f"{row[name]:.2f}" for name in MEANS)
                shares = (share[number], row["perfect_breach_share"])
                told = " | ".join(f"{100 * share:.1f} %" for share in shares)
                lines.append(f"| {way} | {k} | {number} | {means} | {told} |")
    return "\n".join(lines) + "\n"


def row_count(file: Path) -> int:
    """Return the number of records of a Parquet file."""
    return int(pl.scan_parquet(file).select(pl.len()).collect().item())


LIMITS: tuple[dict[str, Any], ...] = (
    *({"k": k} for k in (4, 12, 20)),
    *({"k": 4, "t": t} for t in ("0.1", "0.3", "0.5")),
)
CENSUS = ("NU_DIA", "NU_MES", "NU_ANO", "TP_SEXO", "TP_COR_RACA", "CO_ENTIDADE")
HOW = ("deterministic", "probabilistic")
SECRET = "IN_NECESSIDADE_ESPECIAL"


def sanitised(source: Path, folder: Path) -> str:
    """Return PoPETs Table 11 on census-shaped data: the original beside sanitised releases."""
    releases = []
    for i, limits in enumerate(LIMITS):
        out = folder / f"{i}.parquet"
        asked = {"qids": list(CENSUS), "secret": SECRET} | limits
        qifsql.anonymise(source, out, method="mondrian", **asked)
        releases.append(out)
    found = qifsql.compare(source, releases, qids=list(CENSUS), secret=SECRET).frame
    found = found.filter(pl.col("blocks").is_not_null())  # not those of compatible records
    names = ["original", *(", ".join(f"{n} = {v}" for n, v in limit.items()) for limit in LIMITS)]
    known = ", ".join(CENSUS)
    lines = [
        f"### PoPETs Table 11 on {source.stem}, known: {known}; secret {SECRET}",
        "",
        "| release | blocks | CRS certain | CRS best guess | CAS certain | CAS best guess | "
        "before | penalty |",
        "| --- | --: | --: | --: | --: | --: | --: | --: |",
    ]
    columns = [f"{m}_posterior_{how}" for m in ("crs", "cas") for how in HOW]
    for name, row in zip(names, found.to_dicts(), strict=True):
        shares = [row[c] for c in (*columns, "cas_prior_probabilistic", "certainty_penalty")]
        told = " | ".join("" if s is None else f"{100 * s:.4f} %" for s in shares)
        lines.append(f"| {name} | {row['blocks']:,} | {told} |")
    return "\n".join(lines) + "\n"


def entropy(column: pl.Series) -> float:
    """Return Shannon entropy in bits."""
    shares = column.drop_nulls().value_counts()["count"] / column.drop_nulls().len()
    return -math.fsum(p * math.log2(p) for p in shares)


def written(data: Data, source: Path, rows: list[dict[str, Any]]) -> str:
    """Return the rows as Markdown."""
    column = pl.read_parquet(source)[data.secret]
    lines = [
        f"### {data.name}, secret {data.secret}",
        "",
        f"{column.drop_nulls().n_unique()} values, entropy {entropy(column):.2f} bits; known: "
        f"{', '.join(data.qids)}.",
        "",
        "| releases | k | values possible in one release | in both | people who lose anonymity | "
        "confidence of at least 25 % | one value left | by one release alone | and right | "
        "located right | by the nearest centroid | of them right |",
        "| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for row in rows:
        if "refused" in row:
            lines.append(f"| {row['way']} | {row['k']} | refused: {row['refused']} {'| ' * 9}|")
            continue
        names = ("vulnerable", "quarter", "breach", "breach_before", "breach_right")
        shares = (row[c] for c in (*names, "right", "nearest", "nearest_right"))
        lines.append(
            f"| {row['way']} | {row['k']} | {row['effective_prior']:.2f} | "
            f"{row['effective_posterior']:.2f} | "
            + " | ".join("" if s is None else f"{100 * s:.1f} %" for s in shares)
            + " |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure all tables and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    shared = os.environ.get("QIFSQL_SHARED", str(HERE.parent.parent / "shared"))
    parser.add_argument("--data", type=Path, default=Path(shared) / "data")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--several", action="store_true")
    given = parser.parse_args()
    parts = []
    for data in () if given.several else DATA:
        source = given.data / f"{data.name}.parquet"
        with tempfile.TemporaryDirectory() as folder:
            parts.append(written(data, source, list(measured(data, source, Path(folder)))))
        print(parts[-1], flush=True)
    for data in DATA[::2]:
        with tempfile.TemporaryDirectory() as folder:
            parts.append(several(data, given.data / f"{data.name}.parquet", Path(folder)))
        print(parts[-1], flush=True)
    if given.several:
        return
    with tempfile.TemporaryDirectory() as folder:
        parts.append(sanitised(given.data / "inep_like_200k.parquet", Path(folder)))
    print(parts[-1], flush=True)
    if given.out:
        given.out.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
