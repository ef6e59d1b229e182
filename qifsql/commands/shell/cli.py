"""``qifsql shell``."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from qifsql.adversary.options import Joining, Knowledge
from qifsql.engine.settings import Settings
from qifsql.options.runner import Answer
from qifsql.options.shared_options import Auxiliary, Data

EXAMPLES = {
    "Open a prompt on the blocks of a file.": (
        "qifsql shell data-samples/school_census_2018.parquet -q TP_SEXO,NU_ANO -s TP_COR_RACA"
    ),
    "Print the statements that define the views.": (
        "qifsql shell data-samples/school_census_2018.parquet -q TP_SEXO,NU_ANO -s "
        "TP_COR_RACA --init-only"
    ),
}


def shell(
    data: Data,
    auxiliary: Auxiliary,
    adversary: Knowledge,
    joining: Joining,
    settings: Settings,
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
) -> Answer:
    """Open a DuckDB prompt with views of the blocks ready."""
    from qifsql.commands.shell.shell import shell as run
    from qifsql.commands.shell.shell import write_csv
    from qifsql.presentation import terminal
    from qifsql.presentation.table_columns import table_of_rows

    people = sys.stdout.isatty()
    statements = run(
        auxiliary.source(data),
        **adversary,
        **joining,
        init_only=init_only,
        export=export,
        show=(lambda n, r: terminal.draw([table_of_rows(n, r)])) if people else write_csv,
        settings=settings,
    )
    return Answer(text=statements if init_only else "")
