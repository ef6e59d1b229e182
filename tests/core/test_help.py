"""The examples in the help texts: every command has two or more, and they run."""

import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from places import ROOT

from qifsql.commands import NAMES

PAIRS = [
    (name, command)
    for name in NAMES
    for command in import_module(f"qifsql.commands.{name}.cli").EXAMPLES.values()
]
SUCCESS = {0, 4}
"""Exit codes of an example: done, and a level that is not met (check, run)."""


def test_every_command_has_two_examples() -> None:
    few = {name for name in NAMES if len(import_module(f"qifsql.commands.{name}.cli").EXAMPLES) < 2}
    assert not few


@pytest.mark.parametrize(
    ("name", "command"), PAIRS, ids=[f"{n}-{i}" for i, (n, _) in enumerate(PAIRS)]
)
def test_example_runs(name: str, command: str, tmp_path: Path) -> None:
    """Each example runs as it is shown, where ``data-samples`` is at hand; several steps by &&."""
    shutil.copytree(ROOT / "data-samples", tmp_path / "data-samples")
    assert command.startswith("qifsql ")
    assert re.search(rf"\bqifsql {name.replace('_', '-')}\b", command)
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ran = subprocess.run(
        ["bash", "-c", command],
        cwd=tmp_path,
        env={**os.environ, "PATH": places},
        input="",
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ran.returncode in SUCCESS, ran.stderr
