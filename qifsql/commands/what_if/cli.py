"""``qifsql what-if``."""

from dataclasses import dataclass
from typing import Annotated

import typer

from qifsql.data.option import ATTACK
from qifsql.options import column_roles, runtime
from qifsql.options.column_roles import Hierarchies, Secrets
from qifsql.options.groups import Data, Limits, Output
from qifsql.options.measuring import Charts
from qifsql.options.texts import hierarchies, names

POLICY_BROKEN = 4


@dataclass(frozen=True)
class Changes:
    """What would be changed, and how far."""

    qids: Annotated[
        list[str] | None,
        column_roles.qids("Quasi-identifiers, as in attack. Repeatable."),
    ] = None
    secret: Secrets = None
    change: Annotated[
        list[str] | None,
        typer.Option(
            "--change",
            "-c",
            help="drop=zip, age:5, date:month, zip:3, age:@2 (level of its hierarchy), "
            "top(age)=90, bottom(age)=18, age=EXPRESSION, sample=0.1. Repeatable, one each time.",
            rich_help_panel=ATTACK,
        ),
    ] = None
    until: Annotated[
        list[str] | None,
        typer.Option(
            "--until",
            help="Find the smallest change that keeps a bound: crs<=0.1, cas(SECRET)<=0.8, "
            "crs.deterministic<=0.05, k>=5, l>=2. Repeatable. Named changes are then the only "
            "candidates.",
            rich_help_panel=ATTACK,
        ),
    ] = None
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy",
            help="The same for the rules of a policy, as in check.",
            rich_help_panel=ATTACK,
        ),
    ] = None
    hierarchy: Hierarchies = None


def what_if(data: Data, request: Changes, charts: Charts, output: Output, limits: Limits) -> None:
    """The risk before and after changes, each alone and all together, without writing data.

    With --until or --policy: the smallest change that keeps all bounds, fewest quasi-identifiers
    first, then fewest steps. Exit code 4 when none does.
    """
    from qifsql.commands.what_if.what_if import what_if as run
    from qifsql.options import show

    show.check(output)
    charts.check()
    dataset = data.dataset()
    qids = names(request.qids)
    with limits.settings() as settings:
        result = run(
            dataset,
            qids=qids,
            secret=names(request.secret),
            change=tuple(request.change or ()),
            until=tuple(request.until or ()),
            policy=request.policy,
            where=data.where,
            hierarchies=hierarchies(request.hierarchy or (), qids),
            settings=settings,
        )
    runtime.remarks(result.notes, quiet=limits.quiet)
    charts.draw("what_if", result, quiet=limits.quiet)

    title = f"qifsql: {dataset.name}, what if"
    show.show(show.Shown(result=result, title=title), output)
    if result.met is False:
        raise typer.Exit(POLICY_BROKEN)
