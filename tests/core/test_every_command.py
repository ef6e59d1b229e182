"""Every command runs on small files, as it is typed."""

import shlex
from pathlib import Path

import command_lines
import pytest
from terminal import run

FIRST = {  # writes its files
    **{"adversaries": "sweep", "compare": "anonymise", "compose": "anonymise", "report": "attack"},
    **dict.fromkeys(("open", "verify"), "sweep"),
}


@pytest.mark.parametrize("name", sorted(command_lines.LINES))
def test_a_command_runs_on_small_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    command_lines.lay_out(tmp_path)
    before = command_lines.LINES.get(FIRST.get(name, ""), ())
    if name == "verify":
        before = (*command_lines.LINES["attack"], *before)
    for line in (*before, *command_lines.LINES[name]):
        done = run(*shlex.split(line))
        assert done.code == 0, f"{line}: {done.err}"
        assert "error" not in done.err


def test_every_command_has_a_line() -> None:
    assert set(command_lines.LINES) == command_lines.commands()
