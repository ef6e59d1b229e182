"""``qifsql wp29``: the three questions of the Article 29 Working Party."""

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from qifsql.data.option import ATTACK, DATA
from qifsql.options import column_roles, groups, runtime, texts
from qifsql.options.groups import Data, Limits, Output
from qifsql.options.texts import names


@dataclass(frozen=True)
class Questions:
    """What somebody may know and want, and from which chance on the answer is yes."""

    qids: Annotated[
        list[str] | None,
        column_roles.qids(
            "What somebody may know: quasi-identifiers, as in attack; with a register as in "
            'link, "1:zip,2:plz". Repeatable.'
        ),
    ] = None
    secret: Annotated[
        list[str] | None,
        column_roles.secret(
            "Inference: a column or NAME=EXPRESSION that nobody should know. Repeatable."
        ),
    ] = None
    threshold: Annotated[
        str | None,
        typer.Option(
            "--threshold",
            help="Answer yes or no: yes where somebody's chance is at least this, such as 0.2.",
            rich_help_panel=ATTACK,
        ),
    ] = None
    null: groups.Null = "distinct"

    def arguments(self) -> dict[str, Any]:
        """The same as arguments of the function."""
        return {
            "qids": names(self.qids),
            "secret": names(self.secret),
            "threshold": self.threshold,
            "null": self.null,
        }


@dataclass(frozen=True)
class Linkable:
    """What records may be linked with: a register, or each other by a key."""

    register: Annotated[
        str | None,
        typer.Option(
            "--register",
            help="Linkability: a register of names, or another release, as in link.",
            rich_help_panel=DATA,
        ),
    ] = None
    register_where: column_roles.RegisterWhere = None
    truth: column_roles.Truth = None
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            help="Linkability: the pseudonym that all records of a person share, as in unicity.",
            rich_help_panel=DATA,
        ),
    ] = None
    points: Annotated[
        str | None,
        typer.Option(
            "--points",
            help="With a key: how many records of a person are known (default: 1,2,3,4).",
            rich_help_panel=ATTACK,
        ),
    ] = None


def wp29(
    data: Data,
    questions: Questions,
    linkable: Linkable,
    output: Output,
    limits: Limits,
) -> None:
    """Singling out, linkability, inference: the three questions of EU Opinion 05/2014 (WP 216)."""
    from qifsql.commands.wp29.wp29 import wp29 as run
    from qifsql.options import show

    show.check(output)
    dataset, register = data.dataset(), linkable.register
    with limits.settings() as settings:
        result = run(
            dataset,
            **questions.arguments(),
            register=None if register is None else data.dataset(register),
            register_where=linkable.register_where,
            truth=names(linkable.truth),
            key=linkable.key,
            points=None if linkable.points is None else texts.numbers(linkable.points),
            seed=limits.seed or 0,
            where=data.where,
            settings=settings,
        )
    runtime.remarks(result.notes, quiet=limits.quiet)

    title = f"qifsql: three questions about {dataset.name}"
    show.show(show.Shown(result=result, title=title, aside=result.details), output)
