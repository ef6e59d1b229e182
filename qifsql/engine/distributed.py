"""Spark as an engine: it reads and counts the records; DuckDB here looks up names and types.

Steps of a plan run on Spark as far as they have a translation with surely the same numbers
(``dialect``). What is left reads counts, which are few, and runs in DuckDB on this machine; where
they are too many for it, the command is refused. Tables that are kept are Parquet in the folder for
temporary files, so that no step is computed twice and none depends on a lost executor.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, Self, TypeVar, Unpack

import polars as pl
from sqlglot import exp

from qifsql.data.collection import Collection
from qifsql.data.dataset import Dataset
from qifsql.data.expressions import identifier
from qifsql.data.readers import LOADED, STORE, escaped, loading, relation
from qifsql.engine import spark
from qifsql.engine.access import Access, Source, datasets_of
from qifsql.engine.duckdb import DuckDB
from qifsql.engine.placing import Placed, Placing, bare_table, is_function, typed
from qifsql.engine.settings import Settings
from qifsql.engine.spark_views import SparkViews, empty_table
from qifsql.engine.threads import in_threads
from qifsql.errors import INTERRUPTED, EngineError, ExpressionError, InputError, QifError
from qifsql.query import render
from qifsql.query.plan import Plan, Step

T = TypeVar("T")
BATCH = 100_000  # rows of a result in a frame
ROWS_HERE = 100_000  # a plan over tables of at most so many rows runs in DuckDB here
MAX_COUNTS = 20_000_000  # rows of counts that DuckDB here takes from Spark
NO_STORE = (
    "a store is a file of DuckDB, which Spark does not keep; leave out --store, or use "
    "--engine duckdb"
)
ON_SPARK = (
    *("attack", "check", "compare", "compose", "describe", "inspect", "levels", "link", "run"),
    "sweep",
)
"""The commands that run on Spark."""


@dataclass(frozen=True)
class KeptTable:
    """A kept table: its number of rows, and its view and folder in Spark once Spark has it.

    ``here``: DuckDB on this machine has the rows itself, not only a view of the folder.
    """

    rows: int
    view: str = ""
    folder: str = ""
    here: bool = False


class Spark:
    """An engine on a Spark session. Use it as a context manager: what it keeps is removed then.

    Names, types, inputs and temporary files are those of DuckDB on this machine, ``here``.
    """

    def __init__(self, settings: Settings | None = None, **access: Unpack[Access]) -> None:
        """Open a session, and DuckDB on this machine (``here``) on the sources of ``access``."""
        self.settings = settings or Settings()
        self.sources = tuple(access.get("sources", ()))
        self.ordered = access.get("ordered", False)
        access["sources"] = _sources_here(self.sources)
        # half of the limit; Java has the other
        memory = f"{spark.memory_of(self.settings) // 2**20}MiB"
        self.here = DuckDB(replace(self.settings.of_duckdb, memory=memory), **access)
        self.scratch = self.here.scratch
        self.irregular_columns = self.here.irregular_columns
        self.declared_missing = self.here.declared_missing
        self.describe = self.here.describe
        self.check_inputs = self.here.check_inputs
        self.unfinished_path = self.here.unfinished_path
        self._kept_tables: dict[tuple[str, str], KeptTable] = {}  # by catalog and name
        self._number = 0  # of the last view or table that was given a new name
        self._placing = Placing(self.here, self._view, self._is_source)
        try:
            self._spark = spark.session(self.settings)
            self._folders = spark.folders_of(self._spark, self.settings, self.scratch)
            self._views = SparkViews(
                self._spark, self.here, self._folders, act=self.act, new_name=self._new_name
            )
        except BaseException:
            self.here.close()
            raise

    def __enter__(self) -> Self:
        """Open the sources that Spark reads; remove everything if one is refused."""
        try:
            self.here.__enter__()
            for dataset in datasets_of(self.sources):
                if dataset.format == "spark":
                    self._views.open_source(dataset)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._folders.remove()
        self.here.__exit__(kind, error, trace)

    def close(self) -> None:
        """Remove the views and folders of this engine; the session stays open for others."""
        self._folders.remove()
        self.here.close()

    @property
    def memory(self) -> int:
        """Return the limit for memory on this machine in bytes."""
        return self.here.memory

    @property
    def threads(self) -> int:
        """Return the number of threads of a statement on this machine."""
        return self.here.threads

    def attach(self, dataset: Dataset | Collection) -> None:
        """Open the files of database tables, read-only; other datasets need no opening."""
        for member in dataset.datasets:
            if member.format == "duckdb" and not member.statement:
                self.here.attach(member)

    def load(self, source: Dataset | Collection, used: frozenset[str] | None = None) -> Dataset:
        """Copy the rows of a dataset into a table, to read them many times."""
        loaded = loading(source, used, ordered=self.ordered)
        rows = exp.alias_(relation(source, used, ordered=self.ordered), "rows", table=True)
        plan = Plan((), exp.select("*").from_(rows))
        self.keep(loaded.table, plan, "loading", source.name, catalog=LOADED)
        return loaded

    def query(self, tree: exp.Query, where: str) -> list[tuple[Any, ...]]:
        """Return the rows of a small query about the data or the engine."""
        if any(self._is_large(table) for table in tree.find_all(exp.Table)):
            return self.rows(Plan((), tree), "reading the columns", where)
        return self.here.query(tree, where)

    def rows(self, plan: Plan, what: str, where: str) -> list[tuple[Any, ...]]:
        """Return the rows of a plan as Python values, exact for numbers of any size.

        DuckDB on this machine (``here``) computes results over small tables, and those that Spark
        cannot. Of other plans Spark computes the rows, which are fetched.
        """
        with self._placed(plan, what, where) as placed:
            if isinstance(placed, Plan):
                return self.here.rows(placed, what, where)
            return self._collect(placed, what, where)

    def frame(self, plan: Plan, what: str, where: str) -> pl.DataFrame:
        """Return the result of a plan, which has few rows for data of any size."""
        return pl.concat(self.batches(plan, what, where, rows=BATCH), how="vertical_relaxed")

    def batches(self, plan: Plan, what: str, where: str, rows: int) -> Iterator[pl.DataFrame]:
        """Yield the result of a plan in frames of at most ``rows`` rows, at least one frame."""
        with self._placed(plan, what, where) as placed:
            if isinstance(placed, Plan):
                yield from self.here.batches(placed, what, where, rows)
                return
        records = self._collect(placed, what, where)
        names = [name for name, _ in placed.columns]
        for first in range(0, max(len(records), 1), rows):  # without records, an empty frame
            chunk = records[first : first + rows]
            yield pl.DataFrame(chunk, schema=names, orient="row", infer_schema_length=None)

    def _collect(self, placed: Placed, what: str, where: str) -> list[tuple[Any, ...]]:
        """Fetch the rows of a plan that runs on Spark, as values that DuckDB would return."""
        text = placed.text(where)
        types = [type_ for _, type_ in placed.columns]
        rows = self.act(what, where, lambda: self._spark.sql(text).collect())
        return [tuple(map(_as_in_duckdb, row, types)) for row in rows]

    def copy(self, plan: Plan, path: Path, *, what: str, where: str, note: str = "") -> int:
        """Stream the result of a plan to a Parquet file with a note; return the number of rows."""
        with self._placed(plan, what, where) as placed:
            if isinstance(placed, Plan):
                return self.here.copy(placed, path, what=what, where=where, note=note)
        name = self._new_name("copied")
        self._keep_on_spark(name, placed, what, where, catalog=LOADED)
        rows = self.here.copy(_read_plan(LOADED, name), path, what=what, where=where, note=note)
        self.drop(name, LOADED)
        return rows

    def open_kept(self, path: Path | None = None) -> set[str]:
        """Open the catalog of kept tables; a file of them is refused."""
        if path is not None:
            raise InputError(NO_STORE)
        return self.here.open_kept()

    def keep(self, name: str, plan: Plan, what: str, where: str, *, catalog: str = STORE) -> str:
        """Keep the result of a plan as a table that other plans can read; return the statement."""
        with self._placed(plan, what, where, lasting=True) as placed:
            if isinstance(placed, Placed):
                self._keep_on_spark(name, placed, what, where, catalog=catalog)
                return render.keeping(plan, name, catalog)
            statement = self.here.keep(name, placed, what, where, catalog=catalog)
        rows = self._count(catalog, name, where)
        self._kept_tables[catalog, name] = KeptTable(rows, here=True)
        return statement

    def _count(self, catalog: str, name: str, where: str) -> int:
        """Return the number of rows of a table or view of DuckDB here."""
        ((rows,),) = self.here.query(exp.select("count(*)").from_(_table(catalog, name)), where)
        return int(rows)

    def run(self, statement: str, what: str, where: str) -> None:
        """Run a statement: DuckDB here, or Spark if it replaces a table by the rows of a query.

        The query may read the table, which is therefore dropped after the new rows are kept.
        """
        create = render.parsed(statement)
        if not isinstance(create, exp.Create) or not isinstance(create.expression, exp.Query):
            self.here.run(statement, what, where)
            return
        table = create.this
        name = self._new_name("next")
        self.keep(name, Plan((), create.expression), what, where, catalog=LOADED)
        if (table.catalog, table.name) in self._kept_tables:
            self.drop(table.name, table.catalog)
        self.keep(table.name, _read_plan(LOADED, name), what, where, catalog=table.catalog)
        self.drop(name, LOADED)

    def drop(self, name: str, catalog: str) -> None:
        """Drop a table that was kept: in DuckDB here, and in Spark if Spark has it."""
        entry = self._kept_tables.pop((catalog, name), KeptTable(0, here=True))
        if entry.here:
            self.here.drop(name, catalog)
        else:  # DuckDB here has only a view of the folder
            view = exp.Drop(kind="VIEW", tables=[_table(catalog, name)], exists=True)
            self.here.run(render.render(view), "counting", name)
        if entry.view:
            self._spark.catalog.dropTempView(entry.view)
            self._folders.drop(entry.folder)

    @property
    def workers(self) -> int:
        """Return the number of tasks that the executors run at the same time."""
        return int(self._spark.sparkContext.defaultParallelism)

    @property
    def is_local(self) -> bool:
        """Return whether the executors are on this machine."""
        return spark.is_local(self._spark)

    def data(self, plan: Plan, where: str) -> Any:
        """Return the rows of a plan as a data frame of Spark, which is not computed yet."""
        return self._spark.sql(self._placing.placed(plan, where, lasting=True).text(where))

    def read(self, folder: str) -> Any:
        """Return the rows of a table that Spark wrote, as a data frame of Spark."""
        return self._spark.read.parquet(folder)

    def folders(self, lasting: Path | None) -> spark.Folders:
        """Return a place for tables: one that lasts, or that of the engine."""
        if lasting is None:
            return self._folders
        return spark.folders_of(self._spark, self.settings, self.scratch, lasting)

    def file_states(self, dataset: Dataset) -> list[list[Any]]:
        """Return the name, length and time of change of the files of a dataset of Spark."""
        view = relation(replace(dataset, wave=None)).name
        read = partial(spark.file_states, self._spark, view)
        return self.act("reading the columns", dataset.name, read)

    def _refuse(self, *_: object, **_options: object) -> NoReturn:
        """Refuse what an engine in this process alone has: threads, a store, typed SQL."""
        raise InputError(not_on_spark(""))

    stream = together = single_threaded = set_aside = probe = script = _refuse

    def _kept_table(self, table: exp.Table) -> KeptTable | None:
        """Return the kept table that a table of a query means, None if it means none."""
        return self._kept_tables.get((table.catalog or LOADED, table.name)) if table.name else None

    def _view(self, table: exp.Table, where: str) -> str:
        """Return the view of Spark with the rows of a table; create it when it is first read."""
        if (entry := self._kept_table(table)) is None:
            return self._views.of(bare_table(table), where)
        if entry.view:
            return entry.view
        catalog = table.catalog or LOADED
        view = self._new_name("kept")  # of a table that DuckDB here has
        folder = self._views.convert(_table(catalog, table.name), view, where)
        self._kept_tables[catalog, table.name] = replace(entry, view=view, folder=folder)
        return view

    def _is_source(self, table: exp.Table) -> bool:
        """Return whether a table is a source, not a kept table or a step."""
        bare = bare_table(table)
        return is_function(bare, "READ_PARQUET") or self._views.has(bare)

    def _is_large(self, table: exp.Table) -> bool:
        """Return whether a table is read by Spark: one of records, or a kept one of many rows."""
        entry = self._kept_table(table)
        return self._is_source(table) if entry is None else entry.rows > ROWS_HERE

    @contextmanager
    def _placed(
        self, plan: Plan, what: str, where: str, *, lasting: bool = False
    ) -> Iterator[Plan | Placed]:
        """Yield a plan for DuckDB on this machine, or a placed plan that Spark computes.

        DuckDB here computes plans over small tables, and results that Spark cannot compute. For
        these, Spark first computes the steps that DuckDB reads, as far as it can, into tables that
        are dropped at the end. ``lasting``: the rows of the plan will be kept.
        """
        step_names = {step.name for step in plan.steps}
        queries = [*(step.query for step in plan.steps), plan.result]
        tables = [table for query in queries for table in query.find_all(exp.Table)]
        if not any(self._is_large(t) for t in tables if t.db or t.name not in step_names):
            yield plan  # all its tables are small
            return
        placed = self._placing.placed(plan, where, lasting=lasting)
        if placed.result is not None:
            yield placed
            return
        from_spark = self._steps_from_spark(placed, where)
        computed = {step: self._compute(step, placed, what, where) for step in from_spark}
        # the steps of Spark become steps that read their tables
        reading = (Step(n, "", _read_plan(LOADED, table).result) for n, table in computed.items())
        try:
            yield replace(placed.local, steps=(*reading, *placed.local.steps))
        finally:
            for table in computed.values():
                self.drop(table, LOADED)

    def _steps_from_spark(self, placed: Placed, where: str) -> list[str]:
        """Return the steps of Spark that DuckDB here reads; refuse tables that are too large."""
        names = {step.name for step in placed.plan.steps}
        from_spark: dict[str, None] = {}  # a set in order
        for step in (*placed.local.steps, Step("", "", placed.local.result)):
            for table in step.query.find_all(exp.Table):
                if not table.db and table.name in placed.spark:
                    from_spark[table.name] = None
                elif self._is_large(table) and (table.db or table.name not in names):
                    self._check_here(table, placed.reasons[step.name], where)
        return list(from_spark)

    def _check_here(self, table: exp.Table, reason: str, where: str) -> None:
        """Refuse to read a large table in DuckDB here: records, or too many counts.

        ``reason`` is the part of the reading step that may have other values on Spark.
        """
        entry = self._kept_table(table)
        if entry is None:  # a source of records, which Spark alone reads
            raise ExpressionError(
                f"{reason} may give other values on Spark than in DuckDB, so it is refused for "
                f"{where}; write it in another way, or use --engine duckdb"
            )
        if entry.rows > MAX_COUNTS:
            raise EngineError(
                f"{entry.rows:,} rows of counts of {where} are too many for one machine, and "
                f"{reason} has no exact form in Spark; use fewer quasi-identifiers"
            )

    def _compute(self, step: str, placed: Placed, what: str, where: str) -> str:
        """Compute a step of a plan on Spark; return the table, which must not be too large."""
        steps = placed.plan.steps
        place = [s.name for s in steps].index(step)
        plan_of_step = Plan(steps[:place], steps[place].query)
        name = self._new_name("taken")
        step_placed = self._placing.placed(plan_of_step, where, lasting=True)
        self._keep_on_spark(name, step_placed, what, where, catalog=LOADED)
        if self._kept_tables[LOADED, name].rows > MAX_COUNTS:
            self._check_here(_table(LOADED, name), next(iter(placed.reasons.values())), where)
        return name

    def _keep_on_spark(
        self, name: str, placed: Placed, what: str, where: str, *, catalog: str
    ) -> None:
        """Keep the rows of a plan as Parquet, with a view in Spark and one in DuckDB here.

        If DuckDB does not reach the folder, the rows are copied; too many are an empty table here.
        """
        text, columns = placed.text(where), placed.columns
        view = self._new_name("kept")
        folder = self._folders.make(view)

        def write() -> Any:
            self._spark.sql(text).write.mode("overwrite").parquet(folder)
            return self._spark.read.parquet(folder)

        frame = self.act(what, where, write)
        frame.createOrReplaceTempView(view)
        folder_here = self._folders.here(folder)
        if folder_here is None:
            rows = self.act(what, where, frame.count)
            folder_here = self._folders.fetch(folder) if rows <= MAX_COUNTS else None
        if folder_here is None:
            self.here.run(empty_table(name, columns, catalog), what, where)
        else:  # a view of the rows, in DuckDB's types
            files = exp.Literal.string(escaped(str(folder_here)) + "/*.parquet")
            values = [
                exp.alias_(typed(exp.column(identifier(n)), type_), identifier(n))
                for n, type_ in columns
            ]
            query = exp.select(*values).from_(exp.func("read_parquet", files))
            table = _table(catalog, name)
            create = exp.Create(this=table, kind="VIEW", expression=query, replace=True)
            self.here.run(render.render(create), what, where)
            rows = self._count(catalog, name, where)
        self._kept_tables[catalog, name] = KeptTable(rows, view, folder)

    def _new_name(self, kind: str) -> str:
        """Return a name that no view or table of this engine has had."""
        self._number += 1
        return f"qifsql_{kind}_{self._number}"

    def act(
        self,
        what: str,
        where: str,
        call: Callable[[], T],
        look: Callable[[float], None] | None = None,
    ) -> T:
        """Run an action of Spark in a thread, to show progress and react to Ctrl-C.

        ``what`` names the work and ``where`` its data. ``look`` shows the progress in another way,
        from the finished share of the action, 0 to 1.
        """
        outcome: list[T] = []
        context = self._spark.sparkContext
        tag = f"{self.scratch.name}-{self._new_name('action')}"

        def act() -> None:
            context.addJobTag(tag)
            outcome.append(call())

        def show() -> None:
            tracker = context.statusTracker()
            stages = [tracker.getStageInfo(i) for i in tracker.getActiveStageIds()]
            tasks = sum(s.numTasks for s in stages if s)
            done = sum(s.numCompletedTasks for s in stages if s)
            (look or partial(self.settings.progress, what))(done / tasks if tasks else 0.0)

        interrupt = partial(context.cancelJobsWithTag, tag)
        try:
            in_threads([act], interrupt=interrupt, look=show, words=INTERRUPTED)
        except QifError:
            raise
        except Exception as e:
            raise spark.failure(e, where) from e
        return outcome[0]


def _sources_here(sources: Iterable[Source]) -> list[Source]:
    """Return the sources that DuckDB here opens: those, or their datasets, that are no Spark's."""
    sources_here: list[Source] = [
        source
        for source in sources
        if isinstance(source, Path) or all(d.format != "spark" for d in source.datasets)
    ]
    for dataset in datasets_of(sources):  # those of collections that Spark reads in part
        if dataset.format != "spark" and dataset not in sources_here:
            sources_here.append(dataset)
    return sources_here


def _table(catalog: str, name: str) -> exp.Table:
    """Return a table of a catalog of DuckDB here, as a table of a query."""
    return exp.table_(identifier(name), db=identifier("main"), catalog=identifier(catalog))


def _read_plan(catalog: str, name: str) -> Plan:
    """Return the plan that reads all rows of a table of DuckDB here."""
    return Plan((), exp.select("*").from_(_table(catalog, name)))


def not_on_spark(command: str) -> str:
    """Return the message that a command does not run on Spark."""
    name = f"the command {command}" if command else "this command"
    return (
        f"{name} runs on DuckDB alone; use --engine duckdb, or on Spark one of "
        f"{', '.join(ON_SPARK)}"
    )


def _as_in_duckdb(value: Any, type_: str) -> Any:
    """Return a value of Spark as the value that DuckDB returns for this type."""
    if isinstance(value, Decimal) and not type_.startswith("DECIMAL"):
        return int(value)
    if isinstance(value, bytearray):
        return bytes(value)
    return value
