"""The files of ``sql/anonymise/`` as queries over so many quasi-identifiers.

In a file ``place`` stands for the columns ``place_1 .. place_m``, and ``low``, ``top``, ``high``
for what is made of them. Where one stands in a selected column, in a list ``[...]``, in GROUP BY,
ORDER BY or USING, the whole item is repeated for each quasi-identifier; ``number`` is the number of
that quasi-identifier in it, which is not to stand in ``x[number]``: list_extract says the same.
``added([...])`` is the sum of a list. ``secrets`` stands for all secrets. Names of numbers that are
wished for (``wanted_k``) become these numbers.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

from sqlglot import exp

from qifsql.query.templates import load

PLACES = ("place", "low", "top", "high")
SECRETS = ("secrets",)


def query(
    file: str,
    *,
    width: int | None = None,
    secrets: int = 0,
    columns: Mapping[str, str] | None = None,
    tables: Mapping[str, str] | None = None,
    numbers: Mapping[str, int | Sequence[int]] | None = None,
) -> exp.Select:
    """The query of ``anonymise/FILE`` for ``width`` quasi-identifiers.

    A file of another folder is named with it (``dit/marks``). Without a width the names
    stand for themselves, in a file about one of them. ``numbers`` stand in for names; a
    sequence has one for each quasi-identifier. ``tables`` stand in for tables that the file names,
    ``columns`` for columns.
    """
    tree = load(file if "/" in file else f"anonymise/{file}").query.copy()
    if width is not None:
        _spread(tree, PLACES, [f"_{i}" for i in range(1, width + 1)], numbers or {})
        _spread(tree, SECRETS, [f"_{j}" for j in range(1, secrets + 1)], {})
    for added in [f for f in tree.find_all(exp.Anonymous) if f.name == "added"]:
        terms = added.expressions[0].expressions
        added.replace(exp.paren(reduce(lambda a, b: exp.Add(this=a, expression=b), terms)))
    for column in list(tree.find_all(exp.Column)):
        value = (numbers or {}).get(column.name)
        if isinstance(value, int) and not column.table:
            column.replace(number(value))
        elif column.name in (columns or {}):
            column.set("this", exp.to_identifier((columns or {})[column.name]))
    for table in list(tree.find_all(exp.Table)):
        if table.name in (tables or {}):
            alias = table.alias or table.name
            new = exp.to_table((tables or {})[table.name])
            new.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
            table.replace(new)
    return tree


def number(value: int) -> exp.Expr:
    """A whole number as a literal of its own size: a literal of SQL has 64 bits."""
    literal: exp.Expr = exp.Literal.number(abs(value))
    if abs(value) >= 2**63:
        literal = exp.cast(exp.Literal.string(str(abs(value))), "HUGEINT", dialect="duckdb")
    return exp.Neg(this=literal) if value < 0 else literal


def _spread(
    tree: exp.Select,
    names: Iterable[str],
    endings: Sequence[str],
    numbers: Mapping[str, int | Sequence[int]],
) -> None:
    """Repeat each item that names one of ``names``, once for each ending."""
    names = set(names)
    for using in [j for j in tree.find_all(exp.Join) if j.args.get("using")]:
        using.set("using", _items(using.args["using"], names, endings, numbers))
    # Lists before what holds them: their items are told apart then.
    holders = list(tree.find_all(exp.Array, exp.Select, exp.Group, exp.Order))
    holders.sort(key=lambda node: -node.depth)
    for holder in holders:
        holder.set("expressions", _items(holder.expressions, names, endings, numbers))
    for window in tree.find_all(exp.Window):
        parts = window.args.get("partition_by") or []
        window.set("partition_by", _items(parts, names, endings, numbers))


def _items(
    items: Sequence[exp.Expr],
    names: set[str],
    endings: Sequence[str],
    numbers: Mapping[str, int | Sequence[int]],
) -> list[exp.Expr]:
    expressions: list[exp.Expr] = []
    for item in items:
        if _named(item, names):
            expressions += [_one(item, names, i, end, numbers) for i, end in enumerate(endings)]
        else:
            expressions.append(item)
    return expressions


def _named(item: exp.Expr, names: set[str]) -> bool:
    return any(node.name in names for node in item.find_all(exp.Identifier))


def _one(
    item: exp.Expr, names: set[str], i: int, ending: str, numbers: Mapping[str, int | Sequence[int]]
) -> exp.Expr:
    """The item for one quasi-identifier."""
    copy = exp.paren(item.copy())
    for column in list(copy.find_all(exp.Column)):
        value = numbers.get(column.name)
        if column.name == "number" and not column.table:
            column.replace(number(i + 1))
        elif isinstance(value, Sequence):
            column.replace(number(value[i]))
    for name in copy.find_all(exp.Identifier):
        if name.name in names:
            name.set("this", f"{name.name}{ending}")
    inner = copy.this
    assert isinstance(inner, exp.Expr)  # noqa: S101 - it was one
    return inner.pop()
