"""A pass over the data on a cluster: Spark holds the coded tables, its executors settle chunks.

Spark codes the people and writes each coded table as Parquet, with a column for each code and
counter: its types have no room for packed keys. The rows of a table are divided into chunks by a
hash of the first attribute, so no block is in two chunks. Executors run the statements of the walk
in DuckDB on their chunks (``executors``); Spark adds up what they found.

The workspace is on the driver. A task is a share of the chunks of a table. It is done when its sums
are in the workspace, so an interrupted sweep resumes with the next task. If an executor is lost,
Spark repeats the chunks that it had.
"""

import hashlib
import platform
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from qifsql.commands.sweep import executors, tables
from qifsql.commands.sweep.executors import ADDED, MAXIMUM, MINIMA, Job, chunk_function
from qifsql.commands.sweep.plan import FIXED_MEMORY, MEMORY_PER_STREAM, Task, qualify, stream_count
from qifsql.commands.sweep.scheduler import Pass, Settled
from qifsql.commands.sweep.tables import GIANT_CHUNKS, Tables, packed_table
from qifsql.commands.sweep.worker import Sums, Worker, typed
from qifsql.data.readers import calling, escaped
from qifsql.engine import dialect, distributed
from qifsql.engine.connections import Stream
from qifsql.engine.distributed import Spark
from qifsql.engine.spark import Folders
from qifsql.errors import DatasetError, EngineError
from qifsql.query.render import creating
from qifsql.query.splice import splice

MOST_TASKS = 16  # most tasks for the chunks of a table, each of which reads the table
CHUNKS_PER_WORKER = 4  # fewest chunks in a task for each worker
EXECUTOR_MEMORY = "1GiB"  # limit for DuckDB in an executor on another machine
PARTS_VIEW = "qifsql_parts"  # the view of what executors found
REPORT_COLUMNS = ["seconds", "statements"]  # its columns about the work
PARTITIONS_PER_CHUNK = 2  # partitions for each chunk, so that few hold several chunks
FOLDER_ENDING = ".coded"  # of the folder of the coded tables, next to the workspace


@dataclass(frozen=True)
class WrittenTable:
    """A coded table in Spark: its rows, its number of chunks, and values with too many rows.

    ``giants`` are pairs of the code of a value of the first attribute and its number of rows.
    """

    rows: int
    chunks: int
    giants: Sequence[tuple[int, int]] = ()


def tables_folder(workspace: Path) -> Path:
    """Return the folder of the coded tables of the file ``workspace``, beside it.

    On a cluster the folder of this name is elsewhere, with those of other users. So the name has a
    digest of this machine and of the path.
    """
    place = f"{platform.node()}\0{workspace.absolute()}"
    digest = hashlib.sha256(place.encode()).hexdigest()
    return workspace.with_name(f"{workspace.name}.{digest[:8]}{FOLDER_ENDING}")


@dataclass
class ClusterTables(Tables):
    """The coded tables of one pass in Spark, and the tasks on them."""

    engine: Spark = field(kw_only=True)
    folders: Folders = field(kw_only=True)
    where: str = field(kw_only=True)
    in_spark: dict[str, WrittenTable] = field(default_factory=dict, kw_only=True)

    def code_columns(self, position: int) -> list[str]:
        """Return the columns of codes of a table whose first attribute is at that position."""
        later = [f"code_{p}" for p in range(position + 1, self.layout.n)]
        return ["entry", *later, *self.secret_columns]

    @property
    def secret_columns(self) -> list[str]:
        """Return the column of the code of the secret, if there is one."""
        return ["code_of_secret"] if self.layout.valued else []

    @property
    def count_columns(self) -> list[str]:
        """Return the columns of counts."""
        return ["people", *(f"counter_{i + 1}" for i in range(len(self.layout.counters)))]

    def read_table(self, table: str) -> Any:
        """Return the rows of a coded table as a data frame of Spark."""
        folder = self.folders.make(table)
        if not self.folders.has(folder):
            raise DatasetError(
                f"the coded tables of the workspace are not in {folder}; start over with --restart"
            )
        return self.engine.act("sweeping", self.where, lambda: self.engine.read(folder))

    def merge_equal(self, frame: Any, codes: Mapping[str, str]) -> Any:
        """Return rows with other ``codes``, expressions by column; equal rows are merged."""
        chosen = [f"{expression} AS {name}" for name, expression in codes.items()]
        grouped = frame.selectExpr(*chosen, *self.count_columns).groupBy(*codes)
        return grouped.sum(*self.count_columns).toDF(*codes, *self.count_columns)

    def write(self, table: str, frame: Any, position: int, what: str) -> WrittenTable:
        """Write the rows of ``frame`` as a coded table; return its size, chunks and giants.

        Its ``entry`` is the attribute at ``position``; ``what`` is the work, for messages.
        """
        folder = self.folders.make(table)

        def write() -> Any:
            frame.write.mode("overwrite").parquet(folder)
            return self.engine.read(folder)

        rows = self.engine.act(what, self.where, write)
        count = self.engine.act(what, self.where, rows.count)
        workers = self.engine.workers
        # A chunk for each worker, unless it is too small to pay or too large for the cache.
        chunk_rows = max(1, min(self.largest_chunk, max(tables.LEAST_ROWS, count // workers)))
        giants: list[tuple[int, int]] = []  # none for the last attribute: there is nothing to split
        if count > GIANT_CHUNKS * self.largest_chunk and position < self.layout.n - 1:
            sizes = rows.groupBy("entry").count()
            large = sizes.where(sizes["count"] > GIANT_CHUNKS * self.largest_chunk)
            pairs = self.engine.act(what, self.where, large.collect)
            giants = sorted((int(code), int(people)) for code, people in pairs)
        remaining = count - sum(people for _, people in giants)
        return WrittenTable(count, ceil(remaining / chunk_rows), giants)

    def store(self, stream: Stream, table: str, position: int, written: WrittenTable) -> None:
        """Store the facts of a table in the workspace, or its rows, if they are few."""
        if written.rows <= distributed.ROWS_HERE:
            self.load_into_workspace(stream, table, position)
        else:
            facts = [written.rows, written.chunks, written.giants]
            self.workspace.add_fact(f"table {table}", facts)
            self.in_spark[table] = written

    def read_stored(self) -> None:
        """Read what an earlier run stored of the tables of this pass."""
        facts = self.workspace.facts(f"table {self.first_table}")  # all names begin like this one
        for name, (rows, chunks, giants) in facts.items():
            written = WrittenTable(rows, chunks, [(code, n) for code, n in giants])
            self.in_spark[name.removeprefix("table ")] = written

    def is_in_workspace(self, table: str) -> bool:
        """Return whether a table is in the workspace, because it has few rows."""
        return table not in self.in_spark

    def load_into_workspace(self, stream: Stream, table: str, position: int) -> None:
        """Pack a table of Spark into one of the workspace, within the caller's transaction."""
        file = self.engine.scratch / f"{table}.parquet"
        rows = self.engine.act("sweeping", self.where, self.read_table(table).toArrow)
        pq.write_table(rows, file)
        query = packed_table(self.layout, position, "rows")
        query = query.from_(_file_rows(file).subquery("rows")).order_by("entry")
        stream.rows(creating(qualify(table), query, temporary=False))
        self.workspace.enter_in_ledger(stream, table)
        file.unlink()

    def count_rows(self, worker: Worker, table: str) -> int:
        """Return the number of rows of a coded table."""
        if self.is_in_workspace(table):
            return super().count_rows(worker, table)
        return self.in_spark[table].rows

    def walk_tasks(self, worker: Worker, walk: Task) -> list[Task]:
        """Divide a walk of a whole table into tasks: values with many rows, and chunks."""
        if self.is_in_workspace(walk.source):
            return super().walk_tasks(worker, walk)
        facts = self.in_spark[walk.source]
        split = replace(walk, kind="split")
        tasks = [replace(split, least=code, greatest=code, rows=n) for code, n in facts.giants]
        chunks_per_task = max(
            CHUNKS_PER_WORKER * self.engine.workers, ceil(facts.chunks / MOST_TASKS)
        )
        chunk_rows = (facts.rows - sum(n for _, n in facts.giants)) / max(1, facts.chunks)
        for first in range(0, facts.chunks, chunks_per_task):
            last = min(first + chunks_per_task, facts.chunks) - 1
            rows = round((last - first + 1) * chunk_rows)
            # On a cluster, the range of a walk is one of numbers of chunks, and not of codes.
            tasks.append(replace(walk, least=first, greatest=last, rows=rows))
        return tasks

    def write_without_entry(self, worker: Worker, task: Task, table: str) -> None:
        """Write the rows of a task without the first attribute: in Spark, if its table is there.

        Rows that are now equal become one, and ``entry`` has the codes of the next attribute.
        """
        if self.is_in_workspace(task.source):
            super().write_without_entry(worker, task, table)
            return
        frame, position = self.read_table(task.source), task.position + 1
        if task.kind == "split":
            frame = frame.where(frame["entry"] == task.least)
        codes = {column: column for column in self.code_columns(position)}
        rows = self.merge_equal(frame, codes | {"entry": f"code_{position}"})
        written = self.write(table, rows, position, "sweeping")
        self.store(worker.stream, table, position, written)


@dataclass(kw_only=True)
class ClusterPass(Pass):
    """One pass over the data on a cluster."""

    folders: Folders = field(init=False)
    tables: ClusterTables = field(init=False)
    coarse: dict[int, dict[int, Sums]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Prepare the pass on Spark: large tables are in folders, small ones in the workspace."""
        self.spark = cast("Spark", self.engine)
        self.where = self.bound.microdata.dataset.name
        self.streams = stream_count(self.engine.here)
        path = self.workspace.path
        self.folders = self.spark.folders(tables_folder(path) if path else None)
        super().__post_init__()
        self.tables = ClusterTables(
            **vars(self.tables), engine=self.spark, folders=self.folders, where=self.where
        )
        self.tables.read_stored()  # by an earlier run

    def run(self) -> None:
        """Work on the tasks; remove the tables if an interrupted run leaves no workspace."""
        try:
            super().run()
        except BaseException:
            if self.workspace.path and not self.workspace.is_useful:
                self.folders.remove()
            raise

    def _work_on(self, pending: Iterable[Task]) -> None:
        """Do the tasks on small tables here, and each of the others on all executors."""
        tasks = list(pending)
        here = {t.source for t in tasks if self.tables.is_in_workspace(t.source)}
        if here:
            super()._work_on([t for t in tasks if t.source in here])
        for task in tasks:
            if task.source not in here and not self.out_of_time():
                self._do_batch(self._worker(self.workspace.stream), [task])

    def _do_with_all_threads(self, task: Task) -> None:
        """Do a task on a small table here with all threads, another one on all executors."""
        if self.tables.is_in_workspace(task.source):
            super()._do_with_all_threads(task)
        else:
            self._work_on([task])

    def _code_people(self) -> None:
        """Write the first coded table of the pass, of all attributes, and store its tasks."""
        frame = self.spark.data(tables.unpacked_plan(self.bound.microdata, self.layout), self.where)
        table = self.tables.first_table
        written = self.tables.write(table, frame, 0, "encoding")
        stream = self.workspace.stream
        with stream.transaction():
            self.tables.store(stream, table, 0, written)
            self.strategy.begin(self.tables, self._worker(stream))
            self.workspace.mark_coded(self.number)

    def expected_rows(self) -> list[float]:
        """Estimate the distinct people by coded table: number p lacks the first p attributes."""
        if self.tables.is_in_workspace(self.tables.first_table):
            return super().expected_rows()
        codes = [*(f"code_{p}" for p in range(1, self.layout.n)), *self.tables.secret_columns]
        counts = [  # of those that are left when the first p + 1 attributes are dropped
            f"approx_count_distinct(xxhash64({', '.join(codes[p:])}))"
            for p in range(self.layout.n - 1)
        ]
        frame = self.tables.read_table(self.tables.first_table).selectExpr("count(*)", *counts)
        (row,) = self.spark.act("sweeping", self.where, frame.collect)
        return [float(x) for x in row]

    def _settle(self, worker: Worker, tasks: Sequence[Task]) -> Settled:
        """Settle the tasks on small tables here, and one on a table in Spark on the executors."""
        task = tasks[0]
        if self.tables.is_in_workspace(task.source):
            return super()._settle(worker, tasks)
        seconds = 0.0 if task.kind == "drop" else self._settle_chunks(worker.stream, task)
        return Settled(task.kind, seconds)

    def _settle_chunks(self, stream: Stream, task: Task) -> float:
        """Let the executors settle the chunks of a task, into ``found``; return their seconds."""
        memory = EXECUTOR_MEMORY
        if self.spark.is_local:
            share = (self.spark.memory - FIXED_MEMORY) // max(1, self.spark.workers)
            memory = f"{max(share, MEMORY_PER_STREAM) // 2**20}MiB"
        job = Job(
            self.layout,
            self.strategy.sizes,
            task,
            sweep=self.engine.scratch.name,
            may_roll=self.strategy.every_subset,
            memory=memory,
            compiled=self.compiled,
        )
        # The sums of all chunks by state, question and kind of block, and a row without a state
        # that reports the time and the statements.
        result = self._run_on_chunks(job, self._chunked_rows(task))
        reports = result.filter(result["state"].is_null())
        for statements in reports["statements"].to_pylist():
            self.history |= dict.fromkeys(statements)
        file = self.engine.scratch / "found.parquet"
        pq.write_table(result.filter(result["state"].is_valid()).drop_columns(REPORT_COLUMNS), file)
        small = [exp.alias_(typed(exp.column(c), "UTINYINT"), c) for c in ("question", "bin")]
        sums = exp.select("state", *small, *ADDED, *MINIMA, MAXIMUM)
        stream.rows(creating("found", sums.from_(_file_rows(file).subquery("rows"))))
        file.unlink()
        return float(sum(reports["seconds"].to_pylist()))

    def _run_on_chunks(self, job: Job, frame: Any) -> pa.Table:
        """Do a job on each ``chunk`` of a frame of Spark; return the rows of the view ``added``."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # about pandas, which is not used
            parts = frame.groupBy("chunk").applyInArrow(chunk_function(job), executors.SCHEMA)
        parts.createOrReplaceTempView(PARTS_VIEW)
        query = dialect.text(splice("sweep/added", tables={"chunk_sums": PARTS_VIEW}))

        def compute() -> pa.Table:
            return frame.sparkSession.sql(query).toArrow()

        try:
            return self.spark.act("sweeping", self.where, compute, lambda _: self.report_progress())
        except EngineError as e:
            raise _executor_error(e) from e

    def _chunked_rows(self, task: Task) -> Any:
        """Return the rows of a task, each with the number of its ``chunk``, which has whole blocks.

        Codes of attributes that the task does not tell apart become 0, and equal rows are merged.
        """
        if task.kind == "walk":
            return self._rows_to_walk(task)
        frame = self.tables.read_table(task.source)
        codes = {name: name for name in self.tables.code_columns(task.position)}
        qid_columns = [name for name in codes if name not in self.tables.secret_columns]
        if task.kind == "split":  # the people of one value are one block
            codes |= dict.fromkeys(qid_columns, "0")
            rows = self.tables.merge_equal(frame.where(frame["entry"] == task.least), codes)
            return rows.selectExpr("0 AS chunk", "*")
        chunks = ceil(self.tables.in_spark[task.source].rows / self.tables.largest_chunk)
        if task.kind == "coarsen":  # rows that merge in some pair of values are in one chunk
            halves = _chunk_number([f"{name} DIV 2" for name in qid_columns], chunks)
            rows = frame.selectExpr(f"{halves} AS chunk", "*")
            return rows.repartition(PARTITIONS_PER_CHUNK * chunks, "chunk")
        subset = task.state >> self.layout.n  # a ``group`` settles one: the others are left out
        for position in range(task.position, self.layout.n):
            if not subset >> position & 1:
                codes["entry" if position == task.position else f"code_{position}"] = "0"
        rows = self.tables.merge_equal(frame, codes)
        return rows.selectExpr(f"{_chunk_number(qid_columns, chunks)} AS chunk", "*")

    def _rows_to_walk(self, task: Task) -> Any:
        """Return the rows of the chunks of a walk, without those of giants, which are split off."""
        facts = self.tables.in_spark[task.source]
        frame = self.tables.read_table(task.source)
        rows = frame.selectExpr(f"{_chunk_number(['entry'], facts.chunks)} AS chunk", "*")
        if facts.giants:
            rows = rows.where(~rows["entry"].isin([code for code, _ in facts.giants]))
        chosen = rows.where(rows["chunk"].between(task.least, task.greatest))
        return chosen.repartition(PARTITIONS_PER_CHUNK * (task.greatest - task.least + 1), "chunk")

    def _measure_coarser(self, workers: Mapping[Stream, Worker], position: int) -> dict[int, Sums]:
        """Return the sums of each question after merging the values of an attribute in pairs."""
        if self.tables.is_in_workspace(self.tables.first_table):
            return super()._measure_coarser(workers, position)
        if not self.coarse:  # executors measure all attributes at once
            # One task for all attributes, each merged in turn: its position is the state.
            task = self.tables.task("coarsen", self.tables.first_table, position=0, state=0)
            worker = self._worker(self.workspace.stream)
            self._settle_chunks(worker.stream, task)
            for merged_position, question, *sums in worker.rows("sums"):
                self.coarse.setdefault(merged_position, {})[question] = Sums(*sums)
        return self.coarse[position]

    def drop_tables(self) -> None:
        """Remove the coded tables of the pass, which are no longer needed."""
        for source in self.table_names():
            if self.tables.is_in_workspace(source):
                self.workspace.drop(source)
            self.folders.drop(self.folders.make(source))
        if self.workspace.path:
            self.folders.remove()  # also what interrupted passes left there


def _chunk_number(columns: Sequence[str], chunks: int) -> str:
    """Return the number of the chunk of a row, by a hash of columns, as an expression of Spark."""
    return f"CAST(pmod(xxhash64({', '.join(columns)}), {chunks}) AS INT)"


def _executor_error(error: EngineError) -> EngineError:
    """Return the error with the message of the executor, if it has one."""
    detail = error.detail or ""
    if match := re.search(f"{executors.ERROR_PREFIX}(.*)", detail):
        return EngineError(match[1], detail=detail)
    if "No module named" in detail:
        return EngineError(
            "the executors lack qifsql or a package that it needs; install qifsql, in the version "
            "of this machine, in the Python that they run",
            detail=detail,
        )
    return error


def _file_rows(file: Path) -> exp.Select:
    return exp.select("*").from_(calling("read_parquet", escaped(str(file))))
