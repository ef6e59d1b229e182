"""The hypergraph of a set of tables: attributes are its vertices, tables its edges.

A set of tables is decomposable if its edges can be ordered so that what each shares with all before
it lies in one of them (the running intersection property); its cliques and separators then
determine every array of greatest entropy, and the bounds of its cells have a closed form.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

Edge = frozenset[int]
MOST_MARGINS = 256  # of one set of tables
NOTHING: Edge = frozenset()


@dataclass(frozen=True)
class Link:
    """One edge of an order."""

    edge: Edge
    shared: Edge  # attributes that edges before it have, too
    parent: int | None  # the place of an earlier edge that has all of these; None: there is none


def maximal_edges(edges: Iterable[Edge]) -> list[Edge]:
    """Return the edges that lie in no other one, each once, in their order."""
    different = list(dict.fromkeys(edges))
    return [e for e in different if not any(e < edge for edge in different)]


def close_under_intersection(edges: Iterable[Edge]) -> list[Edge]:
    """Return edges and all their intersections, the larger first, up to about ``MOST_MARGINS``."""
    closed = dict.fromkeys(edges)
    fresh = list(closed)  # edges that are not intersected yet
    while fresh and len(closed) < MOST_MARGINS:
        meets = dict.fromkeys(a & b for a in fresh for b in closed)
        fresh = [meet for meet in meets if meet not in closed]
        closed |= dict.fromkeys(fresh)
    return sorted(closed, key=lambda e: (-len(e), sorted(e)))


def list_nearest_subsets(nodes: Sequence[Edge]) -> list[tuple[Edge, Edge]]:
    """Return pairs of a margin and a coarser one, its subset, with no margin between the two."""
    pairs = []
    for node in nodes:
        subsets = [n for n in nodes if n < node]
        pairs += [(node, n) for n in subsets if not any(n < between for between in subsets)]
    return pairs


def link_in_order(edges: Sequence[Edge]) -> list[Link]:
    """Return edges in their order, each with what it shares with all edges before it.

    The ``parent`` of an edge is one edge before it that has all of this.
    """
    links: list[Link] = []
    seen: Edge = NOTHING
    for edge in edges:
        shared = edge & seen
        parent = next((i for i, link in enumerate(links) if shared <= link.edge), None)
        links.append(Link(edge, shared, parent))
        seen |= edge
    return links


def join_tree(edges: Sequence[Edge]) -> list[Link] | None:
    """Return the maximal edges in an order with running intersections; None if there is none.

    An edge is a set of attributes: those of a table, or of a clique. What it shares with all edges
    before it then lies in one of them, its parent. The order is that of a spanning tree with as
    many shared attributes as possible, which has the property if any order has.
    """
    remaining = maximal_edges(edges)
    order, remaining = remaining[:1], remaining[1:]
    while remaining:
        best = max(remaining, key=lambda e: max(len(e & edge) for edge in order))
        order.append(best)
        remaining.remove(best)
    links = link_in_order(order)
    return links if all(link.parent is not None for link in links[1:]) else None


def triangulate(edges: Sequence[Edge], first: Sequence[Edge] = ()) -> list[Link]:
    """Return cliques, sets of attributes that hold all edges, with running intersections.

    An edge is the set of attributes of a table. Of a decomposable set the cliques are its maximal
    edges. Else attributes are eliminated one by one: an attribute and its neighbours are a clique,
    and become neighbours of each other. The one that joins the fewest goes first. The sets in
    ``first`` are eliminated before all others, so that the parts of the cliques without them are
    decomposable, too.
    """
    links = None if first else join_tree(edges)
    if links is not None:
        return links
    ranks = {i: rank for rank, attributes in enumerate(reversed(first), 1) for i in attributes}
    near: dict[int, set[int]] = defaultdict(set)  # the neighbours of each attribute: in one edge
    for edge in edges:
        for i in edge:
            near[i] |= edge - {i}

    def cost(i: int) -> tuple[int, ...]:  # the attribute with the least is eliminated next
        joined = sum(b not in near[a] for a, b in combinations(sorted(near[i]), 2))
        return -ranks.get(i, 0), joined, len(near[i]), i

    cliques = []
    while near:
        eliminated = min(near, key=cost)
        neighbours = near.pop(eliminated)
        cliques.append(frozenset(neighbours | {eliminated}))
        for i in neighbours:
            near[i] |= neighbours
            near[i] -= {eliminated, i}
    return join_tree(cliques) or link_in_order(maximal_edges(cliques))


def reduce_edges(edges: Iterable[Edge], scope: Edge) -> list[Edge]:
    """Return the maximal edges without attributes that are in one edge only and not in ``scope``.

    What these tables say about the margin ``scope`` stays the same. Attributes are taken out until
    nothing changes, because an edge that vanishes leaves others alone.
    """
    remaining = maximal_edges(edges)
    while True:
        times = Counter(i for e in remaining for i in e)
        lonely = {i for i, n in times.items() if n == 1 and i not in scope}
        remaining = maximal_edges(e - lonely for e in remaining)
        if not lonely:
            return remaining


def prune_tree(links: Sequence[Link], scope: Edge, secret: int | None) -> list[Link]:
    """Return the cliques that the best guess of a secret depends on, knowing all else of ``scope``.

    A clique is a set of attributes, ``links`` are a tree of them. Leaves that say nothing about the
    guess are left out, one after the other. ``secret`` None: there is no secret to guess.
    """
    edges = [link.edge for link in links]
    while len(edges) > 1:
        needless = (edge for edge in edges if _is_needless(edge, edges, scope, secret))
        leaf = next(needless, None)
        if leaf is None:
            break
        edges.remove(leaf)
    return join_tree(edges) or list(links)


def _is_needless(edge: Edge, edges: Sequence[Edge], scope: Edge, secret: int | None) -> bool:
    """Return whether the clique ``edge`` is a leaf that says nothing about the best guess.

    No attribute of its own is in ``scope``; or it lacks the secret, and all that it shares with the
    other cliques is known, so that the secret does not depend on its other attributes.
    """
    remaining = [e for e in edges if e != edge]
    shared = edge & frozenset().union(*remaining)
    is_leaf = any(shared <= e for e in remaining)
    is_asked = bool((edge - shared) & scope)  # for attributes that no other clique has
    is_known = secret is not None and secret not in edge and shared <= scope - {secret}
    return is_leaf and (is_known or not is_asked) and join_tree(remaining) is not None
