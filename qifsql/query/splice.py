"""Replacement of the placeholders of ``sql/`` by columns, tables and numbers, in the parsed tree.

An item is the text between two commas of SELECT, GROUP BY, ORDER BY, PARTITION BY, USING or a
list ``[...]``. If a placeholder means several columns, its item is repeated, once for each of them.
In SELECT this is the item with its name (``min(place) AS place``, but not ``place + 1 AS x``),
elsewhere every item that contains it.

- ``qid`` becomes ``qid_1 .. qid_k``, the whole tuple. It may stand alone as an item, but not in a
  list or in USING, and as ``a.qid IS NOT DISTINCT FROM b.qid`` in a join; anywhere else the view
  is refused, because a tuple is not a column there.
- ``place``, ``step``, ``low``, ``least``, ``top`` and ``high`` become ``place_i`` ... of each i of
  the quasi-identifiers ``places``, in items and in ``each(...)``; in a view about one they stay.
- ``number``, in an item of these, becomes i. It must not stand in ``x[number]``: list_extract says
  the same.
- ``each(condition)`` becomes the condition for each of them, joined by AND.
- ``secrets`` becomes ``secrets_1 .. secrets_m``, in items.
- ``tally`` becomes ``tally_j_c`` for each counted value c of each secret j, in items. In the item
  that defines it, ``secret``, ``secret_values`` and ``code`` become those of j and c.
- ``word``, a number that packs the counters of a block, becomes ``word_1 .. word_w`` in items; in
  an expression it becomes ``word_1``.
- ``secret`` becomes ``secret_j``.
- ``added([...])`` becomes the sum of the elements, ``comparable(x)`` becomes ``x`` cast to the type
  in which values are compared.
- A column, a whole number or a table can replace any name (``wanted_k``). The values of a table of
  one row can replace its columns, without the join.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from sqlglot import exp

from qifsql.data.domains import Domain
from qifsql.data.expressions import copy_tree, with_one_missing
from qifsql.errors import InternalError
from qifsql.query.columns import fold, number
from qifsql.query.plan import Step
from qifsql.query.shapes import Shape
from qifsql.query.templates import Template, load

Numbers = Mapping[str, int | Sequence[int]]
Parameters = Mapping[str, exp.Expr]  # one row of parameters: its values by column

PLACES = ("place", "step", "low", "least", "top", "high")
LISTS = (exp.Array, exp.Select, exp.Group, exp.Order)


class Tally(NamedTuple):
    """The numbers of a secret, and of the value of it that is counted."""

    secret: int
    value: int


@dataclass(frozen=True, kw_only=True)
class _Copy:
    """One copy of an item: the ending of its names, its numbers, and its tally.

    The ending of ``qid`` is ``_2`` in its second copy; ``numbers`` are whole numbers by the names
    that they replace there.
    """

    ending: str
    numbers: Mapping[str, int] = field(default_factory=dict)
    tally: Tally | None = None


@dataclass(frozen=True)
class _Family:
    """Placeholders that are repeated together, such as ``low`` and ``high``, and their copies."""

    names: Sequence[str]
    copies: Sequence[_Copy]

    @staticmethod
    def of(name: str, n: int) -> "_Family":
        """Return the family of one placeholder that means the columns 1 to n."""
        return _Family((name,), [_Copy(ending=f"_{i}") for i in range(1, n + 1)])


def splice(
    view: Template | str,
    *,
    width: int = 0,
    secret: int | None = None,
    tallies: Iterable[Tally] = (),
    places: Iterable[int] | None = None,
    secrets: int | None = None,
    words: int | None = None,
    columns: Mapping[str, str] | None = None,
    numbers: Numbers | None = None,
    tables: Mapping[str, str] | None = None,
    rows: Mapping[str, Parameters] | None = None,
    domain: Domain | None = None,
    shape: Mapping[str, Shape] | None = None,
) -> exp.Select:
    """Return the query of a view with its placeholders filled: they are listed in this module.

    Args:
        view: A view of ``sql/``, or its name.
        width: The number of quasi-identifiers that ``qid`` is made of.
        secret: The number of the secret.
        tallies: The values that are counted by tallies.
        places: The numbers of the quasi-identifiers that ``place`` stands for.
        secrets: The number of secrets that ``secrets`` stands for.
        words: The number of words of counters.
        columns: Columns by the names that stand for them.
        numbers: Whole numbers by the names that stand for them; a sequence has one for each place.
        tables: Tables by the names that stand for them, by which they are still called.
        rows: The values of tables of one row. The engine would look for a way to join these by
            inequalities, which takes sorting.
        domain: The values of the quasi-identifier that are compared.
        shape: What varies in a template.

    Raises:
        InternalError: ``qid`` stands where a tuple cannot.

    """
    template = load(view, **(shape or {})) if isinstance(view, str) else view
    query = cast("exp.Select", copy_tree(template.query))
    present = template.names
    tallied = [_Copy(ending=f"_{t.secret}_{t.value}", tally=t) for t in tallies]
    families = [_Family(("tally",), tallied), _Family.of("qid", width)]
    if places is not None:
        families.append(_family_of_places(places, numbers or {}))
    for placeholder, count in (("secrets", secrets), ("word", words)):
        if count is not None:
            families.append(_Family.of(placeholder, count))
    by_name = {name: f for f in families for name in f.names if name in present}
    if by_name:  # placeholders of several columns occur in the view
        _repeat_conditions(query, by_name)
        _repeat_items(query, by_name)
    may_have_qid = "qid" in map(str.casefold, present)
    identifiers = query.find_all(exp.Identifier) if may_have_qid else ()
    if any(node.name.casefold() == "qid" for node in identifiers):
        raise InternalError(f"sql/{template.name}.sql uses qid where a tuple cannot stand")
    if "added(" in template.text or domain is not None:
        _fill_functions(query, domain)
    columns = dict(columns or {})
    if secret is not None:
        columns["secret"] = f"secret_{secret}"
    if words is not None:
        columns["word"] = "word_1"
    _fill_columns(query, columns, numbers or {}, rows or {})
    _fill_tables(query, tables or {}, rows or {})
    return query


def _family_of_places(places: Iterable[int], numbers: Numbers) -> _Family:
    """Return the family of ``place``, ``low``, ...: a copy for each quasi-identifier of ``places``.

    In a copy, ``number`` is that of the quasi-identifier, and a name with a sequence in ``numbers``
    stands for the element in the same place.
    """
    lists = {name: value for name, value in numbers.items() if not isinstance(value, int)}
    copies = []
    for index, i in enumerate(places):
        of_place = {name: elements[index] for name, elements in lists.items()}
        copies.append(_Copy(ending=f"_{i}", numbers={"number": i, **of_place}))
    return _Family(PLACES, copies)


def make_step(view: str, name: str = "", *, materialized: bool = False, **filling: Any) -> Step:
    """Return the step of a view, with its documentation, under its own or another name.

    ``filling`` are the arguments of ``splice``.
    """
    template = load(view, **filling.pop("shape", {}))
    return Step(name or template.name, template.doc, splice(template, **filling), materialized)


def _repeat_conditions(query: exp.Select, families: Mapping[str, _Family]) -> None:
    """Repeat, for all columns, conditions in ``each(...)`` and comparisons of ``qid`` in joins.

    The copies are joined by AND. The query is changed; ``families`` are those of the placeholders
    in it, by their names.
    """
    places = next((families[name] for name in PLACES if name in families), None)
    for node in list(query.find_all(exp.Anonymous)):
        if places and node.name.casefold() == "each":
            together = _conjunction(node.expressions[0], places)
            node.replace(exp.paren(together) if places.copies else together)
    for equal in list(query.find_all(exp.NullSafeEQ)) if "qid" in families else ():
        join = equal.find_ancestor(exp.Join)
        is_in_join = join is not None and join.args.get("on") is not None
        if _is_qid(equal.this) and _is_qid(equal.expression) and is_in_join:
            together = _conjunction(equal, families["qid"])
            in_brackets = isinstance(equal.parent, exp.Not)
            equal.replace(exp.paren(together) if in_brackets else together)


def _conjunction(condition: exp.Expr, family: _Family) -> exp.Expr:
    """Return a condition for each copy of the family, joined by AND."""
    conditions = [_copied(condition, family, copy) for copy in family.copies]
    return exp.and_(*conditions) if conditions else exp.true()


def _is_qid(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and node.name == "qid"


def _repeat_items(query: exp.Select, families: Mapping[str, _Family]) -> None:
    """Repeat items of lists (SELECT, GROUP BY, ...) for all columns of their placeholder.

    The query is changed. A GROUP BY or ORDER BY whose items all had no columns is left out.
    """
    for join in query.find_all(exp.Join):
        if using := join.args.get("using"):
            join.set("using", _repeated_items(join, using, families))
    for window in query.find_all(exp.Window):
        if by := window.args.get("partition_by"):
            window.set("partition_by", _repeated_items(window, by, families))
    # Inner lists first: each copy of an outer item renames the placeholders in its lists.
    for holder in sorted(query.find_all(*LISTS), key=lambda node: -node.depth):
        before = holder.expressions
        holder.set("expressions", _repeated_items(holder, before, families))
        if holder.expressions or not before:
            continue
        if isinstance(holder, exp.Order) and holder.this:  # of an aggregate: list(x ORDER BY qid)
            holder.replace(holder.this)
        elif isinstance(holder, exp.Group | exp.Order):
            holder.pop()


def _repeated_items(
    holder: exp.Expr, items: Sequence[exp.Expr], families: Mapping[str, _Family]
) -> list[exp.Expr]:
    """Return the items of a list, each repeated for the columns of its placeholder."""
    expressions: list[exp.Expr] = []
    for item in items:
        name = _placeholder(holder, item, families)
        if name is None:
            expressions.append(item)
        else:
            expressions += [_copied(item, families[name], copy) for copy in families[name].copies]
    return expressions


def _placeholder(holder: exp.Expr, item: exp.Expr, families: Mapping[str, _Family]) -> str | None:
    """Return the placeholder for whose columns an item of a list is repeated; None if for none.

    ``[qid]`` and ``USING (qid)`` are not repeated item by item: other functions fill these.
    """
    if _is_qid(item.this if isinstance(item, exp.Ordered) else item):
        return "qid" if not isinstance(holder, exp.Array | exp.Join) else None
    # An item of SELECT is repeated if the column that it makes has the name of a placeholder, any
    # other item if a placeholder is in it.
    if isinstance(holder, exp.Select):
        names = [item.alias_or_name]
    else:
        names = [node.name for node in item.find_all(exp.Identifier)]
    return next((name for name in names if name in families and name != "qid"), None)


def _copied(item: exp.Expr, family: _Family, copy: _Copy) -> exp.Expr:
    """Return an item for one copy of its columns: ``qid_2`` for ``qid``, 2 for ``number``."""
    holder = exp.paren(copy_tree(item), copy=False)  # so that the item itself can be replaced
    for column in list(holder.find_all(exp.Column)):
        if column.name in copy.numbers and not column.table:
            column.replace(number(copy.numbers[column.name]))
    for identifier in holder.find_all(exp.Identifier):
        if identifier.name in family.names:
            identifier.set("this", f"{identifier.name}{copy.ending}")
    if copy.tally:  # it counts this secret, and this value in ``code = ...``
        for identifier in holder.find_all(exp.Identifier):
            if identifier.name in ("secret", "secret_values"):
                identifier.set("this", f"{identifier.name}_{copy.tally.secret}")
        for equal in holder.find_all(exp.EQ):
            if equal.this.name == "code":
                equal.set("expression", exp.Literal.number(copy.tally.value))
    return holder.this.pop()  # type: ignore[no-any-return]


def _fill_functions(query: exp.Select, domain: Domain | None) -> None:
    """Replace the placeholders that look like functions: ``added`` and ``comparable``."""
    for node in list(query.find_all(exp.Anonymous)):
        name = node.name.casefold()
        if name == "added":
            node.replace(exp.paren(fold(exp.Add, node.expressions[0].expressions)))
        elif name == "comparable" and domain is not None:
            cast = exp.cast(node.expressions[0], domain.type, dialect="duckdb")
            node.replace(with_one_missing(cast) if domain.kind == "floating" else cast)


def _fill_columns(
    query: exp.Select, columns: Mapping[str, str], numbers: Numbers, rows: Mapping[str, Parameters]
) -> None:
    """Replace columns by others, by whole numbers, or by the values of tables of one row."""
    if not columns and not numbers and not rows:
        return
    for column in list(query.find_all(exp.Column)):
        value = numbers.get(column.name)
        if column.table in rows:
            column.replace(rows[column.table][column.name].copy())
        elif isinstance(value, int) and not column.table:
            column.replace(number(value))
        elif column.name in columns:
            column.set("this", exp.to_identifier(columns[column.name]))


def _fill_tables(
    query: exp.Select, tables: Mapping[str, str], rows: Mapping[str, Parameters]
) -> None:
    """Replace tables, whose names stay as aliases; remove joins with tables of one row."""
    for join in [j for j in query.find_all(exp.Join) if j.this.name in rows] if rows else ():
        join.pop()
    for table in list(query.find_all(exp.Table)) if tables else ():
        if tables.get(table.name, table.name) == table.name:
            continue
        new = exp.to_table(tables[table.name])
        if not table.alias:
            table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name)))
        for part in ("this", "db", "catalog"):
            if part in new.args:
                table.set(part, new.args[part])
