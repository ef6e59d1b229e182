"""Passes over the data: streams work on the tasks and store results in the workspace.

The blocks that a task settled are summed up by state, question and kind of block
(``worker.kinds``).
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from typing import Any

from sqlglot import exp

from qifsql.adversary.spec import BoundAttack
from qifsql.commands.sweep import compiled
from qifsql.commands.sweep.layout import Layout
from qifsql.commands.sweep.plan import Progress, Task
from qifsql.commands.sweep.strategies import Strategy
from qifsql.commands.sweep.tables import ENTRIES, SAMPLE, Tables, coded, heavy, qualify
from qifsql.commands.sweep.tasks import Tasks
from qifsql.commands.sweep.walk import Choices, group, settle, whole_block
from qifsql.commands.sweep.worker import Chunk, Sums, Worker, number
from qifsql.commands.sweep.workspace import Workspace
from qifsql.engine.connections import Stream
from qifsql.engine.protocol import LocalEngine
from qifsql.query.plan import Plan
from qifsql.query.render import dropping, render

STORE_FOUND = "INSERT INTO kept.found SELECT ?, ?, * FROM found"
TOGETHER = 64  # most subsets that are settled one by one and stored together
AT_ONCE = 16_000_000  # people of these subsets, one after the other: about a tenth of a second


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
        self.held = compiled.Held(self.engine.here)
        self.tables = self.make_tables(
            self.workspace,
            self.number,
            self.layout,
            self.strategy.sizes,
            self.strategy.settle,
            self.progress,
            self.streams,
        )
        self.choices = Choices(
            self.layout.n, may_roll=self.strategy.whole, valued=self.layout.valued
        )

    def make_tables(self, *parts: Any) -> Tables:
        """Return the coded tables of the pass, from what all kinds of them have."""
        return Tables(*parts)

    def run(self) -> None:
        """Code the people, unless that is done, and work on the tasks."""
        if not self.workspace.begun(self.number):
            if self.number and self.out_of_time():
                return
            self._encode()
        pending = self.workspace.pending(self.number)
        if pending and self.strategy.staged:
            self.progress.expect(self.number, self.expected())
        while pending and not self.out_of_time():
            light = [task for task in pending if not heavy(task)]
            large = [task for task in pending if heavy(task)]
            if light:
                self._work_on(light)
            if large:
                self._alone(large[0])
            pending = self.workspace.pending(self.number)
        self.look()

    def _worker(self, stream: Stream) -> Worker:
        return Worker(stream, self.layout, self.strategy.sizes, compiled=self.compiled)

    def _work_on(self, pending: Iterable[Task]) -> None:
        """Let every stream take task after task."""
        tasks = Tasks(
            pending,
            self.out_of_time,
            together=max(1, min(TOGETHER, AT_ONCE // max(1, self.layout.people))),
            streams=self.streams,
        )
        with self._opened() as workers:
            work = partial(self._work, workers, tasks)
            self.engine.here.together(list(workers), work, self.look)

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """Open streams of the pass alone, for all subsets that are asked for."""
        with self.engine.here.single_threaded():
            streams = [self.engine.here.stream() for _ in range(self.streams)]
            try:
                self.workers = {stream: self._worker(stream) for stream in streams}
                yield
            finally:
                self.workers = {}
                for stream in streams:
                    stream.close()

    @contextmanager
    def _opened(self) -> Iterator[dict[Stream, Worker]]:
        """Let as many streams as memory allows, each with one thread, work for this pass."""
        if self.workers:
            yield self.workers
            return
        with self.engine.here.single_threaded():
            yield {s: self._worker(s) for s in self.workspace.streams(self.streams)}

    def _alone(self, task: Task) -> None:
        """Work on one task with a stream that uses all threads."""

        def work(stream: Stream) -> None:
            self._do(self._worker(stream), [task])

        self.engine.here.together([self.workspace.stream], work, self.look)

    def _encode(self) -> None:
        """Code the people and store the first tasks."""
        table = self.tables.first
        stream = self.workspace.stream
        stream.rows(dropping(qualify(table)))  # left by an interrupted process
        self.engine.keep(table, self.plan, "encoding", self.bound.microdata.dataset.name)
        worker = self._worker(stream)
        with stream.transaction():
            self.workspace.enter(stream, table)
            self.strategy.begin(self.tables, worker)
            self.workspace.begin(self.number)

    @cached_property
    def plan(self) -> Plan:
        """Return the plan of the coded people."""
        return coded(self.bound.microdata, self.layout)

    def expected(self) -> list[float]:
        """Estimate how many distinct people remain when the attributes before each are dropped."""
        worker = self._worker(self.workspace.stream)
        counts: list[exp.Expr] = [exp.Count(this=exp.Star())]
        for position in range(self.layout.n - 1):
            mask = number(self.layout.later(position), self.layout.rest_type)
            some = exp.BitwiseAnd(this=exp.column("rest"), expression=mask)
            counts.append(exp.ApproxDistinct(this=some))
        names = (exp.alias_(c, f"rows_{i}") for i, c in enumerate(counts))
        query = exp.select(*names).from_(qualify(self.tables.first))
        return [float(x) for x in worker.stream.rows(render(query))[0]]

    def look(self) -> None:
        """Report the progress of the sweep."""
        self.engine.settings.progress("sweeping", self.progress.share, self.progress.describe())

    def ask(self, subsets: Iterable[int]) -> dict[tuple[int, int], Sums]:
        """Settle subsets, by position; return people, mode and certain by subset and question."""
        stream = self.workspace.stream
        with stream.transaction():
            tasks = self.workspace.add(stream, self.tables.groups(subsets))
        self.answers = {}
        self._work_on(tasks)
        return self.answers

    @property
    def questions(self) -> set[int]:
        """Return the questions that the pass answers; 0 is re-identification."""
        return set(self.layout.secrets) | ({0} if self.layout.owners else set())

    @contextmanager
    def coarsening(self) -> Iterator[Callable[[int, int], Sums]]:
        """Yield a function that returns sums after merging the values of an attribute in pairs.

        The function takes a question and the position of the attribute. The sums are over the
        blocks by all attributes; the workspace keeps them.
        """
        with self._opened() as workers:

            def coarser(question: int, position: int) -> Sums:
                name = f"coarser {self.number} {position}"
                held = self.workspace.fact(name)
                if held is None:
                    held = self._coarser(workers, position)
                    self.workspace.tell(name, held)
                sums = {int(number): tuple(sums) for number, sums in held.items()}
                return sums[question]

            yield coarser

    def _coarser(self, workers: Mapping[Stream, Worker], position: int) -> dict[int, Sums]:
        state = self.layout.state(subset=self.layout.every)
        tasks = [
            Task(0, self.number, "coarsen", self.tables.first, position, state, least, greatest, 0)
            for least, greatest in self.tables.chunks(pairs=position == 0)
        ]
        queue = Tasks(tasks, lambda: False)
        parts: list[dict[tuple[int, int], Sums]] = []

        def work(stream: Stream) -> None:
            worker, works = workers[stream], False
            while True:
                with queue.next(stream) as batch:
                    if not batch:
                        break
                    (task,), works = batch, True
                    chunk = Chunk(qualify(task.source), 0, 0, task.least, task.greatest, 0)
                    group(worker, chunk, self.layout.every, coarser=position)
            if works:
                worker.sum_up()
                parts.append(self._summed(worker.rows("sums")))
                worker.forget()

        self.engine.here.together(list(workers), work, self.look)
        added: dict[int, Sums] = {}
        for (_, question), sums in chain.from_iterable(part.items() for part in parts):
            a, b, c = added.get(question, (0, 0, 0))
            added[question] = (a + sums[0], b + sums[1], c + sums[2])
        return added

    def sums(self) -> dict[tuple[int, int], Sums]:
        """Return people, mode and certain of all subsets settled so far, as ``ask`` does."""
        worker = self._worker(self.workspace.stream)
        query = worker.say.query("sums", found="kept.main.found")
        part = query.where(
            exp.EQ(this=exp.column("pass"), expression=exp.Literal.number(self.number))
        )
        return self._summed(worker.stream.rows(render(part)))

    def _summed(self, rows: Iterable[tuple[int, ...]]) -> dict[tuple[int, int], Sums]:
        n = self.layout.n
        return {(state >> n, question): sums for state, question, *sums in rows}  # type: ignore[misc]

    def _work(self, workers: Mapping[Stream, Worker], tasks: Tasks, stream: Stream) -> None:
        """Work as one stream: do task after task."""
        worker = workers[stream]
        while True:
            with tasks.next(stream) as batch:
                if not batch:
                    self.history |= dict.fromkeys(worker.history)
                    return
                tasks.add(t for t in self._do(worker, batch) if not heavy(t))

    def _do(self, worker: Worker, tasks: Sequence[Task]) -> Sequence[Task]:
        """Do one task, or groups, and store their results; return the tasks that follow."""
        began, task = time.perf_counter(), tasks[0]
        chunk = Chunk(
            qualify(task.source), task.position, task.state, task.least, task.greatest, task.rows
        )
        method, wasted = task.kind, 0.0
        if task.kind == "walk":
            method, wasted = settle(worker, chunk, self.choices.of(chunk.position))
        elif task.kind == "group":
            method = self._settle_groups(worker, tasks)
        elif task.kind == "split":
            whole_block(worker, chunk)
        part = task.number if task.source.endswith(SAMPLE) else 0
        if task.kind != "drop":
            worker.sum_up()
        seconds = time.perf_counter() - began
        new: Sequence[Task] = ()
        with worker.stream.transaction():
            if task.kind != "drop":
                worker.stream.rows(STORE_FOUND, [self.number, part])
                rows = partial(found_rows, self.number, part)
                self.workspace.enter(worker.stream, "found", rows)
            if task.kind in ("split", "drop"):
                new = self.tables.without_entry(worker, task, chunk)
            took = (time.perf_counter() - began) / len(tasks)
            self.workspace.done(worker.stream, tasks, method, took)
        if task.kind == "group":
            self.answers |= self._summed(worker.rows("sums"))
        worker.forget()
        for each in tasks:
            self.progress.done(each, seconds, method, wasted)
        return new

    def _settle_groups(self, worker: Worker, tasks: Sequence[Task]) -> str:
        """Settle one subset for each task; return how."""
        subsets = [
            (Chunk(qualify(t.source), t.position, 0, *ENTRIES, 0), t.state >> self.layout.n)
            for t in tasks
        ]
        if self.compiled and all(subset >> table.position & 1 for table, subset in subsets):
            held = [(self.held.of(worker, table), subset) for table, subset in subsets]
            there = [(people, subset) for people, subset in held if people is not None]
            if len(there) == len(held):
                compiled.group(worker, there)
                return "compiled"
        for table, subset in subsets:  # by chunks if no block can be in two of them
            whole = subset >> table.position & 1
            for chunk in self.tables.cut(worker, table) if whole else (table,):
                group(worker, chunk, subset)
        return "group"

    def sweep_up(self) -> None:
        """Drop the coded tables of the pass, which are no longer needed."""
        for source in self.sources():
            self.workspace.drop(source)

    def sources(self) -> list[str]:
        """Return the names of the coded tables of the pass."""
        query = "SELECT DISTINCT source FROM kept.tasks WHERE pass = ? ORDER BY source"
        return [source for (source,) in self.workspace.stream.rows(query, [self.number])]


def found_rows(number_of_pass: int, part: int) -> exp.Select:
    """Return the rows that one task adds to the table ``found``."""
    keys = {"pass": number_of_pass, "part": part}
    typed = [exp.alias_(number(v, "INTEGER"), name) for name, v in keys.items()]
    return exp.select(*typed, "*").from_("found")
