"""Charts among the parts of a page, and as files of a folder."""

from collections.abc import Callable, Mapping
from pathlib import Path

from qifsql.errors import InputError, OutputError
from qifsql.presentation import chart_files
from qifsql.presentation.parts import Figure, Part
from qifsql.presentation.theme import Chart, extra
from qifsql.results.storage import Origin


def check(folder: Path, kind: str) -> None:
    """Refuse what could not be drawn or written, before any work is done."""
    if f".{kind}" not in chart_files.ENDINGS:
        endings = ", ".join(ending[1:] for ending in chart_files.ENDINGS)
        raise OutputError(f"charts are written as {endings}, not as {kind}")
    extra()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise OutputError(f"{folder} cannot be a folder for charts: {e.strerror}") from e


def write(charts: Mapping[str, Chart], folder: Path, kind: str, origin: Origin) -> list[Path]:
    """Draw charts as files in a folder; the files that were written."""
    paths = {folder / f"{name}.{kind}": chart for name, chart in charts.items()}
    for path, chart in paths.items():
        chart_files.save(chart, path, origin)
    return list(paths)


def can_draw() -> bool:
    """Whether the extra that draws charts is there."""
    try:
        extra()
    except InputError:
        return False
    return True


def drawn(name: str, draw: Callable[[], Chart]) -> list[Part]:
    """Return a chart, where the extra that draws it is there and there is something to draw."""
    if not can_draw():
        return []
    try:
        return [Figure(name, draw())]
    except InputError:  # nothing to draw
        return []
