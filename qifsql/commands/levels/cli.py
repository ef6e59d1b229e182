"""``qifsql levels``."""

from typing import Annotated

import typer

from qifsql.commands.levels.spec import BOUNDS, PANEL, LevelOptions
from qifsql.engine.settings import Settings
from qifsql.errors import InputError
from qifsql.options.grouping import single_option
from qifsql.options.runner import Answer
from qifsql.options.shared_options import Data, Output

EXAMPLES = {
    "Which k, l and t does the file reach?": (
        "qifsql levels data-samples/school_census_2018.parquet -q TP_SEXO,NU_ANO -s TP_COR_RACA"
    ),
    "Who is in a block of fewer than 5 people, or of one value?": (
        "qifsql levels data-samples/school_census_2018.parquet -q TP_SEXO,NU_ANO -s "
        "TP_COR_RACA --k 5 --l 2"
    ),
    "How many people would k = 2, 3 and 5 leave out?": (
        "qifsql levels data-samples/school_census_2018.parquet -q TP_SEXO,NU_ANO,NU_MES --k 2,3,5"
    ),
}


def levels(
    data: Data,
    options: LevelOptions,
    output: Output,
    settings: Settings,
    show_blocks: Annotated[bool, single_option(LevelOptions, "show_blocks")] = False,
    enforce: Annotated[
        bool,
        typer.Option(
            "--enforce", help="Exit with 4 if a required level is not met.", rich_help_panel=PANEL
        ),
    ] = False,
) -> Answer:
    """Measure k-anonymity, l-diversity, t-closeness and related levels.

    Lists the blocks and people below required levels, and tests four known attacks. If people
    may have several records, name the column of people first (--person): k records of one person
    hide nobody.
    """
    from qifsql.commands.levels.levels import levels as run
    from qifsql.commands.levels.levels import unmet_levels

    if enforce and not set(BOUNDS) & set(options):
        raise InputError("nothing to enforce: require a level, such as --k 5")
    dataset = data.dataset()
    options["show_blocks"] = show_blocks
    result = run(dataset, **options, settings=settings)
    return Answer(
        result,
        f"levels of {dataset.name}",
        aside=("attacks",),
        met=bool(result) or not enforce,
        unmet=f"not kept: {', '.join(unmet_levels(result.frame))}",
        private=show_blocks,
    )
