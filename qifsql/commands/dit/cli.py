"""``qifsql dit``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from qifsql.data.option import ATTACK, DETAILS, RUN
from qifsql.options import column_roles, runtime
from qifsql.options.groups import Data, Limits, Output
from qifsql.options.measuring import Charts
from qifsql.options.texts import names

RELEASES = "How releases are made"


def _wish(flag: str, text: str) -> Any:
    return typer.Option(flag, help=text, rich_help_panel=RELEASES)


@dataclass(frozen=True)
class Releases:
    """How releases with and without a person are made."""

    method: Annotated[
        str | None,
        _wish(
            "--method",
            "mondrian (default), mdav, files (--release, --without) or command (--command).",
        ),
    ] = None
    k: Annotated[
        list[str] | None,
        _wish("--k", "Records of every class, at least; several runs: 2,5,10. Repeatable."),
    ] = None
    l: Annotated[  # noqa: E741 - it is called l
        list[str] | None,
        _wish(
            "--l", "Different values of the secret in every class, at least; each k with each l."
        ),
    ] = None
    l_entropy: Annotated[
        str | None, _wish("--l-entropy", "Entropy l-diversity, as in anonymise.")
    ] = None
    l_recursive: Annotated[
        str | None, _wish("--l-recursive", "Recursive (c,l)-diversity as C,L, as in anonymise.")
    ] = None
    t: Annotated[str | None, _wish("--t", "t-closeness, 0 to 1, as in anonymise.")] = None
    t_ordered: Annotated[
        str | None, _wish("--t-ordered", "The same with the ordered distance.")
    ] = None

    release: Annotated[
        Path | None, _wish("--release", "A release with everybody that somebody else made.")
    ] = None
    without: Annotated[
        str | None,
        _wish(
            "--without",
            "Those without each person: without/{i}.csv, {i} the position of their record from 1.",
        ),
    ] = None
    command: Annotated[
        str | None,
        _wish(
            "--command",
            "What makes releases: 'anonymise.sh {input} {output}' (Parquet; of CSV, CSV).",
        ),
    ] = None
    timeout: Annotated[
        float, _wish("--timeout", "Seconds that the command may take for one release.")
    ] = 60.0
    plain: Annotated[
        list[str] | None,
        _wish("--plain", "Quasi-identifiers whose cells are values as they stand."),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """The same as arguments of the functions of the package."""
        arguments = {name: getattr(self, name) for name in self.__dataclass_fields__}
        arguments |= {name: ",".join(arguments[name] or ()) or None for name in ("k", "l")}
        return arguments | {"plain": names(self.plain)}


@dataclass(frozen=True)
class Guessed:
    """Who guesses what of whom, and what is told of it."""

    qids: Annotated[
        list[str],
        column_roles.qids("Quasi-identifiers, as in attack: what is known of everybody."),
    ]
    secret: Annotated[
        str,
        column_roles.secret("What is guessed: a column or NAME=EXPRESSION."),
    ]
    classifier: Annotated[
        str,
        typer.Option(
            "--classifier",
            help="What learns from a release: naive-bayes, or of scikit-learn decision-tree, "
            "random-forest, logistic-regression, k-nearest, bernoulli-nb.",
            rich_help_panel=ATTACK,
        ),
    ] = "naive-bayes"
    hierarchy: Annotated[
        Path | None,
        typer.Option(
            "--hierarchy",
            help="A file of the secret's values and what they stand below (value;node;...): adds "
            "the distance along its edges.",
            rich_help_panel=DETAILS,
        ),
    ] = None
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            "--threshold",
            help="Count people whose distance is above that (default 10^-2.5). Repeatable.",
            rich_help_panel=DETAILS,
        ),
    ] = None
    sample: Annotated[
        int,
        typer.Option(
            "--sample",
            help="Look at so many people only, drawn by --seed (0: all).",
            rich_help_panel=DETAILS,
        ),
    ] = 0
    records: Annotated[
        Path | None,
        typer.Option(
            "--records",
            help="Write a row per record, in input order: .parquet or .csv.",
            rich_help_panel=RUN,
        ),
    ] = None
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            help="The column that identifies a person, for --records.",
            rich_help_panel=RUN,
        ),
    ] = None
    store: Annotated[
        Path | None,
        typer.Option(
            "--store",
            help="Keep what is finished in this DuckDB file; the same command goes on with it. It "
            "holds values of cells; only you can read it.",
            rich_help_panel=RUN,
        ),
    ] = None
    restart: Annotated[
        bool, typer.Option("--restart", help="Start the store anew.", rich_help_panel=RUN)
    ] = False

    def arguments(self) -> dict[str, Any]:
        """The same as arguments of the functions of the package."""
        arguments = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return arguments | {"qids": names(self.qids), "threshold": tuple(names(self.threshold))}


def dit(
    data: Data, guessed: Guessed, releases: Releases, charts: Charts, output: Output, limits: Limits
) -> None:
    """Test whether what is guessed about a person depends on that person (inference testing)."""
    from qifsql.commands.dit.dit import dit as run
    from qifsql.options import show
    from qifsql.results.storage import check_place

    show.check(output, records=guessed.records)
    charts.check()
    dataset = data.dataset()
    if output.out is not None:
        check_place(output.out, dataset.paths)
    arguments = guessed.arguments() | releases.arguments()
    with runtime.store(guessed.store, quiet=limits.quiet), limits.settings() as settings:
        result = run(dataset, **arguments, where=data.where, settings=settings)
    done = [f"{result.written:,} rows written to {guessed.records}"] if guessed.records else []
    runtime.remarks([*result.notes, *done], quiet=limits.quiet)
    charts.draw("dit", result, quiet=limits.quiet)

    title = f"qifsql: inference testing of {dataset.name}"
    show.show(show.Shown(result=result, title=title, aside=("distribution",)), output)
