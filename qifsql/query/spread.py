"""Templates about one quasi-identifier become statements about several, in the parsed tree.

``place``, ``low``, ``least`` and ``high`` of a template become ``place_2``, ``place_3`` and so on:
as a selected column, a key of GROUP BY or an element of a list ``[...]`` each in turn, and a
condition ``each(...)`` is repeated, joined by AND. ``comparable(x)`` is ``x`` in the type in which
values are compared. In a DuckDB prompt both are macros that return what they are given.
"""

from collections.abc import Mapping, Sequence

from sqlglot import exp

from qifsql.data.domains import Domain
from qifsql.data.expressions import with_one_missing
from qifsql.query.splice import splice
from qifsql.query.templates import load

SPREAD = ("place", "low", "least", "high")


def spread(
    template: str,
    *,
    over: Sequence[int] | None = None,
    names: Mapping[str, str] | None = None,
    domain: Domain | None = None,
    folder: str = "cells",
) -> exp.Select:
    """The query of a template in a folder of ``sql/``, tables called ``names``.

    With ``over`` for the columns of these numbers; without it is about one column.
    """
    query = splice(load(f"{folder}/{template}"), width=0, names=names)
    if over is not None:
        _over(query, over)
    for node in list(query.find_all(exp.Anonymous)):
        if node.name.casefold() == "comparable" and domain is not None:
            cast = exp.cast(node.expressions[0], domain.type, dialect="duckdb")
            node.replace(with_one_missing(cast) if domain.kind == "floating" else cast)
    return query


def _over(query: exp.Select, numbers: Sequence[int]) -> None:
    """Repeat what is about one column for each."""
    for node in list(query.find_all(exp.Anonymous)):
        if node.name.casefold() == "each":
            (condition,) = node.expressions
            conditions = [_numbered(condition, i) for i in numbers]
            node.replace(exp.paren(exp.and_(*conditions)) if conditions else exp.true())
    for parent in list(query.find_all(exp.Select, exp.Group, exp.Array)):
        items: list[exp.Expr] = []
        for item in parent.expressions:
            items += [_numbered(item, i) for i in numbers] if _is_spread(item) else [item]
        parent.set("expressions", items)


def _is_spread(item: exp.Expr) -> bool:
    inner = item.this if isinstance(item, exp.Alias) else item
    return isinstance(inner, exp.Column) and inner.name in SPREAD


def _numbered(item: exp.Expr, number: int) -> exp.Expr:
    copy = item.copy()
    for node in list(copy.find_all(exp.Column)):
        if node.name in SPREAD:
            node.set("this", exp.to_identifier(f"{node.name}_{number}"))
    return copy


def named(table: str, alias: str) -> exp.Expr:
    """A table under another name."""
    return exp.alias_(exp.to_table(table), alias, table=True)
