"""A request to attack tables: its records, tables and files, and the release they become."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qifsql.adversary.spec import Attack
from qifsql.commands.tables import dimensions, magnitude, published
from qifsql.commands.tables import remedies as remedy
from qifsql.commands.tables.kept_components import KeptComponents, identity
from qifsql.commands.tables.margins import Domain
from qifsql.commands.tables.microdata_releases import ReleaseFile, parse_releases
from qifsql.commands.tables.new_tables import NewTable, parse_tables
from qifsql.commands.tables.published_ledger import Ledger
from qifsql.commands.tables.spec import TableOptions
from qifsql.commands.tables.sum_rules import Rules
from qifsql.commands.tables.table_release import Release, ReleaseMaker
from qifsql.data.dataset import Dataset, Tabular
from qifsql.data.files import misplaced
from qifsql.data.option import as_names, as_tuple
from qifsql.engine.catalog import Catalog
from qifsql.engine.engines import open_engine
from qifsql.engine.protocol import LocalEngine
from qifsql.engine.settings import Settings
from qifsql.engine.tables import Tables
from qifsql.errors import InputError
from qifsql.measures.table_measures import REQUIRED
from qifsql.query.protections import Protection


@dataclass(frozen=True)
class Request:
    """A request: the records, the tables to make, the files of tables, all other options."""

    options: TableOptions
    settings: Settings
    records: Dataset | None
    new_tables: tuple[NewTable, ...]
    files: tuple[Dataset, ...]
    protections: tuple[Protection, ...]
    possible: Dataset | None
    releases: tuple[ReleaseFile, ...]
    ledger: Ledger | None
    magnitudes: tuple[magnitude.Magnitude, ...]
    rules: Rules

    @classmethod
    def of(cls, source: Tabular | None, options: TableOptions, settings: Settings) -> "Request":
        """Return the request; refuse options that do not go together."""
        new_tables = tuple(parse_tables(as_tuple(options["table"])))
        files, protections = published.parse_sources(_as_list(options["published"]))
        records = None if source is None else Dataset.open(source)
        releases = tuple(parse_releases(_as_list(options["release"])))
        path = options["ledger"]
        ledger = None if path is None else Ledger.read(Path(path), new=options["add"])
        if options["add"] and ledger is None:
            raise InputError("name the ledger to add to with --ledger")
        if ledger is not None:
            releases = (*releases, *ledger.releases)
        if not new_tables and not files and not (releases or (ledger and ledger.entries)):
            raise InputError(
                "there is no table to attack; name tables of the records with --table, as in "
                "'school,sex', files with --published, or a microdata release with --release"
            )
        if new_tables and records is None:
            raise InputError("tables to make need records; name a file, or tables with --published")
        if new_tables and options["count"] is not None:
            raise InputError("the records tell how many people there are; leave --count out")
        if (files or releases or ledger) and (options["remedies"] or options["until"]):
            raise InputError(
                "remedies are tried on tables of records; name a file and tables with --table alone"
            )
        if options["change"] and not (options["remedies"] or options["until"]):
            raise InputError(
                "a change is a remedy to try (--remedies or --until); the cells of a release say "
                "what they stand for (20-24), or are nodes of --hierarchy"
            )
        if options["where"] is not None and records is None:
            raise InputError("a filter (where) is on records; name a file with them")
        magnitudes = tuple(magnitude.parse_magnitudes(options["magnitude"]))
        if magnitudes and records is None:
            raise InputError("tables of sums are checked on records; name a file with them")
        rules = Rules.of(
            small=options["small"], dominance=options["dominance"], p_percent=options["p_percent"]
        )
        remedy.parse_limits(as_tuple(options["until"]))
        remedy.parse_limits(as_tuple(options["require"]), REQUIRED)
        possible = None if options["possible"] is None else Dataset.open(options["possible"])
        sources = tuple(files), tuple(protections)
        every = (*sources, possible, releases, ledger)
        return cls(options, settings, records, new_tables, *every, magnitudes, rules)

    @property
    def sources(self) -> list[Dataset]:
        """Return all files to open."""
        released = [release.dataset for release in self.releases]
        statements = [] if self.ledger is None else self.ledger.datasets
        datasets = [self.records, *self.files, *released, *statements, self.possible]
        return [dataset for dataset in datasets if dataset is not None]

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths of all files that are read."""
        paths = [path for dataset in self.sources for path in dataset.paths]
        trees = [str(path) for path in (self.options["hierarchies"] or {}).values()]
        # A ledger that is added to will differ from the one that was read.
        ledgers = [str(self.ledger.path)] if self.ledger and not self.options["add"] else []
        return tuple(dict.fromkeys([*paths, *trees, *ledgers]))

    @property
    def title(self) -> str:
        """Return the name of the data."""
        released = [release.dataset for release in self.releases]
        datasets = [d for d in (self.records, *self.files, *released) if d is not None]
        return datasets[0].name if datasets else str(self.options["ledger"])

    @contextmanager
    def opened(self) -> Iterator[tuple[Release, KeptComponents | None]]:
        """Open an engine, make or read the tables, and open the file of solved components, if any.

        Yield the release, and the file to resume from (None: not asked for).
        """
        resume = self.options["resume"]
        path = None if resume is None else Path(resume)
        sources: list[Dataset | Path] = [*self.sources]
        if path is not None:
            if why := misplaced(path):
                raise InputError(f"{path} {why}; name a file with --resume")
            if any(path.resolve() == Path(source).resolve() for source in self.paths):
                raise InputError(f"{path} is the input; name another file with --resume")
            sources.append(path)
        with open_engine(self.settings, sources=sources) as engine:
            work = Tables(engine, "making tables", self.title)
            release = self._make_release(engine, work)
            if path is None:
                yield release, None
                return
            stream = engine.stream(path.name)
            try:
                signature = identity(release, self.describe(release), self.paths)
                memory = KeptComponents(engine, stream, path, signature)
                yield release, memory
            finally:
                stream.close()

    def _make_release(self, engine: LocalEngine, work: Tables) -> Release:
        """Return the release of the tables to make, or of files with or without records."""
        options, seed = self.options, self.settings.seed or 0
        nested, trees = as_tuple(options["nested"]), options["hierarchies"] or {}
        maker = ReleaseMaker(work, nested, self.possible, seed, self.releases, trees)
        count = options["count"]
        if count is None and self.ledger is not None:
            count = self.ledger.people
        if self.records is None:
            return maker.of_files(self._read_files(work), count)
        catalog, dataset = self._open_records(engine, self.records)
        dataset = engine.load(dataset) if dataset.format == "csv" else dataset
        files = self._read_files(work)
        where = options["where"]
        return maker.of_people(catalog, dataset, self.new_tables, files, count, where)

    def _open_records(self, engine: LocalEngine, records: Dataset) -> tuple[Catalog, Dataset]:
        """Return the columns of the records, and the records as the engine reads them."""
        names = tuple(name for table in self.new_tables for name in table.dims)
        named = Attack((), records, names, where=self.options["where"])
        only = named.mentions if self.new_tables and not self.releases else None
        catalog = Catalog(engine, records, only)
        dataset = catalog.dataset
        assert isinstance(dataset, Dataset)  # noqa: S101 - it is no collection
        return catalog, dataset

    def domain(self) -> Domain:
        """Return the dimensions of the tables, to check names without an attack.

        Published files are read for them. Of tables to make, only the columns of the records are
        looked up: sizes and people are left out.
        """
        if self.records is None or self.files or self.releases or self.ledger:
            with self.opened() as (release, _):
                return release.domain
        with open_engine(self.settings, sources=self.sources) as engine:
            catalog, dataset = self._open_records(engine, self.records)
            dims, where = [table.dims for table in self.new_tables], self.options["where"]
            microdata, _ = dimensions.bind(catalog, dataset, dims, where)
            return Domain({i: q.name for i, q in enumerate(microdata.qids, 1)}, {}, 0)

    def _read_files(self, work: Tables) -> list[published.PublishedTable]:
        """Read the published files into engine tables, with the options that say how."""
        options = self.options
        of_ledger = [] if self.ledger is None else self.ledger.read_tables(work)
        read = published.read_files(
            work,
            self.files,
            self.protections,
            across=options["across"],
            counts=options["counts"],
            total=as_tuple(options["total"]),
            people=options["count"],
        )
        return [*read, *of_ledger]

    def describe(self, release: Release) -> dict[str, Any]:
        """Return the request as plain data: what the manifest keeps and views are drawn from."""
        options = self.options
        return {
            "dataset": self.title,
            "tables": [t.title for t in release.published],
            "protections": [t.protection.text for t in release.published],
            "from_records": self.records is not None,
            "dimensions": [release.domain.names[i] for i in sorted(release.domain.independent)],
            "known": list(as_names(options["known"])),
            "secrets": list(as_names(options["secret"])),
            "count": options["count"],
            "nested": list(as_tuple(options["nested"])),
            "possible": self.possible.name if self.possible is not None else None,
            "published": [file.name for file in self.files],
            "releases": [release.dataset.name for release in self.releases],
            "ledger": None if self.ledger is None else self.ledger.path.name,
            "where": options["where"],
            "by": options["by"],
            "small": options["small"],
            "until": list(as_tuple(options["until"])),
            "time_budget": options["time_budget"],
        }


def _as_list(texts: Any) -> list[Any]:
    """Return one file, or several, as a list."""
    return list(texts) if isinstance(texts, list | tuple) else [texts]
