"""The condensed walk: all subsets of one chunk, in one go.

A chunk holds whole blocks of its first attribute. The walk takes the other attributes one by one.
At each, a block in which the attribute does not vary passes on as it is: taking the attribute or
dropping it gives the same block, so the block stands for both. A block in which it varies becomes
two: its parts, which took the attribute, and itself without the attribute, equal rows merged.

A block is *settled*, and leaves the walk, when nothing varies in it, or when it is of two people
(they part as soon as anything that varies is taken). A settled block stands for every subset that
has what it took, nothing of what it dropped, and any of what is free. When the walk ends all that
remains is a list: so many blocks of this kind in that state.

See ``sql/sweep/macros.sql`` for the words. Relatives: bottom-up cubes (Beyer and Ramakrishnan
1999), stripped partitions (Huhtala et al. 1999), quotient cubes (Lakshmanan et al. 2002).
"""

from collections.abc import Callable

from qifsql.commands.sweep.worker import TWO, Chunk, Worker


def walk(worker: Worker, chunk: Chunk, going_well: Callable[[], bool]) -> bool:
    """Settle all subsets that take the chunk's first attribute.

    False when it stopped half-way, because it was not ``going_well``.
    """
    _enter(worker, chunk)
    blocks = _split(worker, "stripped", 0)
    layout = worker.layout
    for position in range(chunk.position + 1, layout.n):
        worker.turn_to(1 << position, field=layout.field(position), later=layout.later(position))
        many_left, two_left, going_on = worker.look("turns")
        if not going_on:
            break
        if not going_well():
            return False
        if two_left:
            _settle_two(worker, position)
        if many_left:
            blocks = _split(worker, "onward", blocks)
    return True


def _enter(worker: Worker, chunk: Chunk) -> None:
    """Bring in the chunk's rows, as blocks that have taken the first attribute: its entry."""
    layout = worker.layout
    taken = 1 << chunk.position
    later = layout.every & ~((taken << 1) - 1)
    state = chunk.state | layout.state(subset=taken, undecided=later)
    worker.set(state=(state, "BIGINT"))
    worker.look_at(chunk)
    worker.turn_to(0, field=0, later=(1 << layout.rest_bits) - 1)
    worker.make("live", "entered", coded=chunk.table)


def _split(worker: Worker, onward: str, blocks: int) -> int:
    """Split the blocks in which this attribute varies, settle those that are done.

    Returns how many blocks have a number by now.
    """
    worker.set(blocks=(blocks, "BIGINT"))
    if worker.layout.valued:
        worker.make("cells", "cells")
    worker.make("taken", "taken")
    worker.settle("settled_taken")
    blocks += worker.make("children", "children")
    worker.see("stripped", "stripped")
    worker.make("live", onward)
    worker.set(first_turn=(0, "INTEGER"), last_turn=(TWO - 1, "INTEGER"))
    worker.settle("settled_cells")  # where one attribute varies, it is taken
    return blocks


def _settle_two(worker: Worker, position: int) -> None:
    """Settle blocks where this attribute and another vary: it is taken, or the other, or both."""
    layout, bit = worker.layout, 1 << position
    for chosen, seen in ((bit, layout.field(position)), (~bit, layout.later(position))):
        worker.set(chosen=(chosen, "BIGINT"), seen=(seen, layout.rest_type))
        worker.settle("settled_parts")
    worker.set(first_turn=(bit | TWO, "INTEGER"), last_turn=(bit | TWO, "INTEGER"))
    worker.settle("settled_cells")
