"""``qifsql init``."""

from pathlib import Path
from typing import Annotated

import typer

from qifsql.commands.init.spec import InitOptions
from qifsql.data.option import DATA
from qifsql.engine.settings import Settings
from qifsql.options.runner import Answer
from qifsql.options.shared_options import option

EXAMPLES = {
    "Write a study of the bundled sample.": "qifsql init study.toml",
    "Write a study of your own file.": (
        "qifsql init census.toml --data data-samples/school_census_2018.parquet"
    ),
    "Write a policy for your own file, with levels of statistical offices and health agencies.": (
        "qifsql init --policy --data data-samples/school_census_2018.parquet"
    ),
}


def init(
    settings: Settings,
    options: InitOptions,
    study: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE.toml]", help="The file to write (default: study.toml)."),
    ] = None,
    data: Annotated[
        str | None,
        option(
            "A dataset to begin with: Parquet, CSV, JSON, Excel, SPSS, ...; glob, folder, "
            "table@database (default: the bundled sample).",
            "--data",
            panel=DATA,
        ),
    ] = None,
) -> Answer:
    """Write a commented study that runs as it is; never overwrite a file.

    With --policy: write a commented policy for qifsql check, with presets of statistical offices,
    health agencies, HIPAA and WP 216, their sources and their limits.
    """
    from qifsql.commands.init.init import init as run

    path = run(study, data=data, settings=settings, **options)
    then = f"qifsql check {data or 'FILE'} --policy {path}"
    then = then if options.get("policy") else f"qifsql run {path}"
    return Answer(notes=[f"written: {path}", f"look at it, then: {then}"])
