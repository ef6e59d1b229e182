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
from qifsql.commands.tables.margins import grouped, place, places, values_of
from qifsql.counting.release_columns import typed
from qifsql.data.dataset import Column, Dataset
from qifsql.data.expressions import SOURCE, column
from qifsql.data.option import names
from qifsql.data.readers import relation
from qifsql.engine.catalog import Catalog
from qifsql.engine.tables import Tables
from qifsql.errors import ColumnError, DatasetError, InputError, did_you_mean, quoted
from qifsql.query import microdata_steps
from qifsql.query.columns import number, same
from qifsql.query.plan import Plan
from qifsql.query.protections import Protection, split

DIMENSION = "dimension"


@dataclass(frozen=True)
class NewTable:
    """A table to make: its text, its dimensions as they are written, and its protection.

    A ``dropped`` table is not published; its dimensions stay those of the people.
    """

    title: str
    dims: tuple[str, ...]
    protection: Protection
    dropped: bool = False


def new_tables(texts: Sequence[str]) -> list[NewTable]:
    """Return the tables that texts such as ``school,sex:suppress<5`` ask for."""
    tables = []
    for text in texts:
        dims, protection = split(text)
        written = names([dims])
        if not written or not all(name.strip() for name in written):
            raise InputError(
                f"table {quoted(text)} has no dimensions; name some, as in 'school,sex:suppress<5'"
            )
        tables.append(NewTable(text.strip(), tuple(name.strip() for name in written), protection))
    return tables


def named(text: str, dimensions: Iterable[str], what: str) -> str:
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
        steps = microdata_steps.steps(self.microdata)
        plan: Plan = microdata_steps.plan(self.microdata, steps, query)
        self.tables.make(name, plan, "counting people")

    def truth(self, edge: Edge) -> str:
        """Return the table of the people by the codes of attributes."""
        if edge not in self.counted:
            finer = [e for e in self.counted if e >= edge]
            name = f"people_{len(self.counted) + 1}"
            if finer:
                source = self.counted[min(finer, key=len)]
                total = exp.cast(exp.Sum(this=exp.column("people")), "BIGINT")
                query = grouped(exp.select().from_(source), edge)
                self.tables.make(name, query.select(exp.alias_(total, "people")), "adding people")
            else:
                raw = f"raw_{name}"
                self.count(edge, raw)
                self.tables.make(name, coded(raw, edge, ["people"]), "coding values")
                self.tables.drop(raw)
            self.counted[edge] = name
        return self.counted[edge]

    def best(self, knowledge: Edge, secret: int | None) -> int:
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
        steps = microdata_steps.steps(self.microdata)
        plan = microdata_steps.plan(self.microdata, steps, query)
        ((n,),) = self.tables.answer(plan, "attacking the records")
        return int(n)


def coded(raw: str, edge: Edge, others: Sequence[str]) -> exp.Select:
    """Return the rows of a table with codes in place of the values of its attributes."""
    query = exp.select(*(exp.column("code", f"values_{i}").as_(place(i)) for i in sorted(edge)))
    query = query.select(*(exp.column(name, raw) for name in others)).from_(raw)
    for i in sorted(edge):
        value = exp.column(f"value_{i}", raw)
        on = same(value, exp.column("value", f"values_{i}"))
        query = query.join(values_of(i), on=on)
    return query


def rows_as_text(dataset: Dataset, columns: Mapping[int, Column]) -> exp.Select:
    """Return the rows of a file with its columns as texts, by the numbers of attributes."""
    texts = [
        exp.cast(column(one), "VARCHAR").as_(f"value_{i}") for i, one in sorted(columns.items())
    ]
    rows = relation(dataset, frozenset(one.source_name for one in columns.values()))
    return exp.select(*texts).from_(exp.alias_(rows, SOURCE, table=True))


def list_values(tables: Tables, sources: dict[int, list[str]]) -> dict[int, int]:
    """Create ``values_i`` of each attribute from the tables that have it; return their sizes."""
    sizes = {}
    for i, relations in sorted(sources.items()):
        value = exp.column(f"value_{i}").as_("value")
        each = [exp.select(value.copy()).distinct().from_(name) for name in relations]
        every = exp.union(*each) if len(each) > 1 else each[0]
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
            other = every.setdefault(a.name, a)
            if other.expression != a.expression:
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


def publish(
    tables: Tables, raw: str, edge: Edge, protection: Protection, *, people: int, seed: int
) -> exp.Select:
    """Return the published cells of a table from the true counts of its coded cells."""
    n = exp.column("people")
    published, hidden = _published(n, protection, edge, seed)
    cells = exp.select(*places(edge), "people", published.as_("published"), hidden.as_("hidden"))
    cells = cells.from_(raw)
    shown = exp.column("published")
    least, most = protection.hidden() if protection.kind == "suppress" else (0, 0)
    if protection.kind == "atleast":
        least, most = protection.number, people
    lower = exp.case().when(exp.column("hidden"), number(least))
    upper = exp.case().when(exp.column("hidden"), number(min(most, people)))
    above = exp.func("least", protection.upper(shown.copy()), number(people))
    bounds = (
        exp.cast(lower.else_(protection.lower(shown.copy())), "BIGINT").as_("lower"),
        exp.cast(upper.else_(above), "BIGINT").as_("upper"),
    )
    if protection.kind == "atleast":  # a count below it is told as it is
        upper = exp.case().when(exp.column("hidden"), number(people)).else_(shown.copy())
        bounds = (bounds[0], exp.cast(upper, "BIGINT").as_("upper"))
    return exp.select("*", "NULL AS line", *bounds).from_(cells.subquery("cells"))


def _published(
    n: exp.Expr, protection: Protection, edge: Edge, seed: int
) -> tuple[exp.Expr, exp.Expr]:
    """Return the published count of a true one, NULL if it is hidden, and whether it is."""
    b, never = number(protection.number), exp.false()
    if protection.kind == "suppress":
        hidden: exp.Expr = exp.LT(this=n.copy(), expression=b)
        return exp.case().when(hidden, exp.null()).else_(n.copy()), hidden.copy()
    if protection.kind == "atleast":
        hidden = exp.GTE(this=n.copy(), expression=b)
        return exp.case().when(hidden, exp.null()).else_(n.copy()), hidden.copy()
    if protection.kind == "round" and not protection.variant:
        half = exp.paren(n.copy() + number(protection.number // 2))
        return exp.Mul(this=exp.IntDiv(this=half, expression=b), expression=b.copy()), never
    if protection.kind == "round":
        over = exp.Mod(this=n.copy(), expression=b)
        up = exp.LT(this=_lot(edge, seed, protection.number), expression=over)
        rest = exp.case().when(up, b.copy()).else_(number(0))
        return n.copy() - over.copy() + exp.paren(rest), never
    if protection.kind == "noise":
        shift = _lot(edge, seed, 2 * protection.number + 1) - b
        return exp.func("greatest", number(0), n.copy() + exp.paren(shift)), never
    return n.copy(), never


def _lot(edge: Edge, seed: int, sides: int) -> exp.Expr:
    """Return a number from 0 to ``sides`` - 1 that depends on the cell and the seed alone."""
    slash = exp.Literal.string("/")
    parts: list[exp.Expr] = [number(seed)]
    for i in sorted(edge):
        parts += [slash.copy(), number(i), slash.copy(), exp.column(place(i))]
    drawn = exp.Anonymous(this="md5_number", expressions=[exp.func("concat", *parts)])
    size = exp.cast(number(sides), "UHUGEINT", dialect="duckdb")
    return exp.cast(exp.paren(exp.Mod(this=drawn, expression=size)), "BIGINT")
