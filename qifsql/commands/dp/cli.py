"""``qifsql dp``."""

from qifsql.commands.dp.spec import DpOptions
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Output
from qifsql.options.measuring import Charts

EXAMPLES = {
    "Compare the privacy loss and the utility of a noisy count of girls.": (
        "qifsql dp data-samples/school_census_2018.parquet --useful TP_SEXO --predicate "
        "'TP_SEXO = 2' --secret TP_COR_RACA --epsilon 'ln 3,1,2.5'"
    ),
    "Do the same for one epsilon, as JSON.": (
        "qifsql dp data-samples/school_census_2018.parquet --useful TP_SEXO --predicate "
        "'TP_SEXO = 2' --secret TP_COR_RACA --epsilon 0.5 -f json"
    ),
}


def dp(data: Data, options: DpOptions, charts: Charts, output: Output, limits: Limits) -> None:
    """Compare the privacy loss and the utility of differentially private counts."""
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
