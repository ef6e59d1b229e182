"""``qifsql refines``."""

from typing import Annotated, Any

import typer

from qifsql.options import runtime, texts
from qifsql.options.groups import (
    Data,
    Limits,
    Output,
)


def refines(
    data: Data,
    a: Annotated[str, typer.Argument(metavar="A", help="Quasi-identifiers, as in --qids.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Quasi-identifiers to compare with.")],
    output: Output,
    limits: Limits,
    null: Annotated[
        str, typer.Option("--null", help="Missing values: distinct or drop.")
    ] = "distinct",
) -> None:
    """Whether knowing A never leaks less than knowing B, whatever the secret and the gain."""
    from qifsql.commands.refines.refines import refines as run
    from qifsql.options import show
    from qifsql.presentation.parts import Part
    from qifsql.results.result import Result

    show.check(output)
    dataset = data.dataset()
    with limits.settings() as settings:
        options: dict[str, Any] = {"where": data.where, "null": null}
        result = run(dataset, texts.names([a]), texts.names([b]), **options, settings=settings)
    runtime.remarks(result.notes, quiet=limits.quiet)

    def render(*_: object) -> list[Part]:
        from qifsql.commands.refines import view

        return view.refinement(result)

    example = result.counterexample
    details = {} if example is None else {"counterexample": example}
    title = f"qifsql: refinement in {dataset.name}"
    show.show(
        show.Shown(
            result=Result(frame=result.frame, origin=result.origin, details=details),
            title=title,
            view=render,
        ),
        output,
    )
