"""A data frame where a path belongs is refused by its type: its cells never stand in the error."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import qifsql
from qifsql.data.collection import Collection

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
    "series": pl.Series([CELL]),
    "arrow": pa.table({"age": [CELL, CELL]}),
    "other": Printing(),
    "bytes": CELL.encode(),
    "dict": {"age": [CELL]},
}
KNOWN: dict[str, Any] = {"qids": "age"}
PLACES: dict[str, Callable[[Any], Any]] = {
    "Dataset.open": qifsql.Dataset.open,
    "Collection.of": lambda f: Collection.of(f, key="id"),
    "Attack.of": lambda f: qifsql.Attack.of("crs", f, **KNOWN),
    "Study.load": qifsql.Study.load,
    "anonymise": lambda f: qifsql.anonymise(f, "o.parquet", method="mondrian", k=2, **KNOWN),
    "anonymise out": lambda f: qifsql.anonymise(FILE, f, method="mondrian", k=2, **KNOWN),
    "attack": lambda f: qifsql.attack("crs", f, **KNOWN),
    "attack prior": lambda f: qifsql.attack("cas", FILE, secret="sex", prior=f, **KNOWN),
    "attack population": lambda f: qifsql.attack("crs", FILE, population=f, **KNOWN),
    "attack store": lambda f: qifsql.attack("crs", FILE, store=f, **KNOWN),
    "attack link": lambda f: qifsql.attack("crl", f, link="stay=0.5", **KNOWN),
    "blocks": lambda f: qifsql.blocks(f, **KNOWN),
    "check": lambda f: qifsql.check(f, policy="policy.toml"),
    "check policy": lambda f: qifsql.check(FILE, policy=f),
    "check baseline": lambda f: qifsql.check(FILE, policy="policy.toml", baseline=f),
    "compare": lambda f: qifsql.compare(f, FILE, secret="sex", **KNOWN),
    "compare sanitised": lambda f: qifsql.compare(FILE, f, secret="sex", **KNOWN),
    "compare hierarchies": lambda f: qifsql.compare(FILE, "b.csv", hierarchies={"age": f}, **KNOWN),
    "compose": lambda f: qifsql.compose(f, people=FILE, secret="sex", **KNOWN),
    "compose people": lambda f: qifsql.compose([FILE], people=f, secret="sex", **KNOWN),
    "compose hierarchies": lambda f: qifsql.compose(
        [FILE], people="b.csv", secret="sex", hierarchies={"age": f}, **KNOWN
    ),
    "describe": qifsql.describe,
    "dit": lambda f: qifsql.dit(f, secret="sex", k=2, **KNOWN),
    "dit hierarchy": lambda f: qifsql.dit(FILE, secret="sex", k=2, hierarchy=f, **KNOWN),
    "dit release": lambda f: qifsql.dit(FILE, secret="sex", release=f, without="w", **KNOWN),
    "dp": lambda f: qifsql.dp(f, useful="age", predicate="age > 1", secret="sex", epsilon=1),
    "estimate": lambda f: qifsql.estimate(f, fraction=0.5, **KNOWN),
    "estimate records": lambda f: qifsql.estimate(FILE, fraction=0.5, records=f, **KNOWN),
    "hyper": lambda f: qifsql.hyper(f, secret="sex", **KNOWN),
    "init": lambda f: qifsql.init("s.toml", data=f),
    "init path": qifsql.init,
    "levels": lambda f: qifsql.levels(f, secret="sex", **KNOWN),
    "levels population": lambda f: qifsql.levels(FILE, secret="sex", population=f, **KNOWN),
    "levels hierarchy": lambda f: qifsql.levels(FILE, secret="sex", hierarchy={"sex": f}, **KNOWN),
    "link": lambda f: qifsql.link(f, FILE, **KNOWN),
    "link register": lambda f: qifsql.link(FILE, f, **KNOWN),
    "receipt": lambda f: qifsql.receipt(f, target={"age": 25}, **KNOWN),
    "records": lambda f: qifsql.records(f, out="o.parquet", **KNOWN),
    "records out": lambda f: qifsql.records(FILE, out=f, **KNOWN),
    "refines": lambda f: qifsql.refines(f, "age", "sex"),
    "report": lambda f: qifsql.report(f, "o.html"),
    "run": qifsql.run,
    "sql": lambda f: qifsql.sql("crs", f, **KNOWN),
    "sweep": lambda f: qifsql.sweep(f, **KNOWN),
    "sweep workspace": lambda f: qifsql.sweep(FILE, workspace=f, qids=["age", "sex"]),
    "treat": lambda f: qifsql.treat(f, "o.parquet", key="age"),
    "unhash": lambda f: qifsql.unhash(f, column="sex", patterns="[a-c]", algorithm="md5"),
    "unhash candidates": lambda f: qifsql.unhash(FILE, column="sex", candidates=f, algorithm="md5"),
    "unicity": lambda f: qifsql.unicity(f, key="id", qids="age"),
    "what_if": lambda f: qifsql.what_if(f, change="age:5", **KNOWN),
    "what_if policy": lambda f: qifsql.what_if(FILE, change="age:5", policy=f, **KNOWN),
    "what_if hierarchies": lambda f: qifsql.what_if(
        FILE, change="age:h", hierarchies={"age": f}, **KNOWN
    ),
    "wp29": lambda f: qifsql.wp29(f, **KNOWN),
    "wp29 register": lambda f: qifsql.wp29(FILE, register=f, **KNOWN),
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (FILE, "b.csv"):
        Path(name).write_text("age,sex,id\n25,f,1\n60,m,2\n")
    rule = '[[rule]]\nmodel = "crs"\nmeasure = "worst_case"\nat_most = 1\n'
    Path("policy.toml").write_text(f'[adversary]\nqids = ["age"]\n{rule}')


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("frame", FRAMES)
def test_a_frame_in_place_of_a_path_is_named_by_its_type_alone(place: str, frame: str) -> None:
    with pytest.raises(TypeError) as caught:
        PLACES[place](FRAMES[frame])
    assert CELL not in str(caught.value)
    assert type(FRAMES[frame]).__name__ in str(caught.value)


LISTS = ("Collection.of", "Attack.of", "attack", "attack link", "compose", "report", "sweep")


@pytest.mark.parametrize("place", LISTS)
def test_nor_in_a_list_of_paths(place: str) -> None:
    for frame in FRAMES.values():
        with pytest.raises(TypeError) as caught:
            PLACES[place]([frame, frame])
        assert CELL not in str(caught.value)
        assert type(frame).__name__ in str(caught.value)
