"""What is wanted of an attack beside success: measures, details, and where counts are kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from qifsql.assessment import MEASURES
from qifsql.dataset import Dataset
from qifsql.errors import InputError, quoted

ALL = ("bayes", *MEASURES)


@dataclass(frozen=True)
class Wanted:
    """Measures by name (beside ``bayes``), a histogram, the gains' unit, who may be in the release.

    ``store`` is the DuckDB file that keeps the counts for another time.
    """

    measures: tuple[str, ...] = ()
    histogram: bool = False
    unit: str | None = None
    population: Dataset | None = None
    store: Path | None = None

    @classmethod
    def of(
        cls,
        measures: str | Sequence[str] = (),
        *,
        histogram: bool = False,
        unit: str | None = None,
        population: str | Path | Dataset | None = None,
        store: str | Path | None = None,
    ) -> "Wanted":
        """The same from what people type."""
        names = chosen(measures)
        if population is not None and "risks" not in names:
            names = tuple(m for m in MEASURES if m in names or m == "risks")
        known = None if population is None else Dataset.open(population)
        return cls(names, histogram, unit, known, None if store is None else Path(store))


def chosen(measures: str | Sequence[str]) -> tuple[str, ...]:
    """Names of measures in their order, ``all`` for all; InputError where one is unknown."""
    asked = measures.split(",") if isinstance(measures, str) else list(measures)
    names = [name.strip().casefold() for name in asked if name.strip()]
    for name in names:
        if name not in (*ALL, "all"):
            raise InputError(f"there is no measure {quoted(name)}; use {', '.join(ALL)} or all")
    return tuple(m for m in MEASURES if m in names or "all" in names)
