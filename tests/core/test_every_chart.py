"""Every chart of every command is drawn: the drawing library refuses no format of any of them."""

from pathlib import Path

import pytest
from terminal import run

from qifsql import commands

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

PEOPLE = "a,b,c,s,w\n" + "".join(
    f"{i % 3},{i % 4},{i % 7},{'xy'[i % 5 == 0]},{i % 6}\n" for i in range(60)
)
KNOWN = ("people.csv", "-q", "a,b,c")
LATTICE = ("--method", "lattice", "--k", "2", "--suppress", "0.2")
DP = ("--useful", "s", "--secret", "a", "--predicate", "s = 'x'")
COMMANDS: dict[str, tuple[str, ...]] = {
    "adversaries": ("adversaries", "sweep.parquet", "--knows", "a=0.5,b=0.5,c=0.5"),
    "anonymise": ("anonymise", *KNOWN, *LATTICE, "-o", "out.parquet"),
    "attack": ("attack", "crs,cas", *KNOWN, "-s", "s", "--histogram", "--threshold", "0.5"),
    "compare": ("compare", "people.csv", "three.parquet", "-q", "a,b,c", "-s", "s"),
    "dit": ("dit", *KNOWN, "-s", "s", "--k", "2,3"),
    "dp": ("dp", "people.csv", *DP, "--epsilon", "1,2"),
    "suda": ("suda", *KNOWN, "--fraction", "0.1"),
    "sweep": ("sweep", *KNOWN, "-s", "s", "--histogram"),
    "synthetic": ("synthetic", "people.csv", "again.csv", "-q", "a,b,c", "-s", "s", "--sweep"),
    "tables": ("tables", "people.csv", "--table", "a,b", "--table", "b,s", "--secret", "s"),
    "what_if": ("what-if", *KNOWN, "-s", "s", "--change", "drop=c", "--change", "drop=b"),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with people, a sweep of them and a coarser release."""
    monkeypatch.chdir(tmp_path)
    for name in ("people", "again"):
        Path(f"{name}.csv").write_text(PEOPLE)
    assert run("sweep", *KNOWN, "-s", "s", "-o", "sweep.parquet").code == 0
    coarser = ("--method", "mondrian", "--k", "3", "-o", "three.parquet")
    assert run("anonymise", *KNOWN, *coarser).code == 0
    return tmp_path


def test_every_command_with_charts_is_here() -> None:
    folder = Path(commands.__file__).parent
    assert {path.parent.name for path in folder.glob("*/charts.py")} == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_chart_is_drawn(name: str, here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    done = run(*COMMANDS[name], "--charts", "charts")
    assert done.code == 0, done.err
    assert list(Path("charts").glob("*.svg"))
    assert "ERROR" not in capfd.readouterr().err  # of the library's own
