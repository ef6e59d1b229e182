"""``qifsql hyper``."""

from typing import Annotated

import typer

from qifsql.options import groups, runtime
from qifsql.options.groups import (
    Adversary,
    Data,
    Limits,
    Others,
    Output,
    named,
)


def hyper(
    data: Data,
    others: Others,
    adversary: Adversary,
    output: Output,
    limits: Limits,
    show_: Annotated[
        str,
        typer.Option("--show", help="prior, cooccurrence, joint, channel or hyper."),
    ] = "hyper",
    prior: groups.Prior = None,
) -> None:
    """Show the objects of information flow: prior, co-occurrences, joint, channel, hyper."""
    from qifsql.commands.hyper.hyper import hyper as run
    from qifsql.options import show
    from qifsql.results.storage import STREAMED

    show.check(output)
    source = others.source(data)
    large = output.out if output.out and output.out.suffix.casefold() in STREAMED else None
    options = adversary.arguments() | {"show": show_, "prior": prior} | others.arguments()
    with limits.settings() as settings:
        result = run(source, **options, where=data.where, out=large, settings=settings)
    runtime.remarks(result.notes, quiet=limits.quiet)
    if large is not None:
        runtime.remarks([f"{result.written:,} rows written to {large}"], quiet=limits.quiet)
        return

    title = f"qifsql: {show_} of {named(source)}"
    show.show(show.Shown(result=result, title=title), output)
