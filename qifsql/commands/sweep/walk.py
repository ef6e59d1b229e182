"""The condensed walk over all subsets of one chunk, and the roll-up, which may be cheaper.

A chunk holds whole blocks of its first attribute. The walk takes the other attributes one by one.
If an attribute does not vary in a block, the block is passed on unchanged: taking or dropping the
attribute gives the same block, so the block counts for both. If it varies, the block is replaced by
its parts, which took the attribute, and by the block without the attribute, with equal rows merged.

A block is *settled*, and leaves the walk, when nothing varies in it, or when it has two people
(they separate as soon as any attribute that varies is taken). A settled block represents every
subset with all attributes that it took, no attribute that it dropped, and any of the free ones. The
walk ends with a list: the number of blocks of each kind in each state.

With ``qifsql[fast]``, ``kernel_arrays.walk`` does the same; this walk is the reference.
``sql/sweep/macros.sql`` defines the terms. Related work: bottom-up cubes (Beyer and Ramakrishnan
1999), stripped partitions (Huhtala et al. 1999), quotient cubes (Lakshmanan et al. 2002).

The roll-up takes the subsets of a chunk one after the other, each from the smallest table before
it: the blocks by all attributes give the blocks without one attribute, and these give the blocks
without another. If people share few values and no attribute follows from others, the walk can
neither strip nor pass on blocks, and the roll-up is faster.

``Choice`` selects the cheaper way for the chunks of each attribute. Chunks are samples of their
table, so the times of the first ones predict those of the others. The walk is tried first. If the
walk of a chunk takes longer than the expected time of a roll-up, the chunk is rolled up instead; a
roll-up is never abandoned. If roll-ups were cheaper for an attribute, they are cheaper for the
attributes after it, too.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from qifsql.commands.sweep.plan import Chunk
from qifsql.commands.sweep.worker import TWO_VARY, Worker
from qifsql.counting.packing import code_bits

WORTH_TABLE = 0.8  # most blocks per row of the table before for which a new table saves time
WORTH_LAST_TABLE = 0.4  # the same if little work comes after it
PER_ROLLED_ROW = 30e-9  # seconds that a roll-up takes per row and subset
PER_VALUED_ROW = 75e-9  # the same if the values of a secret are counted one by one
PROMISING = 0.6  # share of the time of a roll-up: a walk below it needs no comparison
WALKS_TRIED = 2  # chunks that are walked before the comparison: a single one may be untypical
MOST_ROLLED = 16  # with more attributes left, their subsets are too many to roll up
SECONDS_OF_CALLS = 0.2  # seconds that calls take even for few rows
PER_SUBSET = 1.5e-3  # seconds that the statements of a roll-up take per subset even for few rows


def settle_chunk(worker: Worker, chunk: Chunk, choice: "Choice") -> tuple[str, float]:
    """Settle all subsets that take the chunk's first attribute, in the cheaper way."""
    wasted = 0.0
    worker.prepare()  # once for all chunks: it is no part of their times
    if choice.should_walk():
        began, limit = time.thread_time(), choice.time_limit(chunk.rows)
        walk_chunk = walk
        if worker.compiled:
            from qifsql.commands.sweep import kernel_arrays  # needs an extra, takes long to import

            walk_chunk = kernel_arrays.walk
        done = walk_chunk(worker, chunk, lambda: time.thread_time() - began <= limit)
        seconds = time.thread_time() - began  # of this thread: other work does not count
        choice.learn(chunk.rows, seconds, walked=True, done=done)
        if done:
            return "compiled" if worker.compiled else "walk", 0.0
        wasted = seconds
        worker.forget_settled()
    began = time.thread_time()
    roll_up(worker, chunk)
    choice.learn(chunk.rows, time.thread_time() - began, walked=False)
    return "roll up", wasted  # the way, and the seconds spent on an abandoned walk


def walk(worker: Worker, chunk: Chunk, going_well: Callable[[], bool]) -> bool:
    """Settle all subsets that take the chunk's first attribute.

    Return False if the walk stopped early because ``going_well`` returned False.
    """
    _load_blocks(worker, chunk)
    blocks = _split_blocks(worker, "stripped", 0)  # the number of blocks so far
    layout = worker.layout
    for position in range(chunk.position + 1, layout.n):  # blocks in which it is the first to vary
        field, later = layout.field(position), layout.later(position)
        worker.turn_to_attribute(1 << position, field=field, later=later)
        # Rows in blocks in which this attribute is the first to vary, with two others or more, and
        # with one other; and in how many blocks two or more vary, whichever is the first.
        rows_to_split, rows_with_two, blocks_going_on = worker.rows("turns")[0]
        if not blocks_going_on:
            break
        if not going_well():
            return False
        if rows_with_two:  # in blocks in which this attribute and one other vary
            _settle_two(worker, position)
        if rows_to_split:
            blocks = _split_blocks(worker, "onward", blocks)
    return True


def _load_blocks(worker: Worker, chunk: Chunk) -> None:
    """Load the chunk's rows in the table ``live``, as blocks that have taken the first attribute.

    A block has the rows with one ``entry``. All later attributes are undecided.
    """
    layout = worker.layout
    taken = 1 << chunk.position
    later = layout.all_attributes & ~((taken << 1) - 1)  # not the first, nor those before it
    state = chunk.state | layout.state(subset=taken, undecided=later)
    worker.set(state=(state, "BIGINT"))
    worker.limit_to(chunk)
    worker.turn_to_attribute(0, field=0, later=(1 << layout.rest_bits) - 1)  # 0: none in ``rest``
    worker.make_table("live", "entered", coded=chunk.table)


def _split_blocks(worker: Worker, going_on: str, blocks: int) -> int:
    """Split the blocks of the table ``live`` by the attribute whose turn it is.

    Blocks in which at most one attribute can still be taken are settled: counted, and left out. The
    rows of the view ``going_on`` become ``live``. New blocks are numbered after the first
    ``blocks``; return how many there are then.
    """
    worker.set(blocks=(blocks, "BIGINT"))
    if worker.layout.valued:  # views of ``sweep_valued.sql`` read this table
        worker.make_table("cells", "cells")
    worker.make_table("taken", "taken")  # the blocks that take the attribute
    worker.add_settled("settled_taken")  # those of them in which nothing varies any more
    blocks += worker.make_table("children", "children")  # the others, under new numbers
    worker.make_view("stripped", "stripped")  # the rows of these, without the attribute's code
    worker.make_table("live", going_on)
    # Turns below TWO_VARY: one attribute varies in the block. It is taken, and nothing is left.
    worker.set(first_turn=(0, "INTEGER"), last_turn=(TWO_VARY - 1, "INTEGER"))
    worker.add_settled("settled_cells")
    return blocks


def _settle_two(worker: Worker, position: int) -> None:
    """Settle the blocks in which two attributes vary: that at ``position``, and a later one.

    Three subsets are left: with one of them, where rows with the same code of it are a block; with
    the other; or with both.
    """
    layout, bit = worker.layout, 1 << position
    # The attributes that may be taken, as bits, and the bits of ``rest`` with their codes.
    only_this, only_later = (bit, layout.field(position)), (~bit, layout.later(position))
    for chosen, bits_of_codes in (only_this, only_later):
        worker.set(chosen=(chosen, "BIGINT"), seen=(bits_of_codes, layout.rest_type))
        worker.add_settled("settled_parts")
    # Both are taken in the blocks of this turn alone.
    worker.set(first_turn=(bit | TWO_VARY, "INTEGER"), last_turn=(bit | TWO_VARY, "INTEGER"))
    worker.add_settled("settled_cells")


def roll_up(worker: Worker, chunk: Chunk) -> None:
    """Settle all subsets that take the chunk's first attribute, each from a larger subset."""
    later = worker.layout.all_attributes & ~((2 << chunk.position) - 1)
    worker.limit_to(chunk)
    rows = worker.make_table("rolled_0", "chosen_rows", coded=chunk.table)  # all attributes
    _settle_rolled(worker, chunk, later, table=0)
    _drop_each(worker, chunk, later, start=chunk.position + 1, table=0, rows=rows)


def settle_subset(
    worker: Worker,
    chunk: Chunk,
    subset: int,
    *,
    coarser: int | None = None,
    state: int | None = None,
) -> None:
    """Count the blocks of one subset of attributes in ``settled``, from the rows of the chunk.

    ``coarser``: the values of the attribute at that position are merged in pairs, in their order;
    the missing value stays alone. ``state``: the blocks get this state instead of that of the
    subset. The first attribute of a chunk (``entry``) is kept only if the subset has it.
    """
    layout = worker.layout
    mask = layout.fields(subset, entry=bool(subset >> chunk.position & 1))
    of_subset = layout.state(subset=subset) if state is None else state
    worker.set(kept=(mask, layout.key_type), state=(of_subset, "BIGINT"))
    worker.limit_to(chunk)
    worker.make_view("packed", "chosen_rows", coded=chunk.table)
    if coarser is not None:
        _merge_pairs(worker, coarser)
    worker.add_settled("settled_rolled", finer="packed" if coarser is None else "paired")


def _merge_pairs(worker: Worker, position: int) -> None:
    """Create ``paired``: the rows of ``packed``, values of one attribute merged in pairs.

    The codes 2 i and 2 i + 1 become 2 i; that of the missing value, the last one, stays.
    """
    layout, values = worker.layout, worker.layout.values[position]
    all_codes = layout.fields(layout.all_attributes, entry=True)
    all_bits = layout.in_key(position, (1 << code_bits(values)) - 1)
    lowest_bit = layout.in_key(position, 1)
    # The code that stays; without a missing value it is 0, which merging does not change either.
    code_of_missing = layout.in_key(position, values - 1 if layout.missing[position] else 0)
    worker.set(
        code=(all_bits, layout.key_type),
        missing=(code_of_missing, layout.key_type),
        pairs=(all_codes & ~lowest_bit, layout.key_type),
    )
    worker.make_view("paired", "paired_rows", single_rows="packed")


def settle_one_block(worker: Worker, chunk: Chunk) -> None:
    """Settle the one block of all people of the chunk, who have the same value."""
    taken = chunk.state | worker.layout.state(subset=1 << chunk.position)
    worker.limit_to(chunk)
    worker.set(state=(taken, "BIGINT"))
    worker.add_settled("whole_block", coded=chunk.table)


def _settle_rolled(worker: Worker, chunk: Chunk, later: int, *, table: int) -> None:
    """Settle the subset of a chunk's first attribute and ``later`` ones, from a rolled table."""
    layout = worker.layout
    # Attributes that were taken before this table was split off, then those of the chunk.
    subset = chunk.state >> layout.n | 1 << chunk.position | later
    worker.set(
        kept=(layout.fields(later, entry=True), layout.key_type),
        state=(layout.state(subset=subset), "BIGINT"),
    )
    worker.add_settled("settled_rolled", finer=f"rolled_{table}")


def _drop_each(
    worker: Worker, chunk: Chunk, attributes: int, *, start: int, table: int, rows: int
) -> None:
    """Settle all subsets of ``attributes`` (bits) that lack one or more of those from ``start`` on.

    The blocks of a subset are those of a larger subset, merged. The temporary table
    ``rolled_<table>``, of ``rows`` rows, has the blocks of ``attributes``. For each attribute that
    is dropped, the merged blocks get a table of their own if that is much smaller; the subsets that
    drop further attributes then come from it.
    """
    layout = worker.layout
    for position in range(start, layout.n):
        fewer = attributes & ~(1 << position)
        source, attributes_after, size = table, layout.n - 1 - position, rows
        if attributes_after:
            worker.set(kept=(layout.fields(fewer, entry=True), layout.key_type))
            ((blocks,),) = worker.rows("about", finer=f"rolled_{table}")  # an estimate
            worth = WORTH_TABLE if attributes_after > 1 else WORTH_LAST_TABLE
            if blocks <= worth * rows:
                source = table + 1
                size = worker.make_table(f"rolled_{source}", "rolled", finer=f"rolled_{table}")
        _settle_rolled(worker, chunk, fewer, table=source)
        _drop_each(worker, chunk, fewer, start=position + 1, table=source, rows=size)


@dataclass
class Pace:
    """Measured time of the finished chunks."""

    chunks: int = 0
    rows: int = 0
    seconds: float = 0.0

    @property
    def per_row(self) -> float | None:
        """Return the seconds per row; None before the first chunk."""
        return self.seconds / max(self.rows, 1) if self.chunks else None


class Choice:
    """The choice between walk and roll-up for the chunks of one attribute.

    ``remaining`` attributes come after it; ``before`` is the choice of the attribute before it.
    """

    def __init__(
        self, remaining: int, *, may_roll: bool, valued: bool, before: "Choice | None" = None
    ) -> None:
        """Estimate the time of a roll-up, before any chunk is measured."""
        self._may_roll = may_roll and remaining <= MOST_ROLLED
        subsets = float(2**remaining)  # of the attributes after it
        # The expected seconds of a roll-up: per row, and of its calls, however few the rows.
        self._expected = (PER_VALUED_ROW if valued else PER_ROLLED_ROW) * subsets
        self._expected_calls = PER_SUBSET * subsets
        self._walked, self._rolled = Pace(), Pace()  # measured
        self._rolls_before = before is not None and not before.should_walk()

    def should_walk(self) -> bool:
        """Return whether to walk the next chunk, and not to roll it up: what took less per row.

        The first chunks are walked, unless the chunks of the attribute before are rolled up. As
        long as no roll-up is measured, its expected time is compared, made shorter (``PROMISING``),
        so that it is tried unless walks are much faster.
        """
        if not self._may_roll:  # a roll-up would visit too many subsets
            return True
        walk_time, roll_time = self._walked.per_row, self._rolled.per_row
        if walk_time is None or self._walked.chunks < WALKS_TRIED:
            return not self._rolls_before
        if roll_time is None:
            rows_per_chunk = max(self._walked.rows / self._walked.chunks, 1)
            roll_time = PROMISING * (self._expected + self._expected_calls / rows_per_chunk)
        return walk_time <= roll_time

    def time_limit(self, rows: int) -> float:
        """Return the seconds after which the walk of a chunk is abandoned."""
        if not self._may_roll:
            return float("inf")
        if self._rolled.per_row is None:
            return self._expected * rows + self._expected_calls + SECONDS_OF_CALLS
        return self._rolled.per_row * rows + SECONDS_OF_CALLS

    def learn(self, rows: int, seconds: float, *, walked: bool, done: bool = True) -> None:
        """Add the time of a chunk, twice if its walk was abandoned: it would have taken longer."""
        pace = self._walked if walked else self._rolled
        pace.chunks += 1
        pace.rows += rows
        pace.seconds += seconds if done else 2 * seconds


class Choices:
    """The choices of one pass over ``n`` attributes, by the position of the first attribute."""

    def __init__(self, n: int, *, may_roll: bool, valued: bool) -> None:
        self._n = n
        self._kind = {"may_roll": may_roll, "valued": valued}
        self._by_position: dict[int, Choice] = {}

    def choice_at(self, position: int) -> Choice:
        """Return the choice for the chunks of one attribute."""
        if position not in self._by_position:
            before = self._by_position.get(position - 1)
            self._by_position[position] = Choice(
                self._n - position - 1, **self._kind, before=before
            )
        return self._by_position[position]
