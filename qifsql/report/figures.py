"""The charts of a sweep as files in a folder."""

from pathlib import Path

import polars as pl

from qifsql.errors import OutputError
from qifsql.report import charts
from qifsql.sweep.result import Sweep

PANELS = 4  # sizes of subsets whose histograms are drawn


def check(folder: Path, kind: str) -> None:
    """Refuse what could not be drawn or written, before any work is done."""
    if f".{kind}" not in charts.ENDINGS:
        known = ", ".join(ending[1:] for ending in charts.ENDINGS)
        raise OutputError(f"charts are written as {known}, not as {kind}")
    charts.extra()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise OutputError(f"{folder} cannot be a folder for charts: {e.strerror}") from e


def _chosen(result: Sweep) -> pl.DataFrame:
    """The histograms of the riskiest subset of some sizes, and of all quasi-identifiers."""
    best = result.details["best"].filter(pl.col("best_for") != "deterministic")
    sizes = sorted(set(best["n_qids"]))
    some = {sizes[round(i * (len(sizes) - 1) / (PANELS - 1))] for i in range(PANELS)}
    wanted = best.filter(pl.col("n_qids").is_in(sorted(some))).select("model", "secret", "subset")
    histogram = result.details["histogram"]
    keys = ["model", "secret", "subset"]
    return histogram.join(wanted, on=keys, nulls_equal=True, how="semi").sort(
        pl.col("qids").list.len(), "secret", maintain_order=True
    )


def write(result: Sweep, folder: Path, kind: str) -> list[Path]:
    """Draw what the sweep holds; the files that were written."""
    drawn = {"success": charts.success(result.frame)}
    if "shapley" in result.details:
        drawn["shapley"] = charts.shapley(result.details["shapley"])
    if "histogram" in result.details:
        drawn["histograms"] = charts.histograms(_chosen(result))
    paths = {folder / f"{name}.{kind}": chart for name, chart in drawn.items()}
    for path, chart in paths.items():
        charts.save(chart, path, result.origin)
    return list(paths)
