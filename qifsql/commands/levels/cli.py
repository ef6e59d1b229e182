"""``qifsql levels``."""

from typing import Annotated

import typer

from qifsql.commands.levels.spec import BOUNDS, PANEL, LevelOptions
from qifsql.errors import InputError
from qifsql.options import runtime
from qifsql.options.grouping import described
from qifsql.options.groups import Data, Limits, Output
from qifsql.options.texts import hierarchies_of_secrets

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
    limits: Limits,
    show_blocks: Annotated[bool, described(LevelOptions, "show_blocks")] = False,
    enforce: Annotated[
        bool,
        typer.Option(
            "--enforce",
            help="Exit with 4 if a required level is not met.",
            rich_help_panel=PANEL,
        ),
    ] = False,
) -> None:
    """Measure k-anonymity, l-diversity, t-closeness and related levels.

    Lists the blocks and people below required levels, and tests four known attacks.
    """
    from qifsql.commands.levels.levels import broken
    from qifsql.commands.levels.levels import levels as run
    from qifsql.engine import masks
    from qifsql.options import show

    show.check(output)
    dataset = data.dataset()
    if enforce and not set(BOUNDS) & set(options):
        raise InputError("nothing to enforce: require a level, such as --k 5")
    options["where"], options["show_blocks"] = data.where, show_blocks
    if people := options.get("population"):
        options["population"] = data.dataset(str(people))
    if files := options.get("hierarchy"):
        options["hierarchy"] = hierarchies_of_secrets(files, options.get("secret", ()))
    with limits.settings() as settings:
        result = run(dataset, **options, settings=settings)
    runtime.remarks(result.notes, quiet=limits.quiet)

    title = f"qifsql: levels of {dataset.name}"
    with (
        masks.private_outputs(when=show_blocks),
        runtime.store(output.out if show_blocks else None, quiet=limits.quiet),
    ):
        shown = show.Shown(result=result, title=title, aside=("attacks",))
        unmet = f"not kept: {', '.join(broken(result.frame))}"
        show.show(shown, output, met=bool(result) or not enforce, unmet=unmet)
