"""DuckDB as an engine: a private in-memory database with limits, which can be interrupted."""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar, Unpack

import duckdb
import polars as pl
from sqlglot import exp

from qifsql.data.collection import Collection
from qifsql.data.dataset import Dataset, Irregularity
from qifsql.data.files import Identity, check_unchanged, identities
from qifsql.data.formats import ZIPPED
from qifsql.data.frames import view_name
from qifsql.data.readers import STORE, attaching, loading, openings
from qifsql.engine.access import Access, connection_options, datasets_of, lock
from qifsql.engine.checksums import check_gzip, check_pages, chunks_query
from qifsql.engine.connections import WHERE, Stream, register, together
from qifsql.engine.conversion import convert
from qifsql.engine.duckdb_errors import translated
from qifsql.engine.settings import Settings, machine_memory, private_folder
from qifsql.engine.threads import POLL, in_threads
from qifsql.errors import (
    INTERRUPTED,
    STARVED,
    DatasetError,
    EngineError,
    InputError,
    InternalError,
    Interrupted,
    QifError,
    starved,
)
from qifsql.query.plan import Plan
from qifsql.query.render import copying, detaching, dropping, keeping, render, setting, statement

T = TypeVar("T")
BATCH = 100_000  # rows of a result that are read at a time
LOOKING = "reading the columns"
UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")  # as DuckDB writes sizes
PROBED = "probed"  # the catalog of a file that is only inspected
CHECKED: set[tuple[str, Identity]] = set()  # files whose checksums fit
TEMPORARY_ROWS = 20_480  # in a row group of a temporary file, which is read again at once
UNCOUNTED = 96 * 2**20  # bytes of the limit for memory that DuckDB does not count


class DuckDB:
    """One connection. Use it as a context manager: temporary files are removed when it ends."""

    def __init__(self, settings: Settings | None = None, **access: Unpack[Access]) -> None:
        """Open a database in memory that reads and writes the files of ``access`` alone."""
        self.settings = settings or Settings()
        self.sources = tuple(access.get("sources", ()))
        self.ordered = access.get("ordered", False)
        # by dataset and column: how many values the file declares missing, and irregular spellings
        self.declared_missing: dict[tuple[str, str], int] = {}
        self.irregular_columns: dict[tuple[str, str], Irregularity] = {}
        self._attached: set[str] = set()  # the statements that opened databases
        datasets = datasets_of(self.sources)
        if remote := next((d.name for d in datasets if d.format == "spark"), None):
            raise DatasetError(
                f"{remote} is not a local file, and DuckDB never uses the network; --engine spark "
                "reads it"
            )
        self._formats = {p: d.format for d in datasets if d.frame is None for p in d.paths}
        self._frames = {view_name(d.paths[0]): d.frame for d in datasets if d.frame is not None}
        self._inputs = identities(self._formats)
        self.settings.check_threads()
        self._folder = private_folder(self.settings.temp)
        try:
            outputs = [self.unfinished_path(path) for path in access.get("outputs", ())]
            self._connect(outputs, access.get("folders", ()))
        except BaseException as e:  # an interruption must also remove the folder
            self._folder.remove()
            if not isinstance(e, duckdb.Error):
                raise
            if starved(e):
                raise EngineError(STARVED, detail=str(e)) from e
            raise InputError(
                f"memory={self.settings.memory} cannot be used; give a size such as 8GB",
                detail=str(e),
            ) from e

    def _connect(self, files: Sequence[Path], folders: Iterable[Path]) -> None:
        """Open the connection, which writes these files and folders alone; lock its settings."""
        memory = self.settings.memory
        if memory and not (memory.isascii() and re.match(r"[0.]*[1-9]", memory)):
            raise duckdb.InvalidInputException("memory must be a size above 0")
        options = connection_options(self.settings, self.scratch)
        options["preserve_insertion_order"] = self.ordered
        self._connection = duckdb.connect(config=options)
        aside = UNCOUNTED if files else 0  # which writing files takes
        self._connection.execute(setting("memory_limit", self._duckdb_limit(aside)))
        with suppress(duckdb.InvalidInputException):  # refused in Jupyter without ipywidgets
            self._connection.execute("SET enable_progress_bar = true")
            self._connection.execute("SET enable_progress_bar_print = false")
        self._connection.execute("SET TimeZone = 'UTC'")  # not that of the machine
        self._connection.execute(";".join(lock(self.sources, files, [self.scratch, *folders])))
        register(self._connection, self._frames)

    def _duckdb_limit(self, aside: int) -> exp.Literal:
        """Return DuckDB's limit: the memory without the bytes ``aside``, at most a third of it."""
        limit = min(self.memory, machine_memory() or self.memory)
        return exp.Literal.string(f"{(limit - min(limit // 3, aside)) // 2**10}KiB")

    def set_aside(self, size: int) -> None:
        """Take bytes from the memory limit, for what DuckDB does not count; at most a third."""
        self._fetch(setting("memory_limit", self._duckdb_limit(size)))

    def __enter__(self) -> Self:
        """Check the inputs, and copy those that DuckDB does not read; close if one is refused."""
        try:
            for path in self._inputs:
                self._check_checksums(path)
            for dataset in {d.copy_name: d for d in datasets_of(self.sources)}.values():
                if dataset.copy_name:  # empty if DuckDB reads the format itself
                    sql = convert(self, dataset)
                    self._look_up(dataset.name, partial(self._fetch, sql))
        except BaseException as e:
            self.close()
            if isinstance(e, KeyboardInterrupt):
                raise Interrupted(INTERRUPTED) from e
            raise
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        self.close()
        if error is None or (isinstance(error, Exception) and not isinstance(error, Interrupted)):
            try:
                self.check_inputs()
            except QifError as e:
                raise e from error

    def check_inputs(self) -> None:
        """Refuse inputs that were replaced or changed since the engine was opened."""
        check_unchanged(self._inputs)

    def _check_checksums(self, path: str) -> None:
        """Refuse an input that does not match its checksums; check each once in a process."""
        format_ = self._formats[path]
        if (
            format_ in ("duckdb", "sqlite")
            or path.casefold().endswith(ZIPPED)
            or (path, self._inputs[path]) in CHECKED
        ):
            return
        if format_ in ("csv", "json") and path.casefold().endswith(".gz"):
            check_gzip(path)
        elif format_ == "parquet":
            first = self.query(chunks_query(path, first=True), path)
            if check_pages(path, first):  # a file without checksums has none in its first chunks
                check_pages(path, self.query(chunks_query(path, first=False), path))
        CHECKED.add((path, self._inputs[path]))

    def close(self) -> None:
        """Close the connection and remove the temporary files."""
        try:
            self._connection.close()
        except duckdb.Error:  # an interrupted statement has not ended yet
            with suppress(duckdb.Error):  # it may have ended by now
                self._connection.interrupt()
                time.sleep(POLL)
                self._connection.close()
        finally:
            self._folder.remove()

    def unfinished_path(self, path: Path) -> Path:
        """Return the path of an output until it is complete: next to it, with a private name."""
        return path.with_name(f".{self.scratch.name}{path.suffix}")

    def frame(self, plan: Plan, what: str, where: str) -> pl.DataFrame:
        """Return the result of a plan, which has few rows for data of any size."""
        frames = list(self.batches(plan, what, where, rows=BATCH))
        return frames[0] if len(frames) == 1 else pl.concat(frames, how="vertical_relaxed")

    def rows(self, plan: Plan, what: str, where: str) -> list[tuple[Any, ...]]:
        """Return the rows of a plan as Python values, exact for numbers of any size."""
        sql = statement(plan)
        return self._run(what, where, lambda: self._fetch(sql))

    def copy(self, plan: Plan, path: Path, *, what: str, where: str, note: str = "") -> int:
        """Stream the result of a plan to a Parquet file; return the number of rows.

        A ``note`` becomes its metadata ``qifsql``. A file in the temporary folder has small row
        groups, because it is read again at once: its reader then holds few rows in memory.
        """
        group = TEMPORARY_ROWS if path.parent == self.scratch else None
        sql = copying(plan, str(path), note, group)
        ((rows,),) = self._run(what, where, lambda: self._fetch(sql))
        self.check_inputs()
        return int(rows)

    def open_kept(self, path: Path | None = None) -> set[str]:
        """Open the catalog of steps that are kept as tables; return the names of its tables.

        ``path`` is the file of the tables; without a file they are dropped when the engine closes.
        A file that cannot be made, because the disk is full, leaves nothing behind.
        """
        attach = attaching(str(path) if path else ":memory:", STORE)
        where = path.name if path else "kept tables"
        is_new = path is not None and not path.exists()
        try:
            self._look_up(where, lambda: self._fetch(attach))
            return self._tables(STORE, where) if path else set()
        except EngineError:
            if path is not None and is_new:
                path.unlink(missing_ok=True)
            raise
        except InternalError as e:  # DuckDB notices the damage of a file only here
            raise DatasetError(
                f"{where} cannot be read: it is corrupt, truncated or of another format than "
                "its name says",
                detail=e.detail,
            ) from e

    def probe(self, path: Path) -> tuple[set[str], QifError | None]:
        """Return the tables in a file of kept tables, and the error if it cannot be opened."""
        try:
            self._look_up(path.name, lambda: self._fetch(attaching(str(path), PROBED)))
            try:
                return self._tables(PROBED, path.name), None
            finally:
                self._fetch(detaching(PROBED))
        except QifError as e:
            return set(), e

    def _tables(self, catalog: str, where: str) -> set[str]:
        """Return the names of the tables of a catalog; InputError if it holds more than tables.

        Views, macros and triggers can run any SQL; qifsql writes none of them.
        """
        is_inside = exp.column("database_name").eq(catalog)
        tables = exp.select("table_name").from_("duckdb_tables()").where(is_inside)
        for listing in ("duckdb_views()", "duckdb_functions()", "duckdb_triggers()"):
            # one row: how many of these the file holds
            foreign = exp.select("count(*)").from_(listing).where(is_inside.copy())
            if self.query(foreign, where)[0][0]:
                raise InputError(
                    f"{where} holds views, macros or triggers, which qifsql does not write; "
                    "the file was changed: name another file"
                )
        return {name for (name,) in self.query(tables, where)}

    def keep(self, name: str, plan: Plan, what: str, where: str, *, catalog: str = STORE) -> str:
        """Keep the result of a plan as a table that other plans can read; return the statement."""
        sql = keeping(plan, name, catalog)
        self._run(what, where, lambda: self._fetch(sql))
        return sql

    def run(self, statement: str, what: str, where: str) -> None:
        """Run a statement that was rendered before, such as one that is repeated."""
        self._run(what, where, lambda: self._fetch(statement))

    def drop(self, name: str, catalog: str) -> None:
        """Drop a table that was kept."""
        self._fetch(dropping(f"{catalog}.main.{name}"))

    @property
    def here(self) -> Self:
        """Return the engine itself, which is in this process."""
        return self

    @property
    def workers(self) -> int:
        """Return the number of tasks that may run at the same time."""
        return self.threads

    def stream(self, where: str = WHERE, frames: Mapping[str, Any] | None = None) -> Stream:
        """Return a separate connection to the same database, for one thread.

        ``where`` names the data that it reads, for errors; ``frames`` are further Arrow tables to
        read, by name.
        """
        return Stream(self._connection, self.settings, where, {**self._frames, **(frames or {})})

    @contextmanager
    def single_threaded(self) -> Iterator[None]:
        """Run statements inside with one thread, and join their tables in the written order."""
        ((threads, disabled),) = self._fetch(
            "SELECT current_setting('threads'), current_setting('disabled_optimizers')"
        )
        self._set(1, f"{disabled},join_order,build_side_probe_side")
        try:
            yield
        finally:
            self._set(threads, disabled)

    def _set(self, threads: int, disabled_optimizers: str) -> None:
        """Set the number of threads, and the optimizers that are off, for all statements."""
        self._fetch(setting("threads", exp.Literal.number(threads)))
        self._fetch(setting("disabled_optimizers", exp.Literal.string(disabled_optimizers)))

    together = staticmethod(together)

    @property
    def memory(self) -> int:
        """Return the memory limit in bytes."""
        ((text,),) = self._fetch("SELECT current_setting('memory_limit')")
        number, unit = text.split()
        return int(float(number) * 1024 ** UNITS.index(unit))

    @property
    def threads(self) -> int:
        """Return the number of threads of a statement."""
        return int(self._fetch("SELECT current_setting('threads')")[0][0])

    @property
    def scratch(self) -> Path:
        """Return the private folder for temporary files; closing the engine removes it."""
        return self._folder.path

    def batches(self, plan: Plan, what: str, where: str, rows: int) -> Iterator[pl.DataFrame]:
        """Yield the result of a plan in frames of at most ``rows`` rows, at least one frame.

        Whole numbers of any size stay exact.
        """
        sql = statement(plan)

        def begin() -> tuple[duckdb.DuckDBPyConnection, list[tuple[Any, ...]]]:
            cursor = self._connection.execute(sql)
            return cursor, cursor.fetchmany(rows)

        cursor, chunk = self._run(what, where, begin)
        names = [d[0] for d in cursor.description]
        while True:
            yield pl.DataFrame(chunk, schema=names, orient="row", infer_schema_length=None)
            if len(chunk) < rows:
                return
            chunk = self._run(what, where, lambda: cursor.fetchmany(rows))

    def script(self, sql: str) -> Iterator[tuple[list[str], list[tuple[Any, ...]]]]:
        """Run the SQL that a person typed; yield the columns and rows of each result.

        If the SQL fails, the person sees DuckDB's message, as at any prompt.
        """
        try:
            for statement in self._connection.extract_statements(sql):
                cursor = self._run(
                    "running", "prompt", partial(self._connection.execute, statement)
                )
                if cursor.description is not None:
                    yield [d[0] for d in cursor.description], cursor.fetchall()
        except duckdb.Error as e:
            raise InputError(str(e).strip(), detail=str(e)) from e
        except (ImportError, ValueError, OverflowError) as e:
            raise InputError(
                "a value cannot be shown as it is; cast its column to VARCHAR", detail=str(e)
            ) from e
        except QifError as e:
            if e.detail is None:
                raise
            raise InputError(e.detail.strip(), detail=e.detail) from e

    def describe(self, table: exp.Expr, where: str) -> list[tuple[str, str]]:
        """Return the engine's names and types of the columns of a relation or query."""
        query = table if isinstance(table, exp.Query) else exp.select("*").from_(table.copy())
        sql = render(exp.Describe(this=query))
        return [(r[0], r[1]) for r in self._look_up(where, lambda: self._fetch(sql))]

    def attach(self, dataset: Dataset | Collection) -> None:
        """Open the files of DuckDB tables, read-only; other datasets need no opening."""
        for sql in openings(dataset):
            if sql not in self._attached:
                self._look_up(dataset.name, partial(self._fetch, sql))
                self._attached.add(sql)

    def load(self, source: Dataset | Collection, used: frozenset[str] | None = None) -> Dataset:
        """Copy the rows of a dataset into a table of the engine, to read them many times.

        The table of a collection has the ``used`` columns, with a row per person. Returns it.
        """
        loaded = loading(source, used, ordered=self.ordered)
        self._run("loading", source.name, lambda: self._fetch(loaded.statement))
        return loaded

    def query(self, tree: exp.Query, where: str) -> list[tuple[Any, ...]]:
        """Return the rows of a small query about the data or the engine."""
        return self._look_up(where, lambda: self._fetch(render(tree)))

    def _fetch(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a statement in this thread, with DuckDB's own errors; return its rows."""
        try:
            return self._connection.execute(sql).fetchall()
        except UnicodeDecodeError as e:  # of a message of the engine that cuts a character
            raise duckdb.InvalidInputException("a function gives a text that is no UTF-8") from e

    def _look_up(self, where: str, call: Callable[[], T]) -> T:
        """Run a call that may read what the user wrote: files, expressions, databases."""
        return self._run(LOOKING, where, call)

    def _run(self, what: str, where: str, call: Callable[[], T]) -> T:
        """Run a call in a thread, to show progress and react to Ctrl-C while SQL runs."""
        outcome: list[T] = []

        def look() -> None:
            share = self._connection.query_progress()
            self.settings.progress(what, max(0.0, min(share, 100.0)) / 100)

        try:
            in_threads(
                [lambda: outcome.append(call())],
                interrupt=self._connection.interrupt,
                look=look,
                words=INTERRUPTED,
            )
        except duckdb.Error as e:
            ours = what not in (LOOKING, "running", "loading")  # which may run SQL of the user
            raise translated(e, where, self.settings, ours=ours) from e
        return outcome[0]
