"""``qifsql treat``."""

from typing import Annotated

import typer

from qifsql.data.option import DATA
from qifsql.options import column_roles, runtime
from qifsql.options.groups import Data, Limits
from qifsql.options.measuring import Out, Summary
from qifsql.options.texts import names

Key = Annotated[
    str,
    typer.Option("--key", help="The column that identifies a person.", rich_help_panel=DATA),
]


def treat(
    data: Data,
    limits: Limits,
    out: Out,
    summary: Summary,
    key: Key,
    qids: Annotated[
        list[str] | None,
        column_roles.qids("Compare the risk before and after: quasi-identifiers, as in attack."),
    ] = None,
    secret: Annotated[
        list[str] | None,
        column_roles.secret("With --qids: the secret that is inferred, as in attack."),
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
