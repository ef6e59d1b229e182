"""``qifsql unicity``."""

from qifsql.commands.unicity.spec import UnicityOptions
from qifsql.engine.settings import Settings
from qifsql.options.runner import Answer
from qifsql.options.shared_options import Data, Output

EXAMPLES = {
    "How many pupils are unique by one to four of their enrolments?": (
        "qifsql unicity data-samples/school_census_2019_enrolments.parquet --person "
        "ID_ALUNO -q CO_ENTIDADE,TP_ETAPA_ENSINO"
    ),
    "Count two points only.": (
        "qifsql unicity data-samples/school_census_2019_enrolments.parquet --person "
        "ID_ALUNO -q CO_ENTIDADE --points 2 -f json"
    ),
}


def unicity(data: Data, output: Output, settings: Settings, options: UnicityOptions) -> Answer:
    """Unicity of a pseudonymous log: how many people are unique by a few of their own records."""
    from qifsql.commands.unicity.unicity import unicity as run

    dataset = data.dataset()
    result = run(dataset, **options, seed=settings.seed or 0, settings=settings)
    return Answer(result, f"unicity of {dataset.name}")
