"""The charts of a sweep as files in a folder."""

from pathlib import Path

from qifsql.errors import OutputError
from qifsql.report import charts
from qifsql.sweep.result import Sweep


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


def write(result: Sweep, folder: Path, kind: str) -> list[Path]:
    """Draw what the sweep holds; the files that were written."""
    drawn = {"success": charts.success(result.frame)}
    if "shapley" in result.details:
        drawn["shapley"] = charts.shapley(result.details["shapley"])
    if "chosen" in result.details:
        drawn["histograms"] = charts.histograms(result.details["chosen"])
    paths = {folder / f"{name}.{kind}": chart for name, chart in drawn.items()}
    for path, chart in paths.items():
        charts.save(chart, path, result.origin)
    return list(paths)
