"""Store results batch by batch, in a file or in memory."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlglot import exp

from qifsql import __version__
from qifsql.counting.scales import own_name, own_table
from qifsql.data.files import misplaced, parsed_json
from qifsql.data.readers import LOADED, STORE
from qifsql.engine import ledger
from qifsql.engine.connections import Stream
from qifsql.engine.engines import open_engine
from qifsql.engine.protocol import Engine
from qifsql.errors import DatasetError, InputError, OutputError
from qifsql.query.plan import Plan
from qifsql.query.render import adding, dropping, keeping, render
from qifsql.results.storage import digests

FORM = 2  # version of the tables' form
TABLES = {"asked", "finished", "apart"}  # the question, the batches that are done, distances
BATCH = "found_in_batch"  # the table of one batch's results, before they are stored
APART = {
    **dict.fromkeys(("run", "target", "people"), "BIGINT"),
    **dict.fromkeys(("emd_printed", "emd", "max_divergence", "emd_hierarchy"), "DOUBLE"),
    **dict.fromkeys(("with_target", "without_target"), "BIGINT"),
}


class Store:
    """The table ``kept.apart`` of all distances, and the list of finished batches."""

    def __init__(
        self, engine: Engine, stream: Stream, path: Path | None, question: Mapping[str, Any]
    ):
        """Open the store at ``path`` (None: in memory) if it is of this question, or create it."""
        self.stream = stream
        text = json.dumps(dict(question), sort_keys=True, default=str)
        try:
            tables = engine.open_kept(path)
        except DatasetError as e:
            raise InputError(
                f"the store {path} cannot be made or opened; name another file with --store",
                detail=e.detail,
            ) from e
        if not tables:
            self._create(text)
        elif not tables >= TABLES:
            raise InputError(f"{path} is not a store of dit; name another file with --store")
        else:
            self._resume(path, tables, parsed_json(text))

    def _create(self, question: str) -> None:
        """Create the tables of a new store, with the question as JSON."""
        with self.stream.transaction():
            self._make("asked", {"told": "VARCHAR"})
            self._make("finished", {"run": "BIGINT", "batch": "BIGINT"})
            self._make("apart", APART)
            row = exp.select(exp.alias_(exp.Literal.string(question), "told"))
            self.stream.rows(adding(Plan((), row), "asked", STORE))
            ledger.begin(self.stream)
            ledger.enter(self.stream, "asked")

    def _resume(self, path: Path | None, tables: set[str], question: Mapping[str, Any]) -> None:
        """Refuse a store that is of another question, or does not hold what was stored in it."""
        damaged = (
            f"the store {path} is damaged: it does not hold what was stored in it; start over "
            "with --restart, or name another file with --store"
        )
        with ledger.readable(damaged):
            ((text,),) = self.stream.rows(render(exp.select("told").from_(_table("asked"))))
            stored = parsed_json(text)
        differing = [name for name, setting in question.items() if stored.get(name) != setting]
        if differing:
            raise InputError(
                f"{path} is the store of another question: {', '.join(differing)} differ; "
                "repeat that command to resume it, start over with --restart, or name another "
                "file with --store"
            )
        ledger.check(self.stream, tables, damaged)

    def finished(self) -> set[tuple[int, int]]:
        """Return the batches that are finished, as (run, batch)."""
        rows = exp.select("run", "batch").from_(_table("finished"))
        return {(run, batch) for run, batch in self.stream.rows(render(rows))}

    def finish(self, plan: Plan, run: int, batch: int) -> None:
        """Store the distances of a batch, which ``plan`` computes, and list it as finished."""
        pair = {"run": run, "batch": batch}.items()
        named = [exp.cast(exp.convert(number), "BIGINT").as_(name) for name, number in pair]
        distances = exp.select("*").from_(own_table(BATCH))
        self.stream.rows(keeping(plan, BATCH, LOADED, again=True))
        with self.stream.transaction():
            for name, rows in (("apart", distances), ("finished", exp.select(*named))):
                self.stream.rows(adding(Plan((), rows), name, STORE))
                ledger.enter(self.stream, name, rows)
        self.stream.rows(dropping(own_name(BATCH)))

    def _make(self, name: str, columns: Mapping[str, str]) -> None:
        """Create an empty table of the store, with types by column."""
        empty = [exp.cast(exp.null(), type_).as_(column) for column, type_ in columns.items()]
        self.stream.rows(keeping(Plan((), exp.select(*empty).where(exp.false())), name, STORE))


def identity(question: Mapping[str, Any], paths: tuple[str, ...]) -> dict[str, Any]:
    """Return what a store must share to be resumed: question, digests of inputs, versions."""
    inputs = [digest["sha256"] for digest in digests(paths)]
    versions = {"form": FORM, "qifsql": __version__, "engine": ledger.ENGINE}
    return {**versions, **question, "inputs": inputs}


def prepare(path: Path, sources: tuple[str, ...], *, restart: bool) -> Path:
    """Check the path of a store and return it; ``restart`` removes an old store.

    Raises OutputError if the path cannot be used, InputError if the old file is not a store.
    """
    if why := misplaced(path):
        raise OutputError(f"the store {path} {why}; name a file with --store")
    if any(path.resolve() == Path(source).resolve() for source in sources):
        raise OutputError(f"{path} is the input; name another file with --store")
    if restart and path.exists():
        with open_engine(sources=[path]) as engine:
            tables, trouble = engine.probe(path)
        if trouble is not None or not tables >= TABLES:
            raise InputError(
                f"{path} is not a store of dit, so it is not removed; name another file"
            )
        path.unlink()
        path.with_name(f"{path.name}.wal").unlink(missing_ok=True)
    return path


def _table(name: str) -> exp.Table:
    """Return a table of the store."""
    return exp.table_(name, db="main", catalog=STORE)
