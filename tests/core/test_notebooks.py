"""The notebooks of the documentation run from top to bottom, and show tables and charts."""

import json
import shutil
from pathlib import Path

import pytest
from places import ROOT, SAMPLES

NOTEBOOKS = ROOT / "docs" / "notebooks"
EXPECTED = {
    "school_census": ["20,134", "2,912 of 20,134 people are singled out", "vega"],
    "adult": ["32,561", "1,330 of 32,561 people are singled out", "5-anonymous: False", "agee"],
}
"""Texts in the page of a notebook."""


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
    if name == "adult":
        shared: Path = request.getfixturevalue("shared")
        shutil.copy(shared / "data" / "adult.parquet", tmp_path)
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=240, resources=resources).execute()
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    assert [text for text in EXPECTED[name] if text not in page] == []
    assert "<table" in page
    assert "Traceback" not in page
    assert len(page) < 3_000_000
