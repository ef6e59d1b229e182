"""``qifsql estimate``: the number of unique people in a population, estimated from a sample."""

from qifsql.commands.estimate.spec import EstimateOptions
from qifsql.engine.settings import Settings
from qifsql.options.runner import Answer
from qifsql.options.shared_options import Data, Output

EXAMPLES = {
    "The file is a tenth of the population. Who is unique in all of it?": (
        "qifsql estimate data-samples/school_census_2018.parquet -q "
        "NU_ANO,TP_SEXO,CO_MUNICIPIO_END --fraction 0.1"
    ),
    "Write the risk of each record.": (
        "qifsql estimate data-samples/school_census_2018.parquet -q "
        "NU_ANO,TP_SEXO,CO_MUNICIPIO_END --population-size 200000 --records risks.parquet"
    ),
}


def estimate(data: Data, output: Output, settings: Settings, options: EstimateOptions) -> Answer:
    """Estimate population uniqueness and the re-identification risk of records from a sample.

    With --person the sample is one of people, each with all her records, and all are known.
    """
    from qifsql.commands.estimate.estimate import estimate as run

    dataset, records = data.dataset(), options.get("records")
    result = run(dataset, **options, settings=settings)
    notes = [f"the risk of every record is written to {records}"] if records else []
    return Answer(result, f"the population of {dataset.name}", notes=notes, aside=result.details)
