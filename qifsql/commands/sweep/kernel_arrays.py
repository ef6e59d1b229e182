"""The compiled walk: the rows of a chunk as arrays for ``numba_kernel``, the sums of its blocks.

All memory is held by the arrays of ``WalkArrays``; their sizes depend on the chunk, not on the
number of chunks. This module needs ``qifsql[fast]``; ``kernel_choice`` says whether it is used.
"""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from sqlglot import exp

from qifsql.commands.sweep import numba_kernel as kernel
from qifsql.commands.sweep.kernel_choice import MOST_QUESTIONS, counter_bits, lane_count
from qifsql.commands.sweep.layout import Layout
from qifsql.commands.sweep.plan import Chunk
from qifsql.commands.sweep.worker import Worker
from qifsql.engine.connections import Stream
from qifsql.engine.protocol import LocalEngine
from qifsql.errors import Interrupted
from qifsql.query.render import creating, render
from qifsql.query.shapes import Shape
from qifsql.query.splice import splice

FIRST_LARGE, FIRST_KINDS = 1 << 14, 1 << 16  # rows of these tables at first (see numba_kernel)
PEOPLE_SHARE = 8  # of the memory: the part that may hold people
USES_UNHELD = 32  # subsets settled in SQL from a table, before its people are held
STEP_ROWS = 1_000_000  # rows that are visited between two looks at the clock: less than 0.1 s
SUMS = "compiled_sums"


def walk(worker: Worker, chunk: Chunk, going_well: Callable[[], bool]) -> bool:
    """Add to ``found`` the sums of all subsets that take the chunk's first attribute.

    Return False, without any sums, if ``going_well`` returned False before the end.
    """
    worker.limit_to(chunk)
    arrays = WalkArrays(worker.layout, chunk, worker.read_columns(_rows_query(worker, chunk)))
    sizes, n = worker.sizes, worker.layout.n
    while arrays.counts[kernel.WAITING]:  # blocks that are not settled
        if worker.stream.interrupted.is_set():
            raise Interrupted("interrupted")
        if not going_well():
            return False
        limit = arrays.counts[kernel.WORK] + STEP_ROWS
        arrays.walk(greatest=sizes.greatest, spare=n - sizes.least, limit=limit)
    _store(worker.stream, arrays.answers())
    worker.summed = True  # ``found`` has the sums already
    return True


def settle_subsets(worker: Worker, subsets: Sequence[tuple["People", int]]) -> None:
    """Settle subsets, each from the people of a table, into the table ``found``."""
    settled = SettledBlocks(worker.layout)
    for people, subset in subsets:
        if worker.stream.interrupted.is_set():
            raise Interrupted("interrupted")
        people.group(settled, subset)
    _store(worker.stream, settled.answers())
    worker.summed = True


def _rows_query(worker: Worker, chunk: Chunk) -> exp.Query:
    """Return the query of a chunk's rows in order: ``entry``, ``rest``, and lanes.

    A lane is a number of two counters: of the people, and of each value of the secrets.
    """
    layout = worker.layout
    # Of each counter: its word in the coded table, and the bits below it there.
    places = [layout.place(i) for i in range(1 + len(layout.counters))]
    shape: dict[str, Shape] = {
        "mask": layout.counter_mask,
        "lanes": [places[i : i + 2] for i in range(0, len(places), 2)],
    }
    return splice("sweep/chunk_rows", tables={"coded": chunk.table}, shape=shape)


def _store(stream: Stream, answers: pa.Table) -> None:
    """Create the table ``found`` of a stream from the sums that the kernel has made."""
    with stream.reading(SUMS, answers):
        stream.rows(creating("found", exp.select("*").from_(SUMS)))


class SettledBlocks:
    """The settled blocks of one task (``kernel.Settled``), in arrays that grow, and their sums."""

    def __init__(self, layout: Layout) -> None:
        """Make the arrays, without blocks."""
        width = 1 + lane_count(layout)  # of a row: ``rest`` or a state, then the lanes of counters
        self.layout = layout
        self.large: Any = np.empty((FIRST_LARGE, width + 1), np.uint64)  # blocks of many people
        self.kinds: Any = np.zeros(FIRST_KINDS, np.uint64)  # a hash table of the others
        self.times: Any = np.zeros(FIRST_KINDS, np.int64)  # how many blocks there are of each kind
        self.sums = np.zeros((1, width), np.uint64)  # scratch of the kernel
        self.alone = np.zeros((1, width), np.uint64)  # a row of one person
        self.alone[0, 1] = 1
        self.counts = np.zeros(6, np.int64)  # at the indices ``kernel.WAITING`` to ``WORK``
        self.bits = np.uint64(counter_bits(layout))  # of a counter in the number of a kind
        self._blocks: Any = np.zeros((0, width), np.uint64)
        self._places: Any = np.empty(0, np.int64)

    def scratch(self, rows: int) -> tuple[Any, Any]:
        """Return an empty table of blocks for so many rows, and a list of places in it."""
        if len(self._places) < rows:
            self._blocks = np.zeros((2 << rows.bit_length(), self.sums.shape[1]), np.uint64)
            self._places = np.empty(rows, np.int64)
        return self._blocks, self._places

    @property
    def arrays(self) -> kernel.Settled:
        """Return the arrays as they are now, for the kernel."""
        return kernel.Settled(
            self.kinds, self.times, self.bits, self.large, self.counts, self.alone
        )

    def reserve(self, blocks: int) -> None:
        """Make room for so many more blocks in ``large``, and in the hash table of ``kinds``."""
        self.large = _extend(self.large, int(self.counts[kernel.LARGE]), blocks)
        if 2 * self.counts[kernel.KINDS] >= len(self.kinds):
            size = 4 * len(self.kinds)
            kinds, times = np.zeros(size, np.uint64), np.zeros(size, np.int64)
            kernel.copy_kinds(self.kinds, self.times, kinds, times)
            self.kinds, self.times = kinds, times

    def answers(self) -> pa.Table:
        """Return the rows of the table ``found``: the sums of all settled blocks."""
        layout = self.layout
        answers = self._sum_up()
        used = np.flatnonzero(answers.keys)
        key, numbers = answers.keys[used].astype(np.int64), answers.numbers[used]
        # A key packs the state, the place of the question in this list, and the percent.
        questions = [0, *layout.secrets] if layout.owners else list(layout.secrets)
        place = key >> int(kernel.PERCENT) & MOST_QUESTIONS - 1
        percent = (key & (1 << int(kernel.PERCENT)) - 1).astype(np.uint8)
        state = key >> int(kernel.QUESTION)
        question = np.array(questions, np.uint8)[place]
        columns = {"state": state, "question": question, "bin": percent}
        for i, name in enumerate(("blocks", "people", "mode", "certain", "k", "l")):
            columns[name] = np.ascontiguousarray(numbers[:, i])
        return pa.table(columns | {"worst_case": answers.worst[used]})

    def _sum_up(self) -> kernel.Answers:
        """Sum up all settled blocks by state, question and percent of success."""
        # The first counter of each secret and its number of values; (0, 0): re-identification.
        counter, questions = 1, [(0, 0)] if self.layout.owners else []
        for values in self.layout.secrets.values():
            questions.append((counter, values))
            counter += values - 1  # the last value has none
        size = FIRST_KINDS
        answers = _no_answers(size)
        while True:  # the kernel returns where the table is full: then with a larger one
            kernel.sum_up(self.arrays, np.array(questions, np.int64), self.sums, answers)
            if self.counts[kernel.DONE] == len(self.kinds) + self.counts[kernel.LARGE]:
                return answers
            size *= 4
            larger = _no_answers(size)
            kernel.copy_answers(answers, larger)
            answers = larger


class WalkArrays(SettledBlocks):
    """The arrays of ``kernel.walk`` for one chunk, whose blocks all wait at first."""

    def __init__(self, layout: Layout, chunk: Chunk, people: pa.Table) -> None:
        """Make the arrays from ``people``, the rows of ``_rows_query``: a block for each entry.

        Every block takes the chunk's first attribute. The later attributes are undecided.
        """
        super().__init__(layout)
        bit = 1 << chunk.position
        later = layout.all_attributes & ~((bit << 1) - 1)
        n, starts = people.num_rows, _run_starts(people)
        blocks = len(starts) - 1
        # Some thousands of places more than are used, so that the walk seldom stops for room.
        self.first = np.uint64(bit)
        self.rows = _row_array(people, n + n // 2 + 4096)
        self.waiting = np.empty((blocks + 4096, 5), np.int64)
        waiting = self.waiting[:blocks]
        waiting[:, kernel.START], waiting[:, kernel.END] = starts[:-1], starts[1:]
        waiting[:, kernel.TOP], waiting[:, kernel.OPEN] = n, bit
        waiting[:, kernel.STATE] = chunk.state | layout.state(undecided=later | bit)
        self.runs = np.empty(4096, np.int64)
        self.counts[kernel.WAITING] = blocks

    def walk(self, *, greatest: int, spare: int, limit: int) -> None:
        """Walk on until ``limit`` rows were visited or an array is full.

        First extend all arrays, so that there is room for at least the next block. A subset takes
        at most ``greatest`` attributes, and drops at most ``spare``.
        """
        waiting = int(self.counts[kernel.WAITING])
        start, end, top = self.waiting[waiting - 1, :3]  # ``START``, ``END`` and ``TOP``
        size = int(end - start)  # each row of the block that is next may become a block
        self.rows = _extend(self.rows, int(top), 2 * size)
        self.waiting = _extend(self.waiting, waiting, size // 3 + 2)
        self.runs = _extend(self.runs, 0, size + 1)
        self.reserve(3 * size + 3)
        fields = np.array([0, *map(self.layout.field, range(1, self.layout.n))], np.uint64)
        kernel.walk(
            self.rows, self.waiting, self.first, fields, greatest, spare, limit, self.runs,
            self.sums, self.arrays)  # fmt: skip


class People:
    """The people of a coded table, sorted, for subsets that are settled one by one."""

    def __init__(self, worker: Worker, table: Chunk) -> None:
        worker.limit_to(table)
        people = worker.read_columns(_rows_query(worker, table))
        self.starts, self.rows = _run_starts(people), _row_array(people, people.num_rows)
        self.longest = int(np.diff(self.starts).max(initial=0))

    def group(self, settled: SettledBlocks, subset: int) -> None:
        """Settle the blocks of one subset (bits), which has the first attribute of the table."""
        layout, run = settled.layout, 0  # a run: the rows of one code of the first attribute
        fields = np.uint64(sum(layout.field(p) for p in range(1, layout.n) if subset >> p & 1))
        state = np.uint64(layout.state(subset=subset))
        blocks, places = settled.scratch(self.longest)
        while run < len(self.starts) - 1:  # the kernel returns where room is short
            settled.reserve(int(self.starts[run + 1] - self.starts[run]) + 1)
            run = kernel.settle_subset(
                self.rows, self.starts, run, fields, state, blocks, places, settled.arrays
            )


class HeldPeople:
    """The people of the coded tables from which many subsets are settled one by one.

    They are held in an eighth of the engine's memory at most, which is taken from its limit.
    """

    def __init__(self, engine: LocalEngine) -> None:
        self._engine = engine
        self._available = engine.memory // PEOPLE_SHARE
        self._lock = threading.Lock()
        self._uses: Counter[str] = Counter()
        self._people: dict[str, People] = {}

    def people_of(self, worker: Worker, table: Chunk) -> People | None:
        """Return the people of a table; None if they are too many, or few subsets needed them."""
        name = table.table
        with self._lock:
            self._uses[name] += 1
            if name not in self._people and self._uses[name] > USES_UNHELD:
                rows = worker.stream.count(render(exp.select("count(*)").from_(name)))
                size = 8 * rows * (1 + lane_count(worker.layout))  # bytes
                if size > self._available:
                    return None
                self._available -= size
                self._engine.set_aside(size)
                self._people[name] = People(worker, table)
            return self._people.get(name)


def _no_answers(size: int) -> kernel.Answers:
    """Return a hash table with room for so many answers."""
    numbers = np.zeros((size, 6), np.int64)  # at the indices ``kernel.BLOCKS`` to ``VALUES``
    return kernel.Answers(np.zeros(size, np.uint64), numbers, np.zeros(size))


def _run_starts(people: pa.Table) -> Any:
    """Return where the rows of each code of the first attribute begin, and the end of the last."""
    changes = np.flatnonzero(np.diff(people.column(0).to_numpy())) + 1
    return np.concatenate(([0], changes, [people.num_rows])) if people.num_rows else np.array([0])


def _row_array(people: pa.Table, size: int) -> Any:
    """Return an array of so many rows, of which the first are those of the people."""
    rows = np.empty((size, people.num_columns - 1), np.uint64)
    for i in range(rows.shape[1]):
        rows[: people.num_rows, i] = people.column(i + 1).to_numpy()
    return rows


def _extend(array: Any, used: int, more: int) -> Any:
    """Return an array with room for so many more rows after those in use."""
    if used + more <= len(array):
        return array
    longer = np.empty((2 * (used + more), *array.shape[1:]), array.dtype)
    longer[:used] = array[:used]
    return longer
