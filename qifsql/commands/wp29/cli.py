"""``qifsql wp29``: the three questions of the Article 29 Working Party."""

from qifsql.commands.wp29.spec import Wp29Options
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Output


def wp29(data: Data, options: Wp29Options, output: Output, limits: Limits) -> None:
    """Singling out, linkability, inference: the three questions of EU Opinion 05/2014 (WP 216)."""
    from qifsql.commands.wp29.wp29 import wp29 as run
    from qifsql.options import show

    show.check(output)
    dataset, seed = data.dataset(), limits.seed or 0
    if "register" in options:
        options["register"] = data.dataset(str(options["register"]))
    with limits.settings() as settings:
        result = run(dataset, **options, seed=seed, where=data.where, settings=settings)
    runtime.remarks(result.notes, quiet=limits.quiet)

    title = f"qifsql: three questions about {dataset.name}"
    show.show(show.Shown(result=result, title=title, aside=result.details), output)
