"""``qifsql estimate``: how many people of a population are unique, from a sample of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from qifsql.data.option import DATA, RUN
from qifsql.options import column_roles, groups, runtime
from qifsql.options.groups import Data, Limits, Output
from qifsql.options.texts import names


@dataclass(frozen=True)
class Drawn:
    """How the sample was drawn; one of three says it."""

    fraction: Annotated[
        str | None,
        typer.Option(
            "--fraction",
            help="The share of the population that the file is: 0.01 or 1/100.",
            rich_help_panel=DATA,
        ),
    ] = None
    population_size: Annotated[
        int | None,
        typer.Option(
            "--population-size",
            help="Or: how many people the population has.",
            rich_help_panel=DATA,
        ),
    ] = None
    weight: Annotated[
        str | None,
        typer.Option(
            "--weight",
            help="Or: sampling weights, how many people each record stands for.",
            rich_help_panel=DATA,
        ),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """The same as arguments of the function of the package."""
        return {
            "fraction": self.fraction,
            "population_size": self.population_size,
            "weight": self.weight,
        }


def estimate(
    data: Data,
    drawn: Drawn,
    output: Output,
    limits: Limits,
    qids: Annotated[
        list[str],
        column_roles.qids(
            'Quasi-identifiers: a,b or "a,b",c for a name with a comma; CO_*; NAME=EXPRESSION. '
            "Repeatable."
        ),
    ],
    null: groups.Null = "distinct",
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            help="With --records: the column that identifies a person.",
            rich_help_panel=RUN,
        ),
    ] = None,
    records: Annotated[
        Path | None,
        typer.Option(
            "--records",
            help="Write the risk of every record, in input order: .parquet or .csv.",
            rich_help_panel=RUN,
        ),
    ] = None,
) -> None:
    """FILE is a sample: estimate who is unique in its whole population, and the risk of records."""
    from qifsql.commands.estimate.estimate import estimate as run
    from qifsql.options import show
    from qifsql.results.storage import check_place

    show.check(output, records=records)
    dataset = data.dataset()
    if output.out is not None:
        check_place(output.out, dataset.paths)
    with limits.settings() as settings:
        result = run(
            dataset,
            qids=names(qids),
            **drawn.arguments(),
            key=key,
            where=data.where,
            null=null,  # type: ignore[arg-type]
            records=records,
            settings=settings,
        )
    done = [f"the risk of every record is written to {records}"] if records else []
    runtime.remarks([*result.notes, *done], quiet=limits.quiet)

    title = f"qifsql: the population of {dataset.name}"
    show.show(show.Shown(result=result, title=title, aside=result.details), output)
