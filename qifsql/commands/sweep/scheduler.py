"""Passes over the data: streams work on the tasks and store results in the workspace.

The blocks that a task settled are summed up by state, question and kind of block
(``worker.kinds_query``).
"""

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from operator import add
from typing import NamedTuple

from sqlglot import exp

from qifsql.adversary.spec import BoundAttack
from qifsql.commands.sweep.layout import Layout
from qifsql.commands.sweep.plan import Progress, Task, qualify
from qifsql.commands.sweep.strategies import Strategy
from qifsql.commands.sweep.tables import SAMPLE, Tables, coded_plan, is_heavy
from qifsql.commands.sweep.walk import Choices, settle_chunk, settle_one_block, settle_subset
from qifsql.commands.sweep.worker import Sums, Worker
from qifsql.commands.sweep.workspace import Workspace
from qifsql.counting.packing import WIDE_BITS
from qifsql.counting.stream_session import opened_streams
from qifsql.engine.connections import Stream
from qifsql.engine.protocol import LocalEngine
from qifsql.errors import Interrupted
from qifsql.query.plan import Plan
from qifsql.query.render import dropping, render
from qifsql.query.splice import splice

MOST_TOGETHER = 64  # subsets that are settled one by one and stored together
MOST_PEOPLE_TOGETHER = 16_000_000  # people times these subsets: about a tenth of a second


class TaskQueue:
    """A queue that ends when no task waits and no task at work can add more.

    ``stop``: no more tasks are given out once it returns True. Tasks that settle one subset each
    are given out up to ``together`` at a time, to ``streams`` streams. ``_working`` counts the
    batches that streams work on, and that may add tasks.
    """

    def __init__(
        self,
        tasks: Iterable[Task],
        stop: Callable[[], bool],
        *,
        together: int = 1,
        streams: int = 1,
    ) -> None:
        """Let all ``tasks`` wait."""
        self._waiting = deque(tasks)
        self._together = together
        self._streams = streams
        self._working = 0
        self._stop = stop
        self._changed = threading.Condition()

    def add(self, tasks: Iterable[Task]) -> None:
        """Add tasks to the queue."""
        with self._changed:
            self._waiting.extend(tasks)
            self._changed.notify_all()

    @contextmanager
    def next_batch(self, stream: Stream) -> Iterator[list[Task]]:
        """Yield the next task for a stream, or several for one subset each; none at the end."""
        tasks: list[Task] = []
        try:
            tasks = self._take(stream)
            yield tasks
        except BaseException:
            self.close()
            raise
        finally:
            if tasks:
                with self._changed:
                    self._working -= 1
                    self._changed.notify_all()

    def close(self) -> None:
        """Give out no more tasks."""
        with self._changed:
            self._waiting.clear()
            self._stop = lambda: True
            self._changed.notify_all()

    def _take(self, stream: Stream) -> list[Task]:
        """Return the tasks of ``next_batch``, as soon as there are some or no stream adds more.

        A batch counts as at work until ``next_batch`` ends it: its tasks may add others until then.
        """
        with self._changed:
            while not self._stop():
                if self._waiting:
                    self._working += 1
                    task = self._waiting.popleft()
                    return [task, *(self._take_more() if task.kind == "group" else ())]
                if not self._working:
                    break
                self._changed.wait()
                if stream.interrupted.is_set():
                    raise Interrupted("interrupted")
            self._waiting.clear()
            self._changed.notify_all()
            return []

    def _take_more(self) -> Iterator[Task]:
        """Yield waiting tasks for one subset each, and leave as many for each other stream."""
        share = min(self._together, math.ceil((1 + len(self._waiting)) / self._streams))
        while share > 1 and self._waiting and self._waiting[0].kind == "group":
            share -= 1
            yield self._waiting.popleft()


class Settled(NamedTuple):
    """The method that settled a task, its seconds, and those of a walk that it gave up before."""

    method: str
    seconds: float
    wasted: float = 0.0


@dataclass(kw_only=True)
class Pass:
    """One pass over the data: work on its tasks until all are done or the time is over."""

    engine: LocalEngine
    bound: BoundAttack
    workspace: Workspace
    number: int
    layout: Layout
    strategy: Strategy
    streams: int
    progress: Progress
    out_of_time: Callable[[], bool]
    compiled: bool = False
    answers: dict[tuple[int, int], Sums] = field(default_factory=dict)
    history: dict[str, None] = field(default_factory=dict)
    workers: dict[Stream, Worker] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Prepare the tables of the pass."""
        if self.compiled:
            from qifsql.commands.sweep.kernel_arrays import HeldPeople, settle_subsets

            self.held, self.settle_held = HeldPeople(self.engine.here), settle_subsets
        self.tables = Tables(
            workspace=self.workspace,
            number=self.number,
            layout=self.layout,
            sizes=self.strategy.sizes,
            settle=self.strategy.settle,
            progress=self.progress,
            streams=self.streams,
        )
        self.choices = Choices(
            self.layout.n, may_roll=self.strategy.every_subset, valued=self.layout.valued
        )

    @property
    def is_done(self) -> bool:
        """Return whether the people are coded, and no task waits."""
        is_coded = self.workspace.is_coded(self.number)
        return is_coded and not self.workspace.pending_tasks(self.number)

    def run(self) -> None:
        """Code the people, unless that is done, and work on the tasks."""
        if not self.workspace.is_coded(self.number):
            if self.number and self.out_of_time():  # the first pass is always begun
                return
            self._code_people()
        pending = self.workspace.pending_tasks(self.number)
        if pending and self.strategy.staged:
            self.progress.expect(self.number, self.expected_rows())
        while pending and not self.out_of_time():
            light = [task for task in pending if not is_heavy(task)]
            heavy = [task for task in pending if is_heavy(task)]
            if light:
                self._work_on(light)
            if heavy:  # one by all threads together, when all others are done
                self._do_with_all_threads(heavy[0])
            pending = self.workspace.pending_tasks(self.number)
        self.report_progress()

    def _worker(self, stream: Stream) -> Worker:
        return Worker(stream, self.layout, self.strategy.sizes, compiled=self.compiled)

    def _work_on(self, pending: Iterable[Task]) -> None:
        """Let every stream take task after task; if people are few, several subsets at a time."""
        tasks = TaskQueue(
            pending,
            self.out_of_time,
            together=max(1, min(MOST_TOGETHER, MOST_PEOPLE_TOGETHER // max(1, self.layout.people))),
            streams=self.streams,
        )
        with self.open_workers() as workers:
            work = partial(self._do_tasks, workers, tasks)
            self.engine.here.together(list(workers), work, self.report_progress)

    @contextmanager
    def keep_streams_open(self) -> Iterator[None]:
        """Open streams for this pass alone, which work on all calls of ``measure_subsets``.

        Those of the workspace would be prepared anew whenever another pass has used them.
        """
        with opened_streams(self.engine.here, self.streams) as streams:
            self.workers = {stream: self._worker(stream) for stream in streams}
            try:
                yield
            finally:
                self.workers = {}

    @contextmanager
    def open_workers(self) -> Iterator[dict[Stream, Worker]]:
        """Yield a worker with one thread for each of ``streams`` streams."""
        if self.workers:  # of ``keep_streams_open``
            yield self.workers
            return
        with self.engine.here.single_threaded():
            yield {s: self._worker(s) for s in self.workspace.open_streams(self.streams)}

    def _do_with_all_threads(self, task: Task) -> None:
        """Do a heavy task in the stream of the workspace, whose statements use all threads."""

        def work(stream: Stream) -> None:
            self._do_batch(self._worker(stream), [task])

        self.engine.here.together([self.workspace.stream], work, self.report_progress)

    def _code_people(self) -> None:
        """Write the first coded table of the pass, of all attributes, and store its tasks."""
        table = self.tables.first_table
        stream = self.workspace.stream
        stream.rows(dropping(qualify(table)))  # left by an interrupted process
        self.engine.keep(table, self.plan, "encoding", self.bound.microdata.dataset.name)
        with stream.transaction():
            self.workspace.enter_in_ledger(stream, table)
            self.strategy.begin(self.tables, self._worker(stream))
            self.workspace.mark_coded(self.number)

    @cached_property
    def plan(self) -> Plan:
        """Return the plan of the coded people."""
        return coded_plan(self.bound.microdata, self.layout)

    def expected_rows(self) -> list[float]:
        """Estimate the distinct people by coded table: number p lacks the first p attributes."""
        masks = [self.layout.later(position) for position in range(self.layout.n - 1)]
        query = splice(
            "sweep/expected_rows",
            tables={"coded": qualify(self.tables.first_table)},
            shape={"wide": self.layout.rest_bits == WIDE_BITS, "masks": masks},
        )
        (row,) = self.workspace.stream.rows(render(query))
        return [float(rows) for rows in row]

    def report_progress(self) -> None:
        """Report the progress of the sweep."""
        self.engine.settings.progress("sweeping", self.progress.share, self.progress.describe())

    def measure_subsets(self, subsets: Iterable[int]) -> dict[tuple[int, int], Sums]:
        """Settle subsets (bits) while there is time; return their sums by subset and question."""
        stream = self.workspace.stream
        with stream.transaction():
            tasks = self.workspace.add_tasks(stream, self.tables.subset_tasks(subsets))
        self.answers = {}
        self._work_on(tasks)
        return self.answers

    @property
    def questions(self) -> set[int]:
        """Return the questions that the pass answers; 0 is re-identification."""
        return set(self.layout.secrets) | ({0} if self.layout.owners else set())

    def coarser_sums(self, workers: Mapping[Stream, Worker], question: int, position: int) -> Sums:
        """Return sums after merging the values of the attribute at ``position`` in pairs."""
        fact = f"coarser {self.number} {position}"
        by_question = self.workspace.fact(fact)  # all questions are measured together
        if by_question is None:
            measured = self._measure_coarser(workers, position)
            self.workspace.store_fact(fact, measured)
            return measured[question]
        return Sums(*by_question[str(question)])  # the keys of a stored fact are texts

    def _measure_coarser(self, workers: Mapping[Stream, Worker], position: int) -> dict[int, Sums]:
        """Return sums by question, with the values of the attribute at ``position`` in pairs.

        They are over the blocks by all attributes, counted in the first table by all streams.
        """
        all_attributes = self.layout.all_attributes
        state = self.layout.state(subset=all_attributes)
        coarsen = self.tables.task("coarsen", self.tables.first_table, position, state)
        ranges = self.tables.stored_ranges(pairs=position == 0)
        tasks = [replace(coarsen, least=least, greatest=greatest) for least, greatest in ranges]
        queue = TaskQueue(tasks, stop=lambda: False)
        sums_of_streams: list[tuple[int, Sums]] = []  # each with its question

        def work(stream: Stream) -> None:
            """Settle chunks as one of the streams; then add its sums of each question."""
            worker, settled = workers[stream], 0
            while True:
                with queue.next_batch(stream) as batch:
                    if not batch:
                        break
                    for task in batch:
                        settle_subset(worker, task.chunk, all_attributes, coarser=position)
                    settled += len(batch)
            if settled:
                worker.sum_up()
                by_key = self._keyed_sums(worker.rows("sums"))
                sums_of_streams.extend((question, sums) for (_, question), sums in by_key.items())
                worker.forget_settled()

        self.engine.here.together(list(workers), work, self.report_progress)
        total: dict[int, Sums] = {}
        for question, sums in sums_of_streams:
            total[question] = Sums(*map(add, total.get(question, Sums(0, 0, 0)), sums))
        return total

    def stored_sums(self) -> dict[tuple[int, int], Sums]:
        """Return the sums of all subsets settled so far, by subset and question."""
        worker = self._worker(self.workspace.stream)
        of_pass = exp.EQ(this=exp.column("pass"), expression=exp.Literal.number(self.number))
        query = worker.statements.query("sums", found="kept.main.found").where(of_pass)
        return self._keyed_sums(worker.stream.rows(render(query)))

    def _keyed_sums(self, rows: Iterable[tuple[int, ...]]) -> dict[tuple[int, int], Sums]:
        """Return the rows of the view ``sums`` by subset and question.

        The state of a subset that is settled alone has the subset above n bits of 0.
        """
        n = self.layout.n
        return {(state >> n, question): Sums(*sums) for state, question, *sums in rows}

    def _do_tasks(self, workers: Mapping[Stream, Worker], queue: TaskQueue, stream: Stream) -> None:
        """Work as one stream: do task after task, and add the tasks that follow, until the end."""
        worker = workers[stream]
        while True:
            with queue.next_batch(stream) as batch:
                if not batch:
                    self.history |= dict.fromkeys(worker.history)
                    return
                # ``run`` finds the heavy ones in the workspace, and does them afterwards.
                queue.add(t for t in self._do_batch(worker, batch) if not is_heavy(t))

    def _do_batch(self, worker: Worker, tasks: Sequence[Task]) -> Sequence[Task]:
        """Do a task, or several for one subset each; store the results; return the tasks to follow.

        A ``drop`` settles nothing: it only writes a table, in the transaction that stores its
        tasks. The results of a sampled table are stored by the number of the task, a random part
        of the sample; others by 0.
        """
        began, task = time.perf_counter(), tasks[0]
        settled = self._settle(worker, tasks)
        part = task.number if task.source.endswith(SAMPLE) else 0
        following: Sequence[Task] = ()
        with worker.stream.transaction():
            if task.kind != "drop":
                self.workspace.store_found(worker.stream, self.number, part)
            if task.kind in ("split", "drop"):
                following = self.tables.drop_entry(worker, task)
            took = (time.perf_counter() - began) / len(tasks)
            numbers = [t.number for t in tasks]
            self.workspace.mark_done(worker.stream, numbers, settled.method, took)
        if task.kind == "group":
            self.answers |= self._keyed_sums(worker.rows("sums"))
        worker.forget_settled()
        for task in tasks:
            self.progress.count_done(task, settled.seconds, settled.method, settled.wasted)
        return following

    def _settle(self, worker: Worker, tasks: Sequence[Task]) -> Settled:
        """Find the blocks of a task, or of several ``group`` tasks of one subset each; add them up.

        The sums are in the worker's table ``found`` then.
        """
        began, method, wasted = time.perf_counter(), tasks[0].kind, 0.0
        if method == "drop":  # it only makes the tables of smaller tasks
            return Settled(method, seconds=0.0)
        if method == "walk":
            choice = self.choices.choice_at(tasks[0].position)
            method, wasted = settle_chunk(worker, tasks[0].chunk, choice)
        elif method == "group":
            method = self._settle_subsets(worker, tasks)
        else:  # a ``split``: people of one value are one block, if nothing else is taken
            settle_one_block(worker, tasks[0].chunk)
        worker.sum_up()
        return Settled(method, time.perf_counter() - began, wasted)

    def _settle_subsets(self, worker: Worker, tasks: Sequence[Task]) -> str:
        """Settle one subset for each task, from its whole table; return the method.

        The compiled code takes all of them if each subset has the first attribute of its table,
        and all tables are in memory; otherwise SQL does.
        """
        subsets = [(task.chunk, task.state >> self.layout.n) for task in tasks]
        if self.compiled and all(subset >> table.position & 1 for table, subset in subsets):
            held = [(self.held.people_of(worker, table), subset) for table, subset in subsets]
            in_memory = [(people, subset) for people, subset in held if people is not None]
            if len(in_memory) == len(tasks):
                self.settle_held(worker, in_memory)
                return "compiled"
        for table, subset in subsets:
            by_chunks = subset >> table.position & 1  # then no block is in two of them
            for chunk in self.tables.chunks_of(worker, table) if by_chunks else (table,):
                settle_subset(worker, chunk, subset)
        return "group"

    def drop_tables(self) -> None:
        """Drop the coded tables of the pass, which are no longer needed."""
        for source in self.table_names():
            self.workspace.drop(source)

    def table_names(self) -> list[str]:
        """Return the names of the coded tables of the pass."""
        query = "SELECT DISTINCT source FROM kept.tasks WHERE pass = ? ORDER BY source"
        return [source for (source,) in self.workspace.stream.rows(query, [self.number])]
