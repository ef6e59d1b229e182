"""Every command runs on small files, and its answer can be read in every format."""

import csv
import io
from contextlib import chdir, redirect_stdout
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import command_lines
import polars as pl
import pytest
from answers import Answers, of_each

from qifsql.presentation import terminal
from qifsql.results import exports
from qifsql.results import result as results
from qifsql.results.result import Display, contents

EVERY = of_each(command_lines.LINES)
SHOWING = of_each({*command_lines.LINES} - {*command_lines.JSON_LESS})
ENDINGS = (".parquet", ".csv", ".json", ".md", ".html", ".xlsx")


def shown(answers: Answers, name: str) -> list[tuple[str, Display]]:
    """The lines of a command, each with the result that it showed."""
    pairs = [(answer.line, answer.shown) for answer in answers.of(name)]
    return [(line, result) for line, result in pairs if result is not None]


def unsteering(text: str) -> bool:
    """Return whether a text has no character that steers a terminal."""
    return all(character.isprintable() or character == "\n" for character in text)


@EVERY
def test_a_command_runs_on_small_files(answers: Answers, name: str) -> None:
    for answer in answers.of(name):
        assert answer.done.code == 0, f"{answer.line}: {answer.done.err}"
        assert "error" not in answer.done.err, answer.line
        assert unsteering(answer.done.out + answer.done.err), answer.line


@EVERY
def test_a_command_writes_the_files_that_are_named(answers: Answers, name: str) -> None:
    """It leaves no temporary file beside them."""
    for answer in answers.of(name):
        words = answer.line.split()
        named = {word for option, word in pairwise(words) if option == "-o"}
        assert named <= {path.name for path in answer.written}, answer.line
        assert not [path for path in answer.written if path.name.startswith(".")], answer.line


@EVERY
def test_a_command_shows_a_result_or_writes_a_file_or_a_text(answers: Answers, name: str) -> None:
    for answer in answers.of(name):
        assert (answer.shown is not None) == command_lines.has_json(answer.line), answer.line


@pytest.mark.cases(4)
@SHOWING
def test_people_read_every_result(answers: Answers, name: str) -> None:
    """In a terminal and as Markdown: a text that does not steer the terminal."""
    for line, result in shown(answers, name):
        with chdir(answers.folder), redirect_stdout(io.StringIO()) as drawn:
            terminal.draw(result.parts)
        for text in (drawn.getvalue(), results.text(result, "markdown")):
            assert text.strip(), line
            assert unsteering(text), line


@pytest.mark.cases(18)
@SHOWING
def test_the_rows_of_csv_are_those_of_the_result(answers: Answers, name: str) -> None:
    for line, result in shown(answers, name):
        frame = result.result.frame
        table = exports.comma_separated(frame)
        header, *rows = csv.reader(io.StringIO(table))
        assert header == frame.columns, line
        assert len(rows) == frame.height, line
        assert results.text(result, "csv").startswith(table), line


@pytest.mark.cases(3)
@SHOWING
def test_every_result_is_a_file_with_each_ending(answers: Answers, name: str) -> None:
    line, result = shown(answers, name)[0]
    for ending in ENDINGS if find_spec("xlsxwriter") else ENDINGS[:-1]:
        with chdir(answers.folder):
            made = contents(result, Path(f"result{ending}"))
        assert {path.suffix for path in made} == {ending}, line
        for content in made.values():
            assert isinstance(content, pl.DataFrame) or len(content) > 0, line


def test_every_command_has_a_line() -> None:
    assert set(command_lines.LINES) == command_lines.commands()
