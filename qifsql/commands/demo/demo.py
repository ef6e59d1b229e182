"""The main job on the bundled sample: one release, three questions."""

from qifsql.commands.attack.attack import attack
from qifsql.commands.sweep.result import Sweep
from qifsql.commands.sweep.sweep import sweep
from qifsql.data.files import bundled
from qifsql.engine.settings import Settings
from qifsql.results.result import Result

TITLE = "A synthetic school census: what do the birth date and the school of a pupil reveal?"
QIDS = ("NU_DIA", "NU_MES", "NU_ANO", "CO_ENTIDADE")
LABELS = {
    "NU_DIA": "day of birth",
    "NU_MES": "month of birth",
    "NU_ANO": "year of birth",
    "CO_ENTIDADE": "school",
    "IN_NECESSIDADE_ESPECIAL": "disability",
    "IN_TRANSPORTE_PUBLICO": "public transport",
    "TP_COR_RACA": "colour or race",
}
PEOPLE = "pupils"
SECRETS = ("IN_NECESSIDADE_ESPECIAL", "IN_TRANSPORTE_PUBLICO")


def demo(*, settings: Settings | None = None) -> Result:
    """Attack the bundled sample: re-identification and inference of two secrets.

    The adversary knows birth date and school.

    Returns:
        A Result, as of attack.

    Raises:
        EngineError: Memory or disk ran out.

    Example:
        >>> qifsql.demo().frame["model"].to_list()
        ['CRS', 'CAS', 'CAS']

    Source: M7 to M14.

    """
    source = bundled("data-samples") / "school_census_2019.parquet"
    return attack(
        "crs,cas",
        source,
        qids=QIDS,
        secret=SECRETS,
        histogram=True,
        by="TP_COR_RACA",
        settings=settings,
    )


def sweep_subsets(*, settings: Settings | None = None) -> Sweep:
    """Sweep over all subsets of the quasi-identifiers, to see which of them to drop first."""
    source = bundled("data-samples") / "school_census_2019.parquet"
    return sweep(source, qids=QIDS, secret=SECRETS, histogram=True, settings=settings)
