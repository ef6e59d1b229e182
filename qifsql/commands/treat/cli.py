"""``qifsql treat``."""

from pathlib import Path
from typing import Annotated

import typer

from qifsql.options import groups, roles, runtime
from qifsql.options.details import Summary
from qifsql.options.groups import Data, Limits
from qifsql.options.types import names

Out = Annotated[
    Path, typer.Option("--out", "-o", help="The file to write: .parquet, .csv or .csv.gz.")
]
Key = Annotated[
    str,
    typer.Option("--key", help="The column that identifies a person.", rich_help_panel=groups.DATA),
]


def treat(
    data: Data,
    limits: Limits,
    out: Out,
    summary: Summary,
    key: Key,
    qids: Annotated[
        list[str] | None,
        roles.qids("Compare the risk before and after: quasi-identifiers, as in attack."),
    ] = None,
    secret: Annotated[
        list[str] | None,
        roles.secret("With --qids: the secret that is inferred, as in attack."),
    ] = None,
) -> None:
    """Write one record of each person, chosen at random by --seed (0 unless given)."""
    from qifsql.commands.treat.treat import treat as run
    from qifsql.options import show

    dataset = data.dataset()
    output = summary.output(out, *dataset.paths)
    with limits.settings() as settings:
        result = run(
            dataset,
            out,
            key=key,
            seed=limits.seed or 0,
            qids=names(qids),
            secret=names(secret),
            where=data.where,
            settings=settings,
        )
    people = result.frame["people"][0]
    done = f"{people:,} records written to {out}"
    runtime.remarks([*result.notes, done], quiet=limits.quiet)

    title = f"qifsql: treatment of {dataset.name}"
    show.show(show.Shown(result=result, title=title), output)
