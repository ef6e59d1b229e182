"""``qifsql compose``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from qifsql.data.option import ATTACK, DATA, DETAILS
from qifsql.options import column_roles, groups, runtime
from qifsql.options.groups import Data, Limits, Output
from qifsql.options.texts import hierarchies, names


@dataclass(frozen=True)
class Knowledge:
    """The people, what is known of them, and the other releases."""

    people: Annotated[
        str,
        typer.Option(
            "--people",
            help="A row per person in all releases, with raw values.",
            rich_help_panel=DATA,
        ),
    ]
    qids: Annotated[
        list[str],
        column_roles.qids(
            "The people's quasi-identifiers, as in attack; where a release has another name: "
            "2:age=AGE. Repeatable."
        ),
    ]
    secret: Annotated[
        list[str],
        column_roles.secret(
            "The secret, a column of every release; another name there: 2:disease=CONDITION."
        ),
    ]
    more: Annotated[
        list[str] | None,
        typer.Argument(metavar="[MORE]...", help="The other releases."),
    ] = None
    key: Annotated[
        list[str] | None,
        typer.Option(
            "--key",
            help="Only people whose key is in every release: one name, or that of the people and "
            "one per release.",
            rich_help_panel=DATA,
        ),
    ] = None


@dataclass(frozen=True)
class Reading:
    """How cells are read."""

    hierarchy: Annotated[
        list[str] | None,
        column_roles.hierarchy(
            "COLUMN=FILE: the hierarchy of a quasi-identifier (value;node;...;*). Repeatable."
        ),
    ] = None
    plain: column_roles.Plain = None
    suppressed: Annotated[
        str,
        typer.Option(
            "--suppressed",
            help="Records of which every cell is *: candidates (may be anybody's) or ignored.",
            rich_help_panel=ATTACK,
        ),
    ] = "candidates"
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Refuse people in no class or several.", rich_help_panel=ATTACK
        ),
    ] = False


@dataclass(frozen=True)
class Detail:
    """What is told besides."""

    truth: Annotated[
        str | None,
        typer.Option(
            "--truth",
            help="The people's column of their true secret: how often is she right?",
            rich_help_panel=DETAILS,
        ),
    ] = None
    confidence: Annotated[
        list[str] | None,
        typer.Option(
            "--confidence",
            help="Levels of the curve: 0.25,1/3 (default: 0.05 to 1).",
            rich_help_panel=DETAILS,
        ),
    ] = None
    progressive: Annotated[
        bool,
        typer.Option(
            "--progressive",
            help="A row for the first release, the first two, and so on.",
            rich_help_panel=DETAILS,
        ),
    ] = False
    records: Annotated[
        Path | None,
        typer.Option(
            "--records",
            help="Write one row per person: .parquet or .csv.",
            rich_help_panel=DETAILS,
        ),
    ] = None


def compose(
    data: Data,
    background: Knowledge,
    reading: Reading,
    extras: Detail,
    output: Output,
    limits: Limits,
) -> None:
    """Intersect sanitised releases, FILE and MORE: what they tell together of people in all.

    --where chooses people. Cells may be values or stand for several: * [20,30] 20-29 <30 130**
    {France,Germany} or a node of a hierarchy.
    """
    from qifsql.commands.compose.compose import compose as run
    from qifsql.options import show

    show.check(output, records=extras.records)
    releases = [data.dataset(), *(data.dataset(file) for file in background.more or ())]
    qids = names(background.qids)
    with limits.settings() as settings:
        result = run(
            releases,
            people=data.dataset(background.people),
            qids=qids,
            secret=names(background.secret),
            key=names(background.key),
            truth=extras.truth,
            where=data.where,
            hierarchies=hierarchies(reading.hierarchy or (), qids),
            plain=names(reading.plain),
            suppressed=reading.suppressed,
            strict=reading.strict,
            confidence=names(extras.confidence),
            progressive=extras.progressive,
            records=extras.records,
            settings=settings,
        )
    done = [f"{result.written:,} people written to {extras.records}"] if extras.records else []
    runtime.remarks([*result.notes, *done], quiet=limits.quiet)

    title = f"qifsql: composition of {groups.named(releases)}"
    show.show(show.Shown(result=result, title=title), output)
