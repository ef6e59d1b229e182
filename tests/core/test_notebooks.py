"""The notebooks of the documentation run from top to bottom, and show tables and charts."""

import contextlib
import io
import json
import re
import shutil
from pathlib import Path

import polars as pl
import pytest
from places import ROOT, SAMPLES

NOTEBOOKS = ROOT / "docs" / "notebooks"
EXPECTED = {
    "school_census": ["20,134", "2,912 of 20,134 people are singled out", "vega"],
    "adult": ["32,561", "1,330 of 32,561 people are singled out", "5-anonymous: False", "agee"],
    "bvmlib": ["5.4", "1.480145", "USCensus1990.data.txt is not here"],
    "compas": ["3606.0", "524 of 7,214 people are singled out", "Caucasian"],
}
"""Texts in the page of a notebook."""

DATA = {
    "adult": "adult.parquet",
    "bvmlib": "adult.parquet",
    "compas": "compas_two_years.parquet",
}
"""Files of the shared data that a notebook reads from its folder."""


def test_every_notebook_is_tested() -> None:
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == EXPECTED.keys()


def test_notebooks_hold_no_output() -> None:
    """Their outputs would become stale; the guides show them."""
    for path in NOTEBOOKS.glob("*.ipynb"):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        assert not any(cell.get("outputs") for cell in cells)


@pytest.mark.cases(1)
@pytest.mark.notebooks
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_notebook_runs(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient, nbconvert = pytest.importorskip("nbclient"), pytest.importorskip("nbconvert")
    pytest.importorskip("ipykernel")
    (tmp_path / "data-samples").symlink_to(SAMPLES)
    if name in DATA:
        shared: Path = request.getfixturevalue("shared")
        shutil.copy(shared / "data" / DATA[name], tmp_path)
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=240, resources=resources).execute()
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    assert [text for text in EXPECTED[name] if text not in page] == []
    assert "<table" in page
    assert "Traceback" not in page
    assert len(page) < 3_000_000


CENSUS = "USCensus1990.data.txt"


@pytest.mark.parametrize(
    ("name", "given", "absent"),
    [
        ("bvmlib", True, [CENSUS]),
        ("bvmlib", False, ["adult.parquet", CENSUS]),
        ("compas", True, []),
        ("compas", False, ["compas-scores-two-years.csv"]),
    ],
)
def test_the_numbers_of_bvmlib_are_ours(
    name: str, given: bool, absent: list[str], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The notebooks fail where a number differs, and name files that they lack; no kernel here."""
    if given:
        shared: Path = request.getfixturevalue("shared")
        shutil.copy(shared / "data" / DATA[name], tmp_path)
    cells = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text("utf-8"))["cells"]
    names: dict[str, object] = {}
    out = io.StringIO()
    with contextlib.chdir(tmp_path), contextlib.redirect_stdout(out), pl.Config():
        for cell in cells:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), names)
                print(names.get("shown"))
    assert re.findall(r"(\S+) is not here", out.getvalue()) == absent
