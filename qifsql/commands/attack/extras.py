"""Options of an attack beyond success: measures, details, and the store of counts."""

from dataclasses import dataclass
from pathlib import Path

from qifsql.adversary.options import MATCH_ANY
from qifsql.commands.attack.spec import AttackOptions
from qifsql.data.dataset import Dataset, Tabular
from qifsql.data.files import check_file, is_duckdb, misplaced
from qifsql.errors import InputError
from qifsql.results.assessment import MEASURES, named_measures


@dataclass(frozen=True, kw_only=True)
class Extras:
    """Further measures (besides ``bayes``), details, the unit of gains, population and store.

    ``store`` is the DuckDB file that keeps the counts for later runs. ``progressive``: attack a
    collection repeatedly, each time with one more dataset. ``any_value``: missing values may be
    anything, and the success is bounded over all completions.
    """

    measures: tuple[str, ...] = ()
    histogram: bool = False
    value_chances: bool = False
    unit: str | None = None
    population: Dataset | None = None
    store: Path | None = None
    progressive: bool = False
    any_value: bool = False

    @classmethod
    def of(cls, options: AttackOptions, population: Tabular | None) -> "Extras":
        """Return the extras that the options of an attack ask for.

        ``population`` is the file of a population, for the risks of a sample; None without one, or
        if it is there for an attack on membership.
        """
        names = named_measures(options.get("measures", ()))
        if population is not None and "risks" not in names:  # it is there for journalist_risk
            names = tuple(m for m in MEASURES if m in names or m == "risks")
        store, progressive = options.get("store"), options.get("progressive", False)
        if progressive and (store or population):
            raise InputError("a progressive attack takes no store and no population; leave it out")
        return cls(
            measures=names,
            histogram=options.get("histogram", False),
            value_chances=options.get("value_chances", False),
            unit=options.get("unit"),
            population=None if population is None else Dataset.open(population),
            store=None if store is None else _store(Path(store)),
            progressive=progressive,
            any_value=options.get("null") == MATCH_ANY,
        )

    @property
    def files(self) -> tuple[Dataset | Path, ...]:
        """Return the files to open besides the data: the population and the store."""
        return tuple(file for file in (self.population, self.store) if file is not None)

    def plain(self) -> dict[str, object]:
        """Return the extras that are set, as plain data for manifests."""
        plain: dict[str, object] = {
            "measures": list(self.measures),
            "population": self.population.name if self.population else None,
            "store": str(self.store) if self.store else None,
            "null": MATCH_ANY if self.any_value else None,
        }
        unchanged = ("histogram", "value_chances", "unit", "progressive")
        plain |= {name: getattr(self, name) for name in unchanged}
        return {name: value for name, value in plain.items() if value}


def _store(path: Path) -> Path:
    """Return the file of a store; refuse a file that exists and is not a DuckDB file."""
    if why := misplaced(path):
        raise InputError(f"the store {path} {why}; name a file such as counts.duckdb")
    if path.exists():
        check_file(path)
        try:
            by_duckdb = is_duckdb(path)
        except OSError as e:
            raise InputError(f"the store {path} cannot be read: {e.strerror}") from e
        if not by_duckdb:
            raise InputError(f"{path} is not a store: qifsql did not write it; name another file")
    return path
