"""``qifsql tables``."""

from qifsql.commands.tables.spec import TableOptions
from qifsql.engine.settings import Settings
from qifsql.options.runner import Answer
from qifsql.options.shared_options import Charts, Output, Records

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
    data: Records, options: TableOptions, charts: Charts, output: Output, settings: Settings
) -> Answer:
    """Attack published tables of counts: what they prove, and what the best guess gets right.

    With FILE, the tables are made of its records as an office would make them; without, they are
    read as they were published.
    """
    from qifsql.commands.tables.tables import tables as run
    from qifsql.commands.tables.view import ASIDE

    result = run(data.dataset(), **options, settings=settings)
    return Answer(result, f"tables of {result.spec['dataset']}", aside=ASIDE)
