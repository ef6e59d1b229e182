"""``qifsql describe``."""

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
    from qifsql.commands.describe.describe import describe as run
    from qifsql.options import show
    from qifsql.presentation.parts import Part
    from qifsql.results.result import Result

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
    listed = result.values if values else result.frame

    def render(*_: object) -> list[Part]:
        from qifsql.commands.describe import view

        return view.description(result.frame, result.values if values else None)

    show.show(
        show.Shown(
            result=Result(frame=listed, origin=result.origin),
            title=f"qifsql: {dataset.name}",
            view=render,
        ),
        output,
    )
