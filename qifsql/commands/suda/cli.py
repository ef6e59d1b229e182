"""``qifsql suda``."""

from qifsql.commands.suda.spec import SudaOptions
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Output
from qifsql.options.measuring import Charts

EXAMPLES = {
    "Who is singled out by one or two attributes, and which attributes do it?": (
        "qifsql suda data-samples/school_census_2018.parquet -q "
        "NU_ANO,TP_SEXO,TP_COR_RACA,CO_ENTIDADE --max-size 2"
    ),
    "Write the score of each record.": (
        "qifsql suda data-samples/school_census_2018.parquet -q "
        "NU_ANO,TP_SEXO,TP_COR_RACA,CO_ENTIDADE --fraction 1/10 --records scores.parquet"
    ),
}


def suda(data: Data, options: SudaOptions, charts: Charts, output: Output, limits: Limits) -> None:
    """Find special uniques: minimal sample uniques (MSU), SUDA and DIS-SUDA scores.

    An MSU of a record is a set of quasi-identifiers that singles it out, while no smaller part of
    it does. The fewer it needs, the less the record is unique by chance.
    """
    from qifsql.commands.suda.suda import suda as run
    from qifsql.options import show
    from qifsql.results.storage import check_place

    records = options.get("records")
    show.check(output, records=records)
    charts.check()
    dataset = data.dataset()
    if output.out is not None:
        check_place(output.out, dataset.paths)
    options["where"] = data.where
    with limits.settings() as settings:
        result = run(dataset, **options, settings=settings)
    done = [f"{result.written:,} records written to {records}"] if records else []
    runtime.remarks([*result.notes, *done], quiet=limits.quiet)
    charts.draw("suda", result, quiet=limits.quiet)

    title = f"qifsql: special uniques of {dataset.name}"
    show.show(show.Shown(result=result, title=title, aside=result.details), output)
