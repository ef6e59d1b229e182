"""``qifsql dp``."""

from qifsql.commands.dp.spec import DpOptions
from qifsql.engine.settings import Settings
from qifsql.options.runner import Answer
from qifsql.options.shared_options import Charts, Data, Output

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


def dp(
    data: Data, options: DpOptions, charts: Charts, output: Output, settings: Settings
) -> Answer:
    """Compare the privacy loss and the utility of differentially private counts."""
    from qifsql.commands.dp.bind import parse_order
    from qifsql.commands.dp.dp import dp as run
    from qifsql.commands.dp.mechanisms import MECHANISMS

    dataset = data.dataset()
    options["order"] = [value for row in options.get("order", ()) for value in parse_order(row)]
    if options.get("mechanism") == "all":
        options["mechanism"] = MECHANISMS
    result = run(dataset, **options, settings=settings)
    return Answer(result, f"noisy counts of {dataset.name}", aside=("scenario",))
