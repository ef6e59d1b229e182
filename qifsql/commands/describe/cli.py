"""``qifsql describe``."""

from dataclasses import replace
from typing import Annotated

import typer

from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Output
from qifsql.options.texts import names


def describe(
    data: Data,
    output: Output,
    limits: Limits,
    columns: Annotated[
        list[str] | None, typer.Option("--columns", help="Only these columns.")
    ] = None,
    values: Annotated[
        int,
        typer.Option(
            "--values",
            min=0,
            help="List so many of the most frequent values of each column, of 10 records or more.",
        ),
    ] = 0,
    rare: Annotated[
        bool, typer.Option("--rare", help="With --values: values of fewer records, too.")
    ] = False,
) -> None:
    """Describe the columns: missing, distinct, entropy, who is singled out, suggested roles."""
    from qifsql.commands.describe import view
    from qifsql.commands.describe.describe import describe as run
    from qifsql.options import show

    show.check(output)
    dataset = data.dataset()
    with limits.settings() as settings:
        result = run(
            dataset,
            columns=names(columns),
            where=data.where,
            values=values,
            rare=rare,
            settings=settings,
        )
    runtime.remarks(result.notes, quiet=limits.quiet)
    shown = show.Shown(result=result, title=f"qifsql: {dataset.name}")
    if values:  # they are the table of results; people see both
        listed = replace(result, frame=result.details["values"], details={})
        both = (result.frame, result.details, result.spec)
        shown = replace(shown, result=listed, view=lambda *_: view.parts(*both))
    show.show(shown, output)
