"""Records and blocks through the product equal the oracle, row by row and in order."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from partitions import MASS, near, parquet
from strategies import NAMES, Table, tables, weights

import qifsql
from qifsql.commands.inspect.blocks import USUAL_LIMIT, Order
from qifsql.query.columns import unique
from qifsql.reference import microdata
from qifsql.reference import success as oracle

EVERY = 100  # more blocks than any drawn table has


# One row per record.


# One row per block.


def expected_blocks(
    drawn: Table, secrets: Sequence[str], masses: Sequence[Any] | None
) -> list[dict[str, Any]]:
    """Every block in which somebody has weight, in no order."""
    mass = [1] * len(drawn.rows) if masses is None else masses
    owners = oracle.records(drawn.rows, drawn.qids, None, masses)
    seen = {s: oracle.records(drawn.rows, drawn.qids, s, masses) for s in secrets}
    result = []
    for key, positions in microdata.partition(drawn.rows, drawn.qids).items():
        present = [i for i in positions if mass[i]]
        if not present:
            continue
        block: dict[str, Any] = {"key": key, "first": owners[present[0]]["success"], "rest": []}
        rest: list[Any] = [len(present), near(owners[present[0]]["success"])]
        for s, views in seen.items():
            people: Counter[object] = Counter()
            weight: Counter[object] = Counter()
            for i in present:
                people[microdata.value(drawn.rows[i][s])] += 1
                weight[microdata.value(drawn.rows[i][s])] += Fraction(mass[i])  # type: ignore[assignment]
            ranked = sorted(people, key=lambda v: (-weight[v], microdata.order_key(v)))
            view = views[present[0]]
            counts = [{"value": v, "records": people[v]} for v in ranked]
            rest += [len(people), view["best_guess"], near(view["success"]), counts]
            assert view["best_guess"] == ranked[0]
        if secrets:
            block["first"] = seen[secrets[0]][present[0]]["success"]
        result.append(block | {"size": len(present), "rest": rest})
    return result


def ordered(blocks: Sequence[Mapping[str, Any]], order: Order) -> list[list[Any]]:
    def rank(block: Mapping[str, Any]) -> tuple[Any, ...]:
        ranks = {
            "smallest": (block["size"],),
            "largest": (-block["size"],),
            "revealing": (-block["first"], -block["size"]),
        }
        return (*ranks[order], *map(microdata.order_key, block["key"]))

    return [[*block["key"], *block["rest"]] for block in sorted(blocks, key=rank)]


def rows_of(shown: qifsql.Result) -> list[list[Any]]:
    return [list(row) for row in shown.frame.rows()]


@given(tables(), st.sampled_from(get_args(Order)), st.data())
def test_every_block_is_described_and_ranked_as_by_the_oracle(
    drawn: Table, order: Order, data: st.DataObject
) -> None:
    masses = data.draw(st.none() | weights(len(drawn.rows)))
    secrets = data.draw(st.sampled_from([[], drawn.secrets]))
    with parquet(drawn, masses) as path:
        shown = qifsql.inspect(
            path,
            qids=drawn.qids,
            secret=secrets,
            weight=None if masses is None else MASS,
            order=order,
            limit=EVERY,
        )
    assert rows_of(shown) == told(ordered(expected_blocks(drawn, secrets, masses), order))
    own = ("values", "best_guess", "success", "counts")
    assert shown.frame.columns == unique(
        [*drawn.qids, "size", "success", *(f"{what}_{s}" for s in secrets for what in own)]
    )


def test_values_are_written_by_their_own_types() -> None:
    """Two files whose attacks have the same form: a date is shown as text, a number as it is."""
    for secret in (date(1971, 1, 1), 7, date(1971, 1, 2)):
        table = pa.table({"q": ["a"], "s": [secret]})
        (counts,) = qifsql.inspect(table, qids="q", secret="s").frame["counts_s"].to_list()
        assert counts == [{"value": told(secret), "records": 1}]


@given(tables(), st.sampled_from(get_args(Order)), st.integers(1, 12))
def test_a_limit_shows_the_first_blocks(drawn: Table, order: Order, limit: int) -> None:
    with parquet(drawn) as path:
        shown = qifsql.inspect(
            path, qids=drawn.qids, secret=drawn.secrets, order=order, limit=limit
        )
    every = ordered(expected_blocks(drawn, drawn.secrets, None), order)
    assert rows_of(shown) == told(every[:limit])


@pytest.mark.cases(3)
@pytest.mark.parametrize("order", get_args(Order))
@pytest.mark.parametrize("limit", [0, USUAL_LIMIT, 30, EVERY])
def test_more_blocks_than_are_shown_unasked_are_all_described(order: Order, limit: int) -> None:
    people = [(q, q * i % 4, i % 3) for q in range(50) for i in range(q % 7 + 1)]
    rows = [dict(zip("qst", person, strict=True)) for person in people]
    drawn = Table(["q", "s", "t"], dict.fromkeys("qst", pa.int64()), rows, ["q"], ["s", "t"])
    with parquet(drawn) as path:
        shown = qifsql.inspect(path, qids="q", secret=["s", "t"], order=order, limit=limit)
    every = ordered(expected_blocks(drawn, drawn.secrets, None), order)
    assert rows_of(shown) == every[: limit or len(every)]


def told(value: Any) -> Any:
    """The same with dates as text, as blocks are shown."""
    if isinstance(value, list):
        return [told(v) for v in value]
    if isinstance(value, dict):
        return {k: told(v) for k, v in value.items()}
    return str(value) if isinstance(value, date) else value


@settings(max_examples=examples(20))
@given(tables())
def test_blocks_of_records_without_missing_values(drawn: Table) -> None:
    used = [*drawn.qids, *drawn.secrets]
    kept = [
        row for row in drawn.rows if all(microdata.value(row[name]) is not None for name in used)
    ]
    assume(kept)
    fewer = Table(drawn.columns, drawn.types, kept, drawn.qids, drawn.secrets)
    with parquet(drawn) as path:
        shown = qifsql.inspect(
            path, qids=drawn.qids, secret=drawn.secrets, null="drop", limit=EVERY
        )
    assert rows_of(shown) == told(ordered(expected_blocks(fewer, drawn.secrets, None), "smallest"))


def test_the_sizes_of_the_blocks_are_those_of_polars(samples: Path) -> None:
    source = samples / "school_census_2017.parquet"
    shown = qifsql.inspect(source, qids=["CO_ENTIDADE", "TP_SEXO"], order="largest", limit=10_000)
    found = shown.frame.select("CO_ENTIDADE", "TP_SEXO", "size").rows()
    counted = pl.read_parquet(source).group_by("CO_ENTIDADE", "TP_SEXO").len()
    assert (
        found
        == counted.sort(
            "len", "CO_ENTIDADE", "TP_SEXO", descending=[True, False, False], nulls_last=True
        ).rows()
    )


# Names that collide with our own.


def test_names_like_our_own_are_told_apart_by_a_number(tmp_path: Path) -> None:
    source = tmp_path / "release.parquet"
    names = ["size", "Success", "values_x", "size_2", "x"]
    pl.DataFrame({name: [1, 1, 2] for name in names}).write_parquet(source)
    shown = qifsql.inspect(source, qids=["size", "Success", "values_x", "size_2"], secret="x").frame
    assert shown.columns == [
        *("size", "Success", "values_x", "size_2", "size_3", "success_2"),
        *("values_x_2", "best_guess_x", "success_x", "counts_x"),
    ]
    assert shown.rows() == [
        (2, 2, 2, 2, 1, 1.0, 1, 2, 1.0, [{"value": 2, "records": 1}]),
        (1, 1, 1, 1, 2, 0.5, 1, 1, 1.0, [{"value": 1, "records": 2}]),
    ]


def test_nan_is_shown_as_missing_whatever_the_statistics_of_the_file_say(tmp_path: Path) -> None:
    source, out = tmp_path / "release.parquet", tmp_path / "records.parquet"
    pq.write_table(pa.table({"x": [float("nan"), 1.0, 2.0], "s": ["a", "b", "c"]}), source)
    shown = qifsql.inspect(source, qids="x").frame
    assert shown["x"].to_list() == [1.0, 2.0, None]
    guessed = qifsql.inspect(source, qids="s", secret="x").frame
    assert guessed["best_guess_x"].to_list() == [None, 1.0, 2.0]
    qifsql.inspect(source, show="records", out=out, qids="s", secret="x")
    assert pq.read_table(out)["best_guess_x"].to_pylist() == [None, 1.0, 2.0]


@given(st.lists(st.sampled_from([*NAMES, "size", "SIZE", "size_2", "size_2_2"]), max_size=12))
def test_unique_names_are_distinct_and_change_only_what_is_taken(names: list[str]) -> None:
    given_names = unique(names)
    assert len({name.casefold() for name in given_names}) == len(names)
    for i, (old, new) in enumerate(zip(names, given_names, strict=True)):
        taken = {name.casefold() for name in given_names[:i]}
        assert (new == old) == (old.casefold() not in taken)
        assert new.startswith(old)
