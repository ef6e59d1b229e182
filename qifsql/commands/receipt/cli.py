"""``qifsql receipt``."""

from qifsql.commands.receipt.spec import ReceiptOptions
from qifsql.options import runtime
from qifsql.options.groups import (
    Data,
    Limits,
    Output,
)


def receipt(
    data: Data,
    options: ReceiptOptions,
    output: Output,
    limits: Limits,
) -> None:
    """What a release gives away of one person: the fewest facts that single the person out."""
    from qifsql.commands.receipt.receipt import receipt as run
    from qifsql.options import show
    from qifsql.presentation.parts import Part
    from qifsql.results.result import Result

    show.check(output)
    dataset = data.dataset()
    options["where"] = data.where
    with limits.settings() as settings:
        result = run(dataset, settings=settings, **options)
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
