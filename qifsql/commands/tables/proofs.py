"""The proofs of bounds: lines of people, people singled out, secrets, the best guess.

A line is a cell of a set of attributes that holds somebody for sure: ``lower`` > 0. Lines are found
without listing all cells: tables are joined one after the other, and a cell is followed only while
its lower bound is above 0, so that there are never more than people. Source: M93 to M99.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from operator import or_

from sqlglot import exp

from qifsql.commands.tables import hypergraph
from qifsql.commands.tables.hypergraph import NOTHING, Edge, Link, maximal_edges
from qifsql.commands.tables.margins import Margins, connect, has_at_most, propagate
from qifsql.query.shapes import Shape
from qifsql.query.splice import splice

MOST_COUNTED_CELLS = 50_000_000  # of a clique
LINES = "looking for lines"
COUNTING = "counting possible cells"


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
    """Engine tables of what is proved, each with a column ``component``."""

    lines: str  # of all attributes, with ``lower`` and ``upper``
    block_lines: str  # of what the adversary knows, with the same columns
    sure: str | None  # ``people`` whose secret is proved, by what is known; None: no secret
    bracket: str  # ``lowest`` and ``highest``, in people
    support: str | None  # number of possible ``cells``; None: too many to count


def free_attributes(margins: Margins, scope: Edge) -> Edge:
    """Return the attributes of ``scope`` that no table has."""
    return scope - frozenset().union(*margins.edges)


def join_orders(edges: Sequence[Edge], scope: Edge) -> list[list[Link]]:
    """Return the orders in which tables are joined to bound the cells of the attributes ``scope``.

    There is one order for each n: the first n tables, in the order of a tree if they have one, then
    the other tables as they are given. So a further table adds an order, and widens no bound.
    """
    sequences: dict[tuple[Edge, ...], None] = {}  # an ordered set
    reduced = [edge & scope for edge in edges]
    for n in range(1, len(reduced) + 1):
        tree = hypergraph.join_tree(reduced[:n])
        first = [link.edge for link in tree] if tree else reduced[:n]
        sequence = maximal_edges(edge for edge in (*first, *reduced[n:]) if edge)
        sequences[tuple(sequence)] = None
    return [hypergraph.link_in_order(sequence) for sequence in sequences]


def has_closed_form(margins: Margins, scope: Edge) -> bool:
    """Return whether the cells of a set of attributes have sharp bounds in closed form.

    All tables are exact, and what they say about the set is decomposable.
    """
    return margins.exact and is_decomposable(margins.edges, scope)


def is_decomposable(edges: Sequence[Edge], scope: Edge) -> bool:
    """Return whether tables, were they exact, would be decomposable on ``scope``."""
    remaining = hypergraph.reduce_edges(edges, scope)
    return all(e <= scope for e in remaining) and hypergraph.join_tree(remaining) is not None


def sure_cells(margins: Margins, scope: Edge) -> str:
    """Return the table of the cells of ``scope`` that hold somebody for sure.

    Its columns are ``component``, the places, ``lower`` and ``upper``.
    """
    if table := complete_margin(margins, scope):
        return margins.make("lines_of_margin", {"cells": table}, LINES, scope=scope)
    alone = free_attributes(margins, scope)  # in no table
    if any(margins.domain.sizes[i] > 1 for i in alone):  # any of the values may be a person's
        return margins.make("no_lines", {}, scope=scope)
    # Each order in which the tables are joined gives bounds; the best of them hold.
    tables = [
        _chained_lines(margins, links) for links in join_orders(margins.edges, scope) if links
    ]
    tables = tables or [margins.make("totals", {"cells": margins.nodes[margins.shared]})]
    names = {f"order_{n}": name for n, name in enumerate(tables)}
    return margins.make("lines", names, LINES, scope=scope - alone, alone=alone, orders=len(tables))


def is_complete(margins: Margins, scope: Edge) -> bool:
    """Return whether a margin of these attributes has all cells that may hold somebody."""
    return scope in margins.joint or any(scope <= edge for edge in margins.edges)


def complete_margin(margins: Margins, scope: Edge) -> str | None:
    """Return the table of a margin if it has all cells that may hold somebody; else None."""
    return margins.nodes.get(scope) if is_complete(margins, scope) else None


def _chained_lines(margins: Margins, links: Sequence[Link]) -> str:
    """Return the table of the cells that hold somebody for sure after a join of tables in order.

    Of the people in a joined cell, those may be lost who are in other cells of the next table with
    the same shared values: their largest number is taken off the lower bound. A table whose
    attributes all the tables before it have loses nobody.
    """
    joined = list(accumulate((link.edge for link in links), or_))  # the attributes so far
    known = [False, *(link.edge <= edge for link, edge in zip(links[1:], joined, strict=False))]
    tables = {f"table_{n}": margins.nodes[link.edge] for n, link in enumerate(links)}
    for n, link in enumerate(links):
        if n and not known[n]:  # add a column of ``others``: the most people that the join may lose
            names = {"cells": tables[f"table_{n}"]}
            names["margins"] = margins.nodes[link.shared | margins.shared]
            tables[f"table_{n}"] = margins.make(
                "beside", names, "joining tables", edge=link.edge, shared=link.shared
            )
    shared = [link.shared for link in links]
    return margins.make("chained", tables, LINES, edges=joined, shared=shared, known=known)


def further_margins(
    edges: Sequence[Edge], questions: Sequence[Question], every: Edge, pair_scopes: Sequence[Edge]
) -> list[Edge]:
    """Return the margins, sets of attributes, whose bounds the proofs read besides the tables'.

    These are the steps of all joins of tables that bound an asked set (of a question, of ``every``
    attribute, or a pair of tables), what each step shares with those before, and the part of each
    table inside the set.
    """
    needed: dict[Edge, None] = {}  # an ordered set
    for scope in (*asked_scopes(questions, every), *pair_scopes):
        for links in join_orders(edges, scope):
            needed |= dict.fromkeys(link.edge for link in links)
            needed |= dict.fromkeys(link.shared for link in links[1:])
        needed |= dict.fromkeys(e & scope for e in edges)
    for question in questions:  # of a secret, also without it
        if question.secret is not None:
            needed |= dict.fromkeys((e & question.scope) - {question.secret} for e in edges)
    return list(needed)


def asked_scopes(questions: Sequence[Question], every: Edge) -> list[Edge]:
    """Return the sets of attributes whose cells are asked for, the largest first."""
    scopes = [every, *(q.scope for q in questions), *(q.knowledge for q in questions)]
    return sorted(dict.fromkeys(scopes), key=lambda e: (-len(e), sorted(e)))


def sharpen(margins: Margins) -> None:
    """Tighten the bounds of all ``margins``: propagate them, then use joins of tables.

    A join may prove more people in a cell of a complete margin than propagation finds. Its lower
    bounds are raised to that (the view ``lifted``); if the sum of lower bounds has grown, bounds
    are propagated once more from there.
    """
    propagate(margins)
    lifted = False  # whether more people are proved
    for scope in sorted(margins.joint, key=len):
        is_free = any(margins.domain.sizes[i] > 1 for i in free_attributes(margins, scope))
        if is_free or any(scope <= edge for edge in margins.edges):
            continue  # joins prove nothing, or nothing more than the table that has all of it
        margins.joint.discard(scope)  # sure_cells would only read the margin itself
        proved = sure_cells(margins, scope)
        margins.joint.add(scope)
        before = margins.nodes[scope]
        names = {"cells": before, "proved": proved}
        margins.nodes[scope] = after = margins.make("lifted", names, edge=scope)
        lifted |= _proved_people(margins, before) != _proved_people(margins, after)
    if lifted:
        propagate(margins)


def _proved_people(margins: Margins, cells: str) -> int | None:
    """Return the sum of all lower bounds of a margin; None if it has no cells."""
    query = splice("tables/proved_people", tables={"cells": cells})
    ((people,),) = margins.tables.rows(query)
    return None if people is None else int(people)


def prove(margins: Margins, question: Question) -> Proofs:
    """Return engine tables of what the bounds prove about a question.

    A line is a cell that holds somebody for sure; a block line is one of what the adversary knows.
    """
    every = margins.domain.every  # all attributes
    lines = sure_cells(margins, every)
    block_lines = lines if question.scope == every else sure_cells(margins, question.scope)
    sure = None
    if question.secret is not None:  # these are lines of block and secret; add them up to blocks
        names = {"lines_alone": sure_cells(margins, question.knowledge), "lines": block_lines}
        people, knowledge = {"all_people": margins.domain.people}, question.knowledge
        block_lines = margins.make("block_lines", names, numbers=people, knowledge=knowledge)
        sure = _sure_secrets(margins, question, block_lines)
    bracket, support = _bracket(margins, question), count_support(margins, every)
    return Proofs(lines, block_lines, sure, bracket, support)


def _sure_secrets(margins: Margins, question: Question, block_lines: str) -> str:
    """Return a table of the people whose secret is proved, a row per block that holds somebody.

    A block is what the adversary knows; ``block_lines`` has those that hold somebody. The secret
    is proved if the margins that have it exclude all values but one.
    """
    assert question.secret is not None  # noqa: S101 - asked of secrets only
    secret, scope, knowledge = frozenset([question.secret]), question.scope, question.knowledge
    edges = [scope] if complete_margin(margins, scope) else margins.edges
    excluding = [e for e in maximal_edges(e & scope for e in edges) if e & secret]
    tables = {"block_lines": block_lines}
    if not excluding and margins.domain.sizes[question.secret] > 1:  # no table has the secret
        return margins.make("nobody_sure", tables, knowledge=knowledge)
    tables |= {f"margin_{n}": margins.nodes[edge] for n, edge in enumerate(excluding)}
    # Each margin, and what it shares with the blocks and the margins before it.
    joined = [[edge, edge if n else edge - secret] for n, edge in enumerate(excluding)]
    what = "looking for proved secrets"
    return margins.make("sure", tables, what, knowledge=knowledge, margins=joined)


def _bracket(margins: Margins, question: Question) -> str:
    """Return a table of how many people the best guess gets right, a row per component.

    ``lowest`` and ``highest`` are found for each cell of each margin of what is known, the finest
    margins first. They are the narrower of two: what the bounds of the cell say, and the sums over
    the cells inside it. So a further table, which adds margins, never widens them.
    """
    bounds: dict[Edge, str] = {}  # by margin, a table of lowest and highest by cell
    for outer in sorted(margins.nodes, key=len, reverse=True):
        if outer <= question.knowledge:
            finer = [edge for edge in bounds if outer < edge]
            nearest = [edge for edge in finer if not any(e < edge for e in finer)]
            inside = {edge: bounds[edge] for edge in nearest}
            bounds[outer] = _bracket_of(margins, question, outer, inside)
    for outer, name in bounds.items():
        if outer != margins.shared:
            margins.drop(name)
    return bounds[margins.shared]


def _bracket_of(
    margins: Margins, question: Question, outer: Edge, inside: Mapping[Edge, str]
) -> str:
    """Return the table of how many people the best guess gets right in each cell of ``outer``.

    ``inside`` are those tables of the next finer margins, by attributes.
    """
    names = {f"inside_{n}": name for n, name in enumerate(inside.values())}
    names["cells"] = margins.nodes[outer]
    numbers: dict[str, int] = {}
    has_secret = False  # whether a margin has the cells of ``outer`` with each secret
    if question.secret is not None:
        numbers = {"secret_values": margins.domain.sizes[question.secret]}
        with_secret = outer | {question.secret}
        has_secret = with_secret in margins.nodes
        if has_secret:
            names["cells_with_secret"] = margins.nodes[with_secret]
    # Whether each cell is a whole block, with all its possible values of the secret listed.
    finest = outer == question.knowledge and is_complete(margins, question.scope)
    shape: dict[str, Shape] = {"owners": question.secret is None, "blocks": has_secret}
    shape |= {"complete": finest, "inside": [is_complete(margins, edge) for edge in inside]}
    return margins.make("bracket", names, "", numbers=numbers, outer=outer, **shape)


def count_support(margins: Margins, every: Edge) -> str | None:
    """Return a table of the number of possible cells by component; None: too many to count.

    Cells of all attributes are not listed: the cells of cliques, which form a tree, are multiplied
    from the leaves up, as many as agree on what a clique shares with its parent.
    """
    if table := complete_margin(margins, every):
        return margins.make("possible_cells", {"margin": table})
    links = hypergraph.triangulate(maximal_edges(margins.edges))
    cliques: list[str] = []
    for link in links:
        query = clique_cells(margins, link.edge, counting=True)
        if link.edge not in margins.nodes and not has_at_most(margins, query, MOST_COUNTED_CELLS):
            return None
        cliques.append(margins.keep(query, COUNTING))
    for i in range(len(links) - 1, 0, -1):  # each cell of the parent counts those of i that fit it
        parent = links[i].parent or 0
        names = {"clique": cliques[parent], "next_clique": cliques[i]}
        edge, shared = links[parent].edge, links[i].shared
        cliques[parent] = margins.make("counted_behind", names, COUNTING, edge=edge, shared=shared)
    repetitions = prod(margins.domain.sizes[i] for i in free_attributes(margins, every))
    numbers = {"repetitions": repetitions}
    return margins.make("counted_cells", {"clique": cliques[0]}, numbers=numbers)


def clique_cells(
    margins: Margins, edge: Edge, *, counting: bool = False, bounded: bool = False
) -> exp.Select:
    """Return SQL for the possible cells of a clique: no margin inside it excludes them.

    ``counting``: each has a column ``cells`` of 1; ``bounded``: bounds of 0 and all people.
    """
    inside = connect(  # pairs of attributes and table, each shares most with those before it
        [(e, margins.nodes[e]) for e in maximal_edges(e for e in margins.nodes if e <= edge)]
    )
    seen: Edge = NOTHING
    joined = []  # the attributes of each margin, and those that margins before it have
    for members, _ in inside:
        joined.append([members, members & seen])
        seen |= members
    return splice(
        "tables/clique",
        tables={f"margin_{n}": name for n, (_, name) in enumerate(inside)},
        numbers={"all_people": margins.domain.people},
        shape={"edge": edge, "margins": joined, "counting": counting, "bounded": bounded},
    )


def bounded_clique(margins: Margins, edge: Edge, what: str) -> str | None:
    """Return a table of the possible cells of a clique, 0 to all people; None: too many."""
    query = clique_cells(margins, edge, bounded=True)
    return margins.keep(query, what) if has_at_most(margins, query, MOST_COUNTED_CELLS) else None
