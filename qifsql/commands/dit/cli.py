"""``qifsql dit``."""

from qifsql.commands.dit.spec import DitOptions
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Output
from qifsql.options.measuring import Charts


def dit(data: Data, options: DitOptions, charts: Charts, output: Output, limits: Limits) -> None:
    """Test whether what is guessed about a person depends on that person (inference testing)."""
    from qifsql.commands.dit.dit import dit as run
    from qifsql.options import show
    from qifsql.results.storage import check_place

    records, store = options.get("records"), options.get("store")
    show.check(output, records=records)
    charts.check()
    dataset = data.dataset()
    if output.out is not None:
        check_place(output.out, dataset.paths)
    with runtime.store(store, quiet=limits.quiet), limits.settings() as settings:
        result = run(dataset, **options, where=data.where, settings=settings)
    done = [f"{result.written:,} rows written to {records}"] if records else []
    runtime.remarks([*result.notes, *done], quiet=limits.quiet)
    charts.draw("dit", result, quiet=limits.quiet)

    title = f"qifsql: inference testing of {dataset.name}"
    show.show(show.Shown(result=result, title=title, aside=("distribution",)), output)
