"""The options that commands share: groups of them, each said once.

A command takes a whole group as one parameter (``data: Data``); ``grouping`` turns the fields of
the group into options of the command line and puts what was given back together.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from qifsql.adversary.options import Knowledge
from qifsql.data.dataset import Dataset
from qifsql.data.option import DATA, RUN
from qifsql.engine.settings import Settings
from qifsql.options.grouping import described

Model = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="crs cas cms irs ias ims crl cal cml irl ial iml; several at once: crs,cas.",
    ),
]
Null = Annotated[str, described(Knowledge, "null")]
AllVarchar = Annotated[
    bool, typer.Option("--all-varchar", help="CSV: every column is text.", rich_help_panel=DATA)
]
Delimiter = Annotated[
    str | None,
    typer.Option("--delimiter", help="CSV: what separates fields.", rich_help_panel=DATA),
]
Encoding = Annotated[
    str | None,
    typer.Option("--encoding", help="CSV: such as latin-1 (default utf-8).", rich_help_panel=DATA),
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
        str | None,
        typer.Option("--where", help="Keep records under a SQL condition.", rich_help_panel=DATA),
    ] = None
    all_varchar: AllVarchar = False
    delimiter: Delimiter = None
    encoding: Encoding = None

    def dataset(self, file: str | None = None) -> Dataset:
        """The dataset that is named, or another one that is read in the same way if it is CSV."""
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
        list[str] | None,
        typer.Option("--aux", help="The same as AUX. Repeatable.", rich_help_panel=DATA),
    ] = None

    def source(self, data: Data) -> list[Dataset]:
        """All datasets, the focal one first."""
        others = (*(self.aux or ()), *(self.more or ()))
        return [data.dataset(), *(data.dataset(file) for file in others)]


def named(datasets: Sequence[Dataset]) -> str:
    """The names of datasets, for titles."""
    return " + ".join(dataset.name for dataset in datasets)


@dataclass(frozen=True)
class Limits:
    """How much of the machine, and how much is told meanwhile."""

    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            help="At most so much memory for the data, such as 8GB (default: half of all, at most "
            "4GB); Python and the libraries take up to 150 MB besides.",
            rich_help_panel=RUN,
        ),
    ] = None
    threads: Annotated[
        int | None,
        typer.Option(
            "--threads",
            help="At most so many threads (default: one per core; 8 per core or 64 at most).",
            rich_help_panel=RUN,
        ),
    ] = None
    temp: Annotated[
        Path | None,
        typer.Option("--temp", help="The folder for temporary files.", rich_help_panel=RUN),
    ] = None
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            help="For what draws at random; kept in the manifest.",
            rich_help_panel=RUN,
        ),
    ] = None
    progress: Annotated[
        bool | None,
        typer.Option(
            "--progress/--no-progress",
            help="Show progress (default: on a terminal, for work over two seconds).",
            rich_help_panel=RUN,
        ),
    ] = None
    debug: Annotated[
        bool,
        typer.Option(
            "--debug",
            help="Show the engine's own words on errors; they may quote values.",
            rich_help_panel=RUN,
        ),
    ] = False

    quiet: Annotated[
        bool, typer.Option("--quiet", help="No remarks, only results.", rich_help_panel=RUN)
    ] = False

    @contextmanager
    def settings(self) -> Iterator[Settings]:
        """The settings of an engine, with progress shown as long as it runs."""
        from qifsql.options.runtime import progress

        with progress(self.progress) as shown:
            yield Settings(self.memory, self.threads, self.temp, shown, self.seed)


@dataclass(frozen=True)
class Output:
    """Where the result goes and how it looks."""

    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            help="table, json, csv or markdown on stdout (default: table on a terminal, else csv).",
            rich_help_panel=RUN,
        ),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Write to a file: .parquet .csv .json .md .html.",
            rich_help_panel=RUN,
        ),
    ] = None
