"""The proofs of bounds: lines of people, people singled out, secrets, the best guess.

A line is a cell of a set of attributes that holds somebody for sure: ``lower`` > 0. Lines are found
without listing all cells: tables are joined one after the other, and a cell is followed only while
its lower bound is above 0, so that there are never more than people. Source: M93 to M99.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from qifsql.commands.tables.hypergraph import (
    NOTHING,
    Edge,
    Link,
    chain,
    maximal,
    reduced,
    tree,
    triangulated,
)
from qifsql.commands.tables.margins import Margins, fits, grouped, joined, place, places, propagate
from qifsql.query.columns import number

JOINT = 200_000  # cells of a set of attributes that are all listed
COUNTED = 50_000_000  # cells of a clique that are counted
EVEN = "ceil(lower / size)::BIGINT"  # of people in a cell, where the secret has so many values
LARGEST = "greatest(blocks.most, ceil(margins.lower / greatest(blocks.possible, 1)))::BIGINT"
FIRST, LAST = exp.column("lower"), exp.column("upper")


@dataclass(frozen=True)
class Question:
    """The attributes that the adversary knows, and the secret; ``None`` is re-identification."""

    knowledge: Edge
    secret: int | None

    @property
    def scope(self) -> Edge:
        """Return the attributes that she knows or infers."""
        return self.knowledge if self.secret is None else self.knowledge | {self.secret}


@dataclass(frozen=True)
class Proofs:
    """Engine tables of what is proved, each with a column ``component``.

    ``lines`` of all attributes, ``block_lines`` of what the adversary knows (with ``lower`` and
    ``upper``), ``sure`` (``people`` whose secret is proved, by what is known), ``bracket``
    (``lowest``, ``highest`` in people), ``support`` (possible ``cells``; None: too many to count).
    """

    lines: str
    block_lines: str
    sure: str | None
    bracket: str
    support: str | None


def covered(margins: Margins, scope: Edge) -> list[Edge]:
    """Return what each table has of a set of attributes, without what another one has, too."""
    return maximal(e & scope for e in margins.edges)


def free(margins: Margins, scope: Edge) -> Edge:
    """Return the attributes that no table has."""
    return scope - frozenset().union(*margins.edges)


def orders(edges: Sequence[Edge], scope: Edge) -> list[list[Link]]:
    """Return the orders in which tables are joined to bound the cells of a set of attributes.

    For each number of first tables: these in the order of a tree where there is one, then the
    others as given. So no bound is wider with a table than without it.
    """
    sequences: dict[tuple[Edge, ...], None] = {}
    for n in range(1, len(edges) + 1):
        first = tree([e & scope for e in edges[:n]])
        start = [link.edge for link in first] if first else [e & scope for e in edges[:n]]
        rest = [e & scope for e in edges[n:]]
        sequence = tuple(dict.fromkeys(e for e in (*start, *rest) if e))
        sequences[_without_subsets(sequence)] = None
    return [chain(sequence) for sequence in sequences]


def _without_subsets(sequence: Sequence[Edge]) -> tuple[Edge, ...]:
    """Return edges without those that lie in an earlier one, or in the next ones alone."""
    largest: list[Edge] = []
    for e in sequence:
        if not any(e <= other for other in largest):
            largest = [other for other in largest if not other < e] + [e]
    return tuple(largest)


def closed(margins: Margins, scope: Edge) -> bool:
    """Return whether the cells of a set of attributes have sharp bounds in closed form.

    All tables are exact, and what they say about the set is decomposable.
    """
    return margins.exact and decomposed(margins.edges, scope)


def decomposed(edges: Sequence[Edge], scope: Edge) -> bool:
    """Return whether exact tables would be decomposable in what they say about attributes."""
    left = reduced(edges, scope)
    return all(e <= scope for e in left) and tree(left) is not None


def lines(margins: Margins, scope: Edge) -> str:
    """Return the table of the cells of ``scope`` that hold somebody for sure.

    Its columns are ``component``, the places, ``lower`` and ``upper``.
    """
    if scope in margins.nodes and complete(margins, scope):
        query = exp.select("component", *places(scope), "lower", "upper")
        query = query.from_(margins.nodes[scope]).where("lower > 0")
        return margins.make(query, "looking for lines")
    open_ends = free(margins, scope)
    if any(margins.domain.sizes[i] > 1 for i in open_ends):
        return margins.make(_no_lines(scope))
    each = [_along(margins, links) for links in orders(margins.edges, scope) if links]
    if not each:  # all people are in the one cell that there is
        everybody = exp.select("component", "lower", "upper").from_(margins.nodes[margins.shared])
        each.append(everybody)
    query = exp.select("component", *places(scope - open_ends))
    query = query.select(*(number(1).as_(place(i)) for i in sorted(open_ends)))
    query = query.select("max(lower) AS lower", "min(upper) AS upper")
    every = exp.union(*each, distinct=False) if len(each) > 1 else each[0]
    query = query.from_(every.subquery("every"))
    query = query.group_by("component", *places(scope - open_ends))
    return margins.make(query, "looking for lines")


def _no_lines(scope: Edge) -> exp.Select:
    query = exp.select("0 AS component", *(number(0).as_(place(i)) for i in sorted(scope)))
    zeros = (number(0).as_("lower"), number(0).as_("upper"))
    return query.select(*zeros).where(exp.false())


def complete(margins: Margins, scope: Edge) -> bool:
    """Return whether all possible cells of a set of attributes are there."""
    return scope in margins.joint or any(scope <= edge for edge in margins.edges)


def _along(margins: Margins, links: Sequence[Link]) -> exp.Select:
    """Return the lines of all attributes of an order of tables, with their bounds.

    A cell of the tables so far has at least what it had before, less what the next table may have
    elsewhere of what both share.
    """
    first = margins.nodes[links[0].edge]
    query = exp.select("component", *places(links[0].edge), "lower", "upper")
    query = query.from_(first).where("lower > 0")
    seen = links[0].edge
    for link in links[1:]:
        if link.edge <= seen:
            bounds = margins.nodes[link.edge]
            others: exp.Expr = number(0)
        else:
            bounds = _beside(margins, link)
            others = exp.column("others", "step")
        edge = seen | link.edge
        step = exp.select("before.component", *places(edge))
        step = step.from_(query.subquery("before"))
        step = joined(step, bounds, "step", link.shared)
        lower = exp.column("lower", "before") - others
        upper = exp.func("least", exp.column("upper", "before"), exp.column("upper", "step"))
        step = step.select(lower.as_("lower"), upper.as_("upper"))
        query = step.where(exp.GT(this=lower.copy(), expression=number(0)))
        seen = edge
    return query


def _beside(margins: Margins, link: Link) -> str:
    """Return the cells of a table with how many people there may be beside each.

    These are the others who share what the tables before have of it.
    """
    table, shared = margins.nodes[link.edge], margins.nodes[link.shared | margins.shared]
    window = exp.Window(
        this=exp.Sum(this=exp.column("upper", "cells")),
        partition_by=list(places(link.shared, "cells")),
    )
    rest = exp.cast(exp.paren(window - exp.column("upper", "cells")), "BIGINT")
    margin = exp.column("upper", "margins") - exp.column("lower", "cells")
    query = exp.select(*places(link.edge, "cells"), "cells.lower", "cells.upper")
    query = query.select(exp.func("least", margin, rest).as_("others"))
    query = query.from_(exp.alias_(exp.to_table(table), "cells", table=True))
    source = exp.alias_(exp.to_table(shared), "margins", table=True)
    if link.shared:
        on = exp.and_(
            *(
                exp.EQ(this=a, expression=b)
                for a, b in zip(
                    places(link.shared, "cells"), places(link.shared, "margins"), strict=True
                )
            )
        )
        query = query.join(source, on=on)
    else:
        query = query.join(source, join_type="cross")
    return margins.make(query, "joining tables")


def further(
    edges: Sequence[Edge],
    questions: Sequence[Question],
    every: Edge,
    others: Sequence[Edge] = (),
) -> list[Edge]:
    """Return the margins that the proofs need besides the tables."""
    needed: dict[Edge, None] = {}
    for scope in (*sets(questions, every), *others):
        for links in orders(edges, scope):
            needed |= dict.fromkeys(link.edge for link in links)
            needed |= dict.fromkeys(link.shared for link in links[1:])
        needed |= dict.fromkeys(e & scope for e in edges)
    for question in questions:
        if question.secret is not None:
            needed |= dict.fromkeys((e & question.scope) - {question.secret} for e in edges)
    return list(needed)


def sets(questions: Sequence[Question], every: Edge) -> list[Edge]:
    """Return the sets of attributes whose cells are asked for, the largest first."""
    each = [every, *(q.scope for q in questions), *(q.knowledge for q in questions)]
    return sorted(dict.fromkeys(each), key=lambda e: (-len(e), sorted(e)))


def sharpen(margins: Margins) -> None:
    """Propagate bounds; lift those of complete margins to what the joins of tables prove."""
    propagate(margins)
    lifted = False
    for scope in sorted(margins.joint, key=len):
        if any(scope <= edge for edge in margins.edges) or any(
            margins.domain.sizes[i] > 1 for i in free(margins, scope)
        ):
            continue
        margins.joint.discard(scope)
        proved = lines(margins, scope)
        margins.joint.add(scope)
        cells = margins.nodes[scope]
        greater = exp.func(
            "greatest",
            exp.column("lower", "cells"),
            exp.func("coalesce", exp.column("lower", "proved"), number(0)),
        )
        query = exp.select(*places(scope), "cells.cell", "cells.component")
        query = query.select(greater.as_("lower"), "cells.upper")
        query = query.from_(exp.alias_(exp.to_table(cells), "cells", table=True))
        query = joined(query, proved, "proved", scope, join_type="left")
        margins.nodes[scope] = margins.make(query)
        ((before,),) = margins.tables.rows(exp.select("sum(lower)").from_(cells))
        ((after,),) = margins.tables.rows(exp.select("sum(lower)").from_(margins.nodes[scope]))
        lifted |= before != after
    if lifted:
        propagate(margins)


def prove(margins: Margins, question: Question) -> Proofs:
    """Return what the bounds prove about a question."""
    every = margins.domain.every
    all_lines = lines(margins, every)
    scope = all_lines if question.scope == every else lines(margins, question.scope)
    knowledge = scope if question.secret is None else _block_lines(margins, question, scope)
    sure = None if question.secret is None else _sure(margins, question, scope, knowledge)
    return Proofs(
        all_lines,
        knowledge,
        sure,
        _bracket(margins, question),
        support(margins, every),
    )


def _block_lines(margins: Margins, question: Question, scope: str) -> str:
    """Return the lines of what is known: joined tables, and sums over the secret."""
    alone_lines = lines(margins, question.knowledge)
    added = exp.select("component", *places(question.knowledge), "sum(lower) AS lower")
    added = added.select(number(margins.domain.people).as_("upper")).from_(scope)
    added = added.group_by("component", *places(question.knowledge))
    alone = exp.select("component", *places(question.knowledge), "lower", "upper").from_(
        alone_lines
    )
    both = exp.union(alone, added, distinct=False).subquery("both_ways")
    query = exp.select("component", *places(question.knowledge))
    query = query.select("max(lower)::BIGINT AS lower", "min(upper)::BIGINT AS upper").from_(both)
    return margins.make(query.group_by("component", *places(question.knowledge)))


def _sure(margins: Margins, question: Question, scope: str, knowledge: str) -> str:
    """Return the people whose secret is proved, by what is known of them."""
    assert question.secret is not None  # noqa: S101 - asked of secrets only
    secret = frozenset([question.secret])
    nodes = [e for e in _possible(margins, question) if e & secret]
    query = exp.select("component", *places(question.knowledge), "max(lower)::BIGINT AS people")
    candidates = exp.select("component", *places(question.knowledge), "lower").from_(knowledge)
    if not nodes and margins.domain.sizes[question.secret] > 1:
        return margins.make(
            query.from_(knowledge)
            .where(exp.false())
            .group_by("component", *places(question.knowledge))
        )
    query = query.from_(candidates.subquery("candidates"))
    for k, edge in enumerate(nodes):
        cells = exp.select(*places(edge)).from_(margins.nodes[edge]).where("upper > 0")
        shared = edge - secret if not k else edge
        alias = f"possible_{k}"
        if shared:
            using = tuple(places(shared))
            query = query.join(cells.subquery(alias), using=using)
        else:
            query = query.join(cells.subquery(alias), join_type="cross")
    query = query.group_by("component", *places(question.knowledge)).having("count(*) = 1")
    return margins.make(query, "looking for proved secrets")


def _possible(margins: Margins, question: Question) -> list[Edge]:
    """Return the margins that exclude values of the secret."""
    if question.scope in margins.nodes and complete(margins, question.scope):
        return [question.scope]
    return covered(margins, question.scope)


def _bracket(margins: Margins, question: Question) -> str:
    """Return how often the best guess of each component is right, at least and at most.

    So it is for each cell of what is known, from the finest margins on: what its bounds say, or
    what the cells inside it say together. So a further table, which adds margins, widens nothing.
    """
    of_cells = _names if question.secret is None else _guesses
    bounds: dict[Edge, str] = {}
    for outer in sorted(margins.nodes, key=len, reverse=True):
        if not outer <= question.knowledge:
            continue
        each = of_cells(margins, question, outer)
        finer = [e for e in bounds if outer < e]
        for edge in finer:
            if any(e < edge for e in finer):
                continue
            inside = grouped(exp.select("any_value(component) AS component"), outer)
            inside = inside.select("sum(lowest)::BIGINT AS lowest").from_(bounds[edge])
            whole = complete(margins, edge)
            most = "sum(highest)::BIGINT AS highest" if whole else "NULL::BIGINT AS highest"
            each.append(inside.select(most))
        query = grouped(exp.select("any_value(component) AS component"), outer)
        query = query.select("max(lowest) AS lowest", "min(highest) AS highest")
        every = exp.union(*each, distinct=False) if len(each) > 1 else each[0]
        query = query.from_(every.subquery("every"))
        bounds[outer] = margins.make(query)
    for outer, name in bounds.items():
        if outer != margins.shared:
            margins.drop(name)
    return bounds[margins.shared]


def _names(margins: Margins, question: Question, outer: Edge) -> list[exp.Select]:
    """Return bounds of how many different combinations of what is known are in each cell."""
    one = outer == question.knowledge and complete(margins, outer)
    most = "least(upper, 1) AS highest" if one else "upper AS highest"
    query = exp.select("component", *places(outer), "(lower > 0)::BIGINT AS lowest")
    return [query.select(most).from_(margins.nodes[outer])]


def _guesses(margins: Margins, question: Question, outer: Edge) -> list[exp.Select]:
    """Return bounds of how many people of each cell the best guess gets right."""
    assert question.secret is not None  # noqa: S101 - asked of secrets only
    size = number(margins.domain.sizes[question.secret])
    least: exp.Expr = exp.maybe_parse(EVEN, dialect="duckdb")
    cells = exp.select("component", *places(outer), "lower", "upper", size.as_("size"))
    even = exp.select("component", *places(outer), least.as_("lowest"), "upper AS highest")
    each = [even.from_(cells.from_(margins.nodes[outer]).subquery("cells"))]
    edge = outer | {question.secret}
    if edge in margins.nodes:
        block = grouped(exp.select("max(lower) AS most", "max(upper) AS largest"), outer)
        block = block.select("count(*) FILTER (WHERE upper > 0) AS possible")
        blocks = block.from_(margins.nodes[edge]).subquery("blocks")
        query = exp.select("margins.component", *places(outer, "margins"))
        query = query.select(exp.maybe_parse(LARGEST, dialect="duckdb").as_("lowest"))
        whole = edge == question.scope and complete(margins, edge)
        most = "least(blocks.largest, margins.upper)" if whole else "margins.upper"
        query = query.select(exp.alias_(exp.maybe_parse(most, dialect="duckdb"), "highest"))
        source = exp.alias_(exp.to_table(margins.nodes[outer]), "margins", table=True)
        on = [exp.EQ(this=a, expression=b) for a, b in _pairs(outer, "margins", "blocks")]
        each.append(query.from_(source).join(blocks, on=exp.and_(exp.true(), *on)))
    return each


def _pairs(edge: Edge, one: str, other: str) -> list[tuple[exp.Column, exp.Column]]:
    return list(zip(places(edge, one), places(edge, other), strict=True))


def support(margins: Margins, every: Edge) -> str | None:
    """Return the number of possible cells of all attributes by component; None: too many."""
    if every in margins.nodes and complete(margins, every):
        query = exp.select("component", "count(*) FILTER (WHERE upper > 0) AS cells")
        return margins.make(query.from_(margins.nodes[every]).group_by("component"))
    links = triangulated(maximal(margins.edges))
    cells: list[str] = []
    for link in links:
        query = clique(margins, link.edge)
        if link.edge not in margins.nodes and not fits(margins, query, COUNTED):
            return None
        ones = query.select("1::HUGEINT AS cells")
        cells.append(margins.make(ones, "counting possible cells"))
    for i in range(len(links) - 1, 0, -1):
        link = links[i]
        parent = link.parent or 0
        message = grouped(exp.select().from_(cells[i]), link.shared)
        message = message.select("sum(cells)::HUGEINT AS cells")
        query = exp.select(*places(links[parent].edge), "component")
        query = query.select("(inner_cells.cells * message.cells)::HUGEINT AS cells")
        source = exp.alias_(exp.to_table(cells[parent]), "inner_cells", table=True)
        query = query.from_(source)
        if link.shared:
            using = tuple(places(link.shared))
            query = query.join(message.subquery("message"), using=using)
        else:
            query = query.join(message.subquery("message"), join_type="cross")
        cells[parent] = margins.make(query, "counting possible cells")
    times = 1
    for i in free(margins, every):
        times *= margins.domain.sizes[i]
    query = exp.select("component")
    total = exp.Mul(this=exp.Sum(this=exp.column("cells")), expression=number(times))
    query = query.select(exp.cast(total, "HUGEINT", dialect="duckdb").as_("cells"))
    return margins.make(query.from_(cells[0]).group_by("component"))


def clique(margins: Margins, edge: Edge) -> exp.Select:
    """Return the possible cells of a clique: those of all margins that lie in it."""
    inside = maximal(e for e in margins.nodes if e <= edge)
    query = exp.select(*places(edge))
    seen: Edge = NOTHING
    left = list(inside)
    for k in range(len(inside)):
        following = max(left, key=lambda e: len(e & seen))
        left.remove(following)
        chosen = exp.select(*places(following), "component").from_(margins.nodes[following])
        chosen = chosen.where(exp.GT(this=LAST.copy(), expression=number(0)))
        alias = f"inside_{k}"
        if not k:
            query = query.from_(chosen.subquery(alias)).select(exp.column("component", alias))
        elif following & seen:
            using = tuple(places(following & seen))
            query = query.join(chosen.subquery(alias), using=using)
        else:
            query = query.join(chosen.subquery(alias), join_type="cross")
        seen |= following
    return query
