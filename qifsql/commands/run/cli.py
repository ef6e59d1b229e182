"""``qifsql run``."""

from functools import partial
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


_option = partial(typer.Option, rich_help_panel=RUN)
StudyFile = Annotated[
    Path, typer.Argument(metavar="STUDY.toml", help="The study; qifsql init writes one.")
]
DryRun = Annotated[
    bool,
    _option(
        "--dry-run", help="Check the study, show what is known already and what is to be done."
    ),
]
Fresh = Annotated[
    bool, _option("--fresh", help="Compute everything again, also what has not changed.")
]
Folder = Annotated[
    Path | None,
    _option(
        metavar="FOLDER",
        help="Folder of results instead of that of the study; it may lie anywhere.",
    ),
]


def run(
    study: StudyFile,
    output: Output,
    settings: Settings,
    tell: Tell,
    dry_run: DryRun = False,
    fresh: Fresh = False,
    folder: Folder = None,
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
