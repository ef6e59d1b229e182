"""Changes to a release: one quasi-identifier coarser, or fewer records.

===========================  =======================================================================
``drop=zip``                 drop the quasi-identifier
``age:5`` ``date:month``     a coarser form of it (``qifsql.data.coarsen``)
``income:q4``                the bands between its quartiles; as many as are asked for
``age:@2``                   the nodes of level 2 of its hierarchy; the values are level 0
``top(age)=90``              values above 90 become 90; of numbers, dates and times
``bottom(age)=18``           values below 18 become 18
``age=least(age, 90)``       an expression that reads only the quasi-identifier
``sample=0.1``               keep each record with probability 0.1, at random
===========================  =======================================================================

A name may be in quotes: ``drop="a,b"``.
Changes of one quasi-identifier are applied one after the other, each to the result of the last.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from qifsql.adversary.changes import HOW, Change
from qifsql.adversary.names import check_qids
from qifsql.adversary.spec import Attribute
from qifsql.adversary.target import is_exact
from qifsql.counting.scales import has_distances
from qifsql.data.coarsen import MARK, QUANTILES, coarsened, is_banded
from qifsql.data.dataset import Column, Schema
from qifsql.data.expressions import SOURCE, parse, substituted
from qifsql.data.hierarchy import Hierarchy
from qifsql.data.types import INTEGERS, family, nested
from qifsql.engine.catalog import Catalog
from qifsql.errors import ColumnError, ExpressionError, InputError, quoted
from qifsql.query import microdata_steps


@dataclass(frozen=True)
class Changeable:
    """The quasi-identifiers that may be changed, their hierarchies by name, and the filter."""

    catalog: Catalog
    qids: tuple[Attribute, ...]
    hierarchies: Mapping[str, Hierarchy]
    where: exp.Expr | None = None

    @classmethod
    def of(
        cls,
        catalog: Catalog,
        qids: tuple[Attribute, ...],
        files: Mapping[str, str],
        where: exp.Expr | None = None,
    ) -> "Changeable":
        """Return the quasi-identifiers with their hierarchies.

        ``files`` maps names of quasi-identifiers to paths of hierarchies; ``where`` is the filter
        of the records. Raises ColumnError if a name is of no quasi-identifier, DatasetError if a
        file is no hierarchy.
        """
        check_qids(files, [q.name for q in qids])
        types = {q.name: q.type for q in qids}
        mark = getattr(catalog.dataset, "decimal", None)
        trees = {n: Hierarchy.read(path).of_type(types[n], mark) for n, path in files.items()}
        return cls(catalog, qids, trees, where)

    @property
    def remarks(self) -> list[str]:
        """Return notes on hierarchies whose lines were filled up."""
        return [note for tree in self.hierarchies.values() for note in tree.remarks]

    def type(self, tree: exp.Expr, change: Change) -> str:
        """Return the type of an expression over the column ``value`` of a quasi-identifier."""
        expression = substituted(tree, "value", self.qids[change.qid - 1].expression)
        return self.catalog.types([expression], [f"change {quoted(change.text)}"])[0]


def as_values(qid: Attribute) -> Attribute:
    """Return a quasi-identifier as the column ``value`` of a table of its values."""
    return Attribute(qid.name, exp.column("value", table=SOURCE), qid.type)


def apply_changes(
    qids: Sequence[Attribute], changes: Sequence[Change], changeable: Changeable
) -> list[Attribute | None]:
    """Return each quasi-identifier after the changes, made one after the other; None: dropped.

    ``qids`` are unchanged columns ``value`` (``as_values``); ``changeable`` has their hierarchies.
    The ``qid`` of a change is the number of its quasi-identifier from 1; a sample, which changes no
    quasi-identifier, has 0.
    """
    forms: list[Attribute | None] = list(qids)
    for change in changes:
        form = forms[change.qid - 1] if change.qid else None
        if form is not None:
            dropped = change.kind == "drop"
            forms[change.qid - 1] = None if dropped else apply_change(form, change, changeable)
    return forms


def apply_change(attribute: Attribute, change: Change, changeable: Changeable) -> Attribute:
    """Return a quasi-identifier after one change, as an expression over the column ``value``.

    ``attribute`` may have earlier changes in its expression; ``changeable`` has the hierarchies.
    Raises InputError, ColumnError or ExpressionError if the change does not fit it.
    """
    if change.kind in ("top", "bottom"):
        return _limit_values(attribute, change, changeable.catalog)
    if change.kind == "level":
        return _replace_by_nodes(attribute, change, changeable.hierarchies.get(attribute.name))
    if QUANTILES.fullmatch(change.how) and is_banded(attribute.type):
        # Quantiles become the limits that they are, written as a user writes limits of bands.
        limits = MARK.join(_quantiles(attribute, change, changeable))
        change = replace(change, how=f"{limits}{MARK}")
    tree = substituted(_expression_of(attribute, change), "value", attribute.expression)
    type_ = changeable.type(tree, change)
    if nested(type_):
        raise ColumnError(
            f"change {quoted(change.text)} makes nested values ({family(type_)}); make single ones"
        )
    return replace(attribute, expression=tree, type=type_)


def _quantiles(attribute: Attribute, change: Change, changeable: Changeable) -> list[str]:
    """Return the limits of bands with about equally many records, each a value of the attribute.

    ``change.how`` is ``q4`` for four bands, which have three limits or, if values repeat, fewer.
    """
    original = changeable.qids[change.qid - 1].expression
    value = substituted(microdata_steps.normal(attribute), "value", original)
    bands = int(change.how.removeprefix("q"))
    limits = changeable.catalog.quantiles(value, bands, changeable.where)
    if not limits:
        raise InputError(
            f"change {quoted(change.text)} makes one band, because {quoted(attribute.name)} has "
            "too few different values; name limits, as in NAME:18/65"
        )
    return limits


def nothing_changed(text: str, attribute: Attribute) -> str:
    """Return the note on a change, written as ``text``, which gives no two values the same form."""
    kind = family(attribute.type)
    of_type, remedy = "", "make it a number with NAME=EXPRESSION"
    if kind == "VARCHAR":
        of_type = ", of which a number keeps the first characters"
    elif kind in INTEGERS and re.search(r":\d+$", text):
        of_type = ", of which a number makes intervals"
        remedy = "keep digits of a code with NAME=left(NAME::VARCHAR, 2)"
    return (
        f"{quoted(text)} merges no values, so each can still be told: {quoted(attribute.name)} is "
        f"of type {kind}{of_type}; name a coarser form, or {remedy}"
    )


def _readable_schema(attribute: Attribute, name: str | None = None) -> Schema:
    """Return the columns that an expression may read: the quasi-identifier, under its name."""
    name = name or attribute.name
    where = f"what a change of {quoted(attribute.name)} may read"
    return Schema(where, (Column(name, "value", attribute.type),))


def _expression_of(attribute: Attribute, change: Change) -> exp.Expr:
    """Return the expression that a change makes of the column ``value``.

    ``change.how`` is an expression (``least(age, 90)``) or a coarser form (``5``, ``month``).
    """
    if change.kind == "expression":
        return parse(change.how, _readable_schema(attribute), f"change {quoted(change.text)}")
    # A name with blanks at its ends cannot be read back from NAME:HOW: "value" then stands for it.
    for name in (attribute.name, "value"):
        form = coarsened(f"{name}:{change.how}", _readable_schema(attribute, name))
        if form is not None:
            _, expression = form
            return expression
    raise ExpressionError(f"change {quoted(change.text)} cannot be read; write {HOW}")


def _limit_values(attribute: Attribute, change: Change, catalog: Catalog) -> Attribute:
    """Replace values above (``top``) or below the limit ``change.how`` by it; not missing ones."""
    if not has_distances(attribute.type):
        raise ColumnError(
            f"change {quoted(change.text)} needs a column of numbers, dates or times, and "
            f"{quoted(attribute.name)} is {family(attribute.type)}"
        )
    if not (is_exact(change.how, attribute.type) and catalog.fits(change.how, attribute.type)):
        raise InputError(
            f"the limit of change {quoted(change.text)} does not fit the type "
            f"{family(attribute.type)} of {quoted(attribute.name)}"
        )
    limit = exp.cast(exp.Literal.string(change.how), attribute.type, dialect="duckdb")
    value = microdata_steps.normal(attribute)
    beyond = exp.GT if change.kind == "top" else exp.LT
    case = exp.Case().when(beyond(this=exp.paren(value), expression=limit), limit.copy())
    return replace(attribute, expression=case.else_(value.copy()))


def _replace_by_nodes(
    attribute: Attribute, change: Change, hierarchy: Hierarchy | None
) -> Attribute:
    """Replace each value by its node of the level in ``change.how`` (``@2``).

    A line of the hierarchy has the text of a value (level 0) and its nodes of levels 1, 2, ...
    """
    if hierarchy is None:
        raise InputError(
            f"change {quoted(change.text)} needs the hierarchy of {quoted(attribute.name)}; name "
            "it with --hierarchy COLUMN=FILE"
        )
    level = change.how.removeprefix("@")
    highest = hierarchy.levels - 1
    if not re.fullmatch(r"\d{1,3}", level, re.ASCII) or int(level) > highest:
        raise InputError(
            f"change {quoted(change.text)} is of no level of {hierarchy.path}; write "
            f"{quoted(attribute.name)[1:-1]}:@1 to :@{highest}"
        )
    if not isinstance(attribute.expression, exp.Column):
        raise InputError(
            f"change {quoted(change.text)} comes after another of {quoted(attribute.name)}; a "
            "level of a hierarchy must be its first"
        )
    # The map has no missing value as a key, so that it stays missing, whatever the hierarchy says.
    nodes = {line[0]: line[int(level)] for line in hierarchy.lines}
    arrays = [
        exp.Array(expressions=[exp.Literal.string(text) for text in texts])
        for texts in (nodes.keys(), nodes.values())
    ]
    text = exp.cast(attribute.expression.copy(), "VARCHAR")
    node_map = exp.Anonymous(this="map", expressions=arrays)
    lookup = exp.Anonymous(this="map_extract_value", expressions=[node_map, text])
    return replace(attribute, expression=lookup, type="VARCHAR")
