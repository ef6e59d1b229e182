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
    "Print what a warehouse runs to find the blocks that break a policy.": (
        'printf \'[[rule]]\\nmodel = "crs"\\nmeasure = "k"\\nat_least = 5\\n\' > policy.toml && '
        "qifsql sql data-samples/school_census_2018.parquet --policy policy.toml -q "
        "TP_SEXO,NU_ANO --dialect postgres --table school.census"
    ),
}


def sql(
    context: typer.Context,
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
    dialect: Annotated[
        str,
        typer.Option(
            "--dialect",
            help="duckdb or spark; with --policy also postgres, snowflake, bigquery, redshift or "
            "trino.",
        ),
    ] = "duckdb",
    policy: Annotated[
        Path | None,
        typer.Option("--policy", help="Print a SELECT per rule, whose rows break it."),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            "--table", help="--policy: the table to read, schema.name (default: FILE's name)."
        ),
    ] = None,
) -> Answer:
    """Print the SQL that gives the same numbers in a DuckDB prompt, or in Spark; run nothing.

    With --policy and no MODEL, print what a warehouse runs to find what breaks a policy of
    qifsql check: a SELECT per rule, whose rows are the blocks or groups that break it, or the
    number. Of FILE only the names and types of columns are read: an export of no rows will do.
    """
    from qifsql.commands.sql.sql import sql as run

    if policy is not None:
        for name in ("null", "absent"):  # a default does not win over the policy
            if getattr(context.get_parameter_source(name), "name", "") == "DEFAULT":
                adversary.pop(name, None)  # type: ignore[misc]
    text = run(
        model,
        auxiliary.source(data),
        **adversary,
        policy=policy,
        table=table,
        step=step,
        simple=simple,
        result=result,
        language=dialect,
        settings=settings,
    )
    return Answer(text=text)
