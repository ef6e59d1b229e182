"""``qifsql explain``."""

from typing import Annotated

import typer

from qifsql.engine.settings import Settings
from qifsql.options.runner import Answer
from qifsql.options.shared_options import Output

EXAMPLES = {
    "List all measures.": "qifsql explain",
    "Explain one, with a worked example.": "qifsql explain posterior_probabilistic",
}


def explain(
    output: Output,
    settings: Settings,
    measure: Annotated[
        str | None,
        typer.Argument(
            metavar="[MEASURE]",
            help="A measure or a column of results, such as bayes or worst_case (default: all).",
        ),
    ] = None,
) -> Answer:
    """Explain a measure: formula, worked example, direction, range and source."""
    from qifsql.commands.explain import view
    from qifsql.commands.explain.explain import explain as run
    from qifsql.commands.explain.result import frame
    from qifsql.presentation.parts import Part
    from qifsql.results.result import Result

    explanations = run(settings=settings) if measure is None else (run(measure, settings=settings),)
    first = explanations[0]

    def render(*_: object) -> list[Part]:
        return view.listed(explanations) if measure is None else view.explained(first)

    result = Result(frame=frame(explanations), origin=first.origin)
    title = "what the measures mean" if measure is None else first.name
    return Answer(result, title, view=render, prose=True)
