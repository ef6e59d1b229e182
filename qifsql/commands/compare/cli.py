"""``qifsql compare``."""

from typing import Annotated

import typer

from qifsql.commands.compare.spec import CompareOptions
from qifsql.options import groups, runtime
from qifsql.options.groups import Data, Limits, Output
from qifsql.options.measuring import Charts

Sanitised = Annotated[
    list[str], typer.Argument(metavar="SANITISED...", help="The sanitised releases of FILE.")
]


EXAMPLES = {
    "What does a release of k = 5 still tell, and what did it cost?": (
        "qifsql anonymise data-samples/school_census_2018.parquet -o k5.parquet --method "
        "mondrian --k 5 -q TP_SEXO,NU_ANO -s TP_COR_RACA && qifsql compare "
        "data-samples/school_census_2018.parquet k5.parquet -q TP_SEXO,NU_ANO -s "
        "TP_COR_RACA"
    ),
    "Write the comparison for a report.": (
        "qifsql compare data-samples/school_census_2018.parquet k5.parquet -q "
        "TP_SEXO,NU_ANO -s TP_COR_RACA -o compared.parquet"
    ),
}


def compare(
    data: Data,
    sanitised: Sanitised,
    options: CompareOptions,
    charts: Charts,
    output: Output,
    limits: Limits,
) -> None:
    """Compare sanitised releases with the original FILE: the remaining risk and the loss.

    One row per release and secret: k, l, success at re-identification (CRS) and inference (CAS)
    before and after, and information loss. Cells may be values or generalised: * [20,30] 20-29
    <30 130** {France,Germany} or a node of a hierarchy.
    """
    from qifsql.commands.compare.compare import compare as run
    from qifsql.options import show

    show.check(output)
    charts.check()
    original = data.dataset()
    releases = [data.dataset(file) for file in sanitised]
    with limits.settings() as settings:
        result = run(original, releases, **options, where=data.where, settings=settings)
    runtime.remarks(result.notes, quiet=limits.quiet)
    charts.draw("compare", result, quiet=limits.quiet)

    title = f"qifsql: {original.name} beside {groups.named(releases)}"
    show.show(show.Shown(result=result, title=title), output)
