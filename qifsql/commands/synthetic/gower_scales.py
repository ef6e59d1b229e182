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

    Returns the unit: how many parts the distance in one column has at most. A column of whole
    multiples of a step has a length in steps. Where all these lengths have a common multiple up to
    ``MOST``, each step is a whole number of parts (``part_length``), and distances are exact; else
    the distances in a column are rounded to so many parts (``part_length`` 0).
    """
    lengths: dict[int, int] = {}
    for i, attribute in enumerate(attributes, 1):
        if is_ordered(attribute.type):
            values = {"values_of_numbers": f"values_of_numbers_{i}"}
            tables.make(values["values_of_numbers"], _values_as_numbers(i, attribute))
            tables.make(f"ends_{i}", splice("synthetic/ends_of_numbers", tables=values))
            query = exp.select("*").from_(exp.Table(this=exp.to_identifier(f"ends_{i}")))
            ((_, span, factor),) = tables.rows(query)
            lengths[i] = 0 if not span or factor is None else round(span * factor)
    common = math.lcm(*(length for length in lengths.values() if length))
    is_exact = common <= MOST
    unit = MOST - MOST % common if is_exact else MOST
    for i, length in lengths.items():
        numbers = {"scale_unit": unit, "part_length": unit // length if length and is_exact else 0}
        names = {"values_of_numbers": f"values_of_numbers_{i}", "ends_of_numbers": f"ends_{i}"}
        tables.make(f"scale_{i}", splice("synthetic/scaled", tables=names, numbers=numbers))
        tables.drop(*names.values())
    return unit


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
