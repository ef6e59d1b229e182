"""``qifsql compose``."""

from typing import Annotated

import typer

from qifsql.commands.compose.spec import ComposeOptions
from qifsql.options import groups, runtime
from qifsql.options.groups import Data, Limits, Output

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
    limits: Limits,
    more: Annotated[
        list[str] | None, typer.Argument(metavar="[MORE]...", help="The other releases.")
    ] = None,
) -> None:
    """Composition (intersection) attack: what several sanitised releases reveal together.

    --where selects people. Cells may be values or generalised: * [20,30] 20-29 <30 130**
    {France,Germany} or a node of a hierarchy.
    """
    from qifsql.commands.compose.compose import compose as run
    from qifsql.options import show

    records = options.get("records")
    show.check(output, records=records)
    releases = [data.dataset(), *(data.dataset(file) for file in more or ())]
    options["people"], options["where"] = data.dataset(str(options["people"])), data.where
    with limits.settings() as settings:
        result = run(releases, **options, settings=settings)
    done = [f"{result.written:,} people written to {records}"] if records else []
    runtime.remarks([*result.notes, *done], quiet=limits.quiet)

    title = f"qifsql: composition of {groups.named(releases)}"
    show.show(show.Shown(result=result, title=title), output)
