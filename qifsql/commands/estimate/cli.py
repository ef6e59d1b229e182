"""``qifsql estimate``: the number of unique people in a population, estimated from a sample."""

from qifsql.commands.estimate.spec import EstimateOptions
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Output

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


def estimate(data: Data, output: Output, limits: Limits, options: EstimateOptions) -> None:
    """Estimate population uniqueness and the re-identification risk of records from a sample."""
    from qifsql.commands.estimate.estimate import estimate as run
    from qifsql.options import show
    from qifsql.results.storage import check_place

    records = options.get("records")
    show.check(output, records=records)
    dataset = data.dataset()
    if output.out is not None:
        check_place(output.out, dataset.paths)
    with limits.settings() as settings:
        result = run(dataset, **options, where=data.where, settings=settings)
    done = [f"the risk of every record is written to {records}"] if records else []
    runtime.remarks([*result.notes, *done], quiet=limits.quiet)

    title = f"qifsql: the population of {dataset.name}"
    show.show(show.Shown(result=result, title=title, aside=result.details), output)
