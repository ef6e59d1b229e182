"""Unicity against sets of points written out one by one (de Montjoye et al., M64)."""

import hashlib
import itertools
import json
import math
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from draws import SHAPES, unicity_coverage
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from terminal import run

import qifsql
from qifsql.commands.unicity import traces, unicity
from qifsql.commands.unicity.traces import wilson_interval
from qifsql.commands.unicity.unicity import UNICITY
from qifsql.errors import ColumnError, DatasetError, InputError

Point = tuple[str | None, int | None]
Trails = Mapping[str, frozenset[Point]]


def trails_of(log: list[tuple[str | None, str | None, int | None]]) -> Trails:
    found: dict[str, set[Point]] = defaultdict(set)
    for key, *point in log:
        if key is not None:
            found[key].add((point[0], point[1]))
    return {key: frozenset(points) for key, points in found.items()}


def single(points: frozenset[Point], everybody: Trails) -> bool:
    """Return whether one person alone has all these points."""
    return sum(points <= other for other in everybody.values()) == 1


def exact(everybody: Trails, known: int) -> tuple[int, Fraction | None]:
    """Return who has so many points, and the mean share of their sets that are theirs alone."""
    shares = []
    for points in everybody.values():
        if len(points) >= known:
            sets = [frozenset(s) for s in itertools.combinations(points, known)]
            shares.append(Fraction(sum(single(s, everybody) for s in sets), len(sets)))
    return len(shares), sum(shares, Fraction()) / len(shares) if shares else None


def drawn(everybody: Trails, known: int, draws: int, seed: int) -> int:
    """The draws as the documentation of ``unicity`` says."""
    eligible = sorted((k for k, v in everybody.items() if len(v) >= known), key=str.encode)
    right = 0
    for draw in range(draws):
        lot = f"{seed}/{known}/{draw}"
        number = int.from_bytes(hashlib.md5(lot.encode()).digest(), "little")
        points = everybody[eligible[number % len(eligible)]]
        order = sorted(
            points,
            key=lambda p: [(v is None, v.encode() if isinstance(v, str) else v or 0) for v in p],
        )
        lots = sorted(
            (hashlib.md5(f"{lot}/{i}".encode()).hexdigest(), p) for i, p in enumerate(order, 1)
        )
        right += single(frozenset(p for _, p in lots[:known]), everybody)
    return right


LOGS = st.lists(
    st.tuples(
        st.sampled_from([None, "a", "b", "B", "", "é"]),
        st.sampled_from([None, "x", "y", "'", " x"]),
        st.sampled_from([None, 1, 2, -1]),
    ),
    min_size=1,
    max_size=16,
).filter(lambda log: any(key is not None for key, *_ in log))


def write(path: Path, log: list[Any]) -> Path:
    schema = {"who": pl.String, "place": pl.String, "n": pl.Int64}
    pl.DataFrame(log, schema=schema, orient="row").write_parquet(path)
    return path


@settings(max_examples=examples(20))
@given(LOGS)
def test_unicity_is_the_share_of_sets_that_nobody_else_has(
    tmp_path_factory: pytest.TempPathFactory, log: list[Any]
):
    file = write(tmp_path_factory.mktemp("u") / "log.parquet", log)
    done = qifsql.unicity(file, person="who", qids=["place", "n"], points=[1, 2, 3])
    assert done.frame.schema == UNICITY
    everybody = trails_of(log)
    assert set(done.frame["all_people"]) == {len(everybody)}
    for known, row in zip((1, 2, 3), done.frame.iter_rows(named=True), strict=True):
        people, share = exact(everybody, known)
        assert row["people"] == people
        if share is None:
            assert row["unicity"] is None
        else:
            assert row["method"] == "exact"
            assert row["unicity"] == pytest.approx(float(share), rel=1e-15)


@settings(max_examples=examples(15))
@given(LOGS, st.integers(0, 99), st.integers(1, 3))
def test_draws_are_those_that_are_documented(
    tmp_path_factory: pytest.TempPathFactory, log: list[Any], seed: int, known: int
):
    everybody = trails_of(log)
    if exact(everybody, known)[0] == 0:
        return
    file = write(tmp_path_factory.mktemp("u") / "log.parquet", log)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unicity, "MOST_SETS", -1)
        done = qifsql.unicity(
            file, person="who", qids=["place", "n"], points=known, draws=20, seed=seed
        )
    row = done.frame.row(0, named=True)
    right = drawn(everybody, known, 20, seed)
    assert (row["unicity"], row["method"], row["draws"]) == (right / 20, "sampled", 20)
    assert (row["low"], row["high"]) == wilson_interval(right, 20)


def test_an_interval_of_draws_holds_what_is_exact(tmp_path: Path):
    log = [(f"p{i * i % 97}", f"{i * 7 % 31}", i % 5) for i in range(3000)]
    file = write(tmp_path / "log.parquet", log)
    truth = qifsql.unicity(file, person="who", qids=["place", "n"], points=[1, 2]).frame
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unicity, "MOST_SETS", -1)
        held = 0
        for seed in range(5):
            row = qifsql.unicity(
                file, person="who", qids=["place", "n"], points=2, draws=2000, seed=seed
            ).frame.row(0, named=True)
            held += row["low"] <= truth["unicity"][1] <= row["high"]
    assert held >= 4


def test_wilsons_interval_is_the_published_one():
    """Newcombe 1998, Table I, method 4: 81 of 263, 15 of 148, 0 of 20, 1 of 29."""
    published = {
        (81, 263): (0.2535, 0.3682),
        (15, 148): (0.0598, 0.1644),
        (0, 20): (0.0000, 0.2005),
        (1, 29): (0.0018, 0.1963),
    }
    for (right, draws), interval in published.items():
        assert wilson_interval(right, draws) == pytest.approx(interval, abs=5e-5)
    assert wilson_interval(20, 20)[1] == 1


@pytest.mark.parametrize("draws", [1, 2, 20, 300])
def test_an_interval_of_draws_holds_every_share_nearly_as_often_as_it_says(draws: int):
    """By the binomial law, next to the ends of the intervals, where it holds it least often."""
    ends = [wilson_interval(right, draws) for right in range(draws + 1)]
    logs = [math.lgamma(k + 1) for k in range(draws + 1)]
    shares = {end + step for pair in ends for end in pair for step in (-1e-9, 1e-9)}
    for share in sorted(x for x in shares if 0 < x < 1):
        held = [k for k, (low, high) in enumerate(ends) if low <= share <= high]
        chances = (
            logs[draws] - logs[k] - logs[draws - k] + k * math.log(share)
            + (draws - k) * math.log1p(-share)
            for k in held
        )  # fmt: skip
        assert math.fsum(map(math.exp, chances)) >= 0.945


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_an_interval_of_draws_holds_what_is_exact_for_a_thousand_seeds(shape: str):
    assert unicity_coverage(shape, range(1000))["held"] >= 0.93


def test_order_of_rows_and_threads_change_nothing(tmp_path: Path):
    log = [(f"p{i * i % 997}", f"{i * 7 % 311}", i % 50) for i in range(30_000)]
    found = []
    for order, threads in ((1, 1), (-1, 2)):
        file = write(tmp_path / "log.parquet", log[::order])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(unicity, "MOST_SETS", 300_000)
            done = qifsql.unicity(
                file,
                person="who",
                qids=["place", "n"],
                points=(1, 2, 4),
                draws=500,
                settings=qifsql.Settings(threads=threads, memory="300MB"),
            )
        found.append(done.frame.rows())
    assert found[0] == found[1]
    assert [row[5] for row in found[0]][0::2] == ["exact", "sampled"]


def test_coarser_points_single_out_fewer(tmp_path: Path):
    """Alice and Bob are told apart by the minute, not by the hour and the first letter."""
    at = datetime(2020, 1, 1, 10)
    rows = [("alice", at, "xa"), ("bob", at + timedelta(minutes=5), "xb")]
    file = tmp_path / "log.parquet"
    pl.DataFrame(rows, schema=["who", "time", "place"], orient="row").write_parquet(file)
    fine = qifsql.unicity(file, person="who", qids=["time", "place"], points=1).frame
    coarse = qifsql.unicity(file, person="who", qids=["time:hour", "place:1"], points=1)
    assert (fine["unicity"][0], coarse.frame["unicity"][0]) == (1.0, 0.0)
    assert coarse.spec["qids"] == ["time:hour", "place:1"]


@pytest.mark.parametrize(
    ("options", "kind", "says"),
    [
        ({"person": "whom"}, ColumnError, 'did you mean "who"?'),
        ({"qids": ["time"]}, ColumnError, "is not in log.parquet"),
        ({"qids": []}, ColumnError, "no quasi-identifiers"),
        ({"qids": ["n:x"]}, InputError, "as in n:5"),
        ({"qids": ["place:0"]}, InputError, "as in place:3"),
        ({"points": []}, InputError, "whole numbers from 1 to 20"),
        ({"points": 0}, InputError, "whole numbers from 1 to 20"),
        ({"points": [21]}, InputError, "whole numbers from 1 to 20"),
        ({"points": [1, 1]}, InputError, "given twice"),
        ({"points": [True]}, InputError, "whole numbers"),
        ({"draws": 0}, InputError, "draws are a whole number"),
        ({"seed": -1}, InputError, "invalid seed"),
        ({"where": "n > 100"}, DatasetError, "no records under the filter"),
        ({"where": "who IS NULL"}, DatasetError, "no record of log.parquet has a person"),
    ],
)
def test_bad_input_is_an_error_that_says_what_to_do(
    tmp_path: Path, options: dict[str, Any], kind: type[Exception], says: str
):
    file = write(tmp_path / "log.parquet", [("a", "x", 1), (None, "y", 2)])
    with pytest.raises(kind) as e:
        qifsql.unicity(file, **({"person": "who", "qids": ["place"]} | options))
    assert says in str(e.value)


def test_draws_that_would_look_at_too_many_people_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = write(tmp_path / "log.parquet", [(f"{i}", "x", i % 2) for i in range(10)])
    monkeypatch.setattr(unicity, "MOST_SETS", -1)
    monkeypatch.setattr(traces, "MOST_SUSPECTS", 5)
    with pytest.raises(InputError, match="or less coarse points"):
        qifsql.unicity(file, person="who", qids=["place"], points=1)


def test_the_command_prints_what_the_function_gives(tmp_path: Path):
    log = [("a", "x", 1), ("a", "y", 1), ("b", "x", 1), (None, "z", 1)]
    file = write(tmp_path / "log.parquet", log)
    asked = ("unicity", file, "--person", "who", "-q", "place,n", "--points", "1,2,3")
    document = json.loads(run(*asked, "--format", "json").out)
    assert [row["unicity"] for row in document["results"]] == [0.25, 1.0, None]
    assert document["spec"]["points"] == [1, 2, 3]
    table = run(*asked, "--format", "table")
    assert "nobody has that many" in table.out
    assert "between" not in table.out
    assert "1 record without a person are left out" in table.err
    assert "records are counted" not in table.err
    assert {row["unit"] for row in document["results"]} == {"people"}
    assert run(*asked[:-1], "a,b").code == 2
