"""Records with what their blocks reveal, as by the oracle, in the order of the input."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from partitions import KEY, MASS, keys, near, parquet
from strategies import Table, tables, weights

import qifsql
from qifsql.errors import DatasetError, InputError, OutputError
from qifsql.query.columns import unique
from qifsql.reference import microdata
from qifsql.reference import success as oracle


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
        rows = qifsql.inspect(
            path,
            show="records",
            out=out,
            qids=drawn.qids,
            secret=secrets,
            key=KEY,
            weight=None if masses is None else MASS,
        ).written
        assert rows == len(drawn.rows)
        assert read(out) == expected_records(drawn, secrets, masses)
        names = pq.read_schema(out).names
    assert names[:5] == ["record", KEY, "block_size", "singled_out", "success"]
    assert names[5:] == unique(
        [f"{what}_{s}" for s in secrets for what in ("success", "best_guess")]
    )


@settings(max_examples=examples(20))
@given(tables())
def test_records_that_are_left_out_keep_their_numbers(drawn: Table) -> None:
    used = [*drawn.qids, *drawn.secrets]
    kept = {
        i: row
        for i, row in enumerate(drawn.rows, start=1)
        if all(microdata.value(row[name]) is not None for name in used)
    }
    seen = oracle.records([*kept.values()], drawn.qids, drawn.secrets[0]) if kept else []
    with parquet(drawn) as path:
        out = path.with_name("records.parquet")
        if not kept:
            with pytest.raises(DatasetError, match="no records left"):
                qifsql.inspect(
                    path,
                    show="records",
                    out=out,
                    qids=drawn.qids,
                    secret=drawn.secrets,
                    null="drop",
                )
            assert not out.exists()
            return
        qifsql.inspect(
            path, show="records", out=out, qids=drawn.qids, secret=drawn.secrets, null="drop"
        )
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
    rows = qifsql.inspect(
        split,
        show="records",
        out=out,
        qids=["NU_DIA", "NU_MES", "CO_ENTIDADE"],
        secret="TP_COR_RACA",
        key="ID_ALUNO",
        settings=qifsql.Settings(threads=2),
    ).written
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
    assert (
        qifsql.inspect(source, show="records", out=out, qids="q", secret="s", key="id").written == 4
    )
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
        qifsql.inspect(source, show="records", out=tmp_path / "records.json", qids="q")
    with pytest.raises(InputError):
        qifsql.inspect(
            source,
            show="records",
            out=tmp_path / "records.csv",
            qids="q",
            secret="s",
            where="s::INT > 0",
        )
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize("name", ["record", "Record"])
def test_a_column_named_like_the_position_of_a_record_is_another(tmp_path: Path, name: str) -> None:
    source, out = tmp_path / "release.parquet", tmp_path / "records.parquet"
    pl.DataFrame({"q": [5, 6, 7], name: [30, 10, 20]}).write_parquet(source)
    qifsql.inspect(source, show="records", out=out, qids="q", key=name)
    found = pl.read_parquet(out)
    assert found.columns == ["record", f"{name}_2", *("block_size", "singled_out", "success")]
    assert found.rows() == [(i, v, 1, True, 1.0) for i, v in enumerate((30, 10, 20), start=1)]


@pytest.mark.parametrize("key", ["block_size", "SINGLED_OUT", "success", "success_s"])
def test_a_key_named_like_one_of_our_columns_keeps_its_name(tmp_path: Path, key: str) -> None:
    source, out = tmp_path / "release.parquet", tmp_path / "records.parquet"
    pl.DataFrame({key: [5, 6], "q": [1, 1], "s": [1, 1]}).write_parquet(source)
    qifsql.inspect(source, show="records", out=out, qids="q", secret="s", key=key)
    found = pl.read_parquet(out)
    assert found[key].to_list() == [5, 6]
    assert f"{key.lower()}_2" in found.columns
    assert len({name.casefold() for name in found.columns}) == found.width == 7


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_whole_numbers_beyond_64_bits_stay_whole(tmp_path: Path, ending: str) -> None:
    source, out = tmp_path / "release.csv", tmp_path / f"records.{ending}"
    long = ["12345678901234567890", "12345678901234567891"]
    source.write_text(f"id,s,q\n{long[0]},{long[1]},1\n{long[1]},{long[0]},2\n")
    qifsql.inspect(source, show="records", out=out, qids="q", secret="s", key="id")
    read = pl.read_csv(out, infer_schema=False) if ending == "csv" else pl.read_parquet(out)
    assert read["id"].to_list() == long
    assert read["best_guess_s"].to_list() == long[::-1]


def test_a_missing_value_and_an_empty_text_are_told_apart_in_csv(tmp_path: Path) -> None:
    source, out = tmp_path / "release.parquet", tmp_path / "records.csv"
    pl.DataFrame({"id": ["", None, 'a,"b'], "q": [1, 2, 3]}).write_parquet(source)
    qifsql.inspect(source, show="records", out=out, qids="q", key="id")
    lines = out.read_text().splitlines()
    assert [line.split(",", 1)[1] for line in lines[1:]] == [
        '"",1,true,1.0',
        ",1,true,1.0",
        '"a,""b",1,true,1.0',
    ]


def test_an_expression_is_not_evaluated_where_the_filter_leaves_out(tmp_path: Path) -> None:
    source, out = tmp_path / "release.parquet", tmp_path / "records.parquet"
    pl.DataFrame({"text": ["1", "x", "2"], "n": [1, 0, 1]}).write_parquet(source)
    qifsql.inspect(source, show="records", out=out, qids="number=text::INT", where="n = 1")
    assert pl.read_parquet(out)["record"].to_list() == [1, 3]
