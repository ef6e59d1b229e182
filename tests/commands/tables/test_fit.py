"""The fit of expected counts against plain iterative fitting over all cells."""

import itertools
import random

import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import qifsql

NO_TIME = 1e-6  # seconds: nothing is listed, so that expected counts are fitted
ROUNDS = 20_000


def people(seed: int, n: int = 120) -> pl.DataFrame:
    """People whose columns depend on one another, b on a, c on b."""
    lots = random.Random(seed)
    a = [lots.randint(0, 2) for _ in range(n)]
    b = [(x + lots.randint(0, 1)) % 3 for x in a]
    c = [(x + lots.randint(0, 2) * lots.randint(0, 1)) % 3 for x in b]
    d = [lots.randint(0, 1) for _ in range(n)]
    return pl.DataFrame({"a": a, "b": b, "c": c, "d": d})


def interval(count: int, protection: str) -> tuple[int, int]:
    """The counts that a published count of suppress<k, round:b or an exact table stands for."""
    if protection.startswith("suppress<"):
        k = int(protection.removeprefix("suppress<"))
        return (1, k - 1) if 0 < count < k else (count, count)
    if protection.startswith("round:"):
        b = int(protection.removeprefix("round:"))
        published = (count + b // 2) // b * b
        return max(0, published - b // 2), published + (b + 1) // 2 - 1
    return count, count


def greatest_entropy(data: pl.DataFrame, tables: list[str], secret: str) -> tuple[float, float]:
    """Believed and actual success by the array of greatest entropy, found cell by cell.

    Each condition has a factor; it is moved to where its interval holds, from the sum that it would
    have without its factor (Dykstra's correction in Hildreth's form), until nothing moves.
    """
    dims = sorted({name for text in tables for name in text.split(":")[0].split(",")})
    domains = [sorted(data[name].unique().to_list()) for name in dims]
    cells = list(itertools.product(*domains))
    fitted = dict.fromkeys(cells, 1.0)
    conditions = [(cells, data.height, data.height, [1.0])]
    for text in tables:
        names, _, protection = text.partition(":")
        columns = [dims.index(name) for name in names.split(",")]
        counts: dict[tuple[int, ...], int] = {}
        for row in data.select(dims).iter_rows():
            key = tuple(row[i] for i in columns)
            counts[key] = counts.get(key, 0) + 1
        for key in itertools.product(*(domains[i] for i in columns)):
            inside = [cell for cell in cells if tuple(cell[i] for i in columns) == key]
            low, high = interval(counts.get(key, 0), protection)
            conditions.append((inside, low, high, [1.0]))
    for _ in range(ROUNDS):
        moved = 0.0
        for inside, low, high, factor in conditions:
            total = sum(fitted[cell] for cell in inside)
            if not total:
                continue
            loose = total / factor[0]
            new = min(max(loose, low), high) / loose
            for cell in inside:
                fitted[cell] *= new / factor[0]
            moved = max(moved, abs(new - factor[0]) * loose)
            factor[0] = new if high else 1.0
        if moved < 1e-11 * data.height:
            break
    at = dims.index(secret)
    blocks: dict[tuple[int, ...], dict[int, float]] = {}
    for cell, mean in fitted.items():
        blocks.setdefault((*cell[:at], *cell[at + 1 :]), {})[cell[at]] = mean
    believed = sum(max(values.values()) for values in blocks.values()) / data.height
    right = 0.0
    for row in data.select(dims).iter_rows():
        values = blocks[(*row[:at], *row[at + 1 :])]
        best = [v for v, mean in values.items() if mean >= max(values.values()) * (1 - 1e-7)]
        right += (row[at] in best) / len(best)
    return believed, right / data.height


TABLES = (
    ["a,b:suppress<9", "b,c:round:5", "c,d:suppress<15"],
    ["a,b:suppress<9", "b,c:round:3", "a,c"],  # a triangle: no tree of tables
    ["a,b", "b,c", "a,c"],
    ["a,b,d:suppress<5", "b,c:suppress<9", "b"],  # a table inside another
    ["a,b:suppress<20", "c,d:suppress<25"],  # tables that share nothing
    ["a,b:suppress<20", "b,c:suppress<25", "b:round:5"],  # what is shared is rounded
    ["a,b,c:suppress<9", "b,c,d:suppress<9", "b"],  # a told margin inside what is shared
)
DISTANT = ["a,b:round:5", "b,c:round:5", "c,d:round:5"]  # the answer is far from the start


@pytest.mark.slow(because="8.4 s each; every recorded mutant dies without it")
@pytest.mark.parametrize("tables", TABLES, ids=[" ".join(t) for t in TABLES])
def test_expected_counts_have_the_greatest_entropy(tables: list[str]) -> None:
    data, tree = people(1), "a,c" not in tables[-1]
    rows = qifsql.tables(data, table=tables, secret=["c", "b"], time_budget=NO_TIME).rows()
    for row, secret in zip(rows, ("c", "b"), strict=True):
        believed, actual = greatest_entropy(data, tables, secret)
        assert row["estimate"], "a fit, not a solution"
        assert row["believed"] == pytest.approx(believed, abs=1e-5)
        if tree:  # on a triangle it stops before near ties are told apart
            assert row["actual"] == pytest.approx(actual, abs=1e-9)


@pytest.mark.slow(because="fits of small tables are compared with slow fitting")
def test_expected_counts_far_from_the_start() -> None:
    data = people(237718, 80)  # some cells of the answer are at the other end of their intervals
    believed, _ = greatest_entropy(data, DISTANT, "a")
    (row,) = qifsql.tables(data, table=DISTANT, secret="a", time_budget=NO_TIME).rows()
    assert row["believed"] == pytest.approx(believed, abs=1e-5)


@pytest.mark.slow(because="fits of small tables are compared with slow fitting")
@settings(max_examples=examples(8), deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(TABLES),
    st.sampled_from(["a", "b", "c"]),
)
def test_expected_counts_of_other_people(seed: int, tables: list[str], secret: str) -> None:
    data = people(seed, 80)
    believed, _ = greatest_entropy(data, tables, secret)
    (row,) = qifsql.tables(data, table=tables, secret=secret, time_budget=NO_TIME).rows()
    assert row["believed"] == pytest.approx(believed, abs=1e-5)
