"""``qifsql anonymise``."""

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from qifsql.data.option import DETAILS
from qifsql.options import column_roles, runtime
from qifsql.options.groups import Data, Limits
from qifsql.options.measuring import Out, Summary
from qifsql.options.texts import names

WISHES = "Limits that every class keeps"
Method = Annotated[
    str,
    typer.Option(
        "--method",
        help="mondrian (cut at medians) or mdav (microaggregation in groups of k).",
        rich_help_panel=WISHES,
    ),
]


@dataclass(frozen=True)
class Limited:
    """What every class keeps."""

    k: Annotated[int, typer.Option("--k", help="Records, at least.", rich_help_panel=WISHES)]
    l: Annotated[  # noqa: E741 - it is called l
        int | None,
        typer.Option(
            "--l", help="Different values of each secret, at least.", rich_help_panel=WISHES
        ),
    ] = None
    l_entropy: Annotated[
        str | None,
        typer.Option(
            "--l-entropy",
            help="Entropy l-diversity: exp of the entropy of each secret, at least.",
            rich_help_panel=WISHES,
        ),
    ] = None
    l_recursive: Annotated[
        str | None,
        typer.Option(
            "--l-recursive",
            help="Recursive (c,l)-diversity as C,L: the most frequent value is rarer than c times "
            "all from the l-th on.",
            rich_help_panel=WISHES,
        ),
    ] = None
    t: Annotated[
        str | None,
        typer.Option(
            "--t",
            help="t-closeness, 0 to 1: distance of each secret to the whole release, at most.",
            rich_help_panel=WISHES,
        ),
    ] = None
    t_ordered: Annotated[
        str | None,
        typer.Option(
            "--t-ordered",
            help="The same with the ordered distance, for numbers, dates and times.",
            rich_help_panel=WISHES,
        ),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """The same as arguments of the functions of the package."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True)
class Shape:
    """What the release looks like."""

    cells: Annotated[
        str,
        typer.Option(
            "--cells",
            help="interval (and sets: what contains every member) or centroid (mean or median).",
            rich_help_panel=DETAILS,
        ),
    ] = "interval"
    drop: Annotated[
        list[str] | None,
        typer.Option("--drop", help="Columns to leave out. Repeatable.", rich_help_panel=DETAILS),
    ] = None
    suppress: Annotated[
        bool,
        typer.Option(
            "--suppress",
            help="mdav: replace records of classes that break l or t by *.",
            rich_help_panel=DETAILS,
        ),
    ] = False
    within: Annotated[
        int,
        typer.Option(
            "--within",
            help="mdav: so many different people at once; more are first cut at medians "
            "(0: 1,000).",
            rich_help_panel=DETAILS,
        ),
    ] = 0

    def arguments(self) -> dict[str, Any]:
        """The same as arguments of the functions of the package."""
        return {
            "cells": self.cells,
            "drop": names(self.drop),
            "suppress": self.suppress,
            "within": self.within,
        }


def anonymise(
    data: Data,
    limits: Limits,
    out: Out,
    summary: Summary,
    method: Method,
    wishes: Limited,
    shape: Shape,
    qids: Annotated[
        list[str],
        column_roles.qids("Quasi-identifiers to generalise, as in attack."),
    ],
    secret: Annotated[
        list[str] | None,
        column_roles.secret("The secrets that l and t are about, as in attack."),
    ] = None,
) -> None:
    """Write a release whose quasi-identifiers are generalised, to attack and to compare."""
    from qifsql.commands.anonymise.anonymise import anonymise as run
    from qifsql.options import show

    dataset = data.dataset()
    output = summary.output(out, *dataset.paths)
    with limits.settings() as settings:
        result = run(
            dataset,
            out,
            method=method,
            qids=names(qids),
            secret=names(secret),
            where=data.where,
            settings=settings,
            **wishes.arguments(),
            **shape.arguments(),
        )
    done = f"{result.frame['records'][0]:,} records written to {out}"
    runtime.remarks([*result.notes, done], quiet=limits.quiet)

    show.show(show.Shown(result=result, title=f"qifsql: {dataset.name}, anonymised"), output)
