"""``qifsql dp``."""

from qifsql.commands.dp.spec import DpOptions
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Output
from qifsql.options.measuring import Charts


def dp(data: Data, options: DpOptions, charts: Charts, output: Output, limits: Limits) -> None:
    """Weigh the privacy that noisy counts lose (differential privacy) against their utility."""
    from qifsql.commands.dp.bind import listed_in
    from qifsql.commands.dp.dp import dp as run
    from qifsql.commands.dp.mechanisms import MECHANISMS
    from qifsql.options import show
    from qifsql.results.storage import check_place

    show.check(output)
    charts.check()
    dataset = data.dataset()
    if output.out is not None:
        check_place(output.out, dataset.paths)
    options["order"] = [value for row in options.get("order", ()) for value in listed_in(row)]
    if options.get("mechanism") == "all":
        options["mechanism"] = MECHANISMS
    with limits.settings() as settings:
        result = run(dataset, **options, where=data.where, settings=settings)
    runtime.remarks(result.notes, quiet=limits.quiet)
    charts.draw("dp", result, quiet=limits.quiet)

    title = f"qifsql: noisy counts of {dataset.name}"
    show.show(show.Shown(result=result, title=title, aside=("scenario",)), output)
