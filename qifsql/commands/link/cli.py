"""``qifsql link``."""

from typing import Annotated

import typer

from qifsql.commands.link.spec import LinkOptions
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Output


def link(
    data: Data,
    register: Annotated[
        str, typer.Argument(metavar="REGISTER", help="Whom the adversary knows: a voter list.")
    ],
    output: Output,
    limits: Limits,
    options: LinkOptions,
) -> None:
    """Link FILE, a release, with a register of names: unique in one, in both, and correct."""
    from qifsql.commands.link.link import link as run
    from qifsql.options import show

    show.check(output)
    dataset = data.dataset()
    with limits.settings() as settings:
        named = data.dataset(register)
        result = run(dataset, named, **options, where=data.where, settings=settings)
    runtime.remarks(result.notes, quiet=limits.quiet)

    title = f"qifsql: {dataset.name} and a register"
    show.show(show.Shown(result=result, title=title, aside=("confidence",)), output)
