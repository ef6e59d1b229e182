"""The roll-up: the subsets of one chunk one after the other, each from the smallest before it.

From the blocks by all attributes the blocks without one are made, and from these those without
another. Where people hardly share anything and no attribute follows from others, nothing can be
stripped or passed on, and this is faster than the walk.
"""

from qifsql.sweep.worker import Chunk, Worker

EVERY = -1  # all bits of an entry


def group(worker: Worker, chunk: Chunk, subset: int) -> None:
    """Settle one subset of attributes."""
    layout = worker.layout
    worker.look_at(chunk)
    worker.set(
        state=(layout.state(known=subset), "BIGINT"),
        kept=(layout.fields(subset), layout.rest_type),
        kept_entry=(EVERY if subset & 1 else 0, "INTEGER"),
    )
    worker.make("rolled", "rolled", finer=chunk.table)
    worker.settle("settled_rolled")


def roll_up(worker: Worker, chunk: Chunk) -> None:
    """Settle all subsets that take the chunk's first attribute."""
    layout = worker.layout
    later = layout.every & ~((2 << chunk.position) - 1)
    worker.look_at(chunk)
    worker.set(kept_entry=(EVERY, "INTEGER"))
    worker.make("rolled_0", "chosen_rows", coded=chunk.table)
    _drop_each(worker, chunk, later, start=chunk.position + 1, depth=0)


def _drop_each(worker: Worker, chunk: Chunk, kept: int, *, start: int, depth: int) -> None:
    """Settle the blocks by the attributes kept, and by all subsets that drop some from ``start``."""
    layout = worker.layout
    table = f"rolled_{depth}"
    known = (chunk.state >> layout.n) | 1 << chunk.position | kept
    worker.set(state=(layout.state(known=known), "BIGINT"))
    worker.settle("settled_rolled", rolled=table)
    for position in range(start, layout.n):
        fewer = kept & ~(1 << position)
        worker.set(kept=(layout.fields(fewer), layout.rest_type))
        worker.make(f"rolled_{depth + 1}", "rolled", finer=table)
        _drop_each(worker, chunk, fewer, start=position + 1, depth=depth + 1)
