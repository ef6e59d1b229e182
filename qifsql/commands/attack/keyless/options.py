"""Options of ``qifsql attack`` for releases without a person key."""

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from qifsql.errors import InputError
from qifsql.options.groups import ATTACK
from qifsql.options.measuring import Charts
from qifsql.options.texts import names


@dataclass(frozen=True)
class Links:
    """How people are found in other releases where no key tells."""

    link: Annotated[
        list[str] | None,
        typer.Option(
            "--link",
            help='No person key: columns that stay ("sex,birth_date") and that may change '
            '("age:+1; city:stay=0.93; city:stay=?; school:table=moves.csv"). Repeatable.',
            rich_help_panel=ATTACK,
        ),
    ] = None
    presence: Annotated[
        str | None,
        typer.Option(
            "--presence",
            help="With --link: the chance that a person of one release is in the next (1).",
            rich_help_panel=ATTACK,
        ),
    ] = None
    truth: Annotated[
        list[str] | None,
        typer.Option(
            "--truth",
            help="With --link: the key that tells who is who, to compare links with.",
            rich_help_panel=ATTACK,
        ),
    ] = None

    one_to_one: Annotated[
        bool,
        typer.Option(
            "--one-to-one",
            help="With --link: a record of a later release is of one person at most, so that "
            "people compete for it (belief propagation).",
            rich_help_panel=ATTACK,
        ),
    ] = False

    def arguments(self) -> dict[str, Any]:
        """The same as arguments of the functions of the package."""
        arguments = {"truth": names(self.truth), "one_to_one": self.one_to_one}
        return {"link": self.link, "presence": self.presence, **arguments}

    def check(self, charts: Charts) -> None:
        """Refuse charts of links that are not compared with the truth: there is nothing to draw."""
        if self.link is not None and charts.charts is not None and not self.truth:
            raise InputError(
                "the chart of an attack without a key (--link) compares links with the truth; name "
                "the key that tells it (--truth), or leave --charts out"
            )
