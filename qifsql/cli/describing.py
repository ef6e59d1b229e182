"""``qifsql describe``."""

from typing import Annotated

import typer

from qifsql.cli import options, running
from qifsql.cli.options import names


def describe(
    file: options.File,
    columns: Annotated[
        list[str] | None, typer.Option("--columns", help="Only these columns.")
    ] = None,
    values: Annotated[
        int,
        typer.Option(
            "--values",
            min=0,
            help="List so many of the most frequent values of each column, of 10 records or more.",
        ),
    ] = 0,
    rare: Annotated[
        bool, typer.Option("--rare", help="With --values: values of fewer records, too.")
    ] = False,
    where: options.Where = None,
    all_varchar: options.AllVarchar = False,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    format_: options.Format = None,
    out: options.Out = None,
    memory: options.Memory = None,
    threads: options.Threads = None,
    temp: options.Temp = None,
    progress: options.ShowProgress = None,
    debug: options.Debug = False,
) -> None:
    """Describe the columns: missing, distinct, entropy, who is singled out, suggested roles."""
    from qifsql.cli import show
    from qifsql.dataset import Dataset
    from qifsql.description import describe as run

    show.check(format_, out)
    dataset = Dataset.open(file, all_varchar=all_varchar, delimiter=delimiter, encoding=encoding)
    with running.settings(memory, threads, temp, progress) as limits:
        result = run(
            dataset,
            columns=names(columns),
            where=where,
            values=values,
            rare=rare,
            settings=limits,
        )
    listed = result.values if values else result.frame

    def render() -> object:
        from qifsql.report import tables

        return tables.description(result.frame, result.values if values else None)

    shown = show.Shown(listed, result.origin, render, f"qifsql: {dataset.name}")
    show.show(shown, format_, out)
