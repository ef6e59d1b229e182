"""``qifsql what-if``."""

import typer

from qifsql.commands.what_if.spec import WhatIfOptions
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Output
from qifsql.options.measuring import Charts

POLICY_BROKEN = 4


def what_if(
    data: Data, options: WhatIfOptions, charts: Charts, output: Output, limits: Limits
) -> None:
    """The risk before and after changes, each alone and all together, without writing data.

    With --until or --policy: the smallest change that keeps all bounds, fewest quasi-identifiers
    first, then fewest steps. Exit code 4 when none does.
    """
    from qifsql.commands.what_if.what_if import what_if as run
    from qifsql.options import show

    show.check(output)
    charts.check()
    dataset = data.dataset()
    with limits.settings() as settings:
        result = run(dataset, **options, where=data.where, settings=settings)
    runtime.remarks(result.notes, quiet=limits.quiet)
    charts.draw("what_if", result, quiet=limits.quiet)

    title = f"qifsql: {dataset.name}, what if"
    show.show(show.Shown(result=result, title=title), output)
    if result.met is False:
        raise typer.Exit(POLICY_BROKEN)
