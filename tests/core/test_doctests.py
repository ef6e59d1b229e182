"""The examples in the documentation of public functions run and print what they show."""

import doctest
import inspect
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import get_args, get_type_hints

import polars as pl
import pytest
from places import SAMPLES

import qifsql
from qifsql.adversary.options import Options
from qifsql.commands import NAMES

PUBLIC = sorted(name for name in qifsql.__all__ if not name.startswith("_"))
SOME = ("blocks", "hyper", "receipt", "records", "shell")
"""Commands that take options of an attack, and refuse those without a meaning for them."""

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def test_every_command_function_has_sections_and_an_example() -> None:
    lacking = {
        f"{name}: {part}"
        for name in NAMES
        for part in ("Args:", "Returns:", "Raises:", "Example:", ">>> ", "Source:")
        if part not in (inspect.getdoc(getattr(qifsql, name)) or "")
    }
    assert not lacking


def arguments(function: Callable[..., object]) -> set[str]:
    """The names of all that a function takes, those of its declared options included."""
    parameters = inspect.signature(function).parameters
    names = {name for name, p in parameters.items() if p.kind is not p.VAR_KEYWORD}
    hints = get_type_hints(function, include_extras=True)
    for name in parameters.keys() - names:
        names |= get_type_hints(get_args(hints[name])[0]).keys()
    return names


def test_every_argument_is_documented() -> None:
    """The section Args of a command's function names all that it takes, and nothing else."""
    wrong = {}
    for name in NAMES:
        function = getattr(qifsql, name)
        document = inspect.getdoc(function) or ""
        section = re.search(r"^Args:\n((?:    .*\n|\n)*)", document, re.M)
        listed = set(re.findall(r"^    (\w+):", section[1], re.M)) if section else set()
        every = arguments(function)
        refused = set(Options.__annotations__) & every if name in SOME else set()
        if difference := (listed ^ every) - (refused - listed):
            wrong[name] = sorted(difference)
    assert not wrong


@pytest.mark.parametrize("name", PUBLIC)
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All examples of a function, in a folder in which ``data-samples`` is that of the samples."""
    shutil.copytree(SAMPLES, tmp_path / "data-samples")
    monkeypatch.chdir(tmp_path)
    thing = getattr(qifsql, name)
    tests = doctest.DocTestFinder(recurse=inspect.isclass(thing)).find(
        thing, name, globs={"qifsql": qifsql, "pl": pl}
    )
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    printed: list[str] = []
    for test in tests:
        runner.run(test, out=printed.append)
    assert not printed, "".join(printed)
