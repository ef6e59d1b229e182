"""Anonymised files are releases like any other: attacked, graded and swept."""

from pathlib import Path

import polars as pl
import pytest

import qifsql
from qifsql.data.types import generalised
from qifsql.errors import ColumnError

QIDS = ["gender", "age"]


@pytest.fixture
def releases(tmp_path: Path, samples: Path) -> tuple[Path, Path, int]:
    """The same release as Parquet (structures and lists) and as CSV (readable cells)."""
    source = samples / "thesis_table_3_2.csv"
    made = [tmp_path / "k2.parquet", tmp_path / "k2.csv"]
    for out in made:
        asked = {"method": "mondrian", "k": 2, "qids": QIDS, "secret": "illness"}
        found = qifsql.anonymise(source, out, **asked)  # type: ignore[arg-type]
    return made[0], made[1], int(found.frame["classes"][0])


@pytest.mark.slow(because="1.7 s; every recorded mutant dies without it")
def test_an_attack_counts_the_classes_as_blocks(releases: tuple[Path, Path, int]) -> None:
    parquet, csv, classes = releases
    found = [
        qifsql.attack("crs,cas", file, qids=QIDS, secret="illness").frame.drop("seconds")
        for file in (parquet, csv)
    ]
    assert found[0].equals(found[1])
    assert found[0]["blocks"].to_list() == [classes] * 2
    assert found[0]["singled_out"].to_list() == [0, 0]


def test_levels_and_sweeps_take_generalised_cells(releases: tuple[Path, Path, int]) -> None:
    parquet, csv, _ = releases
    k = [
        qifsql.levels(file, qids=QIDS, secret="illness").frame.filter(measure="k")["value"][0]
        for file in (parquet, csv)
    ]
    assert k[0] == k[1] >= 2
    swept = [
        qifsql.sweep(file, qids=QIDS, secret="illness").frame.drop("seconds")
        for file in (parquet, csv)
    ]
    assert swept[0].equals(swept[1])


def test_other_nested_columns_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "nested.parquet"
    pl.DataFrame({"a": [{"x": 1}], "b": [[[1]]], "c": [[1]]}).write_parquet(path)
    for name in ("a", "b"):
        with pytest.raises(ColumnError, match="is nested"):
            qifsql.attack("crs", path, qids=[name])
    with pytest.raises(ColumnError, match="is nested"):
        qifsql.attack("cas", path, qids=["d=1"], secret="c")
    assert qifsql.attack("crs", path, qids=["c"]).frame["blocks"].to_list() == [1]


@pytest.mark.parametrize(
    ("type_", "is_one"),
    [
        ("INTEGER[]", True),
        ("VARCHAR[]", True),
        ("INTEGER[][]", False),
        ("STRUCT(a INTEGER)[]", False),
        ("STRUCT(lower INTEGER, upper INTEGER, missing BOOLEAN)", True),
        ("STRUCT(lower DECIMAL(5,2), upper DECIMAL(5,2), missing BOOLEAN)", True),
        ("STRUCT(lower INTEGER, upper BIGINT, missing BOOLEAN)", False),
        ("STRUCT(lower INTEGER[], upper INTEGER[], missing BOOLEAN)", False),
        ("VARCHAR", False),
    ],
)
def test_which_types_are_generalised_cells(type_: str, is_one: bool) -> None:
    assert bool(generalised(type_)) is is_one
