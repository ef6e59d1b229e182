"""Restrict a connection to the files that are named when it is opened.

An expression, a view or a database from somebody else may name any file. DuckDB refuses a file
that is not on this list. Its settings are locked before the first statement of a user runs.
"""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

from sqlglot import exp

from qifsql.data.collection import Collection
from qifsql.data.dataset import Dataset
from qifsql.data.formats import CONVERTED
from qifsql.data.readers import escaped
from qifsql.engine.settings import Settings
from qifsql.query.render import setting

# Settings that statements may change:
CHANGEABLE = ("threads", "disabled_optimizers", "schema", "memory_limit")
JOURNALS = (".wal", ".wal.checkpoint", ".wal.recovery")  # files of DuckDB next to a database

Source = Dataset | Collection | Path  # a path is a DuckDB file that qifsql may write


class Access(TypedDict, total=False):
    """The files that an engine opens, whatever a statement says, and the order of its rows.

    ``sources`` are datasets to read, and paths of files of kept tables; ``outputs`` are files to
    write, ``folders`` those to write to. ``ordered`` keeps rows in the order of the input, for
    results with a row per record.
    """

    sources: Iterable[Source]
    outputs: Iterable[Path]
    folders: Iterable[Path]
    ordered: bool


def connection_options(settings: Settings, folder: Path) -> dict[str, Any]:
    """Return the options of a connection that installs nothing and keeps its files in a folder."""
    options: dict[str, Any] = {
        "temp_directory": str(folder),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "allow_persistent_secrets": False,  # their files are in the home folder
        "disabled_optimizers": "type_pushdown",  # it turns a TRY_CAST over CSV into a CAST
        "threads": settings.threads,
        "memory_limit": settings.memory_limit,
    }
    return {name: value for name, value in options.items() if value is not None}


def lock(sources: Iterable[Source], files: Iterable[Path], folders: Iterable[Path]) -> list[str]:
    """Return the statements that let a connection open only these files, until it is closed.

    ``sources`` are datasets to read, and paths of DuckDB files to read and write; ``files`` are
    further files to write. In ``folders`` all files may be read and written.
    """
    paths = dict.fromkeys(p for source in sources for p in _paths(source))
    paths |= dict.fromkeys(str(f) for f in files)
    return [
        setting("allowed_paths", _text_array(paths)),
        setting("allowed_directories", _text_array(map(str, folders))),
        *_fixed_settings(),
    ]


@cache
def _fixed_settings() -> tuple[str, ...]:
    """Return the statements that lock all settings but the changeable ones, and all other files."""
    return (
        setting("allowed_configs", _text_array(CHANGEABLE)),
        setting("enable_external_access", exp.false()),
        setting("lock_configuration", exp.true()),
    )


def datasets_of(sources: Iterable[Source]) -> list[Dataset]:
    """Return the datasets among the sources, including those of collections."""
    return [d for source in sources if not isinstance(source, Path) for d in source.datasets]


def _paths(source: Source) -> Iterable[str]:
    """Return the paths that DuckDB opens for a source: files, databases and their journals."""
    databases = [str(source)] if isinstance(source, Path) else []
    files: list[str] = []
    for dataset in datasets_of([source]):
        if dataset.format == "duckdb":
            databases += dataset.paths
        # Python reads frames, and all files that are converted except JSON
        elif dataset.format not in ("frame", *CONVERTED) or dataset.format == "json":
            files += [*dataset.paths, *map(escaped, dataset.paths)]
    return [*files, *(f"{path}{ending}" for path in databases for ending in ("", *JOURNALS))]


def _text_array(values: Iterable[str]) -> exp.Array:
    """Return an array of SQL with these texts."""
    return exp.Array(expressions=[exp.Literal.string(value) for value in values])
