"""Columns of numbers, dates and times as scales: a place for each value."""

from collections.abc import Sequence

from sqlglot import exp

from qifsql.adversary.spec import Attribute
from qifsql.data.types import NUMBERS, family
from qifsql.engine.tables import Tables
from qifsql.query.columns import equal, number
from qifsql.query.splice import splice

UNIT = 2**32  # parts of the distance in one column
APART = 2**33  # between the places of two values that have no scale
ORDERED = (*NUMBERS, "DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIME")


def is_ordered(type_: str) -> bool:
    """Return whether values of a type lie on a scale: numbers, dates and times."""
    return family(type_) in ORDERED


def make_scales(tables: Tables, attributes: Sequence[Attribute]) -> None:
    """Create a table of the place of each code for each column of numbers, dates or times."""
    for i, attribute in enumerate(attributes, 1):
        if not is_ordered(attribute.type):
            continue
        value: exp.Expr = exp.column("value")
        if family(attribute.type) not in NUMBERS:
            value = exp.Anonymous(this="epoch", expressions=[value])
        value = exp.alias_(exp.cast(value, "DOUBLE"), "value")
        query = exp.select("code", value).from_(exp.table_(f"dictionary_{i}"))
        tables.make("values_of_numbers", query)
        tables.make(f"scale_{i}", splice("synthetic/scaled"))
        tables.drop("values_of_numbers")


def drop_scales(tables: Tables, attributes: Sequence[Attribute]) -> None:
    """Drop the tables of places."""
    tables.drop(*(f"scale_{i}" for i, a in enumerate(attributes, 1) if is_ordered(a.type)))


def with_place(query: exp.Select, i: int, attribute: Attribute, code: exp.Expr) -> exp.Select:
    """Return a query with the place of column ``i`` of its rows, of which ``code`` is the code."""
    name = f"place_{i}"
    if not is_ordered(attribute.type):
        return query.select(exp.alias_(exp.Mul(this=code, expression=number(APART)), name))
    scale = f"scale_{i}"
    query = query.select(exp.alias_(exp.column("place", scale), name))
    return query.join(exp.table_(scale), on=equal(exp.column("code", scale), code))
