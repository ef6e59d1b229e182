"""Columns of numbers, dates and times as scales: a place for each value."""

import math
from collections.abc import Sequence

from sqlglot import exp

from qifsql.adversary.spec import Attribute
from qifsql.data.types import NUMBERS, family
from qifsql.engine.tables import Tables
from qifsql.query.columns import equal, number
from qifsql.query.splice import splice

MOST_PARTS = 2**34  # of the distance in one column: sums, and codes times it, are whole numbers
ORDERED = (*NUMBERS, "DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIME")


def is_ordered(type_: str) -> bool:
    """Return whether values of a type lie on a scale: numbers, dates and times."""
    return family(type_) in ORDERED


def make_scales(tables: Tables, attributes: Sequence[Attribute]) -> int:
    """Create ``scale_i`` for each column of numbers, dates or times: a row per code, its place.

    Return the unit: the number of parts of the distance from the least to the greatest value, the
    same in all columns. Values that are multiples of a step have a length in steps. If all lengths
    have a common multiple up to ``MOST_PARTS``, each step is a whole number of parts
    (``part_length``), and distances are exact; else they are rounded to whole parts (0).
    """
    lengths: dict[int, int] = {}  # in steps, by column; 0: of one value, or without a step
    for i, attribute in enumerate(attributes, 1):
        if is_ordered(attribute.type):
            value: exp.Expr = exp.column("value")
            if family(attribute.type) not in NUMBERS:  # of dates and times, the seconds
                value = exp.Anonymous(this="epoch", expressions=[value])
            value = exp.alias_(exp.cast(value, "DOUBLE"), "value")
            query = exp.select("code", value).from_(exp.table_(f"dictionary_{i}"))
            values = f"values_of_numbers_{i}"
            tables.make(values, query)
            names = {"values_of_numbers": values}
            tables.make(f"ends_{i}", splice("synthetic/ends_of_numbers", tables=names))
            query = exp.select("*").from_(exp.Table(this=exp.to_identifier(f"ends_{i}")))
            ((_least, span, steps_per_unit),) = tables.rows(query)
            has_steps = span and steps_per_unit is not None  # else one value, or no common step
            lengths[i] = round(span * steps_per_unit) if has_steps else 0
    multiple = math.lcm(*(length for length in lengths.values() if length))
    is_exact = multiple <= MOST_PARTS
    unit = MOST_PARTS - MOST_PARTS % multiple if is_exact else MOST_PARTS
    for i, length in lengths.items():
        numbers = {"scale_unit": unit, "part_length": unit // length if length and is_exact else 0}
        names = {"values_of_numbers": f"values_of_numbers_{i}", "ends_of_numbers": f"ends_{i}"}
        tables.make(f"scale_{i}", splice("synthetic/scaled", tables=names, numbers=numbers))
        tables.drop(*names.values())
    return unit


def drop_scales(tables: Tables, attributes: Sequence[Attribute]) -> None:
    """Drop the tables of places."""
    tables.drop(*(f"scale_{i}" for i, a in enumerate(attributes, 1) if is_ordered(a.type)))


def with_place(
    query: exp.Select, i: int, attribute: Attribute, code: exp.Expr, unit: int
) -> exp.Select:
    """Return the query with one more column, ``place_i``: where column ``i`` is on its scale.

    ``code`` is the code of its value. Different values without an order are as far apart as
    possible: two units or more, and only the first unit of a distance counts.
    """
    name = f"place_{i}"
    if not is_ordered(attribute.type):
        return query.select(exp.alias_(exp.Mul(this=code, expression=number(2 * unit)), name))
    scale = f"scale_{i}"
    query = query.select(exp.alias_(exp.column("place", scale), name))
    return query.join(exp.table_(scale), on=equal(exp.column("code", scale), code))
