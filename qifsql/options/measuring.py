"""Further groups of options: charts, and summaries of written releases."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from qifsql.data.option import RUN
from qifsql.options import runtime
from qifsql.options.shared_options import Output, option


@dataclass(frozen=True)
class Charts:
    """Charts next to the result."""

    charts: Annotated[
        Path | None, option("Draw charts to this folder (qifsql\\[charts]).", "--charts", panel=RUN)
    ] = None
    chart_format: Annotated[str, option("svg, html, png or json.", "--chart-format", panel=RUN)] = (
        "svg"
    )

    def check(self) -> None:
        """Refuse charts that cannot be drawn or written, before any work."""
        if self.charts is not None:
            from qifsql.presentation import figures

            figures.check(self.charts, self.chart_format)

    def histogram(self, has_histogram: bool) -> bool:
        """Return whether histograms are counted: on request, and for charts."""
        return has_histogram or self.charts is not None

    def draw(self, command: str, result: Any, *, quiet: bool) -> None:
        """Draw the charts of a result with the module ``charts`` of the command."""
        if self.charts is None:
            return
        from qifsql.results.exports import save_charts
        from qifsql.results.kinds import charts_of

        room = charts_of(command)
        tables = getattr(result, "details", {})
        drawn = room.charts(result.frame, tables, result.origin.spec) if room else {}
        written = save_charts(drawn, self.charts, self.chart_format, result.origin)
        runtime.print_notes([f"written: {path}" for path in written], quiet=quiet)


Out = Annotated[
    Path, typer.Option("--out", "-o", help="Write the release to a .parquet, .csv or .csv.gz file.")
]
"""The option for the file of a release, for commands that write one."""


@dataclass(frozen=True)
class Summary:
    """Options of the summary of a written release."""

    format_: Annotated[
        str | None,
        option("Print the summary as table, json, csv or markdown.", "--format", "-f", panel=RUN),
    ] = None
    summary: Annotated[
        Path | None,
        option(
            "Write the summary: .parquet, .csv, .json, .md, .html or .xlsx.", "--summary", panel=RUN
        ),
    ] = None

    def output(self, out: Path, *inputs: str) -> Output:
        """Return the options of the output that other commands have.

        OutputError if the summary would overwrite another file.
        """
        from qifsql.options import show
        from qifsql.results.storage import check_place

        output = Output(self.format_, self.summary)
        show.check(output)
        if self.summary is not None:
            check_place(self.summary, inputs)
            show.check_differ(self.summary, "--summary", out, "-o")
        return output
