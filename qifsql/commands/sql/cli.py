"""``qifsql sql``."""

from typing import Annotated

import typer

from qifsql.commands.sql.spec import SqlOptions
from qifsql.options import groups
from qifsql.options.groups import Data, Limits, Others


def sql(
    model: groups.Model,
    data: Data,
    others: Others,
    adversary: SqlOptions,
    limits: Limits,
    step: Annotated[
        str | None, typer.Option("--step", help="Stop after this step and show its rows.")
    ] = None,
    dialect: Annotated[str, typer.Option("--dialect", help="duckdb.")] = "duckdb",
) -> None:
    """Print the SQL that gives the same numbers in a DuckDB prompt. Nothing is attacked."""
    from qifsql.commands.sql.sql import sql as run
    from qifsql.options import show

    adversary["where"] = data.where
    with limits.settings() as settings:
        text = run(
            model,
            others.source(data),
            **adversary,
            step=step,
            language=dialect,
            settings=settings,
        )
    show.write(text)
