"""``qifsql receipt``."""

from qifsql.commands.receipt.spec import ReceiptOptions
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Output

EXAMPLES = {
    "Which fewest facts single out one pupil?": (
        "qifsql receipt data-samples/popets_table_3a.csv -q age,gender,grade --target "
        "age=25 --target gender=F --target grade=A"
    ),
    "What do they tell about a disability?": (
        "qifsql receipt data-samples/popets_table_3a.csv -q age,gender,grade --target "
        "age=25 --target gender=F --target grade=A -s disability"
    ),
}


def receipt(
    data: Data,
    options: ReceiptOptions,
    output: Output,
    limits: Limits,
) -> None:
    """Find the fewest facts that single one person out, and what the release then reveals."""
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
