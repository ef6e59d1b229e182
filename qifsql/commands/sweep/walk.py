"""The condensed walk: all subsets of one chunk, in one go; and the roll-up, where it is cheaper.

A chunk holds whole blocks of its first attribute. The walk takes the other attributes one by one.
At each, a block in which the attribute does not vary passes on as it is: taking the attribute or
dropping it gives the same block, so the block stands for both. A block in which it varies becomes
two: its parts, which took the attribute, and itself without the attribute, equal rows merged.

A block is *settled*, and leaves the walk, when nothing varies in it, or when it is of two people
(they part as soon as anything that varies is taken). A settled block stands for every subset that
has what it took, nothing of what it dropped, and any of what is free. When the walk ends all that
remains is a list: that many blocks of this kind in that state.

See ``sql/sweep/macros.sql`` for the words. Relatives: bottom-up cubes (Beyer and Ramakrishnan
1999), stripped partitions (Huhtala et al. 1999), quotient cubes (Lakshmanan et al. 2002).

The roll-up takes the subsets of a chunk one after the other, each from the smallest before it: from
the blocks by all attributes the blocks without one are made, and from these those without another.
Where people hardly share anything and no attribute follows from others, nothing can be stripped or
passed on, and this is faster than the walk.

Which of the two is cheaper is chosen for the chunks of each attribute (``Choice``). Chunks are
samples of their table, so what the first ones took tells what the others will take. The walk is
tried first. A chunk whose walk takes longer than a roll-up is expected to take is rolled up
instead: that is the end of it, whatever the roll-up takes. Where roll-ups were cheaper, they are
cheaper for the attributes after it, too.
"""

from collections.abc import Callable
from dataclasses import dataclass

from qifsql.commands.sweep.worker import TWO, Chunk, Worker

SHRINKS = 0.8  # blocks per row of the table before: a table of them pays for what comes after it
HALVES = 0.4  # and where little comes after it
ROLLED = 30e-9  # seconds that a roll-up takes per row and subset
VALUED = 75e-9  # the same where the values of a secret are counted one by one
PROMISING = 0.6  # of the time that a roll-up takes: a walk within it needs no comparison
TRIALS = 2  # chunks that are walked before the walk is compared: one may be unlike the others
SLOWEST = 16  # attributes left, beyond which all subsets of them are too many to roll up
CALLS = 0.2  # seconds that calls take, however few the rows are


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


@dataclass
class Pace:
    """Measured time of the chunks so far."""

    chunks: int = 0
    rows: int = 0
    seconds: float = 0.0

    def add(self, rows: int, seconds: float) -> None:
        """Add a chunk."""
        self.chunks += 1
        self.rows += rows
        self.seconds += seconds

    @property
    def of_a_row(self) -> float | None:
        """Return seconds per row; nothing before the first chunk."""
        return self.seconds / max(self.rows, 1) if self.chunks else None


class Choice:
    """Measurements for the chunks of one attribute, ``left`` attributes before the end.

    ``before`` is the choice of the attribute before it.
    """

    def __init__(
        self, left: int, *, may_roll: bool, valued: bool, before: "Choice | None" = None
    ) -> None:
        self._may_roll = may_roll and left <= SLOWEST
        self._expected = (VALUED if valued else ROLLED) * float(2**left)
        self._walked, self._rolled = Pace(), Pace()
        self._rolls_before = before is not None and not before.walks()

    def walks(self) -> bool:
        """Return whether the next chunk is to be walked."""
        if not self._may_roll:
            return True
        walk, roll = self._walked.of_a_row, self._rolled.of_a_row
        if walk is None or self._walked.chunks < TRIALS:
            return not self._rolls_before
        if roll is None:
            return walk <= PROMISING * self._expected
        return walk <= roll

    def enough(self, rows: int) -> float:
        """Return the seconds after which the walk of a chunk is given up."""
        if not self._may_roll:
            return float("inf")
        return (self._rolled.of_a_row or self._expected) * rows + CALLS

    def learn(self, rows: int, seconds: float, *, walked: bool, done: bool = True) -> None:
        """Learn from a chunk; a walk that was given up would have taken longer."""
        (self._walked if walked else self._rolled).add(rows, seconds if done else 2 * seconds)
