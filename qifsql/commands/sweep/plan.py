"""The plan of a sweep: its passes over the data, and their cost in time, memory and disk.

A pass packs people into numbers. The column ``entry`` has the code of the first attribute of a
table. The number ``rest`` packs the codes of the later attributes, the first of them in the highest
bits. ``word_1``, ``word_2`` ... are numbers of 126 bits with the counts of one block: its people,
and the people with each value, except the last, of each secret of few values. A *valued* pass
counts one secret of many values: the code of the secret is in the lowest bits of ``rest`` instead.
These bits are all ones if nobody else in the block has the same value, because then the value does
not matter.

The cost is stated before a sweep, refused if it is too high, and reported during the sweep. All
numbers are estimates from the benchmarks, meant to be right within a factor of two. The remaining
time is predicted from the times measured so far.
"""

import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from math import prod
from pathlib import Path

import polars as pl

from qifsql.adversary.spec import BoundAttack
from qifsql.counting.scales import Spread
from qifsql.engine.protocol import Engine
from qifsql.engine.settings import Settings
from qifsql.errors import EngineError, quoted, several
from qifsql.presentation import words
from qifsql.query.microdata_steps import records_plan

FEW = 8  # most values of a secret with one counter per value
COUNTERS = 24  # most counters in one pass
WORD = 126  # bits of a word available to counters
NARROW, WIDE = 64, 128  # bits of the types that hold ``rest``

PER_ROW = 80e-9  # seconds of one thread per row of a table without attributes
MORE = 1.43  # factor for each attribute that is left
PER_WALK = 0.04  # seconds of one thread per task and attribute that is left, however few the rows
READING = 0.4  # seconds until the answers of few people are read
VALUED = 3.0  # factor if the values of a secret are counted one by one
ANSWERS = 50e-9  # seconds of one thread per person and attribute, after all subsets are done
MEMORY = 2 * 2**30  # bytes; more memory does not make a sweep faster
FIXED = 100 * 2**20  # bytes that the engine needs
PER_STREAM = 100 * 2**20  # bytes that each stream needs
PER_RECORD = 60  # bytes of disk per record: coded tables and spilled data
RESIDENT = 70  # bytes of memory per record, up to the limit

PLAN: dict[str, pl.DataType] = {
    "pass": pl.Int64(),
    "first": pl.String(),
    "subsets": pl.Int64(),
    "rows_estimated": pl.Int64(),
    "rows": pl.Int64(),
    "method": pl.String(),
    "seconds_estimated": pl.Float64(),
    "seconds": pl.Float64(),
}
"""The plan of a sweep: the expected and the actual cost of each stage."""


@dataclass(frozen=True)
class Layout:
    """One pass: attributes by position, most distinguishing first, and the secrets it counts.

    ``order`` has the number of the quasi-identifier at each position, ``values`` its number of
    values. ``secrets`` maps the number of each secret to its number of values. ``owners``: the pass
    also answers re-identification.
    """

    order: tuple[int, ...]
    values: tuple[int, ...]
    people: int
    secrets: Mapping[int, int]
    valued: bool = False
    owners: bool = True

    @property
    def n(self) -> int:
        """Return the number of attributes."""
        return len(self.order)

    @property
    def every(self) -> int:
        """Return the bits of all attributes in a state."""
        return (1 << self.n) - 1

    @property
    def secret_bits(self) -> int:
        """Return the number of bits of ``rest`` with the code of the secret.

        The bits are all ones if nobody else in the block has the same value.
        """
        return _bits(next(iter(self.secrets.values())) + 1) if self.valued else 0

    def shift(self, position: int) -> int:
        """Return the number of bits of ``rest`` below the code of that attribute."""
        return sum(_bits(v) for v in self.values[position + 1 :]) + self.secret_bits

    def field(self, position: int) -> int:
        """Return the bits of ``rest`` that hold the code of the attribute at that position."""
        return ((1 << _bits(self.values[position])) - 1) << self.shift(position)

    def fields(self, subset: int, *, entry: bool) -> int:
        """Return the bits of a packed key that hold the codes of some attributes, and the secret.

        A packed key has ``entry`` above ``rest``. The caller says whether to keep ``entry``,
        because it is a different attribute in each table.
        """
        code_bits = sum(self.field(p) for p in range(1, self.n) if subset >> p & 1)
        first = -1 << self.width if entry else 0
        bits = self.rest_bits if self.key_type == self.rest_type else WIDE
        return (first | code_bits | (1 << self.secret_bits) - 1) & ((1 << bits) - 1)

    def lowest(self, position: int) -> int:
        """Return the lowest bit of the code of an attribute in a packed key."""
        return 1 << (self.width if position == 0 else self.shift(position))

    @property
    def key_type(self) -> str:
        """Return the type that holds ``entry`` and ``rest`` together."""
        entry = _bits(max(self.values))
        return "UBIGINT" if self.width + entry <= NARROW else "UHUGEINT"

    def later(self, position: int) -> int:
        """Return the bits of ``rest`` below the code of the attribute at that position."""
        return (1 << self.shift(position)) - 1

    @property
    def width(self) -> int:
        """Return the number of used bits of ``rest``."""
        return self.shift(0)

    @property
    def rest_type(self) -> str:
        """Return the type of ``rest``."""
        return "UBIGINT" if self.rest_bits == NARROW else "UHUGEINT"

    @property
    def rest_bits(self) -> int:
        """Return the number of bits of the type of ``rest``; a shift by it leaves nothing."""
        return NARROW if self.width <= NARROW else WIDE

    @property
    def block_type(self) -> str:
        """Return the type of a block's key: its state, and room for the numbers of 2^28 blocks."""
        return "BIGINT" if 2 * self.n + 28 < NARROW else "HUGEINT"

    @property
    def word_type(self) -> str:
        """Return the type of a word: HUGEINT for several counters, BIGINT for one."""
        return "BIGINT" if self.valued else "HUGEINT"

    @property
    def counter_bits(self) -> int:
        """Return the number of bits of one counter."""
        return self.people.bit_length()

    @property
    def counters(self) -> tuple[tuple[int, int], ...]:
        """Return the counted values as pairs of secret and code, without the people."""
        if self.valued:
            return ()
        return tuple((j, code) for j, values in self.secrets.items() for code in range(values - 1))

    @property
    def words(self) -> int:
        """Return the number of words that hold the counters."""
        return self.place(len(self.counters))[0]

    def place(self, counter: int) -> tuple[int, int]:
        """Return the word of a counter (0: people), and the number of bits below it there."""
        in_one = WORD // self.counter_bits
        return counter // in_one + 1, counter % in_one * self.counter_bits

    def state(self, *, subset: int = 0, undecided: int = 0) -> int:
        """Return a state from its two sets of attributes."""
        return subset << self.n | undecided


def passes(
    qids: Mapping[int, Spread], secrets: Mapping[int, Spread], people: int
) -> tuple[Layout, ...]:
    """Return the passes over the data that answer all questions.

    The first pass answers re-identification. One pass counts the secrets of few values; each other
    secret has a separate pass.
    """
    order = tuple(sorted(qids, key=lambda i: (qids[i].together, i)))
    values = tuple(qids[i].values for i in order)
    few: dict[int, int] = {}
    for j, spread in secrets.items():
        if spread.values <= FEW and sum(few.values()) - len(few) + spread.values <= COUNTERS:
            few[j] = spread.values
    many = {j: spread.values for j, spread in secrets.items() if j not in few}
    layouts: list[Layout] = []
    if few or not many:
        layouts.append(Layout(order, values, people, few))
    for j, v in many.items():
        layouts.append(Layout(order, values, people, {j: v}, valued=True, owners=not layouts))
    return tuple(layouts)


def fits(layouts: Sequence[Layout]) -> bool:
    """Return whether the codes of each person fit in a key."""
    return all(x.width + _bits(max(x.values)) <= WIDE for x in layouts)


def _bits(values: int) -> int:
    """Return the number of bits that distinguish that many values."""
    return max(0, values - 1).bit_length()


@dataclass(frozen=True)
class Task:
    """One step on the rows of a coded table whose ``entry`` is in a range.

    ``walk``: settle all subsets that take the attribute at ``position``. ``split``: copy the rows
    of one value, too many for one walk, to a separate table. ``drop``: write the table without the
    attribute. ``group``: settle the one subset that ``state`` has taken. ``coarsen``: the same,
    after merging the values of the attribute at ``position`` in pairs.
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
    def shareable(self) -> bool:
        """Return whether its result can come from another participant: it writes no table."""
        return self.kind not in ("drop", "split")

    @property
    def name(self) -> str:
        """Return the name of its result, which depends only on the data and the options."""
        parts = (self.source, self.kind, self.position, self.state, self.least, self.greatest)
        return "-".join(map(str, parts)) + ".parquet"

    def first(self, n: int) -> int:
        """Return the first attribute, of n, of the subsets that the task settles."""
        return first(self.state >> n | 1 << self.position)


def first(subset: int) -> int:
    """Return the first attribute of a subset, by position."""
    return (subset & -subset).bit_length() - 1


@dataclass
class Stage:
    """All subsets that begin with one attribute: rows expected and done, and the time spent.

    ``times``: factor on the time of a pass with secrets of few values. ``wasted``: seconds of
    abandoned walks. ``tasks``: tasks that are done.
    """

    left: int
    expected: float
    times: float = 1.0
    done: int = 0
    seconds: float = 0.0
    wasted: float = 0.0
    tasks: int = 0
    estimated: float = 0.0
    estimated_rows: float = 0.0
    method: str = ""

    @property
    def rate(self) -> float | None:
        """Return the seconds of one thread per row; None if no row is done."""
        return (self.seconds - self.wasted) / self.done if self.done else None

    @property
    def is_small(self) -> bool:
        """Return whether its tasks took their time for few rows."""
        return self.tasks > 0 and self.done * self.pace < PER_WALK * self.left * self.tasks

    @property
    def pace(self) -> float:
        """Return the seconds of one thread per row in the benchmarks."""
        return float(PER_ROW * MORE**self.left * self.times)

    @property
    def remaining(self) -> float:
        """Return the number of rows that are not done."""
        return max(0.0, self.expected - self.done)


@dataclass
class Progress:
    """The stages of all passes, in the order of the work.

    Times are predicted from measured times. A stage that has begun continues at its pace. A stage
    that has not begun has the pace of the last one that has, scaled by the attributes that are
    left, and the time that any task takes, which is most of it in small files. If subsets are
    settled one by one, they are counted instead, ``listed`` of them in each pass.
    """

    layouts: Sequence[Layout]
    threads: int
    listed: int | None = None
    stages: dict[tuple[int, int], Stage] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)
    rows_done: int = 0
    subsets_done: int = 0

    def __post_init__(self) -> None:
        """Expect the largest possible number of different people, until more is known."""
        for number, layout in enumerate(self.layouts):
            self.expect(number, [_at_most(layout, p) for p in range(layout.n)])

    def expect(self, number: int, rows: Sequence[float]) -> None:
        """Set the expected number of distinct people for each stage of a pass."""
        layout = self.layouts[number]
        for position, expected in enumerate(rows):
            new = Stage(layout.n - position, expected, VALUED if layout.valued else 1.0)
            stage = self.stages.setdefault((number, position), new)
            stage.expected = expected
            stage.estimated_rows = expected
            stage.estimated = (expected * stage.pace + PER_WALK * stage.left) / self.threads

    def shorten(self, number: int, position: int, share: float) -> None:
        """Expect only a share of the rows of a stage, because they are sampled."""
        self.stages[number, position].expected *= share

    def done(self, task: Task, seconds: float, method: str, wasted: float = 0.0) -> None:
        """Count a finished task; ``wasted`` are its seconds in an abandoned walk."""
        if task.kind == "group":
            self.subsets_done += 1
        if task.kind != "walk":
            return
        stage = self.stages[task.number_of_pass, task.first(self.layouts[task.number_of_pass].n)]
        stage.done += task.rows
        stage.seconds += seconds
        stage.wasted += wasted
        stage.tasks += 1
        stage.method = method
        stage.expected = max(stage.expected, stage.done)
        self.rows_done += task.rows

    def remaining(self) -> float:
        """Return the predicted seconds that are left."""
        first = self.layouts[0]
        total, reference = ANSWERS * first.people * first.n, None
        per_walk = self._per_walk()
        for stage in self.stages.values():
            if (rate := stage.rate) is not None:
                reference = reference if stage.is_small else stage
            else:
                rate = stage.pace if reference is None else _scaled(reference, stage)
                total += per_walk * stage.left
            total += stage.remaining * rate
        return total / self.threads + READING

    def _per_walk(self) -> float:
        """Return the seconds of one thread per task and attribute, measured if there are some."""
        small = [stage for stage in self.stages.values() if stage.is_small]
        units = sum(stage.left * stage.tasks for stage in small)
        return sum(stage.seconds for stage in small) / units if units else PER_WALK

    def describe(self) -> str:
        """Return the complete subsets, rows per second, time left and memory so far."""
        if self.subsets_done:
            every = f" of {self.listed * len(self.layouts):,}" if self.listed else ""
            return f"{self.subsets_done:,}{every} subsets measured, {memory()} MB"
        done = min(
            sum(
                2 ** (stage.left - 1)
                for (number, _), stage in self.stages.items()
                if number == i and stage.done and stage.remaining < 1
            )
            for i in range(len(self.layouts))
        )
        seconds = time.monotonic() - self.began
        left = timedelta(seconds=round(self.remaining()))
        return (
            f"{done:,} of {2 ** self.layouts[0].n - 1:,} subsets, "
            f"{self.rows_done / max(seconds, 0.001):,.0f} rows/s, {left} left, {memory()} MB"
        )

    def frame(self, names: Sequence[str]) -> pl.DataFrame:
        """Return the plan with its estimated and actual cost: a row per pass and first attribute.

        ``names`` are the quasi-identifiers by position; seconds are of all threads together.
        """
        rows = [
            {
                "pass": number + 1,
                "first": names[position],
                "subsets": 2 ** (stage.left - 1),
                "rows_estimated": round(stage.estimated_rows),
                "rows": stage.done,
                "method": stage.method or None,
                "seconds_estimated": stage.estimated,
                "seconds": stage.seconds / self.threads,
            }
            for (number, position), stage in self.stages.items()
        ]
        return pl.DataFrame(rows, schema=PLAN)

    def lines(self, names: Sequence[str]) -> list[str]:
        """Return the plan in words, before anything is done."""
        return [
            f"pass {number + 1}: {2 ** (stage.left - 1):,} subsets that begin with "
            f"{quoted(names[position])}, about {stage.expected:,.0f} rows, "
            f"{stage.estimated:,.1f} seconds"
            for (number, position), stage in self.stages.items()
        ]

    @property
    def share(self) -> float:
        """Return the share of the work that is done, from 0 to 1."""
        if self.listed:
            return self.subsets_done / self.listed / len(self.layouts)
        done = sum(stage.seconds for stage in self.stages.values()) / self.threads
        left = self.remaining()
        return done / (done + left) if done + left else 1.0


def _scaled(reference: Stage, stage: Stage) -> float:
    pace = reference.rate or 0.0
    if reference.method == "roll up":
        return pace / float(2 ** (reference.left - stage.left))
    return pace * stage.pace / reference.pace


def _at_most(layout: Layout, position: int) -> float:
    """Return the largest possible number of different people, by people and combinations."""
    return float(min(prod(layout.values[position:]), layout.people))


def memory() -> int:
    """Return the peak memory of this process so far, in MB; 0 if the system does not report it."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 0
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size // 2**20 if sys.platform == "darwin" else size // 2**10


def limited(settings: Settings | None) -> Settings:
    """Return the settings with the memory limit of a sweep, unless the user set a limit."""
    base = settings or Settings()
    if base.memory is not None or base.memory_limit is None:
        return base
    half = int(base.memory_limit.removesuffix("MiB")) * 2**20
    return replace(base, memory=f"{min(half, MEMORY) // 2**20}MiB")


def streams(engine: Engine) -> int:
    """Return the number of streams that fit in memory; EngineError if not even one fits."""
    limit = engine.memory
    fit = (limit - FIXED) // PER_STREAM
    if fit < 1:
        raise EngineError(
            f"a sweep needs {size(FIXED + PER_STREAM)} of memory at least, and "
            f"{size(FIXED + PER_STREAM * engine.threads)} to use all threads; the limit is "
            f"{size(limit)}: give more with --memory"
        )
    return min(engine.threads, fit)


def check_disk(engine: Engine, bound: BoundAttack, workspace: Path | None) -> None:
    """Refuse a sweep that needs more disk than is free; EngineError states the need."""
    ((records,),) = engine.rows(
        records_plan(bound.microdata), "counting records", bound.microdata.dataset.name
    )
    need = records * PER_RECORD
    for place, option in ((workspace, "--workspace"), (engine.scratch, "--temp")):
        if place is None:
            continue
        free = shutil.disk_usage(place.parent).free
        if free < need:
            raise EngineError(
                f"a sweep of {several(records, 'record')} needs about {size(need)} of disk, and "
                f"{place.parent} has {size(free)}; name a folder with more room with {option}"
            )


def preflight(progress: Progress, limit: int | None) -> str:
    """Return the estimated time, memory and disk of a sweep, in words.

    ``limit`` is the limit for memory; None on a cluster, where only the time is estimated.
    """
    threads, people = progress.threads, progress.layouts[0].people
    if limit is None:
        duration = words.duration(progress.remaining())
        return f"{duration} with {several(threads, 'task')} at a time"
    memory = min(limit, FIXED + PER_STREAM * threads + people * RESIDENT)
    disk = people * PER_RECORD
    return (
        f"{words.duration(progress.remaining())} with {several(threads, 'thread')}, "
        f"{size(memory)} of memory, {size(disk)} of disk"
    )


def size(bytes_: float) -> str:
    """Return a number of bytes in MB or GB, as text."""
    return f"{bytes_ / 2**30:.1f} GB" if bytes_ >= 2**29 else f"{max(1, round(bytes_ / 2**20))} MB"
