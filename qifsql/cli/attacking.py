"""``qifsql attack``."""

from qifsql.cli import options, running, typed
from qifsql.cli.options import Adversary, Data, Limits, Others, Output
from qifsql.cli.wishes import Details, Gains


def attack(
    model: options.Model,
    data: Data,
    others: Others,
    adversary: Adversary,
    gains: Gains,
    details: Details,
    output: Output,
    limits: Limits,
    target: options.Targets = None,
    member: options.Member = None,
    progressive: options.Progressive = False,
) -> None:
    """Measure what an adversary gains from releases: success before, after, degradation."""
    from qifsql.assess import attack as run
    from qifsql.cli import show

    show.check(output)
    source, asked = others.source(data), adversary.arguments()
    asked |= others.arguments() | gains.arguments() | details.arguments()
    known = typed.targets(target, asked["qids"])
    with limits.settings() as settings:
        result = run(
            model,
            source,
            **asked,
            where=data.where,
            target=known,
            member=member,
            progressive=progressive,
            settings=settings,
        )
    running.remarks(result.notes, quiet=limits.quiet)

    def render() -> object:
        from qifsql.report import tables

        return tables.assessment(result)

    title = f"qifsql: {options.named(source)}"
    show.show(show.Shown(result.frame, result.origin, render, title, result.details), output)
