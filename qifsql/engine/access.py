"""Which files a connection may open: those that are named when it is opened, and no others.

An expression, a view or a database that somebody sent may name any file. DuckDB refuses what is
not on this list, and its settings are locked before the first statement of a user runs.
"""

from collections.abc import Iterable
from pathlib import Path

from sqlglot import exp

from qifsql.data.collection import Collection
from qifsql.data.dataset import Dataset
from qifsql.data.relation import escaped
from qifsql.query.render import setting

CHANGEABLE = ("threads", "disabled_optimizers", "schema")  # settings that statements may change
JOURNALS = (".wal", ".wal.checkpoint", ".wal.recovery")  # files that DuckDB keeps beside a database

Source = Dataset | Collection | Path  # a path is a DuckDB file of qifsql's, which it may write


def lock(sources: Iterable[Source], files: Iterable[Path], folders: Iterable[Path]) -> list[str]:
    """Return the statements that let a connection open these and nothing else, for good.

    Args:
        sources: datasets to read, and paths of DuckDB files to read and write.
        files: further files to write.
        folders: folders in which all files may be read and written.

    """
    paths = dict.fromkeys(p for source in sources for p in _paths(source))
    paths |= dict.fromkeys(str(f) for f in files)
    return [
        setting("allowed_paths", _texts(paths)),
        setting("allowed_directories", _texts(map(str, folders))),
        setting("allowed_configs", _texts(CHANGEABLE)),
        setting("enable_external_access", exp.false()),
        setting("lock_configuration", exp.true()),
    ]


def datasets_of(sources: Iterable[Source]) -> list[Dataset]:
    """Return the datasets among the sources, and those of collections."""
    datasets: list[Dataset] = []
    for source in sources:
        if isinstance(source, Collection):
            datasets += source.datasets
        elif isinstance(source, Dataset):
            datasets.append(source)
    return datasets


def _paths(source: Source) -> Iterable[str]:
    """Return the names under which DuckDB opens a source."""
    if isinstance(source, Path):
        return [f"{source}{ending}" for ending in ("", *JOURNALS)]
    if isinstance(source, Collection):
        return [path for dataset in source.datasets for path in _paths(dataset)]
    if source.format == "duckdb":
        return [f"{path}{ending}" for path in source.paths for ending in ("", *JOURNALS)]
    return [name for path in source.paths for name in (path, escaped(path))]


def _texts(values: Iterable[str]) -> exp.Array:
    return exp.Array(expressions=[exp.Literal.string(value) for value in values])
