"""The margins of a set of published tables, and what each of their cells may be.

A margin is a set of attributes: the dimensions of a table, what several tables share, a set that is
asked for. Its cells are rows of an engine table with the columns ``cell``, ``component``, a
``place_i`` for each attribute i (the code of its value), ``lower`` and ``upper``. A cell that is
not there is empty for sure. Functions here and in ``proofs`` that return a table create it in the
engine; ``Margins.close`` drops all of them.

Components are the values of what all tables share, such as the school: no cell of one says
anything about another, as long as each has an exact total.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count as numbers_from
from typing import Any

from sqlglot import exp

from qifsql.commands.tables.hypergraph import (
    NOTHING,
    Edge,
    close_under_intersection,
    list_nearest_subsets,
)
from qifsql.engine.tables import Tables
from qifsql.errors import InputError
from qifsql.query.protections import Protection
from qifsql.query.shapes import Shape
from qifsql.query.splice import splice

MOST_CELLS = 100_000_000  # possible cells of one table whose zeros are not told
MOST_LISTED_CELLS = 200_000  # of a set of attributes; with more, they are not all listed
WHAT = "propagating bounds"
MOST_ROUNDS = 1000  # of propagation; bounds are sound after any of them
_numbers = numbers_from(1)


@dataclass(frozen=True)
class Published:
    """A published table.

    ``cells`` is an engine table with a place for each attribute, ``lower`` and ``upper``,
    ``published`` (NULL if hidden), ``hidden``, ``line`` (of a file), and ``people``, the true count
    where the records are at hand.
    """

    title: str
    edge: Edge  # its attributes
    protection: Protection
    cells: str
    structural: bool = False  # it tells only which combinations can occur
    hiding: bool = False  # some cells do not tell their count, though it is called exact
    in_ledger: bool = False  # a ledger has it
    statement: str = ""  # the release that it is part of, by title; empty: it is a whole statement

    @property
    def source(self) -> str:
        """Return the title of the statement that it is, or is part of."""
        return self.statement or self.title

    @property
    def exact(self) -> bool:
        """Return whether all of its cells tell their counts."""
        return self.protection.exact and not self.structural and not self.hiding


@dataclass(frozen=True)
class Domain:
    """The attributes of all tables, which are numbered from 1, and the number of people, N.

    ``sizes`` are the numbers of their values; ``derived`` attributes follow from others: they are
    cells and classes of releases.
    """

    names: Mapping[int, str]
    sizes: Mapping[int, int]
    people: int
    derived: Edge = NOTHING

    @property
    def every(self) -> Edge:
        """Return all attributes."""
        return frozenset(self.names)

    @property
    def independent(self) -> Edge:
        """Return the attributes that follow from no others."""
        return self.every - self.derived


@dataclass
class Margins:
    """The margins of one set of tables.

    ``shared`` are the attributes whose values are components, each of which has an exact total, so
    that nothing is lost by looking at them one by one; without any, all people are one component.
    """

    tables: Tables
    domain: Domain
    published: Sequence[Published]
    shared: Edge
    nodes: dict[Edge, str] = field(default_factory=dict)  # the table of each margin
    joint: set[Edge] = field(default_factory=set)  # margins whose possible cells are all listed
    names: list[str] = field(default_factory=list)  # of tables to drop at the end

    def make(
        self,
        view: str,
        tables: Mapping[str, str],
        what: str = "",
        *,
        numbers: Mapping[str, int] | None = None,
        **shape: Shape,
    ) -> str:
        """Create the table of a view of ``sql/tables/`` in a shape, and return its name."""
        query = splice(f"tables/{view}", tables=tables, numbers=numbers, shape=shape)
        return self.keep(query, what)

    def keep(self, query: exp.Query, what: str = "") -> str:
        """Create a table with a name of its own, and return the name."""
        name = f"margin_{next(_numbers)}"
        self.tables.make(name, query, what)
        self.names.append(name)
        return name

    def drop(self, *names: str) -> None:
        """Drop tables that are no longer needed."""
        self.tables.drop(*names)
        self.names = [name for name in self.names if name not in names]

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
        """Return whether all tables, with combinations that can occur, tell their counts."""
        counted = [table for table in self.published if not table.structural]
        structural = [table.edge for table in self.published if table.structural]
        are_told = all(any(edge <= finer.edge for finer in counted) for edge in structural)
        return are_told and all(table.exact for table in counted)

    def rows(self, query: exp.Query) -> list[dict[str, Any]]:
        """Return the rows of a query, which are few, as dictionaries by column."""
        names = query.named_selects
        return [dict(zip(names, row, strict=True)) for row in self.tables.rows(query)]


def place(i: int) -> str:
    """Return the column of an attribute."""
    return f"place_{i}"


def places(edge: Iterable[int], table: str | None = None) -> list[exp.Column]:
    """Return the columns of attributes."""
    return [exp.column(place(i), table) for i in sorted(edge)]


def build_margins(
    tables: Tables,
    domain: Domain,
    published: Sequence[Published],
    *,
    further: Iterable[Edge],
    scope: Sequence[Edge],
) -> Margins:
    """Return the margins of tables, and ``further`` ones, with their first bounds.

    ``scope`` are sets of attributes whose cells will be asked for; all possible cells of each are
    listed if there are at most ``MOST_LISTED_CELLS``. All intersections of margins are margins,
    too. Raises ContradictionError if a cell has no possible count.
    """
    shared: Edge = NOTHING  # by all tables and all that is asked
    if any(t.exact for t in published):  # a component needs an exact total
        shared = frozenset.intersection(*(t.edge for t in published), *scope)
    margins = Margins(tables, domain, published, shared)
    listed = {t.title: _list_cells(margins, t) for t in published}  # tables with their zeros
    full: dict[Edge, str] = {}  # tables of all possible cells
    for edge in scope:
        support = _possible_combinations(margins, edge, MOST_LISTED_CELLS)
        if support is not None and has_at_most(margins, support, MOST_LISTED_CELLS):
            full[edge] = margins.keep(support, "listing possible cells")
            for table in published:  # refuse one that counts people in an impossible combination
                if not table.structural and table.edge <= edge:
                    names = {"cells": table.cells, "possible": full[edge]}
                    _refuse_rows(margins, margins.make("impossible", names, edge=table.edge))
    margins.joint = set(full)
    edges = [*margins.edges, *further, shared, *full]
    earlier = 0  # cells that are numbered already
    for edge in sorted(close_under_intersection(e | shared for e in edges), key=len):
        margins.nodes[edge] = _first_cells(margins, edge, listed, full, earlier)
        earlier += tables.count(margins.nodes[edge])
    for name in margins.nodes.values():  # refuse cells whose lower bound is above the upper one
        _refuse_rows(margins, margins.make("contradictions", {"cells": name}))
    return margins


def _refuse_rows(margins: Margins, table: str) -> None:
    """Raise ContradictionError if a table, of cells for which no count is possible, has rows."""
    if margins.tables.count(table):
        raise ContradictionError


def _list_cells(margins: Margins, table: Published) -> str:
    """Return the table of all cells of a published table that may have people.

    A protection may leave cells out that are not 0; of the combinations that the table does not
    list, those that can occur are added, with 0 to ``unlisted`` people.
    """
    unlisted = table.protection.unlisted
    if not unlisted or table.structural:  # its zeros are published
        return table.cells
    possible = _possible_combinations(margins, table.edge, MOST_CELLS)
    if possible is None:
        dims = ", ".join(margins.domain.names[i] for i in sorted(table.edge))
        raise InputError(
            f"a table over {dims} has more than {MOST_CELLS:,} possible cells, and its empty ones "
            "are not told; coarsen a dimension, or say which combinations occur (--nested, "
            "--possible)"
        )
    names = {"cells": table.cells, "possible": margins.keep(possible, "listing empty cells")}
    return margins.make("with_unlisted", names, numbers={"unlisted": unlisted}, edge=table.edge)


def _possible_combinations(margins: Margins, edge: Edge, largest_support: int) -> exp.Select | None:
    """Return SQL for the combinations of the attributes ``edge`` that no table excludes by a zero.

    None if tables that share no attribute give more than ``largest_support`` combinations.
    """
    parts = _allowed_parts(margins, edge)
    if not parts:  # no attributes: one combination, of nothing
        return splice("tables/nothing")
    joined: Edge = NOTHING  # the attributes of the parts so far
    shared: list[Edge] = []
    combinations = 1  # at least so many
    for part, name in parts:
        shared.append(part & joined)
        combinations *= 1 if part & joined else margins.tables.count(name)
        joined |= part
    if combinations > largest_support:
        return None
    names = {f"part_{k}": name for k, (_, name) in enumerate(parts)}
    return splice("tables/possible", tables=names, shape={"edge": edge, "shared": shared})


def _allowed_parts(margins: Margins, edge: Edge) -> list[tuple[Edge, str]]:
    """Return parts of a set of attributes, each with the combinations that no zero excludes."""
    parts = [
        (part, margins.make("not_excluded", {"cells": t.cells}, edge=part))
        for t in margins.published
        if (t.structural or not t.protection.unlisted) and (part := t.edge & edge)
    ]
    parts.sort(key=lambda pair: (-len(pair[0]), sorted(pair[0])))  # by the attributes of the part
    covered = frozenset().union(*(part for part, _ in parts))
    parts += [  # attributes of no such table have all their values
        (frozenset([i]), margins.make("values_of", {}, attribute=i)) for i in sorted(edge - covered)
    ]
    return connect(parts)


def connect(relations: Sequence[tuple[Edge, str]]) -> list[tuple[Edge, str]]:
    """Return pairs of attributes and table, reordered: each shares most with those before it."""
    waiting, order = list(relations), []
    joined: Edge = NOTHING  # the attributes of ``order``
    while waiting:
        edge, table = max(waiting, key=lambda relation: len(relation[0] & joined))
        waiting.remove((edge, table))
        order.append((edge, table))
        joined |= edge
    return order


def _first_cells(
    margins: Margins, edge: Edge, listed: Mapping[str, str], full: Mapping[Edge, str], earlier: int
) -> str:
    """Return the table of the cells of a margin with their first bounds.

    They are numbered from ``earlier`` on. ``listed`` has the cells of published tables by title,
    ``full`` tables of all possible cells by attributes.
    """
    numbers = {"earlier_cells": earlier, "all_people": margins.domain.people}
    if not edge:
        return margins.make("everybody", {}, "making margins", numbers=numbers)
    finer = [t for t in margins.published if t.edge >= edge]
    if edge in full:
        cells = [full[edge]]
    else:  # those that some finer table has: a cell that none of them has is empty
        cells = [listed[t.title] for t in finer] + [full[e] for e in full if e >= edge]
    # Bounds come from the table itself, and from sums of finer exact tables.
    sources = [t for t in finer if t.edge == edge or t.exact]
    names = {f"finer_{n}": name for n, name in enumerate(cells)}
    names |= {f"source_{n}": listed[t.title] for n, t in enumerate(sources)}
    if margins.shared and edge != margins.shared:
        names["components"] = margins.nodes[margins.shared]
    shape: dict[str, Shape] = {"edge": edge, "shared": margins.shared, "finer": len(cells)}
    shape |= {"own": [t.edge == edge for t in sources], "shares_all": edge == margins.shared}
    return margins.make("first_cells", names, "making margins", numbers=numbers, **shape)


def propagate(margins: Margins) -> None:
    """Tighten the bounds of all margins until nothing changes; replace their tables.

    In a round, the bounds of a cell are compared with the sums of the finer cells inside it, and
    with the coarser cell it lies in, less the other cells of that. Components in which a round
    changes nothing are ``settled``: their cells are put aside, and the next round has the others.
    Raises ContradictionError if a cell has no possible count left.
    """
    nodes = list(margins.nodes)
    of_margins = {f"margin_{n}": margins.nodes[edge] for n, edge in enumerate(nodes)}
    pairs: list[Shape] = [  # a margin and the next finer one, and their common attributes
        (nodes.index(coarse), nodes.index(fine), coarse)
        for fine, coarse in list_nearest_subsets(nodes)
    ]
    active = margins.make("all_cells", of_margins, WHAT, margins=len(nodes))
    # A row is a cell of a margin, and the cell of a coarser one that it lies in.
    inner_cells = margins.make("inner_cells", of_margins, WHAT, pairs=pairs)
    settled: list[str] = []
    for _ in range(MOST_ROUNDS):
        names = {"active": active, "edges": inner_cells}  # the tables of this round
        names["finer_sums"] = margins.make("finer_sums", names, WHAT)  # by coarse cell
        names["tightened"] = margins.make("tightened", names, WHAT)  # the new bounds of each cell
        names["changed"] = margins.make("changed", names)  # components with changed bounds
        settled.append(margins.make("settled", names))  # cells of all other components
        ((moving, empty),) = margins.tables.rows(splice("tables/moving", tables=names))
        if empty:  # a cell has no possible count left
            raise ContradictionError
        if not moving:
            break
        active = margins.make("unsettled", names)  # the cells of changed components
        inner_cells = margins.make("unsettled_edges", names)
        margins.drop(*names.values())
    else:  # cells still move after the last round: their bounds hold, but may not be sharp
        settled.append(active)
    rounds = {f"settled_{n}": name for n, name in enumerate(settled)}
    bounds = margins.make("last_bounds", rounds, rounds=len(settled))
    for edge, name in list(margins.nodes.items()):
        margins.nodes[edge] = margins.make("bounded", {"cells": name, "bounds": bounds}, edge=edge)
        margins.drop(name)
    margins.drop(bounds, *settled)


class ContradictionError(Exception):
    """No count is left for a cell: the tables contradict each other."""


def has_at_most(margins: Margins, query: exp.Select, limit: int) -> bool:
    """Return whether a query has at most ``limit`` rows; it counts no further."""
    counted = query.limit(limit + 1).subquery("counted")
    ((n,),) = margins.tables.rows(exp.select("count(*)").from_(counted))
    return int(n) <= limit
