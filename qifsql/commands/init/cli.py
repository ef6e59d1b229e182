"""``qifsql init``."""

from pathlib import Path
from typing import Annotated

import typer

from qifsql.commands.init.spec import InitOptions
from qifsql.data.option import DATA
from qifsql.options import runtime
from qifsql.options.groups import AllVarchar, Delimiter, Encoding, Limits

EXAMPLES = {
    "Write a study of the bundled sample.": "qifsql init study.toml",
    "Write a study of your own file.": (
        "qifsql init census.toml --data data-samples/school_census_2018.parquet"
    ),
}


def init(
    limits: Limits,
    options: InitOptions,
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
    all_varchar: AllVarchar = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
) -> None:
    """Write a commented study that runs as it is; never overwrite a file."""
    from qifsql.commands.init.init import init as run

    with limits.settings() as settings:
        path = run(
            study,
            data=data,
            all_varchar=all_varchar,
            delimiter=delimiter,
            encoding=encoding,
            settings=settings,
            **options,
        )
    lines = [f"written: {path}", f"look at it, then: qifsql run {path}"]
    runtime.remarks(lines, quiet=limits.quiet)
