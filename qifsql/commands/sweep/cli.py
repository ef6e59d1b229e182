"""``qifsql sweep``."""

import re
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from qifsql.commands.sweep.spec import SweepOptions
from qifsql.data.option import RUN
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Others, Output, named
from qifsql.options.measuring import Charts

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
    others: Others,
    options: SweepOptions,
    charts: Charts,
    output: Output,
    limits: Limits,
    workspace: Workspace = None,
) -> None:
    """Attack with every subset of the quasi-identifiers; rank subsets and columns to drop."""
    from qifsql.commands.sweep import view
    from qifsql.commands.sweep.sweep import sweep as run
    from qifsql.engine.temporary import remove
    from qifsql.options import show
    from qifsql.results.storage import check_place

    show.check(output)
    charts.check()
    source = others.source(data)
    name = named(source)
    if output.out is not None:
        check_place(output.out, tuple(path for dataset in source for path in dataset.paths))
    file = workspace or Path(re.sub(r"[^\w.@-]+", "_", name)[:100] + ".sweep")
    shown = {"histogram": options.get("histogram"), "plan": options.get("explain")}
    shown |= {"borders": options.get("threshold") is not None}
    options["histogram"] = charts.histogram(bool(shown["histogram"]))
    options["where"] = data.where
    with limits.settings() as settings:
        result = run(
            source,
            workspace=file,
            told=lambda line: runtime.remarks([line], quiet=limits.quiet),
            settings=settings,
            **options,
        )
    runtime.remarks(result.notes, quiet=limits.quiet)
    charts.draw("sweep", result, quiet=limits.quiet)

    display = show.Shown(
        result=result,
        title=f"qifsql: every subset in {name}",
        aside=tuple(name for name in result.details if not shown.get(name)),
        view=partial(view.parts, explain=bool(shown["plan"])),
    )
    done = file if workspace is None and result.complete else None
    try:
        show.show(display, output)
    except (BrokenPipeError, SystemExit):  # the reader stopped reading
        if done:
            remove(done)
        raise
    if done:
        remove(done)  # only after the result is written
