"""Every way through the data gives the same results: chunks, splits, walk, roll-up."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from test_sweep import (
    Release,
    expected,
    expected_histogram,
    found,
    grouped,
    masks,
    members,
    parquet,
    releases,
    same,
)

import qifsql
from qifsql import Settings
from qifsql.commands.sweep import kernel_arrays, tables
from qifsql.commands.sweep import walk as walks
from qifsql.commands.sweep.layout import MOST_COUNTED, MOST_COUNTERS, WORD_BITS
from qifsql.commands.sweep.walk import Choice

LASTS = 0.7  # of the times that a hesitant choice is asked


class Patience(float):
    """Seconds that are enough when they say so, whatever the clock says."""

    lasts: Callable[[], bool]

    def __ge__(self, _seconds: float) -> bool:
        return self.lasts()


def deciding(walks: Callable[[], bool], lasts: Callable[[], bool]) -> type[Choice]:
    """A choice that does not look at the clock; it walks where it may not roll up."""

    class Decided(Choice):
        def __init__(self, left: int, *, may_roll: bool, **others: Any) -> None:
            super().__init__(left, may_roll=may_roll, **others)
            self.may_roll = may_roll

        def should_walk(self) -> bool:
            return not self.may_roll or walks()

        def time_limit(self, _rows: int) -> float:
            patience = Patience()
            patience.lasts = lambda: not self.may_roll or lasts()
            return patience

    return Decided


def choices(rng: random.Random) -> dict[str, type[Choice]]:
    """The ways: always one, always the other, or undecided, giving up half-way now and then."""
    return {
        "walk": deciding(lambda: True, lambda: True),
        "roll up": deciding(lambda: False, lambda: True),
        "hesitant": deciding(lambda: rng.random() < 0.5, lambda: rng.random() < LASTS),
    }


@pytest.fixture
def patch() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def force(
    patch: pytest.MonkeyPatch, choice: str, *, chunk: int, giant: int = 10**9, seed: int = 0
) -> None:
    """Chunks of so many rows; so many of them are a giant, and for all threads at once."""
    patch.setattr(walks, "Choice", choices(random.Random(seed))[choice])
    patch.setattr(tables, "CHUNK_ROWS", chunk)
    patch.setattr(tables, "GIANT_CHUNKS", giant)
    patch.setattr(tables, "HEAVY_ROWS", chunk * giant)


def methods(result: qifsql.Sweep) -> set[str]:
    """The ways in which chunks were settled; the compiled walk is a walk."""
    return set(result.details["plan"]["method"].drop_nulls().replace("compiled", "walk"))


@dataclass(frozen=True)
class Way:
    """A way through the data: how it chooses, how large chunks are, how many make a giant."""

    choice: str
    chunk: int
    giant: int
    threads: int
    seed: int


WAYS = st.builds(
    Way,
    choice=st.sampled_from(("walk", "roll up", "hesitant")),
    chunk=st.integers(1, 12),
    giant=st.sampled_from((1, 2, 4, 10**9)),
    threads=st.integers(1, 3),
    seed=st.integers(0, 99),
)


@pytest.mark.slow(because="1.0 s each; every recorded mutant dies without it")
@settings(max_examples=examples(12))
@given(releases(most=4, rows=24), WAYS)
def test_no_way_through_the_data_changes_a_number(drawn: Release, way: Way) -> None:
    with parquet(drawn.table) as path, pytest.MonkeyPatch.context() as patch:
        force(patch, way.choice, chunk=way.chunk, giant=way.giant, seed=way.seed)
        result = qifsql.sweep(
            path,
            qids=drawn.qids,
            secret=drawn.secrets,
            histogram=True,
            settings=Settings(threads=way.threads),
        )
    same(found(result), expected(drawn.rows, drawn.qids, drawn.secrets))
    wanted = expected_histogram(drawn.rows, drawn.qids, drawn.secrets)
    same(result.details["histogram"], wanted)
    assert methods(result) <= ({"walk", "roll up"} if way.choice == "hesitant" else {way.choice})


@pytest.mark.slow(because="1.8 s each; every recorded mutant dies without it")
@settings(max_examples=examples(6))
@given(
    releases(most=5, rows=30),
    st.integers(1, 5),
    st.integers(1, 5),
    st.sampled_from((1, 2, 10**9)),
)
def test_no_way_through_the_data_changes_which_sizes_there_are(
    drawn: Release, one: int, other: int, giant: int
) -> None:
    n = len(drawn.qids)
    least, most = sorted((min(one, n), other))
    wanted = [mask for mask in masks(n) if least <= mask.bit_count() <= most]
    with parquet(drawn.table) as path, pytest.MonkeyPatch.context() as patch:
        force(patch, "walk", chunk=5, giant=giant)
        result = qifsql.sweep(path, qids=drawn.qids, secret=drawn.secrets, sizes=f"{least}-{most}")
    same(found(result), expected(drawn.rows, drawn.qids, drawn.secrets, wanted))


@pytest.mark.slow(because="one level of splitting stays")
@pytest.mark.parametrize("way", ["walk", "roll up"])
def test_frequent_values_are_split_off_one_inside_the_other(
    tmp_path: Path, patch: pytest.MonkeyPatch, way: str
) -> None:
    rng = random.Random(7)
    path, workspace = tmp_path / "release.parquet", tmp_path / "kept.sweep"
    rows = [
        {
            "a": rng.choice((0, 0, 0, 0, 0, 0, 1, 2, 3)),
            "b": rng.choice((0, 0, 0, 0, 0, 0, 0, 1, 2, None)),
            "c": rng.choice("xxxxxxy"),
            "d": rng.choice("uuuv"),
            "few": rng.choice((1, 2, None)),
            "many": rng.randrange(12),
        }
        for _ in range(120)
    ]
    pl.DataFrame(rows).write_parquet(path)
    force(patch, way, chunk=4, giant=5)
    result = qifsql.sweep(path, qids=[*"abcd"], secret=["few", "many"], workspace=workspace)
    same(found(result), expected(rows, [*"abcd"], ["few", "many"]))
    with duckdb.connect(workspace, read_only=True) as kept:
        tasks = kept.sql("SELECT kind, source, position, state FROM tasks").fetchall()
    splits = [task for task in tasks if task[0] == "split"]
    assert any(state for _, _, _, state in splits)  # inside what was split off before
    assert max(source.count("_") for _, source, _, _ in tasks) > 1
    assert methods(result) == {way}


# Codes and counters of any width.


def wide(n: int, values: int, others: int, *, seed: int = 1) -> pl.DataFrame:
    """People who are unique by each of n columns, and others who share a few of the values."""
    rng = random.Random(seed)
    shared = (0, values // 2, values - 1)
    columns = {
        f"q{i}": [*rng.sample(range(values), values), *rng.choices(shared, (4, 1, 1), k=others)]
        for i in range(n)
    }
    people = values + others
    secrets = {
        "few": [rng.choice((True, False, None)) for _ in range(people)],
        "many": [rng.randrange(16) for _ in range(people)],
    }
    return pl.DataFrame(columns | secrets)


@pytest.mark.slow(because="21.0 s; every recorded mutant dies without it")
@pytest.mark.parametrize(
    ("size", "way"),
    [
        ((9, 256, 250), "walk"),  # 64 bits after the first column, 72 with it; with a secret 68
        ((9, 256, 200), "roll up"),
        ((7, 1100, 200), "hesitant"),  # 66 and 77
    ],
)
def test_codes_may_be_wider_than_a_machine_word(
    tmp_path: Path, patch: pytest.MonkeyPatch, size: tuple[int, int, int], way: str
) -> None:
    path = tmp_path / "release.parquet"
    wide(*size).write_parquet(path)
    force(patch, way, chunk=280, giant=1)
    qids = [f"q{i}" for i in range(size[0])]
    result = qifsql.sweep(path, qids=qids, secret=["few", "many"])
    same(found(result), grouped(path, qids, ["few", "many"]))


@pytest.mark.slow(because="counters that fill several words stay")
@pytest.mark.parametrize(("n", "secret"), [(11, "few"), (11, "many"), (12, "few")])
def test_codes_may_fill_all_bits_there_are_and_more(tmp_path: Path, n: int, secret: str) -> None:
    values = 1100  # 121 bits, 125 with the secret, 132
    path = tmp_path / "release.parquet"
    frame = wide(n, values, 100)
    frame.write_parquet(path)
    qids = [f"q{i}" for i in range(n)]
    rng = random.Random(n)
    wanted = [*(1 << i for i in range(0, n, 5)), *rng.sample(range(1, 2**n), 4), 2**n - 1]
    wanted = sorted(set(wanted), key=lambda mask: (mask.bit_count(), mask))
    listed = ["+".join(members(mask, qids)) for mask in wanted]
    result = qifsql.sweep(path, qids=qids, secret=secret, subsets=listed)
    same(found(result), expected(frame.to_dicts(), qids, [secret], wanted))


@pytest.mark.slow(because="eleven are swept in every run of the reference results")
def test_eighteen_quasi_identifiers_are_swept(tmp_path: Path, patch: pytest.MonkeyPatch) -> None:
    rng = random.Random(18)
    path = tmp_path / "release.parquet"
    qids = [f"q{i}" for i in range(18)]
    rows = [
        {qid: rng.choice((0, 1, 2, None)[: 1 + i % 4]) for i, qid in enumerate(qids)}
        | {"few": rng.choice("abc"), "many": person % 10}
        for person in range(12)
    ]
    pl.DataFrame(rows).write_parquet(path)
    secrets = ["few", "many"]
    force(patch, "walk", chunk=64)  # an eighth of that where so many are known
    for sizes, least, most in (("2", 2, 2), ("17-18", 17, 18)):
        wanted = [mask for mask in range(1, 2**18) if least <= mask.bit_count() <= most]
        wanted.sort(key=lambda mask: (mask.bit_count(), mask))
        result = qifsql.sweep(path, qids=qids, secret=secrets, sizes=sizes)
        same(found(result), expected(rows, qids, secrets, wanted))


@pytest.mark.cases(1)
@pytest.mark.parametrize("people", [63, 5000])
def test_counters_may_fill_several_words(
    tmp_path: Path, patch: pytest.MonkeyPatch, people: int
) -> None:
    rng = random.Random(people)
    path = tmp_path / "release.parquet"
    values = {
        "a": MOST_COUNTED,
        "b": MOST_COUNTED,
        "c": MOST_COUNTED,
        "d": MOST_COUNTED,
        "e": 2,
        "f": 1,
    }
    assert sum(values[name] - 1 for name in "abc") <= MOST_COUNTERS
    assert WORD_BITS // people.bit_length() < 1 + 22
    frame = pl.DataFrame(
        {
            **{f"q{i}": rng.choices(range(1 + i), k=people) for i in range(4)},
            **{
                name: rng.sample([*range(n), *rng.choices(range(n), k=people - n)], people)
                for name, n in values.items()
            },
        }
    )
    frame.write_parquet(path)
    force(patch, "hesitant", chunk=40, giant=5, seed=people)
    result = qifsql.sweep(path, qids=["q0", "q1", "q2", "q3"], secret=[*values])
    same(found(result), grouped(path, ["q0", "q1", "q2", "q3"], [*values]))


@pytest.mark.slow(because="3.8 s; every recorded mutant dies without it")
@pytest.mark.parametrize("share", [1, 2**40])
def test_tables_that_are_too_small_at_first_lose_nothing(
    tmp_path: Path, patch: pytest.MonkeyPatch, walk: str, share: int
) -> None:
    rng = random.Random(8)
    columns = {"a": 40, "b": 3, "c": 4, "d": 2, "e": 30, "ill": 2, "job": 3}
    path = tmp_path / "people.parquet"
    rows = [{c: rng.randrange(n) for c, n in columns.items()} for _ in range(4000)]
    pl.DataFrame(rows).write_parquet(path)
    patch.setattr(kernel_arrays, "FIRST_LARGE", 1)
    patch.setattr(kernel_arrays, "FIRST_KINDS", 4)
    patch.setattr(
        kernel_arrays, "PEOPLE_SHARE", share
    )  # of the memory, for the people of single subsets
    qids, secrets = list("abcde"), ["ill", "job"]
    whole = qifsql.sweep(path, qids=qids, secret=secrets, histogram=True)
    wanted = grouped(path, qids, secrets)
    same(found(whole), wanted)
    subsets = ["+".join(members(mask, qids)) for mask in masks(5)]
    listed = qifsql.sweep(path, qids=qids, secret=secrets, subsets=subsets, histogram=True)
    same(found(listed), wanted)
    same(listed.details["histogram"], whole.details["histogram"])
    ways = workspace_methods(path, qids, secrets, subsets, tmp_path / "w")
    held = walk == "compiled" and share == 1
    assert ways == ({"compiled", "group"} if held else {"group"})


def workspace_methods(
    path: Path, qids: list[str], secrets: list[str], subsets: list[str], file: Path
) -> set[str]:
    """The ways in which the subsets of a list were settled."""
    qifsql.sweep(path, qids=qids, secret=secrets, subsets=subsets, workspace=file)
    with duckdb.connect(file, read_only=True) as con:
        return {m for (m,) in con.execute("SELECT DISTINCT method FROM done").fetchall()} - {"drop"}
