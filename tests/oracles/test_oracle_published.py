"""The oracle of published tables against worked examples, and against laws that always hold."""

import math
from collections import Counter
from fractions import Fraction as F
from itertools import product

import pytest
from effort import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from qifsql.reference import published_arrays as oracle
from qifsql.reference.published_arrays import Cell, Problem, Table

# Protections.


@pytest.mark.parametrize(
    ("table", "published", "ends"),
    [  # by hand from the definitions: a cell, and the counts that give it
        (Table((0,)), 3, (3, 3)),
        (Table((0,), "suppress", 5), None, (1, 4)),
        (Table((0,), "suppress", 5), 0, (0, 0)),
        (Table((0,), "suppress", 5), 7, (7, 7)),
        (Table((0,), "suppress zeros", 5), None, (0, 4)),
        (Table((0,), "round", 5), 0, (0, 2)),
        (Table((0,), "round", 5), 5, (3, 7)),
        (Table((0,), "round", 4), 0, (0, 1)),  # 2 is rounded up to 4
        (Table((0,), "round", 4), 4, (2, 5)),
        (Table((0,), "round random", 3), 0, (0, 2)),
        (Table((0,), "round random", 3), 3, (1, 5)),
        (Table((0,), "noise", 2), 0, (0, 2)),
        (Table((0,), "noise", 2), 5, (3, 7)),
        (Table((0,), "atleast", 5), 4, (4, 4)),
        (Table((0,), "atleast", 5), 5, (5, math.inf)),
    ],
)
def test_intervals_by_hand(table: Table, published: int | None, ends: tuple[int, float]) -> None:
    assert oracle.interval(table, published) == ends


@pytest.mark.parametrize("kind", ["exact", "suppress", "suppress zeros", "round", "atleast"])
@pytest.mark.parametrize("number", [2, 3, 4, 5])
def test_an_interval_is_what_gives_the_cell(kind: str, number: int) -> None:
    table = Table((0,), kind, number)
    for published in {m for n in range(30) for m in oracle.choices(table, n)} - {25, 30}:
        low, high = oracle.interval(table, published)
        giving = [n for n in range(60) if published in oracle.choices(table, n)]
        assert giving[0] == low
        assert giving[-1] == min(high, 59)
        assert len(giving) == giving[-1] - giving[0] + 1


@pytest.mark.parametrize("kind", ["round random", "noise"])
@pytest.mark.parametrize("number", [1, 2, 3, 5])
def test_a_drawn_cell_has_its_count_in_its_interval(kind: str, number: int) -> None:
    table = Table((0,), kind, number)
    for n in range(20):
        for published in oracle.choices(table, n):
            low, high = oracle.interval(table, published)
            assert low <= n <= high


# Worked examples.


def crossed(counts: dict[str, int]) -> list[Cell]:
    """People from counts of lines, one letter for each value."""
    return [tuple(line) for line, n in counts.items() for _ in range(n)]


def custodian(people: list[Cell], *tables: Table) -> Problem:
    told = tuple((t, oracle.publish(people, t)) for t in tables)
    return Problem(oracle.domains(people), len(people), told)


def test_two_margins_by_hand() -> None:
    # N = 3, margins (2, 1) and (2, 1). With x = the count of 00 the array is (x, 2-x, 2-x, x-1), so
    # x is 1 or 2: (1,1,1,0) has 3!/1 = 6 ways, (2,0,0,1) has 3!/2 = 3. Mean of x = (6+6)/9 = 4/3,
    # which is 2 * 2 / 3, the mean of the hypergeometric.
    people = crossed({"ax": 2, "by": 1})
    problem = custodian(people, Table((0,)), Table((1,)))
    arrays = oracle.consistent(problem)
    assert sorted(arrays) == [(1, 1, 1, 0), (2, 0, 0, 1)]
    assert list(map(oracle.ways, sorted(arrays))) == [6, 3]
    ends = oracle.bounds(problem, arrays, (0, 1))
    assert list(ends.values()) == [(1, 2), (0, 1), (0, 1), (0, 1)]
    means = oracle.expected(problem, arrays, (0, 1))
    assert list(means.values()) == [F(4, 3), F(2, 3), F(2, 3), F(1, 3)]
    # She guesses x of a and of b: believed (4/3 + 2/3) / 3 = 2/3; right for the two of ax.
    # One array has V = (1 + 1)/3, the other (2 + 1)/3. The prior is 2/3.
    found = oracle.row(problem, arrays, (0,), 1, people)
    assert found == {
        **{"people": 3, "reconstructed": 0, "reconstructed_ones": 0, "cells_proved": 0},
        **{"singled_out": 1, "certain_inference": 0, "lowest": F(2, 3), "highest": 1},
        **{"prior": F(2, 3), "believed": F(2, 3), "actual": F(2, 3), "records": 1},
    }
    # Re-identification with both attributes: 3 of 4 cells are not empty in one array, 2 in the
    # other: (6 * 3/3 + 3 * 2/3) / 9 = 8/9.
    found = oracle.row(problem, arrays, (0, 1), None, people)
    assert (found["lowest"], found["highest"], found["believed"]) == (F(2, 3), 1, F(8, 9))
    assert (found["prior"], found["records"], found["actual"]) == (F(1, 3), F(2, 3), None)


def test_a_hidden_cell_with_its_total_is_found() -> None:
    # The row (3 hidden, 7) has the total 10, which is exact: the hidden count is 3.
    people = crossed({"ax": 3, "ay": 7, "bx": 6})
    problem = custodian(people, Table((0, 1), "suppress", 5), Table((0,)))
    assert oracle.interval(*problem.tables[0][:1], problem.tables[0][1]["a", "x"]) == (1, 4)
    assert oracle.consistent(problem) == [(3, 7, 6, 0)]


def test_impossible_combinations() -> None:
    # Margins (1, 1) and (1, 1) leave two arrays; where a never meets x, one.
    people = crossed({"ay": 1, "bx": 1})
    problem = custodian(people, Table((0,)), Table((1,)))
    assert len(oracle.consistent(problem)) == 2
    rule = ((0, 1), frozenset({("a", "y"), ("b", "x"), ("b", "y")}))
    fewer = Problem(problem.values, 2, problem.tables, (rule,))
    assert oracle.consistent(fewer) == [(1, 0, 0, 1)]  # cells ay, ax, by, bx: as values occur


def test_three_tables_contradict_where_each_two_agree() -> None:
    # a = b and b = c for both people, and a differs from c.
    same, other = {("0", "0"): 1, ("1", "1"): 1}, {("0", "1"): 1, ("1", "0"): 1}
    tables = [(Table((0, 1)), same), (Table((1, 2)), same), (Table((0, 2)), other)]
    values = (("0", "1"),) * 3
    assert oracle.consistent(Problem(values, 2, tuple(tables))) == []
    for i in range(3):
        pair = tuple(t for j, t in enumerate(tables) if j != i)
        assert oracle.consistent(Problem(values, 2, pair))


# Edwards and Havranek (1985): 1841 men of a Czech car factory, six attributes A to F of two values.
# Lines: FEDC from 0000 to 1111; columns: BA = 00, 01, 10, 11.
AUTOWORKERS = """
44 40 112 67 | 129 145 12 23 | 35 12 80 33 | 109 67 7 9
23 32 70 66 | 50 80 7 13 | 24 25 73 57 | 51 63 7 16
5 7 21 9 | 9 17 1 4 | 4 3 11 8 | 14 17 5 2
7 3 14 14 | 9 16 2 3 | 4 0 13 11 | 5 14 4 4
"""
# Upper bounds that Dobra and Fienberg (PNAS 2000) print for the margins BF, ABCE and ADE, in the
# same order; all lower bounds are 0.
PRINTED = """
88 62 224 117 | 261 246 25 38 | 88 62 224 117 | 261 151 25 38
58 60 170 148 | 115 173 20 36 | 58 60 170 148 | 115 173 20 36
88 62 126 117 | 134 134 25 38 | 88 62 126 117 | 134 134 25 38
58 60 126 126 | 115 134 20 36 | 58 60 126 126 | 115 134 20 36
"""


def by_cell(text: str) -> dict[Cell, int]:
    """Printed numbers by cell, attributes in the order A to F."""
    numbers = iter(text.replace("|", " ").split())
    cells = product("01", repeat=6)
    return {(a, b, c, d, e, f): int(next(numbers)) for f, e, d, c, b, a in cells}


def test_closed_form_of_dobra_and_fienberg() -> None:
    counts = by_cell(AUTOWORKERS)
    people = [cell for cell, n in counts.items() for _ in range(n)]
    assert len(people) == 1841
    found = oracle.closed_form(people, [(1, 5), (0, 1, 2, 4), (0, 3, 4)])
    assert found is not None
    assert found.bounds == {cell: (0, high) for cell, high in by_cell(PRINTED).items()}


@pytest.mark.parametrize(
    ("sets", "yes"),
    [  # a chain, a star, sets within sets, no common attribute; a triangle, a ring of four
        ([{0, 1}, {1, 2}, {2, 3}], True),
        ([{0, 1}, {0, 2}, {0, 3}], True),
        ([{0, 1, 2}, {0, 1}, {2}, {0, 1, 2}], True),
        ([{0}, {1}, {2, 3}], True),
        ([{0, 1}, {1, 2}, {0, 2}], False),
        ([{0, 1}, {1, 2}, {2, 3}, {0, 3}], False),
        ([{0, 1}, {1, 2}, {0, 2}, {0, 1, 2}], True),
    ],
)
def test_running_intersection(sets: list[set[int]], yes: bool) -> None:
    assert (oracle.running_intersection([frozenset(s) for s in sets]) is not None) == yes


def test_sums_of_bounds_are_sharp_for_ac_but_not_for_ad() -> None:
    people = crossed({"0000": 1, "0101": 1, "1010": 1})

    def summed(problem: Problem, ends: tuple[str, str]) -> tuple[int, int]:
        lines = oracle.bounds(problem, oracle.consistent(problem), problem.everything)
        inside = [e for line, e in lines.items() if (line[0], line[-1]) == ends]
        return sum(low for low, _ in inside), sum(high for _, high in inside)

    # Tables ab and bc: the values of b share nothing, so that all cells of ac have their largest
    # (least) parts at once.
    three = custodian([p[:3] for p in people], Table((0, 1)), Table((1, 2)))
    sharp = oracle.bounds(three, oracle.consistent(three), (0, 2))
    assert sharp == {(a, c): summed(three, (a, c)) for a, c in sharp}
    # With cd, too: two people have a = 0, two have d = 0, of three in all: one or two have both. Of
    # the four cells (0, b, c, 0) each has one person at most: (0,0,0,0), (0,0,1,0) and (0,1,0,0)
    # can have one, (0,1,1,0) cannot, for b = c = 1 has nobody. That sums up to 3, and none is sure.
    four = custodian(people, Table((0, 1)), Table((1, 2)), Table((2, 3)))
    assert oracle.bounds(four, oracle.consistent(four), (0, 3))["0", "0"] == (1, 2)
    assert summed(four, ("0", "0")) == (0, 3)


# Laws.


@st.composite
def crowds(draw: st.DrawFn, most: int = 5) -> list[Cell]:
    width = draw(st.integers(2, 3))
    person = st.tuples(*[st.sampled_from("xy")] * width)
    return draw(st.lists(person, min_size=1, max_size=most))


def dims(width: int) -> st.SearchStrategy[tuple[int, ...]]:
    return st.sets(st.integers(0, width - 1), min_size=1).map(lambda s: tuple(sorted(s)))


@settings(max_examples=examples(100))
@given(st.data())
def test_closed_form_equals_enumeration(data: st.DataObject) -> None:
    people = data.draw(crowds(6))
    width = len(people[0])
    sets = data.draw(st.lists(dims(width), min_size=1, max_size=3))
    assume(set().union(*sets) == set(range(width)))
    found = oracle.closed_form(people, sets)
    assume(found is not None)
    assert found is not None
    problem = custodian(people, *map(Table, sets))
    arrays = oracle.consistent(problem)
    assert oracle.bounds(problem, arrays, problem.everything) == found.bounds
    assert oracle.expected(problem, arrays, problem.everything) == found.means


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
@settings(max_examples=examples(60))
@given(st.data())
def test_weights_count_the_assignments_of_people(data: st.DataObject) -> None:
    people = data.draw(crowds(4))
    tables = [
        Table(data.draw(dims(len(people[0]))), kind, 2)
        for kind in data.draw(
            st.lists(st.sampled_from(["exact", "suppress", "round", "atleast"]), max_size=2)
        )
    ]
    problem = custodian(people, *tables)
    seen: Counter[tuple[int, ...]] = Counter()
    for lines in product(problem.cells, repeat=len(people)):
        agrees = all(
            low <= oracle.count(lines, wanted)[c] <= high
            for wanted, ends in problem.intervals()
            for c, (low, high) in ends.items()
        )
        if agrees:
            counts = Counter(lines)
            seen[tuple(counts[c] for c in problem.cells)] += 1
    assert seen == {x: oracle.ways(x) for x in oracle.consistent(problem)}


@pytest.mark.slow(because="0.7 s; every recorded mutant dies without it")
@settings(max_examples=examples(60))
@given(st.data())
def test_believed_is_the_mean_of_actual(data: st.DataObject) -> None:
    people = data.draw(crowds(5))
    width = len(people[0])
    problem = custodian(people, *map(Table, data.draw(st.lists(dims(width), max_size=3))))
    arrays = oracle.consistent(problem)
    known, secret = tuple(range(width - 1)), width - 1
    found = oracle.row(problem, arrays, known, secret, people)
    asked = (*known, secret)
    tied = oracle.guesses(oracle.expected(problem, arrays, asked))
    weighted = [
        oracle.success(tied, oracle.margin(problem, x, asked)) * oracle.ways(x) for x in arrays
    ]
    everything = sum(map(oracle.ways, arrays)) * len(people)
    assert found["believed"] == sum(weighted, F(0)) / everything
    assert found["actual"] <= found["records"]
    assert found["lowest"] <= found["records"] <= found["highest"]
