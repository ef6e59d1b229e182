"""A worker: one stream that is set up for one pass, and the statements that it can run.

The statements are the files of ``sql/sweep/``. In a file, ``word`` is a 128-bit integer that packs
the counters of a block; it becomes several words if the counters need them.
"""

from functools import cache, cached_property, partial
from typing import NamedTuple

import pyarrow as pa
from sqlglot import exp

from qifsql.commands.sweep.layout import Layout
from qifsql.commands.sweep.plan import Chunk
from qifsql.commands.sweep.spec import Sizes
from qifsql.counting.stream_session import Statements, StreamSession, varying_macro
from qifsql.engine.connections import Stream
from qifsql.query.columns import fold, without_rows
from qifsql.query.render import creating, macro, render
from qifsql.query.shapes import Shape
from qifsql.query.splice import splice
from qifsql.query.templates import exists, script

BLOCK_BITS = 28  # bits for the numbers of the blocks of a chunk
MANY_VARY, TWO_VARY = 3 << 28, 2 << 28  # how many attributes vary, added to the bit in a turn
FORGET = render(exp.delete("settled"))
_literal = exp.Literal.number


class Sums(NamedTuple):
    """People in all blocks of a subset: how many, and for how many the best guess is right.

    ``mode`` is the number of those for whom it is right, ``certain`` of those for whom it is
    certainly right.
    """

    people: int
    mode: int
    certain: int


@cache
def statements_for(words: int, *, valued: bool = False) -> Statements:
    """Return the statements of passes with so many words, created once for all streams."""
    return Statements(partial(pass_query, words, valued))


def pass_query(words: int, valued: bool, file: str, **tables: str) -> exp.Query:
    """Return the query of the view ``file`` for a pass whose counters fill ``words`` words.

    A word is a column that packs several counters of a block. ``tables`` has the names of tables
    for the placeholders of the view. In a ``valued`` pass, which counts one secret of many values,
    a view of ``sql/sweep_valued`` replaces that of ``sql/sweep``.
    """
    variant = f"sweep_valued/{file}"
    view = variant if valued and exists(variant) else f"sweep/{file}"
    query = splice(view, words=words, tables=tables)
    if valued:  # a word is one counter
        for cast in list(query.find_all(exp.Cast)):
            if cast.is_type(exp.DataType.Type.INT128):
                cast.set("to", exp.DataType.build("BIGINT", dialect="duckdb"))
    return query


class Worker(StreamSession):
    """One stream and its session: macros, variables, temporary tables.

    A stream is prepared for a pass by the first statement that may need it, and stays so: its
    macros take longer than most statements. Only subsets of the ``sizes`` are measured.

    Settled blocks are collected in the temporary table ``settled``, and summed up in ``found``.
    ``compiled``: the walk is that of ``numba_kernel``, which writes ``found`` (``summed``).
    """

    def __init__(
        self, stream: Stream, layout: Layout, sizes: Sizes, *, compiled: bool = False
    ) -> None:
        """Collect the macros of the pass; the stream is prepared later (``prepare``)."""
        super().__init__(stream, statements_for(layout.words, valued=layout.valued))
        self.layout = layout
        self.sizes = sizes
        self.compiled = compiled
        self.summed = False
        fields = tuple((1 << p, layout.field(p)) for p in range(1, layout.n))
        self._macros = [
            *script("sweep/macros"),
            varying_macro(fields, layout.rest_type),
            packing_macro(layout.width, layout.key_type),
        ]

    def prepare(self) -> None:
        """Create the macros, the variables of the pass, and the empty table ``settled``, once."""
        layout, sizes = self.layout, self.sizes
        if self.stream.prepared == (layout, sizes):
            return
        # The bits of the first word that count people: all, if a word is one counter.
        counted = (-1, "BIGINT") if layout.valued else (layout.counter_mask, "HUGEINT")
        self.stream.rows(";".join(self._macros))
        self.set(
            n=(layout.n, "INTEGER"),
            every=(layout.all_attributes, "BIGINT"),
            whole_state=((1 << 2 * layout.n) - 1, "BIGINT"),  # the bits of a state
            states=(1 << 2 * layout.n, layout.block_type(BLOCK_BITS)),  # the number of states
            of_people=counted,
            most=(sizes.greatest, "BIGINT"),  # attributes that a subset may take
            spare=(layout.n - sizes.least, "BIGINT"),  # attributes that it may drop
            two=(TWO_VARY, "INTEGER"),
            secret=((1 << layout.bits_below) - 1, layout.rest_type),
            secret_bits=(layout.bits_below, "INTEGER"),
        )
        self.stream.rows(settled_table(layout.words, valued=layout.valued))
        self.stream.prepared = layout, sizes

    @property
    def history(self) -> list[str]:
        """Return the sent statements, each once, except those that set variables."""
        return [*self._macros, *super().history]

    def record(self, statement: str) -> str:
        """Enter a statement in the history, and prepare the stream for it; return it."""
        self.prepare()
        return super().record(statement)

    def limit_to(self, chunk: Chunk) -> None:
        """Limit the next statements to the rows of the chunk."""
        self.set(least=(chunk.least, "INTEGER"), greatest=(chunk.greatest, "INTEGER"))

    def turn_to_attribute(self, bit: int, *, field: int, later: int) -> None:
        """Set the attribute whose turn it is in the next statements by its ``bit`` in a state.

        ``field`` are the bits of ``rest`` with its code, ``later`` those with the codes after it.
        A block whose turn it is has the turn ``this`` if more than two attributes vary in it, and
        ``this_and_another`` if two do.
        """
        self.set(
            bit=(bit, "BIGINT"),
            this=(bit | MANY_VARY, "INTEGER"),
            this_and_another=(bit | TWO_VARY, "INTEGER"),
            field=(field, self.layout.rest_type),
            later=(later, self.layout.rest_type),
        )

    def add_settled(self, file: str, **tables: str) -> None:
        """Add the rows of a view to the settled blocks."""
        self.add_rows("settled", file, **tables)

    def sum_up(self) -> None:
        """Sum up the settled blocks by state, question and percent, in the table ``found``."""
        if self.summed:  # the compiled walk has done it
            return
        self.prepare()
        self.stream.rows(self._create_kinds)
        self.make_table("found", "found")

    @cached_property
    def _create_kinds(self) -> str:
        return creating("kinds", kinds_query(self.layout))

    def forget_settled(self) -> None:
        """Delete the settled blocks."""
        self.summed = False
        if self.stream.prepared == (self.layout, self.sizes):
            self.stream.rows(FORGET)

    def read_columns(self, query: exp.Query) -> pa.Table:
        """Return the rows of a query that needs no macros, as columns."""
        return self.stream.arrow(super().record(render(query)))


@cache
def packing_macro(width: int, kind: str) -> str:
    """Return the macro that packs the codes of the first attribute and of the rest in one key."""
    entry = exp.BitwiseLeftShift(this=typed(exp.column("entry"), kind), expression=_literal(width))
    both = exp.BitwiseOr(this=exp.paren(entry), expression=typed(exp.column("rest"), kind))
    return macro("packed", ("entry", "rest"), both)


def user_order_macro(layout: Layout) -> str:
    """Return the macro ``as_named``: bits of a subset by position to those in the user's order."""
    terms: list[exp.Expr] = []
    for position, i in enumerate(layout.order):
        shifted = exp.BitwiseRightShift(this=exp.column("x"), expression=_literal(position))
        bit = exp.BitwiseAnd(this=exp.paren(shifted), expression=_literal(1))
        terms.append(exp.paren(exp.BitwiseLeftShift(this=exp.paren(bit), expression=_literal(i))))
    return macro("as_named", ("x",), typed(exp.paren(fold(exp.BitwiseOr, terms)), "UINTEGER"))


@cache
def settled_table(words: int, *, valued: bool) -> str:
    """Return the statement that creates the empty table ``settled``."""
    counts = {f"word_{i}": "HUGEINT" for i in range(1, words + 1)}
    if valued:
        counts = dict.fromkeys(("size", "mode", "values"), "BIGINT")
    return creating("settled", without_rows({"state": "BIGINT", **counts, "blocks": "BIGINT"}))


def kinds_query(layout: Layout) -> exp.Select:
    """Return the query that counts settled blocks by state, question and kind.

    Blocks of a kind have the same people, right guesses and values of the secret, which are read
    from the counters. The query gets the place of each: its word, and the bits below it there.
    """
    counters: dict[int, list[Shape]] = {0: []} if layout.owners else {}  # by question
    counters |= {j: [] for j in layout.secrets}
    for i, (j, _) in enumerate(layout.counters, 1):
        counters[j].append(layout.place(i))
    shape: dict[str, Shape] = {
        "valued": layout.valued,
        "mask": layout.counter_mask,
        "people": layout.place(0),
        "questions": list(counters.items()),
    }
    return splice("sweep/kinds", shape=shape)


def typed(tree: exp.Expr, kind: str) -> exp.Expr:
    """Return a cast to a type by its name in DuckDB."""
    return exp.cast(tree, kind, dialect="duckdb")
