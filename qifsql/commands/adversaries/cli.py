"""``qifsql adversaries``."""

from pathlib import Path
from typing import Annotated

import typer

from qifsql.commands.adversaries.spec import AdversariesOptions
from qifsql.options.runner import Answer
from qifsql.options.shared_options import Charts, Output, Talk

Sweep = Annotated[
    Path,
    typer.Argument(
        metavar="SWEEP", help="A stored result of qifsql sweep (-o FILE.parquet or .json)."
    ),
]

EXAMPLES = {
    "How well does a neighbour guess, who is likely to know the month and year of birth?": (
        "qifsql sweep data-samples/school_census_2018.parquet -q NU_DIA,NU_MES,NU_ANO,TP_SEXO "
        "-s IN_TRANSPORTE_PUBLICO -o sweep.parquet && qifsql adversaries sweep.parquet "
        '--knows "neighbour: NU_DIA=0.1,NU_MES=0.6,NU_ANO=0.9,TP_SEXO=1" --threshold 0.05'
    ),
    "Someone knows any three of the attributes, and tries with a chance of 1 in 20.": (
        "qifsql adversaries sweep.parquet --any 3 --attempt 0.05"
    ),
}


def adversaries(
    sweep: Sweep, options: AdversariesOptions, charts: Charts, output: Output, talk: Talk
) -> Answer:
    """Compute the success of adversaries who know only some of the quasi-identifiers.

    From a stored sweep: no data are read. Without --knows and --any: any number of attributes.
    """
    from qifsql.commands.adversaries.adversaries import adversaries as run
    from qifsql.commands.adversaries.view import ASIDE

    result = run(sweep, **options)
    name = result.spec.get("dataset") or sweep.name
    return Answer(result, f"adversaries who know some of {name}", aside=ASIDE)
