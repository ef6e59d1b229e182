"""``qifsql blocks``, ``records``, ``sql`` and ``shell``: what is behind the numbers."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from qifsql.cli import options, running
from qifsql.cli.options import names


def blocks(
    file: options.File,
    qids: options.Qids = None,
    secret: options.Secrets = None,
    smallest: Annotated[
        int | None, typer.Option("--smallest", min=1, help="Show the N smallest blocks.")
    ] = None,
    largest: Annotated[
        int | None, typer.Option("--largest", min=1, help="Show the N largest blocks.")
    ] = None,
    revealing: Annotated[
        int | None,
        typer.Option(
            "--revealing", min=1, help="Show the N blocks that reveal most to most people."
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=0, help="At most so many blocks (0: all; default 20)."),
    ] = None,
    weight: options.Weight = None,
    where: options.Where = None,
    null: options.Null = "distinct",
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
    """Show the partition: blocks with their size, counts per secret value and best guess."""
    from qifsql.cli import show
    from qifsql.dataset import Dataset
    from qifsql.partition import blocks as run
    from qifsql.partition import order_of

    show.check(format_, out)
    order, n = order_of(smallest, largest, revealing)
    dataset = Dataset.open(file, all_varchar=all_varchar, delimiter=delimiter, encoding=encoding)
    with running.settings(memory, threads, temp, progress) as limits:
        result = run(
            dataset,
            qids=names(qids),
            secret=names(secret),
            weight=weight,
            where=where,
            null=null,  # type: ignore[arg-type]
            order=order,
            limit=n if limit is None else limit,
            settings=limits,
        )
    title = f"qifsql: {order} blocks of {dataset.name}"

    def render() -> object:
        from qifsql.report import tables

        return tables.blocks(result.frame, result.origin.spec["secrets"])

    shown = show.Shown(result.frame, result.origin, render, title)
    show.show(shown, format_, out)


def records(
    file: options.File,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write: .parquet or .csv.")],
    qids: options.Qids = None,
    secret: options.Secrets = None,
    key: options.Key = None,
    weight: options.Weight = None,
    where: options.Where = None,
    null: options.Null = "distinct",
    all_varchar: options.AllVarchar = False,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    memory: options.Memory = None,
    threads: options.Threads = None,
    temp: options.Temp = None,
    progress: options.ShowProgress = None,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Write one row per record, in input order: block size, success, best guess, singled out."""
    from qifsql.dataset import Dataset
    from qifsql.partition import records as run

    dataset = Dataset.open(file, all_varchar=all_varchar, delimiter=delimiter, encoding=encoding)
    with running.settings(memory, threads, temp, progress) as limits:
        n = run(
            dataset,
            out,
            qids=names(qids),
            secret=names(secret),
            key=key,
            weight=weight,
            where=where,
            null=null,  # type: ignore[arg-type]
            settings=limits,
        )
    running.remarks([f"{n:,} records written to {out}"], quiet=quiet)


def sql(
    model: options.Model,
    file: options.File,
    qids: options.Qids = None,
    secret: options.Secrets = None,
    target: options.Targets = None,
    step: Annotated[
        str | None, typer.Option("--step", help="Stop after this step and show its rows.")
    ] = None,
    dialect: Annotated[str, typer.Option("--dialect", help="duckdb.")] = "duckdb",
    key: options.Key = None,
    weight: options.Weight = None,
    where: options.Where = None,
    null: options.Null = "distinct",
    all_varchar: options.AllVarchar = False,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    debug: options.Debug = False,
) -> None:
    """Print the SQL that gives the same numbers in a DuckDB prompt. Nothing is run."""
    from qifsql.dataset import Dataset
    from qifsql.inspection import sql as run

    known = names(qids)
    text = run(
        model,
        Dataset.open(file, all_varchar=all_varchar, delimiter=delimiter, encoding=encoding),
        qids=known,
        secret=names(secret),
        key=key,
        weight=weight,
        where=where,
        null=null,  # type: ignore[arg-type]
        target=options.targets(target, known),
        step=step,
        language=dialect,
    )
    sys.stdout.write(text)


def shell(
    file: options.File,
    qids: options.Qids = None,
    secret: options.Secrets = None,
    init_only: Annotated[
        bool, typer.Option("--init-only", help="Print the statements, open nothing.")
    ] = False,
    weight: options.Weight = None,
    where: options.Where = None,
    null: options.Null = "distinct",
    all_varchar: options.AllVarchar = False,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    memory: options.Memory = None,
    threads: options.Threads = None,
    temp: options.Temp = None,
    progress: options.ShowProgress = None,
    debug: options.Debug = False,
) -> None:
    """Open a DuckDB prompt with the views of the partition ready."""
    from qifsql.dataset import Dataset
    from qifsql.prompt import shell as run
    from qifsql.prompt import write_csv
    from qifsql.report import tables

    dataset = Dataset.open(file, all_varchar=all_varchar, delimiter=delimiter, encoding=encoding)
    people = sys.stdout.isatty()
    with running.settings(memory, threads, temp, progress) as limits:
        statements = run(
            dataset,
            qids=names(qids),
            secret=names(secret),
            weight=weight,
            where=where,
            null=null,  # type: ignore[arg-type]
            init_only=init_only,
            show=(lambda n, r: tables.draw(tables.rows(n, r))) if people else write_csv,
            settings=limits,
        )
    if init_only:
        sys.stdout.write(statements)
