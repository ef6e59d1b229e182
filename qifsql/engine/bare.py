"""Engines to check numbers with, as somebody else would open them: a bare DuckDB, and SQLite.

DuckDB runs texts as they are, reads the named files alone, and writes none.
"""

import math
import re
import sqlite3
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import duckdb

from qifsql.data.dataset import Dataset
from qifsql.data.readers import escaped
from qifsql.engine.access import connection_options, lock
from qifsql.engine.decoding import decoded, private_sql
from qifsql.engine.duckdb_errors import translated
from qifsql.engine.settings import Settings, private_folder
from qifsql.engine.threads import in_threads
from qifsql.errors import DatasetError, EngineError, quoted
from qifsql.query.render import render
from qifsql.query.templates import load

MOST_ROWS = 2_000_000  # of an answer: counts have few rows for data of any size
HARMLESS = ("SELECT", "CREATE", "INSERT", "DELETE", "UPDATE", "DROP")
"""Kinds of statements that change nothing but tables in memory."""
OPENING = re.compile(
    r"ATTACH IF NOT EXISTS (?:':memory:' AS \w+|'[^']*(?:''[^']*)*' AS \w+ \(READ_ONLY\))\s*;?\s*"
)
ZONE = re.compile(r"SET TimeZone = 'UTC'\s*;?\s*")
COMMENT = re.compile(r"^\s*--[^\n]*\n", re.MULTILINE)


class OverdueError(EngineError):
    """A text was not done in the time that it had."""


@dataclass(frozen=True)
class Answer:
    """The rows of one SELECT, with the names of its columns."""

    statement: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]

    def lines(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


class BareDuckDB:
    """An empty DuckDB in memory that opens ``paths`` to read them, and no other file."""

    def __init__(
        self, paths: Iterable[str], settings: Settings, where: str, datasets: Iterable[Dataset] = ()
    ) -> None:
        """Open the database within the limits of ``settings``; errors call the data ``where``.

        Of ``datasets`` that DuckDB does not read as they are, it reads private copies.
        """
        self._settings = settings
        self._where = where
        self._folder = private_folder(settings.temp)
        # statements name a file as it is, or escaped if DuckDB would take it for a pattern
        names = [Path(name) for path in paths for name in (path, escaped(path))]
        try:
            self._datasets = [
                replace(d, copies=decoded(self._folder.path, d)) for d in datasets if d.is_decoded
            ]
            self._connection = duckdb.connect(
                config=connection_options(settings, self._folder.path)
            )
            self._connection.execute("SET TimeZone = 'UTC'")
            for statement in lock(names, (), [self._folder.path]):
                self._connection.execute(statement)
        except BaseException as e:
            self._folder.remove()
            if isinstance(e, duckdb.Error):
                raise translated(e, where, settings) from e
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._connection.close()
        finally:
            self._folder.remove()

    def run(
        self, script: str, *, limit: int = MOST_ROWS, seconds: float = math.inf
    ) -> list[Answer]:
        """Run all statements of a text; return ``limit`` rows of each that is a SELECT.

        Raises DatasetError if the text has a statement that opens or writes anything else, or if
        DuckDB refuses it; OverdueError after so many ``seconds``; EngineError if the machine has
        too little memory or disk.
        """
        answers: list[Answer] = []
        script = private_sql(script, self._datasets)
        began = time.monotonic()

        def look() -> None:
            if time.monotonic() - began > seconds:
                raise OverdueError(f"it took longer than {seconds:,.0f} seconds")

        in_threads(
            [lambda: answers.extend(self._answers(script, limit))],
            interrupt=self._connection.interrupt,
            look=look,
        )
        return answers

    def _answers(self, script: str, limit: int) -> list[Answer]:
        """Check all statements of a text, then run them; return ``limit`` rows of each SELECT."""
        try:
            statements = self._connection.extract_statements(script)
            for statement in statements:
                _check_statement(statement.type.name, statement.query, self._where)
            answers: list[Answer] = []
            for statement in statements:
                text = str(statement.query)
                if ZONE.fullmatch(COMMENT.sub("", text).strip()):  # it is set already
                    continue
                cursor = self._connection.execute(statement)
                if statement.type.name == "SELECT":
                    columns = tuple(str(column[0]) for column in cursor.description or ())
                    answers.append(Answer(text, columns, cursor.fetchmany(limit)))
            return answers
        except duckdb.Error as e:
            raise translated(e, self._where, self._settings) from e


def _check_statement(kind: str, text: str, where: str) -> None:
    """Refuse a statement, of DuckDB's ``kind``, that could write a file or open other ones."""
    plain = COMMENT.sub("", text).strip()
    if kind in HARMLESS or OPENING.fullmatch(plain) or ZONE.fullmatch(plain):
        return
    raise DatasetError(
        f"the SQL of {where} has a statement of the kind {quoted(kind.lower())}, which is none of "
        "an attack; it was not run"
    )


Person = tuple[str, str, int]
"""The block of a person, the value of the secret, and the weight."""
Cell = tuple[str, str, int, int]
"""A block, a value of the secret, how many people of the block have it, and their weight."""


def count_in_sqlite(people: Iterable[Person]) -> list[Cell]:
    """Return a row per block and value; EngineError if weights do not fit into 63 bits."""
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.execute("CREATE TABLE individuals (block TEXT, value TEXT, weight INTEGER)")
            connection.executemany("INSERT INTO individuals VALUES (?, ?, ?)", people)
            rows = connection.execute(render(load("verify/cells").query)).fetchall()
    except (sqlite3.Error, OverflowError) as e:
        raise EngineError("SQLite cannot count these people", detail=str(e)) from e
    return [(str(block), *rest) for block, *rest in rows]
