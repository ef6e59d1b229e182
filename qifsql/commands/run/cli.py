"""``qifsql run``."""

from pathlib import Path
from typing import Annotated

import typer

from qifsql.data.option import RUN
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, plural
from qifsql.options import runtime
from qifsql.options.runner import Answer, Tell
from qifsql.options.shared_options import Output

EXAMPLES = {
    "Write an example study and run it.": "qifsql init study.toml && qifsql run study.toml",
    "Show what would run again.": "qifsql run study.toml --dry-run",
}


def run(
    study: Annotated[
        Path, typer.Argument(metavar="STUDY.toml", help="The study; qifsql init writes one.")
    ],
    output: Output,
    settings: Settings,
    tell: Tell,
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
) -> Answer:
    """Run all entries of a study, from attacks to checks; reuse unchanged results.

    Tables are written to the folder of the study; a summary is shown here.
    """
    from qifsql.commands.run.run import run as run_study
    from qifsql.results.storage import check_place
    from qifsql.study.spec import Study

    try:
        spec = Study.load(study)
        if output.out is not None:
            inputs = (str(spec.path), *(p for entry in spec.entries for p in entry.paths))
            check_place(output.out, inputs)
        result = run_study(
            spec, dry_run=dry_run, fresh=fresh, folder=folder, told=tell, settings=settings
        )
    except InputError as e:
        *preceding, last = str(e).split("\n")  # one line for each mistake of a study
        for line in preceding:
            runtime.talk(f"error: {line}")
        raise InputError(last, detail=e.detail) from e
    notes = []
    if result.files:
        tables = plural(len(result.files), "table")
        notes.append(f"{tables} of the study in {folder or spec.folder}")
    if result.report is not None:
        notes.append(f"the report: {result.report}")
    met = bool(result.met or dry_run)
    return Answer(result, spec.path.name, notes=notes, aside=("entries",), met=met)
