"""Streams: separate connections to one database, each used by one thread.

Two single-threaded streams over independent parts are faster than one query with two threads,
because the data of each part stay in the cache of its core.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeAlias, TypeVar

import pyarrow as pa

from qifsql.engine.progress import silent
from qifsql.engine.settings import Settings
from qifsql.engine.threads import in_threads

T = TypeVar("T")
Connection: TypeAlias = Any
"""A ``DuckDBPyConnection``. DuckDB is loaded by the first statement: reports load no engine."""
WHERE = "the workspace"  # the source of streams, by default


class Stream:
    """One connection, with separate temporary tables, macros and variables."""

    def __init__(
        self,
        connection: Connection,
        settings: Settings,
        where: str = WHERE,
        frames: Mapping[str, Any] | None = None,
    ) -> None:
        """Open it: ``frames`` are tables to read by name, ``where`` names the data in errors."""
        self._cursor = connection.cursor()
        register(self._cursor, frames or {})
        self._settings = settings
        self._where = where
        self.interrupted = threading.Event()
        self.prepared: object = None  # what its macros and variables are for

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a small result.

        For a statement that creates or fills a table, this is one row: the number of its rows.
        """
        return self._run(lambda cursor: cursor.execute(sql, list(parameters)).fetchall())

    def arrow(self, sql: str) -> pa.Table:
        """Return the rows of a query as columns."""
        return self._run(lambda cursor: cursor.sql(sql).to_arrow_table())

    @contextmanager
    def reading(self, name: str, table: pa.Table) -> Iterator[None]:
        """Let the statements inside read a table under a name."""
        register(self._cursor, {name: table})
        try:
            yield
        finally:
            self._cursor.unregister(name)

    def _run(self, call: Callable[[Connection], T]) -> T:
        """Return what ``call`` returns for the connection; Ctrl-C can interrupt it."""
        import duckdb

        from qifsql.engine.duckdb_errors import translated

        if threading.current_thread() is threading.main_thread():
            # it receives Ctrl-C, so another thread runs the statement
            results: list[T] = []
            together([self], lambda _: results.append(self._run(call)), look=silent)
            return results[0]
        try:
            return call(self._cursor)
        except duckdb.Error as e:
            raise translated(e, self._where, self._settings, ours=True) from e

    def count(self, sql: str) -> int:
        """Run a statement; return the number of rows that it wrote."""
        return int(self.rows(sql)[0][0])

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all changes inside the context, or none of them."""
        import duckdb

        self.rows("BEGIN")
        try:
            yield
            self.rows("COMMIT")
        except BaseException:
            with suppress(duckdb.Error):  # the engine may have ended the transaction already
                self._cursor.rollback()
            raise

    def interrupt(self) -> None:
        """Stop the statement that runs now, and whoever waits to run another one."""
        self.interrupted.set()
        self._cursor.interrupt()

    def close(self) -> None:
        """Close the connection; this drops its temporary tables."""
        self._cursor.close()


def register(connection: Connection, frames: Mapping[str, Any]) -> None:
    """Let a connection read data frames under these names; do this for each connection."""
    for name, frame in frames.items():
        connection.register(name, frame)


def together(
    streams: Sequence[Stream], work: Callable[[Stream], None], look: Callable[[], None]
) -> None:
    """Run ``work`` on every stream, each in its own thread, until all return.

    ``look`` is called meanwhile. The first error, or Ctrl-C, stops all of them.
    """

    def interrupt() -> None:
        for stream in streams:
            stream.interrupt()

    in_threads([partial(work, stream) for stream in streams], interrupt=interrupt, look=look)
