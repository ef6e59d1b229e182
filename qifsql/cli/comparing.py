"""``qifsql receipt`` and ``refines``: one person, and two sets of quasi-identifiers."""

from typing import Annotated, Any

import typer

from qifsql.cli import options, running, typed
from qifsql.cli.options import Adversary, Data, Limits, Output


def receipt(
    data: Data,
    adversary: Adversary,
    output: Output,
    limits: Limits,
    target: options.Targets = None,
    key: options.Key = None,
) -> None:
    """What a release gives away of one person: the fewest facts that single the person out."""
    from qifsql.cli import show
    from qifsql.receipts import receipt as run
    from qifsql.report.parts import Part

    show.check(output)
    dataset, asked = data.dataset(), adversary.arguments()
    known = typed.targets(target, asked["qids"])
    with limits.settings() as settings:
        result = run(dataset, **asked, key=key, where=data.where, target=known, settings=settings)
    running.remarks(result.learnt.notes, quiet=limits.quiet)

    def render(*_: object) -> list[Part]:
        from qifsql.report import persons

        return persons.receipt(result)

    shown = show.Shown(
        result.frame,
        result.origin,
        render,
        f"qifsql: one person in {dataset.name}",
        {"learnt": result.learnt.frame},
    )
    show.show(shown, output)


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
    from qifsql.cli import show
    from qifsql.refinement import refines as run
    from qifsql.report.parts import Part

    show.check(output)
    dataset = data.dataset()
    with limits.settings() as settings:
        asked: dict[str, Any] = {"where": data.where, "null": null}
        result = run(dataset, typed.names([a]), typed.names([b]), **asked, settings=settings)
    running.remarks(result.notes, quiet=limits.quiet)

    def render(*_: object) -> list[Part]:
        from qifsql.report import persons

        return persons.refinement(result)

    example = result.counterexample
    details = {} if example is None else {"counterexample": example}
    title = f"qifsql: refinement in {dataset.name}"
    show.show(show.Shown(result.frame, result.origin, render, title, details), output)
