"""The work of an executor of Spark: settle the subsets of one chunk in DuckDB, as a stream does.

An executor gets the unpacked rows of a chunk, packs them, and runs the statements of the walk. It
returns the sums by state, question and kind of block, which Spark adds up. A row without a state
reports how long that took.
"""

import os
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pyarrow as pa

from qifsql import __version__
from qifsql.commands.sweep import kernel_choice
from qifsql.commands.sweep.layout import Layout
from qifsql.commands.sweep.plan import Chunk, Task
from qifsql.commands.sweep.spec import Sizes
from qifsql.commands.sweep.tables import ALL_CODES, packed_table
from qifsql.commands.sweep.walk import Choices, settle_chunk, settle_one_block, settle_subset
from qifsql.commands.sweep.worker import Worker
from qifsql.engine import ledger
from qifsql.engine.connections import Stream, together
from qifsql.engine.engines import open_engine
from qifsql.engine.progress import silent
from qifsql.engine.settings import Settings
from qifsql.errors import EngineError, QifError
from qifsql.query.render import creating

VERSIONS = (__version__, ledger.ENGINE)
KEYS = {"state": pa.int64(), "question": pa.int32(), "bin": pa.int32()}
ADDED = ("blocks", "people", "mode", "certain")
MINIMA, MAXIMUM = ("k", "l"), "worst_case"
TYPES = {
    **KEYS,
    **dict.fromkeys((*ADDED, *MINIMA), pa.int64()),
    MAXIMUM: pa.float64(),
    "seconds": pa.float64(),
    "statements": pa.list_(pa.string()),
}
"""The columns that an executor returns."""
IN_SPARK = {"int64": "bigint", "int32": "int", "double": "double"}
SCHEMA = ", ".join(f"{n} {IN_SPARK.get(str(t), 'array<string>')}" for n, t in TYPES.items())
"""The same for Spark."""
UNPACKED = "unpacked"  # the name of the rows of a chunk in DuckDB
ERROR_PREFIX = "an executor says: "  # what comes before the message of an error
FOLDERS_VARIABLE = "SPARK_LOCAL_DIRS"  # of the environment: the folders of an executor


@dataclass(frozen=True)
class Job:
    """One task for many chunks: what executors do with each of them.

    ``sweep`` distinguishes the measured times of sweeps in a process. ``memory`` is the limit for
    DuckDB. ``compiled``: where the extra is installed, the walk is compiled. ``versions`` are those
    of qifsql and of the engine on the driver.
    """

    layout: Layout
    sizes: Sizes
    task: Task
    sweep: str
    may_roll: bool
    memory: str
    compiled: bool = False
    versions: tuple[str, str] = VERSIONS


def chunk_function(job: Job) -> Callable[[pa.Table], pa.Table]:
    """Return the function that executors call with the unpacked rows of a chunk."""

    def settle(people: pa.Table) -> pa.Table:
        try:
            return chunk_sums(job, people)
        except QifError as e:  # Spark passes on only the text of an error
            raise RuntimeError(f"{ERROR_PREFIX}{e}\n{e.detail or ''}") from e

    return settle


def chunk_sums(job: Job, people: pa.Table) -> pa.Table:
    """Return the sums of the blocks of a chunk by state, question and bin (columns: ``TYPES``).

    ``people`` are its unpacked rows. One more row, without a state, has seconds and statements.
    Raises EngineError if this machine has other versions than the driver.
    """
    if job.versions != VERSIONS:
        raise EngineError(
            f"an executor has qifsql {VERSIONS[0]} with {VERSIONS[1]}, and the driver "
            f"{job.versions[0]} with {job.versions[1]}; install the same versions on all machines"
        )
    parent = os.environ.get(FOLDERS_VARIABLE, "").partition(",")[0]
    settings = Settings(
        engine="duckdb",
        memory=job.memory,
        threads=1,
        temp=Path(parent) if parent and Path(parent).is_dir() else None,
        progress=silent,
    )
    results: list[pa.Table] = []
    with (
        open_engine(settings) as engine,
        engine.single_threaded(),
        closing(engine.stream("a chunk of the sweep", {UNPACKED: people})) as stream,
    ):
        # In a thread, because the main thread would start one for each statement.
        together([stream], lambda s: results.append(_settle_chunk(job, s)), look=silent)
    return results[0]


def _settle_chunk(job: Job, stream: Stream) -> pa.Table:
    """Settle the rows of the table ``UNPACKED`` of a stream; return what ``chunk_sums`` does."""
    began = time.perf_counter()
    layout, task = job.layout, job.task
    compiled = job.compiled and kernel_choice.is_installed()
    worker = Worker(stream, layout, job.sizes, compiled=compiled)
    rows = stream.count(creating("coded", packed_table(layout, task.position, UNPACKED)))
    chunk = Chunk("coded", task.position, task.state, *ALL_CODES, rows)
    if task.kind == "walk":  # or a roll-up: the choice learns from the chunks of this process
        of_pass = (job.sweep, task.number_of_pass, layout.n, job.may_roll, layout.valued)
        settle_chunk(worker, chunk, _choices_of_pass(*of_pass).choice_at(task.position))
    elif task.kind == "split":
        settle_one_block(worker, chunk)
    elif task.kind == "group":
        settle_subset(worker, chunk, task.state >> layout.n)
    else:  # coarsen each attribute in turn, which is then the state of the sums
        for position in range(layout.n):
            settle_subset(worker, chunk, layout.all_attributes, coarser=position, state=position)
    worker.sum_up()
    names = [*KEYS, *ADDED, *MINIMA, MAXIMUM]  # the columns of the table ``found``, in its order
    rows_found = stream.rows("SELECT * FROM found")
    columns = dict(zip(names, zip(*rows_found, strict=True), strict=True)) if rows_found else {}
    sums = pa.table({n: pa.array(columns.get(n, ()), TYPES[n]) for n in names})
    work = {"seconds": time.perf_counter() - began, "statements": worker.history}
    report = pa.table({n: pa.array([value], TYPES[n]) for n, value in work.items()})
    return pa.concat_tables([sums, report], promote_options="default")


@cache
def _choices_of_pass(_sweep: str, _pass: int, n: int, may_roll: bool, valued: bool) -> Choices:
    """Return the choices that all chunks of a pass in this process share.

    The first two arguments, a sweep and the number of a pass, only tell passes apart in the cache.
    """
    return Choices(n, may_roll=may_roll, valued=valued)
