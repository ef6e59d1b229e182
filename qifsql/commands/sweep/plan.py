"""The plan of a sweep: its tasks, and their cost in time, memory and disk.

The cost is stated before a sweep, refused if it is too high, and reported during the sweep. All
numbers are estimates from the benchmarks, meant to be right within a factor of two. The remaining
time is predicted from the times measured so far.
"""

import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from math import prod
from pathlib import Path

import polars as pl

from qifsql.adversary.spec import BoundAttack
from qifsql.commands.sweep.layout import Layout
from qifsql.engine import remembered
from qifsql.engine.protocol import Engine
from qifsql.engine.settings import Settings
from qifsql.errors import EngineError, plural, quoted
from qifsql.presentation import words
from qifsql.query.microdata_steps import records_plan

PER_ROW = 80e-9  # seconds of one thread per row of a table without attributes
PER_ATTRIBUTE = 1.43  # factor for each attribute that is left
PER_WALK = 0.04  # seconds per task and attribute that is left, however few the rows
PER_COARSER = 0.03  # seconds per attribute of a pass, whose values are merged in pairs
READING = 0.4  # seconds until the answers of few people are read
VALUED_FACTOR = 3.0  # factor if the values of a secret are counted one by one
PER_ANSWER = 50e-9  # seconds of one thread per person and attribute, after all subsets are done
MOST_MEMORY = 2 * 2**30  # bytes; more memory does not make a sweep faster
FIXED_MEMORY = 100 * 2**20  # bytes that the engine needs
MEMORY_PER_STREAM = 100 * 2**20  # bytes that each stream needs
DISK_PER_RECORD = 60  # bytes of disk per record: coded tables and spilled data
MEMORY_PER_RECORD = 70  # bytes of memory per record, up to the limit

PLAN: dict[str, pl.DataType] = {
    "pass": pl.Int64(),
    "first": pl.String(),
    **dict.fromkeys(("subsets", "rows_estimated", "rows"), pl.Int64()),
    "method": pl.String(),
    **dict.fromkeys(("seconds_estimated", "seconds"), pl.Float64()),
}
"""The plan of a sweep: the expected and the actual cost of each stage."""


@dataclass(frozen=True)
class Chunk:
    """Rows of a coded table whose ``entry`` is from ``least`` to ``greatest``.

    ``position`` is that of the attribute in ``entry``, ``state`` the decisions before it.
    """

    table: str
    position: int
    state: int
    least: int
    greatest: int
    rows: int


@dataclass(frozen=True)
class Task:
    """One step on the rows of the table ``source`` whose code of the first attribute is in a range.

    Codes are from ``least`` to ``greatest``. The attribute is at ``position``; ``state`` has the
    decisions on those before it (``Layout.state``). Kinds of tasks:

    - ``walk``: settle all subsets that take the attribute, each block of them.
    - ``split``: copy the rows of one value, too many for one walk, to a separate table.
    - ``drop``: write the table without the attribute.
    - ``group``: settle the one subset that ``state`` has taken.
    - ``coarsen``: the same, after merging the values of the attribute at ``position`` in pairs.
    """

    number: int
    number_of_pass: int
    kind: str
    source: str
    position: int
    state: int
    least: int
    greatest: int
    rows: int

    @property
    def chunk(self) -> Chunk:
        """Return the rows of the task, in its table in the workspace."""
        table = qualify(self.source)
        return Chunk(table, self.position, self.state, self.least, self.greatest, self.rows)

    def first_attribute(self, n: int) -> int:
        """Return the first attribute, of n, of the subsets that the task settles."""
        return first_attribute(self.state >> n | 1 << self.position)


def qualify(table: str) -> str:
    """Return the qualified name of a table in the workspace."""
    return f"kept.main.{table}"


def first_attribute(subset: int) -> int:
    """Return the first attribute of a subset, by position."""
    return (subset & -subset).bit_length() - 1


@dataclass
class Stage:
    """All subsets that begin with one attribute: rows expected and done, and the time spent.

    ``attributes`` are the first one and those after it. ``slowness`` is a factor on the time of a
    pass with secrets of few values. ``wasted`` are the seconds of abandoned walks, ``tasks`` the
    number of those done. ``estimated_rows`` and ``estimated_seconds`` are those of the plan;
    ``expected_rows`` follows what becomes known.
    """

    attributes: int
    slowness: float
    expected_rows: float = 0.0
    estimated_rows: float = 0.0
    estimated_seconds: float = 0.0
    rows_done: int = 0
    seconds: float = 0.0
    wasted: float = 0.0
    tasks: int = 0
    method: str = ""

    @property
    def subsets(self) -> int:
        """Return the number of subsets: the first attribute, and any of those after it."""
        return int(2 ** (self.attributes - 1))

    @property
    def is_small(self) -> bool:
        """Return whether its tasks took their time for few rows."""
        seconds_of_calls = PER_WALK * self.attributes * self.tasks  # however few the rows
        return self.tasks > 0 and self.rows_done * self.benchmark_pace < seconds_of_calls

    @property
    def benchmark_pace(self) -> float:
        """Return the seconds of one thread per row in the benchmarks."""
        return float(PER_ROW * PER_ATTRIBUTE**self.attributes * self.slowness)

    def relative_pace(self, reference: "Stage") -> float:
        """Return how many times as long a row is expected to take as one of another stage."""
        if reference.method == "roll up":  # its time grows with the subsets
            return self.subsets / reference.subsets
        return self.benchmark_pace / reference.benchmark_pace

    @property
    def remaining_rows(self) -> float:
        """Return the number of rows that are not done."""
        return max(0.0, self.expected_rows - self.rows_done)


@dataclass
class Progress:
    """The stages of all passes, in the order of the work, by number of the pass and position.

    Times are predicted from measured times. A stage that has begun continues at its pace. A stage
    that has not begun has the pace of the last one that has, scaled by the attributes that are
    left, and the time that any task takes, which is most of it in small files. If subsets are
    settled one by one, they are counted instead, ``listed`` of them in each pass.
    """

    layouts: Sequence[Layout]
    threads: int
    listed: int = 0
    stages: dict[tuple[int, int], Stage] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)
    rows_done: int = 0
    subsets_done: int = 0

    def __post_init__(self) -> None:
        """Expect the largest possible number of different people, until more is known."""
        for number, layout in enumerate(self.layouts):
            combinations = [prod(layout.values[p:]) for p in range(layout.n)]
            self.expect(number, [float(min(c, layout.people)) for c in combinations])

    def expect(self, number: int, rows: Sequence[float]) -> None:
        """Set the expected distinct people (``rows``) of each stage of a pass, by position."""
        layout = self.layouts[number]
        for position, expected in enumerate(rows):
            new = Stage(layout.n - position, VALUED_FACTOR if layout.valued else 1.0)
            stage = self.stages.setdefault((number, position), new)
            stage.expected_rows = stage.estimated_rows = expected
            seconds = expected * stage.benchmark_pace / self.threads
            stage.estimated_seconds = seconds + PER_WALK * stage.attributes

    def count_done(self, task: Task, seconds: float, method: str, wasted: float = 0.0) -> None:
        """Count a finished task, done by ``method``; ``wasted``: seconds of an abandoned walk."""
        if task.kind == "group":  # it settles one subset
            self.subsets_done += 1
        if task.kind != "walk":  # stages have the time of walks alone
            return
        first = task.first_attribute(self.layouts[task.number_of_pass].n)
        stage = self.stages[task.number_of_pass, first]
        stage.rows_done += task.rows
        stage.seconds += seconds
        stage.wasted += wasted
        stage.tasks += 1
        stage.method = method
        stage.expected_rows = max(stage.expected_rows, stage.rows_done)
        self.rows_done += task.rows

    def remaining_seconds(self) -> float:
        """Return the predicted seconds that are left: of the stages, then of the answers.

        A pace is the seconds of one thread per row. A stage that has not begun is expected to have
        that of the last one that has (``reference``), scaled to its number of attributes.
        """
        layout = self.layouts[0]
        reference: Stage | None = None
        reference_pace = 0.0
        seconds = PER_ANSWER * layout.people * layout.n  # that threads share: of answers, then rows
        seconds_of_tasks = PER_COARSER * sum(x.n for x in self.layouts)  # that they hardly share
        # Stages of few rows tell how long a task takes, whatever its rows.
        small = [stage for stage in self.stages.values() if stage.is_small]
        walks = sum(stage.attributes * stage.tasks for stage in small)
        per_walk = sum(stage.seconds for stage in small) / walks if walks else PER_WALK
        for stage in self.stages.values():
            if stage.rows_done:  # the stage has begun
                pace = (stage.seconds - stage.wasted) / stage.rows_done
                if not stage.is_small:  # few rows say nothing of the pace of many
                    reference, reference_pace = stage, pace
            else:
                pace = stage.benchmark_pace
                if reference is not None:
                    pace = reference_pace * stage.relative_pace(reference)
                seconds_of_tasks += per_walk * stage.attributes
            seconds += stage.remaining_rows * pace
        return seconds / self.threads + seconds_of_tasks + READING

    def describe(self) -> str:
        """Return a text: the complete subsets, rows per second, time left and memory so far.

        Stages complete their subsets together; a sweep of a list or a search has none.
        """
        if self.subsets_done:  # a task settles one subset in one pass
            total = f" of {self.listed * len(self.layouts):,}" if self.listed else ""
            return f"{self.subsets_done:,}{total} subsets measured, {peak_memory()} MB"
        done_in_pass = dict.fromkeys(range(len(self.layouts)), 0)
        for (pass_number, _), stage in self.stages.items():
            if stage.rows_done and stage.remaining_rows < 1:
                done_in_pass[pass_number] += stage.subsets
        done = min(done_in_pass.values())  # a subset is complete when all passes have settled it
        all_subsets = 2 ** self.layouts[0].n - 1
        seconds = time.monotonic() - self.began
        remaining = timedelta(seconds=round(self.remaining_seconds()))
        return (
            f"{done:,} of {all_subsets:,} subsets, {self.rows_done / max(seconds, 0.001):,.0f} "
            f"rows/s, {remaining} left, {peak_memory()} MB"
        )

    def plan_table(self, names: Sequence[str]) -> pl.DataFrame:
        """Return the plan with its estimated and actual cost: a row per pass and first attribute.

        ``names`` are the quasi-identifiers by position; seconds are of all threads together.
        """
        rows = [
            {
                "pass": number + 1,
                "first": names[position],
                "subsets": stage.subsets,
                "rows_estimated": round(stage.estimated_rows),
                "rows": stage.rows_done,
                "method": stage.method or None,
                "seconds_estimated": stage.estimated_seconds,
                "seconds": stage.seconds / self.threads,
            }
            for (number, position), stage in self.stages.items()
        ]
        return pl.DataFrame(rows, schema=PLAN)

    def plan_lines(self, names: Sequence[str]) -> list[str]:
        """Return the plan in words, before any work; ``names``: quasi-identifiers by position."""
        return [
            f"pass {number + 1}: {stage.subsets:,} subsets that begin with "
            f"{quoted(names[position])}, about {stage.expected_rows:,.0f} rows, "
            f"{stage.estimated_seconds:,.1f} seconds"
            for (number, position), stage in self.stages.items()
        ]

    @property
    def share(self) -> float:
        """Return the share of the work that is done, from 0 to 1: of the time, if not of a list."""
        if self.listed:  # each pass settles every subset of the list
            return self.subsets_done / self.listed / len(self.layouts)
        done = sum(stage.seconds for stage in self.stages.values()) / self.threads
        remaining = self.remaining_seconds()
        return done / (done + remaining) if done + remaining else 1.0


def peak_memory() -> int:
    """Return the peak memory of this process so far, in MB; 0 if the system does not report it."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes on macOS, else KB
    return peak // 2**20 if sys.platform == "darwin" else peak // 2**10


def with_memory_limit(settings: Settings | None) -> Settings:
    """Return the settings with the memory limit of a sweep, unless the user set a limit."""
    base = settings or Settings()
    if base.memory is not None or base.memory_limit is None:
        return base
    half = int(base.memory_limit.removesuffix("MiB")) * 2**20
    return replace(base, memory=f"{min(half, MOST_MEMORY) // 2**20}MiB")


def stream_count(engine: Engine) -> int:
    """Return the number of streams that fit in memory; EngineError if not even one fits."""
    limit = engine.memory
    streams = (limit - FIXED_MEMORY) // MEMORY_PER_STREAM
    if streams < 1:
        least, enough = (FIXED_MEMORY + MEMORY_PER_STREAM * n for n in (1, engine.threads))
        raise EngineError(
            f"a sweep needs {size_text(least)} of memory at least, and {size_text(enough)} to use "
            f"all threads; the limit is {size_text(limit)}: give more with --memory"
        )
    return min(engine.threads, streams)


def check_disk(engine: Engine, bound: BoundAttack, workspace: Path | None) -> None:
    """Refuse a sweep that needs more disk than is free; EngineError states the need."""
    microdata = bound.microdata
    counting = records_plan(microdata)
    ((records,),) = remembered.rows(engine, counting, "counting records", microdata.dataset)
    need = records * DISK_PER_RECORD
    for place, option in ((workspace, "--workspace"), (engine.scratch, "--temp")):
        if place is None:
            continue
        free = shutil.disk_usage(place.parent).free
        if free < need:
            raise EngineError(
                f"a sweep of {plural(records, 'record')} needs about {size_text(need)} of disk, "
                f"and {place.parent} has {size_text(free)}; name a folder with more room with "
                f"{option}"
            )


def expected_cost(progress: Progress, limit: int | None) -> str:
    """Return the estimated time, memory and disk of a sweep, in words."""
    threads, people = progress.threads, progress.layouts[0].people
    if limit is None:  # on a cluster only the time is estimated
        duration = words.duration(progress.remaining_seconds())
        return f"{duration} with {plural(threads, 'task')} at a time"
    memory = min(limit, FIXED_MEMORY + MEMORY_PER_STREAM * threads + people * MEMORY_PER_RECORD)
    return (
        f"{words.duration(progress.remaining_seconds())} with {plural(threads, 'thread')}, "
        f"{size_text(memory)} of memory, {size_text(people * DISK_PER_RECORD)} of disk"
    )


def size_text(bytes_: float) -> str:
    """Return a number of bytes in MB or GB, as text."""
    return f"{bytes_ / 2**30:.1f} GB" if bytes_ >= 2**29 else f"{max(1, round(bytes_ / 2**20))} MB"
