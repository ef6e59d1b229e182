"""``qifsql compare``."""

from typing import Annotated

import typer

from qifsql.commands.compare.spec import CompareOptions
from qifsql.engine.settings import Settings
from qifsql.errors import InputError
from qifsql.options import shared_options
from qifsql.options.runner import Answer
from qifsql.options.shared_options import Charts, Data, Output

Releases = Annotated[
    list[str] | None, typer.Argument(metavar="[RELEASE]...", help="The sanitised releases of FILE.")
]

EXAMPLES = {
    "What does a release of k = 5 still tell, and what did it cost?": (
        "qifsql anonymise data-samples/school_census_2018.parquet -o k5.parquet --method mondrian "
        "--k 5 -q TP_SEXO,NU_ANO -s TP_COR_RACA && qifsql compare "
        "data-samples/school_census_2018.parquet k5.parquet -q TP_SEXO,NU_ANO -s TP_COR_RACA"
    ),
    "What would it help to drop the day of birth, or to publish ages in steps of five years?": (
        "qifsql compare data-samples/school_census_2018.parquet -q "
        "NU_DIA,NU_MES,NU_ANO,TP_SEXO -c drop=NU_DIA -c NU_ANO:5"
    ),
    "Which smallest change lets at most 1 in 100 be re-identified?": (
        "qifsql compare data-samples/school_census_2018.parquet -q "
        "NU_DIA,NU_MES,NU_ANO,TP_SEXO --until 'crs<=0.01'"
    ),
    "Is knowing the year of birth always worse for privacy than knowing the decade?": (
        "qifsql compare data-samples/school_census_2018.parquet -q NU_ANO "
        "--refines 'decade=NU_ANO//10'"
    ),
}


def compare(
    data: Data,
    options: CompareOptions,
    charts: Charts,
    output: Output,
    settings: Settings,
    releases: Releases = None,
) -> Answer:
    """Compare FILE with sanitised releases or with changes: the remaining risk and the loss.

    One row per release and secret: k, l, success at re-identification (CRS) and inference (CAS)
    before and after, and information loss. Cells may be values or generalised: * [20,30] 20-29
    <30 130** {France,Germany} or a node of a hierarchy. With --pairs and --formula: what analysts
    would find, associations of columns and a regression, before and after.

    Without a release: the risk with each --change, without writing data; with --until or
    --policy, the smallest change that keeps all bounds (fewest quasi-identifiers, then fewest
    steps). Exit code 4 if there is none.

    With --refines: whether knowing --qids never leaks less than knowing other attributes.

    If people may have several records, name the column of people first (--person).
    """
    from qifsql.commands.compare.compare import compare as run

    if charts.charts is not None and options.get("refines"):
        raise InputError("a test of refinement has no charts; leave --charts out")
    original = data.dataset()
    sanitised = [data.dataset(file) for file in releases or ()]
    result = run(original, sanitised, **options, settings=settings)
    titles = {
        "compare": f"{original.name} beside {shared_options.title_of(sanitised)}",
        "what-if": f"{original.name}, what if",
        "refines": f"refinement in {original.name}",
    }
    is_search = result.kind == "what-if"
    met = bool(result) or not is_search
    return Answer(result, titles[result.kind], prose=is_search, met=met)
