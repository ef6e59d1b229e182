"""``qifsql unhash``."""

from qifsql.commands.unhash.spec import UnhashOptions
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Output


def unhash(data: Data, output: Output, limits: Limits, options: UnhashOptions) -> None:
    """Dictionary attack: hash all identifiers there may be, and look them up in a column."""
    from qifsql.commands.unhash.unhash import unhash as run
    from qifsql.options import show

    mapping = options.get("mapping")
    show.check(output, mapping=mapping)
    dataset = data.dataset()
    with limits.settings() as settings:
        result = run(dataset, **options, where=data.where, settings=settings)
    done = [f"the mapping is written to {mapping}; it names people"] if mapping else []
    runtime.remarks([*result.notes, *done], quiet=limits.quiet)

    title = f"qifsql: hashes of {dataset.name}"
    show.show(show.Shown(result=result, title=title, aside=("patterns",)), output)
