"""Differential inference: the shape of the paper's figures, on public data.

    python benchmarks/differential.py [--data DIR] [--out benchmarks/differential.md] [--charts DIR]

Differential inference testing of Mondrian with naive Bayes, as in its sections 3.3 and 3.4: 10,000
records of Adult without missing values (five samples, because the paper does not say which), and
Internet Usage without people who do not say their age. DIR holds adult.parquet and
internet_usage.parquet (by default ../shared/data or $QIFSQL_SHARED/data).
"""

import argparse
import os
import platform
import tempfile
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl

import qifsql

HERE = Path(__file__).resolve().parent
KS = (1, 2, 5, 7, 20, 64, 80)
LS = (2, 3, 4, 5, 6, 7)
SAMPLES = 5  # of Adult
MANY = 10_000
ADULT = ("age", "education", "marital-status", "hours-per-week", "native-country")
INTERNET = (
    *("Age", "Country", "Education_Attainment", "Major_Occupation", "Marital_Status", "Race"),
)
PRINTED = {  # Tables 1 and 3
    "Adult": dict(zip(KS, (0.32, 0.197, 0.137, 0.126, 0.178, 0.234, 0.235), strict=True)),
    "Internet": dict(zip(KS, (0.2, 0.257, 0.305, 0.398, 0.512, 0.459, 0.424), strict=True)),
}


@dataclass(frozen=True)
class Table:
    """One table: its name, what is known, what is secret, its records."""

    name: str
    qids: tuple[str, ...]
    secret: str
    frame: pl.DataFrame


def tables(folder: Path) -> list[Table]:
    """Return the samples of Adult, and Internet Usage."""
    adult = pl.read_parquet(folder / "adult.parquet")
    texts = pl.col(pl.String)
    whole = adult.filter(~pl.any_horizontal(texts == "?")).drop_nulls()
    found = [
        Table("Adult", ADULT, "occupation", whole.sample(MANY, seed=seed))
        for seed in range(1, SAMPLES + 1)
    ]
    internet = pl.read_parquet(folder / "internet_usage.parquet")
    age = pl.col("Age").cast(pl.Int64, strict=False)
    said = internet.with_columns(age).filter(pl.col("Age").is_not_null())
    return [*found, Table("Internet", INTERNET, "Household_Income", said)]


def runs(table: Table, charts: Path | None) -> list[dict[str, Any]]:
    """Return a row for each k, and for each l without k."""
    rows = []
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "records.parquet"
        table.frame.select(*table.qids, table.secret).write_parquet(source)
        asked = {"qids": table.qids, "secret": table.secret}
        each: list[tuple[str, int, dict[str, Any]]] = [("k", k, {"k": k}) for k in KS]
        # No value of the secret with probability 1/l or more: most frequent < others / (l - 1).
        each += [("l", l, {"k": 1, "l_recursive": (Fraction(1, l - 1), 2)}) for l in LS]  # noqa: E741
        for limit, value, more in each:
            begun = time.perf_counter()
            try:
                found = qifsql.dit(source, **asked, **more)
            except qifsql.QifError:  # a value is so frequent that not even everybody keeps l
                continue
            seconds = time.perf_counter() - begun
            row = found.frame.filter(pl.col("distance") == "emd_printed").row(0, named=True)
            above = found.details["thresholds"].filter(pl.col("distance") == "emd_printed")
            rows.append(
                row
                | {"data": table.name, "limit": limit, "value": value, "seconds": seconds}
                | {"above": above["share"][0]}
            )
        if charts is not None:
            from qifsql.commands.report import figures

            whole = qifsql.dit(source, **asked, k=list(KS))
            drawn = figures.of_inference(whole)
            charts.mkdir(parents=True, exist_ok=True)
            named = {f"{table.name.casefold()}-{name}": c for name, c in drawn.items()}
            figures.write(named, charts, "svg", whole.origin)
    return rows


def told(rows: list[dict[str, Any]], name: str, limit: str) -> list[str]:
    """Return the rows of a Markdown table.

    Of several samples the mean, and the range of the largest.
    """
    lines = []
    for value in KS if limit == "k" else LS:
        own = [r for r in rows if (r["data"], r["limit"], r["value"]) == (name, limit, value)]
        if not own:
            continue
        mean, std, other, above = (
            sum(r[c] for r in own) / len(own) for c in ("mean", "std", "different", "above")
        )
        most = [r["max"] for r in own]
        largest = f"{sum(most) / len(most):.3f}"
        largest += f" ({min(most):.3f} to {max(most):.3f})" if len(most) > 1 else ""
        printed = f"{PRINTED[name][value]:.3f} | " if limit == "k" else ""
        seconds = sum(r["seconds"] for r in own) / len(own)
        lines.append(
            f"| {value} | {printed}{largest} | {mean:.5f} | {std:.5f} | {100 * above:.1f} % | "
            f"{100 * other:.2f} % | {seconds:.1f} |"
        )
    return lines


def report(rows: list[dict[str, Any]]) -> str:
    """Return the tables as Markdown."""
    lines = ["# Differential inference testing on public data", ""]
    lines += [
        "Made by `python benchmarks/differential.py`; Mondrian, naive Bayes, the printed distance "
        f"(a quarter of L1). Python {platform.python_version()}, {os.cpu_count()} cores.",
        "",
    ]
    for name in ("Adult", "Internet"):
        n = next(r["records"] for r in rows if r["data"] == name)
        samples = f", {SAMPLES} samples" if name == "Adult" else ""
        lines += [f"## {name}: {n:,} people{samples}", ""]
        for limit in ("k", "l"):
            heads = ["paper's max d_pp"] if limit == "k" else []
            heads = [limit, *heads, "max d_pp", "mean", "std", "d_pp > 10^-2.5"]
            heads += ["other guess", "seconds"]
            lines += ["| " + " | ".join(heads) + " |", "| ---: " * len(heads) + "|"]
            lines += [*told(rows, name, limit), ""]
    return "\n".join(lines)


def main() -> None:
    """Measure, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    shared = os.environ.get("QIFSQL_SHARED", str(HERE.parent.parent / "shared"))
    parser.add_argument("--data", type=Path, default=Path(shared) / "data")
    parser.add_argument("--out", type=Path, default=HERE / "differential.md")
    parser.add_argument("--charts", type=Path)
    asked = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for i, table in enumerate(tables(asked.data)):
        last = i in (0, SAMPLES)
        rows += runs(table, asked.charts if last else None)
        print(f"{table.name}: {len(rows)} runs", flush=True)
    before = asked.out.read_text("utf-8") if asked.out.exists() else ""
    kept = before[before.index("## What agrees") :] if "## What agrees" in before else ""
    asked.out.write_text(report(rows) + "\n" + kept, "utf-8")


if __name__ == "__main__":
    main()
