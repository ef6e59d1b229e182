"""The workspace of a sweep: one file with its tasks and their results.

A task and its results are stored in one transaction. After any interruption the same command
resumes: finished tasks stay finished, unfinished ones run again.
"""

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, astuple, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from sqlglot import exp

from qifsql import __version__
from qifsql.adversary.spec import Attack, Microdata
from qifsql.commands.sweep.layout import Layout
from qifsql.commands.sweep.plan import Task
from qifsql.commands.sweep.samples import Stratum
from qifsql.data.collection import Collection
from qifsql.data.dataset import Dataset
from qifsql.data.files import is_duckdb, misplaced, parsed_json
from qifsql.data.readers import STORE
from qifsql.engine import ledger
from qifsql.engine.connections import Stream
from qifsql.engine.protocol import LocalEngine
from qifsql.engine.temporary import remove
from qifsql.errors import DatasetError, EngineError, InputError, InternalError, QifError
from qifsql.query.columns import typed_number
from qifsql.query.render import dropping, render
from qifsql.query.templates import load, script
from qifsql.results.storage import digests

_OPEN: set[Path] = set()  # the workspaces that this program has open
_LOCK = threading.Lock()
FORM = 5  # version of the tables in a workspace
ADD_TASKS = (  # a list for each column
    "INSERT INTO kept.tasks SELECT unnest(?), unnest(?), unnest(?), unnest(?), unnest(?), "
    "unnest(?), unnest(?), unnest(?), unnest(?)"
)
ADD_DONE = "INSERT INTO kept.done SELECT unnest(?), ?, ?"


class Workspace:
    """The tables of one sweep, in a file, or in memory if there is no file."""

    def __init__(self, engine: LocalEngine, path: Path | None, request: Mapping[str, Any]) -> None:
        """Open or create the tables. ``request`` has what distinguishes the sweep from others."""
        self.engine = engine
        self.path = path
        try:
            tables = engine.open_kept(path)  # none if the workspace is new
        except DatasetError as e:
            raise InputError(
                f"the workspace {path} cannot be made or opened; name another file with "
                "--workspace",
                detail=e.detail,
            ) from e
        self.stream = engine.stream()
        self._streams: list[Stream] = []
        self._lock = threading.Lock()
        versions = {"qifsql": __version__, "form": FORM, "engine": ledger.ENGINE}
        request = versions | json.loads(json.dumps(request))  # as a stored one is read
        if tables:  # resume: only the same sweep may, and no table may be damaged
            with ledger.readable(self.damage_message):
                stored = dict(self.fact("asked"))
            self._check_request(stored, request)
            ledger.check(self.stream, tables, self.damage_message)
        else:
            with self.stream.transaction():
                for statement in script("sweep/workspace"):
                    self.stream.rows(statement)
                if path is not None:
                    ledger.begin(self.stream)
                self.add_fact("asked", request)
        ((self._last_task,),) = self.stream.rows("SELECT coalesce(max(number), 0) FROM kept.tasks")

    @property
    def damage_message(self) -> str:
        """Return the message for a workspace that does not hold what was stored in it."""
        return (
            f"the workspace {self.path} is damaged: it does not hold what was stored in it; start "
            "over with --restart, or name another file with --workspace"
        )

    def damage_error(self, what: str) -> QifError:
        """Return the error for results that cannot be right."""
        if self.path is None:
            return InternalError(f"{what}; report this")
        return DatasetError(self.damage_message, detail=what)

    def open_streams(self, count: int) -> list[Stream]:
        """Return so many streams, which stay open for the work of one pass after the other."""
        while len(self._streams) < count:
            self._streams.append(self.engine.stream())
        return self._streams[:count]

    def close_streams(self) -> None:
        """Close the streams, except the one of the workspace itself."""
        while self._streams:
            self._streams.pop().close()

    def enter_in_ledger(
        self,
        stream: Stream,
        name: str,
        rows: Callable[[], exp.Query] | None = None,
        *,
        gone: bool = False,
    ) -> None:
        """Enter rows of the table ``name`` in the ledger, by which a reader of the file checks it.

        Call this in the transaction that changes the rows. ``rows`` returns the query of the rows
        that were added (by default all of the table) or, if they are ``gone``, will be deleted.
        Without a file there is no ledger.
        """
        if self.path is not None:
            ledger.enter(stream, name, rows() if rows else None, gone=gone)

    def drop(self, name: str) -> None:
        """Drop a coded table."""
        with self.stream.transaction():
            self.stream.rows(dropping(f"{STORE}.main.{name}"))
            if self.path is not None:
                ledger.strike(self.stream, name)

    @property
    def is_useful(self) -> bool:
        """Return whether people are coded or attacked already, so that a run can resume."""
        rows = self.stream.rows(
            "SELECT count(*) FROM kept.facts WHERE name NOT IN ('asked', 'spreads', 'records')"
        )
        return bool(rows[0][0])

    def fact(self, name: str) -> Any:
        """Return the fact stored under a name; None if it was not stored."""
        rows = self.stream.rows("SELECT told FROM kept.facts WHERE name = ?", [name])
        return parsed_json(rows[0][0]) if rows else None

    def facts(self, beginning: str) -> dict[str, Any]:
        """Return the facts whose names begin with a text, by name."""
        query = "SELECT name, told FROM kept.facts WHERE starts_with(name, ?) ORDER BY name"
        return {name: parsed_json(fact) for name, fact in self.stream.rows(query, [beginning])}

    def store_fact(self, name: str, fact: object) -> None:
        """Store a fact under a name; it replaces an earlier one."""
        with self.stream.transaction():
            self.add_fact(name, fact)

    def add_fact(self, name: str, fact: object) -> None:
        """Store a fact, as ``store_fact`` does, in the transaction of the caller."""
        row = partial(_rows_with, "facts", {"name": name})
        self.enter_in_ledger(self.stream, "facts", row, gone=True)
        self.stream.rows("DELETE FROM kept.facts WHERE name = ?", [name])
        self.stream.rows("INSERT INTO kept.facts VALUES (?, ?)", [name, json.dumps(fact)])
        self.enter_in_ledger(self.stream, "facts", row)

    def layouts(self) -> list[Layout]:
        """Return the stored passes; an empty list in a new workspace."""
        layouts = []
        for (text,) in self.stream.rows("SELECT layout FROM kept.passes ORDER BY number"):
            fields = parsed_json(text)  # JSON has lists for tuples, and texts as keys
            fields |= {name: tuple(fields[name]) for name in ("order", "values", "missing")}
            fields["secrets"] = {int(j): values for j, values in fields["secrets"].items()}
            layouts.append(Layout(**fields))
        return layouts

    def store_layouts(self, layouts: Sequence[Layout]) -> None:
        """Store the passes."""
        with self.stream.transaction():
            for i, layout in enumerate(layouts):
                row = [i, json.dumps(asdict(layout))]
                self.stream.rows("INSERT INTO kept.passes VALUES (?, ?)", row)
            self.enter_in_ledger(self.stream, "passes")

    def done_tasks(self) -> list[tuple[Task, str, float]]:
        """Return the tasks that are done, each with its method and its seconds."""
        rows = self.stream.rows(
            "SELECT tasks.*, method, seconds FROM kept.tasks JOIN kept.done ON number = task "
            "ORDER BY number"
        )
        return [(Task(*row[:9]), row[9], row[10]) for row in rows]

    def pending_tasks(self, number_of_pass: int) -> list[Task]:
        """Return the tasks of a pass that are not done, in their order."""
        rows = self.stream.rows(render(load("sweep/pending").query))
        return [t for t in (Task(*row) for row in rows) if t.number_of_pass == number_of_pass]

    def mark_coded(self, number_of_pass: int) -> None:
        """Record that the people of a pass are coded, in the transaction of its first tasks."""
        self.add_fact(f"coded {number_of_pass}", True)

    def is_coded(self, number_of_pass: int) -> bool:
        """Return whether the people of a pass are coded."""
        return bool(self.fact(f"coded {number_of_pass}"))

    def finished_attributes(self, number_of_pass: int, n: int) -> int:
        """Return the attributes, as bits, for which all subsets that begin with them are done.

        These have a table of everybody (state 0) that begins with them, and no waiting task.
        """
        done = [t for t, _, _ in self.done_tasks() if t.number_of_pass == number_of_pass]
        pending = self.pending_tasks(number_of_pass)
        with_table = {t.position for t in (*done, *pending) if not t.state}
        # Dropping the attribute from the table of everybody is about later attributes.
        waiting = {t.first_attribute(n) for t in pending if t.kind != "drop" or t.state}
        return sum(1 << position for position in with_table - waiting)

    def add_tasks(self, stream: Stream, tasks: Sequence[Task]) -> list[Task]:
        """Store new tasks with numbers, in the transaction of the stream; return them."""
        with self._lock:
            first = self._last_task + 1
            self._last_task += len(tasks)
        numbered = [replace(task, number=first + i) for i, task in enumerate(tasks)]
        if numbered:
            columns = zip(*map(astuple, numbered), strict=True)
            stream.rows(ADD_TASKS, [list(column) for column in columns])
            span = first, numbered[-1].number
            self.enter_in_ledger(stream, "tasks", partial(_rows_with, "tasks", {"number": span}))
        return numbered

    def store_found(self, stream: Stream, number_of_pass: int, part: int = 0) -> None:
        """Store the table ``found`` of a stream, in its transaction; ``part`` 0 is of no sample."""
        keys = {"pass": number_of_pass, "part": part}
        columns = [exp.alias_(typed_number(v, "INTEGER"), name) for name, v in keys.items()]
        stream.rows("INSERT INTO kept.found SELECT ?, ?, * FROM found", list(keys.values()))
        self.enter_in_ledger(stream, "found", lambda: exp.select(*columns, "*").from_("found"))

    def store_stratum(
        self, stream: Stream, source: str, start: int, drawn: int, stratum: Stratum
    ) -> None:
        """Store the stratum of ``drawn`` blocks: the entries of table ``source`` from ``start``."""
        stream.rows(
            "INSERT INTO kept.strata VALUES (?, ?, ?, ?, ?, ?)",
            [source, start, start + drawn - 1, stratum.blocks, stratum.people, stratum.largest],
        )
        its_start = {"source": source, "least": start}
        self.enter_in_ledger(stream, "strata", partial(_rows_with, "strata", its_start))

    def mark_done(
        self, stream: Stream, numbers: Sequence[int], method: str, seconds: float
    ) -> None:
        """Record that tasks are done, in the transaction that stores their results."""
        stream.rows(ADD_DONE, [numbers, method, seconds])
        self.enter_in_ledger(stream, "done", partial(_rows_with, "done", {"task": list(numbers)}))

    def _check_request(self, stored: Mapping[str, Any], request: Mapping[str, Any]) -> None:
        """Raise InputError if the stored request differs from that of this run."""
        where = self.path.name if self.path else "the workspace"
        differing = [name for name, value in request.items() if stored.get(name) != value]
        if not {"qifsql", "form", "engine"}.isdisjoint(differing):
            raise InputError(
                f"{where} was begun by qifsql {stored.get('qifsql')} with "
                f"{stored.get('engine', 'another engine')}; resume with these versions, or "
                "start over with --restart"
            )
        if differing:
            raise InputError(
                f"{where} is the workspace of another sweep: {', '.join(differing)} differ; "
                "repeat that command to resume it, start over with --restart, or name another "
                "file with --workspace"
            )


def follow_link(path: Path) -> Path:
    """Return the file to which a link leads, another path as it is; InputError without a file."""
    if not path.is_symlink():
        return path
    if not path.exists():
        raise InputError(
            f"the workspace {path} is a broken link; remove it, or name another with --workspace"
        )
    return path.resolve()


def prepare_file(
    engine: LocalEngine, path: Path, dataset: Dataset | Collection, *, restart: bool
) -> None:
    """Check the file of a workspace before it is opened; ``restart`` removes an old one.

    Only a workspace or an empty file is removed. Raises InputError if the file is something else or
    cannot be written, and DatasetError if a running sweep uses it or it is corrupt.
    """
    if why := misplaced(path):
        raise InputError(f"the workspace {path} {why}; name a file with --workspace")
    if any(path.resolve() == Path(file).resolve() for file in dataset.paths):
        raise InputError(f"{path} is the release itself; name another file with --workspace")
    if not os.access(path.parent, os.W_OK):
        raise InputError(
            f"the workspace {path} cannot be made: the folder {path.parent} cannot be written; "
            "name another file with --workspace"
        )
    if not path.exists():
        return
    if not path.is_file():
        raise InputError(f"the workspace {path} is not a file; name another with --workspace")
    if not path.stat().st_size:
        path.unlink()
        return
    _check_is_workspace(engine, path)
    if restart:
        remove(path)


def _check_is_workspace(engine: LocalEngine, path: Path) -> None:
    """Raise an error unless a file, which is not empty, is a workspace that can be opened."""
    try:
        by_duckdb = is_duckdb(path)
    except OSError as e:
        raise InputError(f"the workspace {path} cannot be read: {e.strerror}") from e
    tables, trouble = engine.probe(path) if by_duckdb else (set(), None)
    if trouble is not None and "in use" in str(trouble):
        raise DatasetError(
            f"{path} is the workspace of a running sweep; wait for it, or name another with "
            "--workspace",
            detail=trouble.detail,
        ) from trouble
    if isinstance(trouble, EngineError):
        raise trouble
    if isinstance(trouble, DatasetError):
        raise DatasetError(
            f"the workspace {path} is corrupt or truncated; remove it to start over, or name "
            "another with --workspace",
            detail=trouble.detail,
        ) from trouble
    if not by_duckdb or trouble is not None or (tables and not {"facts", "tasks"} <= tables):
        raise InputError(
            f"{path} is not a workspace of a sweep; name another file with --workspace"
        )


@contextmanager
def lock_workspace(path: Path | None) -> Iterator[None]:
    """Refuse a workspace that another thread of this program uses."""
    if path is None:
        yield
        return
    real = path.resolve()
    with _LOCK:  # the lock of the file stops only other programs
        if real in _OPEN:
            raise DatasetError(
                f"{path} is the workspace of a running sweep; wait for it, or name another "
                "with --workspace"
            )
        _OPEN.add(real)
    try:
        yield
    finally:
        with _LOCK:
            _OPEN.discard(real)


def _rows_with(table: str, values: Mapping[str, Any]) -> exp.Select:
    """Return the query of the rows of a table whose columns have ``values``."""
    query = exp.select("*").from_(f"{STORE}.main.{table}")
    for name, value in values.items():
        column = exp.column(name)
        if isinstance(value, tuple):  # a range
            first, last = map(exp.convert, value)
            query = query.where(column.between(first, last))
        elif isinstance(value, list):  # any of these
            query = query.where(column.isin(*value))
        else:
            query = query.where(exp.EQ(this=column, expression=exp.convert(value)))
    return query


def identity_of_data(engine: LocalEngine, attack: Attack, microdata: Microdata) -> dict[str, Any]:
    """Return what distinguishes the people of a sweep from those of another one."""
    dataset, where = microdata.dataset, microdata.where
    person, weight = microdata.person, microdata.weight
    versions = None  # of the data, if Spark reads them
    if engine.settings.engine_name == "spark":
        from qifsql.engine.distributed import Spark

        spark = cast("Spark", engine)
        versions = [spark.file_states(d) for d in dataset.datasets if d.format == "spark"]
    return {
        "dataset": [dataset.name, dataset.table],
        "contents": [d["sha256"] for d in digests(dataset.paths)],
        "csv": dataset.identity_of_reading,
        "quasi-identifiers": [[q.name, render(q.expression)] for q in microdata.qids],
        "secrets": [[s.name, render(s.expression)] for s in microdata.secrets],
        "collection": attack.asked_of_collection,
        "weight": render(weight.expression) if weight else None,
        "where": render(where) if where is not None else None,
        "null": microdata.null,
        **({"person": render(person.expression)} if person is not None else {}),
        "cluster": versions,
    }
