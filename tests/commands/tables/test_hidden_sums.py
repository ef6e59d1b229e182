"""Hidden sums against all sums that agree with the totals, and against the simplex method alone."""

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path

import highspy
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import qifsql
from qifsql.commands.tables.hidden_sums import HiddenSum, _bounds, _lines, audit
from qifsql.commands.tables.sum_rules import Rules

LIMITS = Rules(small=3, n=1, k=Fraction(85, 100), p=Fraction(10, 100))
MINUTE = 60.0


def hidden(cell: Sequence[int], *amounts: int) -> HiddenSum:
    largest = tuple(sorted(amounts, reverse=True))
    return HiddenSum(tuple(cell), len(amounts), sum(amounts), largest)


@st.composite
def tables(draw: st.DrawFn) -> list[HiddenSum]:
    """The hidden cells of a table of one to three dimensions."""
    grid = draw(st.sampled_from([(4,), (3, 3), (2, 4), (2, 2, 2)]))
    cells = draw(st.sets(st.sampled_from(list(product(*map(range, grid)))), min_size=1, max_size=6))
    amounts = st.lists(st.integers(0, 2), min_size=1, max_size=3)
    return [hidden(cell, *draw(amounts)) for cell in sorted(cells)]


def agreeing(sums: Sequence[HiddenSum]) -> Iterator[tuple[int, ...]]:
    """All whole sums, from 0 on, whose lines have the totals of the table."""
    lines = [
        [j for j, other in enumerate(sums) if _is_beside(sums[i], other, d)]
        for i, _ in enumerate(sums)
        for d in range(len(sums[0].cell))
    ]
    wanted = [(line, sum(sums[j].total for j in line)) for line in lines]

    def extended(array: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        j = len(array)
        for line, total in wanted:
            so_far = sum(array[i] for i in line if i < j)
            if so_far > total or (line[-1] < j and so_far != total):
                return
        if j == len(sums):
            yield array
            return
        for n in range(min(total for line, total in wanted if j in line) + 1):
            yield from extended((*array, n))

    return extended(())


def _is_beside(one: HiddenSum, other: HiddenSum, d: int) -> bool:
    return all(a == b for e, (a, b) in enumerate(zip(one.cell, other.cell, strict=True)) if e != d)


@settings(max_examples=examples(60))
@given(tables())
def test_bounds_and_exposed_cells_are_those_of_all_sums(sums: list[HiddenSum]) -> None:
    arrays = list(agreeing(sums))
    assert tuple(cell.total for cell in sums) in arrays
    ends = [(min(column), max(column)) for column in zip(*arrays, strict=True)]
    assert _bounds(sums, _lines(sums), float("inf")) == (ends, 0)
    row = audit(sums, LIMITS, MINUTE)
    assert row["undone"] == sum(low == high for low, high in ends)
    exposed = 0
    for cell, (low, high) in zip(sums, ends, strict=True):
        first, second = (*cell.largest, 0)[:2]
        fails = first > LIMITS.k * high or high - first - second < LIMITS.p * first
        exposed += low == high or fails
    assert row["exposed"] == exposed


@settings(max_examples=examples(40))
@given(st.data(), tables())
def test_hiding_a_further_cell_narrows_no_bound(data: st.DataObject, sums: list[HiddenSum]) -> None:
    j = data.draw(st.integers(0, len(sums) - 1))
    fewer = [*sums[:j], *sums[j + 1 :]]
    (wide, _), (narrow, _) = (
        _bounds(listed, _lines(listed), float("inf")) for listed in (sums, fewer)
    )
    for (low, high), (least, largest) in zip([*wide[:j], *wide[j + 1 :]], narrow, strict=True):
        assert low <= least <= largest <= high


def optimum(sums: Sequence[HiddenSum], lines: Sequence[Sequence[int]], j: int, sign: int) -> int:
    """The least (1) or the largest (-1) sum of a cell, by the simplex method in floating point."""
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    columns = [model.addVariable(lb=0, obj=sign if i == j else 0) for i, _ in enumerate(sums)]
    for line in lines:
        model.addConstr(sum(columns[i] for i in line) == sum(sums[i].total for i in line))
    model.run()
    return round(model.variableValue(columns[j]))


def test_a_hundred_schools_are_those_of_the_simplex_method_alone() -> None:
    """In two dimensions the sums of the polytope's corners are whole."""
    chance = random.Random(5)
    for _ in range(100):
        grid = list(product(range(3), range(4)))
        cells = sorted(chance.sample(grid, chance.randint(4, 9)))
        sums = [hidden(c, *(chance.randint(0, 10**6) for _ in range(2))) for c in cells]
        lines = _lines(sums)
        bounds, open_cells = _bounds(sums, lines, float("inf"))
        assert not open_cells
        j = chance.randrange(len(sums))
        assert bounds[j] == (optimum(sums, lines, j, 1), optimum(sums, lines, j, -1))


def test_a_table_by_hand(tmp_path: Path) -> None:
    """A hidden square, which one number tells: S,a is 0 to 4, so that N,a is 100 to 104."""
    file = tmp_path / "firms.csv"
    lines = ["r,i,x", "N,a,100", "N,a,3", "N,b,2", "S,a,1", "S,b,3"]
    lines += [f"{r},c,{n}" for r in "NS" for n in (30, 30, 30, 30)]
    file.write_text("\n".join(lines))
    result = qifsql.tables(file, table="r", magnitude="x:r,i", small=3)
    (row,) = result.details["hidden_sums"].to_dicts()
    # N,a: 104 - 100 - 3 < 10, so that it is exposed. N,b is 1 to 5, and 2 of 5 are not 85 %; nor is
    # 1 of 4 (S,a), or 3 of 4 (S,b).
    assert row == {
        "table": "x:r,i", "hidden": 4, "undone": 0, "exposed": 1, "unions": 4,
        "failing_unions": 4, "open": 0,
    }  # fmt: skip
    assert "Hidden sums" in str(result)


@pytest.mark.parametrize("cells", [1, 2])
def test_a_single_hidden_cell_of_a_line_is_undone(cells: int) -> None:
    sums = [hidden((0, j), 10, 5, 1) for j in range(cells)]
    assert audit(sums, LIMITS, MINUTE)["undone"] == cells  # each is alone in its column
    assert audit(None, LIMITS, MINUTE)["undone"] is None
    assert audit([], LIMITS, MINUTE)["hidden"] == 0
