"""``qifsql unicity``."""

from typing import Annotated

import typer

from qifsql.data.option import ATTACK, DATA
from qifsql.options import column_roles, runtime
from qifsql.options.groups import Data, Limits, Output
from qifsql.options.texts import names, numbers


def unicity(
    data: Data,
    output: Output,
    limits: Limits,
    key: Annotated[
        str,
        typer.Option(
            "--key",
            help="The pseudonym: all records of a person have the same.",
            rich_help_panel=DATA,
        ),
    ],
    qids: Annotated[
        list[str],
        column_roles.qids(
            "What is known of a record: a,b; coarser, as in time:hour,place:3; NAME=EXPRESSION."
        ),
    ],
    points: Annotated[
        str,
        typer.Option(
            "--points",
            help="How many records of a person are known: 1,2,3,4.",
            rich_help_panel=ATTACK,
        ),
    ] = "1,2,3,4",
    draws: Annotated[
        int,
        typer.Option(
            "--draws",
            help="Draws of a person and records, where not all can be compared.",
            rich_help_panel=ATTACK,
        ),
    ] = 10_000,
) -> None:
    """Of a log with pseudonyms: how many people a few of their own records single out."""
    from qifsql.commands.unicity.unicity import unicity as run
    from qifsql.options import show

    show.check(output)
    dataset = data.dataset()
    with limits.settings() as settings:
        result = run(
            dataset,
            key=key,
            qids=names(qids),
            points=numbers(points),
            draws=draws,
            seed=limits.seed or 0,
            where=data.where,
            settings=settings,
        )
    runtime.remarks(result.notes, quiet=limits.quiet)

    show.show(show.Shown(result=result, title=f"qifsql: unicity of {dataset.name}"), output)
