"""``qifsql link``."""

from typing import Annotated

import typer

from qifsql.commands.link.spec import LinkOptions
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Output

EXAMPLES = {
    "How many records of 2018 have a unique match in 2019?": (
        "qifsql link data-samples/school_census_2018.parquet "
        "data-samples/school_census_2019.parquet -q NU_DIA,NU_MES,NU_ANO,TP_SEXO"
    ),
    "How many of these matches are correct, by the true key?": (
        "qifsql link data-samples/school_census_2018.parquet "
        "data-samples/school_census_2019.parquet -q NU_DIA,NU_MES,NU_ANO,TP_SEXO --truth "
        "ID_ALUNO"
    ),
}


def link(
    data: Data,
    register: Annotated[
        str, typer.Argument(metavar="REGISTER", help="Whom the adversary knows: a voter list.")
    ],
    output: Output,
    limits: Limits,
    options: LinkOptions,
) -> None:
    """Link a release with a register of names: unique matches, and how many are correct."""
    from qifsql.commands.link.link import link as run
    from qifsql.options import show

    show.check(output)
    dataset = data.dataset()
    with limits.settings() as settings:
        named = data.dataset(register)
        result = run(dataset, named, **options, where=data.where, settings=settings)
    runtime.remarks(result.notes, quiet=limits.quiet)

    title = f"qifsql: {dataset.name} and a register"
    show.show(show.Shown(result=result, title=title, aside=("confidence",)), output)
