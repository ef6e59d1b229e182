"""The options that commands share: groups of them, each said once.

A command takes a whole group as one parameter (``data: Data``); ``grouping`` turns the fields of
the group into options of the command line and puts what was given back together.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from qifsql.data.dataset import Dataset
from qifsql.data.option import DATA, RUN
from qifsql.engine.settings import Settings


def option(text: str, *flags: str, panel: str = RUN) -> Any:
    """Return an option that only the command line has."""
    return typer.Option(*flags, help=text, rich_help_panel=panel)


Model = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="crs cas cms irs ias ims crl cal cml irl ial iml; several at once: crs,cas.",
    ),
]
AllVarchar = Annotated[bool, option("CSV: every column is text.", "--all-varchar", panel=DATA)]
Delimiter = Annotated[str | None, option("CSV: what separates fields.", "--delimiter", panel=DATA)]
Encoding = Annotated[
    str | None, option("CSV: such as latin-1 (default utf-8).", "--encoding", panel=DATA)
]


@dataclass(frozen=True)
class Data:
    """Which records."""

    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Parquet, CSV or TSV (.gz, .zst), a glob, a folder of Parquet, table@file.duckdb.",
        ),
    ]
    where: Annotated[
        str | None, option("Keep records under a SQL condition.", "--where", panel=DATA)
    ] = None
    all_varchar: AllVarchar = False
    delimiter: Delimiter = None
    encoding: Encoding = None

    def dataset(self, file: str | None = None) -> Dataset:
        """Return the named dataset, or another one, read the same way if it is CSV."""
        if file is not None and Dataset.open(file).format != "csv":
            return Dataset.open(file)
        return Dataset.open(
            file or self.file,
            all_varchar=self.all_varchar,
            delimiter=self.delimiter,
            encoding=self.encoding,
        )


@dataclass(frozen=True)
class Others:
    """The auxiliary datasets of a collection."""

    aux: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[AUX]...",
            help="Auxiliary datasets about the same people, for longitudinal models.",
        ),
    ] = None
    more: Annotated[
        list[str] | None, option("The same as AUX. Repeatable.", "--aux", panel=DATA)
    ] = None

    def source(self, data: Data) -> list[Dataset]:
        """Return all datasets, the focal one first."""
        others = (*(self.aux or ()), *(self.more or ()))
        return [data.dataset(), *(data.dataset(file) for file in others)]


def named(datasets: Sequence[Dataset]) -> str:
    """Return the names of datasets, for titles."""
    return " + ".join(dataset.name for dataset in datasets)


@dataclass(frozen=True)
class Limits:
    """How much of the machine, and how much is told meanwhile."""

    memory: Annotated[
        str | None,
        option(
            "At most so much memory for the data, such as 8GB (default: half of all, at most "
            "4GB); Python and the libraries take up to 150 MB besides.",
            "--memory",
        ),
    ] = None
    threads: Annotated[
        int | None,
        option(
            "At most so many threads (default: one per core; 8 per core or 64 at most).",
            "--threads",
        ),
    ] = None
    temp: Annotated[Path | None, option("The folder for temporary files.", "--temp")] = None
    seed: Annotated[
        int | None, option("For what draws at random; kept in the manifest.", "--seed")
    ] = None
    progress: Annotated[
        bool | None,
        option(
            "Show progress (default: on a terminal, for work over two seconds).",
            "--progress/--no-progress",
        ),
    ] = None
    debug: Annotated[
        bool, option("Show the engine's own words on errors; they may quote values.", "--debug")
    ] = False

    quiet: Annotated[bool, option("No remarks, only results.", "--quiet")] = False

    @contextmanager
    def settings(self) -> Iterator[Settings]:
        """Open the settings of an engine, with progress shown while it runs."""
        from qifsql.options.runtime import progress

        with progress(self.progress) as shown:
            yield Settings(self.memory, self.threads, self.temp, shown, self.seed)


@dataclass(frozen=True)
class Output:
    """Where the result goes and how it looks."""

    format_: Annotated[
        str | None,
        option(
            "table, json, csv or markdown on stdout (default: table on a terminal, else csv).",
            "--format",
            "-f",
        ),
    ] = None
    out: Annotated[
        Path | None, option("Write to a file: .parquet .csv .json .md .html.", "--out", "-o")
    ] = None
