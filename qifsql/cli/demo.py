"""``qifsql demo``."""

from pathlib import Path
from typing import Annotated

import typer

from qifsql.cli import options, running


def demo(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where the reports go.")] = Path(
        "demo-report"
    ),
    memory: options.Memory = None,
    threads: options.Threads = None,
    temp: options.Temp = None,
    progress: options.ShowProgress = None,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Run the main job on the bundled sample: print the tables, write the reports."""
    from qifsql.cli import show
    from qifsql.demonstration import TITLE
    from qifsql.demonstration import demo as run
    from qifsql.report import tables

    with running.settings(memory, threads, temp, progress) as limits:
        result = run(settings=limits)
    shown = show.Shown(result.frame, result.origin, lambda: tables.assessment(result), TITLE)
    tables.draw(TITLE)
    tables.draw(shown.render())
    folder.mkdir(parents=True, exist_ok=True)
    for ending in (".parquet", ".csv", ".html"):
        show.save(shown, folder / f"census{ending}")
        running.remarks([f"written: {folder / 'census'}{ending}"], quiet=quiet)
