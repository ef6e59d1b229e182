"""``qifsql unicity``."""

from qifsql.commands.unicity.spec import UnicityOptions
from qifsql.options import runtime
from qifsql.options.groups import Data, Limits, Output

EXAMPLES = {
    "How many pupils are unique by one to four of their enrolments?": (
        "qifsql unicity data-samples/school_census_2019_enrolments.parquet --key "
        "ID_ALUNO -q CO_ENTIDADE,TP_ETAPA_ENSINO"
    ),
    "Count two points only.": (
        "qifsql unicity data-samples/school_census_2019_enrolments.parquet --key "
        "ID_ALUNO -q CO_ENTIDADE --points 2 -f json"
    ),
}


def unicity(data: Data, output: Output, limits: Limits, options: UnicityOptions) -> None:
    """Unicity of a pseudonymous log: how many people are unique by a few of their own records."""
    from qifsql.commands.unicity.unicity import unicity as run
    from qifsql.options import show

    show.check(output)
    dataset, seed = data.dataset(), limits.seed or 0
    with limits.settings() as settings:
        result = run(dataset, **options, seed=seed, where=data.where, settings=settings)
    runtime.remarks(result.notes, quiet=limits.quiet)

    show.show(show.Shown(result=result, title=f"qifsql: unicity of {dataset.name}"), output)
