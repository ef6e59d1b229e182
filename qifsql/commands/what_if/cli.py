"""``qifsql what-if``."""

from qifsql.commands.what_if.spec import WhatIfOptions
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Output
from qifsql.options.measuring import Charts

EXAMPLES = {
    "What would it help to drop the day of birth, or to publish ages in steps of five years?": (
        "qifsql what-if data-samples/school_census_2018.parquet -q "
        "NU_DIA,NU_MES,NU_ANO,TP_SEXO -c drop=NU_DIA -c NU_ANO:5"
    ),
    "Which smallest change lets at most 1 in 100 be re-identified?": (
        "qifsql what-if data-samples/school_census_2018.parquet -q "
        "NU_DIA,NU_MES,NU_ANO,TP_SEXO --until 'crs<=0.01'"
    ),
}


def what_if(
    data: Data, options: WhatIfOptions, charts: Charts, output: Output, limits: Limits
) -> None:
    """Measure the risk before and after changes of columns; write no data.

    With --until or --policy: find the smallest change that keeps all bounds (fewest
    quasi-identifiers, then fewest steps). Exit code 4 if there is none.
    """
    from qifsql.commands.what_if.what_if import what_if as run
    from qifsql.options import show

    show.check(output)
    charts.check()
    dataset = data.dataset()
    with limits.settings() as settings:
        result = run(dataset, **options, where=data.where, settings=settings)
    runtime.remarks(result.notes, quiet=limits.quiet)
    charts.draw("what_if", result, quiet=limits.quiet)

    title = f"qifsql: {dataset.name}, what if"
    show.show(show.Shown(result=result, title=title, prose=True), output, met=bool(result))
