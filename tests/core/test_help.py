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

import qifsql
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
    end = " --no-browser --idle 0.1s" if name == "open" else ""  # else it waits for a reader
    for command in examples.values():
        assert re.search(rf"\bqifsql {name.replace('_', '-')}\b", command)
        ran = subprocess.run(
            ["bash", "-c", command + end],
            cwd=tmp_path,
            env={**os.environ, "PATH": places},
            input="",
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert ran.returncode in SUCCESS, (command, ran.stderr)


@pytest.mark.parametrize("words", [("levels", "-h"), ("help", "levels"), ("levels", "--help")])
def test_help_can_be_asked_for_in_any_way(words: tuple[str, ...]) -> None:
    """The question comes first, then what most users leave as it is."""
    done = run(*words)
    assert done.code == 0
    places = [
        done.out.index(f"─ {panel} ─") for panel in ("Attack", "Required levels", "Data", "Limits")
    ]
    assert places == sorted(places)


def test_help_without_a_command_is_that_of_all() -> None:
    assert run("help").out == run("-h").out == run().out


def test_the_version_loads_no_command() -> None:
    code = "import sys; sys.argv[1:] = ['-V']; import qifsql.app; qifsql.app.main(); "
    code += "print(sorted(m for m in sys.modules if m.startswith('qifsql.commands.')))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == f"qifsql {qifsql.__version__}\n[]\n"


def test_a_shell_completes_commands_and_options() -> None:
    def complete(words: str, place: int) -> list[str]:
        asked = {"COMP_WORDS": words, "COMP_CWORD": str(place), "_QIFSQL_COMPLETE": "complete_bash"}
        ran = subprocess.run(
            [str(Path(sys.executable).with_name("qifsql"))],
            env={**os.environ, **asked},
            capture_output=True,
            text=True,
            check=True,
        )
        return ran.stdout.split()

    assert complete("qifsql le", 1) == ["levels"]
    assert complete("qifsql levels --pres", 2) == ["--presence-min", "--presence-max"]


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
