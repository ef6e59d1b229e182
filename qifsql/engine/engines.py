"""Choose an engine and open it: DuckDB in this process, or Spark."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path

from qifsql.engine import threads
from qifsql.engine.access import Source
from qifsql.engine.protocol import LocalEngine
from qifsql.engine.settings import Settings
from qifsql.errors import InputError


def open_engine(
    settings: Settings | None = None,
    *,
    sources: Iterable[Source] = (),
    outputs: Iterable[Path] = (),
    folders: Iterable[Path] = (),
    ordered: bool = False,
    command: str = "",
) -> AbstractContextManager[LocalEngine]:
    """Open the engine on sources; its temporary files are removed when the context ends.

    Args:
        settings: Memory, threads, temporary folder, seed and progress.
        sources: Datasets to read, and paths of files of kept tables.
        outputs: Files to write.
        folders: Folders to write to.
        ordered: Keep rows in the order of the input, for results with a row per record.
        command: The command that opens it, if it also runs on Spark.

    Returns:
        The engine. It opens no other file, whatever a statement says.

    Raises:
        InputError: A limit cannot be kept here, or a source has changed or is damaged.
        EngineError: The system gives too little memory or disk.

    """
    threads.check_process()
    if (settings or Settings()).engine_name == "spark":
        from qifsql.engine.distributed import KEPT_HERE, ON_SPARK, STORED, Spark, not_on_spark

        sources = tuple(sources)
        if command not in ON_SPARK:
            raise InputError(not_on_spark(command))
        if command not in KEPT_HERE and any(isinstance(source, Path) for source in sources):
            raise InputError(STORED)
        return Spark(settings, sources=sources, outputs=outputs, folders=folders, ordered=ordered)
    from qifsql.engine.duckdb import DuckDB

    return DuckDB(settings, sources=sources, outputs=outputs, folders=folders, ordered=ordered)
