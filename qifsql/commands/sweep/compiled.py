"""The compiled walk (``qifsql[fast]``): the rows of a chunk for ``kernel.py``, and their sums.

The kernel counts in 32 bits, and packs states and counters in 64. What does not fit is walked in
SQL: secrets of many values, codes of more than 64 bits together, very many counters. All memory is
held by the arrays of ``Room``; their sizes depend on the chunk, not on the number of chunks.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Self

import pyarrow as pa
from sqlglot import exp

from qifsql.commands.sweep.layout import NARROW, Layout
from qifsql.commands.sweep.worker import Chunk, Worker, counter, typed
from qifsql.engine.connections import Stream
from qifsql.errors import InputError, Interrupted
from qifsql.query.render import creating

WALKS = ("auto", "sql", "compiled")
MISSING = "the compiled walk needs the extra: pip install 'qifsql[fast]'"
SQL = (
    "walked in SQL: the compiled walk takes secrets of at most 8 values, and quasi-identifiers "
    "whose codes fit in 64 bits together"
)
WORTH = 200_000  # people below whom starting the compiled code takes longer than it saves
BESIDE = 2**30  # bytes of memory below which the arrays, which DuckDB does not count, are many
MOST_PEOPLE = 2**31 - 1  # of a counter
MOST = 26  # attributes whose states fit in the key of an answer
QUESTIONS = 32  # of one pass
PACKED = 63  # bits of a state and the counters of few people
WIDEST = 4  # most bits of such a counter
STEP = 1_000_000  # rows that are visited between two looks at the clock: less than 0.1 s
SUMS = "compiled_sums"


def installed() -> bool:
    """Return whether the extra is installed."""
    return find_spec("numba") is not None


def fits(layout: Layout) -> bool:
    """Return whether the kernel can walk a pass; else the walk is in SQL."""
    return (
        not layout.valued
        and layout.rest_bits == NARROW
        and layout.people <= MOST_PEOPLE
        and layout.n <= MOST
        and len(layout.secrets) + layout.owners <= QUESTIONS
        and _bits(layout) >= 1
    )


def check(walk: str) -> None:
    """Raise InputError if there is no such walk, or if it is not installed."""
    if walk not in WALKS:
        raise InputError(f"walk is {', '.join(WALKS[:-1])} or {WALKS[-1]}")
    if walk == "compiled" and not installed():
        raise InputError(MISSING)


def applies(walk: str, layout: Layout, memory: int) -> bool:
    """Return whether the kernel walks the chunks of a pass, with so many bytes of memory."""
    if walk == "auto":
        chosen = layout.people >= WORTH and memory >= BESIDE and installed()
    else:
        chosen = walk == "compiled"
    return chosen and fits(layout)


def walk(worker: Worker, chunk: Chunk, going_well: Callable[[], bool]) -> bool:
    """Settle all subsets that take the chunk's first attribute, into the table ``found``.

    Return False if the walk stopped early because ``going_well`` returned False.
    """
    from qifsql.commands.sweep import kernel

    worker.look_at(chunk)
    room = Room.of(worker.layout, chunk, worker.arrow(_rows(worker, chunk)))
    sizes, n = worker.sizes, worker.layout.n
    while room.counts[kernel.WAITING]:
        if worker.stream.interrupted.is_set():
            raise Interrupted("interrupted")
        if not going_well():
            return False
        limit = room.counts[kernel.WORK] + STEP
        room.walk(most=sizes.most, spare=n - sizes.least, limit=limit)
    _store(worker.stream, room.answers())
    worker.summed = True
    return True


def _bits(layout: Layout) -> int:
    """Return the bits of a counter of a block of few people, whose counters are packed."""
    return min(WIDEST, (PACKED - 2 * layout.n) // (2 * _lanes(layout)))


def _lanes(layout: Layout) -> int:
    return len(layout.counters) // 2 + 1


def _rows(worker: Worker, chunk: Chunk) -> exp.Query:
    """Return the query of the rows of a chunk, in order: ``entry``, ``rest``, lanes."""
    layout = worker.layout
    lanes = []
    for lane in range(_lanes(layout)):
        both = typed(counter(layout, 2 * lane), "UBIGINT")
        if 2 * lane + 1 <= len(layout.counters):
            high = typed(counter(layout, 2 * lane + 1), "UBIGINT")
            half = exp.Literal.number(32)
            shifted = exp.BitwiseLeftShift(this=exp.paren(high), expression=half)
            both = exp.BitwiseOr(this=both, expression=exp.paren(shifted))
        lanes.append(exp.alias_(both, f"lane_{lane + 1}"))
    query = worker.say.query("chunk_rows", coded=chunk.table)
    return query.select(*lanes)


def _store(stream: Stream, answers: pa.Table) -> None:
    """Store the answers in the temporary table ``found``."""
    with stream.reading(SUMS, answers):
        stream.rows(creating("found", exp.select("*").from_(SUMS)))


@dataclass
class Room:
    """The arrays of the kernel for one chunk (see ``kernel.walk`` and ``kernel.answer``)."""

    layout: Layout
    first: Any
    rows: Any
    waiting: Any
    large: Any
    kinds: Any
    times: Any
    runs: Any
    sums: Any
    alone: Any
    counts: Any

    @classmethod
    def of(cls, layout: Layout, chunk: Chunk, people: pa.Table) -> Self:
        """Return the arrays for the rows of a chunk, whose blocks all wait."""
        import numpy as np

        from qifsql.commands.sweep import kernel

        bit = 1 << chunk.position
        later = layout.every & ~((bit << 1) - 1)
        state = chunk.state | layout.state(undecided=later | bit)
        width = 1 + _lanes(layout)
        columns = [people.column(i).to_numpy() for i in range(1, 1 + width)]
        entry, n = people.column(0).to_numpy(), people.num_rows
        starts = np.concatenate(([0], np.flatnonzero(np.diff(entry)) + 1, [n]))[: None if n else 1]
        blocks = len(starts) - 1
        rows = np.empty((n + n // 2 + 4096, width), np.uint64)
        for i, column in enumerate(columns):
            rows[:n, i] = column
        waiting = np.empty((blocks + 4096, 5), np.int64)
        waiting[:blocks, kernel.START], waiting[:blocks, kernel.END] = starts[:-1], starts[1:]
        waiting[:blocks, kernel.TOP] = n
        waiting[:blocks, kernel.STATE], waiting[:blocks, kernel.OPEN] = state, bit
        alone = np.zeros((1, width), np.uint64)
        alone[0, 1] = 1
        counts = np.zeros(6, np.int64)
        counts[kernel.WAITING] = blocks
        return cls(
            layout=layout,
            first=np.uint64(bit),
            rows=rows,
            waiting=waiting,
            large=np.empty((1 << 14, width + 1), np.uint64),
            kinds=np.zeros(1 << 16, np.uint64),
            times=np.zeros(1 << 16, np.int64),
            runs=np.empty(4096, np.int64),
            sums=np.zeros((1, width), np.uint64),
            alone=alone,
            counts=counts,
        )

    def walk(self, *, most: int, spare: int, limit: int) -> None:
        """Walk on, for about so many rows; make room for the next block first."""
        import numpy as np

        from qifsql.commands.sweep import kernel

        self._make()
        fields = np.array([0, *map(self.layout.field, range(1, self.layout.n))], np.uint64)
        kernel.walk(
            self.rows, self.waiting, self.first, fields, np.uint64(_bits(self.layout)), most,
            spare, limit, self.runs, self.sums, self.alone, self.kinds, self.times, self.large,
            self.counts,
        )  # fmt: skip

    def _make(self) -> None:
        """Make room for the block that is next, wherever it may need more than there is."""
        import numpy as np

        from qifsql.commands.sweep import kernel

        waiting, large = (int(self.counts[i]) for i in (kernel.WAITING, kernel.LARGE))
        start, end, top = self.waiting[waiting - 1, :3]
        size = int(end - start)
        self.rows = _longer(self.rows, int(top), 2 * size)
        self.waiting = _longer(self.waiting, waiting, size // 3 + 2)
        self.large = _longer(self.large, large, 3 * size + 3)
        self.runs = _longer(self.runs, 0, size + 1)
        if 2 * self.counts[kernel.KINDS] >= len(self.kinds):
            kinds, times = (
                np.zeros(4 * len(self.kinds), a.dtype) for a in (self.kinds, self.times)
            )
            kernel.moved(self.kinds, self.times, kinds, times)
            self.kinds, self.times = kinds, times

    def answers(self) -> pa.Table:
        """Return the rows of the table ``found``: the sums of all settled blocks."""
        import numpy as np

        from qifsql.commands.sweep import kernel

        layout, first, questions = self.layout, 1, [(0, 0)] if self.layout.owners else []
        for values in layout.secrets.values():
            questions.append((first, values))
            first += values - 1
        secrets, bits = np.array(questions, np.int64), np.uint64(_bits(layout))
        keys, worst = np.zeros(1 << 16, np.uint64), np.zeros(1 << 16)
        sums = np.zeros((1 << 16, 6), np.int64)
        while True:
            kernel.answer(self.kinds, self.times, self.large, bits, secrets, self.sums, keys, sums,
                          worst, self.counts)  # fmt: skip
            if self.counts[kernel.DONE] == len(self.kinds) + self.counts[kernel.LARGE]:
                break
            size = 4 * len(keys)
            wider, chances = np.zeros(size, np.uint64), np.zeros(size)
            numbers = np.zeros((size, 6), np.int64)
            kernel.moved_rows(keys, sums, worst, wider, numbers, chances)
            keys, sums, worst = wider, numbers, chances
        there = np.flatnonzero(keys)
        key, numbers = keys[there].astype(np.int64), sums[there]
        names = np.array([0, *layout.secrets] if layout.owners else list(layout.secrets), np.uint8)
        state, question = key >> int(kernel.QUESTION), key >> int(kernel.PERCENT) & QUESTIONS - 1
        columns = {
            "state": state,
            "question": names[question],
            "bin": (key & (1 << int(kernel.PERCENT)) - 1).astype(np.uint8),
            **{
                name: np.ascontiguousarray(numbers[:, i])
                for i, name in enumerate(("blocks", "people", "mode", "certain", "k", "l"))
            },
            "worst_case": worst[there],
        }
        return pa.table(columns)


def _longer(array: Any, used: int, more: int) -> Any:
    """Return an array with room for so many more rows after those in use."""
    import numpy as np

    if used + more <= len(array):
        return array
    longer = np.empty((2 * (used + more), *array.shape[1:]), array.dtype)
    longer[:used] = array[:used]
    return longer
