"""``qifsql attack``."""

from qifsql.cli import options, running
from qifsql.cli.options import Adversary, Data, Limits, Output


def attack(
    model: options.Model,
    data: Data,
    adversary: Adversary,
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
    known = options.targets(target, asked["qids"])
    with limits.settings() as settings:
        result = run(
            model, dataset, **asked, key=key, where=data.where, target=known, settings=settings
        )
    running.remarks(result.notes, quiet=limits.quiet)

    def render() -> object:
        from qifsql.report import tables

        return tables.assessment(result)

    shown = show.Shown(result.frame, result.origin, render, f"qifsql: {dataset.name}")
    show.show(shown, output)
