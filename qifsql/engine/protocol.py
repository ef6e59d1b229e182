"""The interface of engines for all other packages: open sources, run plans and keep tables.

A class with these methods is an engine; ``engines.py`` opens one.
"""

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import polars as pl
from sqlglot import exp

from qifsql.data.collection import Collection
from qifsql.data.dataset import Dataset, Irregularity
from qifsql.engine.access import Source
from qifsql.engine.connections import Stream
from qifsql.engine.settings import Settings
from qifsql.errors import QifError
from qifsql.query.plan import Plan


class Engine(Protocol):
    """An engine that runs plans within the limits of its settings.

    For progress and errors, ``what`` names the current work and ``where`` names its data.
    """

    @property
    def settings(self) -> Settings:
        """Return memory, threads, temporary folder, seed and progress."""

    @property
    def sources(self) -> tuple[Source, ...]:
        """Return the sources it may read: datasets, and paths of files of kept tables."""

    @property
    def irregular_columns(self) -> MutableMapping[tuple[str, str], Irregularity]:
        """Return the irregular spellings of CSV fields, by dataset and column."""

    @property
    def declared_missing(self) -> MutableMapping[tuple[str, str], int]:
        """Return how many values a file declares to be missing, by dataset and column."""

    @property
    def memory(self) -> int:
        """Return the limit for memory in bytes."""

    @property
    def threads(self) -> int:
        """Return the number of threads of a statement."""

    @property
    def scratch(self) -> Path:
        """Return the private folder for temporary files; closing the engine removes it."""

    def attach(self, dataset: Dataset | Collection) -> None:
        """Open the files of database tables, read-only; other datasets need no opening."""

    def load(self, source: Dataset | Collection, used: frozenset[str] | None = None) -> Dataset:
        """Copy the rows of a dataset into a table of the engine, to read them many times."""

    def describe(self, table: exp.Expr, where: str) -> list[tuple[str, str]]:
        """Return the names and types of the columns of a relation or query."""

    def query(self, tree: exp.Query, where: str) -> list[tuple[Any, ...]]:
        """Return the rows of a small query about the data or the engine."""

    def rows(self, plan: Plan, what: str, where: str) -> list[tuple[Any, ...]]:
        """Return the rows of a plan as Python values, few, exact for numbers of any size."""

    def frame(self, plan: Plan, what: str, where: str) -> pl.DataFrame:
        """Return the result of a plan, which has few rows for data of any size."""

    def batches(self, plan: Plan, what: str, where: str, rows: int) -> Iterator[pl.DataFrame]:
        """Yield the result of a plan in frames of at most ``rows`` rows, at least one frame."""

    def copy(self, plan: Plan, path: Path, *, what: str, where: str, note: str = "") -> int:
        """Stream the result of a plan to a Parquet file with a note; return the number of rows."""

    def open_kept(self, path: Path | None = None) -> set[str]:
        """Open the catalog of kept tables, in a file or in memory; return their names."""

    def keep(self, name: str, plan: Plan, what: str, where: str, *, catalog: str = ...) -> str:
        """Keep the result of a plan as a table that other plans can read; return the statement."""

    def run(self, statement: str, what: str, where: str) -> None:
        """Run a statement that was rendered before, such as one that is repeated."""

    def drop(self, name: str, catalog: str) -> None:
        """Drop a table that was kept."""

    def check_inputs(self) -> None:
        """Refuse inputs that were replaced or changed since the engine was opened."""

    def unfinished_path(self, path: Path) -> Path:
        """Return the path of an output until it is complete."""


class LocalEngine(Engine, Protocol):
    """An engine in this process, with control over its threads and statements."""

    @property
    def here(self) -> "LocalEngine":
        """Return the engine in this process: itself, or the one beside a cluster."""

    @property
    def workers(self) -> int:
        """Return the number of tasks that may run at the same time."""

    def stream(self, where: str = ..., frames: Mapping[str, Any] | None = ...) -> Stream:
        """Open a separate connection to the same database, for one thread."""

    def together(
        self, streams: Sequence[Stream], work: Callable[[Stream], None], look: Callable[[], None]
    ) -> None:
        """Run ``work`` on every stream in its own thread, and call ``look`` meanwhile."""

    def single_threaded(self) -> AbstractContextManager[None]:
        """Run statements with one thread, and join their tables in the written order."""

    def set_aside(self, size: int) -> None:
        """Take so many bytes from the memory limit, for arrays that the engine does not count."""

    def probe(self, path: Path) -> tuple[set[str], QifError | None]:
        """Return the tables in a file of kept tables, and the error if it cannot be opened."""

    def script(self, sql: str) -> Iterator[tuple[list[str], list[tuple[Any, ...]]]]:
        """Run the SQL that a person typed; yield the columns and rows of each result."""
