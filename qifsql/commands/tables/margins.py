"""The margins of a set of published tables, and what each of their cells may be.

A margin is a set of attributes: the dimensions of a table, what several tables share, a set that is
asked for. Its cells are rows of an engine table with the columns ``cell``, ``component``, a
``place_i`` for each attribute i (the code of its value), ``lower`` and ``upper``. A cell that is
not there is empty for sure.

Components are the values of what all tables share, such as the school: no cell of one says
anything about another, as long as each has an exact total.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count as numbers_from
from typing import Any

from sqlglot import exp

from qifsql.commands.tables.hypergraph import NOTHING, Edge, Link, closure, covers
from qifsql.engine.tables import Tables
from qifsql.errors import InputError
from qifsql.query.columns import number
from qifsql.query.protections import Protection
from qifsql.query.splice import splice

MOST_CELLS = 100_000_000  # possible cells of one table whose zeros are not told
WHAT = "propagating bounds"
ROUNDS = 1000  # of propagation; bounds are sound after any of them
_numbers = numbers_from(1)


@dataclass(frozen=True)
class Published:
    """A published table: its title, its attributes, its protection, and its cells.

    ``cells`` is an engine table with a place for each attribute, ``lower`` and ``upper``,
    ``published`` (NULL if hidden), ``hidden``, ``line`` (of a file), and ``people``, the true count
    where the records are at hand. A ``structural`` table tells only which combinations can occur;
    a ``hiding`` one has cells that do not tell their count though it is called exact.
    """

    title: str
    edge: Edge
    protection: Protection
    cells: str
    structural: bool = False
    hiding: bool = False

    @property
    def exact(self) -> bool:
        """Return whether all of its cells tell their counts."""
        return self.protection.exact and not self.structural and not self.hiding


@dataclass(frozen=True)
class Domain:
    """The attributes of all tables: names, and the number of values of each, from 1.

    ``values`` are engine tables of ``code`` and ``value``. ``people`` is their number, N.
    """

    names: Mapping[int, str]
    sizes: Mapping[int, int]
    people: int

    @property
    def every(self) -> Edge:
        """Return all attributes."""
        return frozenset(self.names)


@dataclass
class Margins:
    """The margins of one set of tables; ``nodes`` are their attributes, by the names of tables.

    ``shared`` are the attributes whose values are components, each of which has an exact total, so
    that nothing is lost by looking at them one by one; without any, all people are one component.
    ``joint`` are the margins whose possible cells are all there.
    """

    tables: Tables
    domain: Domain
    published: Sequence[Published]
    shared: Edge
    nodes: dict[Edge, str] = field(default_factory=dict)
    joint: set[Edge] = field(default_factory=set)
    names: list[str] = field(default_factory=list)

    def make(self, query: exp.Query, what: str = "") -> str:
        """Create a table with a name of its own, and return the name."""
        name = f"margin_{next(_numbers)}"
        self.tables.make(name, query, what)
        self.names.append(name)
        return name

    def drop(self, name: str) -> None:
        """Drop a table that is no longer needed."""
        self.tables.drop(name)
        self.names.remove(name)

    def close(self) -> None:
        """Drop all tables."""
        self.tables.drop(*self.names)
        self.names.clear()

    @property
    def edges(self) -> list[Edge]:
        """Return the attributes of each table."""
        return [table.edge for table in self.published]

    @property
    def exact(self) -> bool:
        """Return whether all tables are exact; what occurs at all is told by a finer exact one."""
        counted = [table for table in self.published if not table.structural]
        return all(table.exact for table in counted) and all(
            any(table.edge <= other.edge for other in counted)
            for table in self.published
            if table.structural
        )

    def rows(self, query: exp.Query) -> list[dict[str, Any]]:
        """Return few rows of a query as dictionaries."""
        names = query.named_selects
        return [dict(zip(names, row, strict=True)) for row in self.tables.rows(query)]


def place(i: int) -> str:
    """Return the column of an attribute."""
    return f"place_{i}"


def values_of(i: int) -> exp.Table:
    """Return the table of the values of an attribute and their codes."""
    return exp.table_(f"values_{i}")


def places(edge: Iterable[int], table: str | None = None) -> list[exp.Column]:
    """Return the columns of attributes."""
    return [exp.column(place(i), table) for i in sorted(edge)]


def joined(query: exp.Select, table: str, alias: str, shared: Edge, **how: Any) -> exp.Select:
    """Return a query joined with a table by what both have of the attributes."""
    source = exp.alias_(exp.to_table(table), alias, table=True)
    if not shared:
        return query.join(source, join_type="cross", **how)
    return query.join(source, using=tuple(places(shared)), **how)


def grouped(query: exp.Select, edge: Edge, table: str | None = None) -> exp.Select:
    """Return a query with the attributes selected and grouped by; without any it has one row."""
    query = query.select(*places(edge, table))
    return query.group_by(*places(edge, table)) if edge else query


def projection(table: str, edge: Edge, **columns: exp.Expr) -> exp.Select:
    """Return one row per combination of attributes in a table, with aggregates."""
    query = grouped(exp.select().from_(table), edge)
    return query.select(*(exp.alias_(tree, name) for name, tree in columns.items()))


def build(
    tables: Tables,
    domain: Domain,
    published: Sequence[Published],
    *,
    further: Iterable[Edge],
    scope: Iterable[Edge],
    joint: Iterable[Edge] = (),
    most: int = 0,
) -> Margins:
    """Return the margins of tables, and ``further`` ones, with their first bounds.

    ``asked`` are sets of attributes whose cells will be asked for; of those in ``joint`` all
    possible cells are listed if there are at most ``most``.
    """
    margins = Margins(tables, domain, published, _components(published, scope))
    wholes = {t.title: _listed(margins, t) for t in published}
    full: dict[Edge, str] = {}
    for edge in joint:
        support = _support(margins, edge, most)
        if support is not None and fits(margins, support, most):
            full[edge] = margins.make(support, "listing possible cells")
            _check_counted(margins, edge, full[edge])
    margins.joint = set(full)
    edges = [*margins.edges, *further, margins.shared, *full]
    nodes = closure(e | margins.shared for e in edges)
    start = 0
    for edge in sorted(nodes, key=len):
        query = _cells(margins, edge, wholes, full, start)
        margins.nodes[edge] = margins.make(query, "making margins")
        start += tables.count(margins.nodes[edge])
    return margins


def _check_counted(margins: Margins, edge: Edge, possible: str) -> None:
    """Raise ContradictionError if a table counts people where no combination is possible."""
    for table in margins.published:
        if not table.structural and table.edge <= edge:
            counted = exp.select(*places(table.edge)).from_(table.cells).where("lower > 0")
            if table.edge:
                rest = exp.alias_(exp.to_table(possible), "possible", table=True)
                counted = counted.join(rest, using=tuple(places(table.edge)), join_type="anti")
            elif margins.tables.count(possible):
                continue
            else:
                counted = counted.select("lower")
            excluded = margins.make(counted)
            if margins.tables.count(excluded):
                raise ContradictionError(excluded)


def _components(published: Sequence[Published], scope: Iterable[Edge]) -> Edge:
    """Return the attributes of components: those of all tables, if they have exact totals."""
    if not any(t.exact for t in published):
        return NOTHING
    return frozenset.intersection(*(t.edge for t in published), *scope)


def _listed(margins: Margins, table: Published) -> str:
    """Return the table of all cells of a published table that may have people."""
    unlisted = table.protection.unlisted
    if not unlisted or table.structural:
        return table.cells
    possible = _support(margins, table.edge, MOST_CELLS)
    if possible is None:
        dims = ", ".join(margins.domain.names[i] for i in sorted(table.edge))
        raise InputError(
            f"a table over {dims} has more than {MOST_CELLS:,} possible cells, and its empty ones "
            "are not told; coarsen a dimension, or say which combinations occur (--nested, "
            "--possible)"
        )
    support = margins.make(possible, "listing empty cells")
    cells = exp.select(*places(table.edge), "lower", "upper").from_(table.cells)
    rest = exp.select(*places(table.edge), "0 AS lower", exp.alias_(number(unlisted), "upper"))
    rest = rest.from_(exp.alias_(exp.to_table(support), "support", table=True))
    if table.edge:
        other = exp.alias_(exp.to_table(table.cells), "cells", table=True)
        rest = rest.join(other, using=tuple(places(table.edge)), join_type="anti")
    return margins.make(exp.union(cells, rest, distinct=False))


def _support(margins: Margins, edge: Edge, most: int) -> exp.Select | None:
    """Return the combinations of attributes that no table excludes by a zero.

    None if parts that share nothing have more than ``most`` combinations.
    """
    sure = [t for t in margins.published if t.structural or not t.protection.unlisted]
    parts: dict[Edge, list[str]] = {}
    for t in sure:
        possible = exp.select(*places(t.edge & edge)).distinct().from_(t.cells)
        possible = possible.where(exp.GT(this=exp.column("upper"), expression=number(0)))
        if t.edge & edge:
            parts.setdefault(t.edge & edge, []).append(margins.make(possible))
    seen: Edge = NOTHING
    relations: list[tuple[Edge, str]] = []
    for part in sorted(parts, key=lambda e: (-len(e), sorted(e))):
        relations += [(part, name) for name in parts[part]]
    covered = frozenset().union(*parts)
    for i in sorted(edge - covered):
        values = exp.select(exp.column("code").as_(place(i))).from_(values_of(i))
        relations.append((frozenset([i]), margins.make(values)))
    if not relations:
        return exp.select("1 AS one")
    query = exp.select(*places(edge))
    size = 1
    for k, (part, name) in enumerate(_connected(relations)):
        alias = f"part_{k}"
        if not k:
            query = query.from_(exp.alias_(exp.to_table(name), alias, table=True))
        else:
            query = joined(query, name, alias, part & seen)
        size *= 1 if part & seen else margins.tables.count(name)
        seen |= part
    if size > most:
        return None
    return query


def _connected(relations: Sequence[tuple[Edge, str]]) -> list[tuple[Edge, str]]:
    """Return relations in an order in which each shares something with those before, if it can."""
    left, order = list(relations), []
    seen: Edge = NOTHING
    while left:
        following = max(left, key=lambda one: len(one[0] & seen))
        left.remove(following)
        order.append(following)
        seen |= following[0]
    return order


def _cells(
    margins: Margins, edge: Edge, wholes: Mapping[str, str], full: Mapping[Edge, str], start: int
) -> exp.Select:
    """Return the cells of a margin with their first bounds, numbered from ``start``."""
    finer = [(t, wholes[t.title]) for t in margins.published if t.edge >= edge]
    sets = [exp.select(*places(edge)).distinct().from_(name) for _, name in finer]
    sets += [exp.select(*places(edge)).distinct().from_(n) for e, n in full.items() if e >= edge]
    if edge in full:
        sets = [exp.select(*places(edge)).from_(full[edge])]
    lowers: list[exp.Expr] = [number(0)]
    uppers: list[exp.Expr] = [number(margins.domain.people)]
    if not edge:
        lowers, query = uppers, exp.select().from_(exp.select("1 AS one").subquery("cells"))
    else:
        together = exp.union(*sets) if len(sets) > 1 else sets[0]
        query = exp.select(*places(edge, "cells")).from_(together.subquery("cells"))
    sources = [(t, name, t.edge == edge) for t, name in finer if t.edge == edge or t.exact]
    for k, (_, name, is_own) in enumerate(sources if edge else []):
        alias = f"source_{k}"
        if is_own:
            source: exp.Expr = exp.alias_(exp.to_table(name), alias, table=True)
        else:
            total = exp.cast(exp.Sum(this=exp.column("lower")), "BIGINT")
            both = projection(name, edge, lower=total, upper=total.copy())
            source = both.subquery(alias)
        query = query.join(source, using=tuple(places(edge)), join_type="left")
        lowers.append(exp.func("coalesce", exp.column("lower", alias), number(0)))
        uppers.append(exp.func("coalesce", exp.column("upper", alias), number(0)))
    lower = exp.func("greatest", *lowers) if len(lowers) > 1 else lowers[0]
    upper = exp.func("least", *uppers) if len(uppers) > 1 else uppers[0]
    row = exp.Add(this=exp.Window(this=exp.RowNumber()), expression=number(start))
    component: exp.Expr = number(0)
    if margins.shared and edge != margins.shared:
        query = joined(query, margins.nodes[margins.shared], "components", margins.shared)
        component = exp.column("component", "components")
    elif margins.shared:
        component = row.copy()
    return query.select(
        exp.alias_(row, "cell"),
        exp.alias_(component, "component"),
        exp.alias_(exp.cast(lower, "BIGINT"), "lower"),
        exp.alias_(exp.cast(upper, "BIGINT"), "upper"),
    )


def check_first(margins: Margins) -> None:
    """Raise ContradictionError if the first bounds of a cell leave no count."""
    for name in margins.nodes.values():
        query = exp.select("component").from_(name).where("lower > upper")
        differing = margins.make(query.distinct())
        if margins.tables.count(differing):
            raise ContradictionError(differing)


def propagate(margins: Margins) -> None:
    """Tighten the bounds of all margins until nothing changes; replace their tables.

    Raises InputError if a cell has no possible count left: the tables contradict each other.
    """
    columns = ("cell", "component", "lower", "upper")
    everything = _union([exp.select(*columns).from_(name) for name in margins.nodes.values()])
    active = margins.make(everything, WHAT)
    edges = margins.make(_edges(margins), WHAT)
    settled: list[str] = []
    for _ in range(ROUNDS):
        names = {"active": active, "edges": edges}
        names["finer_sums"] = margins.make(splice("tables/finer_sums", tables=names), WHAT)
        tightened = splice("tables/tightened", tables=names)
        names["tightened"] = margins.make(tightened, WHAT)
        names["changed"] = margins.make(splice("tables/changed", tables=names))
        settled.append(margins.make(splice("tables/settled", tables=names)))
        ((left, empty),) = margins.tables.rows(
            exp.select("count(*)", "coalesce(bool_or(empty), FALSE)").from_(names["changed"])
        )
        if empty:
            raise ContradictionError(names["changed"])
        used = [active, edges, names["finer_sums"], names["tightened"], names["changed"]]
        if not left:
            break
        active = margins.make(splice("tables/unsettled", tables=names))
        edges = margins.make(splice("tables/unsettled_edges", tables=names))
        _drop(margins, used)
    else:
        settled.append(active)
    bounds = margins.make(
        _union([exp.select("cell", "lower", "upper").from_(name) for name in settled])
    )
    for edge, name in list(margins.nodes.items()):
        query = exp.select(*places(edge), "cell", "component", "bounds.lower", "bounds.upper")
        query = query.from_(exp.alias_(exp.to_table(name), "cells", table=True))
        query = query.join(exp.alias_(exp.to_table(bounds), "bounds", table=True), using=["cell"])
        margins.nodes[edge] = margins.make(query)
        _drop(margins, [name])
    _drop(margins, [bounds, *settled])


class ContradictionError(Exception):
    """No count is left for a cell of the components in a table ``changed``."""

    def __init__(self, table: str) -> None:
        super().__init__(table)
        self.table = table


def _drop(margins: Margins, names: Sequence[str]) -> None:
    present = [name for name in dict.fromkeys(names) if name in margins.names]
    margins.tables.drop(*present)
    margins.names = [name for name in margins.names if name not in present]


def _union(queries: Sequence[exp.Query]) -> exp.Query:
    return exp.union(*queries, distinct=False) if len(queries) > 1 else queries[0]


def _edges(margins: Margins) -> exp.Query:
    """Return the pairs of a margin cell and its finer cells, of all margins; without any, NULL."""
    pairs: list[exp.Query] = []
    for n, (inner, outer) in enumerate(covers(list(margins.nodes))):
        query = exp.select(
            "parents.cell AS parent", "children.cell AS child", "parents.component AS component"
        ).select(exp.alias_(number(n), "node"))
        query = query.from_(exp.alias_(exp.to_table(margins.nodes[outer]), "parents", table=True))
        source = exp.alias_(exp.to_table(margins.nodes[inner]), "children", table=True)
        if outer:
            query = query.join(source, using=tuple(places(outer)), join_type="left")
        else:
            query = query.join(source, on=exp.true(), join_type="left")
        pairs.append(query)
    if not pairs:
        none = exp.select("0 AS parent", "0 AS child", "0 AS component", "0 AS node")
        return none.where(exp.false())
    return _union(pairs)


def separators(chains: Iterable[Sequence[Link]]) -> list[Edge]:
    """Return what the edges of chains share with those before them."""
    return list(dict.fromkeys(link.shared for links in chains for link in links[1:]))


def fits(margins: Margins, query: exp.Query, most: int) -> bool:
    """Return whether a query has at most so many rows; it stops behind them."""
    some = query.copy().limit(most + 1) if isinstance(query, exp.Select) else query
    ((n,),) = margins.tables.rows(exp.select("count(*)").from_(some.subquery("counted")))
    return int(n) <= most
