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
    from qifsql import demonstration
    from qifsql.cli import show
    from qifsql.report import attacks, sweeps, terminal
    from qifsql.report.parts import Heading
    from qifsql.report.report import report

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise OutputError(f"{folder} cannot be a folder for reports: {e.strerror}") from e
    with limits.settings() as settings:
        found = demonstration.demo(settings=settings)
        every = demonstration.every(settings=settings)
    parts = attacks.attack(found.rows(), {})
    title = demonstration.TITLE
    terminal.draw([Heading(title), *parts])
    attack = show.Shown(found.frame, found.origin, lambda *_: parts, title, found.details)
    subsets = sweeps.sweep(every.frame, every.details)
    sweep = show.Shown(every.frame, every.origin, lambda *_: subsets, title, every.details)
    files = [folder / name for name in ("census.parquet", "census.csv", "every.parquet")]
    for shown, file in zip((attack, attack, sweep), files, strict=True):
        show.save(shown, file)
    page = folder / "census.html"
    people, labels = demonstration.PEOPLE, demonstration.LABELS
    report([files[0], files[2]], page, title=title, people=people, labels=labels)
    running.remarks([f"written: {path}" for path in (*files, page)], quiet=limits.quiet)
