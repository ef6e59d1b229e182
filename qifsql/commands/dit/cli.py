"""``qifsql dit``."""

from qifsql.commands.dit.spec import DitOptions
from qifsql.data.option import as_tuple
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Output
from qifsql.options.measuring import Charts
from qifsql.options.texts import hierarchies_of_secrets

EXAMPLES = {
    "How much does the guess about a person depend on their own record?": (
        "qifsql dit data-samples/thesis_table_3_2.csv -q age,gender -s illness --method "
        "mondrian --k 2"
    ),
    "Compare several k.": (
        "qifsql dit data-samples/thesis_table_3_2.csv -q age,gender -s illness --method "
        "mondrian --k 2,3"
    ),
}


def dit(data: Data, options: DitOptions, charts: Charts, output: Output, limits: Limits) -> None:
    """Differential inference testing: how much a guess about a person depends on their record."""
    from qifsql.commands.dit.dit import dit as run
    from qifsql.options import show
    from qifsql.results.storage import check_place

    records, store = options.get("records"), options.get("store")
    show.check(output, records=records)
    charts.check()
    dataset = data.dataset()
    if output.out is not None:
        check_place(output.out, dataset.paths)
    if files := options.get("hierarchy"):
        secrets = as_tuple(options["secret"])
        options["hierarchy"] = hierarchies_of_secrets(as_tuple(files), secrets)  # type: ignore[arg-type]
    with runtime.store(store, quiet=limits.quiet), limits.settings() as settings:
        result = run(dataset, **options, where=data.where, settings=settings)
    done = [f"{result.written:,} rows written to {records}"] if records else []
    runtime.remarks([*result.notes, *done], quiet=limits.quiet)
    charts.draw("dit", result, quiet=limits.quiet)

    title = f"qifsql: inference testing of {dataset.name}"
    show.show(show.Shown(result=result, title=title, aside=("distribution",)), output)
