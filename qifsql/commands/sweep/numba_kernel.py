"""The condensed walk over one chunk, compiled: what ``walk.walk`` and ``sql/sweep/walk.sql`` do.

The terms are those of ``sql/sweep/macros.sql``. A row is a different person: ``rest``, then *lanes*
of two counters of 32 bits each; the lowest counts the people who are alike. The rows of a block
stand together, sorted by ``rest``. So the blocks that take the first attribute that varies are
runs of rows; the block that drops it is a copy above all rows in use, sorted again, with equal
rows added up. Blocks that wait are on a stack, and the last one is next: its rows are in the cache
of the core.

Settled blocks of few people are counted by *kind*: a number that packs their state and counters.
The others are rows of their own (``Settled``). ``sum_up`` adds up both.

No function makes an array: ``walk`` and ``sum_up`` return where room is short, and
``kernel_arrays`` makes room and calls again. So numba need not count references to arrays, which
took 60 % of the time (``_nrt=False``); functions that are called for every block are put in place
of their calls, which took half of the rest.
"""

from typing import Any, NamedTuple

import numpy as np

from qifsql.commands.sweep.code_cache import compiled

U = np.uint64
ONE, HALF, COUNTER = U(1), U(32), U(0xFFFFFFFF)
START, END, TOP, STATE, OPEN = range(5)  # a block that waits: its rows, free rows, state, open
INSERTION_ROWS = 24  # rows that are sorted by insertion
WAITING, KINDS, LARGE, ANSWERS, DONE, WORK = range(6)  # counts; done: settled blocks summed up
BLOCKS, PEOPLE, MODE, CERTAIN, LEAST, VALUES = range(6)  # the whole numbers of an answer
PERCENT, QUESTION = U(7), U(12)  # bits of the key of an answer below the question, and the state
inlined = compiled(inline="always")


class Settled(NamedTuple):
    """The settled blocks of a task, as arrays.

    ``kinds`` is a hash table of the kinds of blocks (0: a free place), ``times`` has at the same
    places how many blocks are of each kind; in a kind a counter has ``bits`` bits. ``large`` has a
    row per block of more people: its state, its lanes, and how many blocks are like it. ``counts``
    are numbers of what is in the arrays, at the indices ``WAITING`` to ``WORK``. ``alone`` is a row
    of one person, by which people alone in their blocks are counted.
    """

    kinds: Any
    times: Any
    bits: Any
    large: Any
    counts: Any
    alone: Any


class Answers(NamedTuple):
    """The sums over settled blocks, as arrays: a hash table by key, with three values at a place.

    A key packs a state, the index of a question, and a percent of success (0: a free place).
    ``numbers`` has whole numbers at the indices ``BLOCKS`` to ``VALUES``, ``worst`` the greatest
    chance of a right guess.
    """

    keys: Any
    numbers: Any
    worst: Any


@inlined
def bit_count(x: Any) -> Any:
    """Return the number of bits that are set."""
    n = 0
    while x:
        x &= x - ONE
        n += 1
    return n


@inlined
def lowest_bit(x: Any) -> Any:
    """Return the lowest bit that is set."""
    return x & (~x + ONE)


@inlined
def varying_attributes(differs: Any, among: Any, fields: Any) -> Any:
    """Return those of the attributes ``among`` whose codes differ; all are bits of a number.

    ``differs`` has the bits of packed codes that differ, ``fields`` the bits of each attribute.
    """
    attributes = U(0)
    while among:
        bit = lowest_bit(among)
        among ^= bit
        if differs & fields[bit_number(bit)]:
            attributes |= bit
    return attributes


@inlined
def bit_number(bit: Any) -> Any:
    """Return the number of a bit."""
    n = 0
    while bit > ONE:
        bit >>= ONE
        n += 1
    return n


@inlined
def hash_key(key: Any) -> Any:
    """Return a number whose lowest bits depend on all bits of a key."""
    return ((key ^ key >> HALF) * U(0x9E3779B97F4A7C15)) >> HALF


@inlined
def find_place(keys: Any, key: Any) -> Any:
    """Return the place of a key in a hash table, or the free one where it belongs; 0 is no key."""
    last = U(len(keys) - 1)  # the length is a power of 2
    i = hash_key(key) & last
    while keys[i] != key and keys[i] != 0:
        i = (i + ONE) & last
    return i


@inlined
def settle(rows: Any, row: int, state: Any, blocks: int, settled: Settled) -> None:
    """Count ``blocks`` equal blocks as settled: their people and secrets are the counters of a row.

    The row's lanes hold two counters each, in their lower and upper half. If the people fit into
    the bits of a counter, the state and all counters are packed into a kind.
    """
    width, counts = rows.shape[1], settled.counts
    bits, kinds, large = settled.bits, settled.kinds, settled.large
    people_fit = (rows[row, 1] & COUNTER) >> bits == 0  # no counter is larger
    if people_fit and 4 * counts[KINDS] < 3 * len(kinds):
        key, below = state << bits * U(2 * width - 2), U(0)
        for lane in range(1, width):
            key |= (rows[row, lane] & COUNTER) << below | (rows[row, lane] >> HALF) << below + bits
            below += bits + bits
        i = find_place(kinds, key)
        if kinds[i] == 0:
            kinds[i] = key
            counts[KINDS] += 1
        settled.times[i] += blocks
    else:
        new = counts[LARGE]
        large[new, 0], large[new, width] = state, U(blocks)
        for lane in range(1, width):
            large[new, lane] = rows[row, lane]
        counts[LARGE] += 1


@inlined
def settle_rows(rows: Any, start: int, end: int, state: Any, settled: Settled) -> None:
    """Settle the rows from start to end, each of them a block."""
    single = 0  # people alone in their block, whose values do not matter
    for row in range(start, end):
        if rows[row, 1] & COUNTER == ONE:
            single += 1
        else:
            settle(rows, row, state, 1, settled)
    if single:
        settle(settled.alone, 0, state, single, settled)


@inlined
def copy_row(rows: Any, row: int, to: int) -> None:
    """Copy a row to another place."""
    for column in range(rows.shape[1]):
        rows[to, column] = rows[row, column]


@inlined
def add_counters(rows: Any, row: int, to: int) -> None:
    """Add the counters of a row to those of another row."""
    for lane in range(1, rows.shape[1]):
        rows[to, lane] += rows[row, lane]


@compiled
def copy_rows(rows: Any, start: int, end: int, to: int) -> Any:
    """Copy the rows from start to end to another place; return the end of the copies."""
    for row in range(start, end):
        copy_row(rows, row, to + row - start)
    return to + end - start


@compiled
def merge_runs(rows: Any, start: int, middle: int, end: int, to: int) -> Any:
    """Merge two sorted runs of rows, which meet at ``middle``, at ``to``; return their end."""
    i, j = start, middle
    while i < middle and j < end:
        if rows[i, 0] < rows[j, 0]:
            copy_row(rows, i, to)
            i += 1
        elif rows[j, 0] < rows[i, 0]:
            copy_row(rows, j, to)
            j += 1
        else:  # equal rows are added up
            copy_row(rows, i, to)
            add_counters(rows, j, to)
            i, j = i + 1, j + 1
        to += 1
    return copy_rows(rows, j, end, copy_rows(rows, i, middle, to))


@compiled
def insert_sorted(rows: Any, start: int, end: int, to: int, bits: Any) -> Any:
    """Write rows at ``to``, sorted by ``bits`` of column 0, equal ones added; return their end."""
    last = to
    for row in range(start, end):
        rest, i = rows[row, 0] & bits, last
        while i > to and rows[i - 1, 0] > rest:
            i -= 1
        if i > to and rows[i - 1, 0] == rest:
            add_counters(rows, row, i - 1)
            continue
        for j in range(last, i, -1):
            copy_row(rows, j - 1, j)
        copy_row(rows, row, i)
        rows[i, 0] = rest
        last += 1
    return last


@compiled
def drop_attribute(rows: Any, start: int, end: int, to: int, field: Any, runs: Any) -> Any:
    """Write the rows of a block at ``to``, sorted, without an attribute, equal ones added up.

    Return the end of what is written. ``field`` are the bits of the attribute's codes. Few rows are
    inserted one by one. Of many, those with one code are a sorted run already: the runs are merged
    in pairs, from ``here`` to ``there`` and back, until one is left. ``runs`` is scratch.
    """
    if end - start <= INSERTION_ROWS:
        return insert_sorted(rows, start, end, to, ~field)
    n, here, there = copy_runs(rows, start, end, to, field, runs), to, to + end - start
    while n > 1:
        n = merge_pairs(rows, runs, n, there)
        here, there = there, here
    size = runs[1] - runs[0]
    if here != to:
        copy_rows(rows, here, here + size, to)
    return to + size


@compiled
def copy_runs(rows: Any, start: int, end: int, to: int, field: Any, runs: Any) -> Any:
    """Copy rows to ``to`` without the bits of ``field``; return the number of runs.

    A run is rows that share these bits. Where each begins in the copy, and the end of the last one,
    is written to ``runs``.
    """
    n = 0
    for row in range(start, end):
        copied = to + row - start
        if row == start or (rows[row, 0] ^ rows[row - 1, 0]) & field:
            runs[n] = copied
            n += 1
        copy_row(rows, row, copied)
        rows[copied, 0] &= ~field
    runs[n] = to + end - start
    return n


@compiled
def merge_pairs(rows: Any, runs: Any, n: int, to: int) -> Any:
    """Merge the first of n runs with the second, and so on, at ``to``; return how many runs."""
    pairs = 0  # ``runs`` gets where each new run begins, and the end of the last one
    for run in range(0, n, 2):
        start, middle, end = runs[run], runs[run + 1], runs[min(run + 2, n)]
        runs[pairs] = to
        to = merge_runs(rows, start, middle, end, to)
        pairs += 1
    runs[pairs] = to
    return pairs


@inlined
def push_block(
    waiting: Any, n: int, start: int, end: int, top: int, state: Any, open_: Any
) -> None:
    """Put a block on the stack."""
    waiting[n, START], waiting[n, END], waiting[n, TOP] = start, end, top
    waiting[n, STATE], waiting[n, OPEN] = np.int64(state), np.int64(open_)


@inlined
def add_up_run(rows: Any, start: int, end: int, field: Any, sums: Any) -> Any:
    """Add up the rows from ``start`` that share the bits ``field``, in ``sums``."""
    key, differs, row = rows[start, 0], U(0), start + 1
    for lane in range(1, rows.shape[1]):
        sums[0, lane] = rows[start, lane]
    while row < end and (rows[row, 0] ^ key) & field == 0:
        differs |= rows[row, 0] ^ key
        for lane in range(1, rows.shape[1]):
            sums[0, lane] += rows[row, lane]
        row += 1
    return row, differs  # the end of the run, and the bits in which some of its rows differ


@compiled
def walk(rows: Any, waiting: Any, first: Any, fields: Any, greatest: int, spare: int, limit: int,
         runs: Any, sums: Any, settled: Settled) -> None:  # fmt: skip
    """Settle the blocks that wait, until room is short or ``limit`` rows were visited.

    A state is the known attributes, then the undecided ones. An open attribute varies in the block:
    it is undecided and not known. A block drops and takes its lowest open attribute, except
    ``first``, which all take. ``fields``: the bits of each attribute in ``rest``. ``greatest``
    attributes may be taken, ``spare`` dropped. ``runs`` and ``sums`` are for scratch.
    """
    n, counts = U(len(fields)), settled.counts
    every = (ONE << n) - ONE
    while counts[WAITING] and counts[WORK] < limit:
        depth = counts[WAITING] - 1  # the place of the block on the stack
        start, end, top = waiting[depth, START], waiting[depth, END], waiting[depth, TOP]
        size = end - start  # each row may become a block
        has_room = top + 2 * size <= len(rows) and depth + size // 3 + 3 <= len(waiting)
        has_room = has_room and size < len(runs)
        if not has_room or is_short(settled, 3 * size + 2):
            return
        state, open_ = U(waiting[depth, STATE]), U(waiting[depth, OPEN])
        known_bits, undecided = state >> n, state & every
        bit = lowest_bit(open_)
        field, others = fields[bit_number(bit)], open_ & ~bit  # the other open attributes
        remaining = undecided & ~bit
        counts[WORK] += size
        # The block without the attribute, if it may be dropped; without others it is no new block.
        if others and bit_count(every & ~(known_bits | undecided)) < spare:
            last = drop_attribute(rows, start, end, top, field, runs)
            if others & (others - ONE):  # several are open: the block waits in its place
                push_block(waiting, depth, top, last, last, known_bits << n | remaining, others)
                depth, top = depth + 1, last
            else:  # one is open: if it is taken, each row is a block
                all_taken = (known_bits | others) << n | (remaining & ~others)
                settle_rows(rows, top, last, all_taken, settled)
        if bit == first:  # nothing is known yet of the others: all that are undecided may vary
            others = remaining
        taken = known_bits | bit
        is_full = bit_count(taken & ~remaining) >= greatest  # no more may be taken
        # Of a person alone nothing varies any more: all that is undecided is free.
        state_alone, single, i = (taken | remaining) << n | remaining, 0, start
        while i < end:  # each run of rows that share the code takes the attribute, and is a block
            j, differs = add_up_run(rows, i, end, field, sums)
            people = sums[0, 1] & COUNTER
            if people == ONE:
                single += 1
            else:
                open_ = varying_attributes(differs, others, fields) if differs else U(0)
                new = (taken | (remaining & ~open_)) << n | remaining  # what does not vary is known
                is_pair = people == U(2) and not is_full
                # A pair keeps its open attributes: any of them that is taken separates it.
                settle(sums, 0, new if is_pair else new ^ open_, 1, settled)
                if open_ and not is_pair and not is_full:
                    if open_ & (open_ - ONE):  # several are open: the block waits
                        push_block(waiting, depth, i, j, top, new, open_)
                        depth += 1
                    else:
                        settle_rows(rows, i, j, (new | open_ << n) ^ open_, settled)
            i = j
        if single:
            settle(settled.alone, 0, state_alone, single, settled)
        counts[WAITING] = depth


@compiled
def settle_subset(rows: Any, starts: Any, run: int, fields: Any, state: Any, blocks: Any,
                  places: Any, settled: Settled) -> int:  # fmt: skip
    """Settle the blocks of one subset, from ``run`` on; return the next run when room is short.

    A run is the rows with one code of the first attribute, which the subset has: so no block is in
    two runs. They begin at ``starts``. The rows of a run are added up in ``blocks``, a hash table
    by the bits of ``rest`` that the subset has (``fields``). It is empty between two runs;
    ``places`` is scratch for its used places.
    """
    width, last = rows.shape[1], U(len(blocks) - 1)
    while run < len(starts) - 1 and not is_short(settled, starts[run + 1] - starts[run]):
        n, single = 0, 0  # blocks, and people alone in theirs
        for row in range(starts[run], starts[run + 1]):
            rest = rows[row, 0] & fields
            i = hash_key(rest) & last
            while blocks[i, 1] != 0 and blocks[i, 0] != rest:  # the place of another block
                i = (i + ONE) & last
            if blocks[i, 1] == 0:  # nobody is in the block so far
                blocks[i, 0], places[n] = rest, i
                n += 1
            for lane in range(1, width):
                blocks[i, lane] += rows[row, lane]
        for i in places[:n]:
            if blocks[i, 1] & COUNTER == ONE:
                single += 1
            else:
                settle(blocks, i, state, 1, settled)
            for lane in range(1, width):
                blocks[i, lane] = 0
        if single:
            settle(settled.alone, 0, state, single, settled)
        run += 1
    return run


@inlined
def is_short(settled: Settled, blocks: int) -> bool:
    """Return whether there may be too little room for so many more settled blocks."""
    counts = settled.counts
    kinds_are_full = 2 * counts[KINDS] >= len(settled.kinds)
    return bool(kinds_are_full or counts[LARGE] + blocks + 1 > len(settled.large))


@inlined
def read_counter(rows: Any, row: int, i: int) -> Any:
    """Return a counter of a row; 0 is that of the people."""
    lane = rows[row, 1 + i // 2]
    return np.int64(lane >> HALF if i % 2 else lane & COUNTER)


@compiled
def add_blocks(answers: Answers, counts: Any, state: Any, questions: Any, rows: Any, row: int,
               blocks: int) -> None:  # fmt: skip
    """Add ``blocks`` equal blocks to the answers: to one answer for each question.

    The row has their counters. A question is the first counter of a secret and its number of
    values, of which the last has no counter; no values: whose record it is. ``counts`` are those of
    ``Settled``.
    """
    numbers = answers.numbers
    people = read_counter(rows, row, 0)
    for question in range(len(questions)):
        mode, values, remaining = 0, 0, people
        for i in range(questions[question, 1] - 1):
            n = read_counter(rows, row, questions[question, 0] + i)
            remaining, mode, values = remaining - n, max(mode, n), values + (n > 0)
        mode, values = max(mode, remaining), values + (remaining > 0)  # those of the last value
        if questions[question, 1] == 0:  # one guess is right, each record is a value
            mode, values = 1, people
        percent = U(np.rint(100 * mode / people))
        key = state << QUESTION | U(question) << PERCENT | percent
        i = find_place(answers.keys, key)
        if answers.keys[i] == 0:
            answers.keys[i] = key
            counts[ANSWERS] += 1
            numbers[i, LEAST], numbers[i, VALUES] = people, values
        numbers[i, BLOCKS] += blocks
        numbers[i, PEOPLE] += people * blocks
        numbers[i, MODE] += mode * blocks
        numbers[i, CERTAIN] += people * blocks if mode == people else 0
        numbers[i, LEAST] = min(numbers[i, LEAST], people)
        numbers[i, VALUES] = min(numbers[i, VALUES], values)
        answers.worst[i] = max(answers.worst[i], mode / people)


@compiled
def sum_up(settled: Settled, questions: Any, sums: Any, answers: Answers) -> None:
    """Sum up settled blocks by state, question and percent, until the answers have no room.

    First come the kinds, then the rows of large blocks. ``counts[DONE]`` is how many of both are
    summed up: call this again with more room until it is all of them. ``sums`` is scratch: the
    counters of a kind as a row. ``questions`` are those of ``add_blocks``.
    """
    width, counts, bits = sums.shape[1], settled.counts, settled.bits
    kinds, large = settled.kinds, settled.large
    below, mask = bits * U(2 * width - 2), (ONE << bits) - ONE
    while counts[DONE] < len(kinds) + counts[LARGE]:
        if 2 * (counts[ANSWERS] + len(questions)) > len(answers.keys):
            return
        i = counts[DONE]
        counts[DONE] += 1
        if i >= len(kinds):  # after all kinds come the rows of ``large``
            row = i - len(kinds)
            blocks = np.int64(large[row, width])
            add_blocks(answers, counts, large[row, 0], questions, large, row, blocks)
        elif kinds[i]:
            for lane in range(1, width):
                packed = kinds[i] >> bits * U(2 * lane - 2)
                sums[0, lane] = packed & mask | (packed >> bits & mask) << HALF
            state = kinds[i] >> below
            add_blocks(answers, counts, state, questions, sums, 0, settled.times[i])


@compiled
def copy_kinds(kinds: Any, times: Any, to: Any, counted: Any) -> None:
    """Copy the kinds to a larger table."""
    for i in range(len(kinds)):
        if kinds[i]:
            j = find_place(to, kinds[i])
            to[j], counted[j] = kinds[i], times[i]


@compiled
def copy_answers(answers: Answers, larger: Answers) -> None:
    """Copy the answers to a larger hash table."""
    for i in range(len(answers.keys)):
        if answers.keys[i]:
            j = find_place(larger.keys, answers.keys[i])
            larger.keys[j], larger.worst[j] = answers.keys[i], answers.worst[i]
            for number in range(answers.numbers.shape[1]):
                larger.numbers[j, number] = answers.numbers[i, number]
