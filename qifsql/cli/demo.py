"""``qifsql demo``."""

from pathlib import Path
from typing import Annotated

import typer

from qifsql.cli import options, running
from qifsql.cli.options import Limits


def demo(
    limits: Limits,
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where the reports go.")] = Path(
        "demo-report"
    ),
    quiet: options.Quiet = False,
) -> None:
    """Run the main job on the bundled sample: print the tables, write the reports."""
    from qifsql.cli import show
    from qifsql.demonstration import TITLE
    from qifsql.demonstration import demo as run
    from qifsql.report import tables

    with limits.settings() as settings:
        result = run(settings=settings)
    shown = show.Shown(result.frame, result.origin, lambda: tables.assessment(result), TITLE)
    tables.draw(TITLE)
    tables.draw(shown.render())
    folder.mkdir(parents=True, exist_ok=True)
    for ending in (".parquet", ".csv", ".html"):
        show.save(shown, folder / f"census{ending}")
        running.remarks([f"written: {folder / 'census'}{ending}"], quiet=quiet)
