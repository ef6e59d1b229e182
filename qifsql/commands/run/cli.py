"""``qifsql run``."""

from pathlib import Path
from typing import Annotated

import typer

from qifsql.data.option import RUN
from qifsql.errors import InputError, several
from qifsql.options import runtime
from qifsql.options.groups import Limits, Output

EXAMPLES = {
    "Write an example study and run it.": "qifsql init study.toml && qifsql run study.toml",
    "Show what would run again.": "qifsql run study.toml --dry-run",
}


def run(
    study: Annotated[
        Path, typer.Argument(metavar="STUDY.toml", help="The study; qifsql init writes one.")
    ],
    output: Output,
    limits: Limits,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Check the study, show what is known already and what is to be done.",
            rich_help_panel=RUN,
        ),
    ] = False,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh",
            help="Compute everything again, also what has not changed.",
            rich_help_panel=RUN,
        ),
    ] = False,
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder of results instead of that of the study; it may lie anywhere.",
            rich_help_panel=RUN,
        ),
    ] = None,
) -> None:
    """Run all entries of a study, from attacks to checks; reuse unchanged results.

    Tables are written to the folder of the study; a summary is shown here.
    """
    from qifsql.commands.run.run import run as run_study
    from qifsql.commands.run.run import table
    from qifsql.options import show
    from qifsql.results.storage import check_place
    from qifsql.study.spec import Study

    show.check(output)

    def tell(line: str) -> None:
        runtime.remarks([line], quiet=limits.quiet)

    try:
        spec = Study.load(study)
        if output.out is not None:
            inputs = (str(spec.path), *(p for entry in spec.entries for p in entry.paths))
            check_place(output.out, inputs)
        with limits.settings() as settings:
            result = run_study(
                spec, dry_run=dry_run, fresh=fresh, folder=folder, told=tell, settings=settings
            )
    except InputError as e:
        *others, last = str(e).split("\n")  # one line for each mistake of a study
        for line in others:
            runtime.talk(f"error: {line}")
        raise InputError(last, detail=e.detail) from e
    runtime.remarks(result.notes, quiet=limits.quiet)
    if result.files:
        tables = several(len(result.files), "table")
        runtime.remarks([f"{tables} of the study in {folder or spec.folder}"], quiet=limits.quiet)
    if result.report is not None:
        runtime.remarks([f"the report: {result.report}"], quiet=limits.quiet)
    show.show(table(result, spec), output, met=bool(result.met or dry_run))
