"""``qifsql sweep``."""

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from qifsql.errors import InputError
from qifsql.options import runtime
from qifsql.options.details import Charts
from qifsql.options.groups import (
    ATTACK,
    DETAILS,
    RUN,
    Adversary,
    Data,
    Limits,
    Others,
    Output,
    named,
)

SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True)
class Subsets:
    """Which subsets, and what is asked about them."""

    sizes: Annotated[
        str | None,
        typer.Option(
            "--sizes",
            help="How many quasi-identifiers: 3, or 1-4 (default: every number).",
            rich_help_panel=ATTACK,
        ),
    ] = None
    subset: Annotated[
        list[str] | None,
        typer.Option(
            "--subset", help="Only this one: day+month+school. Repeatable.", rich_help_panel=ATTACK
        ),
    ] = None
    releases: Annotated[
        bool,
        typer.Option(
            "--releases",
            help="Of a collection: the focal dataset with every set of auxiliary ones; which "
            "release made it worse.",
            rich_help_panel=ATTACK,
        ),
    ] = False
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            min=0,
            max=1,
            help="Show the smallest subsets whose success reaches that, the largest below it.",
            rich_help_panel=DETAILS,
        ),
    ] = None
    search: Annotated[
        bool,
        typer.Option(
            "--search",
            help="Find only these, without visiting every subset; for many quasi-identifiers.",
            rich_help_panel=ATTACK,
        ),
    ] = False
    histogram: Annotated[
        bool,
        typer.Option(
            "--histogram", help="Count people by success in percent.", rich_help_panel=DETAILS
        ),
    ] = False

    def arguments(self) -> dict[str, Any]:
        """The same as arguments of the functions of the package."""
        return {
            "sizes": self.sizes,
            "subsets": tuple(self.subset or ()),
            "releases": self.releases,
            "threshold": self.threshold,
            "search": self.search,
            "histogram": self.histogram,
        }


@dataclass(frozen=True)
class Work:
    """Where the work is kept, and how long it may take."""

    workspace: Annotated[
        Path | None,
        typer.Option(
            "--workspace",
            help="The file that keeps what is done, to go on after any end; it stays when all is "
            "done (default: FILE.sweep here, removed when all is done).",
            rich_help_panel=RUN,
        ),
    ] = None
    restart: Annotated[
        bool,
        typer.Option("--restart", help="Forget what the workspace holds.", rich_help_panel=RUN),
    ] = False
    time_budget: Annotated[
        str | None,
        typer.Option(
            "--time-budget",
            help="Stop after 90s, 10m or 2h and show what is complete; again to go on.",
            rich_help_panel=RUN,
        ),
    ] = None
    sample: Annotated[
        float | None,
        typer.Option(
            "--sample",
            help="Estimate from about this share of the blocks, such as 0.01 (more of large ones), "
            "with errors at 95 % confidence.",
            rich_help_panel=ATTACK,
        ),
    ] = None
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Show the plan with its estimated cost, and what it did cost.",
            rich_help_panel=DETAILS,
        ),
    ] = False

    def arguments(self) -> dict[str, Any]:
        """The same as arguments of the functions of the package."""
        return {
            "restart": self.restart,
            "time_budget": _seconds(self.time_budget),
            "sample": self.sample,
            "explain": self.explain,
        }


def sweep(
    data: Data,
    others: Others,
    adversary: Adversary,
    subsets: Subsets,
    work: Work,
    charts: Charts,
    output: Output,
    limits: Limits,
) -> None:
    """Attack with every subset of the quasi-identifiers: the best, the riskiest, what to drop."""
    from qifsql.commands.sweep import view
    from qifsql.commands.sweep.sweep import sweep as run
    from qifsql.engine.temporary import remove
    from qifsql.options import show
    from qifsql.results.storage import check_place

    show.check(output)
    charts.check()
    source = others.source(data)
    name = named(source)
    if output.out is not None:
        check_place(output.out, tuple(path for dataset in source for path in dataset.paths))
    workspace = work.workspace or Path(re.sub(r"[^\w.@-]+", "_", name)[:100] + ".sweep")
    with limits.settings() as settings:
        result = run(
            source,
            **others.arguments(),
            **adversary.arguments(),
            **subsets.arguments() | charts.histogram(subsets.histogram),
            **work.arguments(),
            where=data.where,
            workspace=workspace,
            told=lambda line: runtime.remarks([line], quiet=limits.quiet),
            settings=settings,
        )
    runtime.remarks(result.notes, quiet=limits.quiet)
    charts.draw("sweep", result, quiet=limits.quiet)

    wishes = {"histogram": subsets.histogram, "borders": subsets.threshold is not None}
    wishes |= {"plan": work.explain}
    shown = show.Shown(
        result=result,
        title=f"qifsql: every subset in {name}",
        aside=tuple(name for name in result.details if not wishes.get(name)),
        view=partial(view.parts, explain=work.explain),
    )
    done = work.workspace is None and result.complete
    try:
        show.show(shown, output)
    except (BrokenPipeError, SystemExit):  # the reader has seen enough
        if done:
            remove(workspace)
        raise
    if done:
        remove(workspace)  # only now: the result is where it was asked for


def _seconds(text: str | None) -> float | None:
    """A duration: ``90``, ``90s``, ``10m``, ``1.5h``."""
    if text is None:
        return None
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smh]?)\s*", text)
    if not match or not float(match[1]):
        raise InputError("a --time-budget is written 90s, 10m or 2h, above 0")
    return float(match[1]) * SECONDS[match[2]]
