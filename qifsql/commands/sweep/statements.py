"""The files of ``sql/sweep/`` as the statements of one pass over the data.

A file says ``word`` for the counters of a block, packed in a 128-bit integer; where they need
several, there are as many words.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache, partial

from sqlglot import exp

from qifsql.query.render import creating, render, setting, viewing
from qifsql.query.splice import splice
from qifsql.query.templates import exists, script


class Statements:
    """Statements by the names of their files; ``valued`` files stand in where there are some."""

    def __init__(self, words: int, *, valued: bool = False) -> None:
        self.words = words
        self.valued = valued
        self._texts: dict[tuple[str, ...], str] = {}

    def table(self, name: str, file: str, **tables: str) -> str:
        """The statement that makes the rows of a file a temporary table."""
        return self._once("table", name, file, tables, partial(creating, name))

    def view(self, name: str, file: str, **tables: str) -> str:
        """The statement that makes a temporary view of the rows of a file."""
        return self._once("view", name, file, tables, partial(viewing, name))

    def insert(self, into: str, file: str, **tables: str) -> str:
        """The statement that adds the rows of a file to a table."""
        return self._once("insert", into, file, tables, lambda q: render(exp.insert(q, into)))

    def select(self, file: str, **tables: str) -> str:
        """The query of a file as text."""
        return self._once("select", "", file, tables, render)

    def _once(
        self,
        how: str,
        name: str,
        file: str,
        tables: Mapping[str, str],
        write: Callable[[exp.Query], str],
    ) -> str:
        """A statement, written once: a sweep sends the same ones thousands of times."""
        key = (how, name, file, *tables.values())
        if key not in self._texts:
            self._texts[key] = write(self.query(file, **tables))
        return self._texts[key]

    def query(self, file: str, **tables: str) -> exp.Query:
        """The query of a file; ``tables`` stand in for tables that it names."""
        view = _locate(file, valued=self.valued)
        query = splice(view, words=self.words, tables=tables)
        if self.valued:  # where a word is one counter
            for cast in list(query.find_all(exp.Cast)):
                if cast.is_type(exp.DataType.Type.INT128):
                    cast.set("to", exp.DataType.build("BIGINT", dialect="duckdb"))
        return query


@cache
def _locate(file: str, *, valued: bool) -> str:
    variant = f"sweep_valued/{file}"
    return variant if valued and exists(variant) else f"sweep/{file}"


@cache
def spoken(words: int, *, valued: bool) -> Statements:
    """The statements of passes with so many words: made once, for all streams."""
    return Statements(words, valued=valued)


@cache
def macros() -> list[str]:
    """The statements that define the words of the walk."""
    return script("sweep/macros")


def varying(fields: Iterable[tuple[int, int]], kind: str) -> str:
    """The macro that says which attributes differ: from bits that differ to one bit for each.

    ``fields`` are the bit of each attribute and the mask of its code in ``rest``.
    """
    return _varying(tuple(fields), kind)


@cache
def _varying(fields: tuple[tuple[int, int], ...], kind: str) -> str:
    terms: list[exp.Expr] = [typed(exp.Literal.number(0), "BIGINT")]
    for bit, mask in fields:
        differs = exp.BitwiseAnd(this=exp.column("x"), expression=number(mask, kind))
        some = exp.NEQ(this=exp.paren(differs), expression=exp.Literal.number(0))
        terms.append(exp.Mul(this=typed(exp.paren(some), "BIGINT"), expression=_literal(bit)))
    return macro("varying", ("x",), _sum(terms))


@cache
def people(counter_bits: int, *, valued: bool) -> str:
    """The macro that gives the number of people from the first word of a block."""
    word = exp.column("word")
    mask = number((1 << counter_bits) - 1, "HUGEINT")
    counted: exp.Expr = word if valued else exp.BitwiseAnd(this=word, expression=mask)
    return macro("people", ("word",), typed(exp.paren(counted), "BIGINT"))


@cache
def keyed(n: int, kind: str) -> str:
    """The macro that makes a block's key of its number and its state."""
    block = exp.Mul(this=typed(exp.column("block"), kind), expression=number(1 << 2 * n, kind))
    return macro("keyed", ("block", "state"), exp.Add(this=block, expression=exp.column("state")))


@cache
def packed(width: int, kind: str) -> str:
    """The macro that packs the code of the first attribute and those of the rest in one key."""
    entry = exp.BitwiseLeftShift(
        this=typed(exp.column("entry"), kind), expression=exp.Literal.number(width)
    )
    both = exp.BitwiseOr(this=exp.paren(entry), expression=typed(exp.column("rest"), kind))
    return macro("packed", ("entry", "rest"), both)


@cache
def settled(words: int, *, valued: bool) -> str:
    """The statement that makes the empty table of what is settled."""
    kinds = {f"word_{i}": "HUGEINT" for i in range(1, words + 1)}
    if valued:
        kinds = {"size": "BIGINT", "mode": "BIGINT", "values": "BIGINT"}
    columns = {"state": "BIGINT", **kinds, "blocks": "BIGINT"}
    schema = exp.Schema(
        this=exp.to_table("settled"),
        expressions=[
            exp.ColumnDef(
                this=exp.to_identifier(c, quoted=True),
                kind=exp.DataType.build(kind, dialect="duckdb"),
            )
            for c, kind in columns.items()
        ],
    )
    create = exp.Create(this=schema, kind="TABLE", replace=True)
    create.set("properties", exp.Properties(expressions=[exp.TemporaryProperty()]))
    return render(create)


@cache
def emptied(table: str) -> str:
    """The statement that empties a table."""
    return render(exp.delete(table))


def macro(name: str, arguments: Iterable[str], body: exp.Expr) -> str:
    """The statement that defines one macro of the session."""
    head = exp.UserDefinedFunction(
        this=exp.to_table(name), expressions=list(map(exp.to_identifier, arguments)), wrapped=True
    )
    create = exp.Create(this=head, kind="MACRO", replace=True, expression=exp.paren(body))
    create.set("properties", exp.Properties(expressions=[exp.TemporaryProperty()]))
    return render(create)


def variables(values: Mapping[str, tuple[int, str]]) -> str:
    """The statements that set variables of the session to numbers of a type."""
    return ";".join(_variable(name, value, kind) for name, (value, kind) in values.items())


@lru_cache(maxsize=10_000)
def _variable(name: str, value: int, kind: str) -> str:
    return setting(name, number(value, kind), variable=True)


def distinct(masks: Iterable[int], kind: str) -> exp.Select:
    """About how many different rows there are, and how many by some bits of ``rest`` each."""
    counts: list[exp.Expr] = [exp.Count(this=exp.Star())]
    for mask in masks:
        some = exp.BitwiseAnd(this=exp.column("rest"), expression=number(mask, kind))
        counts.append(exp.ApproxDistinct(this=some))
    return exp.select(*(exp.alias_(c, f"rows_{i}") for i, c in enumerate(counts)))


def written(query: exp.Query, path: str) -> str:
    """The statement that writes the rows of a query to a Parquet file."""
    copy = exp.Copy(this=exp.Subquery(this=query), kind=False, files=[exp.Literal.string(path)])
    copy.set(
        "params",
        [exp.CopyParameter(this=exp.Var(this="FORMAT"), expression=exp.Var(this="PARQUET"))],
    )
    return render(copy)


def number(value: int, kind: str) -> exp.Expr:
    """A whole number of that type; text in between, because a literal has 64 bits."""
    return typed(exp.Literal.string(str(value)), kind)


def typed(tree: exp.Expr, kind: str) -> exp.Expr:
    """A cast to a type by its name in DuckDB."""
    return exp.cast(tree, kind, dialect="duckdb")


def _literal(value: int) -> exp.Expr:
    return exp.Literal.number(value)


def _sum(terms: Iterable[exp.Expr]) -> exp.Expr:
    total: exp.Expr | None = None
    for term in terms:
        total = term if total is None else exp.Add(this=total, expression=term)
    return total or exp.Literal.number(0)
