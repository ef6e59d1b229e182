"""Changes to a release before they are made: one quasi-identifier coarser, or fewer records.

===========================  =======================================================================
``drop=zip``                 without that quasi-identifier
``age:5`` ``date:month``     a coarser form of it (``qifsql.coarsenings``)
``age:@2``                   the nodes of that level of its hierarchy; the values are level 0
``top(age)=90``              values above 90 become 90; of numbers, dates and times
``bottom(age)=18``           values below 18 become 18
``age=least(age, 90)``       an expression over that quasi-identifier alone
``sample=0.1``               each record stays with that probability, by a lot
===========================  =======================================================================

A name may be in quotes, as where it is named: ``drop="a,b"``.
Changes of one quasi-identifier are made one after the other, each to what the last one left.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sqlglot import exp

from qifsql import microdata
from qifsql.coarsenings import coarsened
from qifsql.dataset import Column, Schema
from qifsql.datatypes import family, nested
from qifsql.engine.catalog import Catalog
from qifsql.errors import ColumnError, ExpressionError, InputError, did_you_mean, quoted
from qifsql.expressions import SOURCE, parse
from qifsql.sanitise.hierarchies import Hierarchy
from qifsql.sanitise.scales import measured
from qifsql.spec import Attribute
from qifsql.targets import is_exact

HOW = "drop=NAME, NAME:5, NAME:month, NAME:@1, top(NAME)=90, NAME=EXPRESSION or sample=0.1"


@dataclass(frozen=True)
class Change:
    """One change: its text, its kind, the number of its quasi-identifier (0: none), and how.

    ``kind`` is ``drop``, ``top``, ``bottom``, ``coarser``, ``level``, ``expression`` or ``sample``.
    """

    text: str
    kind: str
    qid: int
    how: str

    @property
    def rate(self) -> Fraction:
        """The share of the records that a sample keeps."""
        return Fraction(self.how)


def read(text: str, qids: Sequence[Attribute]) -> Change:
    """The change that a text says; InputError where it says none."""
    if found := re.fullmatch(r"\s*sample\s*=\s*(.*)", text, re.S):
        return Change(text, "sample", 0, str(_rate(found[1])))
    if found := re.fullmatch(r"\s*drop\s*=(.*)", text, re.S):
        return Change(text, "drop", _number(found[1], text, qids), "")
    if found := re.fullmatch(r"\s*(top|bottom)\((.*)\)\s*=\s*(.*)", text, re.S):
        return Change(text, found[1], _number(found[2], text, qids), found[3].strip())
    beginnings = [(_beginning(text, sign, qids), sign) for sign in "=:"]
    (length, number), sign = max(beginnings)  # the longest name
    if number:
        how = text[text.index(sign, length) + 1 :].strip()
        if sign == "=":
            return Change(text, "expression", number, how)
        return Change(text, "level" if how.startswith("@") else "coarser", number, how)
    name = re.split(r"[=:]", text, maxsplit=1)[0].strip()
    if name == text:
        raise InputError(f"{quoted(text)} is no change; write {HOW}")
    raise ColumnError(
        f"change {quoted(text)} is of {quoted(name)}, which is no quasi-identifier"
        f"{did_you_mean(name, (q.name for q in qids))}"
    )


def _beginning(text: str, sign: str, qids: Sequence[Attribute]) -> tuple[int, int]:
    """The quasi-identifier that a text begins with, before the sign: its length and number; 0, 0.

    Names are looked for as they are written, and only then without regard to case.
    """
    names = [(form, i) for i, q in enumerate(qids, 1) for form in (q.name, _in_quotes(q.name))]
    for same in (str, str.casefold):
        found = [
            (len(name), i)
            for name, i in names
            if same(text).startswith(same(name)) and text[len(name) :].lstrip().startswith(sign)
        ]
        if found:
            return max(found)
    return 0, 0


def _in_quotes(name: str) -> str:
    """A name as a row of CSV has it where it holds a comma."""
    return '"' + name.replace('"', '""') + '"'


def _unquoted(text: str) -> str:
    """The name that is written in quotes; the text itself where it is not."""
    found = text[1:-1].replace('""', '"')
    return found if _in_quotes(found) == text else text


def _number(name: str, text: str, qids: Sequence[Attribute]) -> int:
    """The number of the quasi-identifier of that name."""
    for wanted in (name, name.strip(), _unquoted(name.strip())):
        for same in (str, str.casefold):
            found = [i for i, q in enumerate(qids, 1) if same(q.name) == same(wanted)]
            if len(found) == 1:
                return found[0]
    hint = did_you_mean(name.strip(), (q.name for q in qids))
    raise ColumnError(
        f"change {quoted(text)} is of {quoted(name.strip())}, which is no quasi-identifier{hint}"
    )


def _rate(text: str) -> Fraction:
    try:
        found = Fraction(text.strip())
    except (ValueError, ZeroDivisionError) as e:
        raise InputError(
            f"sample={quoted(text)[1:-1]} is no share; write one such as sample=0.1"
        ) from e
    if not 0 < found <= 1:
        raise InputError("a sample keeps a share above 0 and at most 1; write such as sample=0.1")
    return found


@dataclass(frozen=True)
class Changed:
    """What may be changed: the quasi-identifiers of a file, and their hierarchies by name."""

    catalog: Catalog
    qids: tuple[Attribute, ...]
    hierarchies: Mapping[str, Hierarchy]

    def type(self, tree: exp.Expr, change: Change) -> str:
        """The type of an expression over the column ``value`` of a quasi-identifier."""
        raw = self.qids[change.qid - 1]
        whole = _in_place(tree, raw)
        return self.catalog.types([whole], [f"change {quoted(change.text)}"])[0]


def changed(attribute: Attribute, change: Change, of: Changed) -> Attribute:
    """The quasi-identifier, an expression over the column ``value``, as the change leaves it.

    Raises InputError, ColumnError or ExpressionError where it has no such form.
    """
    if change.kind in ("top", "bottom"):
        return _coded(attribute, change, of.catalog)
    if change.kind == "level":
        return _level(attribute, change, of.hierarchies.get(attribute.name))
    made = _expression if change.kind == "expression" else _coarser
    tree = _in_place(made(attribute, change), attribute)
    kind = of.type(tree, change)
    if nested(kind):
        raise ColumnError(
            f"change {quoted(change.text)} makes nested values ({family(kind)}); make single ones"
        )
    return replace(attribute, expression=tree, type=kind)


def _alone(attribute: Attribute, name: str | None = None) -> Schema:
    """What an expression may read: the quasi-identifier, under its name."""
    name = name or attribute.name
    where = f"what a change of {quoted(attribute.name)} may read"
    return Schema(where, (Column(name, "value", attribute.type),))


def _expression(attribute: Attribute, change: Change) -> exp.Expr:
    return parse(change.how, _alone(attribute), f"change {quoted(change.text)}")


def _coarser(attribute: Attribute, change: Change) -> exp.Expr:
    for name in (attribute.name, "value"):  # blanks at its ends are no part of a name there
        found = coarsened(f"{name}:{change.how}", _alone(attribute, name))
        if found is not None:
            return found[1]
    raise ExpressionError(f"change {quoted(change.text)} cannot be read; write {HOW}")


def _in_place(tree: exp.Expr, attribute: Attribute) -> exp.Expr:
    """The tree with the quasi-identifier, as it was left, where it reads ``value``."""

    def own(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.table == SOURCE and node.name == "value":
            tree = attribute.expression.copy()
            return tree if isinstance(tree, exp.Column) else exp.paren(tree)
        return node

    return tree.transform(own)


def _coded(attribute: Attribute, change: Change, catalog: Catalog) -> Attribute:
    """The values beyond a limit become that limit; a missing one stays missing."""
    if not measured(attribute.type):
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
    value = microdata.normal(attribute)
    beyond = exp.GT if change.kind == "top" else exp.LT
    case = exp.Case().when(beyond(this=exp.paren(value), expression=limit), limit.copy())
    return replace(attribute, expression=case.else_(value.copy()))


def _level(attribute: Attribute, change: Change, hierarchy: Hierarchy | None) -> Attribute:
    """The nodes of one level, by a look-up of each value's text."""
    if hierarchy is None:
        raise InputError(
            f"change {quoted(change.text)} needs the hierarchy of {quoted(attribute.name)}; name "
            "it with --hierarchy COLUMN=FILE"
        )
    level = change.how[1:]
    most = hierarchy.levels - 1
    if not re.fullmatch(r"\d{1,3}", level, re.ASCII) or int(level) > most:
        raise InputError(
            f"change {quoted(change.text)} is of no level of {hierarchy.path}; write "
            f"{quoted(attribute.name)[1:-1]}:@1 to :@{most}"
        )
    if not isinstance(attribute.expression, exp.Column):
        raise InputError(
            f"change {quoted(change.text)} comes after another of {quoted(attribute.name)}; a "
            "level of a hierarchy must be its first"
        )
    # A missing value stays missing, whatever the hierarchy says.
    lines = {line[0]: line[int(level)] for line in hierarchy.lines}
    labels = [
        exp.Array(expressions=[exp.Literal.string(text) for text in side])
        for side in zip(*lines.items(), strict=True)
    ]
    text = exp.cast(attribute.expression.copy(), "VARCHAR")
    nodes = exp.Anonymous(this="map", expressions=labels)
    found = exp.Anonymous(this="map_extract_value", expressions=[nodes, text])
    return replace(attribute, expression=found, type="VARCHAR")
