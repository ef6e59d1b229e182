"""Coarser forms of a column, by name: ``age:5``, ``date:month``, ``place:3``.

=============================  =====================================================================
numbers, ``age:5``             intervals of that width from 0 on, by their lower ends: 37 is 35,
                               -3 is -5; of DECIMAL, FLOAT and DOUBLE the width may be 0.5
texts, ``place:3``             the first characters
dates and times, ``t:month``   the beginning of the year, quarter, month, week (Monday), day, hour
                               or minute in which they are, in UTC if they have a time zone
=============================  =====================================================================

A missing value stays missing. A column whose name is the whole text is that column.
"""

import re
from collections.abc import Callable

from sqlglot import exp

from qifsql.data.dataset import Column, Schema
from qifsql.data.expressions import FLOATING, column, with_one_missing
from qifsql.data.types import INTEGERS, family
from qifsql.errors import ExpressionError, quoted

OF_DATES = ("year", "quarter", "month", "week", "day")
OF_TIMES = ("hour", "minute")


def coarsened(text: str, schema: Schema) -> tuple[str, exp.Expr] | None:
    """Return the name and the SQL of a coarser form such as ``age:5``; None for other texts.

    After the colon is a width, a number of characters or a unit of time. Raises ExpressionError if
    the column cannot be coarsened in that way.
    """
    name, colon, how = text.strip().rpartition(":")
    original = schema.find(name.strip()) if colon and name.strip() else None
    if original is None:
        return None
    coarsen = _coarsener(original)
    if coarsen is None:
        raise ExpressionError(
            f"column {quoted(original.name)} is of type {family(original.type)}, which has no "
            "coarser form here; use an expression, as in NAME=EXPRESSION"
        )
    return f"{original.name}:{how.strip()}", coarsen(original, how.strip())


def _coarsener(original: Column) -> Callable[[Column, str], exp.Expr] | None:
    """Return the function that coarsens columns of this type; None if they have no coarser form."""
    type_ = family(original.type)
    if type_ in INTEGERS and type_ != "UHUGEINT":
        return _integer_band
    if type_ in (*FLOATING, "DECIMAL"):
        return _decimal_band
    if type_ in ("VARCHAR", "ENUM"):
        return _beginning
    if type_ == "TIME":
        return _time
    if type_ == "DATE" or type_.startswith("TIMESTAMP"):
        return _date
    return None


def _integer_band(original: Column, width: str) -> exp.Expr:
    """Return the SQL of the lower end of a whole number's interval of this width, from 0 on."""
    if not re.fullmatch(r"[1-9]\d{0,17}", width, re.ASCII):
        raise _wrong(original, width, "a width, a whole number from 1, as in {name}:5")
    end = _lower_end(exp.cast(column(original), "HUGEINT"), exp.Literal.number(width))
    needs_hugeint = family(original.type) in ("UBIGINT", "HUGEINT")
    return end if needs_hugeint else exp.cast(exp.paren(end), "BIGINT")


def _decimal_band(original: Column, width: str) -> exp.Expr:
    """Return the lower end of a number's interval in SQL: exact in DECIMAL, else a DOUBLE."""
    if not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", width, re.ASCII) or not float(width):
        raise _wrong(original, width, "a width above 0, as in {name}:0.5")
    literal = exp.Literal.number(width)
    if original.type not in FLOATING:
        return _lower_end(column(original), literal)
    double = exp.cast(literal, "DOUBLE")
    number = exp.paren(exp.cast(with_one_missing(column(original)), "DOUBLE"))
    intervals_below = exp.func("floor", exp.Div(this=number, expression=double))
    return exp.Mul(this=intervals_below, expression=double.copy())


def _lower_end(number: exp.Expr, width: exp.Expr) -> exp.Expr:
    """Return the lower end of the interval of ``number``; in SQL, % has the sign of the number."""
    rest = exp.paren(exp.Mod(this=number, expression=width.copy()))
    above = exp.paren(exp.Add(this=rest, expression=width.copy()))
    over = exp.paren(exp.Mod(this=above, expression=width.copy()))
    return exp.Sub(this=number.copy(), expression=over)


def _beginning(original: Column, how: str) -> exp.Expr:
    if not re.fullmatch(r"[1-9]\d{0,5}", how, re.ASCII):
        raise _wrong(original, how, "a number of characters from 1, as in {name}:3")
    text: exp.Expr = column(original)
    text = text if family(original.type) == "VARCHAR" else exp.cast(text, "VARCHAR")
    return exp.Anonymous(this="left", expressions=[text, exp.Literal.number(how)])


def _date(original: Column, how: str) -> exp.Expr:
    units = OF_DATES if original.type == "DATE" else (*OF_DATES, *OF_TIMES)
    _check_unit(original, how, units)
    begun = _truncated(how, exp.cast(column(original), "TIMESTAMP"))
    return exp.cast(begun, "DATE") if how in OF_DATES else begun


def _time(original: Column, how: str) -> exp.Expr:
    _check_unit(original, how, OF_TIMES)
    day = exp.cast(exp.Literal.string("1970-01-01"), "DATE")
    moment = exp.paren(exp.Add(this=day, expression=column(original)))
    return exp.cast(_truncated(how, moment), "TIME")


def _truncated(unit: str, moment: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="date_trunc", expressions=[exp.Literal.string(unit), moment])


def _check_unit(original: Column, how: str, units: tuple[str, ...]) -> None:
    if how not in units:
        raise _wrong(original, how, f"one of {', '.join(units)}")


def _wrong(original: Column, how: str, hint: str) -> ExpressionError:
    name = quoted(original.name)[1:-1]
    return ExpressionError(
        f"{quoted(f'{original.name}:{how}')[1:-1]} makes column {quoted(original.name)} no "
        f"coarser; write {hint.replace('{name}', name)}"
    )
