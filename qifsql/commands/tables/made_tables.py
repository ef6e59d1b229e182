"""Tables that are made of records: as they are asked for, and their counts under a protection."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from qifsql.commands.tables.hypergraph import Edge
from qifsql.commands.tables.margins import place, places
from qifsql.data.option import names
from qifsql.errors import InputError, quoted
from qifsql.query.columns import number
from qifsql.query.protections import Protection, split


@dataclass(frozen=True)
class NewTable:
    """A table to make: its text, its dimensions as they are written, and its protection.

    A ``dropped`` table is not published; its dimensions stay those of the people.
    """

    title: str
    dims: tuple[str, ...]
    protection: Protection
    dropped: bool = False


def parse_tables(texts: Sequence[str]) -> list[NewTable]:
    """Return the tables that texts such as ``school,sex:suppress<5`` ask for."""
    tables = []
    for text in texts:
        dims, protection = split(text)
        written = names([dims])
        if not written or not all(name.strip() for name in written):
            raise InputError(
                f"table {quoted(text)} has no dimensions; name some, as in 'school,sex:suppress<5'"
            )
        tables.append(NewTable(text.strip(), tuple(name.strip() for name in written), protection))
    return tables


def publish(raw: str, edge: Edge, protection: Protection, *, people: int, seed: int) -> exp.Select:
    """Return the published cells of a table from the true counts of its coded cells."""
    n = exp.column("people")
    published, hidden = _publish_count(n, protection, edge, seed)
    cells = exp.select(*places(edge), "people", published.as_("published"), hidden.as_("hidden"))
    cells = cells.from_(raw)
    count = exp.column("published")
    smallest, largest = protection.hidden() if protection.kind == "suppress" else (0, 0)
    if protection.kind == "atleast":
        smallest, largest = protection.number, people
    lower = exp.case().when(exp.column("hidden"), number(smallest))
    upper = exp.case().when(exp.column("hidden"), number(min(largest, people)))
    above = exp.func("least", protection.upper(count.copy()), number(people))
    bounds = (
        exp.cast(lower.else_(protection.lower(count.copy())), "BIGINT").as_("lower"),
        exp.cast(upper.else_(above), "BIGINT").as_("upper"),
    )
    if protection.kind == "atleast":  # a count below it is told as it is
        upper = exp.case().when(exp.column("hidden"), number(people)).else_(count.copy())
        bounds = (bounds[0], exp.cast(upper, "BIGINT").as_("upper"))
    return exp.select("*", "NULL AS line", *bounds).from_(cells.subquery("cells"))


def _publish_count(
    n: exp.Expr, protection: Protection, edge: Edge, seed: int
) -> tuple[exp.Expr, exp.Expr]:
    """Return the published count of a true one, NULL if it is hidden, and whether it is."""
    b, never = number(protection.number), exp.false()
    if protection.kind == "suppress":
        hidden: exp.Expr = exp.LT(this=n.copy(), expression=b)
        return exp.case().when(hidden, exp.null()).else_(n.copy()), hidden.copy()
    if protection.kind == "atleast":
        hidden = exp.GTE(this=n.copy(), expression=b)
        return exp.case().when(hidden, exp.null()).else_(n.copy()), hidden.copy()
    if protection.kind == "round" and not protection.variant:
        half = exp.paren(n.copy() + number(protection.number // 2))
        return exp.Mul(this=exp.IntDiv(this=half, expression=b), expression=b.copy()), never
    if protection.kind == "round":
        over = exp.Mod(this=n.copy(), expression=b)
        up = exp.LT(this=_draw_lot(edge, seed, protection.number), expression=over)
        rest = exp.case().when(up, b.copy()).else_(number(0))
        return n.copy() - over.copy() + exp.paren(rest), never
    if protection.kind == "noise":
        shift = _draw_lot(edge, seed, 2 * protection.number + 1) - b
        return exp.func("greatest", number(0), n.copy() + exp.paren(shift)), never
    return n.copy(), never


def _draw_lot(edge: Edge, seed: int, sides: int) -> exp.Expr:
    """Return a number from 0 to ``sides`` - 1 that depends on the cell and the seed alone."""
    slash = exp.Literal.string("/")
    parts: list[exp.Expr] = [number(seed)]
    for i in sorted(edge):
        parts += [slash.copy(), number(i), slash.copy(), exp.column(place(i))]
    drawn = exp.Anonymous(this="md5_number", expressions=[exp.func("concat", *parts)])
    size = exp.cast(number(sides), "UHUGEINT", dialect="duckdb")
    return exp.cast(exp.paren(exp.Mod(this=drawn, expression=size)), "BIGINT")
