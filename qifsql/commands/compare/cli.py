"""``qifsql compare``."""

from dataclasses import dataclass
from typing import Annotated

import typer

from qifsql.options import column_roles, groups, runtime
from qifsql.options.column_roles import Hierarchies, Secrets
from qifsql.options.groups import Data, Limits, Output
from qifsql.options.measuring import Charts
from qifsql.options.texts import hierarchies, names


@dataclass(frozen=True)
class Beside:
    """What is held against what."""

    sanitised: Annotated[
        list[str], typer.Argument(metavar="SANITISED...", help="The sanitised releases of FILE.")
    ]
    qids: Annotated[
        list[str],
        column_roles.qids(
            "The original's quasi-identifiers, as in attack; where a release (the first is "
            "file 2) has another name: 2:age=AGE. Repeatable."
        ),
    ]
    secret: Secrets = None
    hierarchy: Hierarchies = None
    plain: column_roles.Plain = None


def compare(data: Data, beside: Beside, charts: Charts, output: Output, limits: Limits) -> None:
    """Attack an original FILE and sanitised releases of it as they are; see what these still tell.

    A row per release and secret: k, l, success at re-identification (CRS) and inference (CAS)
    before and after, and what was lost. Cells may be values or stand for several: * [20,30] 20-29
    <30 130** {France,Germany} or a node of a hierarchy.
    """
    from qifsql.commands.compare.compare import compare as run
    from qifsql.options import show

    show.check(output)
    charts.check()
    original = data.dataset()
    releases = [data.dataset(file) for file in beside.sanitised]
    qids = names(beside.qids)
    with limits.settings() as settings:
        result = run(
            original,
            releases,
            qids=qids,
            secret=names(beside.secret),
            where=data.where,
            hierarchies=hierarchies(beside.hierarchy or (), qids),
            plain=names(beside.plain),
            settings=settings,
        )
    runtime.remarks(result.notes, quiet=limits.quiet)
    charts.draw("compare", result, quiet=limits.quiet)

    title = f"qifsql: {original.name} beside {groups.named(releases)}"
    show.show(show.Shown(result=result, title=title), output)
