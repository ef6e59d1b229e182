"""The examples in the help texts: every command has two or more, and they run."""

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import polars as pl
import pytest
from pages import needs_shell
from places import SAMPLES
from terminal import run
from typer.testing import CliRunner

from qifsql.app import application
from qifsql.commands import NAMES, TRANSLATED
from qifsql.presentation.language import LOCALES

ENGLISH = {"the", "The", "of", "and", "with", "this", "each", "from", "Show"}
"""Words that no help text in Portuguese has."""

SUCCESS = {0, 4}
"""Exit codes of an example: done, and a level that is not met (check, run)."""


ONE_OF = 20
"""One of so many people is in the samples with few people."""

LONG = {"anonymise", "demo", "start"}
"""Commands whose examples need many people (k = 5), or take 14 to 30 seconds with few, too."""

END = {"open": " --no-browser --idle 0.1s"}
"""Options that make an example end: it waits for a reader."""


def examples(name: str) -> list[str]:
    """Return the examples of a command, so that they end."""
    listed = import_module(f"qifsql.commands.{name}.cli").EXAMPLES.values()
    return [command + END.get(name, "") for command in listed]


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The samples under their names, with all columns and few people, who are the same in each."""
    folder = tmp_path_factory.mktemp("few") / "data-samples"
    shutil.copytree(SAMPLES, folder)
    for file in folder.glob("*.parquet"):
        people = pl.read_parquet(file)
        people.filter(pl.col("ID_ALUNO") % ONE_OF == 0).write_parquet(file)
    return folder


def shell(command: str) -> tuple[int, str]:
    """Run a command in a shell that finds qifsql; return its exit code and stderr."""
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ran = subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, "PATH": places},
        input="",
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return ran.returncode, ran.stderr


@pytest.mark.parametrize("name", NAMES)
def test_a_help_text_has_examples_of_its_command(name: str) -> None:
    # attack explains twelve models on two screens
    assert len(examples(name)) >= (1 if name == "attack" else 2)
    for command in examples(name):
        assert re.search(rf"\bqifsql {name.replace('_', '-')}\b", command)


@pytest.mark.slow(because="2.1 s each; every recorded mutant dies without it")
@pytest.mark.parametrize("name", sorted({*NAMES} - LONG))
def test_the_examples_of_a_help_text_run(
    name: str, few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after another; the samples, also those that qifsql brings, have few people."""
    monkeypatch.setattr("qifsql.study.sources.bundled", lambda _folder: few)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    (tmp_path / "data-samples").symlink_to(few)
    for command in examples(name):
        for part in command.split(" && "):
            if needs_shell(part):
                code, said = shell(part)
            else:
                code, _, said = run(*shlex.split(part)[1:])
            assert code in SUCCESS, (part, said)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_a_help_text_run_as_they_are_shown(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a shell, with the whole samples: minutes together."""
    shutil.copytree(SAMPLES, tmp_path / "data-samples")
    monkeypatch.chdir(tmp_path)
    for command in examples(name):
        code, said = shell(command)
        assert code in SUCCESS, (command, said)


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


def test_the_list_of_commands_is_as_if_all_were_loaded() -> None:
    shown = [
        CliRunner().invoke(app, "--help") for app in (application(), application((), listed=NAMES))
    ]
    assert shown[0].output == shown[1].output
    assert all(name in shown[0].output for name in NAMES)


@pytest.mark.parametrize("flag", ["--version", "--help"])
def test_version_and_help_load_no_command(flag: str) -> None:
    code = "import sys; sys.argv[1:] = [sys.argv[1]]; import qifsql.app; qifsql.app.main(); "
    code += (
        "from qifsql.commands import NAMES; names = [f'qifsql.commands.{n}.cli' for n in NAMES]; "
    )
    code += "print({*names, 'sqlglot', 'polars', 'pyarrow', 'duckdb'} & {*sys.modules})"
    ran = subprocess.run(
        [sys.executable, "-c", code, flag], capture_output=True, text=True, check=True
    )
    assert ran.stdout.endswith("\nset()\n")


@pytest.mark.slow(because="1.7 s; every recorded mutant dies without it")
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
    """A screen has 50 lines of 80 columns; blank lines around it scroll away."""
    shown = run("attack", "--help").out.strip().splitlines()
    assert len(shown) <= 100


@pytest.mark.cases(5)
@pytest.mark.parametrize("name", TRANSLATED)
@pytest.mark.parametrize(("locale", "english"), [("pt_BR.UTF-8", False), ("de_DE.UTF-8", True)])
def test_help_is_in_the_language_of_the_user(
    name: str, locale: str, english: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Officers' commands are translated whole; a language without a catalogue gets English."""
    for variable in (*LOCALES, "LANGUAGE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("LANG", locale)
    assert is_english(run(name, "--help").out) == english


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_a_process_speaks_the_language_of_its_user() -> None:
    places = {n: v for n, v in os.environ.items() if n not in (*LOCALES, "LANGUAGE")}
    shown = subprocess.run(
        [sys.executable, "-m", "qifsql", "check", "--help"],
        env={**places, "LANG": "pt_BR.UTF-8"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout
    assert not is_english(shown)


def is_english(shown: str) -> bool:
    """Return whether a help text is English, and not Portuguese; one of both would be neither."""
    has_english = bool(ENGLISH & set(re.findall(r"\w+", shown)))
    assert has_english != ("Mostrar esta mensagem e sair." in shown)
    return has_english
