"""Random samples of ``dp``: every number against the oracle, and intervals that cover."""

import json
import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import oracle_noise as oracle
import polars as pl
import pytest
from terminal import run

import qifsql
from qifsql.commands.dp import random_samples as samples
from qifsql.commands.dp.count import Counts, Extent
from qifsql.commands.dp.epsilons import parse
from qifsql.commands.dp.tradeoff import tradeoff_rows
from qifsql.errors import InputError
from qifsql.measures.intervals import range_of_next

PEOPLE = [(0, "a"), (0, "b"), (1, "b"), (1, "c"), (2, "c"), (2, "c"), (2, "a"), (0, "b")]
(EPSILON,) = parse("ln 3")
ASKED: dict[str, Any] = {
    "useful": "u", "predicate": "u = 1", "secret": "s", "epsilon": "ln 3",
}  # fmt: skip


def counts() -> Counts:
    """The counts of PEOPLE, by hand; the predicate is that the useful value is 1."""
    codes = {"a": 1, "b": 2, "c": 3}
    cells = sorted(Counter((u, int(u == 1), codes[s]) for u, s in PEOPLE).items())
    useful = Counter(u for u, _ in PEOPLE)
    return Counts(
        Extent(8, 3, 3, len(cells), 0),
        (),
        {0: 6, 1: 2},
        {},
        tuple(useful[u] for u in range(3)),
        (0, 1, 0),
        population=tuple((*cell, n) for cell, n in cells),
    )


def measured(data: Counts) -> list[dict[str, Any]]:
    weigh = partial(tradeoff_rows, data, EPSILON, answers=1, budget="split", delta=0.0)
    return [row for mechanism in ("oblivious", "local") for row in weigh(mechanism)]


def counted(data: Counts) -> Iterator[dict[str, Any]]:
    return iter(measured(data))


def expected(data: list[tuple[int, Any]]) -> list[float]:
    """Loss and utility of both mechanisms, by the oracle: noise moves between 0, 1 and 2."""
    alpha = Fraction(1, 3)
    kernel = oracle.on_values(oracle.geometric(2, alpha), range(3))
    joints = (
        oracle.oblivious(data, [lambda u: u == 1], alpha),
        oracle.recursive(data, lambda u: u == 1, kernel),
    )
    return [float(x) for j in joints for x in (oracle.loss(data, j), oracle.vulnerability(j, 1))]


def test_each_sample_is_measured_as_the_oracle_measures_it() -> None:
    for lot in range(12):
        drawn = samples.draw(counts(), 3, str(lot))
        records = [
            (place, number)
            for number, cells in enumerate(drawn.kinds)
            for place, _, n in cells
            for _ in range(n)
        ]
        if len(records) < 3:  # two values of the secret with the same cells are one kind
            continue
        found = [row[name] for row in measured(drawn) for name in samples.MEASURES]
        assert found == pytest.approx(expected(records), rel=1e-12)


def test_all_samples_of_a_size_are_equally_likely() -> None:
    lots = 6_000
    drawn = Counter(tuple(samples.draw(counts(), 2, f"{lot}").people) for lot in range(lots))
    sets = Counter(
        tuple(sum(PEOPLE[i][0] == u for i in pair) for u in range(3))
        for pair in combinations(range(8), 2)
    )
    assert drawn.keys() == sets.keys()
    for people, n in sets.items():
        p = n / 28
        assert abs(drawn[people] / lots - p) < 4 * (p * (1 - p) / lots) ** 0.5


def test_the_interval_of_the_mean_covers_that_of_all_samples() -> None:
    """The mean of all 56 samples of 3 of the 8 people, by the oracle."""
    of_all = [expected([PEOPLE[i] for i in chosen]) for chosen in combinations(range(8), 3)]
    means = [sum(column) / len(of_all) for column in zip(*of_all, strict=True)]
    covered = [0] * 4
    whole = measured(samples.draw(counts(), 8, ""))
    for seed in range(60):
        lots = [f"{seed}/{i}" for i in range(40)]
        table = samples.sample_rows(counts(), lots, 3, measure_counts=counted, all_data=whole)
        for i, row in enumerate(table.to_dicts()):
            covered[i] += row["mean_low"] <= means[i] <= row["mean_high"]
            assert row["low"] <= row["mean"] <= row["high"]
            assert row["mean_low"] < row["mean"] < row["mean_high"]
    assert min(covered) >= 57  # 95 %


@pytest.mark.parametrize("n", [39, 100])
def test_a_further_draw_is_in_the_range(n: int) -> None:
    lots, inside = random.Random(7), 0
    for _ in range(4_000):
        values = [lots.expovariate(1) ** 3 for _ in range(n + 1)]
        low, high = range_of_next(values[:-1]) or (0, 0)
        inside += low <= values[-1] <= high
    assert inside / 4_000 > 0.95 - 0.009
    assert range_of_next(values[:38]) is None


def test_the_command_gives_means_and_ranges_of_the_same_samples(tmp_path: Path) -> None:
    file = tmp_path / "people.parquet"
    pl.DataFrame(PEOPLE, ["u", "s"], orient="row").write_parquet(file)
    first = qifsql.dp(file, **ASKED, samples=40, sample_size=3)
    lots = [f"0/{i}" for i in range(40)]
    whole = [{**row} for row in first.frame.to_dicts()]
    table = samples.sample_rows(counts(), lots, 3, measure_counts=counted, all_data=whole)
    assert first.details["samples"].equals(table)
    assert first.details["samples"]["all_data"].to_list() == pytest.approx(expected(PEOPLE))
    words = ["dp", file, "--useful", "u", "--predicate", "u = 1", "-s", "s", "--epsilon", "ln 3"]
    asked = ["--samples", "40", "--sample-size", "3", "--seed", "0"]
    told = json.loads(run(*words, *asked, "-f", "json").out)
    assert told["samples"] == table.to_dicts()
    assert (told["spec"]["samples"], told["spec"]["sample_size"]) == (40, 3)
    again = qifsql.dp(file, **ASKED, samples=40, sample_size=3, settings=qifsql.Settings(seed=1))
    assert not again.details["samples"].equals(table)
    assert (
        qifsql.dp(file, **ASKED, samples=2).details["samples"]["sample_size"].unique().item() == 4
    )
    shown = " ".join(run(*words, *asked, "-f", "table").out.split())
    assert "40 random samples of 3 records" in shown


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"samples": 1}, "a whole number from 2 to 10,000"),
        ({"samples": 2.5}, "whole numbers"),
        ({"samples": 5, "sample_size": 2.5}, "whole numbers"),
        ({"sample_size": 3}, "needs their number"),
        ({"samples": 5, "sample_size": 9}, "from 1 to 8 records"),
        ({"samples": 5, "sample_size": 0}, "from 1 to 8 records"),
    ],
)
def test_impossible_samples_are_refused(tmp_path: Path, wrong: dict[str, Any], says: str) -> None:
    file = tmp_path / "people.parquet"
    pl.DataFrame(PEOPLE, ["u", "s"], orient="row").write_parquet(file)
    with pytest.raises(InputError, match=says):
        qifsql.dp(file, **ASKED, **wrong)
