"""``qifsql demo``."""

from pathlib import Path
from typing import Annotated

import typer

from qifsql.cli import running
from qifsql.cli.options import Limits
from qifsql.errors import OutputError


def demo(
    limits: Limits,
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where the reports go.")] = Path(
        "demo-report"
    ),
) -> None:
    """Run the main job on the bundled sample: print the tables, write the reports."""
    from qifsql.cli import show
    from qifsql.demonstration import TITLE
    from qifsql.demonstration import demo as run
    from qifsql.report import tables

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise OutputError(f"{folder} cannot be a folder for reports: {e.strerror}") from e
    with limits.settings() as settings:
        result = run(settings=settings)
    shown = show.Shown(result.frame, result.origin, lambda: tables.assessment(result), TITLE)
    tables.draw(TITLE)
    tables.draw(shown.render())
    for ending in (".parquet", ".csv", ".html"):
        show.save(shown, folder / f"census{ending}")
        running.remarks([f"written: {folder / 'census'}{ending}"], quiet=limits.quiet)
