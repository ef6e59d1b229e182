"""The user's expressions: parsed to a tree, with their columns looked up and checked.

``decade=birth_year//10`` is a named expression. It may use columns, constants, operators and
functions that give the same value for the same row; not subqueries, aggregates, windows or
parameters. The engine knows which functions exist, and checks those in the parsed tree.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from qifsql.data.dataset import Column, Schema
from qifsql.errors import ColumnError, ExpressionError, quoted

SOURCE = "source"  # the alias of the dataset in the one step that reads it

_FORBIDDEN = {
    exp.Query: "a subquery",
    exp.AggFunc: "an aggregate",
    exp.Window: "a window function",
    exp.Placeholder: "a parameter",
    exp.Parameter: "a parameter",
    exp.Star: "a star",
    exp.DDL: "a statement",
    exp.Command: "a statement",
    exp.Unnest: "a function that makes rows",
    exp.Explode: "a function that makes rows",
    exp.Columns: "several columns at once",
    exp.Lambda: "a lambda",
    exp.Comprehension: "a comprehension",
    exp.BitwiseNot: "the operator ~",  # its precedence is special in DuckDB
}


def identifier(name: str) -> exp.Identifier:
    """Return a name as a quoted identifier, so that no content can turn it into SQL."""
    return exp.to_identifier(name, quoted=True)


def column(column: Column) -> exp.Column:
    """Return a reference to a column of the dataset."""
    if not column.source_name:
        raise ColumnError("a column without a name cannot be used; give it a name in the file")
    return exp.Column(this=identifier(column.source_name), table=exp.to_identifier(SOURCE))


def source_columns(*trees: exp.Expr) -> frozenset[str]:
    """Return the columns of the source that the trees use, by the engine's names."""
    columns = (c for tree in trees for c in tree.find_all(exp.Column))
    return frozenset(c.name for c in columns if c.table == SOURCE)


def substituted(tree: exp.Expr, name: str, value: exp.Expr) -> exp.Expr:
    """Return the tree with ``value`` in place of the column ``name``."""

    def substitute(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.name == name and node.table == SOURCE:
            return value.copy() if isinstance(value, exp.Column) else exp.paren(value)
        return node

    return tree.transform(substitute)


def copy_tree(tree: exp.Expr) -> exp.Expr:
    """Return a copy of a tree, in less than half the time of ``tree.copy()``."""
    root = _copy_node(tree)
    nodes = [(tree, root)]
    for node, new in nodes:  # the list grows while it is read
        for key, part in node.args.items():
            if isinstance(part, exp.Expr):
                copied = new.args[key] = _copy_node(part, new, key)
                nodes.append((part, copied))
            elif isinstance(part, list):
                items = new.args[key] = part.copy()
                for place, item in enumerate(part):
                    if isinstance(item, exp.Expr):
                        copied = items[place] = _copy_node(item, new, key, place)
                        nodes.append((item, copied))
            else:
                new.args[key] = part
    return root


def _copy_node(
    node: exp.Expr, parent: exp.Expr | None = None, key: str | None = None, place: int | None = None
) -> exp.Expr:
    """Return a copy of a node without its parts, which stands at this place of its parent."""
    kind = node.__class__
    new: exp.Expr = kind.__new__(kind)
    new.args, new.parent, new.arg_key, new.index = {}, parent, key, place
    new.comments = list(node.comments) if node.comments else None
    new._type, new._hash = node._type, node._hash
    new._meta = dict(node._meta) if node._meta else None
    return new


FLOATING = ("FLOAT", "DOUBLE")


def filled(template: str, words: Mapping[str, exp.Expr], dialect: str = "duckdb") -> exp.Expr:
    """Return the tree of a SQL template, with the columns or tables ``words`` replaced by trees."""

    def fill(node: exp.Expr) -> exp.Expr:
        tree = words.get(node.name) if isinstance(node, exp.Column | exp.Table) else None
        if tree is None:
            return node
        return tree if isinstance(node, exp.Table) else exp.paren(tree)

    return _parsed(template, dialect).transform(fill)


@lru_cache(maxsize=100)
def _parsed(template: str, dialect: str) -> exp.Expr:
    """Return the tree of a template, which is parsed once for all columns."""
    tree: exp.Expr = sqlglot.parse_one(template, read=dialect)
    return tree


def with_one_missing(tree: exp.Expr) -> exp.Expr:
    """Return a floating value whose NaN is NULL and whose -0.0 is 0.0."""
    inner = tree if isinstance(tree, exp.Column) else exp.paren(tree, copy=False)
    zero = exp.Add(this=inner.copy(), expression=exp.Literal.number(0))
    return exp.Case().when(is_nan(tree), exp.null()).else_(zero)


def is_nan(tree: exp.Expr) -> exp.Expr:
    """Return whether a floating value is NaN.

    ``isnan`` is not used: DuckDB computes it from Parquet statistics, which leave NaN out.
    """
    calls = (exp.Anonymous(this=f, expressions=[tree.copy()]) for f in ("isfinite", "isinf"))
    return exp.and_(*map(exp.not_, calls))


def parse(text: str, schema: Schema, what: str) -> exp.Expr:
    """Return one SQL expression over the columns of ``schema``; ``what`` names it in messages.

    Raises ExpressionError if the text does not parse or has something that is not allowed, and
    ColumnError if it uses a column that does not exist.
    """
    try:
        trees = sqlglot.parse(text, read="duckdb")
    except (SqlglotError, RecursionError) as e:
        raise ExpressionError(
            f"{what} is not a SQL expression; check quotes and brackets", detail=str(e)
        ) from e
    if len(trees) != 1 or trees[0] is None:
        raise ExpressionError(f"{what} must be one SQL expression")
    tree = trees[0]
    for node in tree.walk():
        if phrase := _forbidden(node):
            raise ExpressionError(
                f"{what} has {phrase}; use only columns, constants, operators and functions "
                "of one row"
            )
        node.comments = None
    if not isinstance(tree, exp.Condition | exp.Column | exp.Paren | exp.Binary | exp.Interval):
        raise ExpressionError(f"{what} must be one SQL expression")
    tree = tree.transform(lambda node: _look_up(node, schema))
    try:
        tree.sql("duckdb", unsupported_level=ErrorLevel.RAISE)
    except (SqlglotError, RecursionError) as e:
        raise ExpressionError(
            f"{what} contains something that cannot be passed to DuckDB; write it in another way",
            detail=str(e),
        ) from e
    return tree


def _forbidden(node: exp.Expr) -> str | None:
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Func):
        return "a function written behind a dot"
    return next((name for kind, name in _FORBIDDEN.items() if isinstance(node, kind)), None)


def _look_up(node: exp.Expr, schema: Schema) -> exp.Expr:
    """Replace a column as written by that of the dataset, without NaN; ``a.b`` is field b of a."""
    if not isinstance(node, exp.Column):
        return node
    first, *fields = node.parts
    try:
        named = schema[first.name]
    except ColumnError as e:
        if isinstance(node.parent, exp.Predicate):  # it may be meant as a value
            raise ColumnError(f"{e}; write a text in single quotes, as in a = 'x'") from e
        raise
    tree = column(named)
    if not fields:
        return exp.paren(with_one_missing(tree)) if named.type in FLOATING else tree
    return exp.Dot.build([tree, *(identifier(f.name) for f in fields)])


def not_an_expression(text: str) -> str:
    """Return a hint to name the expression if ``text`` looks like an unnamed one; else empty."""
    if re.search(r"[-+*/%<>=()|]", text):
        return f"; an expression needs a name, as in NAME={quoted(text)[1:-1]}"
    return ""
