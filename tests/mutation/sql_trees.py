"""Changes of one node of the tree of a view of ``sql/``, or of one word of a template."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import sqlglot
from places import ROOT
from sqlglot import exp

from mutation import template_texts
from qifsql.query import shapes
from qifsql.query.templates import OF_ATTACKS, VIEW

COMPARISONS: dict[type[exp.Expression], tuple[type[exp.Expression], ...]] = {
    exp.LT: (exp.LTE, exp.GT),
    exp.LTE: (exp.LT, exp.GTE),
    exp.GT: (exp.GTE, exp.LT),
    exp.GTE: (exp.GT, exp.LTE),
    exp.EQ: (exp.NEQ,),
    exp.NEQ: (exp.EQ,),
    exp.NullSafeEQ: (exp.EQ, exp.NullSafeNEQ),
    exp.NullSafeNEQ: (exp.NEQ, exp.NullSafeEQ),
}
ARITHMETIC: dict[type[exp.Expression], type[exp.Expression]] = {
    exp.Add: exp.Sub,
    exp.Sub: exp.Add,
    exp.Mul: exp.Add,
    exp.Div: exp.Mul,
    exp.IntDiv: exp.Mul,
    exp.Mod: exp.IntDiv,
}
AGGREGATES: dict[type[exp.Expression], type[exp.Expression]] = {
    exp.Sum: exp.Max,
    exp.Max: exp.Min,
    exp.Min: exp.Max,
    exp.Avg: exp.Max,
    exp.Greatest: exp.Least,
    exp.Least: exp.Greatest,
}
LISTS = {"list_max": "list_min", "list_min": "list_max", "list_sum": "list_max"}
LISTS |= {"list_sort": "list_reverse_sort", "list_reverse_sort": "list_sort"}

Change = tuple[str, int, str, str, str, str]  # target, line, kind, before, after, text of the file
Replacement = tuple[str, exp.Expression | None]  # kind, and the new node: none where it goes


def mutated(path: Path) -> Iterator[Change]:
    """Yield every change of one node in the views of a file."""
    text = path.read_text(encoding="utf-8")
    start = 0
    for part in text.split("\n\n"):
        line = text.count("\n", 0, start) + 1
        found = VIEW.search(part)
        if found and shapes.is_template(part):
            for kind, before, after, template in template_texts.changes(part):
                changed = f"{text[:start]}{template}{text[start + len(part) :]}"
                yield target(path, found[1]), line, kind, before, after, changed
        elif found:
            for kind, before, after, query in _of_view(part):
                head = part[: found.end()]
                changed = f"{text[:start]}{head}\n{query};{text[start + len(part) :]}"
                if not changed.endswith("\n"):
                    changed += "\n"
                yield target(path, found[1]), line, kind, before, after, changed
        start += len(part) + 2


def target(path: Path, view: str) -> str:
    """Return the full name of a view: ``sql:profile``, ``sql:levels/near``."""
    home = path.relative_to(ROOT / "sql").with_suffix("").parts[0]
    return f"sql:{view}" if home in OF_ATTACKS else f"sql:{home}/{view}"


def _of_view(part: str) -> Iterator[tuple[str, str, str, str]]:
    query = parsed(part)
    known = {query}
    for node in list(query.walk()):
        for kind, new in _replacements(node):
            other = _replaced(query, node, new)
            before, after = _shown(node, new)
            written = other.sql(dialect="duckdb", pretty=True)
            again = sqlglot.parse_one(written, read="duckdb")
            if again == other and again not in known and "\n\n" not in written:
                known.add(again)
                yield kind, before, after, written


@cache
def parsed(part: str) -> exp.Expression:
    """Return the query of a view, without its comments; of a template in its first shape."""
    text = shapes.in_shape(part, shapes.examples(part)[0])
    query = sqlglot.parse_one(text, read="duckdb").expression
    for node in query.walk():
        node.comments = None
    return query


def _shown(node: exp.Expression, new: exp.Expression | None) -> tuple[str, str]:
    """Return a node before and after the change; a number with what it stands in."""
    if new is None:
        return _words(node.sql(dialect="duckdb")), "(none)"
    if isinstance(node, exp.Literal) and isinstance(node.parent, exp.Condition | exp.Func):
        node, new = node.parent, _replaced(node.parent, node, new)
    return _words(node.sql(dialect="duckdb")), _words(new.sql(dialect="duckdb"))


def _words(text: str) -> str:
    """Return SQL on one line, shortened."""
    text = re.sub(r"\s+", " ", text)
    return text if len(text) <= 120 else f"{text[:117]}..."


def _replaced(
    query: exp.Expression, old: exp.Expression, new: exp.Expression | None
) -> exp.Expression:
    """Return a copy of the query with another node in place of one, or without it."""
    path: list[tuple[str, int | None]] = []
    node = old
    while node is not query:
        assert node.parent is not None
        assert node.arg_key is not None
        path.append((node.arg_key, node.index))
        node = node.parent
    other = query.copy()
    here = other
    for key, index in reversed(path):
        value = here.args[key]
        here = value if index is None else value[index]
    if here is other:
        assert new is not None
        return new.copy()
    if new is None:
        here.pop()
    else:
        here.replace(new.copy())
    return other


def _replacements(node: exp.Expression) -> Iterator[Replacement]:
    for kind in (_comparison, _aggregate, _join, _filter, _key, _literal, _rest):
        yield from kind(node)


def _comparison(node: exp.Expression) -> Iterator[Replacement]:
    for other in COMPARISONS.get(type(node), ()):
        yield "comparison", other(this=node.this.copy(), expression=node.expression.copy())
    if type(node) in ARITHMETIC:
        other = ARITHMETIC[type(node)]
        yield "arithmetic", other(this=node.this.copy(), expression=node.expression.copy())


def _aggregate(node: exp.Expression) -> Iterator[Replacement]:
    if type(node) in AGGREGATES:
        new = AGGREGATES[type(node)](**{k: _copied(v) for k, v in node.args.items()})
        yield "aggregate", new
    elif isinstance(node, exp.Count):
        if isinstance(node.this, exp.Distinct) and len(node.this.expressions) == 1:
            yield "aggregate", exp.Count(this=node.this.expressions[0].copy(), big_int=True)
        elif not isinstance(node.this, exp.Star):
            yield "aggregate", exp.Count(this=exp.Star(), big_int=True)
    elif isinstance(node, exp.Anonymous) and str(node.this).lower() in LISTS:
        new = node.copy()
        new.set("this", LISTS[str(node.this).lower()])
        yield "aggregate", new
    elif isinstance(node, exp.Coalesce):
        yield "aggregate", node.this.copy()


def _copied(value: object) -> object:
    if isinstance(value, exp.Expression):
        return value.copy()
    return [_copied(part) for part in value] if isinstance(value, list) else value


def _join(node: exp.Expression) -> Iterator[Replacement]:
    if not isinstance(node, exp.Join):
        return
    side, kind = str(node.args.get("side") or "").upper(), str(node.args.get("kind") or "").upper()
    bound = node.args.get("on") is not None or node.args.get("using")
    new = node.copy()
    if side in ("LEFT", "RIGHT", "FULL"):
        new.set("side", None)
        new.set("kind", None)
        yield "join kind", new
    elif kind in ("SEMI", "ANTI"):
        new.set("kind", "ANTI" if kind == "SEMI" else "SEMI")
        yield "join kind", new
    elif bound and kind in ("", "INNER"):
        new.set("side", "LEFT")
        new.set("kind", None)
        yield "join kind", new
    using = node.args.get("using") or []
    if len(using) > 1:
        for i in range(len(using)):
            new = node.copy()
            new.set("using", [part.copy() for j, part in enumerate(using) if j != i])
            yield "dropped key", new


def _filter(node: exp.Expression) -> Iterator[Replacement]:
    if isinstance(node, exp.Where | exp.Having | exp.Qualify) and node.arg_key in (
        "where",
        "having",
        "qualify",
    ):
        yield "dropped filter", None
    elif isinstance(node, exp.Filter):
        yield "dropped filter", node.this.copy()
    elif isinstance(node, exp.And):
        kind = "dropped key" if node.find_ancestor(exp.Join, exp.Select) else "dropped filter"
        owner = node.find_ancestor(exp.Join, exp.Where, exp.Filter, exp.Having, exp.Select)
        kind = "dropped key" if isinstance(owner, exp.Join) else "dropped filter"
        yield kind, node.this.copy()
        yield kind, node.expression.copy()
        yield "connective", exp.Or(this=node.this.copy(), expression=node.expression.copy())
    elif isinstance(node, exp.Or):
        yield "dropped condition", node.this.copy()
        yield "dropped condition", node.expression.copy()
        yield "connective", exp.And(this=node.this.copy(), expression=node.expression.copy())


def _key(node: exp.Expression) -> Iterator[Replacement]:
    """Drop a column of GROUP BY that is not selected, or of PARTITION BY."""
    if isinstance(node, exp.Group) and isinstance(node.parent, exp.Select):
        shown = {part.unalias() for part in node.parent.expressions}
        keys = node.expressions
        for i, key in enumerate(keys):
            if len(keys) > 1 and key not in shown and not isinstance(key, exp.Literal):
                new = node.copy()
                new.set("expressions", [k.copy() for j, k in enumerate(keys) if j != i])
                yield "dropped key", new
    elif isinstance(node, exp.Window) and (keys := node.args.get("partition_by")):
        for i in range(len(keys)):
            new = node.copy()
            new.set("partition_by", [k.copy() for j, k in enumerate(keys) if j != i])
            yield "dropped key", new


def _literal(node: exp.Expression) -> Iterator[Replacement]:
    """Add one to a whole number, or subtract it, where it is neither a column nor of a type."""
    if not isinstance(node, exp.Literal) or node.is_string or not node.this.isdigit():
        return
    if isinstance(node.parent, exp.Group | exp.Ordered | exp.DataTypeParam):
        return
    value = int(node.this)
    yield "off by one", exp.Literal.number(value + 1)
    if value > 0:
        yield "off by one", exp.Literal.number(value - 1)


def _rest(node: exp.Expression) -> Iterator[Replacement]:
    if isinstance(node, exp.Ordered):
        new = node.copy()
        new.set("desc", not node.args.get("desc"))
        yield "order", new
    elif isinstance(node, exp.Not | exp.Neg):
        yield "dropped sign", node.this.copy()
    elif isinstance(node, exp.Select) and node.args.get("distinct"):
        new = node.copy()
        new.set("distinct", None)
        yield "dropped key", new
    elif isinstance(node, exp.Between):
        low, high = node.args["low"], node.args["high"]
        yield "comparison", exp.GTE(this=node.this.copy(), expression=low.copy())
        yield "comparison", exp.LTE(this=node.this.copy(), expression=high.copy())
