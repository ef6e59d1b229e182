"""Records and blocks through the product equal the oracle, row by row and in order."""

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import oracle
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import NAMES, Table, tables, to_arrow, weights

import qifsql
from qifsql.errors import DatasetError, InputError, OutputError
from qifsql.partition import SHOWN, Order, unique

MASS = "mass"  # the column of weights: no name that is drawn
KEY = "person"
EVERY = 100  # more blocks than any drawn table has


@contextmanager
def parquet(drawn: Table, masses: Sequence[Any] | None = None) -> Iterator[Path]:
    """The table in a Parquet file, with a key and, if there are any, with weights."""
    table = to_arrow(drawn).append_column(KEY, pa.array(keys(len(drawn.rows))))
    if masses is not None:
        table = table.append_column(MASS, pa.array(masses, kind(masses)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "release.parquet")
        pq.write_table(table, path)
        yield path


def kind(masses: Sequence[Any]) -> pa.DataType:
    kinds = {int: pa.int64(), float: pa.float64(), Decimal: pa.decimal128(10, 2)}
    return kinds[type(masses[0])]


def keys(n: int) -> list[str | None]:
    return [None if i == 3 else f"p{i * 7 % 10}" for i in range(n)]


def near(value: Fraction | None) -> Any:
    """A success: of whole counts exact, of weights but for the last bit."""
    return None if value is None else pytest.approx(float(value), rel=1e-15, abs=0)


# One row per record.


def expected_records(
    drawn: Table, secrets: Sequence[str], masses: Sequence[Any] | None
) -> list[list[object]]:
    """``record, key, block_size, singled_out, success``, then two columns per secret."""
    seen = [oracle.records(drawn.rows, drawn.qids, s, masses) for s in (None, *secrets)]
    return [
        [
            position,
            key,
            views[0]["block_size"],
            views[0]["singled_out"],
            near(views[0]["success"]),
            *(x for view in views[1:] for x in (near(view["success"]), view["best_guess"])),
        ]
        for position, (key, *views) in enumerate(
            zip(keys(len(drawn.rows)), *seen, strict=True), start=1
        )
    ]


def read(path: Path) -> list[list[object]]:
    table = pq.read_table(path)
    return [list(row) for row in zip(*(c.to_pylist() for c in table.columns), strict=True)]


@given(tables(), st.data())
def test_every_record_is_described_as_by_the_oracle_in_the_order_of_the_input(
    drawn: Table, data: st.DataObject
) -> None:
    masses = data.draw(st.none() | weights(len(drawn.rows)))
    secrets = data.draw(st.sampled_from([[], drawn.secrets]))
    with parquet(drawn, masses) as path:
        out = path.with_name("records.parquet")
        rows = qifsql.records(
            path,
            out,
            qids=drawn.qids,
            secret=secrets,
            key=KEY,
            weight=None if masses is None else MASS,
        )
        assert rows == len(drawn.rows)
        assert read(out) == expected_records(drawn, secrets, masses)
        names = pq.read_schema(out).names
    assert names[:5] == ["record", KEY, "block_size", "singled_out", "success"]
    assert names[5:] == unique(
        [f"{what}_{s}" for s in secrets for what in ("success", "best_guess")]
    )


@settings(max_examples=20)
@given(tables())
def test_records_that_are_left_out_keep_their_numbers(drawn: Table) -> None:
    used = [*drawn.qids, *drawn.secrets]
    kept = {
        i: row
        for i, row in enumerate(drawn.rows, start=1)
        if all(oracle.value(row[name]) is not None for name in used)
    }
    seen = oracle.records([*kept.values()], drawn.qids, drawn.secrets[0]) if kept else []
    with parquet(drawn) as path:
        out = path.with_name("records.parquet")
        if not kept:
            with pytest.raises(DatasetError, match="no records left"):
                qifsql.records(path, out, qids=drawn.qids, secret=drawn.secrets, null="drop")
            assert not out.exists()
            return
        qifsql.records(path, out, qids=drawn.qids, secret=drawn.secrets, null="drop")
        found = [row[:2] for row in read(out)]
    assert found == [[i, r["block_size"]] for i, r in zip(kept, seen, strict=True)]


def test_a_large_input_keeps_its_order_with_several_threads_and_files(
    samples: Path, tmp_path: Path
) -> None:
    whole = pl.read_parquet(samples / "school_census_2018.parquet")
    split = tmp_path / "split"
    split.mkdir()
    for i, part in enumerate(whole.iter_slices(4_000)):
        part.write_parquet(split / f"{i}.parquet", row_group_size=500)
    out = tmp_path / "records.parquet"
    rows = qifsql.records(
        split,
        out,
        qids=["NU_DIA", "NU_MES", "CO_ENTIDADE"],
        secret="TP_COR_RACA",
        key="ID_ALUNO",
        settings=qifsql.Settings(threads=2),
    )
    found = pl.read_parquet(out)
    assert rows == len(found) == len(whole)
    assert found["record"].to_list() == list(range(1, rows + 1))
    assert found["ID_ALUNO"].to_list() == whole["ID_ALUNO"].to_list()
    sizes = whole.select(pl.len().over("NU_DIA", "NU_MES", "CO_ENTIDADE")).to_series()
    assert found["block_size"].to_list() == sizes.to_list()
    assert found["success"].to_list() == [1 / n for n in sizes]


def test_records_in_csv_read_as_they_were_written(tmp_path: Path) -> None:
    source, out = tmp_path / "release.parquet", tmp_path / "records.csv"
    rows = {"q": [1, 1, 2, None], "s": ["a,b", "", None, 'say "x"'], "id": [7, 8, 9, 10]}
    pl.DataFrame(rows).write_parquet(source)
    assert qifsql.records(source, out, qids="q", secret="s", key="id") == 4
    assert out.read_text() == (
        "record,id,block_size,singled_out,success,success_s,best_guess_s\n"
        '1,7,2,false,0.5,0.5,""\n'
        '2,8,2,false,0.5,0.5,""\n'
        "3,9,1,true,1.0,1.0,\n"
        '4,10,1,true,1.0,1.0,"say ""x"""\n'
    )
    assert [p.name for p in sorted(tmp_path.iterdir())] == [
        *("records.csv", "records.csv.manifest.json", "release.parquet"),
    ]


def test_records_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    source = tmp_path / "release.parquet"
    pl.DataFrame({"q": [1], "s": ["a"]}).write_parquet(source)
    with pytest.raises(OutputError, match="must end in"):
        qifsql.records(source, tmp_path / "records.json", qids="q")
    with pytest.raises(InputError):
        qifsql.records(source, tmp_path / "records.csv", qids="q", secret="s", where="s::INT > 0")
    assert list(tmp_path.iterdir()) == [source]


# One row per block.


def expected_blocks(
    drawn: Table, secrets: Sequence[str], masses: Sequence[Any] | None
) -> list[dict[str, Any]]:
    """Every block in which somebody has weight, in no order."""
    mass = [1] * len(drawn.rows) if masses is None else masses
    owners = oracle.records(drawn.rows, drawn.qids, None, masses)
    seen = {s: oracle.records(drawn.rows, drawn.qids, s, masses) for s in secrets}
    result = []
    for key, positions in oracle.partition(drawn.rows, drawn.qids).items():
        present = [i for i in positions if mass[i]]
        if not present:
            continue
        block: dict[str, Any] = {"key": key, "first": owners[present[0]]["success"], "rest": []}
        rest: list[Any] = [len(present), near(owners[present[0]]["success"])]
        for s, views in seen.items():
            people: Counter[object] = Counter()
            weight: Counter[object] = Counter()
            for i in present:
                people[oracle.value(drawn.rows[i][s])] += 1
                weight[oracle.value(drawn.rows[i][s])] += Fraction(mass[i])  # type: ignore[assignment]
            ranked = sorted(people, key=lambda v: (-weight[v], oracle.order_key(v)))
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
        return (*ranks[order], *map(oracle.order_key, block["key"]))

    return [[*block["key"], *block["rest"]] for block in sorted(blocks, key=rank)]


def rows_of(shown: qifsql.Blocks) -> list[list[Any]]:
    return [list(row) for row in shown.frame.rows()]


@given(tables(), st.sampled_from(get_args(Order)), st.data())
def test_every_block_is_described_and_ranked_as_by_the_oracle(
    drawn: Table, order: Order, data: st.DataObject
) -> None:
    masses = data.draw(st.none() | weights(len(drawn.rows)))
    secrets = data.draw(st.sampled_from([[], drawn.secrets]))
    with parquet(drawn, masses) as path:
        shown = qifsql.blocks(
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


@given(tables(), st.sampled_from(get_args(Order)), st.integers(1, 12))
def test_a_limit_shows_the_first_blocks(drawn: Table, order: Order, limit: int) -> None:
    with parquet(drawn) as path:
        shown = qifsql.blocks(path, qids=drawn.qids, secret=drawn.secrets, order=order, limit=limit)
    every = ordered(expected_blocks(drawn, drawn.secrets, None), order)
    assert rows_of(shown) == told(every[:limit])


@pytest.mark.parametrize("order", get_args(Order))
@pytest.mark.parametrize("limit", [0, SHOWN, 30, EVERY])
def test_more_blocks_than_are_shown_unasked_are_all_described(order: Order, limit: int) -> None:
    people = [(q, q * i % 4, i % 3) for q in range(50) for i in range(q % 7 + 1)]
    rows = [dict(zip("qst", person, strict=True)) for person in people]
    drawn = Table(["q", "s", "t"], dict.fromkeys("qst", pa.int64()), rows, ["q"], ["s", "t"])
    with parquet(drawn) as path:
        shown = qifsql.blocks(path, qids="q", secret=["s", "t"], order=order, limit=limit)
    every = ordered(expected_blocks(drawn, drawn.secrets, None), order)
    assert rows_of(shown) == every[: limit or len(every)]


def told(value: Any) -> Any:
    """The same with dates as text, as blocks are shown."""
    if isinstance(value, list):
        return [told(v) for v in value]
    if isinstance(value, dict):
        return {k: told(v) for k, v in value.items()}
    return str(value) if isinstance(value, date) else value


@settings(max_examples=20)
@given(tables())
def test_blocks_of_records_without_missing_values(drawn: Table) -> None:
    used = [*drawn.qids, *drawn.secrets]
    kept = [row for row in drawn.rows if all(oracle.value(row[name]) is not None for name in used)]
    assume(kept)
    fewer = Table(drawn.columns, drawn.types, kept, drawn.qids, drawn.secrets)
    with parquet(drawn) as path:
        shown = qifsql.blocks(path, qids=drawn.qids, secret=drawn.secrets, null="drop", limit=EVERY)
    assert rows_of(shown) == told(ordered(expected_blocks(fewer, drawn.secrets, None), "smallest"))


def test_the_sizes_of_the_blocks_are_those_of_polars(samples: Path) -> None:
    source = samples / "school_census_2017.parquet"
    shown = qifsql.blocks(source, qids=["CO_ENTIDADE", "TP_SEXO"], order="largest", limit=10_000)
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
    shown = qifsql.blocks(source, qids=["size", "Success", "values_x", "size_2"], secret="x").frame
    assert shown.columns == [
        *("size", "Success", "values_x", "size_2", "size_3", "success_2"),
        *("values_x_2", "best_guess_x", "success_x", "counts_x"),
    ]
    assert shown.rows() == [
        (2, 2, 2, 2, 1, 1.0, 1, 2, 1.0, [{"value": 2, "records": 1}]),
        (1, 1, 1, 1, 2, 0.5, 1, 1, 1.0, [{"value": 1, "records": 2}]),
    ]


@pytest.mark.parametrize("name", ["record", "Record"])
def test_a_column_named_like_the_position_of_a_record_is_another(tmp_path: Path, name: str) -> None:
    source, out = tmp_path / "release.parquet", tmp_path / "records.parquet"
    pl.DataFrame({"q": [5, 6, 7], name: [30, 10, 20]}).write_parquet(source)
    qifsql.records(source, out, qids="q", key=name)
    found = pl.read_parquet(out)
    assert found.columns == ["record", f"{name}_2", *("block_size", "singled_out", "success")]
    assert found.rows() == [(i, v, 1, True, 1.0) for i, v in enumerate((30, 10, 20), start=1)]


def test_nan_is_shown_as_missing_whatever_the_statistics_of_the_file_say(tmp_path: Path) -> None:
    source, out = tmp_path / "release.parquet", tmp_path / "records.parquet"
    pq.write_table(pa.table({"x": [float("nan"), 1.0, 2.0], "s": ["a", "b", "c"]}), source)
    shown = qifsql.blocks(source, qids="x").frame
    assert shown["x"].to_list() == [1.0, 2.0, None]
    guessed = qifsql.blocks(source, qids="s", secret="x").frame
    assert guessed["best_guess_x"].to_list() == [None, 1.0, 2.0]
    qifsql.records(source, out, qids="s", secret="x")
    assert pq.read_table(out)["best_guess_x"].to_pylist() == [None, 1.0, 2.0]


@pytest.mark.parametrize("key", ["block_size", "SINGLED_OUT", "success", "success_s"])
def test_a_key_named_like_one_of_our_columns_keeps_its_name(tmp_path: Path, key: str) -> None:
    source, out = tmp_path / "release.parquet", tmp_path / "records.parquet"
    pl.DataFrame({key: [5, 6], "q": [1, 1], "s": [1, 1]}).write_parquet(source)
    qifsql.records(source, out, qids="q", secret="s", key=key)
    found = pl.read_parquet(out)
    assert found[key].to_list() == [5, 6]
    assert f"{key.lower()}_2" in found.columns
    assert len({name.casefold() for name in found.columns}) == found.width == 7


@given(st.lists(st.sampled_from([*NAMES, "size", "SIZE", "size_2", "size_2_2"]), max_size=12))
def test_unique_names_are_distinct_and_change_only_what_is_taken(names: list[str]) -> None:
    given_names = unique(names)
    assert len({name.casefold() for name in given_names}) == len(names)
    for i, (old, new) in enumerate(zip(names, given_names, strict=True)):
        taken = {name.casefold() for name in given_names[:i]}
        assert (new == old) == (old.casefold() not in taken)
        assert new.startswith(old)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_whole_numbers_beyond_64_bits_stay_whole(tmp_path: Path, ending: str) -> None:
    source, out = tmp_path / "release.csv", tmp_path / f"records.{ending}"
    long = ["12345678901234567890", "12345678901234567891"]
    source.write_text(f"id,s,q\n{long[0]},{long[1]},1\n{long[1]},{long[0]},2\n")
    qifsql.records(source, out, qids="q", secret="s", key="id")
    read = pl.read_csv(out, infer_schema=False) if ending == "csv" else pl.read_parquet(out)
    assert read["id"].to_list() == long
    assert read["best_guess_s"].to_list() == long[::-1]


def test_a_missing_value_and_an_empty_text_are_told_apart_in_csv(tmp_path: Path) -> None:
    source, out = tmp_path / "release.parquet", tmp_path / "records.csv"
    pl.DataFrame({"id": ["", None, 'a,"b'], "q": [1, 2, 3]}).write_parquet(source)
    qifsql.records(source, out, qids="q", key="id")
    lines = out.read_text().splitlines()
    assert [line.split(",", 1)[1] for line in lines[1:]] == [
        '"",1,true,1.0',
        ",1,true,1.0",
        '"a,""b",1,true,1.0',
    ]


def test_an_expression_is_not_evaluated_where_the_filter_leaves_out(tmp_path: Path) -> None:
    source, out = tmp_path / "release.parquet", tmp_path / "records.parquet"
    pl.DataFrame({"text": ["1", "x", "2"], "n": [1, 0, 1]}).write_parquet(source)
    qifsql.records(source, out, qids="number=text::INT", where="n = 1")
    assert pl.read_parquet(out)["record"].to_list() == [1, 3]
