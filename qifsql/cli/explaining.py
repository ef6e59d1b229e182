"""``qifsql explain``."""

from collections.abc import Mapping
from typing import Annotated

import typer

from qifsql.cli.options import Limits, Output


def explain(
    output: Output,
    limits: Limits,
    measure: Annotated[
        str | None,
        typer.Argument(
            metavar="[MEASURE]",
            help="A measure or a column of results, such as bayes or worst_case (default: all).",
        ),
    ] = None,
) -> None:
    """Explain a measure: formula, worked example, whether bigger is worse, range, source."""
    from qifsql.cli import show
    from qifsql.explanation import explain as run
    from qifsql.explanation import frame

    show.check(output)
    with limits.settings() as settings:
        found = run(settings=settings) if measure is None else (run(measure, settings=settings),)

    def render() -> object:
        from qifsql.report import tables

        if measure is None:
            heads = ("measure", "what it is", "columns of results")
            return tables.rows(heads, [(e.name, e.title, ", ".join(e.columns)) for e in found])
        one = found[0]
        parts = {
            "meaning": one.meaning,
            "formula": one.formula,
            "where": "\n".join(one.symbols),
            "direction": one.direction,
            "range": one.range,
            "notes": "\n".join(one.notes),
            "example": "\n".join(one.example),
            "columns": ", ".join(one.columns),
            "also called": ", ".join(one.aliases),
            "source": "\n".join((one.source, *one.works)),
        }
        return _sheet(one.title, {name: text for name, text in parts.items() if text})

    title = "qifsql: what the measures mean" if measure is None else f"qifsql: {found[0].name}"
    show.show(show.Shown(frame(found), found[0].origin, render, title), output)


def _sheet(title: str, parts: Mapping[str, str]) -> object:
    """A title and named paragraphs, for people."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2, 1, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", max_width=100)
    for name, text in parts.items():
        grid.add_row(Text(name, style="bold"), Text(text))
    return Group(Text(title, style="bold"), Text(), grid)
