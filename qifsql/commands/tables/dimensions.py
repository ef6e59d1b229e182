"""The dimensions of tables, the records behind them, and the combinations that can occur.

Attributes are numbered from 1 in the order in which tables name them; ``values_i`` is the engine
table of the values of attribute i with their codes, from 1 in their order. Nested dimensions, and a
file that lists the possible combinations, become tables without counts (``Published.structural``).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from qifsql.adversary import names as naming
from qifsql.adversary import roles
from qifsql.adversary.spec import Attribute, Microdata
from qifsql.commands.tables.hypergraph import Edge
from qifsql.commands.tables.margins import Domain, Margins, Published, place, places
from qifsql.counting.release_columns import typed
from qifsql.data.dataset import Dataset
from qifsql.data.expressions import SOURCE, column
from qifsql.data.option import csv_row
from qifsql.data.readers import relation
from qifsql.engine.catalog import Catalog
from qifsql.engine.tables import Tables
from qifsql.errors import ColumnError, InputError, did_you_mean, no_records, plural, quoted
from qifsql.query import microdata_steps
from qifsql.query.columns import number, union
from qifsql.query.plan import Plan, Step
from qifsql.query.protections import Protection
from qifsql.query.shapes import Shape
from qifsql.query.splice import splice

DIMENSION, TEXT = "dimension", "VARCHAR"


def find_dimension(text: str, dimensions: Iterable[str], what: str) -> str:
    """Return the dimension that a text names, in any case; ``what`` is the text in errors."""
    present = list(dimensions)
    if text in present:
        return text
    folded = [name for name in present if name.casefold() == text.strip().casefold()]
    if len(folded) != 1:
        raise ColumnError(
            f"{what} {quoted(text)} is no dimension of the tables{did_you_mean(text, present)}"
        )
    return folded[0]


@dataclass
class Records:
    """The records behind the tables, which are counted by sets of dimensions (edges)."""

    tables: Tables
    microdata: Microdata
    numbers: dict[str, int]  # of the dimensions, by name
    title: str
    counted: dict[Edge, str] = field(default_factory=dict)  # tables of people by codes
    derived: dict[int, "Nesting"] = field(default_factory=dict)  # attributes that records lack

    @property
    def people(self) -> int:
        """Return the number of records."""
        query = microdata_steps.records_plan(self.microdata)
        ((n,),) = self.tables.rows(query, "counting records")
        if not n:
            filtered = self.microdata.where is not None
            raise no_records(self.title, "nobody to attack", filtered=filtered)
        return int(n)

    def count(self, edge: Edge, name: str) -> None:
        """Create a table of the people by attributes, with values in place of codes."""
        query = splice("tables/record_counts", shape={"edge": edge})
        self.tables.make(name, self._plan(query), "counting people")

    def truth(self, edge: Edge) -> str:
        """Return the table of the true number of ``people`` by codes of attributes, made once."""
        if edge not in self.counted:
            finer = [e for e in self.counted if e >= edge]
            name = f"people_{len(self.counted) + 1}"
            nestings = [self.derived[i] for i in sorted(edge) if i in self.derived]
            if nestings:
                inner = frozenset().union(edge - self.derived.keys(), *(n.inner for n in nestings))
                people = self.truth(inner)
                for nesting in nestings:
                    people = nesting.widened(people)
                name = f"people_{len(self.counted) + 1}"
            if finer or nestings:  # add its counts up, and read no records
                tables = {"finer": people if nestings else self.counted[min(finer, key=len)]}
                query = splice("tables/added_people", tables=tables, shape={"edge": edge})
                self.tables.make(name, query, "adding people")
            else:
                self.count(edge, f"raw_{name}")
                self.code(edge, f"raw_{name}", name)
            self.counted[edge] = name
        return self.counted[edge]

    def code(self, edge: Edge, raw: str, name: str) -> None:
        """Create a table of the people by codes from that by values, which is dropped."""
        query = splice("tables/coded_people", tables={"raw": raw}, shape={"edge": edge})
        self.tables.make(name, query, "coding values")
        self.tables.drop(raw)

    def best_success(self, knowledge: Edge, secret: int | None) -> int:
        """Return how many people are guessed right with the records; no ``secret``: who it is."""
        tables = {"truth": self.truth(knowledge if secret is None else knowledge | {secret})}
        shape: dict[str, Shape] = {"knowledge": knowledge, "has_secret": secret is not None}
        query = splice("tables/records_right", tables=tables, shape=shape)
        ((n,),) = self.tables.answer(query, "attacking the records")
        return int(n)

    def _plan(self, query: exp.Select) -> Plan:
        steps = microdata_steps.steps(self.microdata)
        return microdata_steps.plan(self.microdata, steps, query)


def value_texts(margins: Margins, i: int, codes: Iterable[int] = ()) -> dict[int, str | None]:
    """Return the text of values of attribute i (None: missing) by code, of ``codes`` or of all."""
    query = exp.select("code", "value::VARCHAR AS text").from_(exp.table_(f"values_{i}"))
    if chosen := sorted(set(codes)):
        query = query.where(exp.column("code").isin(*map(number, chosen)))
    return dict(margins.tables.rows(query.order_by("code")))


def list_values(tables: Tables, sources: dict[int, list[str]]) -> dict[int, int]:
    """Create the engine tables ``values_i``; return the number of values by attribute i.

    ``sources`` has the names of the tables that have values of attribute i, as ``value_i``.
    """
    sizes = {}
    for i, relations in sorted(sources.items()):
        names = {f"relation_{n}": name for n, name in enumerate(relations)}
        shape = {"attribute": i, "relations": len(relations)}
        tables.make(f"values_{i}", splice("tables/listed_values", tables=names, shape=shape))
        sizes[i] = tables.count(f"values_{i}")
    return sizes


def bind(
    catalog: Catalog, dataset: Dataset, dims: Sequence[Sequence[str]], where: str | None
) -> tuple[Microdata, list[tuple[str, ...]]]:
    """Return the microdata with all dimensions as quasi-identifiers, and the names in each table.

    ``dims`` has the dimensions of each table as they are written, names or expressions such as
    ``age:10``. Raises ColumnError or ExpressionError if one does not fit.
    """
    names_of_tables: list[tuple[str, ...]] = []
    by_name: dict[str, Attribute] = {}
    for texts in dims:
        attributes = [a for text in texts for a in naming.named(text, catalog.schema, DIMENSION)]
        for a in attributes:
            namesake = by_name.setdefault(a.name, a)
            if namesake.expression != a.expression:
                raise ColumnError(
                    f"dimension {quoted(a.name)} is two expressions; give one of them another name"
                )
        if len({a.name for a in attributes}) < len(attributes):
            raise ColumnError(f"a table names a dimension twice: {quoted(','.join(texts))}")
        names_of_tables.append(tuple(a.name for a in attributes))
    condition = catalog.filter(where)
    qids = typed(list(by_name.values()), catalog, DIMENSION)
    microdata = Microdata(
        dataset,
        qids,
        where=condition,
        zoned=any("TIME ZONE" in c.type for c in catalog.schema.columns),
        releases=(catalog.schema.dataset,),
        columns=roles.columns(catalog.schema, {roles.QID: qids}, where=condition),
    )
    return microdata, names_of_tables


@dataclass(frozen=True)
class Nesting:
    """Dimensions of which each value of ``inner`` lies in one of ``outer``.

    ``inner`` may be several, whose values lie in one together. ``pairs`` is an engine table of the
    outer value of each inner one.
    """

    tables: Tables
    text: str
    inner: Edge
    outer: int
    pairs: str

    def table(self, domain: Domain) -> Published:
        """Return the pairs as a table without counts: its cells may have 0 to all people."""
        edge = self.inner | {self.outer}
        name = f"{self.pairs}_cells"
        tables, numbers = {"pairs": self.pairs}, {"all_people": domain.people}
        query = splice("tables/nested_pairs", tables=tables, numbers=numbers, shape={"edge": edge})
        self.tables.make(name, query)
        return Published(f"nested {self.text}", edge, Protection(), name, structural=True)

    def extended(self, table: Published) -> Published:
        """Return a table with the outer dimension added, if it has the inner one without it."""
        if not self.inner <= table.edge or self.outer in table.edge:
            return table
        return replace(table, edge=table.edge | {self.outer}, cells=self.widened(table.cells))

    def widened(self, cells: str) -> str:
        """Return a new table of cells with the outer dimension, by the inner one."""
        name = f"{cells}_in_{self.outer}"
        tables: dict[str, str] = {"cells": cells, "pairs": self.pairs}
        shape: dict[str, Shape] = {"inner": self.inner, "outer": self.outer}
        self.tables.repeatable(name, splice("tables/with_outer", tables=tables, shape=shape))()
        return name


def read_nesting(
    tables: Tables,
    text: str,
    numbers: Mapping[str, int],
    published: Sequence[Published],
    records: Records | None,
    *,
    name: str,
) -> Nesting:
    """Return the nesting of a text ``inner,outer``; make the engine table ``name`` of its pairs.

    In ``city,state`` each value of the inner dimension lies in one value of the outer one.
    ``numbers`` are those of dimensions by name. The pairs are of the records, or of published
    tables without them (None). Refuse two outer values for one inner value.
    """
    names = csv_row(text)
    if len(names) != 2:
        raise InputError(
            f"{quoted(text)} is not INNER,OUTER; name two dimensions, as in --nested city,state"
        )
    inner, outer = (numbers[find_dimension(n, numbers, "nested")] for n in names)
    if inner == outer:
        raise InputError(f"{quoted(text)} names one dimension twice; name an inner and an outer")
    edge = frozenset({inner, outer})
    pairs: exp.Query
    if records is not None:
        pairs = exp.select(*places(edge)).from_(records.truth(edge))
    else:
        queries = [
            exp.select(*places(edge)).from_(table.cells).where("upper > 0")
            for table in published
            if table.edge >= edge
        ]
        if not queries:
            raise InputError(
                "no table has both dimensions of --nested, so that nothing says which value lies "
                "in which; add one"
            )
        pairs = union(queries, distinct=True)
    tables.make(name, pairs)
    twice = exp.select(place(inner)).from_(name).group_by(place(inner)).having("count(*) > 1")
    ((n,),) = tables.rows(exp.select("count(*)").from_(twice.subquery("twice")))
    if n:
        raise InputError(
            f"--nested: {plural(n, 'value')} of the inner dimension lie in several of the "
            "outer one; name dimensions where each lies in one"
        )
    return Nesting(tables, text, frozenset([inner]), outer, name)


def read_combinations(
    tables: Tables,
    possible: Dataset,
    numbers: Mapping[str, int],
    domain: Domain,
    records: Records | None,
) -> Published:
    """Return the combinations that the lines of the file ``possible`` list: a table without counts.

    ``numbers`` are those of dimensions by name; each column is one. Refuse a file that lacks a
    combination of the records, if they are at hand (not None).
    """
    catalog = Catalog(tables.engine, possible)
    title = possible.name
    columns = {
        numbers[find_dimension(c.name, numbers, f"column of {title}")]: c
        for c in catalog.schema.columns
    }
    edge = frozenset(columns)
    dataset = catalog.dataset
    assert isinstance(dataset, Dataset)  # noqa: S101 - it is no collection
    texts = [exp.cast(column(c), "VARCHAR").as_(f"value_{i}") for i, c in sorted(columns.items())]
    lines = relation(dataset, frozenset(c.source_name for c in columns.values()))
    lines = exp.alias_(lines, SOURCE, table=True)
    listed = Step("listed", "One row per line: texts.", exp.select(*texts).from_(lines))
    query = splice(
        "tables/listed_combinations", numbers={"all_people": domain.people}, shape={"edge": edge}
    )
    tables.make("possible", Plan((listed,), query))
    if records is not None:
        truth = exp.select("count(*)").from_(records.truth(edge))
        unlisted = truth.join("possible", using=tuple(places(edge)), join_type="anti")
        ((missing,),) = tables.rows(unlisted)
        if missing:  # people who cannot be
            raise InputError(
                f"{plural(missing, 'combination')} of the records are not in {title}; add them, "
                "or correct the records"
            )
    return Published(title, edge, Protection(), "possible", structural=True)
