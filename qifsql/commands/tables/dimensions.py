"""The dimensions of tables, and the records behind them.

Attributes are numbered from 1 in the order in which tables name them; ``values_i`` is the engine
table of the values of attribute i with their codes, from 1 in their order.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from qifsql.adversary import names as naming
from qifsql.adversary import roles
from qifsql.adversary.spec import Attribute, Microdata
from qifsql.commands.tables.hypergraph import Edge
from qifsql.commands.tables.margins import Margins, group_by_edge, place, values_of
from qifsql.counting.release_columns import typed
from qifsql.data.dataset import Column, Dataset
from qifsql.data.expressions import SOURCE, column
from qifsql.data.readers import relation
from qifsql.engine.catalog import Catalog
from qifsql.engine.tables import Tables
from qifsql.errors import ColumnError, DatasetError, did_you_mean, quoted
from qifsql.query import microdata_steps
from qifsql.query.columns import number, same, union
from qifsql.query.plan import Plan

DIMENSION, TEXT = "dimension", "VARCHAR"


def find_dimension(text: str, dimensions: Iterable[str], what: str) -> str:
    """Return the dimension that a text names; refuse what is none."""
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
    """The records behind the tables: who has what of the dimensions.

    ``numbers`` are those of the dimensions by name; ``outer`` maps an inner dimension to those that
    its values lie in.
    """

    tables: Tables
    microdata: Microdata
    numbers: dict[str, int]
    title: str
    counted: dict[Edge, str] = field(default_factory=dict)

    @property
    def people(self) -> int:
        """Return the number of records."""
        query = microdata_steps.records_plan(self.microdata)
        ((n,),) = self.tables.rows(query, "counting records")
        if not n:
            after = " under the filter (where)" if self.microdata.where is not None else ""
            raise DatasetError(f"{self.title} has no records{after}; there is nobody to attack")
        return int(n)

    def count(self, edge: Edge, name: str) -> None:
        """Create a table of the people by attributes, with values in place of codes."""
        values = [exp.alias_(exp.column(f"qid_{i}"), f"value_{i}") for i in sorted(edge)]
        keys = [exp.column(f"qid_{i}") for i in sorted(edge)]
        query = exp.select(*values, "count(*) AS people").from_("microdata").group_by(*keys)
        self.tables.make(name, self._plan(query), "counting people")

    def truth(self, edge: Edge) -> str:
        """Return the table of the people by the codes of attributes."""
        if edge not in self.counted:
            finer = [e for e in self.counted if e >= edge]
            name = f"people_{len(self.counted) + 1}"
            if finer:
                source = self.counted[min(finer, key=len)]
                total = exp.cast(exp.Sum(this=exp.column("people")), "BIGINT")
                query = group_by_edge(exp.select().from_(source), edge)
                self.tables.make(name, query.select(exp.alias_(total, "people")), "adding people")
            else:
                raw = f"raw_{name}"
                self.count(edge, raw)
                self.tables.make(name, code_values(raw, edge, ["people"]), "coding values")
                self.tables.drop(raw)
            self.counted[edge] = name
        return self.counted[edge]

    def best_success(self, knowledge: Edge, secret: int | None) -> int:
        """Return how many people an adversary with all records gets right; her success times N."""
        edge = knowledge | ({secret} if secret is not None else set())
        keys = [exp.column(f"qid_{i}") for i in sorted(edge)]
        cells = exp.select(*keys, "count(*) AS people").from_("microdata").group_by(*keys)
        if secret is None:
            query = exp.select("count(*) AS right").from_(cells.subquery("cells"))
        else:
            largest = exp.select("max(people) AS largest").from_(cells.subquery("cells"))
            if knowledge:
                largest = largest.group_by(*[exp.column(f"qid_{i}") for i in sorted(knowledge)])
            query = exp.select("sum(largest) AS right").from_(largest.subquery("blocks"))
        ((n,),) = self.tables.answer(self._plan(query), "attacking the records")
        return int(n)

    def _plan(self, query: exp.Select) -> Plan:
        steps = microdata_steps.steps(self.microdata)
        return microdata_steps.plan(self.microdata, steps, query)


def code_values(raw: str, edge: Edge, columns: Sequence[str]) -> exp.Select:
    """Return the rows of a table with codes in place of the values of its attributes."""
    query = exp.select(*(exp.column("code", f"values_{i}").as_(place(i)) for i in sorted(edge)))
    query = query.select(*(exp.column(name, raw) for name in columns)).from_(raw)
    for i in sorted(edge):
        value = exp.column(f"value_{i}", raw)
        on = same(value, exp.column("value", f"values_{i}"))
        query = query.join(values_of(i), on=on)
    return query


def rows_as_text(dataset: Dataset, columns: Mapping[int, Column]) -> exp.Select:
    """Return the rows of a file with its columns as texts, by the numbers of attributes."""
    texts = [exp.cast(column(c), "VARCHAR").as_(f"value_{i}") for i, c in sorted(columns.items())]
    rows = relation(dataset, frozenset(c.source_name for c in columns.values()))
    return exp.select(*texts).from_(exp.alias_(rows, SOURCE, table=True))


def value_texts(
    margins: Margins, i: int, codes: Iterable[int] | None = None
) -> dict[int, str | None]:
    """Return the values of an attribute as texts, by code; None: missing."""
    query = exp.select("code", exp.cast(exp.column("value"), TEXT).as_("text")).from_(values_of(i))
    if codes is not None:
        query = query.where(exp.column("code").isin(*map(number, sorted(set(codes)))))
    return dict(margins.tables.rows(query.order_by("code")))


def list_values(tables: Tables, sources: dict[int, list[str]]) -> dict[int, int]:
    """Create ``values_i`` of each attribute from the tables that have it; return their sizes."""
    sizes = {}
    for i, relations in sorted(sources.items()):
        value = exp.column(f"value_{i}").as_("value")
        every = union([exp.select(value.copy()).from_(name) for name in relations], distinct=True)
        order = exp.Order(expressions=[exp.Ordered(this=exp.column("value"), nulls_first=False)])
        code = exp.Window(this=exp.RowNumber(), order=order).as_("code")
        tables.make(f"values_{i}", exp.select("value", code).from_(every.subquery("every")))
        sizes[i] = tables.count(f"values_{i}")
    return sizes


def bind(
    catalog: Catalog,
    dataset: Dataset,
    dims: Sequence[Sequence[str]],
    where: str | None,
) -> tuple[Microdata, list[tuple[str, ...]]]:
    """Return the microdata with all dimensions as quasi-identifiers, and the names of each table.

    Raises ColumnError or ExpressionError if a name or expression does not fit.
    """
    listed: list[tuple[str, ...]] = []
    every: dict[str, Attribute] = {}
    for texts in dims:
        attributes = [a for text in texts for a in naming.named(text, catalog.schema, DIMENSION)]
        for a in attributes:
            namesake = every.setdefault(a.name, a)
            if namesake.expression != a.expression:
                raise ColumnError(
                    f"dimension {quoted(a.name)} is two expressions; give one of them another name"
                )
        if len({a.name for a in attributes}) < len(attributes):
            raise ColumnError(f"a table names a dimension twice: {quoted(','.join(texts))}")
        listed.append(tuple(a.name for a in attributes))
    condition = catalog.filter(where)
    qids = typed(list(every.values()), catalog, DIMENSION)
    microdata = Microdata(
        dataset,
        qids,
        where=condition,
        zoned=any("TIME ZONE" in c.type for c in catalog.schema.columns),
        releases=(catalog.schema.dataset,),
        columns=roles.columns(catalog.schema, {roles.QID: qids}, where=condition),
    )
    return microdata, listed
