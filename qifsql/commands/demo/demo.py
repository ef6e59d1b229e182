"""The main job on the bundled sample: one release, three questions."""

from qifsql.commands.attack.attack import attack
from qifsql.commands.sweep.result import Sweep
from qifsql.commands.sweep.sweep import sweep
from qifsql.data.files import bundled
from qifsql.engine.settings import Settings
from qifsql.results.result import Result

TITLE = "A synthetic school census: what do the birth date and the school of a pupil reveal?"
QIDS = ("birth_day", "birth_month", "birth_year", "school")
LABELS = {
    "birth_day": "day of birth",
    "birth_month": "month of birth",
    "birth_year": "year of birth",
    "school": "school",
    "special_needs": "disability",
    "school_transport": "public transport",
    "ethnicity": "colour or race",
}
PEOPLE = "pupils"
SECRETS = ("special_needs", "school_transport")


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
    source = bundled("data-samples") / "pupils_2019.parquet"
    return attack(
        "crs,cas",
        source,
        qids=QIDS,
        secret=SECRETS,
        histogram=True,
        by="ethnicity",
        settings=settings,
    )


def sweep_subsets(*, settings: Settings | None = None) -> Sweep:
    """Sweep over all subsets of the quasi-identifiers, to see which of them to drop first."""
    source = bundled("data-samples") / "pupils_2019.parquet"
    return sweep(source, qids=QIDS, secret=SECRETS, histogram=True, settings=settings)
