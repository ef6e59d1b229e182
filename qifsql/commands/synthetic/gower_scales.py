"""Columns of numbers, dates and times as scales: a place for each value."""

import math
from collections.abc import Sequence

from sqlglot import exp

from qifsql.adversary.spec import Attribute
from qifsql.data.types import NUMBERS, family
from qifsql.engine.tables import Tables
from qifsql.query.columns import equal, number
from qifsql.query.splice import splice

MOST = 2**34  # parts of the distance in one column: sums, and codes times it, are whole numbers
ORDERED = (*NUMBERS, "DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIME")


def is_ordered(type_: str) -> bool:
    """Return whether values of a type lie on a scale: numbers, dates and times."""
    return family(type_) in ORDERED


def make_scales(tables: Tables, attributes: Sequence[Attribute]) -> int:
    """Create a table of the place of each code for each column of numbers, dates or times.

    Returns how many parts the distance in one column has at most. Where the lengths of all columns
    of whole numbers have a common multiple up to ``MOST``, distances are exact; else those of one
    column are rounded to so many parts.
    """
    lengths: dict[int, int] = {}
    for i, attribute in enumerate(attributes, 1):
        if is_ordered(attribute.type):
            tables.make(f"values_of_numbers_{i}", _values_as_numbers(i, attribute))
            query = splice("synthetic/ends_of_numbers", tables=_scale_name(i))
            ((_, span, factor),) = tables.rows(query)
            lengths[i] = 0 if not span or factor is None else round(span * factor)
    common = math.lcm(*(length for length in lengths.values() if length))
    exact = common <= MOST
    unit = common * (MOST // common) if exact else MOST
    for i, length in lengths.items():
        part = unit // length if length and exact else 0
        numbers = {"scale_unit": unit, "part_length": part}
        tables.make(f"ends_{i}", splice("synthetic/ends_of_numbers", tables=_scale_name(i)))
        names = {**_scale_name(i), "ends_of_numbers": f"ends_{i}"}
        tables.make(f"scale_{i}", splice("synthetic/scaled", tables=names, numbers=numbers))
        tables.drop(f"values_of_numbers_{i}", f"ends_{i}")
    return unit


def _scale_name(i: int) -> dict[str, str]:
    return {"values_of_numbers": f"values_of_numbers_{i}"}


def _values_as_numbers(i: int, attribute: Attribute) -> exp.Select:
    """Return the values of a column as numbers, dates and times in seconds, by their codes."""
    value: exp.Expr = exp.column("value")
    if family(attribute.type) not in NUMBERS:
        value = exp.Anonymous(this="epoch", expressions=[value])
    value = exp.alias_(exp.cast(value, "DOUBLE"), "value")
    return exp.select("code", value).from_(exp.table_(f"dictionary_{i}"))


def drop_scales(tables: Tables, attributes: Sequence[Attribute]) -> None:
    """Drop the tables of places."""
    tables.drop(*(f"scale_{i}" for i, a in enumerate(attributes, 1) if is_ordered(a.type)))


def with_place(
    query: exp.Select, i: int, attribute: Attribute, code: exp.Expr, unit: int
) -> exp.Select:
    """Return a query with the place of column ``i`` of its rows, of which ``code`` is the code.

    Two values that have no scale are ``unit`` apart, and more.
    """
    name = f"place_{i}"
    if not is_ordered(attribute.type):
        return query.select(exp.alias_(exp.Mul(this=code, expression=number(2 * unit)), name))
    scale = f"scale_{i}"
    query = query.select(exp.alias_(exp.column("place", scale), name))
    return query.join(exp.table_(scale), on=equal(exp.column("code", scale), code))
