"""``qifsql records``."""

from pathlib import Path
from typing import Annotated

import typer

from qifsql.adversary.options import Joining, Knowledge, Worth
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Others

EXAMPLES = {
    "Write block size and success of each record.": (
        "qifsql records data-samples/school_census_2018.parquet -q "
        "NU_ANO,TP_SEXO,CO_ENTIDADE -o records.parquet"
    ),
    "Also write the best guess about a secret.": (
        "qifsql records data-samples/school_census_2018.parquet -q NU_ANO,TP_SEXO -s "
        "IN_TRANSPORTE_PUBLICO -o records.csv"
    ),
}


def records(
    data: Data,
    others: Others,
    adversary: Knowledge,
    joining: Joining,
    worth: Worth,
    limits: Limits,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write: .parquet or .csv.")],
    measures: Annotated[
        str | None, typer.Option("--measures", help="More measures: shannon, guessing, or all.")
    ] = None,
) -> None:
    """Write one row per record, in input order: block size, success, best guess, singled out."""
    from qifsql.commands.records.records import records as run

    adversary["where"] = data.where
    with limits.settings() as settings:
        notes: list[str] = []
        n = run(
            others.source(data),
            out,
            **adversary,
            **joining,
            **worth,
            measures=measures or (),
            told=notes.append,
            settings=settings,
        )
    runtime.remarks([*notes, f"{n:,} records written to {out}"], quiet=limits.quiet)
