"""Which charts a result has, and their files in a folder."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from qifsql.assessment import Assessment
from qifsql.comparison.compare import Comparison
from qifsql.comparison.what_if import WhatIf
from qifsql.differential.testing import Inference
from qifsql.errors import InputError, OutputError
from qifsql.export import Origin
from qifsql.mechanisms.tradeoff import Tradeoff
from qifsql.report import comparisons
from qifsql.report.charts import (
    files,
    inference,
    links,
    noise,
    people,
    releases,
    steps,
    subsets,
)
from qifsql.report.charts.look import Chart, extra
from qifsql.report.parts import Document
from qifsql.sweep.result import Sweep

PANELS = 4  # sizes of subsets whose histograms are drawn
GROUPS = 30  # groups whose bars are drawn, those with most risk
DETAILS = {
    "histogram": people.histograms,
    "thresholds": people.thresholds,
    "groups": people.groups,
}
ASKED = ["model", "secret", "datasets", "qids"]


def check(folder: Path, kind: str) -> None:
    """Refuse what could not be drawn or written, before any work is done."""
    if f".{kind}" not in files.ENDINGS:
        known = ", ".join(ending[1:] for ending in files.ENDINGS)
        raise OutputError(f"charts are written as {known}, not as {kind}")
    extra()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise OutputError(f"{folder} cannot be a folder for charts: {e.strerror}") from e


def of_sweep(result: Sweep) -> dict[str, Chart]:
    """The charts of a sweep, by name."""
    drawn = {"success": subsets.success(result.frame)}
    if "shapley" in result.details:
        drawn["shapley"] = subsets.shapley(result.details["shapley"])
    if "releases" in result.details:
        drawn["releases"] = subsets.releases(result.details["releases"])
    if "histogram" in result.details:
        drawn["histograms"] = people.histograms(chosen(result.details))
    return drawn


def of_attack(result: Assessment) -> dict[str, Chart]:
    """The charts of an attack, by name; InputError where all gain functions are others."""
    frame = result.frame
    if "gain" in frame.columns:
        frame = frame.filter(pl.col("gain").fill_null("identity") == "identity")
    if frame.is_empty():
        raise InputError("charts are of the chance to be right; leave the gain functions out")
    drawn = {"success": steps.steps(frame, _releases(result))}
    for name, chart in DETAILS.items():
        rows = details(frame, result.details, name)
        if not rows.is_empty():
            drawn[chart.__name__] = chart(rows)
    return drawn


def of_links(result: Assessment) -> dict[str, Chart]:
    """The chart of an attack without a person key whose links are compared with the truth."""
    return {"calibration": links.calibration(result.details["calibration"])}


def of_noise(result: Tradeoff) -> dict[str, Chart]:
    """The chart of noisy counts."""
    return {"tradeoff": noise.tradeoff(result.frame)}


def of_inference(result: Inference) -> dict[str, Chart]:
    """The charts of inference testing: how distances are spread, and how they go with k."""
    drawn = {"distribution": inference.distribution(result.details["distribution"])}
    if result.frame["k"].n_unique() > 1:
        drawn["summary"] = inference.summary(result.frame)
        drawn["different"] = inference.different(result.frame)
    return drawn


def of_report(document: Document) -> dict[str, Chart]:
    """The charts of a report."""
    return {figure.name: figure.chart for figure in document.figures}


def of_comparison(result: Comparison | WhatIf) -> dict[str, Chart]:
    """The chart of releases beside the original, or of changes beside what is there."""
    return {"risk_utility": risk_utility(result.frame)}


def risk_utility(frame: pl.DataFrame) -> Chart:
    """Releases, or changes, by what they risk and what they are still worth."""
    names = [comparisons.named(row) for row in frame.iter_rows(named=True)]
    return releases.risk_utility(frame, names)


def write(charts: dict[str, Chart], folder: Path, kind: str, origin: Origin) -> list[Path]:
    """Draw charts as files in a folder; the files that were written."""
    paths = {folder / f"{name}.{kind}": chart for name, chart in charts.items()}
    for path, chart in paths.items():
        files.save(chart, path, origin)
    return list(paths)


def chosen(details: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """The histograms of the riskiest subset of some sizes, and of all quasi-identifiers."""
    best = details["best"].filter(pl.col("best_for") != "deterministic")
    sizes = sorted(set(best["n_qids"]))
    some = {sizes[round(i * (len(sizes) - 1) / (PANELS - 1))] for i in range(PANELS)}
    wanted = best.filter(pl.col("n_qids").is_in(sorted(some))).select("model", "secret", "subset")
    histogram = details["histogram"].with_columns(datasets=pl.lit(1))
    keys = ["model", "secret", "subset"]
    return histogram.join(wanted, on=keys, nulls_equal=True, how="semi").sort(
        pl.col("qids").list.len(), "secret", maintain_order=True
    )


def details(frame: pl.DataFrame, tables: Mapping[str, pl.DataFrame], name: str) -> pl.DataFrame:
    """A table of details with its questions; of the last number of datasets, but for histograms."""
    if name not in tables or frame.is_empty():
        return pl.DataFrame()
    if name != "histogram":
        frame = frame.filter(pl.col("datasets") == pl.col("datasets").max())
    asked = frame.select("attack_id", *ASKED)
    rows = asked.join(tables[name], on="attack_id", how="inner", maintain_order="left")
    if name == "groups":
        rows = rows.group_by("model", "secret", maintain_order=True).head(GROUPS)
    order = [pl.col("secret").is_not_null(), pl.col("secret"), pl.col("datasets")]
    return rows.sort(order, maintain_order=True)


def _releases(result: Assessment) -> list[str]:
    """The names of the datasets of a collection, the focal one first."""
    return list(result.origin.spec.get("collection", {}).get("datasets", ()))
