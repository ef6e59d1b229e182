"""``qifsql receipt``."""

from qifsql.options import groups, runtime, types
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

    show.check(output)
    dataset, options = data.dataset(), adversary.arguments()
    target_values = types.targets(target, options["qids"])
    with limits.settings() as settings:
        result = run(
            dataset, **options, key=key, where=data.where, target=target_values, settings=settings
        )
    runtime.remarks(result.notes, quiet=limits.quiet)

    title = f"qifsql: one person in {dataset.name}"
    show.show(show.Shown(result=result, title=title), output)
