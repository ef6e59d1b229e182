"""The choice of the compiled walk (``qifsql[fast]``, see ``kernel_arrays``) or that in SQL.

The kernel counts in 32 bits, and packs states and counters in 64. What does not fit is walked in
SQL: secrets of many values, codes of more than 64 bits together, very many counters.
"""

from importlib.util import find_spec

from qifsql.commands.sweep.layout import Layout
from qifsql.counting.packing import NARROW_BITS
from qifsql.data import installation
from qifsql.errors import InputError

WALKS = ("auto", "sql", "compiled")
NOTE_ON_SQL = (
    "walked in SQL: the compiled walk takes secrets of at most 8 values, and quasi-identifiers "
    "whose codes fit in 64 bits together"
)
NOTE_ON_COMPILING = (
    "the walk was compiled for this run alone (about 15 s): there is no folder for compiled code "
    "that only you can write; name one in XDG_CACHE_HOME"
)
LEAST_WORK = 4_000_000  # people times subsets, from which SQL takes longer than compiling once
LEAST_PEOPLE = 200_000  # people below whom starting the compiled code takes longer than it saves
LEAST_MEMORY = 2**30  # bytes of memory below which what DuckDB does not count is a large part
KERNEL_MEMORY = 128 * 2**20  # bytes of numba and of the compiled code
MEMORY_PER_CHUNK = 32 * 2**20  # bytes of the arrays of a chunk
MOST_PEOPLE = 2**31 - 1  # of a counter
MOST_ATTRIBUTES = 26  # attributes whose states fit in the key of an answer
MOST_QUESTIONS = 32  # of one pass
PACKED_BITS = 63  # bits of a state and the counters of few people
MOST_COUNTER_BITS = 4  # most bits of such a counter


def is_installed() -> bool:
    """Return whether the extra is installed."""
    return find_spec("numba") is not None


def is_cached() -> bool:
    """Return whether compiled code is kept for the next run."""
    from qifsql.commands.sweep.code_cache import folder

    return folder() is not None


def can_walk(layout: Layout) -> bool:
    """Return whether the kernel can walk a pass; else the walk is in SQL."""
    return (
        not layout.valued
        and layout.rest_bits == NARROW_BITS
        and layout.people <= MOST_PEOPLE
        and layout.n <= MOST_ATTRIBUTES
        and len(layout.secrets) + layout.owners <= MOST_QUESTIONS
        and counter_bits(layout) >= 1
    )


def check_walk(walk: str) -> None:
    """Raise InputError if there is no such walk, or if it is not installed."""
    if walk not in WALKS:
        raise InputError(f"walk is {', '.join(WALKS[:-1])} or {WALKS[-1]}")
    if walk == "compiled" and not is_installed():
        raise InputError(f"the compiled walk needs the extra: {installation.command('fast')}")


def uses_kernel(walk: str, layout: Layout, memory: int) -> bool:
    """Return whether the kernel walks a pass: as asked, or where it saves time and fits."""
    if walk == "auto":
        has_work = layout.people << layout.n >= LEAST_WORK and is_cached()
        pays = layout.people >= LEAST_PEOPLE or has_work
        chosen = pays and memory >= LEAST_MEMORY and is_installed()
    else:
        chosen = walk == "compiled"
    return chosen and can_walk(layout)


def counter_bits(layout: Layout) -> int:
    """Return the bits of a counter of a block of few people, whose counters are packed.

    One number has the two sets of attributes of the state, and two counters for each lane.
    """
    return min(MOST_COUNTER_BITS, (PACKED_BITS - 2 * layout.n) // (2 * lane_count(layout)))


def lane_count(layout: Layout) -> int:
    """Return the number of lanes of a row, each of which holds two counters."""
    return len(layout.counters) // 2 + 1
