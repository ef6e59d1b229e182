"""The session of one stream: its variables, and statements from ``sql/`` that it sends many times.

The walks of ``sweep`` and ``suda`` send the same statements thousands of times over one connection
each; only the variables of the session differ. The text of a statement is written once.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, lru_cache, partial

from sqlglot import exp

from qifsql.engine.connections import Stream
from qifsql.engine.protocol import LocalEngine
from qifsql.query.columns import fold, typed_number
from qifsql.query.render import creating, macro, render, setting, viewing


@contextmanager
def opened_streams(engine: LocalEngine, count: int, where: str = "") -> Iterator[list[Stream]]:
    """Open ``count`` streams, each with one thread; close them at the end."""
    with engine.single_threaded(), ExitStack() as closed_at_end:
        streams = [engine.stream(where) for _ in range(count)]
        for stream in streams:
            closed_at_end.callback(stream.close)
        yield streams


Writer = Callable[[str, exp.Query], str]
"""Write a statement about the table or view of a name and the rows of a query."""

keeping: Writer = partial(creating, temporary=False)  # a lasting table of the rows


def inserting(name: str, query: exp.Query) -> str:
    """Return the statement that adds the rows of a query to a table."""
    return render(exp.insert(query, name))


def selecting(_name: str, query: exp.Query) -> str:
    """Return a query as text; nothing gets the name."""
    return render(query)


class Statements:
    """Texts of statements, each written once; ``query`` returns that of a view with its tables."""

    def __init__(self, query: Callable[..., exp.Query]) -> None:
        self.query = query
        self._texts: dict[tuple[object, ...], str] = {}

    def text(self, write: Writer, name: str, file: str, **tables: str) -> str:
        """Return what ``write`` makes of the view ``file`` of ``sql/``, which reads ``tables``.

        ``name`` is the table or view that the statement fills.
        """
        key = (write, name, file, *tables.values())
        if key not in self._texts:
            self._texts[key] = write(name, self.query(file, **tables))
        return self._texts[key]


class StreamSession:
    """One stream and its session: variables, temporary tables, and the sent statements."""

    def __init__(self, stream: Stream, statements: Statements) -> None:
        self.stream = stream
        self.statements = statements
        self._history: dict[str, None] = {}

    @property
    def history(self) -> list[str]:
        """Return the sent statements, each once, except those that set variables."""
        return list(self._history)

    def set(self, **values: tuple[int, str]) -> None:
        """Set variables of the session: each a whole number and its type."""
        self.stream.rows(";".join(_setting(name, *value) for name, value in values.items()))

    def set_lists(self, **values: Sequence[int]) -> None:
        """Set variables of the session: each a list of whole numbers."""
        for name, numbers in values.items():
            items = exp.cast(exp.Array(expressions=[exp.Literal.number(n) for n in numbers]), LIST)
            self.stream.rows(setting(name, items, variable=True))

    def make_table(self, name: str, file: str, **tables: str) -> int:
        """Store the rows of a view in a temporary table; return their number."""
        return self.stream.count(self._recorded(creating, name, file, tables))

    def make_view(self, name: str, file: str, **tables: str) -> None:
        """Create a temporary view of the rows of a view."""
        self.stream.rows(self._recorded(viewing, name, file, tables))

    def add_rows(self, name: str, file: str, **tables: str) -> int:
        """Add the rows of a view to a table; return their number."""
        return self.stream.count(self._recorded(inserting, name, file, tables))

    def rows(self, file: str, **tables: str) -> list[tuple[int, ...]]:
        """Return the rows of a view, which are few."""
        return self.stream.rows(self._recorded(selecting, "", file, tables))

    def _recorded(self, write: Writer, name: str, file: str, tables: Mapping[str, str]) -> str:
        return self.record(self.statements.text(write, name, file, **tables))

    def record(self, statement: str) -> str:
        """Enter a statement in the history; return it."""
        self._history[statement] = None
        return statement


LIST = exp.DataType.build("BIGINT[]", dialect="duckdb")


@lru_cache(maxsize=10_000)
def _setting(name: str, value: int, kind: str) -> str:
    """Return the statement that sets a variable to a whole number of a type (``kind``)."""
    return setting(name, typed_number(value, kind), variable=True)


@cache
def varying_macro(fields: tuple[tuple[int, int], ...], kind: str) -> str:
    """Return the SQL macro ``varying(x)``: the sum of the bits of the attributes that differ.

    ``x`` is an integer of type ``kind`` with the bits in which two packed records differ. A field
    is an attribute: its bit in the sum (1, 2, 4, ...), and the mask of its code in ``x``.
    """
    terms: list[exp.Expr] = [exp.cast(exp.Literal.number(0), "BIGINT")]
    for bit, mask in fields:
        code_bits = exp.BitwiseAnd(this=exp.column("x"), expression=typed_number(mask, kind))
        differs = exp.NEQ(this=exp.paren(code_bits), expression=exp.Literal.number(0))
        flag = exp.cast(exp.paren(differs), "BIGINT")
        terms.append(exp.Mul(this=flag, expression=exp.Literal.number(bit)))
    return macro("varying", ("x",), fold(exp.Add, terms))
