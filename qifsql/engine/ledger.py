"""A ledger in a file of stored tables: the number of rows of each table, and a digest of them.

Rows are entered in the ledger in the transaction that stores them, and compared with it before
they are used again. DuckDB's checksums of blocks do not detect missing rows or two exchanged
blocks; a digest of the contents of the rows does.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import cast

from sqlglot import exp

from qifsql.data.expressions import filled
from qifsql.data.readers import STORE
from qifsql.engine.connections import Stream
from qifsql.errors import DatasetError, EngineError, Interrupted, QifError
from qifsql.query.columns import without_rows
from qifsql.query.render import render

LEDGER = "ledger"  # the table, in the file itself
ENGINE = f"duckdb {version('duckdb')}"  # its hash function computes the digests
# One row: the number of rows and their digest, for rows in any order. The digest includes the types
# and names of the columns. Hashes are added, because two equal rows would cancel each other in an
# exclusive or.
SUMS = """
    SELECT
        count(*) AS rows,
        CAST(coalesce(sum(hash(hash(entered), typeof(entered))), 0) AS HUGEINT) AS digest
    FROM stored
"""
ENTRY = "SELECT title AS name, sign * rows AS rows, sign * digest AS digest FROM sums"


def begin(stream: Stream) -> None:
    """Create the ledger of a new file."""
    columns = {"name": "VARCHAR", "rows": "BIGINT", "digest": "HUGEINT"}
    create = exp.Create(this=_table(LEDGER), kind="TABLE", expression=without_rows(columns))
    stream.rows(render(create))  # a row per change of a table; those of a table add up


def enter(stream: Stream, name: str, rows: exp.Query | None = None, *, gone: bool = False) -> None:
    """Add the number and digest of rows of the table ``name`` to the ledger, by default of all.

    ``gone``: subtract them, for rows that will be deleted. Call this in the transaction that stores
    or deletes the rows.
    """
    sums = _sums(_table(name) if rows is None else rows.subquery())
    words = {
        "title": exp.Literal.string(name),
        "sign": exp.Literal.number(-1 if gone else 1),
        "sums": sums.subquery("sums"),
    }
    stream.rows(render(exp.insert(filled(ENTRY, words), _table(LEDGER))))


def strike(stream: Stream, name: str) -> None:
    """Remove the entries of a table, in the transaction that drops it."""
    stream.rows(render(exp.delete(_table(LEDGER), where=exp.column("name").eq(name))))


def check(stream: Stream, tables: set[str], damaged: str) -> set[str]:
    """Compare all tables with the ledger; return the names of the tables that it lists.

    Raises DatasetError with the message ``damaged`` if a table is missing, cannot be read, or
    differs from what was stored.
    """
    if LEDGER not in tables:
        raise DatasetError(damaged)
    with readable(damaged):
        changes = exp.select("name", "sum(rows)", "sum(digest)").from_(_table(LEDGER))
        # a row per table: its name, number of rows and digest, by the ledger
        entries = stream.rows(render(changes.group_by("name")))
        listed = {name for name, *_ in entries}
        if not listed <= tables:
            raise DatasetError(damaged)
        for name, *entered in entries:
            (stored,) = stream.rows(render(_sums(_table(name))))
            if stored != tuple(entered):
                raise DatasetError(damaged)
    return listed


def sums(stream: Stream, table: str) -> list[int]:
    """Return the number of rows of a table and their digest, whatever their order."""
    return list(stream.rows(render(_sums(exp.to_table(table))))[0])


@contextmanager
def readable(damaged: str) -> Iterator[None]:
    """Raise DatasetError with the message ``damaged`` if reading fails inside the context."""
    try:
        yield
    except (EngineError, Interrupted):
        raise
    except (QifError, ValueError, LookupError, TypeError, AttributeError) as e:
        detail = e.detail if isinstance(e, QifError) else None
        raise DatasetError(damaged, detail=detail) from e


def _sums(rows: exp.Expr) -> exp.Query:
    """Return the query of the number and the digest of the rows of a table or subquery."""
    query = filled(SUMS, {"stored": exp.alias_(rows, "entered", table=True)})
    return cast("exp.Query", query)


def _table(name: str) -> exp.Table:
    """Return a table of the file of stored tables."""
    return exp.table_(exp.to_identifier(name, quoted=True), db="main", catalog=STORE)
