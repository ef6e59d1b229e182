"""The examples in the help texts: every command has two or more, and they run."""

import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from places import SAMPLES
from terminal import run

from qifsql.commands import NAMES, TRANSLATED
from qifsql.presentation.language import LOCALES

ENGLISH = {"the", "The", "of", "and", "with", "this", "each", "from", "Show"}
"""Words that no help text in Portuguese has."""

SUCCESS = {0, 4}
"""Exit codes of an example: done, and a level that is not met (check, run)."""


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_a_help_text_run_as_they_are_shown(name: str, tmp_path: Path) -> None:
    """There are two or more; one after another, in a folder with the samples."""
    examples = import_module(f"qifsql.commands.{name}.cli").EXAMPLES
    assert len(examples) >= 2
    shutil.copytree(SAMPLES, tmp_path / "data-samples")
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for command in examples.values():
        assert re.search(rf"\bqifsql {name.replace('_', '-')}\b", command)
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
        assert ran.returncode in SUCCESS, (command, ran.stderr)


def test_the_help_of_attack_fits_two_screens() -> None:
    """A screen has 50 lines of 80 columns."""
    shown = run("attack", "--help").out.splitlines()
    assert len(shown) <= 100


@pytest.mark.parametrize("name", TRANSLATED)
@pytest.mark.parametrize(("locale", "english"), [("pt_BR.UTF-8", False), ("de_DE.UTF-8", True)])
def test_help_is_in_the_language_of_the_user(name: str, locale: str, english: bool) -> None:
    """Officers' commands are translated whole; a language without a catalogue gets English."""
    places = {n: v for n, v in os.environ.items() if n not in (*LOCALES, "LANGUAGE")}
    shown = subprocess.run(
        [sys.executable, "-m", "qifsql", name, "--help"],
        env={**places, "LANG": locale},
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout
    assert bool(ENGLISH & set(re.findall(r"\w+", shown))) == english
    assert ("Mostrar esta mensagem e sair." in shown) != english
