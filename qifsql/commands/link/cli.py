"""``qifsql link``."""

from typing import Annotated

import typer

from qifsql.options import column_roles, runtime
from qifsql.options.groups import Data, Limits, Output
from qifsql.options.texts import names


def link(
    data: Data,
    register: Annotated[
        str, typer.Argument(metavar="REGISTER", help="Whom the adversary knows: a voter list.")
    ],
    output: Output,
    limits: Limits,
    qids: Annotated[
        list[str],
        column_roles.qids(
            'What both have: a,b; zip:3; NAME=EXPRESSION; "1:zip,2:plz" where names differ.'
        ),
    ],
    truth: column_roles.Truth = None,
    register_where: column_roles.RegisterWhere = None,
) -> None:
    """Link FILE, a release, with a register of names: unique in one, in both, and correct."""
    from qifsql.commands.link.link import link as run
    from qifsql.options import show

    show.check(output)
    dataset = data.dataset()
    with limits.settings() as settings:
        result = run(
            dataset,
            data.dataset(register),
            qids=names(qids),
            truth=names(truth),
            where=data.where,
            register_where=register_where,
            settings=settings,
        )
    runtime.remarks(result.notes, quiet=limits.quiet)

    title = f"qifsql: {dataset.name} and a register"
    show.show(show.Shown(result=result, title=title, aside=("confidence",)), output)
