"""Published tables of counts: what they prove about people, and what the best guess gets right.

The tables are made of records as an office would make them (the custodian's view), or read as they
were published (the outsider's).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from qifsql.adversary.spec import ColumnRoles
from qifsql.commands.tables import (
    breakdown,
    component_cells,
    contradictions,
    dimensions,
    kept_components,
    magnitude,
    published,
)
from qifsql.commands.tables import remedies as remedy
from qifsql.commands.tables.dimensions import NewTable
from qifsql.commands.tables.margins import ContradictionError, Domain
from qifsql.commands.tables.proofs import Question
from qifsql.commands.tables.question_rows import row
from qifsql.commands.tables.readings import Reading
from qifsql.commands.tables.solver import Memory
from qifsql.commands.tables.spec import TableOptions
from qifsql.commands.tables.table_sets import Budget, Measured, Release, measure
from qifsql.data.dataset import Dataset, Tabular
from qifsql.data.option import as_names, as_tuple, complete
from qifsql.data.relation import openings
from qifsql.engine.access import Source
from qifsql.engine.catalog import Catalog
from qifsql.engine.csv_types import remarks
from qifsql.engine.protocol import LocalEngine, open_engine
from qifsql.engine.settings import PRIVATE, Settings, masked
from qifsql.engine.tables import Tables
from qifsql.errors import InputError, quoted
from qifsql.query.protections import Protection
from qifsql.results.result import Result
from qifsql.results.storage import Origin

SCHEMA: dict[str, pl.DataType] = {
    "tables": pl.List(pl.String()),
    "known": pl.List(pl.String()),
    "secret": pl.String(),
    "people": pl.Int64(),
    "bounds": pl.String(),
    "sharp": pl.Boolean(),
    "reconstructed": pl.Int64(),
    "reconstructed_ones": pl.Int64(),
    "cells_proved": pl.Int64(),
    "singled_out": pl.Int64(),
    "certain_inference": pl.Int64(),
    "lowest": pl.Float64(),
    "highest": pl.Float64(),
    "bracket_sharp": pl.Boolean(),
    "prior": pl.Float64(),
    "believed": pl.Float64(),
    "actual": pl.Float64(),
    "records": pl.Float64(),
    "estimate": pl.Boolean(),
    "components": pl.Int64(),
    "components_proved": pl.Float64(),
    "components_open": pl.Int64(),
}
"""One row per set of tables and secret (NULL: re-identification).

``known`` are the dimensions that the adversary knows. ``bounds`` is how the counts of all
combinations were bounded (``closed form``, ``propagation``, ``integer programming``, ``mixed``);
``sharp``: no narrower bounds of them are true. ``reconstructed`` people are in combinations of all
dimensions whose count is proved, ``reconstructed_ones`` alone in one; ``cells_proved`` counts these
combinations and the empty ones (NULL: too many to count). ``singled_out`` people are proved to be
alone with what is known, the secret of ``certain_inference`` people is proved. ``lowest`` and
``highest`` are the least and the greatest success of the best guess over all records that agree
with the tables, at least and at most (``bracket_sharp``: exactly). ``prior``: success without
tables; ``believed``: what a Bayesian adversary expects of the best guess; ``actual``: how often it
is right (NULL without records); ``records``: success if the records were published. ``estimate``:
``believed`` and ``actual`` are of fitted counts. ``components`` are parts that say nothing about
one another, such as schools; ``components_proved`` is the share of them all of whose combinations
are proved, and ``components_open`` the number of those whose bounds may not be sharp."""

WITHOUT: dict[str, pl.DataType] = {
    "without": pl.String(),
    **{name: SCHEMA[name] for name in ("secret", "reconstructed", "singled_out")},
    **{name: SCHEMA[name] for name in ("certain_inference", "lowest", "highest")},
    **{name: SCHEMA[name] for name in ("believed", "actual")},
}
"""One row per table that is left out and secret: the measures of the other tables."""
LARGEST = 2**63 - 1


def tables(
    source: Tabular | None = None,
    *,
    settings: Settings | None = None,
    **options: Unpack[TableOptions],
) -> Result:
    """Attack published tables of counts: what they prove, and what the best guess gets right.

    With records, the tables are made as an office would make them; without, they are read as they
    were published.

    Args:
        source: The records: a path (Parquet, CSV, JSON, Excel, Stata, SPSS, SAS; a glob; a folder
            of Parquet; table@database of DuckDB or SQLite), a data frame (anything with
            __arrow_c_stream__, a Polars LazyFrame) or a Dataset. None: only published tables.
        settings: Memory, threads, temporary folder, seed and progress; by default those of the
            machine. The seed draws random rounding and noise.
        table: Tables to make, "DIMENSIONS[:PROTECTION]": "school,sex:suppress<5"; also round:5,
            round:5 random, noise:2, atleast:10, suppress<5 zeros.
        published: Files of published tables, "FILE[:PROTECTION]".
        count: Number of people, where no exact table tells it.
        across: The dimension whose values are the columns of wide published tables.
        counts: Column of counts of published tables with one count per line.
        total: Labels of lines and columns with totals in published tables.
        nested: "INNER,OUTER": each value of INNER lies in one of OUTER.
        possible: File of the combinations that can occur, with dimensions as columns.
        known: Dimensions that the adversary knows of people; by default all but the secret.
        secret: Dimensions to infer; without one only re-identification.
        where: SQL condition; other records are left out. NULL counts as false.
        by: Dimension whose values are groups of people.
        progressive: One more row for the first table, the first two, ...
        leave_one_out: Also measure the tables without each of them.
        show_cells: Also list the combinations of the component with most people proved: values.
        time_budget: Seconds for exact solutions of components, the smallest first.
        resume: DuckDB file of solved components: a second run goes on where the first stopped.
        small: Cells with fewer people are small.
        magnitude: Tables of sums to check, "NUMBER:DIMENSIONS".
        dominance: N and K: N contributors give more than K percent of a sum.
        p_percent: P: the second largest contributor can estimate the largest within P percent.
        require: Bounds on measures, such as "reconstructed<=0"; the result is false where one
            does not hold for all tables together.
        remedies: Also measure what each remedy would help.
        change: Coarser dimensions to try as remedies, such as "age:10".
        until: Bounds for which the cheapest remedies are sought: "reconstructed<=0".

    Returns:
        A Result. frame: one row per set of tables and secret (SCHEMA). details: checks (each
        table), disclosure (rows with one value), overlaps (pairs of tables), and where asked for
        components, groups, without, remedies, magnitudes.

    Raises:
        InputError: A name, a table or an option does not fit, or published tables contradict each
            other; the message says which, where and what to try.
        EngineError: Memory or disk ran out.

    Example:
        >>> result = qifsql.tables("data-samples/popets_table_3a.csv",
        ...     table=["gender,grade", "grade,disability"], secret="disability")
        >>> result.frame.select("reconstructed", "bounds").row(0)
        (10, 'closed form')

    Source: M89 to M110; Dobra and Fienberg 2000, Buzzigoli and Giusti 1999, Abowd et al. 2023.

    """
    options = complete(options, TableOptions)
    settings = settings or Settings()
    request = _Request.of(source, options, settings)
    origin = Origin.now(settings, "tables")
    with (
        masked(None if options["resume"] is None else PRIVATE),
        request.opened() as (work, release, columns, memory),
    ):
        attack = _Attack(request, release, memory=memory)
        result = attack.run()
        details, notes = dict(result.details), [*result.notes]
        if request.magnitudes and request.records is not None:
            magnitudes, rules = request.magnitudes, request.rules
            details["magnitudes"], remarks_ = magnitude.measure(
                work, request.records, magnitudes, rules, where=options["where"]
            )
            notes += remarks_
        engine_notes = remarks(work.engine)
        first = openings(request.records) if request.records is not None else ()
        statements = dict.fromkeys([*first, "SET TimeZone = 'UTC'", *work.statements])
        origin = origin.about(request.described(release), request.paths).sending(statements)
        origin = origin.listing(columns)
    if options["remedies"] or options["until"]:
        details["remedies"], more = request.remedies()
        notes += more
    return Result(
        frame=pl.DataFrame(result.rows, schema=SCHEMA, orient="row"),
        origin=origin,
        details=details,
        notes=(*notes, *engine_notes),
        met=result.met,
    )


def fit(
    source: Tabular | None = None,
    settings: Settings | None = None,
    **options: Unpack[TableOptions],
) -> None:
    """Check the options and look up every name, without an attack; InputError if one is wrong."""
    options = complete(options, TableOptions)
    domain = _Request.of(source, options, settings or Settings()).domain()
    _questions(domain, options, {})
    _group(domain, options)


@dataclass(frozen=True)
class _Request:
    """A request: the records, the tables to make, the files of tables, all other options."""

    options: TableOptions
    settings: Settings
    records: Dataset | None
    new_tables: tuple[NewTable, ...]
    files: tuple[Dataset, ...]
    protections: tuple[Protection, ...]
    possible: Dataset | None
    magnitudes: tuple[magnitude.Magnitude, ...]
    rules: magnitude.Rules

    @classmethod
    def of(cls, source: Tabular | None, options: TableOptions, settings: Settings) -> "_Request":
        """Return the request; refuse options that do not go together."""
        new_tables = tuple(dimensions.new_tables(as_tuple(options["table"])))
        texts = options["published"]
        files, protections = published.sources(
            [texts] if isinstance(texts, str | Path) else list(texts)
        )
        records = None if source is None else Dataset.open(source)
        if not new_tables and not files:
            raise InputError(
                "there is no table to attack; name tables of the records with --table, as in "
                "'school,sex', or files with --published"
            )
        if new_tables and files:
            raise InputError(
                "name tables to make (--table) or tables that were published (--published)"
            )
        if new_tables and records is None:
            raise InputError("tables to make need records; name a file, or tables with --published")
        if new_tables and options["count"] is not None:
            raise InputError("the records tell how many people there are; leave --count out")
        if files and (options["remedies"] or options["until"]):
            raise InputError("remedies are tried on records; name a file and tables with --table")
        if options["where"] is not None and records is None:
            raise InputError("a filter (where) is on records; name a file with them")
        magnitudes = tuple(magnitude.read(options["magnitude"]))
        if magnitudes and records is None:
            raise InputError("tables of sums are checked on records; name a file with them")
        rules = magnitude.Rules.of(
            small=options["small"],
            dominance=options["dominance"],
            p_percent=options["p_percent"],
        )
        remedy.bounds((*as_tuple(options["until"]), *as_tuple(options["require"])))
        possible = None if options["possible"] is None else Dataset.open(options["possible"])
        return cls(
            options,
            settings,
            records,
            new_tables,
            tuple(files),
            tuple(protections),
            possible,
            magnitudes,
            rules,
        )

    @property
    def sources(self) -> list[Source]:
        """Return all files to open."""
        each = [self.records, *self.files, self.possible]
        return [dataset for dataset in each if dataset is not None]

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths of all files that are read."""
        each = [self.records, *self.files, self.possible]
        return tuple(dict.fromkeys(p for d in each if d is not None for p in d.paths))

    @property
    def title(self) -> str:
        """Return the name of the data."""
        return self.records.name if self.records is not None else self.files[0].name

    @contextmanager
    def opened(
        self,
    ) -> Iterator[tuple[Tables, Release, tuple[ColumnRoles, ...], Memory | None]]:
        """Open an engine, and make or read the tables in it."""
        path = self.options["resume"]
        files = [] if path is None else [kept_components.prepare(Path(path), self.paths)]
        with open_engine(self.settings, sources=[*self.sources, *files]) as engine:
            work = Tables(engine, "making tables", self.title)
            release, columns = self._release(engine, work)
            with self._memory(engine, release) as memory:
                yield work, release, columns, memory

    @contextmanager
    def _memory(self, engine: LocalEngine, release: Release) -> Iterator[Memory | None]:
        """Open the file of solved components, if there is one."""
        if self.options["resume"] is None:
            yield None
            return
        path = Path(self.options["resume"])
        stream = engine.stream(path.name)
        try:
            signature = kept_components.signed(release, self.described(release), self.paths)
            yield kept_components.KeptComponents(engine, stream, path, signature)
        finally:
            stream.close()

    def _release(
        self, engine: LocalEngine, work: Tables
    ) -> tuple[Release, tuple[ColumnRoles, ...]]:
        options = self.options
        reading = Reading(work, as_tuple(options["nested"]), self.possible, self.settings.seed or 0)
        if self.records is None:
            return reading.of_files(self._read(work), options["count"]), ()
        catalog, dataset = self._catalog(engine, self.records)
        dataset = engine.load(dataset) if dataset.format == "csv" else dataset
        if self.new_tables:
            return reading.of_records(catalog, dataset, self.new_tables, options["where"])
        return reading.of_both(
            self._read(work), options["count"], catalog, dataset, options["where"]
        )

    def _catalog(self, engine: LocalEngine, records: Dataset) -> tuple[Catalog, Dataset]:
        """Return the columns of the records, and the records as the engine reads them."""
        names = [name for one in self.new_tables for name in one.dims]
        named = _mentions(names, self.options["where"]) if self.new_tables else None
        catalog = Catalog(engine, records, named)
        dataset = catalog.dataset
        assert isinstance(dataset, Dataset)  # noqa: S101 - it is no collection
        return catalog, dataset

    def domain(self) -> Domain:
        """Return the dimensions; those of tables to make are looked up, and nothing is counted."""
        if self.records is None or not self.new_tables:
            with self.opened() as (_, release, _, _):
                return release.domain
        with open_engine(self.settings, sources=self.sources) as engine:
            catalog, dataset = self._catalog(engine, self.records)
            each, where = [one.dims for one in self.new_tables], self.options["where"]
            microdata, _ = dimensions.bind(catalog, dataset, each, where)
            return Domain({i: q.name for i, q in enumerate(microdata.qids, 1)}, {}, 0)

    def _read(self, work: Tables) -> list[published.PublishedTable]:
        options = self.options
        return published.read(
            work,
            self.files,
            self.protections,
            across=options["across"],
            counts=options["counts"],
            total=as_tuple(options["total"]),
        )

    def described(self, release: Release) -> dict[str, Any]:
        """Return the request as plain data."""
        options = self.options
        return {
            "dataset": self.title,
            "tables": [t.title for t in release.published],
            "protections": [t.protection.text for t in release.published],
            "from_records": self.records is not None,
            "dimensions": list(release.domain.names.values()),
            "known": list(as_names(options["known"])),
            "secrets": list(as_names(options["secret"])),
            "count": options["count"],
            "nested": list(as_tuple(options["nested"])),
            "possible": self.possible.name if self.possible is not None else None,
            "where": options["where"],
            "by": options["by"],
            "small": options["small"],
            "until": list(as_tuple(options["until"])),
            "time_budget": options["time_budget"],
        }

    def remedies(self) -> tuple[pl.DataFrame, list[str]]:
        """Return the remedies that were tried, and remarks on them."""
        limits = remedy.bounds(as_tuple(self.options["until"]))
        rows, chosen = remedy.search(
            self.new_tables,
            self._attempt,
            as_names(self.options["change"]),
            limits,
            self.options["small"],
        )
        notes = []
        if limits and chosen is None:
            notes.append(
                "no remedies that were tried keep all bounds; name coarser forms (--change)"
            )
        elif limits:
            notes.append(
                f"the bounds hold: {'; '.join(chosen)}" if chosen else "the bounds hold already"
            )
        return pl.DataFrame(rows, schema=remedy.REMEDIES, orient="row"), notes

    def _attempt(self, new_tables: Sequence[NewTable]) -> tuple[list[dict[str, Any]], int]:
        """Attack other tables of the same records; return the rows, and the exact cells."""
        changed = replace(
            self, new_tables=tuple(new_tables), options={**self.options, "resume": None}
        )
        pairs = zip(self.new_tables, new_tables, strict=True)
        names = {old: new for a, b in pairs for old, new in zip(a.dims, b.dims, strict=True)}
        with changed.opened() as (_, release, _, _):
            attack = _Attack(changed, release, names)
            measured = attack.measure(release.published)
            rows = attack.rows(measured)
            checks = breakdown.checks(measured, self.options["small"])
        counts = zip(checks["cells"], checks["hidden"], checks["protection"], strict=True)
        shown = sum(c - h for c, h, text in counts if not text.startswith(("round", "noise")))
        undone = int(checks["undone"].sum())
        return [one | {"undone": undone} for one in rows], int(shown)


def _mentions(names: Sequence[str], where: str | None) -> Any:
    """Return the test of whether a column may be used, by the letters of its name."""
    texts = "".join(c for text in (*names, where or "") for c in text.casefold() if c.isalnum())
    wild = any(set(name) & set("*?[") for name in names)
    return lambda name: wild or "".join(c for c in name.casefold() if c.isalnum()) in texts


@dataclass
class _Measures:
    """The rows of all sets of tables, the details of the whole set, remarks, and the verdict."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    details: dict[str, pl.DataFrame] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    met: bool | None = None


class _Attack:
    """The attack on the tables of a release."""

    def __init__(
        self,
        request: _Request,
        release: Release,
        names: Mapping[str, str] | None = None,
        memory: Memory | None = None,
    ) -> None:
        self.options, self.release = request.options, release
        self.questions, self.knowledge = _questions(release.domain, self.options, names or {})
        self.budget = Budget(self.options["time_budget"], memory)

    def measure(self, chosen: Sequence[Any]) -> Measured:
        """Return one set of tables with its bounds; refuse tables that contradict each other."""
        others = [a.edge | b.edge for a, b in breakdown.pairs(chosen)]
        try:
            return measure(self.release, chosen, self.questions, self.budget, others)
        except ContradictionError as e:
            raise contradictions.error(self.release, chosen) from e

    def rows(self, measured: Measured) -> list[dict[str, Any]]:
        """Return the row of each question, with what is known in the order of the request."""
        rows = [row(measured, question) for question in self.questions]
        return [one | {"known": self.knowledge} if self.knowledge else one for one in rows]

    def run(self) -> _Measures:
        """Return the rows and details."""
        options, every = self.options, self.release.published
        answer = _Measures()
        by = _group(self.release.domain, options)
        for n in range(1, len(every)) if options["progressive"] else ():
            measured = self.measure(every[:n])
            answer.rows += self.rows(measured)
            measured.margins.close()
        measured = self.measure(every)
        answer.rows += self.rows(measured)
        answer.details["checks"] = breakdown.checks(measured, options["small"])
        answer.details["disclosure"] = breakdown.disclosure(measured)
        answer.details["overlaps"] = breakdown.overlaps(measured, options["small"])
        if worst := [r for q in self.questions for r in breakdown.components(measured, q)]:
            answer.details["components"] = pl.DataFrame(worst, schema=breakdown.COMPONENTS)
        if by is not None:
            answer.details["groups"] = breakdown.groups(measured, self.questions, by)
        if options["show_cells"]:
            answer.details |= component_cells.details(measured, self.questions[0])
        answer.notes += [*dict.fromkeys(measured.notes), *_notes(measured, answer.rows)]
        self._judge(answer)
        measured.margins.close()
        if options["leave_one_out"] and len(every) > 1:
            answer.details["without"] = self._without()
        for one in answer.rows:
            if one["cells_proved"] is not None and one["cells_proved"] > LARGEST:
                one["cells_proved"] = None
        return answer

    def _judge(self, answer: _Measures) -> None:
        """Say which required bounds do not hold for all tables together."""
        limits = remedy.bounds(as_tuple(self.options["require"]))
        if not limits:
            return
        undone = int(answer.details["checks"]["undone"].sum())
        rows = [one | {"undone": undone} for one in answer.rows[-len(self.questions) :]]
        broken = [limit.text for limit in limits if any(limit.distance(one) for one in rows)]
        answer.met = not broken
        if broken:
            answer.notes.append(f"not met: {', '.join(broken)}")

    def _without(self) -> pl.DataFrame:
        """Return the measures of the tables without each of them."""
        every = self.release.published
        rows = []
        for k, table in enumerate(every):
            measured = self.measure([*every[:k], *every[k + 1 :]])
            rows += [
                {"without": table.title} | {name: one[name] for name in list(WITHOUT)[1:]}
                for one in self.rows(measured)
            ]
            measured.margins.close()
        return pl.DataFrame(rows, schema=WITHOUT)


def _questions(
    domain: Domain, options: TableOptions, names: Mapping[str, str]
) -> tuple[list[Question], list[str]]:
    """Return what is asked, each secret or re-identification, and the dimensions named as known.

    ``names`` are new names of dimensions by old ones.
    """
    numbers = {name: i for i, name in domain.names.items()}

    def listed(option: str, what: str) -> list[str]:
        texts: Any = options[option]  # type: ignore[literal-required]
        return [dimensions.named(names.get(n, n), numbers, what) for n in as_names(texts)]

    knowledge, secrets = listed("known", "known"), listed("secret", "secret")
    for name in secrets:
        if name in knowledge:
            raise InputError(
                f"secret {quoted(name)} is among the known dimensions; what the adversary knows is "
                "not a secret: take it out of one of them"
            )
    if len(set(secrets)) < len(secrets):
        raise InputError("a secret is given twice; give it once")
    every = frozenset(numbers[name] for name in knowledge) if knowledge else domain.every
    if not secrets:
        return [Question(every, None)], knowledge
    return [Question(every - {numbers[name]}, numbers[name]) for name in secrets], knowledge


def _group(domain: Domain, options: TableOptions) -> int | None:
    """Return the dimension whose values are groups; None without groups."""
    if options["by"] is None:
        return None
    numbers = {name: i for i, name in domain.names.items()}
    return numbers[dimensions.named(options["by"], numbers, "group")]


def _notes(measured: Measured, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return remarks on what the numbers cover."""
    notes = []
    last = rows[-1]
    if last["components_open"]:
        notes.append(
            f"the bounds of {last['components_open']:,} of {last['components']:,} components may "
            "not be sharp: more may be proved than is told; give more time (--time-budget)"
        )
    if last["estimate"] and last["believed"] is not None:
        notes.append(
            "believed and actual success are of expected counts that were fitted (greatest "
            "entropy); a hidden count beside large ones is expected near its largest value"
        )
    if measured.counts is not None and measured.counts.moved > 1e-6:
        notes.append(
            f"the fit of expected counts stopped while {measured.counts.moved:.2g} of the people "
            "of a component still moved"
        )
    return notes
