"""The main job on the bundled sample: one release, three questions."""

from pathlib import Path
from typing import Any

from qifsql.commands.attack.attack import attack
from qifsql.data.files import bundled
from qifsql.engine.settings import Settings
from qifsql.results.result import Result

TITLE = "A synthetic school census: what do the birth date and the school of a pupil reveal?"
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
ADVERSARY: dict[str, Any] = {
    "qids": ("birth_day", "birth_month", "birth_year", "school"),
    "secret": ("special_needs", "school_transport"),
    "histogram": True,
}


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
    return attack("crs,cas", sample(), **ADVERSARY, by="ethnicity", settings=settings)


def sample() -> Path:
    """Return the bundled file of pupils."""
    return bundled("data-samples") / "pupils_2019.parquet"
