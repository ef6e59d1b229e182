"""The roll-up: the subsets of one chunk one after the other, each from the smallest before it.

From the blocks by all attributes the blocks without one are made, and from these those without
another. Where people hardly share anything and no attribute follows from others, nothing can be
stripped or passed on, and this is faster than the walk.
"""

from qifsql.commands.sweep.worker import Chunk, Worker

SHRINKS = 0.8  # blocks per row of the table before: a table of them pays for what comes after it
HALVES = 0.4  # and where little comes after it


def roll_up(worker: Worker, chunk: Chunk) -> None:
    """Settle all subsets that take the chunk's first attribute."""
    later = worker.layout.every & ~((2 << chunk.position) - 1)
    worker.look_at(chunk)
    rows = worker.make("rolled_0", "chosen_rows", coded=chunk.table)
    _settle(worker, chunk, later, table=0)
    _drop_each(worker, chunk, later, start=chunk.position + 1, table=0, rows=rows)


def group(worker: Worker, chunk: Chunk, subset: int, *, coarser: int | None = None) -> None:
    """Settle one subset of attributes, from the rows of the chunk themselves.

    ``coarser``: the values of the attribute at that position are merged in pairs, in their order.
    """
    layout = worker.layout
    mask = layout.fields(subset, entry=bool(subset >> chunk.position & 1))
    if coarser is not None:
        mask &= ~layout.lowest(coarser)
    worker.set(kept=(mask, layout.key_type), state=(layout.state(subset=subset), "BIGINT"))
    worker.look_at(chunk)
    worker.see("packed", "chosen_rows", coded=chunk.table)
    worker.settle("settled_rolled", finer="packed")


def _settle(worker: Worker, chunk: Chunk, later: int, *, table: int) -> None:
    """Settle the subset that takes the chunk's first attribute and these later ones."""
    layout = worker.layout
    subset = chunk.state >> layout.n | 1 << chunk.position | later
    _keep(worker, later)
    worker.set(state=(layout.state(subset=subset), "BIGINT"))
    worker.settle("settled_rolled", finer=f"rolled_{table}")


def _drop_each(
    worker: Worker,
    chunk: Chunk,
    attributes: int,
    *,
    start: int,
    table: int,
    rows: int,
) -> None:
    """Settle all subsets that keep a part of these: without one from ``start`` on, or several.

    The blocks of each are made from table number ``table``, which has so many ``rows``; they become
    a table of their own where that is much smaller.
    """
    n = worker.layout.n
    for position in range(start, n):
        fewer = attributes & ~(1 << position)
        source, left, size = table, n - 1 - position, rows
        if left:
            _keep(worker, fewer)
            (blocks,) = worker.look("about", finer=f"rolled_{table}")
            if blocks <= (SHRINKS if left > 1 else HALVES) * rows:
                source = table + 1
                size = worker.make(f"rolled_{source}", "rolled", finer=f"rolled_{table}")
        _settle(worker, chunk, fewer, table=source)
        _drop_each(worker, chunk, fewer, start=position + 1, table=source, rows=size)


def _keep(worker: Worker, later: int) -> None:
    layout = worker.layout
    worker.set(kept=(layout.fields(later, entry=True), layout.key_type))
