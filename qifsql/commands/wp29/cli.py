"""``qifsql wp29``: the three questions of the Article 29 Working Party."""

from qifsql.commands.wp29.spec import Wp29Options
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Output

EXAMPLES = {
    "Answer the three questions of the opinion.": (
        "qifsql wp29 data-samples/school_census_2018.parquet -q "
        "NU_DIA,NU_MES,NU_ANO,TP_SEXO -s IN_NECESSIDADE_ESPECIAL"
    ),
    "Answer yes or no, with the next year as a register.": (
        "qifsql wp29 data-samples/school_census_2018.parquet -q "
        "NU_DIA,NU_MES,NU_ANO,TP_SEXO -s TP_COR_RACA --register "
        "data-samples/school_census_2019.parquet --threshold 0.2"
    ),
}


def wp29(data: Data, options: Wp29Options, output: Output, limits: Limits) -> None:
    """Answer the questions of EU Opinion 05/2014 (WP 216): singling out, linkability, inference."""
    from qifsql.commands.wp29.wp29 import wp29 as run
    from qifsql.options import show

    show.check(output)
    dataset, seed = data.dataset(), limits.seed or 0
    if "register" in options:
        options["register"] = data.dataset(str(options["register"]))
    with limits.settings() as settings:
        result = run(dataset, **options, seed=seed, where=data.where, settings=settings)
    runtime.remarks(result.notes, quiet=limits.quiet)

    title = f"qifsql: three questions about {dataset.name}"
    show.show(show.Shown(result=result, title=title, aside=result.details, prose=True), output)
