"""``qifsql tables``."""

from qifsql.commands.tables.spec import TableOptions
from qifsql.options import runtime
from qifsql.options.groups import Limits, Output, Records
from qifsql.options.measuring import Charts

EXAMPLES = {
    "What do two tables say about race, school by school?": (
        "qifsql tables data-samples/school_census_2018.parquet --table "
        "CO_ENTIDADE,TP_SEXO,TP_COR_RACA --table CO_ENTIDADE,TP_SEXO,NU_ANO -s TP_COR_RACA"
    ),
    "Does hiding small counts help?": (
        "qifsql tables data-samples/school_census_2018.parquet --table "
        "'CO_ENTIDADE,TP_SEXO,TP_COR_RACA:suppress<5' --table CO_ENTIDADE,TP_SEXO --progressive"
    ),
}


def tables(
    data: Records,
    options: TableOptions,
    charts: Charts,
    output: Output,
    limits: Limits,
) -> None:
    """Attack published tables of counts: what they prove, and what the best guess gets right.

    With FILE, the tables are made of its records as an office would make them; without, they are
    read as they were published.
    """
    from qifsql.commands.tables.tables import tables as run
    from qifsql.commands.tables.view import ASIDE
    from qifsql.options import show

    show.check(output)
    charts.check()
    options["where"] = data.where
    dataset = data.dataset()
    with limits.settings() as settings:
        result = run(dataset, **options, settings=settings)
    runtime.remarks(result.notes, quiet=limits.quiet)
    charts.draw("tables", result, quiet=limits.quiet)

    title = f"qifsql: tables of {result.spec['dataset']}"
    show.show(show.Shown(result=result, title=title, aside=ASIDE), output, met=bool(result))
