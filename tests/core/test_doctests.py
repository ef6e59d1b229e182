"""The examples in the documentation of public functions run and print what they show."""

import doctest
import inspect
from pathlib import Path

import polars as pl
import pytest
from places import SAMPLES

import qifsql

PUBLIC = sorted(name for name in qifsql.__all__ if not name.startswith("_"))
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("name", PUBLIC)
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All examples of a function, in a folder in which ``data-samples`` is that of the samples."""
    (tmp_path / "data-samples").symlink_to(SAMPLES)
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
