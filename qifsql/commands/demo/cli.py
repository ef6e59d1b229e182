"""``qifsql demo``."""

from pathlib import Path
from typing import Annotated

import typer

from qifsql.engine.settings import Settings
from qifsql.errors import OutputError
from qifsql.options.runner import Answer

EXAMPLES = {
    "Run the main job on the bundled sample.": "qifsql demo",
    "Write the reports to a folder of your choice.": "qifsql demo results",
}


def demo(
    settings: Settings,
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Folder for the reports.")] = Path(
        "demo-report"
    ),
) -> Answer:
    """Run the main job on the bundled sample: print the tables, write the reports."""
    from qifsql.commands.attack import view
    from qifsql.commands.demo import demo as demonstration
    from qifsql.commands.report.report import report
    from qifsql.options import show
    from qifsql.presentation import terminal
    from qifsql.presentation.parts import Heading

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise OutputError(f"{folder} cannot be a folder for reports: {e.strerror}") from e
    assessment = demonstration.demo(settings=settings)
    every = demonstration.every(settings=settings)
    title = demonstration.TITLE
    terminal.draw([Heading(title), *view.parts(assessment.frame, {}, assessment.spec)])
    attack, sweep = (show.Display(result=result, title=title) for result in (assessment, every))
    files = [folder / name for name in ("census.parquet", "census.csv", "every.parquet")]
    for display, file in zip((attack, attack, sweep), files, strict=True):
        show.save(display, file)
    page = folder / "census.html"
    people, labels = demonstration.PEOPLE, demonstration.LABELS
    report([files[0], files[2]], page, title=title, people=people, labels=labels)
    return Answer(notes=[f"written: {path}" for path in (*files, page)])
