"""``qifsql receipt``."""

from qifsql.options import groups, runtime, texts
from qifsql.options.groups import (
    Adversary,
    Data,
    Limits,
    Output,
)


def receipt(
    data: Data,
    adversary: Adversary,
    output: Output,
    limits: Limits,
    target: groups.Targets = None,
    key: groups.Key = None,
) -> None:
    """What a release gives away of one person: the fewest facts that single the person out."""
    from qifsql.commands.receipt.receipt import receipt as run
    from qifsql.options import show
    from qifsql.presentation.parts import Part
    from qifsql.results.result import Result

    show.check(output)
    dataset, options = data.dataset(), adversary.arguments()
    target_values = texts.targets(target, options["qids"])
    with limits.settings() as settings:
        result = run(
            dataset, **options, key=key, where=data.where, target=target_values, settings=settings
        )
    runtime.remarks(result.learnt.notes, quiet=limits.quiet)

    def render(*_: object) -> list[Part]:
        from qifsql.commands.receipt import view

        return view.receipt(result)

    shown = show.Shown(
        result=Result(
            frame=result.frame, origin=result.origin, details={"learnt": result.learnt.frame}
        ),
        title=f"qifsql: one person in {dataset.name}",
        view=render,
    )
    show.show(shown, output)
