"""``qifsql dp``."""

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from qifsql.data.option import ATTACK, DATA
from qifsql.options import column_roles, runtime
from qifsql.options.groups import Data, Limits, Output
from qifsql.options.measuring import Charts


@dataclass(frozen=True)
class Noise:
    """What is counted, of whom, and with how much noise."""

    useful: Annotated[
        str,
        typer.Option(
            "--useful",
            help="The useful attribute, whose records are counted: a column or NAME=EXPRESSION.",
            rich_help_panel=ATTACK,
        ),
    ]
    predicate: Annotated[
        list[str],
        typer.Option(
            "--predicate",
            help='What is counted: a SQL condition over the useful attribute, "a = 3". Repeatable.',
            rich_help_panel=ATTACK,
        ),
    ]
    secret: Annotated[
        str,
        column_roles.secret("The secret of the record that is added: a column or NAME=EXPRESSION."),
    ]
    epsilon: Annotated[
        list[str],
        typer.Option(
            "--epsilon",
            help='How much noise: numbers and logarithms, "ln 3, 1, 2.5, ln 10^5". Repeatable.',
            rich_help_panel=ATTACK,
        ),
    ]
    mechanism: Annotated[
        str,
        typer.Option(
            "--mechanism",
            help="Where noise is: oblivious (on the count), local (geometric, on each record), "
            "randomised_response (on each record); all for these three.",
            rich_help_panel=ATTACK,
        ),
    ] = "oblivious,local"
    order: Annotated[
        list[str] | None,
        typer.Option(
            "--order",
            help="The values of the useful attribute in their order: low,medium,high (one CSV "
            "row). Numbers and dates have their own.",
            rich_help_panel=ATTACK,
        ),
    ] = None
    domain: Annotated[
        str,
        typer.Option(
            "--domain",
            help="Values that noise moves between: observed (those in the data), or whole (all "
            "whole numbers from the least to the greatest).",
            rich_help_panel=ATTACK,
        ),
    ] = "observed"
    counts: Annotated[
        int,
        typer.Option(
            "--counts",
            help="How often each predicate is asked, with new noise each time.",
            rich_help_panel=ATTACK,
        ),
    ] = 1
    budget: Annotated[
        str,
        typer.Option(
            "--budget",
            help="Of several answers: split (epsilon is for all together) or sum (for each).",
            rich_help_panel=ATTACK,
        ),
    ] = "split"
    delta: Annotated[
        float,
        typer.Option(
            "--delta",
            help="Tell the semantic privacy of (epsilon, delta) instead of (epsilon, 0).",
            rich_help_panel=ATTACK,
        ),
    ] = 0.0
    null: Annotated[
        str,
        typer.Option(
            "--null",
            help="Missing values: distinct (a value of their own) or drop (leave the record out).",
            rich_help_panel=DATA,
        ),
    ] = "distinct"

    def arguments(self) -> dict[str, Any]:
        """The same as arguments of the functions of the package."""
        from qifsql.commands.dp.bind import listed_in
        from qifsql.commands.dp.mechanisms import MECHANISMS

        return {
            "useful": self.useful,
            "predicate": self.predicate,
            "secret": self.secret,
            "epsilon": self.epsilon,
            "mechanism": MECHANISMS if self.mechanism == "all" else self.mechanism,
            "order": [value for row in self.order or () for value in listed_in(row)],
            "domain": self.domain,
            "counts": self.counts,
            "budget": self.budget,
            "delta": self.delta,
            "null": self.null,
        }


def dp(data: Data, noise: Noise, charts: Charts, output: Output, limits: Limits) -> None:
    """Weigh the privacy that noisy counts lose (differential privacy) against their utility."""
    from qifsql.commands.dp.dp import dp as run
    from qifsql.options import show
    from qifsql.results.storage import check_place

    show.check(output)
    charts.check()
    dataset = data.dataset()
    if output.out is not None:
        check_place(output.out, dataset.paths)
    with limits.settings() as settings:
        result = run(dataset, **noise.arguments(), where=data.where, settings=settings)
    runtime.remarks(result.notes, quiet=limits.quiet)
    charts.draw("dp", result, quiet=limits.quiet)

    title = f"qifsql: noisy counts of {dataset.name}"
    show.show(show.Shown(result=result, title=title, aside=("scenario",)), output)
