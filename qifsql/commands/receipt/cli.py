"""``qifsql receipt``."""

from qifsql.commands.receipt.spec import ReceiptOptions
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Output


def receipt(
    data: Data,
    options: ReceiptOptions,
    output: Output,
    limits: Limits,
) -> None:
    """What a release gives away of one person: the fewest facts that single the person out."""
    from qifsql.commands.receipt.receipt import receipt as run
    from qifsql.options import show

    show.check(output)
    dataset = data.dataset()
    options["where"] = data.where
    with limits.settings() as settings:
        result = run(dataset, settings=settings, **options)
    runtime.remarks(result.notes, quiet=limits.quiet)

    title = f"qifsql: one person in {dataset.name}"
    show.show(show.Shown(result=result, title=title), output)
