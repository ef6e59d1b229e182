"""Choose an engine and open it: DuckDB in this process, or Spark."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Unpack

from qifsql.engine import threads
from qifsql.engine.access import Access
from qifsql.engine.protocol import LocalEngine
from qifsql.engine.settings import Settings
from qifsql.errors import InputError


def open_engine(
    settings: Settings | None = None, *, command: str = "", **access: Unpack[Access]
) -> AbstractContextManager[LocalEngine]:
    """Open the engine on sources; its temporary files are removed when the context ends.

    Args:
        settings: Memory, threads, temporary folder, seed and progress.
        command: The command that opens it, if it also runs on Spark.
        access: The files that it opens (``Access``).

    Raises:
        InputError: A limit cannot be kept here, or a source has changed or is damaged.
        EngineError: The system gives too little memory or disk.

    """
    threads.check_process()
    if (settings or Settings()).engine_name == "spark":
        from qifsql.engine.distributed import NO_STORE, ON_SPARK, Spark, not_on_spark

        access["sources"] = tuple(access.get("sources", ()))
        if command not in ON_SPARK:
            raise InputError(not_on_spark(command))
        is_stored = any(isinstance(source, Path) for source in access["sources"])
        if is_stored and command != "sweep":  # which keeps a workspace on this machine
            raise InputError(NO_STORE)
        return Spark(settings, **access)
    from qifsql.engine.duckdb import DuckDB

    return DuckDB(settings, **access)
