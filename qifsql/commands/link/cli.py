"""``qifsql link``."""

from typing import Annotated

import typer

from qifsql.commands.link.spec import LinkOptions
from qifsql.engine.settings import Settings
from qifsql.options.runner import Answer
from qifsql.options.shared_options import Data, Output

EXAMPLES = {
    "How many records of 2018 have a unique match in 2019?": (
        "qifsql link data-samples/school_census_2018.parquet "
        "data-samples/school_census_2019.parquet -q NU_DIA,NU_MES,NU_ANO,TP_SEXO"
    ),
    "How many of these matches are correct, by the true key?": (
        "qifsql link data-samples/school_census_2018.parquet "
        "data-samples/school_census_2019.parquet -q NU_DIA,NU_MES,NU_ANO,TP_SEXO --truth ID_ALUNO"
    ),
}


def link(
    data: Data,
    register: Annotated[
        str, typer.Argument(metavar="REGISTER", help="Whom the adversary knows: a voter list.")
    ],
    output: Output,
    settings: Settings,
    options: LinkOptions,
) -> Answer:
    """Link a release with a register of names: unique matches, and how many are correct."""
    from qifsql.commands.link.link import link as run

    dataset = data.dataset()
    result = run(dataset, data.dataset(register), **options, settings=settings)
    return Answer(result, f"{dataset.name} and a register", aside=("confidence",))
