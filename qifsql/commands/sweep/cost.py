"""What a sweep needs of the machine: memory, disk, time; said before, and refused where too little.

All numbers are estimates from the benchmarks: they are to be right within a factor of two.
"""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from qifsql.adversary.spec import BoundAttack
from qifsql.commands.sweep.layout import Layout
from qifsql.commands.sweep.progress import Course
from qifsql.engine.protocol import Engine
from qifsql.engine.settings import Settings
from qifsql.errors import EngineError, several
from qifsql.query.microdata import records_plan

MEMORY = 2 * 2**30  # bytes beyond which a sweep gets no faster
FIXED = 100 * 2**20  # bytes that the engine needs
PER_STREAM = 100 * 2**20  # bytes that each stream needs
PER_RECORD = 60  # bytes of disk per record: coded tables and what is spilled
RESIDENT = 70  # bytes of memory per record, up to the limit


def limited(settings: Settings | None) -> Settings:
    """The settings with the memory that suits a sweep, unless the user said how much."""
    base = settings or Settings()
    if base.memory is not None or base.memory_limit is None:
        return base
    half = int(base.memory_limit.removesuffix("MiB")) * 2**20
    return replace(base, memory=f"{min(half, MEMORY) // 2**20}MiB")


def streams(engine: Engine) -> int:
    """How many streams there is memory for; EngineError where it does not do for one."""
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
    """Refuse a sweep for which there is no room; EngineError says how much it needs."""
    ((records,),) = engine.rows(records_plan(bound), "counting records", bound.dataset.name)
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


def preflight(layouts: Sequence[Layout], course: Course, threads: int, limit: int) -> str:
    """About how long it will take, and what it will need."""
    people = layouts[0].people
    memory = min(limit, FIXED + PER_STREAM * threads + people * RESIDENT)
    disk = people * PER_RECORD
    return (
        f"{time(course.remaining())} with {several(threads, 'thread')}, {size(memory)} of memory, "
        f"{size(disk)} of disk"
    )


def time(seconds: float) -> str:
    """A duration as people say it."""
    if seconds < 90:
        return several(max(1, round(seconds)), "second")
    if seconds < 5400:
        return several(round(seconds / 60), "minute")
    return f"{seconds / 3600:.1f} hours"


def size(bytes_: float) -> str:
    """A number of bytes as people say it."""
    return f"{bytes_ / 2**30:.1f} GB" if bytes_ >= 2**29 else f"{max(1, round(bytes_ / 2**20))} MB"
