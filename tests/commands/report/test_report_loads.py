"""A report is made of stored results: no engine is loaded for it, and no attack is bound."""

import subprocess
import sys
from pathlib import Path

import pytest
from places import PACKAGE, SAMPLES
from terminal import run

PEOPLE = SAMPLES / "thesis_table_3_2.csv"
WORK = {"duckdb", "qifsql.adversary.bind", "qifsql.query.compiler", "qifsql.engine.duckdb"}
POLICY = """
[adversary]
qids = "age"
secret = "illness"
[[rule]]
model = "crs"
measure = "singled_out"
at_most = 5
"""


def loaded(code: str, *arguments: object) -> set[str]:
    """The modules that a process of its own has loaded after the code, of those that work."""
    code += f"; import sys; print(*({WORK!r} & set(sys.modules)))"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.split()[-len(WORK) :]) & WORK


@pytest.mark.slow(because="9.9 s; every recorded mutant dies without it")
@pytest.mark.parametrize("ending", ["parquet", "json"])
def test_a_report_loads_no_engine(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a sweep has its workspace there
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY)
    (tmp_path / "results").mkdir()
    known = ("-q", "age,gender", "-s", "illness")
    for name, line in {
        "attack": ("attack", "crs,cas", PEOPLE, *known),
        "sweep": ("sweep", PEOPLE, *known),
        "check": ("check", PEOPLE, "--policy", policy),
    }.items():
        done = run(*line, "-o", tmp_path / "results" / f"{name}.{ending}")
        assert done.code == 0, done.err
    code = "import sys; from qifsql.app import main; sys.argv[0] = 'qifsql'; assert main() == 0"
    for out in ("report.html", "report.md", "report.csv"):
        assert not loaded(code, "report", tmp_path / "results", "-o", tmp_path / out)


@pytest.mark.slow(because="2.2 s; every recorded mutant dies without it")
def test_no_view_of_a_stored_result_loads_an_engine() -> None:
    rooms = sorted(
        f"qifsql.commands.{view.parent.name}.view"
        for view in (PACKAGE / "commands").glob("*/view.py")
        if "\nKIND = " in view.read_text("utf-8")
    )
    assert len(rooms) > 10
    assert not loaded(f"import {', '.join(rooms)}")
    assert loaded("import qifsql.engine.duckdb") >= {"duckdb"}
