"""``qifsql explain``."""

from typing import Annotated

import typer

from qifsql.options.groups import Limits, Output


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
    from qifsql.commands.explain.explain import explain as run
    from qifsql.commands.explain.explain import frame
    from qifsql.options import show
    from qifsql.presentation.parts import Part
    from qifsql.results.result import Result

    show.check(output)
    with limits.settings() as settings:
        explanations = (
            run(settings=settings) if measure is None else (run(measure, settings=settings),)
        )

    def render(*_: object) -> list[Part]:
        from qifsql.presentation import listings
        from qifsql.presentation.parts import Heading, Table

        if measure is None:
            heads = ("measure", "what it is", "columns of results")
            return [
                listings.rows(
                    heads, [(e.name, e.title, ", ".join(e.columns)) for e in explanations]
                )
            ]
        one = explanations[0]
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
        sheet = Table.of(["", ""])
        for name, text in parts.items():
            if text:
                sheet.add_row(name, text)
        return [Heading(one.title), sheet]

    title = (
        "qifsql: what the measures mean" if measure is None else f"qifsql: {explanations[0].name}"
    )
    show.show(
        show.Shown(
            result=Result(frame=frame(explanations), origin=explanations[0].origin),
            title=title,
            view=render,
        ),
        output,
    )
