"""Answers of a sweep, against brute force over all subsets and all orders in exact fractions."""

import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction as F
from itertools import chain, combinations, permutations
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import NAMES

from qifsql import sweep
from qifsql.commands.sweep import answers, result
from qifsql.commands.sweep.search import KnownSubsets
from qifsql.measures.set_functions import MEASURES, Game, games
from qifsql.results.assessment import SCHEMA

COLUMNS = SCHEMA | {"subset": pl.UInt32(), "k": pl.Int64(), "l": pl.Int64()}
DETERMINISTIC, PROBABILISTIC = MEASURES
CRS: tuple[str, str | None] = ("CRS", None)
Subset = tuple[int, ...]  # ascending positions
Values = Mapping[Subset, Any]  # V of every subset, the empty one too
Sweep = Mapping[tuple[str, str | None], tuple[Values, Values]]  # question -> (det., prob.)


# The frame of a sweep, and the oracle: positions in tuples, values in fractions.


def subsets(n: int) -> list[Subset]:
    """All subsets by size, then in the order of positions."""
    return list(chain.from_iterable(combinations(range(n), size) for size in range(n + 1)))


def names(qids: Sequence[str], subset: Subset) -> list[str]:
    return [qids[i] for i in subset]


def mask(subset: Subset) -> int:
    return sum(1 << i for i in subset)


def frame_of(qids: Sequence[str], sweep: Sweep, *, records: int = 100) -> pl.DataFrame:
    """A result as the sweep makes it; columns that no answer reads are 1 or NULL."""
    rows = []
    for (model, secret), (certain, bayes) in sweep.items():
        for subset in subsets(len(qids))[1:]:
            row: dict[str, Any] = dict.fromkeys(COLUMNS)
            row |= {"model": model, "secret": secret, "datasets": 1, "records": records}
            row |= {"qids": names(qids, subset), "n_qids": len(subset), "subset": mask(subset)}
            row |= {"k": 1, "l": None if secret is None else 1}
            for measure, values in ((DETERMINISTIC, certain), (PROBABILISTIC, bayes)):
                row[f"prior_{measure}"] = prior = float(values[()])
                row[f"posterior_{measure}"] = posterior = float(values[subset])
                row[f"degradation_{measure}"] = posterior - prior
            ratio = float(bayes[subset] / bayes[()]) if bayes[()] else None
            rows.append(row | {"degradation_probabilistic": ratio})
    return pl.DataFrame(rows, schema=COLUMNS)


def by_orders(n: int, value: Callable[[frozenset[int]], F]) -> list[F]:
    """Shapley values as the mean, over all orders of arrival, of what each adds on arriving."""
    totals, orders = [F(0)] * n, list(permutations(range(n)))
    for order in orders:
        for place, a in enumerate(order):
            totals[a] += value(frozenset(order[: place + 1])) - value(frozenset(order[:place]))
    return [total / len(orders) for total in totals]


def shapley_by_orders(n: int, values: Values) -> list[F]:
    return by_orders(n, lambda team: F(values[tuple(sorted(team))]))


def interaction_by_orders(n: int, values: Values, a: int, b: int) -> F:
    """By recursion (Grabisch and Roubens 1999): of a and b as one, less each without the other."""

    def part(*groups: Subset) -> F:
        def value(team: frozenset[int]) -> F:
            return F(values[tuple(sorted(i for g in team for i in groups[g]))])

        return by_orders(len(groups), value)[0]

    rest = [(i,) for i in range(n) if i not in {a, b}]
    return part((a, b), *rest) - part((a,), *rest) - part((b,), *rest)


def best_by_hand(qids: Sequence[str], values: tuple[Values, Values]) -> list[tuple[Any, ...]]:
    """n_qids, best_for, qids; subsets of a size come in the order of positions."""
    certain, bayes = values
    rows = []
    for size in range(1, len(qids) + 1):
        some = list(combinations(range(len(qids)), size))
        top = [max(some, key=lambda s, v=v: v[s]) for v in values]
        both = [s for s in some if all(v[s] == v[t] for v, t in zip(values, top, strict=True))]
        if both:
            rows.append((size, "both", names(qids, both[0])))
            continue
        for measure, first, second in ((DETERMINISTIC, *values), (PROBABILISTIC, bayes, certain)):
            high = max((first[s], second[s]) for s in some)
            found = next(s for s in some if (first[s], second[s]) == high)
            rows.append((size, measure, names(qids, found)))
    return rows


def borders_by_hand(n: int, values: Values, threshold: float) -> list[tuple[str, Subset]]:
    """Against every smaller and every larger subset, not only those of one element less or more."""
    risky = {s for s in subsets(n) if float(values[s]) >= threshold}
    safe = [s for s in subsets(n) if s not in risky]
    minimal = [s for s in subsets(n) if s in risky and not any(set(t) < set(s) for t in risky)]
    maximal = [s for s in safe if not any(set(t) > set(s) for t in safe)]
    return [("minimal risky", s) for s in minimal] + [("maximal safe", s) for s in maximal]


def constant(n: int, value: F) -> dict[Subset, F]:
    return dict.fromkeys(subsets(n), value)


def game_of(values: Values, n: int, *, records: int = 100) -> Game:
    """The probabilistic set function, as the module reads it from a frame."""
    frame = frame_of(NAMES[:n], {CRS: (constant(n, F(0)), values)}, records=records)
    return list(games(frame))[1]


@st.composite
def functions(draw: st.DrawFn, n: int, *, monotone: bool = False) -> dict[Subset, F]:
    """Counts of 100 records for every subset; few different ones, so that ties are common."""
    counts = st.lists(st.integers(0, draw(st.sampled_from((1, 3, 100)))), min_size=2**n)
    found = dict(zip(subsets(n), draw(counts.map(lambda c: c[: 2**n])), strict=True))
    for subset in subsets(n) if monotone else ():
        below = [found[subset[:i] + subset[i + 1 :]] for i in range(len(subset))]
        found[subset] = max(found[subset], *below, 0)
    return {subset: F(count, 100) for subset, count in found.items()}


@st.composite
def sweeps(draw: st.DrawFn, *, most: int = 4, monotone: bool = False) -> tuple[list[str], Sweep]:
    """Names of quasi-identifiers and a set function for each measure of some questions."""
    qids = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=most, unique=True))
    secrets = draw(st.lists(st.sampled_from(NAMES), max_size=2, unique=True))
    some = functions(len(qids), monotone=monotone)
    questions = draw(st.permutations([CRS, *(("CAS", secret) for secret in secrets)]))
    return qids, {question: (draw(some), draw(some)) for question in questions}


@st.composite
def microdata(draw: st.DrawFn) -> tuple[list[str], Sweep, int]:
    """The sweep of a small table: its blocks are counted here, one subset at a time."""
    n = draw(st.integers(1, 4))
    row = st.tuples(*[st.integers(0, 2)] * n, st.sampled_from("xyz"))
    rows = draw(st.lists(row, min_size=1, max_size=12))
    owner, value = {}, {}
    for subset in subsets(n):
        blocks: dict[Any, list[str]] = {}
        for *qid, secret in rows:
            blocks.setdefault(tuple(qid[i] for i in subset), []).append(secret)
        modes = [max(Counter(block).values()) for block in blocks.values()]
        sizes = [len(block) for block in blocks.values()]
        certain = sum(size for size, mode in zip(sizes, modes, strict=True) if size == mode)
        owner[subset] = F(sizes.count(1), len(rows)), F(len(blocks), len(rows))
        value[subset] = F(certain, len(rows)), F(sum(modes), len(rows))
    parts = [tuple({s: v[i] for s, v in found.items()} for i in (0, 1)) for found in (owner, value)]
    return list(NAMES[:n]), {CRS: parts[0], ("CAS", "b"): parts[1]}, len(rows)  # type: ignore[dict-item]


def flat(sweep: Sweep) -> list[tuple[str, str | None, str, Values]]:
    """Each question and measure with its set function, in the order of the answers."""
    return [
        (*question, measure, v)
        for question, values in sweep.items()
        for measure, v in zip(MEASURES, values, strict=True)
    ]


# Shapley values


@given(sweeps())
def test_shapley_values_are_means_over_all_orders(case: tuple[list[str], Sweep]) -> None:
    qids, sweep = case
    n, everything = len(qids), tuple(range(len(qids)))
    rows = []
    for model, secret, measure, v in flat(sweep):
        total = v[everything] - v[()]
        for a, part in enumerate(shapley_by_orders(n, v)):
            last = v[everything] - v[tuple(i for i in everything if i != a)]
            share = float(part / total) if total else None
            numbers = (float(part), share, float(v[a,] - v[()]), float(last))
            rows.append((model, secret, measure, qids[a], *numbers))
    assert answers.shapley_values(frame_of(qids, sweep), qids).rows() == rows


@settings(max_examples=examples(10))
@given(functions(5))
def test_shapley_values_of_five_are_exact(values: dict[Subset, F]) -> None:
    parts = answers.exact_shapley(game_of(values, 5))
    assert parts == shapley_by_orders(5, values)
    assert sum(parts) == values[0, 1, 2, 3, 4] - values[()]


@given(st.data(), st.integers(1, 6))
def test_shapley_values_add_up_exactly(data: st.DataObject, n: int) -> None:
    values = data.draw(functions(n))
    everything = tuple(range(n))
    total = sum(answers.exact_shapley(game_of(values, n)))
    assert total == values[everything] - values[()]


@given(st.data(), st.integers(2, 4))
def test_qids_that_add_the_same_get_the_same_part(data: st.DataObject, n: int) -> None:
    values = data.draw(functions(n))
    swap = {0: n - 1, n - 1: 0}
    even = {s: F(values[s] + values[tuple(sorted(swap.get(i, i) for i in s))], 2) for s in values}
    parts = answers.exact_shapley(game_of(even, n, records=200))
    assert parts[0] == parts[-1]


@given(st.data(), st.integers(2, 4))
def test_a_qid_that_adds_nothing_gets_nothing(data: st.DataObject, n: int) -> None:
    values = data.draw(functions(n - 1))
    padded = {s: values[tuple(i for i in s if i < n - 1)] for s in subsets(n)}
    parts = answers.exact_shapley(game_of(padded, n))
    assert parts == [*shapley_by_orders(n - 1, values), 0]
    pairs = answers.exact_interactions(game_of(padded, n))
    assert all(index == 0 for (_, b), index in pairs.items() if b == n - 1)


def test_a_majority_of_three_is_shared_evenly() -> None:
    values = {s: F(len(s) >= 2) for s in subsets(3)}
    assert answers.exact_shapley(game_of(values, 3)) == [F(1, 3)] * 3


def test_without_any_leakage_there_is_no_share() -> None:
    frame = frame_of(["a", "b"], {CRS: (constant(2, F(0)), constant(2, F(1, 4)))})
    found = answers.shapley_values(frame, ["a", "b"])
    assert found["share"].to_list() == [None] * 4
    assert found["shapley"].to_list() == [0.0] * 4


# Values that are not counts over records: weights and gains


@given(st.data(), st.integers(1, 4))
def test_weighted_values_are_summed_as_the_floats_they_are(data: st.DataObject, n: int) -> None:
    numbers = st.just(0.0) | st.floats(1e-12, 1) | st.floats(-(10**6), -0.5) | st.floats(1, 10**6)
    drawn = data.draw(st.lists(numbers, min_size=2**n, max_size=2**n))
    values = {s: F(x) for s, x in zip(subsets(n), drawn, strict=True)}
    values[()] = F(0.1)  # no count over 7 records
    game = game_of(values, n, records=7)
    assert [game.value(mask(s)) for s in subsets(n)] == list(values.values())
    assert answers.exact_shapley(game) == shapley_by_orders(n, values)


@pytest.mark.parametrize("tiny", [5e-324, 1e-200, 1e300])
def test_values_of_very_different_sizes_still_add_up(tiny: float) -> None:
    values = {(): F(0), (0,): F(tiny), (1,): F(1, 3), (0, 1): F(float(max(F(1, 2), F(tiny))))}
    game = game_of(values, 2, records=7)
    assert sum(answers.exact_shapley(game)) == game.value(3) - game.value(0)
    assert float(game.value(3)) == float(values[0, 1])


def test_values_that_are_almost_counts_are_not_rounded_to_counts() -> None:
    values = {(): F(0), (0,): F(0.500000001)}
    assert game_of(values, 1).value(1) == values[0,]


def test_the_tiniest_values_do_not_fail() -> None:
    values = {(): F(0), (0,): F(5e-324)}
    game = game_of(values, 1)
    assert answers.exact_shapley(game) == [game.value(1)]


def test_the_largest_counts_add_up() -> None:
    values = {s: F(len(s) + 1, 8) for s in subsets(4)}
    assert answers.exact_shapley(game_of(values, 4, records=2**62)) == [F(1, 8)] * 4


def test_counts_of_a_nation_are_counts() -> None:
    records = 47_640_822
    values = {s: F(1 + 15_880_273 * len(s), records) for s in subsets(3)}
    game = game_of(values, 3, records=records)
    assert game.unit == records
    assert answers.exact_shapley(game) == [F(15_880_273, records)] * 3


@given(st.data(), st.integers(1, 4))
def test_counts_are_found_again_behind_an_error_in_the_last_digit(
    data: st.DataObject, n: int
) -> None:
    values = data.draw(functions(n))
    near = {
        s: F(math.nextafter(float(v), data.draw(st.sampled_from((0, 2)))))
        for s, v in values.items()
    }
    near |= {s: v for s, v in values.items() if not v}
    game = game_of(near, n)
    assert [game.value(mask(s)) for s in subsets(n)] == list(values.values())


# Interactions


@given(sweeps())
def test_interactions_are_of_two_as_one_less_each_alone(case: tuple[list[str], Sweep]) -> None:
    qids, sweep = case
    n = len(qids)
    rows = [
        (*key, qids[a], qids[b], float(interaction_by_orders(n, v, a, b)))
        for *key, v in flat(sweep)
        for a, b in combinations(range(n), 2)
    ]
    found = answers.interactions(frame_of(qids, sweep), qids)
    assert found.rows() == rows
    assert found.schema == result.INTERACTIONS


def test_two_qids_that_only_work_together_interact_fully() -> None:
    values = {s: F({0, 1} <= set(s)) for s in subsets(3)}
    found = answers.exact_interactions(game_of(values, 3))
    assert found == {(0, 1): 1, (0, 2): 0, (1, 2): 0}


# The best subset of each size


@given(sweeps(most=5))
def test_best_subsets_by_hand(case: tuple[list[str], Sweep]) -> None:
    qids, sweep = case
    rows = [(*q, *row) for q, values in sweep.items() for row in best_by_hand(qids, values)]
    frame = frame_of(qids, sweep)
    found = answers.best_subsets(frame, qids)
    assert found.select("model", "secret", "n_qids", "best_for", "qids").rows() == rows
    assert found.schema == result.BEST
    same = ["model", "secret", "subset"]
    whole_rows = found.join(frame, on=same, how="left", nulls_equal=True, maintain_order="left")
    assert found.drop("best_for").equals(whole_rows.select(found.drop("best_for").columns))


@given(sweeps(), st.randoms(use_true_random=False))
def test_best_subsets_of_some_do_not_depend_on_the_others(
    case: tuple[list[str], Sweep], chance: random.Random
) -> None:
    qids, sweep = case
    frame = frame_of(qids, sweep)
    some = frame.filter(pl.Series([chance.random() < 0.5 for _ in range(frame.height)]))
    found = answers.best_subsets(some, qids)
    for row in found.iter_rows(named=True):
        question = pl.col("model").eq(row["model"]) & pl.col("secret").eq_missing(row["secret"])
        rivals = some.filter(question, n_qids=row["n_qids"])
        for measure in MEASURES if row["best_for"] == "both" else (row["best_for"],):
            assert row[f"posterior_{measure}"] == rivals[f"posterior_{measure}"].max()
    sizes = ["model", "secret", "n_qids"]
    assert found.select(sizes).unique().height == some.select(sizes).unique().height


def test_ties_go_to_the_other_measure_and_then_to_the_first_qids() -> None:
    qids, none = ["z", "y", "x"], constant(3, F(0))
    bayes = none | {s: F(len(s) + 1, 5) for s in subsets(3)}
    first = answers.best_subsets(frame_of(qids, {CRS: (none, bayes)}), qids)
    assert first["qids"].to_list() == [["z"], ["z", "y"], ["z", "y", "x"]]
    certain = none | {(1,): F(1, 5), (2,): F(1, 5), (0, 2): F(1, 5), (1, 2): F(1, 5)}
    other = answers.best_subsets(frame_of(qids, {CRS: (certain, bayes)}), qids)
    assert other["qids"].to_list() == [["y"], ["z", "x"], ["z", "y", "x"]]
    assert other["best_for"].to_list() == ["both"] * 3


def test_there_are_two_rows_where_the_measures_differ() -> None:
    certain = {(): F(0), (0,): F(2, 10), (1,): F(1, 10), (0, 1): F(5, 10)}
    bayes = {(): F(1, 10), (0,): F(3, 10), (1,): F(4, 10), (0, 1): F(7, 10)}
    found = answers.best_subsets(frame_of(["a", "b"], {CRS: (certain, bayes)}), ["a", "b"])
    assert found.rows() == [
        ("CRS", None, 1, DETERMINISTIC, ["a"], 0.2, 0.2, 0.3, 3.0, 1),
        ("CRS", None, 1, PROBABILISTIC, ["b"], 0.1, 0.1, 0.4, 4.0, 2),
        ("CRS", None, 2, "both", ["a", "b"], 0.5, 0.5, 0.7, 7.0, 3),
    ]


# Borders


def border_rows(qids: Sequence[str], sweep: Sweep, threshold: float, measure: str) -> list[Any]:
    return [
        (*key, border, len(s), names(qids, s), float(v[s]), mask(s))
        for *key, v in flat(sweep)
        if key[-1] == measure
        for border, s in borders_by_hand(len(qids), v, threshold)
    ]


@given(
    sweeps(most=5, monotone=True),
    st.sampled_from((0.0, 0.01, 0.02, 0.03, 0.5, 1.0, 1.5)) | st.floats(0, 1),
    st.sampled_from(MEASURES),
)
def test_borders_by_hand(case: tuple[list[str], Sweep], threshold: float, measure: str) -> None:
    qids, sweep = case
    found = answers.borders(frame_of(qids, sweep), qids, threshold, measure)
    assert found.rows() == border_rows(qids, sweep, threshold, measure)
    assert found.schema == result.BORDERS


@given(microdata(), st.data())
def test_borders_of_a_table_at_exactly_a_value_of_its_own(
    case: tuple[list[str], Sweep, int], data: st.DataObject
) -> None:
    qids, sweep, records = case
    values = data.draw(st.sampled_from([v for *_, v in flat(sweep)]))
    threshold = float(data.draw(st.sampled_from(sorted(set(values.values())))))
    frame = frame_of(qids, sweep, records=records)
    for measure in MEASURES:
        found = answers.borders(frame, qids, threshold, measure)
        assert found.rows() == border_rows(qids, sweep, threshold, measure)


@pytest.mark.parametrize(
    ("threshold", "rows"),
    [
        (0.0, [("minimal risky", [], 0.25)]),
        (0.25, [("minimal risky", [], 0.25)]),
        (0.3, [("minimal risky", ["a"], 0.5), ("minimal risky", ["b"], 0.5)]),
        (0.5, [("minimal risky", ["a"], 0.5), ("minimal risky", ["b"], 0.5)]),
        (1.0, [("maximal safe", ["a", "b"], 0.75)]),
    ],
)
def test_the_empty_subset_is_on_a_border(threshold: float, rows: list[Any]) -> None:
    bayes = {(): F(1, 4), (0,): F(1, 2), (1,): F(1, 2), (0, 1): F(3, 4)}
    frame = frame_of(["a", "b"], {CRS: (constant(2, F(0)), bayes)}, records=4)
    found = answers.borders(frame, ["a", "b"], threshold)
    below = [("maximal safe", [], 0.25)] if 0.25 < threshold <= 0.5 else []
    assert found.select("border", "qids", "posterior").rows() == rows + below


# What to drop first


@given(sweeps(monotone=True))
def test_dropping_first_what_saves_most(case: tuple[list[str], Sweep]) -> None:
    qids, sweep = case
    n, everything = len(qids), tuple(range(len(qids)))
    rows = []
    for question, (certain, bayes) in sweep.items():
        parts = shapley_by_orders(n, bayes)
        without = [tuple(i for i in everything if i != a) for a in everything]
        ranked = sorted(everything, key=lambda a, b=bayes, w=without, p=parts: (b[w[a]], -p[a], a))
        for rank, a in enumerate(ranked, start=1):
            saved = [float(v[everything] - v[without[a]]) for v in (bayes, certain)]
            ends = (float(bayes[everything]), float(bayes[without[a]]))
            rows.append((*question, rank, qids[a], *ends, *saved, float(parts[a])))
    found = answers.drop_first(frame_of(qids, sweep), qids)
    assert found.rows() == rows
    assert found.schema == result.DROP_FIRST


def test_of_two_that_save_the_same_the_higher_shapley_value_goes_first() -> None:
    bayes = {(): F(1, 10), (0,): F(1, 10), (1,): F(3, 10), (2,): F(1, 10)}
    bayes |= {(0, 1): F(5, 10), (0, 2): F(5, 10), (1, 2): F(5, 10), (0, 1, 2): F(5, 10)}
    frame = frame_of(["a", "b", "c"], {CRS: (bayes, bayes)}, records=10)
    assert answers.drop_first(frame, ["a", "b", "c"])["qid"].to_list() == ["b", "a", "c"]


# All of them


def everything_of(frame: pl.DataFrame, qids: Sequence[str]) -> list[pl.DataFrame]:
    return [
        answers.best_subsets(frame, qids),
        answers.shapley_values(frame, qids),
        answers.interactions(frame, qids),
        answers.drop_first(frame, qids),
        *(answers.borders(frame, qids, t, m) for t in (0.02, 0.5) for m in MEASURES),
    ]


SCHEMAS = [result.BEST, result.SHAPLEY, result.INTERACTIONS, result.DROP_FIRST]


def test_one_quasi_identifier() -> None:
    values = ({(): F(0), (0,): F(1, 2)}, {(): F(1, 4), (0,): F(1, 2)})
    frame = frame_of(["a"], {CRS: values, ("CAS", "s"): values})
    best, shapley, interactions, drop_first, *borders = everything_of(frame, ["a"])
    assert best["best_for"].to_list() == ["both", "both"]
    assert shapley["shapley"].to_list() == [0.5, 0.25, 0.5, 0.25]
    assert shapley["share"].to_list() == [1.0] * 4
    assert interactions.equals(pl.DataFrame(schema=result.INTERACTIONS))
    assert drop_first["posterior_without"].to_list() == [0.25, 0.25]
    assert [found.height for found in borders] == [4, 2, 4, 4]


def test_a_sweep_without_rows_has_empty_answers() -> None:
    empty = pl.DataFrame(schema=COLUMNS)
    schemas = [*SCHEMAS, *[result.BORDERS] * 4]
    expected = [pl.DataFrame(schema=schema) for schema in schemas]
    assert all(a.equals(b) for a, b in zip(everything_of(empty, ["a"]), expected, strict=True))
    assert [a.schema for a in everything_of(empty, ["a"])] == schemas


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
@given(sweeps(monotone=True), st.integers(0, 100))
def test_answers_do_not_depend_on_the_order_of_subsets(
    case: tuple[list[str], Sweep], seed: int
) -> None:
    qids, sweep = case
    frames = [frame_of(qids, {question: values}) for question, values in sweep.items()]
    shuffled = pl.concat(f.sample(fraction=1, shuffle=True, seed=seed) for f in frames)
    pairs = zip(everything_of(pl.concat(frames), qids), everything_of(shuffled, qids), strict=True)
    assert all(a.equals(b) for a, b in pairs)


@pytest.mark.cases(1)
@given(sweeps(monotone=True))
def test_questions_do_not_mix(case: tuple[list[str], Sweep]) -> None:
    qids, sweep = case
    alone = [everything_of(frame_of(qids, {q: values}), qids) for q, values in sweep.items()]
    together = everything_of(frame_of(qids, sweep), qids)
    assert all(
        pl.concat(a).equals(b) for a, b in zip(zip(*alone, strict=True), together, strict=True)
    )


@given(sweeps(), st.data())
def test_a_sweep_is_whole_with_each_subset_once(
    case: tuple[list[str], Sweep], data: st.DataObject
) -> None:
    qids, sweep = case
    frame = frame_of(qids, sweep)
    assert answers.is_complete(frame, qids)
    row = data.draw(st.integers(0, frame.height - 1))
    assert answers.is_complete(frame.reverse(), qids)
    assert not answers.is_complete(pl.concat([frame, frame[row]]), qids)
    assert not answers.is_complete(frame, [*qids, "another"])
    less = frame.with_row_index().filter(pl.col("index") != row)
    question = frame[row].select("model", "secret")
    left = less.join(question, on=["model", "secret"], nulls_equal=True).height
    assert answers.is_complete(less, qids) is (
        left == 0 and less.height > 0
    )  # or its question is gone


def test_sixteen_quasi_identifiers_that_each_add_their_own() -> None:
    n, records = 16, 1_000_003
    qids = [f"q{i}" for i in range(n)]
    added = [1 + i * i for i in range(n)]  # V(S) = 1 + the sum of what each adds, over records
    bits = [((pl.col("subset") // 2**i) % 2) for i in range(n)]
    count = 1 + pl.sum_horizontal(bit * added[i] for i, bit in enumerate(bits))
    names = [pl.lit(None, dtype=dtype).alias(name) for name, dtype in COLUMNS.items()]
    frame = pl.select(*names).select(
        pl.exclude("subset"), subset=pl.int_range(1, 2**n, dtype=pl.UInt32).implode()
    )
    numbers = {f"posterior_{m}": count / records for m in MEASURES}
    numbers |= {f"prior_{m}": pl.lit(1 / records) for m in MEASURES}
    n_qids = pl.sum_horizontal(bits).cast(pl.Int64)
    frame = frame.explode("subset").with_columns(
        model=pl.lit("CRS"), records=pl.lit(records), n_qids=n_qids, **numbers
    )
    assert answers.is_complete(frame, qids)
    parts = [F(a, records) for a in added]
    for game in games(frame):
        assert answers.exact_shapley(game) == parts
    assert set(answers.interactions(frame, qids)["interaction"]) == {0.0}
    assert answers.drop_first(frame, qids)["qid"].to_list() == qids[::-1]
    best = answers.best_subsets(frame, qids)
    assert best["qids"].to_list() == [qids[n - size :] for size in range(1, n + 1)]
    borders = answers.borders(frame, qids, 600 / records)
    reached = borders["posterior"] >= 600 / records
    assert (reached == (borders["border"] == "minimal risky")).all()
    assert not borders.select("border", "subset").is_duplicated().any()


@given(st.lists(st.tuples(st.integers(0, 31), st.booleans()), max_size=8), st.integers(0, 31))
def test_what_follows_from_risky_and_safe_subsets(
    told: list[tuple[int, bool]], subset: int
) -> None:
    sides = KnownSubsets(5)
    for known, risky in told:
        sides.learn(known, risky=risky)
    if any(risky and known & subset == known for known, risky in told):
        assert sides.conclude(subset) is True
    elif any(not risky and known & subset == subset for known, risky in told):
        assert sides.conclude(subset) is False
    else:
        assert sides.conclude(subset) is None


@pytest.mark.cases(2)
@pytest.mark.parametrize("odd", [True, False])
def test_a_missing_value_is_in_no_pair_of_coarser_values(*, odd: bool) -> None:
    """(1, 2) (3) (missing), or (1, 2) (3, 4) (missing); so for the first and for a later column."""
    values = [1, 2, 3, None] if odd else [1, 2, 3, 4, None]
    rows = [(v, b) for v in values for b in (1, 2, 3)] + [(None, 1)]
    people = pl.DataFrame(rows, schema={"a": pl.Int64, "b": pl.Int64}, orient="row")
    more = pl.DataFrame(
        {"b": [1] * len(values), "a": values}, schema={"b": pl.Int64, "a": pl.Int64}
    )
    for frame in (people, people.select("b", "a"), more):
        (row,) = sweep(frame, qids=["a", "b"]).details["coarsen_first"].rows(named=True)[:1]
        merged = pl.col("a").add(1).floordiv(2) if row["qid"] == "a" else pl.col("b").add(1) // 2
        of = frame.with_columns(merged.alias(row["qid"])).unique().height
        assert row["posterior_coarser"] == of / frame.height
        assert row["values_coarser"] == (3 if row["qid"] == "a" else frame["b"].n_unique() // 2 + 1)


@pytest.mark.slow(because="1.5 s each; every recorded mutant dies without it")
def test_coarser_values_are_counted_anew_in_every_pass(tmp_path: Path) -> None:
    """A secret of many values has a pass of its own; what merging pairs leaves is counted."""
    draw = random.Random(3)
    values, qids = {"a": 12, "b": 5, "c": 7, "d": 3, "s": 2, "many": 60}, ["a", "b", "c", "d"]
    rows = [{name: draw.randrange(n) for name, n in values.items()} for _ in range(2000)]
    pl.DataFrame(rows).write_parquet(tmp_path / "people.parquet")
    swept = sweep(tmp_path / "people.parquet", qids=qids, secret=["s", "many"])
    told = swept.details["coarsen_first"].rows(named=True)
    assert {row["secret"] for row in told} == {None, "s", "many"}
    assert {row["qid"] for row in told} == set(qids)
    for row in told:
        blocks: dict[tuple[int, ...], Counter[int]] = {}
        for number, one in enumerate(rows):
            block = tuple(one[q] // (1 + (q == row["qid"])) for q in qids)
            guess = one[row["secret"]] if row["secret"] else number
            blocks.setdefault(block, Counter())[guess] += 1
        right = sum(max(own.values()) for own in blocks.values())
        assert row["posterior_coarser"] == right / len(rows)
        assert row["saved"] == pytest.approx(row["posterior_all"] - right / len(rows), abs=1e-15)
