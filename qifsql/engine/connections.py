"""Streams: connections of their own to one database, each worked by one thread.

Two single-threaded streams over independent parts beat one query with two threads, because what
each part needs stays in the cache of its core.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import duckdb

from qifsql.engine.errors import translated
from qifsql.engine.settings import Settings, silent
from qifsql.engine.threads import in_threads

WHERE = "the workspace (remove it to start over)"  # what streams read, unless it is said


class Stream:
    """One connection. Its temporary tables, macros and variables are its own."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        settings: Settings,
        where: str = WHERE,
        frames: Mapping[str, Any] | None = None,
    ) -> None:
        self._cursor = connection.cursor()
        register(self._cursor, frames or {})
        self._settings = settings
        self._where = where

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a small result.

        For a statement that makes or fills a table, their number.
        """
        if threading.current_thread() is not threading.main_thread():
            return self._fetch(sql, parameters)
        results: list[list[tuple[Any, ...]]] = []  # Ctrl-C is heard while another thread works
        together([self], lambda _s: results.append(self._fetch(sql, parameters)), look=silent)
        return results[0]

    def _fetch(self, sql: str, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        try:
            return self._cursor.execute(sql, list(parameters)).fetchall()
        except duckdb.Error as e:
            raise translated(e, self._where, self._settings, ours=True) from e

    def count(self, sql: str) -> int:
        """Return the number of rows that a statement made."""
        return int(self.rows(sql)[0][0])

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all that is done inside, or nothing."""
        self.rows("BEGIN")
        try:
            yield
            self.rows("COMMIT")
        except BaseException:
            with suppress(duckdb.Error):  # the engine may have ended it already
                self._cursor.rollback()
            raise

    def interrupt(self) -> None:
        """Stop what runs now."""
        self._cursor.interrupt()

    def close(self) -> None:
        """Close the connection: what is its own goes."""
        self._cursor.close()


def register(connection: duckdb.DuckDBPyConnection, frames: Mapping[str, Any]) -> None:
    """Let a connection read data frames under these names; each connection has its own."""
    for name, frame in frames.items():
        connection.register(name, frame)


def together(
    streams: Sequence[Stream],
    work: Callable[[Stream], None],
    *,
    look: Callable[[], None],
) -> None:
    """Let every stream work in a thread of its own until all return.

    ``look`` is called meanwhile. The first error, or Ctrl-C, stops all of them.
    """

    def interrupt() -> None:
        for stream in streams:
            stream.interrupt()

    in_threads([partial(work, stream) for stream in streams], interrupt=interrupt, look=look)
