"""Hypergraphs of tables: small ones by hand, and all small ones against their definitions."""

from itertools import combinations, permutations

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from qifsql.commands.tables import hypergraph
from qifsql.commands.tables.hypergraph import NOTHING, Edge, Link

CYCLE = ("12", "23", "34", "14")
PATH = ("12", "23", "34")
EDGES = st.lists(st.frozensets(st.integers(1, 5), min_size=1), min_size=1, max_size=5)


def edges(*texts: str) -> list[Edge]:
    """Return edges as digits: ``12`` is the table of attributes 1 and 2."""
    return [frozenset(map(int, text)) for text in texts]


def links(*texts: str) -> list[Link]:
    """Return an order of edges as text: the edge, what it shares, the place of its parent."""
    parts = [text.split("|") for text in texts]
    return [
        Link(frozenset(map(int, e)), frozenset(map(int, shared)), int(parent) if parent else None)
        for e, shared, parent in parts
    ]


def running(order: list[Edge]) -> bool:
    """Return whether what each edge shares with all before it lies in one of them."""
    return all(
        any(edge & frozenset().union(*order[:i]) <= one for one in order[:i])
        for i, edge in enumerate(order)
        if i
    )


def test_maximal_edges_lie_in_no_other_and_stand_once() -> None:
    assert hypergraph.maximal_edges(edges("1", "12", "2", "12", "3", "23")) == edges("12", "23")
    assert hypergraph.maximal_edges(edges("3", "12", "3")) == edges("3", "12")


def test_the_closure_has_all_that_edges_share_the_larger_first() -> None:
    closed = hypergraph.close_under_intersection(edges("35", "234", "123"))
    assert closed == edges("123", "234", "23", "35", "3")
    assert hypergraph.close_under_intersection(edges("12", "34")) == [*edges("12", "34"), NOTHING]


def test_the_closure_of_too_many_edges_is_cut() -> None:
    """Ten edges, each of all attributes but one, have 1023 intersections: pairs, then pairs of
    these: 10 + 45 + 120 + 210 are beyond the limit."""
    without = [frozenset(range(10)) - {i} for i in range(10)]
    sizes = [len(edge) for edge in hypergraph.close_under_intersection(without)]
    assert [sizes.count(9 - k) for k in range(5)] == [10, 45, 120, 210, 0]


def test_a_node_covers_the_next_smaller_ones() -> None:
    nodes = edges("123", "234", "23", "35", "3")
    below = [("123", "23"), ("234", "23"), ("23", "3"), ("35", "3")]
    assert hypergraph.list_nearest_subsets(nodes) == [tuple(edges(*pair)) for pair in below]


def test_an_edge_of_a_chain_shares_what_any_before_it_has() -> None:
    assert hypergraph.link_in_order(edges("12", "23", "13")) == links("12||", "23|2|0", "13|13|")
    assert hypergraph.link_in_order(edges("12", "13", "14")) == links("12||", "13|1|0", "14|1|0")
    assert hypergraph.link_in_order(edges("1", "2")) == links("1||", "2||0")


def test_a_tree_joins_the_edge_that_shares_most() -> None:
    assert hypergraph.join_tree(edges("12", "34", "23")) == links("12||", "23|2|0", "34|3|1")
    assert hypergraph.join_tree(edges("123", "34", "236", "3")) == links(
        "123||", "236|23|0", "34|3|0"
    )
    assert hypergraph.join_tree([]) == []


@pytest.mark.parametrize("texts", [("12", "23", "13"), CYCLE, ("123", "345", "156")])
def test_a_cycle_has_no_tree(texts: tuple[str, ...]) -> None:
    assert hypergraph.join_tree(edges(*texts)) is None


def test_the_cliques_of_a_decomposable_set_are_its_maximal_edges() -> None:
    assert hypergraph.triangulate(edges(*PATH, "2")) == links("12||", "23|2|0", "34|3|1")


def test_a_cycle_is_cut_by_one_chord() -> None:
    assert hypergraph.triangulate(edges(*CYCLE)) == links("124||", "234|24|0")


def test_the_attribute_that_joins_the_fewest_others_is_eliminated_first() -> None:
    """Of a cycle and an attribute that hangs on it, the one that hangs; then those of the cycle."""
    found = hypergraph.triangulate(edges("12", "23", "34", "14", "15"))
    assert {link.edge for link in found} == set(edges("15", "124", "234"))
    wheel = hypergraph.triangulate(edges("12", "23", "34", "14", "51", "52", "53", "54"))
    assert {link.edge for link in wheel} == set(edges("1245", "2345"))


def test_sets_are_eliminated_before_all_others_in_their_order() -> None:
    assert hypergraph.triangulate(edges(*PATH), [frozenset({2})]) == links("123||", "34|3|0")
    first = [frozenset({3}), frozenset({2})]
    assert hypergraph.triangulate(edges(*PATH), first) == links("234||", "124|24|0")
    assert hypergraph.triangulate(edges(*PATH), first[::-1]) == links("123||", "134|13|0")


def test_attributes_of_one_edge_that_nobody_asks_for_are_summed_out() -> None:
    path = edges(*PATH)
    assert hypergraph.reduce_edges(path, frozenset({1})) == edges("1")
    assert hypergraph.reduce_edges(path, frozenset({1, 4})) == path
    assert hypergraph.reduce_edges(path, frozenset({2, 3})) == edges("23")
    assert hypergraph.reduce_edges(edges(*CYCLE, "45"), frozenset({1})) == edges(*CYCLE)


@pytest.mark.parametrize(
    ("scope", "secret", "left"),
    [
        ("1", None, ("12||",)),
        ("4", None, ("34||",)),
        ("14", None, ("12||", "23|2|0", "34|3|1")),
        ("23", None, ("23||",)),
        ("124", 1, ("12||", "23|2|0", "34|3|1")),  # 3 is not known: 4 says something about it
        ("1234", 1, ("12||",)),  # 2 is known, and nothing else says more
        ("1234", 2, ("12||", "23|2|0")),
        ("1234", None, ("12||", "23|2|0", "34|3|1")),
    ],
)
def test_only_cliques_are_left_on_which_the_guess_depends(
    scope: str, secret: int | None, left: tuple[str, ...]
) -> None:
    path = hypergraph.join_tree(edges(*PATH))
    assert path is not None
    asked = frozenset(map(int, scope))
    assert hypergraph.prune_tree(path, asked, secret) == links(*left)


@given(EDGES)
@settings(max_examples=examples(100))
def test_closures_covers_and_trees_are_those_of_their_definitions(given_edges: list[Edge]) -> None:
    different = set(given_edges)
    meets = {
        frozenset.intersection(*some)
        for n in range(1, len(different) + 1)
        for some in combinations(different, n)
    }
    nodes = hypergraph.close_under_intersection(given_edges)
    assert len(nodes) == len(meets)
    assert set(nodes) == meets
    assert set(hypergraph.list_nearest_subsets(nodes)) == {
        (a, b) for a in meets for b in meets if b < a and not any(b < c < a for c in meets)
    }
    largest = hypergraph.maximal_edges(given_edges)
    assert set(largest) == {e for e in different if not any(e < other for other in different)}
    tree = hypergraph.join_tree(given_edges)
    assert (tree is not None) == any(running(list(order)) for order in permutations(largest))
    if tree is not None:
        assert {link.edge for link in tree} == set(largest)


@given(EDGES, st.lists(st.frozensets(st.integers(1, 5), min_size=1, max_size=2), max_size=2))
@settings(max_examples=examples(100))
def test_cliques_hold_all_edges_and_have_running_intersections(
    given_edges: list[Edge], first: list[Edge]
) -> None:
    cliques = [link.edge for link in hypergraph.triangulate(given_edges, first)]
    assert running(cliques)
    assert all(any(edge <= clique for clique in cliques) for edge in given_edges)
    assert not any(a < b for a in cliques for b in cliques)
    for i in range(len(first) + 1):
        rest = [clique - frozenset().union(*first[:i]) for clique in cliques]
        assert hypergraph.join_tree(rest) is not None
