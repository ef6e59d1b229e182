"""``qifsql init`` and ``run``: a study in a file."""

from pathlib import Path
from typing import Annotated

import typer

from qifsql.cli import running
from qifsql.cli.options import DATA, RUN, Limits, Output
from qifsql.errors import InputError, several

NOT_MET = 4  # the exit code where a level of a policy is not met


def init(
    limits: Limits,
    study: Annotated[
        Path, typer.Argument(metavar="[STUDY.toml]", help="The file to write.")
    ] = Path("study.toml"),
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            help="A dataset to begin with: Parquet, CSV, a glob, a folder of Parquet, "
            "table@file.duckdb (default: the bundled sample).",
            rich_help_panel=DATA,
        ),
    ] = None,
    all_varchar: Annotated[
        bool,
        typer.Option("--all-varchar", help="CSV: every column is text.", rich_help_panel=DATA),
    ] = False,
    delimiter: Annotated[
        str | None,
        typer.Option("--delimiter", help="CSV: what separates fields.", rich_help_panel=DATA),
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(
            "--encoding", help="CSV: such as latin-1 (default utf-8).", rich_help_panel=DATA
        ),
    ] = None,
) -> None:
    """Write a commented study that runs as it is; a file that exists is left alone."""
    from qifsql.study.draft import init as run

    with limits.settings() as settings:
        path = run(
            study,
            data=data,
            all_varchar=all_varchar,
            delimiter=delimiter,
            encoding=encoding,
            settings=settings,
        )
    told = [f"written: {path}", f"look at it, then: qifsql run {path}"]
    running.remarks(told, quiet=limits.quiet)


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
) -> None:
    """Run the attacks, sweeps and checks of a study; what has not changed is not run again.

    The tables go to the folder of the study; all together they are shown here.
    """
    from qifsql.cli import show
    from qifsql.export import check_place
    from qifsql.study.run import run as run_study
    from qifsql.study.run import table
    from qifsql.study.spec import Study

    show.check(output)

    def told(line: str) -> None:
        running.remarks([line], quiet=limits.quiet)

    try:
        found = Study.load(study)
        if output.out is not None:
            inputs = (str(found.path), *(p for entry in found.entries for p in entry.paths))
            check_place(output.out, inputs)
        with limits.settings() as settings:
            result = run_study(found, dry_run=dry_run, told=told, settings=settings)
    except InputError as e:
        *others, last = str(e).split("\n")  # one line for each mistake of a study
        for line in others:
            running.talk(f"error: {line}")
        raise InputError(last, detail=e.detail) from e
    running.remarks(result.notes, quiet=limits.quiet)
    if result.files:
        tables = several(len(result.files), "table")
        running.remarks([f"{tables} of the study in {found.folder}"], quiet=limits.quiet)
    try:
        show.show(table(result, found), output)
    except (BrokenPipeError, SystemExit):  # the reader has seen enough, but not the answer
        if result.met:
            raise
    if not (result.met or dry_run):
        raise typer.Exit(NOT_MET)
