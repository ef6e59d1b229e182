"""Groups of options that commands share, each defined once.

A command takes a whole group as one parameter (``data: Data``). ``grouping`` turns the fields of
the group into options of the command line, and builds the group from the given values.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from qifsql.adversary.models import MODELS
from qifsql.data.dataset import Dataset
from qifsql.data.files import MANIFEST
from qifsql.data.option import DATA, LIMITS, RUN
from qifsql.data.reading import Reading, typed
from qifsql.engine.progress import Progress
from qifsql.engine.settings import ENGINES, Settings, local_folder
from qifsql.engine.temporary import STANDARD_INPUT
from qifsql.options import runtime, standard_input


def option(text: str, *flags: str, panel: str = LIMITS, **more: Any) -> Any:
    """Return an option that only the command line has."""
    return typer.Option(*flags, help=text, rich_help_panel=panel, **more)


Model = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="\n\n".join(
            ["Guess (default: crs; with --secret crs,cas):", *(m.line for m in MODELS.values())]
        ),
        show_default=False,
    ),
]


Quiet = Annotated[bool, option("Print no notes.", "--quiet", panel=RUN)]
Where = Annotated[str | None, option("Filter records by a SQL condition.", "--where", panel=DATA)]


@dataclass(frozen=True)
class Data:
    """Options of the data: files, filter, and how files are read."""

    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Parquet, CSV, JSON, Excel, SPSS, ...; glob, folder, table@database; - (stdin).",
        ),
    ]
    where: Where = None
    reading: Reading = field(default_factory=Reading)

    def arguments(self) -> list[str]:
        """Return the file and how it is read, as they are typed."""
        condition = ["--where", self.where] if self.where else []
        return [self.file, *condition, *typed(self.reading)]

    def dataset(self, file: str | None = None) -> Dataset:
        """Return the named dataset, or that of ``file``, read alike if its format is the same.

        A file that qifsql has written (it has a manifest) is read without options for titles.
        """
        path = self.file if file is None else file
        from_input = path == standard_input.NAME
        source: str | Path = standard_input.private_copy() if from_input else path
        reading: dict[str, Any] = {**self.reading}
        if file is not None and Dataset.open(source).format != self.dataset().format:
            reading = {"na": self.reading.get("na", ())}
        elif file is not None and Path(f"{file}{MANIFEST}").exists():
            reading |= {"skip": None, "header_rows": None}
            if not (reading.get("delimiter") or "").isascii():
                reading["delimiter"] = None
        dataset = Dataset.open(source, **reading)
        return replace(dataset, name=STANDARD_INPUT) if from_input else dataset


@dataclass(frozen=True)
class Records:
    """Options of data that need not be there."""

    file: Annotated[
        str | None,
        typer.Argument(metavar="[FILE]", help="Records: Parquet, CSV, JSON, Excel, SPSS, ..."),
    ] = None
    where: Where = None
    reading: Reading = field(default_factory=Reading)

    def dataset(self, file: str | None = None) -> Dataset | None:
        """Return the named dataset, or that of ``file``; None without a file."""
        if (path := file or self.file) is None:
            return None
        return Data(path, self.where, self.reading).dataset(file)


@dataclass(frozen=True)
class Auxiliary:
    """The auxiliary datasets of a collection."""

    aux: Annotated[
        list[str] | None,
        typer.Argument(metavar="[AUX]...", help="Auxiliary datasets, also with --aux (crl)."),
    ] = None
    more: Annotated[
        list[str] | None,
        option("Auxiliary dataset, as AUX. Repeatable.", "--aux", panel=DATA, hidden=True),
    ] = None

    def source(self, data: Data) -> list[Dataset]:
        """Return all datasets, the focal one first."""
        auxiliary = (*(self.aux or ()), *(self.more or ()))
        return [data.dataset(), *(data.dataset(file) for file in auxiliary)]


def title_of(datasets: Sequence[Dataset]) -> str:
    """Return the names of datasets, for titles."""
    return " + ".join(dataset.name for dataset in datasets)


@dataclass(frozen=True)
class Limits:
    """Options of limits and progress."""

    memory: Annotated[
        str | None,
        option("Memory: 8GB (default: half, <= 4GB).", "--memory"),
    ] = None
    threads: Annotated[int | None, option("Thread limit (default: one per core).", "--threads")] = (
        None
    )
    temp: Annotated[str | None, option("Folder for temporary files.", "--temp", metavar="DIR")] = (
        None
    )
    seed: Annotated[int | None, option("Random seed; kept in the manifest.", "--seed")] = None
    progress: Annotated[
        bool | None, option("Show progress (default: terminals).", "--progress/--no-progress")
    ] = None
    engine: Annotated[
        str | None, option(f"{ENGINES[0]} (default) or {', '.join(ENGINES[1:])}.", "--engine")
    ] = None
    master: Annotated[str | None, option("Spark: the cluster, such as yarn.", "--master")] = None
    spark_conf: Annotated[
        list[str] | None, option("Spark: KEY=VALUE. Repeatable.", "--spark-conf")
    ] = None
    debug: Annotated[bool, option("DuckDB's error, too (may show cells).", "--debug")] = False

    quiet: Quiet = False

    @contextmanager
    def settings(self) -> Iterator[Settings]:
        """Open the settings of an engine, with progress shown while it runs."""
        from qifsql.presentation.progress_bar import progress

        with progress(self.progress, runtime.talk) as bar:
            yield self.engine_settings(bar)

    def engine_settings(self, bar: Progress) -> Settings:
        """Return the settings of an engine that shows its progress like this."""
        return Settings(
            memory=self.memory,
            threads=self.threads,
            temp=None if self.temp is None else local_folder(self.temp),
            progress=bar,
            seed=self.seed,
            engine=self.engine,
            master=self.master,
            spark_conf=tuple(self.spark_conf or ()),
        )


@dataclass(frozen=True)
class Talk:
    """Options of notes and errors, for commands that open no engine."""

    quiet: Quiet = False
    debug: Annotated[bool, option("Also show the cause of an error.", "--debug", panel=RUN)] = False


def _result_file(path: Path | None) -> Path | None:
    """Return the file of a result; None for standard output, where results go without a file."""
    return None if path is not None and str(path) == standard_input.NAME else path


@dataclass(frozen=True)
class Output:
    """Options of the output."""

    format_: Annotated[
        str | None, option("table, json, csv or markdown.", "--format", "-f", panel=RUN)
    ] = None
    out: Annotated[
        Path | None,
        option(
            "Result: .parquet .csv .json .md .html .xlsx",
            "--out",
            "-o",
            panel=RUN,
            callback=_result_file,
        ),
    ] = None


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

            figures.prepare_folder(self.charts, self.chart_format)

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
