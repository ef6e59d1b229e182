"""A worker: one stream that is set up for one pass, and the few things it can be told."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from qifsql.commands.sweep import statements
from qifsql.commands.sweep.layout import Layout
from qifsql.commands.sweep.spec import Sizes
from qifsql.commands.sweep.statements import spoken
from qifsql.engine.connections import Stream
from qifsql.query.render import setting

Sums = tuple[int, int, int]  # people, those the best guess is right for, those it is certain for
MANY, TWO = 3 << 28, 2 << 28  # what a turn says beside the attribute: how many vary


@dataclass(frozen=True)
class Chunk:
    """Rows of a coded table whose ``entry`` is from ``least`` to ``greatest``.

    ``position`` is that of the attribute in ``entry``, ``state`` what was decided before it.
    """

    table: str
    position: int
    state: int
    least: int
    greatest: int
    rows: int


def macros(layout: Layout) -> list[str]:
    """The statements that define the words of a pass."""
    fields = tuple((1 << p, layout.field(p)) for p in range(1, layout.n))
    return [
        *statements.macros(),
        statements.varying(fields, layout.rest_type),
        statements.keyed(layout.n, layout.block_type),
        statements.packed(layout.width, layout.key_type),
        statements.people(layout.counter_bits, valued=layout.valued),
    ]


class Worker:
    """One stream and its session: macros, variables, temporary tables.

    Only subsets of the ``sizes`` are looked at. What is settled is collected in the
    temporary table ``settled`` until it is taken from there.
    """

    def __init__(self, stream: Stream, layout: Layout, sizes: Sizes) -> None:
        self.stream = stream
        self.layout = layout
        self.say = spoken(layout.words, valued=layout.valued)
        self._history: dict[str, None] = {}
        self._macros = macros(layout)
        stream.rows(";".join(self._macros))
        self.set(
            n=(layout.n, "INTEGER"),
            every=(layout.every, "BIGINT"),
            whole_state=((1 << 2 * layout.n) - 1, "BIGINT"),
            most=(sizes.most, "BIGINT"),
            spare=(layout.n - sizes.least, "BIGINT"),
            two=(TWO, "INTEGER"),
            secret=((1 << layout.secret_bits) - 1, layout.rest_type),
            secret_bits=(layout.secret_bits, "INTEGER"),
        )
        stream.rows(statements.settled(layout.words, valued=layout.valued))

    def set(self, **values: tuple[int, str]) -> None:
        """Set variables of the session: each a number and its type."""
        self.stream.rows(statements.variables(values))

    def set_lists(self, **values: Sequence[int]) -> None:
        """Set variables of the session: each a list of whole numbers."""
        for name, numbers in values.items():
            items = exp.Array(expressions=[exp.Literal.number(x) for x in numbers])
            self.stream.rows(setting(name, statements.typed(items, "BIGINT[]"), variable=True))

    def look_at(self, chunk: Chunk) -> None:
        """Let statements see the chunk's rows only."""
        self.set(least=(chunk.least, "INTEGER"), greatest=(chunk.greatest, "INTEGER"))

    def turn_to(self, bit: int, *, field: int, later: int) -> None:
        """Let statements speak of one attribute: its bit, the bits of its code, what follows."""
        self.set(
            bit=(bit, "BIGINT"),
            this=(bit | MANY, "INTEGER"),
            this_and_another=(bit | TWO, "INTEGER"),
            field=(field, self.layout.rest_type),
            later=(later, self.layout.rest_type),
        )

    def make(self, name: str, file: str, **tables: str) -> int:
        """Make the rows of a file a temporary table; how many there are."""
        return self.stream.count(self._note(self.say.table(name, file, **tables)))

    def see(self, name: str, file: str, **tables: str) -> None:
        """Let a temporary view show the rows of a file."""
        self.stream.rows(self._note(self.say.view(name, file, **tables)))

    def settle(self, file: str, **tables: str) -> None:
        """Add the rows of a file to what is settled."""
        self.stream.rows(self._note(self.say.insert("settled", file, **tables)))

    def forget(self) -> None:
        """Take back what was settled."""
        self.stream.rows(statements.emptied("settled"))

    @property
    def history(self) -> list[str]:
        """The statements that were sent, each once, but for those that set variables."""
        return [*self._macros, *self._history]

    def look(self, file: str, **tables: str) -> tuple[int, ...]:
        """The one row of a file."""
        return self.rows(file, **tables)[0]

    def rows(self, file: str, **tables: str) -> list[tuple[int, ...]]:
        """The rows of a file."""
        return self.stream.rows(self._note(self.say.select(file, **tables)))

    def _note(self, statement: str) -> str:
        self._history[statement] = None
        return statement
