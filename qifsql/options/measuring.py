"""Further groups of options: what a guess is worth, and what is told beside success."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from qifsql.errors import InputError
from qifsql.options import runtime
from qifsql.options.groups import (
    ATTACK,
    DETAILS,
    RUN,
    Output,
    Prior,
)
from qifsql.options.texts import names, single


@dataclass(frozen=True)
class Gains:
    """What a guess is worth, and what was believed before."""

    gain: Annotated[
        list[str] | None,
        typer.Option(
            "--gain",
            help="What a guess is worth: identity, tries:3, penalty:0.5, tolerance:5, worth:FILE "
            "(its line * is for all values that no line names), matrix:FILE, sql:EXPRESSION over "
            "guess and secret. Repeatable.",
            rich_help_panel=ATTACK,
        ),
    ] = None
    prior: Prior = None

    def arguments(self) -> dict[str, Any]:
        """The same as arguments of the functions of the package."""
        return {"gain": tuple(self.gain or ()), "prior": self.prior}


@dataclass(frozen=True)
class Charts:
    """Charts beside the result."""

    charts: Annotated[
        Path | None,
        typer.Option(
            "--charts",
            help="A folder for charts of the result (qifsql\\[charts]).",
            rich_help_panel=RUN,
        ),
    ] = None
    chart_format: Annotated[
        str,
        typer.Option("--chart-format", help="html, svg, png or json.", rich_help_panel=RUN),
    ] = "html"

    def check(self) -> None:
        """Refuse what could not be drawn or written, before any work is done."""
        if self.charts is not None:
            from qifsql.presentation import figures

            figures.check(self.charts, self.chart_format)

    def histogram(self, has_histogram: bool) -> dict[str, Any]:
        """Histograms are counted for charts, too."""
        return {"histogram": has_histogram or self.charts is not None}

    def draw(self, command: str, result: Any, *, quiet: bool) -> None:
        """Draw the charts of a result, by ``charts`` in the room of the command."""
        if self.charts is None:
            return
        from qifsql.presentation import figures

        room = import_module(f"qifsql.commands.{command}.charts")
        tables = getattr(result, "details", {})
        drawn = room.charts(result.frame, tables, result.origin.spec)
        written = figures.write(drawn, self.charts, self.chart_format, result.origin)
        runtime.remarks([f"written: {path}" for path in written], quiet=quiet)


@dataclass(frozen=True)
class Details:
    """What is told beside success."""

    measures: Annotated[
        str | None,
        typer.Option(
            "--measures",
            help="More measures: shannon, guessing, capacity, risks, or all (see qifsql explain).",
            rich_help_panel=DETAILS,
        ),
    ] = None
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            help="Groups of people: a column or NAME=EXPRESSION; who carries the risk.",
            rich_help_panel=DETAILS,
        ),
    ] = None
    histogram: Annotated[
        bool,
        typer.Option(
            "--histogram", help="Count people by success in percent.", rich_help_panel=DETAILS
        ),
    ] = False
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            "--threshold",
            help="Count people whose success is at least that, such as 0.5. Repeatable.",
            rich_help_panel=DETAILS,
        ),
    ] = None
    quantile: Annotated[
        list[str] | None,
        typer.Option(
            "--quantile",
            help="The success that this share of the people do not exceed, such as 0.9. "
            "Repeatable.",
            rich_help_panel=DETAILS,
        ),
    ] = None
    unit: Annotated[
        str | None,
        typer.Option("--unit", help="The unit of the gains, such as BRL.", rich_help_panel=DETAILS),
    ] = None
    population: Annotated[
        str | None,
        typer.Option(
            "--population",
            help="A file of everybody who may be in the release: for membership, joined by the "
            "key; else for the journalist's risk.",
            rich_help_panel=DETAILS,
        ),
    ] = None
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            help="Keep the counts in this DuckDB file; asked again, the data are not read again. "
            "It holds values of cells; only you can read it.",
            rich_help_panel=RUN,
        ),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """The same as arguments of the functions of the package."""
        return {
            "measures": self.measures or (),
            "by": _one(self.by),
            "histogram": self.histogram,
            "thresholds": names(self.threshold),
            "quantiles": names(self.quantile),
            "unit": self.unit,
            "population": self.population,
            "store": self.store,
        }


def _one(columns: list[str] | None) -> str | None:
    if columns and len(columns) > 1:
        raise InputError("groups are made by one column; combine several in one NAME=EXPRESSION")
    return single(columns[0]) if columns else None


Out = Annotated[
    Path, typer.Option("--out", "-o", help="The file to write: .parquet, .csv or .csv.gz.")
]
"""The release of a command that writes one."""


@dataclass(frozen=True)
class Summary:
    """Where the summary of a release that is written goes, and how it looks."""

    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            help="The summary on stdout: table, json, csv or markdown.",
            rich_help_panel=RUN,
        ),
    ] = None
    summary: Annotated[
        Path | None,
        typer.Option(
            "--summary",
            help="Write the summary to a file, for reports: .parquet .csv .json .md .html.",
            rich_help_panel=RUN,
        ),
    ] = None

    def output(self, out: Path, *inputs: str) -> Output:
        """The same as of other commands; OutputError where it would overwrite another file."""
        from qifsql.options import show
        from qifsql.results.storage import check_place

        output = Output(self.format_, self.summary)
        show.check(output)
        if self.summary is not None:
            check_place(self.summary, inputs)
            show.differ(self.summary, "--summary", out, "-o")
        return output
