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
    from qifsql.commands.sweep.sweep import sweep
    from qifsql.options import show
    from qifsql.presentation import terminal
    from qifsql.presentation.parts import Heading

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise OutputError(f"{folder} cannot be a folder for reports: {e.strerror}") from e
    assessment = demonstration.demo(settings=settings)
    swept = sweep(demonstration.sample(), **demonstration.ADVERSARY, settings=settings)
    title = demonstration.TITLE
    terminal.draw([Heading(title), *view.parts(assessment.frame, {}, assessment.spec)])
    table, csv = folder / "census.parquet", folder / "census.csv"
    subsets, page = folder / "every.parquet", folder / "census.html"
    for result, file in ((assessment, table), (assessment, csv), (swept, subsets)):
        show.save(show.Display(result=result, title=title), file)
    people, labels = demonstration.PEOPLE, demonstration.LABELS
    report([table, subsets], page, title=title, people=people, labels=labels)
    return Answer(notes=[f"written: {path}" for path in (table, csv, subsets, page)])
