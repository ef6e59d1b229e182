"""Settings of an engine: memory, threads, temporary files, progress."""

import os
import re
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from qifsql.engine.progress import Progress, usual
from qifsql.engine.temporary import PrivateFolder
from qifsql.errors import InputError, quoted

ENOUGH = 4 * 2**30  # bytes of memory; more makes no attack faster
FREED_LATE = 128 * 2**20  # bytes of the limit for what many large joins hold beyond it
ENGINES = ("duckdb", "spark")
VARIABLE = "QIFSQL_ENGINE"
"""The environment variable that names the engine."""
SEEDS = 2**63  # seeds are below this, so they fit the integers of every format
THREADS_PER_CORE, THREADS_ANYWHERE = 8, 64  # the larger limit counts


@dataclass(frozen=True)
class Settings:
    """Limits of one engine.

    ``memory`` is a size such as ``8GB``. The default is half of the machine's memory, at most
    4 GiB: more makes grouping slower, because fresh memory costs more than cached files. The limit
    is never above the memory of the machine. ``threads`` is a number (default: all cores; at most
    eight for each core, or 64). ``temp`` is a folder for temporary files (default: that of the
    system). Only the user can read these files, and they are removed. ``progress`` is
    called with the current work (default: a line in a notebook, nothing elsewhere). ``seed`` is for
    commands that draw at random, and is recorded in manifests; attacks draw nothing. ``engine`` is
    ``duckdb`` or ``spark`` (default: the environment variable ``QIFSQL_ENGINE``, else ``duckdb``,
    and ``spark`` with a ``session``). For Spark, ``master`` is the address of the cluster (default:
    that of Spark's configuration, else this machine), ``spark_conf`` are further settings as
    ``KEY=VALUE``, ``session`` is a ``SparkSession`` to use instead, and ``temp`` may be the URL of
    a folder that all executors reach.
    """

    memory: str | None = None
    threads: int | None = None
    temp: Path | str | None = None
    progress: Progress = field(default_factory=usual)
    seed: int | None = None
    engine: str | None = None
    master: str | None = None
    spark_conf: tuple[str, ...] = ()
    session: Any = field(default=None, compare=False, repr=False)

    @property
    def engine_name(self) -> str:
        """Return the name of the engine; InputError if there is no such engine."""
        name = self.engine or ("spark" if self.session is not None else os.environ.get(VARIABLE))
        name = (name or ENGINES[0]).casefold()
        if name not in ENGINES:
            source = "engine" if self.engine else VARIABLE
            raise InputError(
                f"{source}={quoted(name)[1:-1]} is not an engine; use {' or '.join(ENGINES)}"
            )
        if name != "spark":
            for option in ("master", "spark_conf", "session"):
                if getattr(self, option):
                    raise InputError(
                        f"{option} is about Spark, and the engine is {name}; use spark"
                    )
        return name

    @property
    def of_duckdb(self) -> "Settings":
        """Return the same limits for DuckDB on this machine."""
        temp = None if isinstance(self.temp, str) else self.temp
        return replace(self, temp=temp, engine="duckdb", master=None, spark_conf=(), session=None)

    def check_threads(self) -> None:
        """Raise InputError if the machine cannot run this number of threads."""
        cores = os.cpu_count() or 1
        limit = max(THREADS_ANYWHERE, THREADS_PER_CORE * cores)
        if self.threads is not None and not 1 <= self.threads <= limit:
            raise InputError(
                f"threads={self.threads} cannot be used; give a number from 1 to {limit} (more "
                f"than the {cores} cores here makes nothing faster)"
            )

    @property
    def memory_limit(self) -> str | None:
        """Return the limit to set; None (the engine's default) if the memory is not known."""
        if self.memory is not None:
            return self.memory
        if (machine := machine_memory()) is None:
            return None
        return f"{min(machine // 2, ENOUGH) // 2**20}MiB"


def with_seed(settings: Settings | None, seed: int, command: str) -> Settings:
    """Return the settings with this seed; InputError if it is invalid, or they have another."""
    settings = settings or Settings()
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < SEEDS:
        raise InputError(f"invalid seed; give a whole number from 0 to {SEEDS - 1}")
    if settings.seed not in (None, seed):
        raise InputError(f"the settings have another seed; give the seed to {command} alone")
    return replace(settings, seed=seed)


def machine_memory() -> int | None:
    """Return the memory of the machine in bytes; None if it is not known."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def local_folder(text: str) -> Path | str:
    """Return a folder as a path, or as it is written if it is a URL, such as hdfs:///tmp."""
    return text if URL.match(text) else Path(text)


def private_folder(parent: Path | str | None) -> PrivateFolder:
    """Create a folder that only the user can read, in ``parent`` (None: that of the system).

    Raises InputError if ``parent`` is a URL or cannot be used.
    """
    folder = local_folder(parent) if isinstance(parent, str) else parent
    if isinstance(folder, str):
        raise InputError(
            f"the folder for temporary files ({folder}) is not on this machine; name a local "
            "folder with --temp"
        )
    try:
        return PrivateFolder.make(folder)
    except (OSError, ValueError) as e:  # ValueError: a null byte in the name
        reason = e.strerror if isinstance(e, OSError) else e
        name = folder or tempfile.gettempdir()
        raise InputError(
            f"the folder for temporary files ({name}) cannot be used: {reason}; name another with "
            "--temp"
        ) from e
