"""``qifsql explain``."""

from typing import Annotated

import typer

from qifsql.options.groups import Limits, Output

EXAMPLES = {
    "List all measures.": "qifsql explain",
    "Explain one, with a worked example.": "qifsql explain posterior_probabilistic",
}


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
    """Explain a measure: formula, worked example, direction, range and source."""
    from qifsql.commands.explain import view
    from qifsql.commands.explain.explain import explain as run
    from qifsql.commands.explain.result import frame
    from qifsql.options import show
    from qifsql.presentation.parts import Part
    from qifsql.results.result import Result

    show.check(output)
    with limits.settings() as settings:
        explanations = (
            run(settings=settings) if measure is None else (run(measure, settings=settings),)
        )
    one = explanations[0]

    def render(*_: object) -> list[Part]:
        return view.listed(explanations) if measure is None else view.explained(one)

    result = Result(frame=frame(explanations), origin=one.origin)
    title = "what the measures mean" if measure is None else one.name
    show.show(show.Shown(result=result, title=f"qifsql: {title}", view=render, prose=True), output)
