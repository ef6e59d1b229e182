"""``qifsql refines``."""

from typing import Annotated, Any

import typer

from qifsql.data.option import names
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Output

EXAMPLES = {
    "Is knowing the year of birth always worse for privacy than knowing the decade?": (
        "qifsql refines data-samples/school_census_2018.parquet NU_ANO 'decade=NU_ANO//10'"
    ),
    "Compare two sets of quasi-identifiers.": (
        "qifsql refines data-samples/school_census_2018.parquet NU_ANO,TP_SEXO NU_ANO,TP_COR_RACA"
    ),
}


def refines(
    data: Data,
    a: Annotated[str, typer.Argument(metavar="A", help="Quasi-identifiers, as in --qids.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Quasi-identifiers to compare with.")],
    output: Output,
    limits: Limits,
    null: Annotated[
        str, typer.Option("--null", help="Missing values: distinct or drop.")
    ] = "distinct",
) -> None:
    """Test refinement: knowing A never leaks less than knowing B, for every secret and gain."""
    from qifsql.commands.refines.refines import refines as run
    from qifsql.options import show

    show.check(output)
    dataset = data.dataset()
    with limits.settings() as settings:
        options: dict[str, Any] = {"where": data.where, "null": null}
        result = run(dataset, names([a]), names([b]), **options, settings=settings)
    runtime.remarks(result.notes, quiet=limits.quiet)

    title = f"qifsql: refinement in {dataset.name}"
    show.show(show.Shown(result=result, title=title), output)
