"""The walk that finds the subsets that single out records, chunk by chunk.

The records of a chunk have whole blocks of its first quasi-identifier, which each subset takes. The
others are taken or dropped one by one. A record that is alone in its block is noted with the subset
that the block took, and leaves the walk: larger subsets single it out, too, so that they are not
minimal. A quasi-identifier that does not vary in a block is dropped: with or without it the block
is the same. Every minimal sample unique is noted, and some subsets that single out a record but are
not minimal, because the order of taking decides which are seen (M141).

``sql/suda.sql`` explains the tables. Related work: SUDA2 (Manning, Haglin and Keane 2008),
bottom-up cubes (Beyer and Ramakrishnan 1999).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from sqlglot import exp

from qifsql.commands.suda.packing import Packing
from qifsql.counting.scales import own_name
from qifsql.data.readers import LOADED
from qifsql.engine.connections import Stream
from qifsql.query import render
from qifsql.query.columns import fold, typed_number
from qifsql.query.plan import Plan
from qifsql.query.splice import splice

ENDING = 1 << 30  # added to the turn of a block that ends
SHARED = ("numbered", "candidates", "scores", "set_counts", "value_counts")
"""Tables of the engine that all streams read or fill; others belong to one stream."""


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """Rows of a coded table whose first quasi-identifier has a code from ``least`` to ``greatest``.

    ``position`` is that of the first quasi-identifier.
    """

    position: int
    least: int
    greatest: int
    rows: int

    @property
    def table(self) -> str:
        """Return the name of the coded table."""
        return coded_name(self.position)


def coded_name(position: int) -> str:
    """Return the name of the table of the quasi-identifiers from a position on."""
    return f"coded_{position}"


class Walker:
    """One stream and its session: the variables and temporary tables of the walk.

    Subsets of at most ``size_limit`` quasi-identifiers are looked for.
    """

    def __init__(self, stream: Stream, packing: Packing, size_limit: int) -> None:
        self.stream = stream
        self.packing = packing
        self.size_limit = size_limit
        self._history: dict[str, None] = {}
        macro = varying_macro(packing)
        stream.rows(macro)
        self._history[macro] = None
        self.set(
            n=(packing.n, "INTEGER"),
            every=(packing.every, "BIGINT"),
            states=(1 << 2 * packing.n, packing.block_type),
            most=(size_limit, "INTEGER"),
            ending=(ENDING, "BIGINT"),
        )
        self.set_lists(bits=([1 << p for p in range(packing.n)], "BIGINT"))

    @property
    def history(self) -> list[str]:
        """Return the statements that ran, each once, except those that set variables."""
        return list(self._history)

    def set(self, **values: tuple[int, str]) -> None:
        """Set variables of the session: each a whole number and its type."""
        for name, (number, kind) in values.items():
            self.stream.rows(render.setting(name, typed_number(number, kind), variable=True))

    def set_lists(self, **values: tuple[Sequence[int], str]) -> None:
        """Set variables of the session: each a list of whole numbers and their type."""
        for name, (numbers, kind) in values.items():
            items = exp.Array(expressions=[typed_number(number, kind) for number in numbers])
            self.stream.rows(render.setting(name, items, variable=True))

    def make(self, name: str, file: str, **tables: str) -> int:
        """Store the rows of a view in a temporary table; return their number."""
        return self.stream.count(self._note(_create_statement(name, file, *tables.items())))

    def add(self, name: str, file: str, **tables: str) -> int:
        """Add the rows of a view to a table that all streams fill; return their number."""
        return self.stream.count(self._note(_insert_statement(name, file, *tables.items())))

    def rows(self, file: str, **tables: str) -> list[tuple[int, ...]]:
        """Return the rows of a view, which are few."""
        return self.stream.rows(self._note(_select_statement(file, *tables.items())))

    def walk(self, chunk: Chunk) -> None:
        """Add the subsets with the chunk's first quasi-identifier that single out its records."""
        table = {"coded": own_name(chunk.table)}
        self.set(least=(chunk.least, "INTEGER"), greatest=(chunk.greatest, "INTEGER"))
        self.set(bit=(1 << chunk.position, "BIGINT"), blocks=(0, "BIGINT"))
        self.make("blocks", "entered_blocks", **table)
        self.add("candidates", "alone")
        blocks = self.make("children", "children")
        if not blocks:
            return
        self.make("live", "entered", **table)
        self.add("candidates", "ended")
        for position in range(chunk.position + 1, self.packing.n):
            self._turn_to(position, blocks)
            ((here, going_on),) = self.rows("turns")
            if not going_on:
                break
            if here:
                blocks += self._split()

    def _turn_to(self, position: int, blocks: int) -> None:
        kind = self.packing.rest_type
        self.set(
            bit=(1 << position, "BIGINT"),
            after=(self.packing.every & ~((2 << position) - 1), "BIGINT"),
            field=(self.packing.field(position), kind),
            later=(self.packing.later(position), kind),
            blocks=(blocks, "BIGINT"),
        )

    def _split(self) -> int:
        """Split the blocks whose turn it is; return the number of new blocks."""
        self.make("blocks", "parts")
        self.add("candidates", "alone")
        blocks = self.make("children", "children")
        self.make("live", "onward")
        self.add("candidates", "ended")
        return blocks

    def _note(self, sql: str) -> str:
        self._history[sql] = None
        return sql


@cache
def varying_macro(packing: Packing) -> str:
    """Return the statement of the macro that turns bits that differ into quasi-identifiers."""
    terms: list[exp.Expr] = [typed_number(0, "BIGINT")]
    for position in range(1, packing.n):
        field = typed_number(packing.field(position), packing.rest_type)
        differs = exp.NEQ(
            this=exp.paren(exp.BitwiseAnd(this=exp.column("x"), expression=field)),
            expression=exp.Literal.number(0),
        )
        flag = exp.cast(exp.paren(differs), "BIGINT", dialect=render.DUCKDB)
        terms.append(exp.Mul(this=flag, expression=exp.Literal.number(1 << position)))
    return render.macro("varying", ("x",), fold(exp.Add, terms))


@cache
def _create_statement(name: str, file: str, *tables: tuple[str, str]) -> str:
    return render.creating(name, _query(file, tables))


@cache
def _insert_statement(name: str, file: str, *tables: tuple[str, str]) -> str:
    return render.adding(Plan((), _query(file, tables)), name, LOADED)


@cache
def _select_statement(file: str, *tables: tuple[str, str]) -> str:
    return render.render(_query(file, tables))


def _query(file: str, tables: Iterable[tuple[str, str]]) -> exp.Query:
    """Return the query of a view; ``tables`` replace names, shared tables get their full names."""
    names = {name: own_name(name) for name in SHARED}
    return splice(f"suda/{file}", tables={**names, **dict(tables)})
