"""``qifsql blocks``."""

from typing import Annotated

import typer

from qifsql.adversary.options import Joining, Knowledge
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Others, Output, named

EXAMPLES = {
    "Show the ten smallest blocks of pupils with the same school, sex and year of birth.": (
        "qifsql blocks data-samples/school_census_2018.parquet "
        "-q CO_ENTIDADE,TP_SEXO,NU_ANO --smallest 10"
    ),
    "Which blocks say most about who goes to school by public transport?": (
        "qifsql blocks data-samples/school_census_2018.parquet "
        "-q CO_MUNICIPIO_END,TP_SEXO,NU_ANO -s IN_TRANSPORTE_PUBLICO --revealing 5"
    ),
}


def blocks(
    data: Data,
    others: Others,
    adversary: Knowledge,
    joining: Joining,
    output: Output,
    limits: Limits,
    smallest: Annotated[
        int | None, typer.Option("--smallest", min=1, help="Show the N smallest blocks.")
    ] = None,
    largest: Annotated[
        int | None, typer.Option("--largest", min=1, help="Show the N largest blocks.")
    ] = None,
    revealing: Annotated[
        int | None,
        typer.Option(
            "--revealing", min=1, help="Show the N blocks that reveal most to most people."
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=0, help="At most so many blocks (0: all; default 20)."),
    ] = None,
) -> None:
    """Show the blocks (equivalence classes): size, counts of the secret, best guess."""
    from qifsql.commands.blocks.blocks import blocks as run
    from qifsql.commands.blocks.blocks import order_of
    from qifsql.options import show

    show.check(output)
    order, n = order_of(smallest, largest, revealing)
    source = others.source(data)
    adversary["where"] = data.where
    with limits.settings() as settings:
        result = run(
            source,
            **adversary,
            **joining,
            order=order,
            limit=n if limit is None else limit,
            settings=settings,
        )

    runtime.remarks(result.notes, quiet=limits.quiet)

    title = f"qifsql: {order} blocks of {named(source)}"
    show.show(show.Shown(result=result, title=title), output)
