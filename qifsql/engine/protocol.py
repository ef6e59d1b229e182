"""The engine as all other rooms see it: it opens sources, runs plans and keeps tables.

``open_engine`` gives the default one, DuckDB. Another engine is another class with these methods.
"""

from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import polars as pl
from sqlglot import exp

from qifsql.data.collection import Collection
from qifsql.data.dataset import Dataset, Writing
from qifsql.engine.access import Source
from qifsql.engine.connections import Stream
from qifsql.engine.settings import Settings
from qifsql.errors import QifError
from qifsql.query.plan import Plan


class Engine(Protocol):
    """An engine runs plans within the limits of its settings.

    ``what`` and ``where`` say what is being done, and on which data, for progress and errors.
    """

    @property
    def settings(self) -> Settings:
        """Return memory, threads, temporary folder, seed and progress."""

    @property
    def sources(self) -> tuple[Source, ...]:
        """Return what it may read: datasets, and paths of files of kept tables."""

    @property
    def written(self) -> MutableMapping[tuple[str, str], Writing]:
        """Return how the fields of a CSV column are written, by dataset and column, where oddly."""

    @property
    def memory(self) -> int:
        """Return the limit for memory in bytes."""

    @property
    def threads(self) -> int:
        """Return how many threads statements use."""

    @property
    def scratch(self) -> Path:
        """Return the private folder for temporary files; it goes when the engine is closed."""

    def attach(self, dataset: Dataset | Collection) -> None:
        """Open a dataset that is more than files of rows, read-only."""

    def load(self, source: Dataset | Collection, used: frozenset[str] | None = None) -> Dataset:
        """Load the rows of a dataset into a table of the engine's own, to read them many times."""

    def describe(self, table: exp.Expr, where: str) -> list[tuple[str, str]]:
        """Return names and types of the columns of a relation or query."""

    def query(self, tree: exp.Query, where: str) -> list[tuple[Any, ...]]:
        """Return the rows of a small look-up."""

    def rows(self, plan: Plan, what: str, where: str) -> list[tuple[Any, ...]]:
        """Return the rows of a plan's result, which are few, exact for any size of number."""

    def frame(self, plan: Plan, what: str, where: str) -> pl.DataFrame:
        """Return a plan's result, which is small whatever the size of the data."""

    def batches(self, plan: Plan, what: str, where: str, rows: int) -> Iterator[pl.DataFrame]:
        """Yield a plan's result in frames of at most that many rows, and at least one frame."""

    def copy(self, plan: Plan, path: Path, *, what: str, where: str, note: str = "") -> int:
        """Stream a plan's result to a Parquet file with a note inside; return its rows."""

    def open_kept(self, path: Path | None = None) -> set[str]:
        """Open the catalog of kept tables, in a file or in memory; return their names."""

    def keep(self, name: str, plan: Plan, what: str, where: str, *, catalog: str = ...) -> None:
        """Keep a plan's result as a table that other plans can read."""

    def drop(self, name: str, catalog: str) -> None:
        """Drop a table that was kept."""

    def check_inputs(self) -> None:
        """Refuse inputs that were replaced or changed since the engine was opened."""

    def partial(self, path: Path) -> Path:
        """Return where an output is written before it is whole."""


class LocalEngine(Engine, Protocol):
    """An engine in this process, whose threads and statements can be steered one by one."""

    def stream(self, where: str = ...) -> Stream:
        """Open a connection of its own to the same database, for one thread."""

    def together(
        self, streams: Sequence[Stream], work: Callable[[Stream], None], look: Callable[[], None]
    ) -> None:
        """Let every stream work in a thread of its own, and call ``look`` meanwhile."""

    def single_threaded(self) -> AbstractContextManager[None]:
        """Let statements use one thread each, and join tables as they are written."""

    def probe(self, path: Path) -> tuple[set[str], QifError | None]:
        """Return the tables in a file of kept tables, and why it cannot be opened, if so."""

    def script(self, sql: str) -> Iterator[tuple[list[str], list[tuple[Any, ...]]]]:
        """Run what a person typed; yield the columns and rows of each result."""


def open_engine(
    settings: Settings | None = None,
    *,
    sources: Iterable[Source] = (),
    outputs: Iterable[Path] = (),
    folders: Iterable[Path] = (),
    ordered: bool = False,
) -> AbstractContextManager[LocalEngine]:
    """Open the engine on sources; what it needs goes when the context ends.

    Args:
        settings: Memory, threads, temporary folder, seed and progress.
        sources: Datasets to read, and paths of files of kept tables.
        outputs: Files to write.
        folders: Folders to write to.
        ordered: Keep rows in the order of the input, for results with a row per record.

    Returns:
        The engine. It opens no other file, whatever a statement says.

    Raises:
        InputError: A limit cannot be kept here, or a source has changed or is damaged.
        EngineError: The system gives too little memory or disk.

    """
    from qifsql.engine.duckdb import DuckDB

    return DuckDB(settings, sources=sources, outputs=outputs, folders=folders, ordered=ordered)
