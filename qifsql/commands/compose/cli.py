"""``qifsql compose``."""

from typing import Annotated

import typer

from qifsql.commands.compose.spec import ComposeOptions
from qifsql.options import groups, runtime
from qifsql.options.groups import Data, Limits, Output


def compose(
    data: Data,
    options: ComposeOptions,
    output: Output,
    limits: Limits,
    more: Annotated[
        list[str] | None, typer.Argument(metavar="[MORE]...", help="The other releases.")
    ] = None,
) -> None:
    """Intersect sanitised releases, FILE and MORE: what they tell together of people in all.

    --where chooses people. Cells may be values or stand for several: * [20,30] 20-29 <30 130**
    {France,Germany} or a node of a hierarchy.
    """
    from qifsql.commands.compose.compose import compose as run
    from qifsql.options import show

    records = options.get("records")
    show.check(output, records=records)
    releases = [data.dataset(), *(data.dataset(file) for file in more or ())]
    options["people"], options["where"] = data.dataset(str(options["people"])), data.where
    with limits.settings() as settings:
        result = run(releases, **options, settings=settings)
    done = [f"{result.written:,} people written to {records}"] if records else []
    runtime.remarks([*result.notes, *done], quiet=limits.quiet)

    title = f"qifsql: composition of {groups.named(releases)}"
    show.show(show.Shown(result=result, title=title), output)
