"""The release to attack: its tables, made of records as an office would, or read from files."""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sqlglot import exp

from qifsql.adversary import names as naming
from qifsql.adversary.spec import ColumnRoles, Microdata
from qifsql.commands.tables import dimensions
from qifsql.commands.tables.dimensions import TEXT, Records
from qifsql.commands.tables.hypergraph import Edge
from qifsql.commands.tables.margins import Domain, Published
from qifsql.commands.tables.microdata_releases import CountedRelease, ReleaseFile, count_releases
from qifsql.commands.tables.new_tables import NewTable, publish
from qifsql.commands.tables.published import PublishedTable
from qifsql.commands.tables.recodings import Statements, list_parts
from qifsql.counting.spans import Raw
from qifsql.data.dataset import Dataset
from qifsql.engine.catalog import Catalog
from qifsql.engine.tables import Tables
from qifsql.errors import ColumnError, InputError, did_you_mean, plural, quoted
from qifsql.query.plan import Plan, Step
from qifsql.query.protections import Protection
from qifsql.query.shapes import Shape
from qifsql.query.splice import splice


@dataclass(frozen=True)
class Release:
    """The tables of a command, and their dimensions."""

    tables: Tables
    domain: Domain
    published: Sequence[Published]
    records: Records | None  # behind the tables, if they are at hand
    possible: int  # number of the combinations that can occur
    structural: Sequence[Published] = ()  # tables that say only which combinations can occur
    columns: tuple[ColumnRoles, ...] = ()  # of the file of the records
    notes: Sequence[str] = ()
    new_tables: Sequence[Published] = ()  # those that no ledger has, with their own dimensions
    counted: Sequence[CountedRelease] = ()  # the releases

    @property
    def statements(self) -> list[list[Published]]:
        """Return the tables, those of one microdata release together."""
        groups = itertools.groupby(self.published, key=lambda table: table.source)
        return [list(tables) for _, tables in groups]


@dataclass(frozen=True)
class ReleaseMaker:
    """Make a release of records, of files, or of files with the records behind them.

    Microdata releases (``releases``) are statements about the same people.
    """

    tables: Tables
    nested: Sequence[str] = ()  # texts ``inner,outer``
    possible: Dataset | None = None  # the file of the combinations that can occur
    seed: int = 0
    releases: Sequence[ReleaseFile] = ()
    hierarchies: Mapping[str, str | Path] = field(default_factory=dict)

    def of_people(  # noqa: PLR0917 - what is read, and how
        self,
        catalog: Catalog,
        dataset: Dataset,
        new_tables: Sequence[NewTable],
        files: Sequence[PublishedTable],
        count: int | None,
        where: str | None,
    ) -> Release:
        """Return tables that an office would make of records, and those of files of these people.

        The records are read once per set of dimensions. Tables that are dropped are counted, too:
        their dimensions stay attributes of people. With files, values are compared as texts.
        ``count`` is the number of people (None: not named), ``where`` an SQL filter on the records.
        Raises InputError if the records do not give a published table.
        """
        counted_files = [table for table in files if table.dims]
        dims_of_tables = [table.dims for table in new_tables]
        dims_of_tables += [table.dims for table in counted_files]
        counted, microdata, dims = self._bind(catalog, dataset, dims_of_tables, where)
        types = {i: q.type for i, q in enumerate(microdata.qids, 1)}
        if files:
            texts = [
                replace(q, expression=exp.cast(q.expression.copy(), TEXT), type=TEXT)
                for q in microdata.qids
            ]
            microdata, types = replace(microdata, qids=tuple(texts)), {}
        names_of_files = zip(counted_files, dims[len(new_tables) :], strict=False)
        renamed = [replace(table, dims=names) for table, names in names_of_files]
        numbers = {q.name: i for i, q in enumerate(microdata.qids, 1)}
        raw_tables, sources = self._make_raw_tables(renamed, numbers)
        records, edges, sizes = self._count_tables(microdata, dims, sources)
        people = records.people
        if count is not None and count != people:
            raise InputError(
                f"{dataset.name} has {plural(people, 'record')}, but --count says {count:,}"
            )
        self._check_total(files, people, f"{dataset.name} has {plural(people, 'record')}")
        domain = Domain({i: name for name, i in numbers.items()}, sizes, people)
        published = self._publish_tables(new_tables, edges, records, people)
        of_files = self._code_tables(renamed, numbers, raw_tables, people)
        for table in of_files:
            self._check_truth(table, records)
        published += of_files
        statements = self._state(domain, counted, published, records, types=types)
        release = self._make_release(statements, published, records)
        return replace(release, new_tables=_new(published), counted=counted)

    def _publish_tables(
        self, new_tables: Sequence[NewTable], edges: Sequence[Edge], records: Records, people: int
    ) -> list[Published]:
        """Make the tables of records, protected as is asked; ``edges`` begin with theirs."""
        published = []
        for k, (new_table, edge) in enumerate(zip(new_tables, edges, strict=False), 1):
            raw = records.counted[edge]  # codes and true counts
            if new_table.dropped:  # it is not published; its dimensions are still those of people
                continue
            if new_table.protection.hides_zeros:
                zeros = splice("tables/with_zeros", tables={"raw": raw}, shape={"edge": edge})
                raw = f"zeros_{k}"
                self.tables.make(raw, zeros)
            cells = publish(raw, edge, new_table.protection, people=people, seed=self.seed)
            self.tables.make(f"table_{k}", cells)
            published.append(Published(new_table.title, edge, new_table.protection, f"table_{k}"))
        return published

    def of_files(self, files: Sequence[PublishedTable], count: int | None) -> Release:
        """Return the tables of files alone; ``count`` is the number of people (None: not named)."""
        dimension_names = dict.fromkeys(name for table in files for name in table.dims)
        counted = self._count_releases(list(dimension_names))
        dimension_names |= dict.fromkeys(c.name for release in counted for c in release.columns)
        numbers = {name: i for i, name in enumerate(dimension_names, 1)}
        raw_tables, sources = self._make_raw_tables(files, numbers)
        people = self._count_people(files, count, counted)
        raws, direct = self._list_cells(counted, numbers, sources, people)
        sizes = dimensions.list_values(self.tables, sources)
        sizes |= {i: self.tables.count(f"values_{i}") for i in raws}
        domain = Domain({i: name for name, i in numbers.items()}, sizes, people)
        published = self._code_tables(files, numbers, raw_tables, people)
        if not published and not counted:
            raise InputError("no published table has dimensions; name tables with --published")
        statements = self._state(domain, counted, published, None, raws=raws, direct=direct)
        release = self._make_release(statements, published, None)
        columns = [c.file_columns for c in counted if not c.in_ledger]  # of a single release
        of_file = columns[0] if len(columns) == 1 else ()
        return replace(release, new_tables=_new(published), counted=counted, columns=of_file)

    # Microdata releases.

    def _count_releases(self, dims: Sequence[str]) -> list[CountedRelease]:
        """Count the releases by their cells; ``dims`` are the dimensions of the tables."""
        work = self.tables.doing("counting records")
        counted = count_releases(work, self.releases, list(dict.fromkeys(dims)))
        names = {column.name for release in counted for column in release.columns}
        for name in self.hierarchies:
            if name not in names:
                raise ColumnError(
                    f"no release has a column {quoted(name)}{did_you_mean(name, names)}; a "
                    "hierarchy says what the cells of a release stand for"
                )
        return counted

    def _bind(
        self, catalog: Catalog, dataset: Dataset, dims: Sequence[Sequence[str]], where: str | None
    ) -> tuple[list[CountedRelease], Microdata, list[tuple[str, ...]]]:
        """Count the releases; bind the dimensions of tables, and then those of each release.

        A column of a release is the dimension, or the column of the records, of its name.
        """
        columns = [column.name for column in catalog.schema.columns]
        texts: dict[str, str] = {}  # of dimensions, as they are written
        for text in dict.fromkeys(itertools.chain.from_iterable(dims)):
            attributes = naming.named(text, catalog.schema, dimensions.DIMENSION)
            texts |= {a.name: text if len(attributes) == 1 else a.name for a in attributes}
        counted = self._count_releases([*texts, *columns])
        written: list[list[str]] = []
        for release in counted:
            for name in (column.name for column in release.columns):
                if name not in texts and name not in columns:
                    raise ColumnError(
                        f"{dataset.name} has no column {quoted(name)} of {release.title}; name the "
                        "columns that both have, as in --release 'FILE:age,sex'"
                    )
            written.append([texts.get(c.name, c.name) for c in release.columns])
        microdata, bound = dimensions.bind(catalog, dataset, [*dims, *written], where)
        return counted, microdata, bound

    def _list_cells(
        self,
        counted: Sequence[CountedRelease],
        numbers: Mapping[str, int],
        sources: dict[int, list[str]],
        people: int,
    ) -> tuple[dict[int, Raw], frozenset[int]]:
        """List the values of dimensions that releases tell and no table.

        Those of one release are its cells, and are added to ``sources``; of several they are parts
        of cells. Return these, and the numbers of the others. People whose records do not show the
        column may have another value.
        """
        columns: dict[str, list[tuple[CountedRelease, int]]] = defaultdict(list)
        for release in counted:
            for j, column in enumerate(release.columns, 1):
                if numbers[column.name] not in sources:
                    columns[column.name].append((release, j))
        raws, direct = {}, set()
        for name, places in columns.items():
            i = numbers[name]
            is_open = all(release.records < people or j in release.hidden for release, j in places)
            if len(places) > 1:
                path = self.hierarchies.get(name)
                raws[i] = list_parts(self.tables, i, name, places, path, is_open=is_open)
                continue
            ((release, j),) = places
            source = f"cells_of_{i}"
            shape: dict[str, Shape] = {"attribute": i, "is_open": is_open}
            tables = {"cells": f"shown_{i}"}
            step = Step(f"shown_{i}", "", release.cells(j))
            query = splice("tables/cells_as_values", tables=tables, shape=shape)
            self.tables.make(source, Plan((step,), query))
            sources[i] = [source]
            direct.add(i)
        return raws, frozenset(direct)

    def _state(
        self,
        domain: Domain,
        counted: Sequence[CountedRelease],
        published: Sequence[Published],
        records: Records | None,
        **values: Any,
    ) -> Statements:
        """Return the statements of releases; refuse those that the records do not give.

        ``values`` says more of these (``Statements``).
        """
        tabled = frozenset().union(*(table.edge for table in published))
        times = Counter(column.name for release in counted for column in release.columns)
        alone = {i for i, name in domain.names.items() if times[name] == 1 and i not in tabled}
        places = frozenset(alone if records is not None else ())
        statements = Statements(self.tables, domain, self.hierarchies, alone=places, **values)
        for release in counted:
            statements.add(release)
        if records is not None:
            records.derived.update(statements.derived)
            for table in statements.published:
                self._check_truth(table, records)
        return statements

    def _count_tables(
        self,
        microdata: Microdata,
        dims: Sequence[tuple[str, ...]],
        sources: Mapping[int, Sequence[str]],
    ) -> tuple[Records, list[Edge], dict[int, int]]:
        """Count the people of each table, by values and then by the codes of values.

        Return the records, whose ``counted`` names the tables of these counts, the dimensions of
        each table as numbers, and the number of values by dimension.
        ``dims`` has the names of the dimensions of each table; ``sources`` has further engine
        tables with values of a dimension, by its number.
        """
        numbers = {q.name: i for i, q in enumerate(microdata.qids, 1)}
        records = Records(self.tables, microdata, numbers, microdata.dataset.name)
        edges = [frozenset(numbers[name] for name in names) for names in dims]
        relations: dict[int, list[str]] = {i: list(names) for i, names in sources.items()}
        raw_tables: dict[Edge, str] = {}
        for edge in dict.fromkeys(edges):
            raw_tables[edge] = f"raw_table_{len(raw_tables)}"
            records.count(edge, raw_tables[edge])
            for i in edge:
                relations.setdefault(i, []).append(raw_tables[edge])
        sizes = dimensions.list_values(self.tables, relations)
        for k, (edge, raw) in enumerate(raw_tables.items()):
            records.counted[edge] = f"people_of_table_{k}"
            records.code(edge, raw, records.counted[edge])
        return records, edges, sizes

    def _make_raw_tables(
        self, files: Sequence[PublishedTable], numbers: Mapping[str, int]
    ) -> tuple[dict[str, str], dict[int, list[str]]]:
        """Rename the columns of values in the cells of tables by the numbers of dimensions.

        Return the name of each new engine table by that of the cells, and for each dimension the
        names of the new tables that have it. A total of all, without dimensions, gets no new table.
        """
        raw_tables: dict[str, str] = {}
        sources: dict[int, list[str]] = defaultdict(list)
        for table in files:
            if table.dims:
                raw_tables[table.cells] = name = f"raw_{table.cells}"
                query = exp.select("line", "published", "lower", "upper", "hidden")
                for k, dimension in enumerate(table.dims, 1):
                    value = exp.column(f"value_{k}").as_(f"value_{numbers[dimension]}")
                    query = query.select(value)
                    sources[numbers[dimension]].append(name)
                self.tables.make(name, query.from_(table.cells))
        return raw_tables, sources

    def _code_tables(
        self,
        files: Sequence[PublishedTable],
        numbers: Mapping[str, int],
        raw_tables: Mapping[str, str],
        people: int,
    ) -> list[Published]:
        """Return published tables whose cells have codes in place of the values in ``raw_tables``.

        A table is ``hiding`` if some of its cells may have several counts. A total of all, which
        has no dimensions, is no such table.
        """
        published = []
        for file in files:
            if not file.dims:
                continue
            edge = frozenset(numbers[name] for name in file.dims)
            tables, sizes = {"raw": raw_tables[file.cells]}, {"all_people": people}
            query = splice("tables/coded_cells", tables=tables, numbers=sizes, shape={"edge": edge})
            name = f"coded_{file.cells}"
            self.tables.make(name, query, "coding values")
            query = exp.select("coalesce(bool_or(lower < upper), FALSE)").from_(exp.table_(name))
            ((hiding,),) = self.tables.rows(query)
            table = Published(file.title, edge, file.protection, name, hiding=bool(hiding))
            published.append(replace(table, in_ledger=file.in_ledger))
        return published

    def _count_people(
        self,
        files: Sequence[PublishedTable],
        count: int | None,
        counted: Sequence[CountedRelease] = (),
    ) -> int:
        """Return the number of people: the sum of an exact table, a total of all, or ``count``.

        Where nothing tells it, it is the number of records of all releases. Refuse two different
        numbers, none, and 0. ``count`` is what the user says (None: nothing).
        """
        totals: dict[str, int] = {}  # by the title of the table that tells it
        for table in files:
            query = exp.select("sum(lower)", "sum(upper)", "bool_or(hidden)").from_(table.cells)
            ((n, largest, hidden),) = self.tables.rows(query)
            # A table without dimensions is a total of all: one number, exact if it is certain.
            exact = n == largest if not table.dims else table.protection == Protection()
            if exact and not hidden:
                totals[table.title] = int(n)
        if not totals and count is None:
            totals = {release.title: release.records for release in counted}
        if len(set(totals.values())) > 1:
            (first, n), *others = totals.items()
            second, m = next((title, total) for title, total in others if total != n)
            raise InputError(
                f"the published tables contradict each other: {first} has {plural(n, 'person')}, "
                f"{second} has {m:,}; correct one of them, or say how it is protected"
            )
        for title, n in totals.items():
            if count is not None and count != n:
                raise InputError(f"{title} has {plural(n, 'person')}, but --count says {count:,}")
        if not totals and count is None:
            raise InputError(
                "no exact table and no exact total tells how many people there are in all; name "
                "their number with --count"
            )
        people = count if count is not None else next(iter(totals.values()))
        self._check_total(files, people, f"--count says {people:,}" if count else "others say so")
        if people < 1:
            raise InputError("the published tables have no people; there is nobody to attack")
        return people

    def _check_total(self, files: Sequence[PublishedTable], people: int, says: str) -> None:
        """Refuse a number of people that a printed total excludes; ``says`` is who tells it."""
        for table in (t for t in files if not t.dims):  # totals of all
            query = exp.select("lower", "upper").from_(table.cells)
            for lower, upper in self.tables.rows(query):
                if people < lower or (upper is not None and people > upper):
                    span = f"at least {lower:,}" if upper is None else f"{lower:,} to {upper:,}"
                    span = f"{lower:,}" if lower == upper else span
                    raise InputError(
                        f"{table.title} is of {span} people, but {says}; correct one of them"
                    )

    def _check_truth(self, table: Published, records: Records) -> None:
        """Refuse a published table that the records do not give.

        The view ``untrue_cells`` counts cells whose true count is outside of their bounds.
        """
        query = splice(
            "tables/untrue_cells",
            tables={"cells": table.cells, "truth": records.truth(table.edge)},
            numbers={"unlisted": table.protection.unlisted},
            shape={"edge": table.edge},
        )
        ((wrong, line),) = self.tables.rows(query)
        if wrong:
            where = f"the first in line {line}" if line else "not one of them is listed"
            raise InputError(
                f"the records do not give {table.title}: {plural(wrong, 'cell')} cannot have its "
                f"published count, {where}; check the file, its protection, and the filter"
            )

    def _make_release(
        self, statements: Statements, published: Sequence[Published], records: Records | None
    ) -> Release:
        """Return the release, with tables of the combinations that can occur, and their number.

        Published tables with an inner dimension of a nesting (a city) get the outer one (its
        state).
        """
        domain = statements.domain
        numbers = {name: i for i, name in domain.names.items()}
        structural: list[Published] = []
        outer: set[int] = set()
        published = [*published, *statements.published]
        titles = distinct_titles([table.title for table in published])
        published = [replace(t, title=title) for t, title in zip(published, titles, strict=True)]
        for nesting in statements.nestings:
            published = [nesting.extended(table) for table in published]
            structural.append(nesting.table(domain))
            outer.add(nesting.outer)
        for k, text in enumerate(self.nested, 1):
            nesting = dimensions.read_nesting(
                self.tables, text, numbers, published, records, name=f"nested_{k}"
            )
            published = [nesting.extended(table) for table in published]
            structural.append(nesting.table(domain))
            outer.add(nesting.outer)
        # An outer value follows from its inner one, so it makes no further combinations.
        possible = math.prod(domain.sizes[i] for i in domain.names if i not in outer)
        if self.possible is not None:
            table = dimensions.read_combinations(
                self.tables, self.possible, numbers, domain, records
            )
            if table.edge & outer:
                raise InputError(
                    "a dimension is in --possible and the outer one of --nested; list its "
                    "combinations in the file alone"
                )
            structural.append(table)
            # Its dimensions have the combinations that are listed, not all of their values.
            possible //= math.prod(domain.sizes[i] for i in table.edge)
            possible *= self.tables.count(table.cells)
        columns = () if records is None else records.microdata.columns
        notes = tuple(statements.notes)
        return Release(
            self.tables, domain, published, records, possible, structural, columns, notes
        )


def _new(published: Sequence[Published]) -> list[Published]:
    """Return the tables that no ledger has."""
    return [table for table in published if not table.in_ledger]


def distinct_titles(titles: Sequence[str]) -> list[str]:
    """Return different titles: one that occurs again gets a number, from 2."""
    different: dict[str, None] = {}  # an ordered set
    for title in titles:
        numbered = (f"{title} ({n})" for n in itertools.count(2))
        new = next(t for t in itertools.chain([title], numbered) if t not in different)
        different[new] = None
    return list(different)
