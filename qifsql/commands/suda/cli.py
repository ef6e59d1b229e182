"""``qifsql suda``."""

from qifsql.commands.suda.spec import SudaOptions
from qifsql.engine.settings import Settings
from qifsql.errors import plural
from qifsql.options.runner import Answer, Tell
from qifsql.options.shared_options import Charts, Data, Output

EXAMPLES = {
    "Who is singled out by one or two attributes, and which attributes do it?": (
        "qifsql suda data-samples/school_census_2018.parquet -q "
        "NU_ANO,TP_SEXO,TP_COR_RACA,CO_ENTIDADE --max-size 2"
    ),
    "Write the score of each record.": (
        "qifsql suda data-samples/school_census_2018.parquet -q "
        "NU_ANO,TP_SEXO,TP_COR_RACA,CO_ENTIDADE --fraction 1/10 --records scores.parquet"
    ),
    "Pupils have several records: whom does one of them single out?": (
        "qifsql suda data-samples/school_census_2019_enrolments.parquet -q "
        "NU_ANO,TP_SEXO,CO_ENTIDADE,TP_ETAPA_ENSINO --person ID_ALUNO"
    ),
}


def suda(
    data: Data, options: SudaOptions, charts: Charts, output: Output, settings: Settings, tell: Tell
) -> Answer:
    """Find special uniques: minimal sample uniques (MSU), SUDA and DIS-SUDA scores.

    An MSU of a record is a set of quasi-identifiers that singles it out, while no smaller part of
    it does. The fewer it needs, the less the record is unique by chance. With --person an MSU of a
    person is a set in which one of her records equals no record of anybody else: one record of her
    is known. Who knows all records singles out at least as many people (qifsql sweep --person);
    what is known is then a multiset, which no walk from set to set finds.
    """
    from qifsql.commands.suda.suda import suda as run

    dataset, records = data.dataset(), options.get("records")
    result = run(dataset, **options, told=tell, settings=settings)
    notes = [f"{plural(result.written, 'record')} written to {records}"] if records else []
    return Answer(result, f"special uniques of {dataset.name}", notes=notes, aside=result.details)
