"""Data frames in place of files: read as files are, or refused by their type without a cell."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import qifsql
from qifsql.data.collection import Collection
from qifsql.errors import DatasetError, InputError, QifError
from qifsql.results.storage import manifest

CELL = "CELLVALUE"
FILE = "data.csv"


class Printing:
    """An object that prints its rows, as frames of other libraries do; it can be iterated."""

    def __str__(self) -> str:
        return CELL

    __repr__ = __str__

    def __iter__(self) -> Iterator[str]:
        return iter([CELL])


FRAMES: dict[str, Any] = {
    "polars": pl.DataFrame({"age": [CELL, CELL]}),
    "lazy": pl.LazyFrame({"age": [CELL, CELL]}),
    "arrow": pa.table({"age": [CELL, CELL]}),
    "dict": {"age": [CELL, CELL]},
}
OTHERS: dict[str, Any] = {
    "series": pl.Series([CELL]),
    "other": Printing(),
    "ndarray": np.array([[CELL]]),
    "bytes": CELL.encode(),
}
KNOWN: dict[str, Any] = {"qids": "age"}
PLACES: dict[str, Callable[[Any], Any]] = {
    "Dataset.open": qifsql.Dataset.open,
    "Collection.of": lambda f: Collection.of(f, key="id"),
    "Attack.of": lambda f: qifsql.Attack.of("crs", f, **KNOWN),
    "Study.load": qifsql.Study.load,
    "adversaries": qifsql.adversaries,
    "anonymise": lambda f: qifsql.anonymise(f, "o.parquet", method="mondrian", k=2, **KNOWN),
    "anonymise out": lambda f: qifsql.anonymise(FILE, f, method="mondrian", k=2, **KNOWN),
    "attack": lambda f: qifsql.attack("crs", f, **KNOWN),
    "attack prior": lambda f: qifsql.attack("cas", FILE, secret="sex", prior=f, **KNOWN),
    "attack population": lambda f: qifsql.attack("crs", FILE, population=f, **KNOWN),
    "attack learn": lambda f: qifsql.attack("cas", FILE, secret="sex", learn=f, **KNOWN),
    "attack people": lambda f: qifsql.attack("crs", FILE, people=f, **KNOWN),
    "attack store": lambda f: qifsql.attack("crs", FILE, store=f, **KNOWN),
    "attack records": lambda f: qifsql.attack("crs", FILE, knows="age:+-1", records=f, **KNOWN),
    "attack link": lambda f: qifsql.attack("crl", f, link="stay=0.5", **KNOWN),
    "blocks": lambda f: qifsql.inspect(f, **KNOWN),
    "check": lambda f: qifsql.check(f, policy="policy.toml"),
    "check policy": lambda f: qifsql.check(FILE, policy=f),
    "check baseline": lambda f: qifsql.check(FILE, policy="policy.toml", baseline=f),
    "compare": lambda f: qifsql.compare(f, FILE, secret="sex", **KNOWN),
    "compare sanitised": lambda f: qifsql.compare(FILE, f, secret="sex", **KNOWN),
    "compare hierarchies": lambda f: qifsql.compare(FILE, "b.csv", hierarchies={"age": f}, **KNOWN),
    "synthetic": lambda f: qifsql.synthetic(f, FILE, secret="sex", **KNOWN),
    "synthetic synthetic": lambda f: qifsql.synthetic(FILE, f, secret="sex", **KNOWN),
    "synthetic control": lambda f: qifsql.synthetic(FILE, "b.csv", control=f, **KNOWN),
    "synthetic records": lambda f: qifsql.synthetic(FILE, "b.csv", records=f, **KNOWN),
    "compose": lambda f: qifsql.compose(f, people=FILE, secret="sex", **KNOWN),
    "compose people": lambda f: qifsql.compose([FILE], people=f, secret="sex", **KNOWN),
    "compose hierarchies": lambda f: qifsql.compose(
        [FILE], people="b.csv", secret="sex", hierarchies={"age": f}, **KNOWN
    ),
    "describe": qifsql.describe,
    "dit": lambda f: qifsql.dit(f, secret="sex", k=2, **KNOWN),
    "dit hierarchy": lambda f: qifsql.dit(FILE, secret="sex", k=2, hierarchy={"sex": f}, **KNOWN),
    "dit release": lambda f: qifsql.dit(FILE, secret="sex", release=f, without="w", **KNOWN),
    "dp": lambda f: qifsql.dp(f, useful="age", predicate="age > 1", secret="sex", epsilon=1),
    "estimate": lambda f: qifsql.estimate(f, fraction=0.5, **KNOWN),
    "estimate records": lambda f: qifsql.estimate(FILE, fraction=0.5, records=f, **KNOWN),
    "hyper": lambda f: qifsql.inspect(f, show="hyper", secret="sex", **KNOWN),
    "init": lambda f: qifsql.init("s.toml", data=f),
    "init path": qifsql.init,
    "levels": lambda f: qifsql.levels(f, secret="sex", **KNOWN),
    "levels population": lambda f: qifsql.levels(FILE, secret="sex", population=f, **KNOWN),
    "levels hierarchy": lambda f: qifsql.levels(FILE, secret="sex", hierarchy={"sex": f}, **KNOWN),
    "link": lambda f: qifsql.link(f, FILE, **KNOWN),
    "link register": lambda f: qifsql.link(FILE, f, **KNOWN),
    "receipt": lambda f: qifsql.inspect(f, show="receipt", target={"age": 25}, **KNOWN),
    "records": lambda f: qifsql.inspect(f, show="records", out="o.parquet", **KNOWN).written,
    "records out": lambda f: qifsql.inspect(FILE, show="records", out=f, **KNOWN).written,
    "refines": lambda f: qifsql.compare(f, qids="age", refines="sex"),
    "report": lambda f: qifsql.report(f, "o.html"),
    "run": qifsql.run,
    "suda": lambda f: qifsql.suda(f, **KNOWN),
    "suda records": lambda f: qifsql.suda(FILE, records=f, **KNOWN),
    "sql": lambda f: qifsql.sql("crs", f, **KNOWN),
    "sweep": lambda f: qifsql.sweep(f, **KNOWN),
    "sweep workspace": lambda f: qifsql.sweep(FILE, workspace=f, qids=["age", "sex"]),
    "treat": lambda f: qifsql.anonymise(f, "o.parquet", one_per="age"),
    "unhash": lambda f: qifsql.unhash(f, column="sex", patterns="[a-c]", algorithm="md5"),
    "unhash candidates": lambda f: qifsql.unhash(FILE, column="sex", candidates=f, algorithm="md5"),
    "unicity": lambda f: qifsql.unicity(f, person="id", qids="age"),
    "what_if": lambda f: qifsql.compare(f, change="age:5", **KNOWN),
    "what_if policy": lambda f: qifsql.compare(FILE, change="age:5", policy=f, **KNOWN),
    "what_if hierarchies": lambda f: qifsql.compare(
        FILE, change="age:h", hierarchies={"age": f}, **KNOWN
    ),
    "verify": qifsql.verify,
    "verify source": lambda f: qifsql.verify("risk.parquet", f),
    "wp29": lambda f: qifsql.check(f, preset="wp216", questions=True, **KNOWN),
    "wp29 register": lambda f: qifsql.check(
        FILE, preset="wp216", questions=True, register=f, **KNOWN
    ),
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (FILE, "b.csv"):
        Path(name).write_text("age,sex,id\n25,f,1\n60,m,2\n")
    rule = '[[rule]]\nmodel = "crs"\nmeasure = "worst_case"\nat_most = 1\n'
    Path("policy.toml").write_text(f'[adversary]\nqids = ["age"]\n{rule}')


FILES = (
    *("Study.load", "anonymise out", "attack prior", "attack records", "attack store"),
    "check policy",
    *("check baseline", "compare hierarchies", "compose hierarchies", "dit hierarchy"),
    *("dit release", "estimate records", "init", "init path", "levels hierarchy", "records out"),
    *(
        "report",
        "run",
        "suda records",
        "sweep workspace",
        "synthetic records",
        "unhash candidates",
        "what_if policy",
    ),
    "what_if hierarchies",
    "adversaries",
    "verify",
    "verify source",
)
"""Places of files: of a frame nothing can be read there, or nothing written."""


@pytest.mark.cases(53)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("frame", OTHERS)
def test_what_is_no_frame_is_named_by_its_type_alone(place: str, frame: str) -> None:
    with pytest.raises(TypeError) as caught:
        PLACES[place](OTHERS[frame])
    assert CELL not in str(caught.value)
    assert type(OTHERS[frame]).__name__ in str(caught.value)


@pytest.mark.parametrize("place", FILES)
@pytest.mark.parametrize("frame", FRAMES)
def test_a_frame_in_place_of_a_file_is_named_by_its_type_alone(place: str, frame: str) -> None:
    of_data = frame == "dict" and place in ("check policy", "what_if policy")  # it is a policy
    with pytest.raises(InputError if of_data else TypeError) as caught:
        PLACES[place](FRAMES[frame])
    assert CELL not in str(caught.value)
    assert of_data or type(FRAMES[frame]).__name__ in str(caught.value)


@pytest.mark.cases(16)
@pytest.mark.parametrize("place", sorted(PLACES.keys() - {*FILES, "anonymise out"}))
def test_a_frame_is_read_wherever_data_are(place: str) -> None:
    """No error is about the type of the frame; a column or another file may still not suit."""
    for frame in FRAMES.values():
        with suppress(QifError):
            PLACES[place](frame)


LISTS = ("Collection.of", "Attack.of", "attack", "attack link", "compose", "report", "sweep")


@pytest.mark.parametrize("place", LISTS)
def test_nor_in_a_list_of_paths(place: str) -> None:
    for frame in OTHERS.values():
        with pytest.raises(TypeError) as caught:
            PLACES[place]([frame, frame])
        assert CELL not in str(caught.value)
        assert type(frame).__name__ in str(caught.value)


def test_columns_records_and_names_are_frames_too() -> None:
    ages = {"age": [1, 2, 2], "sex": ["f", "f", "m"]}
    records = [dict(zip(ages, row, strict=True)) for row in zip(*ages.values(), strict=True)]
    array = np.array([(1, "f"), (2, "f"), (2, "m")], [("age", int), ("sex", "U1")])
    for data in (ages, records, array, {"frame": pl.DataFrame(ages)}):
        result = qifsql.attack("crs", data, qids=["age", "sex"])
        assert (result.frame["blocks"].item(), result.spec["dataset"]) == (3, "frame")
    years = {"2018": pl.DataFrame(ages | {"id": [1, 2, 3]}), "2019": ages | {"id": [3, 2, 1]}}
    result = qifsql.attack("crl", years, qids=["1:age", "2:sex"], key="id")
    assert result.spec["dataset"] == "2018 + 2019"


def forms(frame: pl.DataFrame) -> Iterator[Any]:
    """The same rows as objects of several libraries."""
    yield frame
    yield frame.lazy()
    yield frame.to_arrow()
    yield frame.to_pandas()
    yield pa.RecordBatchReader.from_batches(
        frame.to_arrow().schema, frame.to_arrow().to_batches(max_chunksize=2)
    )
    connection = duckdb.connect()
    connection.register("view_of_it", frame.to_arrow())
    connection.execute("CREATE TABLE people AS SELECT * FROM view_of_it")
    yield connection.table("people")
    yield qifsql.Dataset.open(connection, table="people")


@pytest.mark.slow(because="12.2 s; every recorded mutant dies without it")
@settings(max_examples=examples(20), deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["x", "y", "", None]),
            st.sampled_from([0.5, -0.0, 0.0, None]),
            st.integers(0, 2),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_frames_give_the_numbers_of_a_file(rows: list[tuple[Any, ...]]) -> None:
    frame = pl.DataFrame(
        rows, schema={"a": pl.String, "b": pl.Float64, "c": pl.Int64}, orient="row"
    )
    frame.write_parquet("rows.parquet")
    options: dict[str, Any] = {"qids": ["a", "b"], "secret": "c"}
    expected = qifsql.attack(["crs", "cas"], "rows.parquet", **options).frame.drop("seconds")
    levels = qifsql.levels("rows.parquet", **options).frame
    paths = set()
    for each in forms(frame):
        dataset = qifsql.Dataset.open(each)
        paths.add(dataset.paths)
        got = qifsql.attack(["crs", "cas"], dataset, **options).frame.drop("seconds")
        assert got.equals(expected)
        assert qifsql.levels(dataset, **options).frame.equals(levels)
    if not frame["a"].null_count() and not frame["b"].null_count():
        assert len(paths) == 1  # pandas has other types where values are missing


def test_the_digest_is_of_the_values() -> None:
    """Chunks, categories and the values behind missing ones do not count; a value does."""
    frame = pl.DataFrame({"a": ["x", None, "y" * 40], "b": [1.5, None, 2.0]})
    digests = {
        qifsql.Dataset.open(same).paths
        for same in (
            frame,
            pl.concat([frame[:1], frame[1:]], rechunk=False),
            frame.with_columns(pl.col("a").cast(pl.Categorical)),
            frame.with_columns(b=pl.when(pl.col("b") > 0).then(pl.col("b"))),
        )
    }
    assert len(digests) == 1
    for other in (frame[1:], frame.rename({"a": "c"}), frame.with_columns(pl.col("b") + 1)):
        assert qifsql.Dataset.open(other).paths not in digests


def test_the_manifest_has_the_digest_and_no_cell() -> None:
    frame = pl.DataFrame({"age": [CELL, CELL, "b"], "sex": ["f", "f", "m"]})
    result = qifsql.attack(["crs", "cas"], frame, qids="age", secret="sex")
    note = manifest(result.origin)
    (file,) = note["inputs"]
    assert file["sha256"] == qifsql.Dataset.open(frame).paths[0].partition(":")[2]
    assert CELL not in json.dumps(note)


def test_a_collection_of_frames(tmp_path: Path) -> None:
    frames = [
        pl.DataFrame({"id": [1, 2, 3, 4], "a": [1, 1, 2, 2]}),
        pl.DataFrame({"id": [1, 2, 3, 5], "a": [1, 2, 2, 2]}),
    ]
    files = [str(tmp_path / f"{i}.parquet") for i in range(2)]
    for frame, file in zip(frames, files, strict=True):
        frame.write_parquet(file)
    options: dict[str, Any] = {"qids": "a", "key": "id"}
    expected = qifsql.attack("crl", files, **options).frame.drop("seconds")
    assert qifsql.attack("crl", frames, **options).frame.drop("seconds").equals(expected)


def test_a_frame_with_columns_of_one_name_or_of_mixed_types_is_refused() -> None:
    twice = pa.table([[1], [2]], names=["a", "a"])
    with pytest.raises(DatasetError, match="same name"):
        qifsql.attack("crs", twice, qids="a")
    mixed = pd.DataFrame({"a": [1, CELL]})
    with pytest.raises(DatasetError, match="one type") as caught:
        qifsql.attack("crs", mixed, qids="a")
    assert CELL not in str(caught.value)


def test_names_that_differ_in_case_are_told_apart() -> None:
    frame = pl.DataFrame({"ID": [1, 1, 2], "id": [1, 2, 3]})
    for name, singled_out in (("ID", 1), ("id", 3)):
        assert qifsql.attack("crs", frame, qids=[name]).frame["singled_out"][0] == singled_out


def test_codes_that_do_not_become_one_are_refused() -> None:
    codes = pa.array(range(100), pa.int8())  # of which there are 128 for both parts
    texts = [pa.array([f"{part}{i}" for i in range(100)]) for part in "ab"]
    parts = [pa.DictionaryArray.from_arrays(codes, values) for values in texts]
    with pytest.raises(DatasetError, match="cannot be read as Arrow"):
        qifsql.describe(pa.table({"coded": pa.chunked_array(parts)}))
