"""``qifsql blocks``, ``hyper``, ``records``, ``sql``, ``shell``: what is behind the numbers."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from qifsql.cli import options, running, typed
from qifsql.cli.options import Adversary, Data, Limits, Others, Output, named
from qifsql.cli.wishes import Gains


def blocks(
    data: Data,
    others: Others,
    adversary: Adversary,
    output: Output,
    limits: Limits,
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
) -> None:
    """Show the partition: blocks with their size, counts per secret value and best guess."""
    from qifsql.cli import show
    from qifsql.partition import blocks as run
    from qifsql.partition import order_of
    from qifsql.report.parts import Part

    show.check(output)
    order, n = order_of(smallest, largest, revealing)
    source = others.source(data)
    with limits.settings() as settings:
        result = run(
            source,
            **others.arguments(),
            **adversary.arguments(),
            where=data.where,
            order=order,
            limit=n if limit is None else limit,
            settings=settings,
        )

    running.remarks(result.notes, quiet=limits.quiet)

    def render(*_: object) -> list[Part]:
        from qifsql.report import listings

        return listings.blocks(result.frame, result.origin.spec["secrets"])

    title = f"qifsql: {order} blocks of {named(source)}"
    show.show(show.Shown(result.frame, result.origin, render, title), output)


def hyper(
    data: Data,
    others: Others,
    adversary: Adversary,
    output: Output,
    limits: Limits,
    show_: Annotated[
        str,
        typer.Option("--show", help="prior, cooccurrence, joint, channel or hyper."),
    ] = "hyper",
    prior: options.Prior = None,
) -> None:
    """Show the objects of information flow: prior, co-occurrences, joint, channel, hyper."""
    from qifsql.cli import show
    from qifsql.export import STREAMED
    from qifsql.objects import hyper as run
    from qifsql.report.parts import Part

    show.check(output)
    source = others.source(data)
    large = output.out if output.out and output.out.suffix.casefold() in STREAMED else None
    asked = adversary.arguments() | {"show": show_, "prior": prior} | others.arguments()
    with limits.settings() as settings:
        result = run(source, **asked, where=data.where, out=large, settings=settings)
    running.remarks(result.notes, quiet=limits.quiet)
    if large is not None:
        running.remarks([f"{result.rows:,} rows written to {large}"], quiet=limits.quiet)
        return

    def render(*_: object) -> list[Part]:
        from qifsql.report import matrices

        return matrices.hyper(result)

    title = f"qifsql: {show_} of {named(source)}"
    show.show(show.Shown(result.frame, result.origin, render, title), output)


def records(
    data: Data,
    others: Others,
    adversary: Adversary,
    gains: Gains,
    limits: Limits,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write: .parquet or .csv.")],
    measures: Annotated[
        str | None,
        typer.Option("--measures", help="More measures: shannon, guessing, or all."),
    ] = None,
) -> None:
    """Write one row per record, in input order: block size, success, best guess, singled out."""
    from qifsql.partition import records as run

    asked = adversary.arguments() | gains.arguments() | {"measures": measures or ()}
    asked |= others.arguments()
    with limits.settings() as settings:
        notes: list[str] = []
        asked |= {"where": data.where, "told": notes.append}
        n = run(others.source(data), out, **asked, settings=settings)
    running.remarks([*notes, f"{n:,} records written to {out}"], quiet=limits.quiet)


def sql(
    model: options.Model,
    data: Data,
    others: Others,
    adversary: Adversary,
    gains: Gains,
    limits: Limits,
    target: options.Targets = None,
    member: options.Member = None,
    step: Annotated[
        str | None, typer.Option("--step", help="Stop after this step and show its rows.")
    ] = None,
    dialect: Annotated[str, typer.Option("--dialect", help="duckdb.")] = "duckdb",
) -> None:
    """Print the SQL that gives the same numbers in a DuckDB prompt. Nothing is attacked."""
    from qifsql.cli import show
    from qifsql.inspection import sql as run

    asked = adversary.arguments() | gains.arguments() | others.arguments()
    known = typed.targets(target, asked["qids"])
    with limits.settings() as settings:
        text = run(
            model,
            others.source(data),
            **asked,
            member=typed.single(member),
            where=data.where,
            target=known,
            step=step,
            language=dialect,
            settings=settings,
        )
    show.write(text)


def shell(
    data: Data,
    others: Others,
    adversary: Adversary,
    limits: Limits,
    init_only: Annotated[
        bool, typer.Option("--init-only", help="Print the statements, open nothing.")
    ] = False,
    export: Annotated[
        Path | None,
        typer.Option(
            "--export",
            help="Folder that COPY ... TO may write to. Without it the prompt opens no other file.",
        ),
    ] = None,
) -> None:
    """Open a DuckDB prompt with the views of the partition ready."""
    from qifsql.cli import show
    from qifsql.prompt import shell as run
    from qifsql.prompt import write_csv
    from qifsql.report import listings, terminal

    people = sys.stdout.isatty()
    with limits.settings() as settings:
        statements = run(
            others.source(data),
            **others.arguments(),
            **adversary.arguments(),
            where=data.where,
            init_only=init_only,
            export=export,
            show=(lambda n, r: terminal.draw([listings.rows(n, r)])) if people else write_csv,
            settings=settings,
        )
    if init_only:
        show.write(statements)
