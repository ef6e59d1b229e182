"""Shared by tests of studies: small releases, and the files of studies."""

import shutil
from pathlib import Path

import polars as pl
from places import SAMPLES

DATASETS = """\
[datasets.people]
path = "people.parquet"
qids = ["age", "gender", "occupation"]
secret = "illness"
key = "id"

[datasets.later]
path = "later.csv"
key = "id"
"""
ATTACK = '\n[[attack]]\nname = "birth"\nmodel = ["crs", "cas"]\ndataset = "people"\n'
SWEEP = '\n[[sweep]]\nname = "subsets"\ndataset = "people"\n'
CHECK = """
[[check]]
name = "levels"
dataset = "people"
[[check.rule]]
model = "crs"
measure = "singled_out"
at_most = 5
"""


def data(folder: Path) -> None:
    """Two small releases: ``people.parquet`` and ``later.csv``."""
    people = pl.read_csv(SAMPLES / "thesis_table_3_2.csv")
    people.write_parquet(folder / "people.parquet")
    shutil.copy(SAMPLES / "thesis_table_5_2b.csv", folder / "later.csv")


def written(folder: Path, text: str, *, name: str = "study.toml") -> Path:
    """A file of a study."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
