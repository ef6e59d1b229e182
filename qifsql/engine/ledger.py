"""A ledger in a file of stored tables: the number of rows of each table, and a digest of them.

Rows are entered in the ledger in the transaction that stores them, and compared with it before
they are used again. DuckDB's checksums of blocks do not detect missing rows or two exchanged
blocks; a digest of the contents of the rows does.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version

from sqlglot import exp

from qifsql.data.readers import STORE
from qifsql.engine.connections import Stream
from qifsql.errors import DatasetError, EngineError, Interrupted, QifError
from qifsql.query.columns import without_rows
from qifsql.query.render import render

LEDGER = "ledger"  # the table, in the file itself
ENGINE = f"duckdb {version('duckdb')}"  # its hash function computes the digests
_ROWS = "entered"  # the alias of the rows that are digested


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
    count, digest = ((exp.Neg(this=sum_) if gone else sum_) for sum_ in _sum_columns())
    title = exp.alias_(exp.Literal.string(name), "name")
    entry = exp.select(title, count, digest).from_(_source(name, rows))
    stream.rows(render(exp.insert(entry, _table(LEDGER))))


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
            (stored,) = stream.rows(render(exp.select(*_sum_columns()).from_(_source(name))))
            if stored != tuple(entered):
                raise DatasetError(damaged)
    return listed


def sums(stream: Stream, table: str) -> list[int]:
    """Return the number of rows of a table and their digest, whatever their order."""
    source = exp.alias_(exp.to_table(table), _ROWS, table=True)
    return list(stream.rows(render(exp.select(*_sum_columns()).from_(source)))[0])


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


def _sum_columns() -> tuple[exp.Expr, exp.Expr]:
    """Return the number of rows and their digest, for rows in any order.

    The digest includes the types and names of the columns. Hashes are added, because two equal
    rows would cancel each other in an exclusive or.
    """
    row = exp.column(_ROWS)
    kind = exp.func("typeof", row.copy(), dialect="duckdb")
    mixed = exp.func("hash", exp.func("hash", row), kind, dialect="duckdb")
    total = exp.func("coalesce", exp.Sum(this=mixed), exp.Literal.number(0))
    return exp.Count(this=exp.Star()), exp.cast(total, "HUGEINT", dialect="duckdb")


def _source(name: str, rows: exp.Query | None = None) -> exp.Expr:
    """Return what ``_sum_columns`` reads: a query's rows, by default all of the table ``name``."""
    return exp.alias_(_table(name) if rows is None else rows.subquery(), _ROWS, table=True)


def _table(name: str) -> exp.Table:
    """Return a table of the file of stored tables."""
    return exp.table_(exp.to_identifier(name, quoted=True), db="main", catalog=STORE)
