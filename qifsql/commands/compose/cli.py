"""``qifsql compose``."""

from typing import Annotated

import typer

from qifsql.commands.compose.spec import ComposeOptions
from qifsql.engine.settings import Settings
from qifsql.options import shared_options
from qifsql.options.runner import Answer
from qifsql.options.shared_options import Data, Output

EXAMPLES = {
    "What do two sanitised releases reveal together?": (
        "qifsql anonymise data-samples/school_census_2018.parquet -o a.csv --method "
        "mondrian --k 5 -q TP_SEXO,NU_ANO -s TP_COR_RACA && qifsql anonymise "
        "data-samples/school_census_2018.parquet -o b.csv --method mondrian --k 7 -q "
        "TP_SEXO,NU_ANO -s TP_COR_RACA && qifsql compose a.csv b.csv --people "
        "data-samples/school_census_2018.parquet -q TP_SEXO,NU_ANO -s TP_COR_RACA"
    ),
    "How often is the best guess right?": (
        "qifsql compose a.csv b.csv --people data-samples/school_census_2018.parquet -q "
        "TP_SEXO,NU_ANO -s TP_COR_RACA --truth TP_COR_RACA"
    ),
}


def compose(
    data: Data,
    options: ComposeOptions,
    output: Output,
    settings: Settings,
    more: Annotated[
        list[str] | None, typer.Argument(metavar="[MORE]...", help="The other releases.")
    ] = None,
) -> Answer:
    """Composition (intersection) attack: what several sanitised releases reveal together.

    --where selects people. Cells may be values or generalised: * [20,30] 20-29 <30 130**
    {France,Germany} or a node of a hierarchy.
    """
    from qifsql.commands.compose.compose import compose as run

    releases = [data.dataset(), *(data.dataset(file) for file in more or ())]
    result = run(releases, **options, settings=settings)
    records = options.get("records")
    notes = [f"{result.written:,} people written to {records}"] if records else []
    return Answer(result, f"composition of {shared_options.title_of(releases)}", notes=notes)
