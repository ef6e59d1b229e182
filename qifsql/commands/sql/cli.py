"""``qifsql sql``."""

from pathlib import Path
from typing import Annotated

import typer

from qifsql.commands.sql.spec import SqlOptions
from qifsql.engine.settings import Settings
from qifsql.options import shared_options
from qifsql.options.runner import Answer
from qifsql.options.shared_options import Auxiliary, Data

EXAMPLES = {
    "Print the SQL of an attack.": (
        "qifsql sql crs data-samples/school_census_2018.parquet -q TP_SEXO,NU_ANO"
    ),
    "Print one step of it.": (
        "qifsql sql cas data-samples/school_census_2018.parquet -q TP_SEXO,NU_ANO -s "
        "TP_COR_RACA --step microdata"
    ),
    "Print the few lines that a statistician would write.": (
        "qifsql sql crs,cas data-samples/school_census_2018.parquet -q TP_SEXO,NU_ANO -s "
        "TP_COR_RACA --simple"
    ),
}


def sql(
    *,
    model: shared_options.Model = "crs",
    data: Data,
    auxiliary: Auxiliary,
    adversary: SqlOptions,
    settings: Settings,
    step: Annotated[
        str | None, typer.Option("--step", help="Stop after this step and show its rows.")
    ] = None,
    simple: Annotated[
        bool,
        typer.Option(
            "--simple", help="Print the SQL that one would write by hand (crs, cas, irs, ias)."
        ),
    ] = False,
    result: Annotated[
        Path | None,
        typer.Option("--result", help="--simple: stored attack, for the numbers to expect."),
    ] = None,
    dialect: Annotated[str, typer.Option("--dialect", help="duckdb or spark.")] = "duckdb",
) -> Answer:
    """Print the SQL that gives the same numbers in a DuckDB prompt, or in Spark; run nothing."""
    from qifsql.commands.sql.sql import sql as run

    text = run(
        model,
        auxiliary.source(data),
        **adversary,
        step=step,
        simple=simple,
        result=result,
        language=dialect,
        settings=settings,
    )
    return Answer(text=text)
