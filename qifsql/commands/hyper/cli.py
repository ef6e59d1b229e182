"""``qifsql hyper``."""

from typing import Annotated, Any, cast

import typer

from qifsql.adversary.options import Belief, Joining, Knowledge
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Others, Output, named

EXAMPLES = {
    "Show the channel from gender to language.": (
        "qifsql hyper data-samples/popets_table_2a.csv -q language -s gender --show channel"
    ),
    "Show the hyper-distribution: each posterior with its probability.": (
        "qifsql hyper data-samples/popets_table_2a.csv -q language,gender -s age --show hyper"
    ),
}


def hyper(
    data: Data,
    others: Others,
    adversary: Knowledge,
    joining: Joining,
    belief: Belief,
    output: Output,
    limits: Limits,
    show_: Annotated[
        str, typer.Option("--show", help="prior, cooccurrence, joint, channel or hyper.")
    ] = "hyper",
) -> None:
    """Show the objects of information flow: prior, joint, channel, hyper-distribution."""
    from qifsql.commands.hyper.hyper import hyper as run
    from qifsql.options import show
    from qifsql.results.storage import STREAMED

    show.check(output)
    source = others.source(data)
    large = output.out if output.out and output.out.suffix.casefold() in STREAMED else None
    adversary["where"] = data.where
    with limits.settings() as settings:
        result = run(
            source,
            **adversary,
            **joining,
            **belief,
            show=cast("Any", show_),
            out=large,
            settings=settings,
        )
    runtime.remarks(result.notes, quiet=limits.quiet)
    if large is not None:
        runtime.remarks([f"{result.written:,} rows written to {large}"], quiet=limits.quiet)
        return

    title = f"qifsql: {show_} of {named(source)}"
    show.show(show.Shown(result=result, title=title), output)
