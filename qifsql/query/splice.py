"""The placeholders of ``sql/`` become columns, in the parsed tree.

- ``qid``, the whole tuple, becomes ``qid_1 .. qid_k``. It may stand as a selected column, as a
  key of GROUP BY, PARTITION BY or ORDER BY, and as ``a.qid IS NOT DISTINCT FROM b.qid`` in a join;
  anywhere else the template is refused, because a tuple is not a column there.
- ``secret`` becomes ``secret_j``.
- ``tally`` becomes one column for each counted value; where it is defined the definition is
  repeated, and in a list ``[...]`` the element is.
- Names of steps become the numbered names of their secret.
"""

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from qifsql.errors import InternalError
from qifsql.query.templates import Template

Tally = tuple[int, int]  # number of the secret, number of its value


def splice(
    template: Template,
    *,
    width: int,
    secret: int | None = None,
    names: Mapping[str, str] | None = None,
    tallies: Sequence[Tally] = (),
) -> exp.Select:
    """The query of ``template`` for ``width`` quasi-identifiers and one secret."""
    query = template.query.copy()
    _spread_tallies(query, tallies)
    _spread_qids(query, width, template.name)
    for node in list(query.find_all(exp.Column)):
        if node.name == "secret" and secret is not None:
            node.set("this", exp.to_identifier(f"secret_{secret}"))
    _rename_tables(query, names or {})
    return query


def _rename_tables(query: exp.Select, names: Mapping[str, str]) -> None:
    for table in list(query.find_all(exp.Table)):
        new = names.get(table.name)
        if new and new != table.name:
            if not table.alias:
                table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name)))
            table.set("this", exp.to_identifier(new))


def _spread_qids(query: exp.Select, width: int, where: str) -> None:
    for equal in [e for e in query.find_all(exp.NullSafeEQ) if _is_qid(e.this)]:
        if _is_qid(equal.expression) and _in_join(equal):
            left, right = equal.this, equal.expression
            pairs = [
                exp.NullSafeEQ(this=_qid(left, i), expression=_qid(right, i))
                for i in range(1, width + 1)
            ]
            together = exp.and_(*pairs) if pairs else exp.true()
            in_brackets = isinstance(equal.parent, exp.Not)
            equal.replace(exp.paren(together) if in_brackets else together)
    for node in [c for c in query.find_all(exp.Column) if _is_qid(c)]:
        parent = node.parent
        if isinstance(parent, exp.Window) and node.arg_key == "partition_by":
            items = parent.args["partition_by"]
            spread = [_qid(node, i) for i in range(1, width + 1)]
            parent.set("partition_by", [n for x in items for n in (spread if x is node else [x])])
            continue
        if isinstance(parent, exp.Ordered) and isinstance(parent.parent, exp.Order):
            _order(parent, [_qid(node, i) for i in range(1, width + 1)])
            continue
        if not isinstance(parent, exp.Select | exp.Group):
            raise InternalError(f"sql/{where}.sql uses qid where a tuple cannot stand")
        _replace(parent, node, [_qid(node, i) for i in range(1, width + 1)])
        if isinstance(parent, exp.Group) and not parent.expressions:
            parent.pop()
    if any(name.name.casefold() == "qid" for name in query.find_all(exp.Identifier)):
        raise InternalError(f"sql/{where}.sql uses qid where a tuple cannot stand")


def _order(item: exp.Ordered, columns: Sequence[exp.Expr]) -> None:
    """Order by every column as by the tuple; by nothing where there is none."""
    same = [item.copy() for _ in columns]
    for one, column in zip(same, columns, strict=True):
        one.set("this", column)
    order = item.parent
    assert isinstance(order, exp.Order)  # noqa: S101 - the caller has looked
    _replace(order, item, same)
    if order.expressions:
        return
    if order.this:  # the order of an aggregate: list(x ORDER BY qid)
        order.replace(order.this)
    else:
        order.pop()


def _is_qid(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and node.name == "qid"


def _qid(column: exp.Expr, i: int) -> exp.Column:
    return exp.column(f"qid_{i}", table=column.args.get("table"))


def _in_join(node: exp.Expr) -> bool:
    join = node.find_ancestor(exp.Join)
    return join is not None and join.args.get("on") is not None


def _spread_tallies(query: exp.Select, tallies: Sequence[Tally]) -> None:
    for item in [e for e in query.expressions if e.alias == "tally"]:
        _replace(query, item, [_count(item, t) for t in tallies])
    for array in list(query.find_all(exp.Array)):
        for item in list(array.expressions):
            if any(c.name == "tally" for c in item.find_all(exp.Column)):
                _replace(array, item, [_named(item, t) for t in tallies])
    for node in [c for c in query.find_all(exp.Column) if c.name == "tally"]:
        parent = node.parent
        if isinstance(parent, exp.Select | exp.Group):
            _replace(parent, node, [exp.column(_tally(t)) for t in tallies])


def _tally(tally: Tally) -> str:
    return f"tally_{tally[0]}_{tally[1]}"


def _named(item: exp.Expr, tally: Tally) -> exp.Expr:
    def change(node: exp.Expr) -> exp.Expr:
        is_tally = isinstance(node, exp.Column) and node.name == "tally"
        return exp.column(_tally(tally)) if is_tally else node

    return item.transform(change)


def _count(item: exp.Expr, tally: Tally) -> exp.Expr:
    """The definition of one tally: the same for another secret and another of its values."""
    j, code = tally
    changed = item.copy()
    changed.set("alias", exp.to_identifier(_tally(tally)))
    _each(changed, exp.Column, lambda n: n.name == "secret", f"secret_{j}")
    _each(changed, exp.Table, lambda n: n.name == "secret_values", f"secret_values_{j}")
    for equal in changed.find_all(exp.EQ):
        if equal.this.name == "code":
            equal.set("expression", exp.Literal.number(code))
    return changed


def _each(
    tree: exp.Expr,
    kind: type[exp.Expr],
    test: Callable[[exp.Expr], bool],
    name: str,
) -> None:
    for node in list(tree.find_all(kind)):
        if test(node):
            node.set("this", exp.to_identifier(name))


def _replace(parent: exp.Expr, old: exp.Expr, new: Sequence[exp.Expr]) -> None:
    """Put ``new`` where ``old`` stood in the list of ``parent``."""
    items: list[exp.Expr] = []
    for item in parent.expressions:
        items += new if item is old else [item]
    parent.set("expressions", items)
