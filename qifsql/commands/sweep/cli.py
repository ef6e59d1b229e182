"""``qifsql sweep``."""

import re
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from qifsql.commands.sweep.spec import SweepOptions
from qifsql.data.option import RUN
from qifsql.engine.settings import Settings
from qifsql.options.runner import Answer, Tell
from qifsql.options.shared_options import Auxiliary, Charts, Data, Output, title_of

Workspace = Annotated[
    Path | None,
    typer.Option(
        "--workspace",
        help="Checkpoint file to resume from; kept if you name one (default: "
        "FILE.sweep, deleted on success).",
        rich_help_panel=RUN,
    ),
]


EXAMPLES = {
    "Which quasi-identifiers carry the risk?": (
        "qifsql sweep data-samples/school_census_2018.parquet -q "
        "NU_DIA,NU_MES,NU_ANO,TP_SEXO -s IN_TRANSPORTE_PUBLICO"
    ),
    "Which smallest sets of up to three columns single out half of the pupils?": (
        "qifsql sweep data-samples/school_census_2018.parquet -q "
        "'NU_*,TP_SEXO,CO_ENTIDADE' --sizes 1-3 --threshold 0.5 -o sweep.parquet"
    ),
}


def sweep(
    data: Data,
    auxiliary: Auxiliary,
    options: SweepOptions,
    charts: Charts,
    output: Output,
    settings: Settings,
    tell: Tell,
    workspace: Workspace = None,
) -> Answer:
    """Attack with every subset of the quasi-identifiers; rank subsets and columns to drop.

    If people may have several records, name the column of people first (--person): without it
    records are counted.
    """
    from qifsql.commands.sweep import view
    from qifsql.commands.sweep.sweep import sweep as run
    from qifsql.engine.temporary import remove

    source = auxiliary.source(data)
    name = title_of(source)
    file = workspace or Path(re.sub(r"[^\w.@-]+", "_", name)[:100] + ".sweep")
    # Details that the terminal shows only if they are asked for.
    selected = {"histogram": options.get("histogram"), "plan": options.get("explain")}
    selected |= dict.fromkeys(("borders", "sure"), options.get("threshold") is not None)
    options["histogram"] = charts.histogram(bool(selected["histogram"]))
    result = run(source, workspace=file, told=tell, settings=settings, **options)
    return Answer(
        result,
        f"every subset in {name}",
        aside=[name for name in result.details if not selected.get(name)],
        view=partial(view.parts, explain=bool(selected["plan"])),
        finish=partial(remove, file) if workspace is None and result.complete else None,
    )
