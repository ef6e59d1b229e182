"""``qifsql records``."""

from pathlib import Path
from typing import Annotated

import typer

from qifsql.options import runtime
from qifsql.options.groups import (
    Adversary,
    Data,
    Limits,
    Others,
)
from qifsql.options.measuring import Gains


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
    from qifsql.commands.records.records import records as run

    options = adversary.arguments() | gains.arguments() | {"measures": measures or ()}
    options |= others.arguments()
    with limits.settings() as settings:
        notes: list[str] = []
        options |= {"where": data.where, "told": notes.append}
        n = run(others.source(data), out, **options, settings=settings)
    runtime.remarks([*notes, f"{n:,} records written to {out}"], quiet=limits.quiet)
