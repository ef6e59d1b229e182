"""``qifsql compare`` and ``qifsql what-if``: releases beside one another."""

from dataclasses import dataclass
from typing import Annotated

import typer

from qifsql.cli import options, roles, running
from qifsql.cli.composing import hierarchies
from qifsql.cli.options import Data, Limits, Output
from qifsql.cli.typed import names
from qifsql.cli.wishes import Charts

POLICY_BROKEN = 4
Hierarchies = Annotated[
    list[str] | None,
    roles.hierarchy(
        "COLUMN=FILE: the hierarchy of a quasi-identifier (value;node;...;*). Repeatable."
    ),
]
Secrets = Annotated[
    list[str] | None,
    roles.secret("Secret (sensitive attribute): a column or NAME=EXPRESSION. Repeatable."),
]


@dataclass(frozen=True)
class Beside:
    """What is held against what."""

    sanitised: Annotated[
        list[str], typer.Argument(metavar="SANITISED...", help="The sanitised releases of FILE.")
    ]
    qids: Annotated[
        list[str],
        roles.qids(
            "The original's quasi-identifiers, as in attack; where a release (the first is "
            "file 2) has another name: 2:age=AGE. Repeatable."
        ),
    ]
    secret: Secrets = None
    hierarchy: Hierarchies = None
    plain: roles.Plain = None


def compare(data: Data, beside: Beside, charts: Charts, output: Output, limits: Limits) -> None:
    """Attack an original FILE and sanitised releases of it as they are; see what these still tell.

    A row per release and secret: k, l, success at re-identification (CRS) and inference (CAS)
    before and after, and what was lost. Cells may be values or stand for several: * [20,30] 20-29
    <30 130** {France,Germany} or a node of a hierarchy.
    """
    from qifsql.cli import show
    from qifsql.comparison.compare import compare as run
    from qifsql.report import comparisons

    show.check(output)
    charts.check()
    original = data.dataset()
    releases = [data.dataset(file) for file in beside.sanitised]
    qids = names(beside.qids)
    with limits.settings() as settings:
        result = run(
            original,
            releases,
            qids=qids,
            secret=names(beside.secret),
            where=data.where,
            hierarchies=hierarchies(beside.hierarchy or (), qids),
            plain=names(beside.plain),
            settings=settings,
        )
    running.remarks(result.notes, quiet=limits.quiet)
    charts.draw("of_comparison", result, quiet=limits.quiet)

    title = f"qifsql: {original.name} beside {options.named(releases)}"
    details = {"columns": result.columns}
    show.show(
        show.Shown(
            result.frame, result.origin, comparisons.comparison, title, details, (), result.notes
        ),
        output,
    )


@dataclass(frozen=True)
class Wanted:
    """What would be changed, and how far."""

    qids: Annotated[
        list[str] | None,
        roles.qids("Quasi-identifiers, as in attack. Repeatable."),
    ] = None
    secret: Secrets = None
    change: Annotated[
        list[str] | None,
        typer.Option(
            "--change",
            "-c",
            help="drop=zip, age:5, date:month, zip:3, age:@2 (level of its hierarchy), "
            "top(age)=90, bottom(age)=18, age=EXPRESSION, sample=0.1. Repeatable, one each time.",
            rich_help_panel=options.ATTACK,
        ),
    ] = None
    until: Annotated[
        list[str] | None,
        typer.Option(
            "--until",
            help="Find the smallest change that keeps a bound: crs<=0.1, cas(SECRET)<=0.8, "
            "crs.deterministic<=0.05, k>=5, l>=2. Repeatable. Named changes are then the only "
            "candidates.",
            rich_help_panel=options.ATTACK,
        ),
    ] = None
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy",
            help="The same for the rules of a policy, as in check.",
            rich_help_panel=options.ATTACK,
        ),
    ] = None
    hierarchy: Hierarchies = None


def what_if(data: Data, wanted: Wanted, charts: Charts, output: Output, limits: Limits) -> None:
    """The risk before and after changes, each alone and all together, without writing data.

    With --until or --policy: the smallest change that keeps all bounds, fewest quasi-identifiers
    first, then fewest steps. Exit code 4 when none does.
    """
    from qifsql.cli import show
    from qifsql.comparison.what_if import what_if as run
    from qifsql.report import comparisons

    show.check(output)
    charts.check()
    dataset = data.dataset()
    qids = names(wanted.qids)
    with limits.settings() as settings:
        result = run(
            dataset,
            qids=qids,
            secret=names(wanted.secret),
            change=tuple(wanted.change or ()),
            until=tuple(wanted.until or ()),
            policy=wanted.policy,
            where=data.where,
            hierarchies=hierarchies(wanted.hierarchy or (), qids),
            settings=settings,
        )
    running.remarks(result.notes, quiet=limits.quiet)
    charts.draw("of_comparison", result, quiet=limits.quiet)

    title = f"qifsql: {dataset.name}, what if"
    show.show(
        show.Shown(result.frame, result.origin, comparisons.what_if, title, {}, (), result.notes),
        output,
    )
    if result.met is False:
        raise typer.Exit(POLICY_BROKEN)
