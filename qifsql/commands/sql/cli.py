"""``qifsql sql``."""

from typing import Annotated

import typer

from qifsql.options import groups, texts
from qifsql.options.groups import (
    Adversary,
    Data,
    Limits,
    Others,
)
from qifsql.options.measuring import Gains


def sql(
    model: groups.Model,
    data: Data,
    others: Others,
    adversary: Adversary,
    gains: Gains,
    limits: Limits,
    target: groups.Targets = None,
    member: groups.Member = None,
    step: Annotated[
        str | None, typer.Option("--step", help="Stop after this step and show its rows.")
    ] = None,
    dialect: Annotated[str, typer.Option("--dialect", help="duckdb.")] = "duckdb",
) -> None:
    """Print the SQL that gives the same numbers in a DuckDB prompt. Nothing is attacked."""
    from qifsql.commands.sql.sql import sql as run
    from qifsql.options import show

    options = adversary.arguments() | gains.arguments() | others.arguments()
    target_values = texts.targets(target, options["qids"])
    with limits.settings() as settings:
        text = run(
            model,
            others.source(data),
            **options,
            member=texts.single(member),
            where=data.where,
            target=target_values,
            step=step,
            language=dialect,
            settings=settings,
        )
    show.write(text)
