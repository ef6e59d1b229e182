"""``qifsql synthetic``."""

from typing import Annotated

import typer

from qifsql.commands.synthetic.spec import SyntheticOptions
from qifsql.engine.settings import Settings
from qifsql.options import shared_options
from qifsql.options.runner import Answer
from qifsql.options.shared_options import Charts, Data, Output

Releases = Annotated[
    list[str],
    typer.Argument(metavar="SYNTHETIC...", help="Synthetic releases that were made from FILE."),
]

EXAMPLES = {
    "What does a synthetic release say about pupils that it does not say about others?": (
        "qifsql synthetic data-samples/school_census_2018.parquet "
        "data-samples/school_census_2017.parquet --control "
        "data-samples/school_census_2019.parquet -q NU_ANO,TP_SEXO -s TP_COR_RACA"
    ),
    "Which subset of the quasi-identifiers gives away most?": (
        "qifsql synthetic data-samples/school_census_2018.parquet "
        "data-samples/school_census_2017.parquet -q NU_ANO,TP_SEXO,CO_ENTIDADE "
        "-s TP_COR_RACA --sweep -f json"
    ),
}


def synthetic(
    data: Data,
    releases: Releases,
    options: SyntheticOptions,
    charts: Charts,
    output: Output,
    settings: Settings,
) -> Answer:
    """Measure what synthetic releases say about the people of FILE, from whom they were made.

    Overlap and uniques, attributes that are disclosed, and an adversary who learns from a release:
    success on the people of FILE, and on a control from whom it was not made. Only the difference
    is about individuals. With --person the records of a person in each file are one individual, of
    whom all records are known, and then one; subsets, questions, distances, classifiers and groups
    compare single records, and are refused with it.
    """
    from qifsql.commands.synthetic.synthetic import synthetic as run
    from qifsql.commands.synthetic.view import ASIDE

    original, synthetic = data.dataset(), [data.dataset(file) for file in releases]
    result = run(original, synthetic, **options, settings=settings)
    return Answer(
        result, f"{original.name} behind {shared_options.title_of(synthetic)}", aside=ASIDE
    )
