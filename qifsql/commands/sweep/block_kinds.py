"""The kinds of blocks that a pass settled, question by question: the words unpacked again."""

from functools import reduce

from sqlglot import exp

from qifsql.commands.sweep.layout import Layout
from qifsql.commands.sweep.statements import number, typed


def kinds(layout: Layout) -> exp.Query:
    """One row per state, question and kind of block.

    ``size`` people, ``mode`` of them with the most frequent value of the secret, ``values`` that
    occur. Of whose record it is (question 0) one guess is right in each block.
    """
    source = "settled" if layout.valued else _unpacked(layout).subquery("settled")
    arms: list[exp.Query] = []
    if layout.owners:
        one = typed(exp.Literal.number(1), "BIGINT")
        arms.append(_arm(source, 0, one, exp.column("size")))
    for j, values in layout.secrets.items():
        if layout.valued:
            arms.append(_arm(source, j, exp.column("mode"), exp.column("values", quoted=True)))
            continue
        counts = [exp.column(f"tally_{j}_{code}") for code in range(values)]
        some: list[exp.Expr] = [typed(exp.paren(c.copy() > 0), "BIGINT") for c in counts]
        most = exp.Greatest(this=counts[0], expressions=counts[1:], ignore_nulls=True)
        arms.append(_arm(source, j, most if len(counts) > 1 else counts[0], _sum(some)))
    return exp.union(*arms, distinct=False) if len(arms) > 1 else arms[0]


def _arm(source: str | exp.Expr, question: int, mode: exp.Expr, values: exp.Expr) -> exp.Select:
    return (
        exp.select(
            "state",
            exp.alias_(typed(exp.Literal.number(question), "UTINYINT"), "question"),
            "size",
            exp.alias_(mode, "mode"),
            exp.alias_(values.copy(), "values", quoted=True),
            exp.alias_(exp.Sum(this=exp.column("blocks")), "blocks"),
        )
        .from_(source if isinstance(source, str) else source.copy())
        .group_by("ALL")
    )


def _unpacked(layout: Layout) -> exp.Select:
    """The settled rows with a column for the people and for each value of each secret."""
    columns: list[exp.Expr] = ["state", exp.alias_(_counter(layout, 0), "size")]  # type: ignore[list-item]
    place = 1
    for j, values in layout.secrets.items():
        last: exp.Expr = _counter(layout, 0)
        for code in range(values - 1):
            columns.append(exp.alias_(_counter(layout, place), f"tally_{j}_{code}"))
            last = exp.Sub(this=last, expression=_counter(layout, place))
            place += 1
        columns.append(exp.alias_(last, f"tally_{j}_{values - 1}"))
    return exp.select(*columns, "blocks").from_("settled")


def _counter(layout: Layout, counter: int) -> exp.Expr:
    word, below = layout.place(counter)
    column = exp.column(f"word_{word}")
    shifted = exp.paren(exp.BitwiseRightShift(this=column, expression=exp.Literal.number(below)))
    mask = number((1 << layout.counter_bits) - 1, "HUGEINT")
    return typed(exp.paren(exp.BitwiseAnd(this=shifted, expression=mask)), "BIGINT")


def _sum(terms: list[exp.Expr]) -> exp.Expr:
    return reduce(lambda a, b: exp.Add(this=a, expression=b), terms)
