"""Answers about files that this process has had before: a study opens one file for each command.

To read the columns of a CSV file, all its fields are looked at. An answer is remembered by its SQL
and by the state of the files; one that was changed in the last seconds could change once more
without a trace in its times, and is asked about each time.
"""

import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

from sqlglot import exp

from qifsql.data.collection import Collection
from qifsql.data.dataset import Dataset
from qifsql.data.readers import paths_to_read
from qifsql.engine.protocol import Engine
from qifsql.query.plan import Plan
from qifsql.query.render import render, statement

MOST_ANSWERS = 256
SETTLED = 2.0  # seconds since the last change of a file after which its times tell a new change
_answers: dict[object, Any] = {}
_lock = Lock()


def query(engine: Engine, tree: exp.Query, dataset: Dataset | Collection) -> list[tuple[Any, ...]]:
    """Return the rows of a query that reads the files of a dataset and nothing else."""
    return _remember(engine, dataset, render(tree), lambda: engine.query(tree, dataset.name))


def rows(
    engine: Engine, plan: Plan, what: str, dataset: Dataset | Collection
) -> list[tuple[Any, ...]]:
    """Return the few rows of a plan that reads the files of a dataset and nothing else."""
    sql = statement(plan)
    return _remember(engine, dataset, sql, lambda: engine.rows(plan, what, dataset.name))


def describe(engine: Engine, table: exp.Expr, dataset: Dataset) -> list[tuple[str, str]]:
    """Return the engine's names and types of the columns of a relation of these files."""
    sql = render(exp.Describe(this=exp.select("*").from_(table.copy())))
    return _remember(engine, dataset, sql, lambda: engine.describe(table, dataset.name))


def _remember(
    engine: Engine, dataset: Dataset | Collection, sql: str, ask: Callable[[], list[Any]]
) -> list[Any]:
    """Return the answer to ``sql``; ``ask`` is called only if it is new or the files changed."""
    state = _state(dataset)
    if state is None:
        return ask()
    assert isinstance(dataset, Dataset)  # noqa: S101 - a collection has no state
    # A study names the same files from its folder.
    paths = render(exp.convert(paths_to_read(dataset)))
    key = (engine.settings.engine_name, sql.replace(paths, "paths"), state)
    if (answer := _answers.get(key)) is None:
        answer = ask()
        if _state(dataset) == state:
            with _lock:
                while len(_answers) >= MOST_ANSWERS:  # forget the oldest one
                    del _answers[next(iter(_answers))]
                _answers[key] = answer
    return list(answer)


def _state(dataset: Dataset | Collection) -> tuple[tuple[int, ...], ...] | None:
    """Return what tells a change of the files; None for frames, and files changed just now."""
    if isinstance(dataset, Collection) or dataset.frame is not None or dataset.copies:
        return None
    if dataset.statement:  # a copy in the engine, which does not say how the file was read
        return None
    try:
        states = [Path(path).stat() for path in dataset.paths]
    except OSError:
        return None
    if any(time.time() - max(s.st_mtime, s.st_ctime) < SETTLED for s in states):
        return None
    return tuple((s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for s in states)
