"""``qifsql attack``."""

from qifsql.cli import options, running, typed
from qifsql.cli.options import Adversary, Data, Limits, Output
from qifsql.cli.wishes import Details, Gains


def attack(
    model: options.Model,
    data: Data,
    adversary: Adversary,
    gains: Gains,
    details: Details,
    output: Output,
    limits: Limits,
    target: options.Targets = None,
    key: options.Key = None,
) -> None:
    """Measure what an adversary gains from a release: success before, after, degradation."""
    from qifsql.assess import attack as run
    from qifsql.cli import show

    show.check(output)
    dataset, asked = data.dataset(), adversary.arguments()
    asked |= gains.arguments() | details.arguments()
    known = typed.targets(target, asked["qids"])
    with limits.settings() as settings:
        result = run(
            model, dataset, **asked, key=key, where=data.where, target=known, settings=settings
        )
    running.remarks(result.notes, quiet=limits.quiet)

    def render() -> object:
        from qifsql.report import tables

        return tables.assessment(result)

    title = f"qifsql: {dataset.name}"
    show.show(show.Shown(result.frame, result.origin, render, title, result.details), output)
