"""Each command line of the table is run once in a process; many tests look at its answer.

A line that reads what another line writes has that one run first. The tests of a command have the
mark of ``together``, so that one worker runs its lines.
"""

import hashlib
import os
import shlex
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import command_lines
import pytest
from terminal import Done, run

from qifsql.engine.duckdb import DuckDB
from qifsql.options import show
from qifsql.options.shared_options import Output
from qifsql.results.result import Display

CAN_DRAW = find_spec("altair") is not None and find_spec("vl_convert") is not None
SETTINGS = ("enable_external_access", "lock_configuration", "allowed_paths")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A line that was run: its outcome, the result that it showed, and the files that it wrote.

    ``libraries`` is what libraries wrote to stderr by themselves. ``connections`` are the settings
    of each connection when it was closed.
    """

    line: str
    done: Done
    shown: Display | None
    written: frozenset[Path]
    libraries: str
    connections: tuple[dict[str, object], ...]


@dataclass
class Answers:
    """The answers of a process; all lines run in one folder."""

    folder: Path
    known: dict[str, Answer] = field(default_factory=dict)

    def of(self, name: str) -> list[Answer]:
        """Return the answers to the lines of a command."""
        return [self.to(line) for line in command_lines.lines(name)]

    def to(self, line: str) -> Answer:
        """Return the answer to a line, from the first time that it was run."""
        if line not in self.known:
            for maker in {
                command_lines.MAKERS.get(word.partition(":")[0], line) for word in line.split()
            } - {line}:
                self.to(maker)
            self.known[line] = self._run(line)
        return self.known[line]

    def _run(self, line: str) -> Answer:
        words = shlex.split(line)
        if command_lines.has_json(line):
            words += ["--format", "json"]
        if CAN_DRAW and line in command_lines.DRAWN.values():
            words += ["--charts", f"charts/{hashlib.md5(line.encode()).hexdigest()}"]
        before = {*self.folder.rglob("*")}
        with chdir(self.folder), results() as shown, _settings() as settings, _stderr() as said:
            done = run(*words)
        return Answer(
            line=line,
            done=done,
            shown=shown[0] if shown else None,
            written=frozenset({*self.folder.rglob("*")} - before),
            libraries="".join(said),
            connections=tuple(settings),
        )


@contextmanager
def results() -> Iterator[list[Display]]:
    """Give a list to which each result is added that the command line shows."""
    shown: list[Display] = []
    show_result = show.show

    def kept(result: Display, output: Output, **verdict: Any) -> None:
        shown.append(result)
        show_result(result, output, **verdict)

    with patch.object(show, "show", kept):
        yield shown


@contextmanager
def _settings() -> Iterator[list[dict[str, object]]]:
    """Give a list to which the settings of each connection are added when it is closed."""
    found: list[dict[str, object]] = []
    close = DuckDB.close

    def recorded(engine: DuckDB) -> None:
        query = ", ".join(f"current_setting('{name}')" for name in SETTINGS)
        row = engine._connection.execute(f"SELECT {query}").fetchall()[0]
        found.append(dict(zip(SETTINGS, row, strict=True)))
        close(engine)

    with patch.object(DuckDB, "close", recorded):
        yield found


@contextmanager
def _stderr() -> Iterator[list[str]]:
    """Give a list that in the end has what libraries wrote to the stream of the process."""
    said: list[str] = []
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield said
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            said.append(file.read().decode("utf-8", "replace"))


def together(name: str) -> pytest.MarkDecorator:
    """Return the mark of the tests of a command's lines: one worker runs them."""
    return pytest.mark.xdist_group(f"lines of {name}")


def of_each(names: Iterable[str]) -> pytest.MarkDecorator:
    """Return the mark of a test that is run for each of these commands."""
    marked = [pytest.param(name, marks=together(name)) for name in sorted(names)]
    return pytest.mark.parametrize("name", marked)
