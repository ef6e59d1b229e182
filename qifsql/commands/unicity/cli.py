"""``qifsql unicity``."""

from qifsql.commands.unicity.spec import UnicityOptions
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Output


def unicity(data: Data, output: Output, limits: Limits, options: UnicityOptions) -> None:
    """Of a log with pseudonyms: how many people a few of their own records single out."""
    from qifsql.commands.unicity.unicity import unicity as run
    from qifsql.options import show

    show.check(output)
    dataset, seed = data.dataset(), limits.seed or 0
    with limits.settings() as settings:
        result = run(dataset, **options, seed=seed, where=data.where, settings=settings)
    runtime.remarks(result.notes, quiet=limits.quiet)

    show.show(show.Shown(result=result, title=f"qifsql: unicity of {dataset.name}"), output)
