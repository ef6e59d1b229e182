"""Coarser forms of a column, by name: ``age:5``, ``date:month``, ``place:3``.

=============================  =====================================================================
numbers, ``age:5``             intervals of that width from 0 on, by their lower ends: 37 is 35,
                               -3 is -5; of DECIMAL, FLOAT and DOUBLE the width may be 0.5
texts, ``place:3``             the first characters
dates and times, ``t:month``   the beginning of the year, quarter, month, week (Monday), day, hour
                               or minute in which they are, in UTC where they have a time zone
=============================  =====================================================================

A missing value stays missing. A column whose name is the whole text is that column.
"""

import re
from collections.abc import Callable

from sqlglot import exp

from qifsql.dataset import Column, Schema
from qifsql.datatypes import INTEGERS, family
from qifsql.errors import ExpressionError, quoted
from qifsql.expressions import FLOATING, column, with_one_missing

OF_DATES = ("year", "quarter", "month", "week", "day")
OF_TIMES = ("hour", "minute")


def coarsened(text: str, schema: Schema) -> tuple[str, exp.Expr] | None:
    """The name of a coarser form and what it is in SQL; None where ``text`` says none.

    Raises ExpressionError where a column cannot be made coarser in that way.
    """
    name, colon, how = text.strip().rpartition(":")
    found = schema.find(name.strip()) if colon and name.strip() else None
    if found is None:
        return None
    made = _kind(found)
    if made is None:
        raise ExpressionError(
            f"column {quoted(found.name)} is of type {family(found.type)}, which has no coarser "
            "form here; use an expression, as in NAME=EXPRESSION"
        )
    return f"{found.name}:{how.strip()}", made(found, how.strip())


def _kind(found: Column) -> Callable[[Column, str], exp.Expr] | None:
    """What makes columns of a type coarser."""
    type_ = family(found.type)
    if type_ in INTEGERS and type_ != "UHUGEINT":
        return _whole
    if type_ in (*FLOATING, "DECIMAL"):
        return _broken
    if type_ in ("VARCHAR", "ENUM"):
        return _beginning
    if type_ == "TIME":
        return _time
    if type_ == "DATE" or type_.startswith("TIMESTAMP"):
        return _date
    return None


def _whole(found: Column, how: str) -> exp.Expr:
    """The lower end of the interval, exact for whole numbers of any size."""
    if not re.fullmatch(r"[1-9]\d{0,17}", how, re.ASCII):
        raise _wrong(found, how, "a width, a whole number from 1, as in {name}:5")
    wide = family(found.type) in ("UBIGINT", "HUGEINT")
    number = exp.cast(column(found), "HUGEINT")
    end = _lower_end(number, exp.Literal.number(how))
    return end if wide else exp.cast(exp.paren(end), "BIGINT")


def _broken(found: Column, how: str) -> exp.Expr:
    """The lower end of the interval: exact in DECIMAL, rounded in floating numbers."""
    if not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", how, re.ASCII) or not float(how):
        raise _wrong(found, how, "a width above 0, as in {name}:0.5")
    width = exp.Literal.number(how)
    if found.type not in FLOATING:
        return _lower_end(column(found), width)
    wide = exp.cast(width, "DOUBLE")
    number = exp.paren(exp.cast(with_one_missing(column(found)), "DOUBLE"))
    parts = exp.func("floor", exp.Div(this=number, expression=wide))
    return exp.Mul(this=parts, expression=wide.copy())


def _lower_end(number: exp.Expr, width: exp.Expr) -> exp.Expr:
    """``number`` less what it is above the interval's end; % has the sign of the number."""
    rest = exp.paren(exp.Mod(this=number, expression=width.copy()))
    above = exp.paren(exp.Add(this=rest, expression=width.copy()))
    over = exp.paren(exp.Mod(this=above, expression=width.copy()))
    return exp.Sub(this=number.copy(), expression=over)


def _beginning(found: Column, how: str) -> exp.Expr:
    if not re.fullmatch(r"[1-9]\d{0,5}", how, re.ASCII):
        raise _wrong(found, how, "a number of characters from 1, as in {name}:3")
    text: exp.Expr = column(found)
    text = text if family(found.type) == "VARCHAR" else exp.cast(text, "VARCHAR")
    return exp.Anonymous(this="left", expressions=[text, exp.Literal.number(how)])


def _date(found: Column, how: str) -> exp.Expr:
    known = OF_DATES if found.type == "DATE" else (*OF_DATES, *OF_TIMES)
    _check_unit(found, how, known)
    begun = _truncated(how, exp.cast(column(found), "TIMESTAMP"))
    return exp.cast(begun, "DATE") if how in OF_DATES else begun


def _time(found: Column, how: str) -> exp.Expr:
    _check_unit(found, how, OF_TIMES)
    day = exp.cast(exp.Literal.string("1970-01-01"), "DATE")
    moment = exp.paren(exp.Add(this=day, expression=column(found)))
    return exp.cast(_truncated(how, moment), "TIME")


def _truncated(unit: str, moment: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="date_trunc", expressions=[exp.Literal.string(unit), moment])


def _check_unit(found: Column, how: str, known: tuple[str, ...]) -> None:
    if how not in known:
        raise _wrong(found, how, f"one of {', '.join(known)}")


def _wrong(found: Column, how: str, wanted: str) -> ExpressionError:
    name = quoted(found.name)[1:-1]
    return ExpressionError(
        f"{quoted(f'{found.name}:{how}')[1:-1]} makes column {quoted(found.name)} no coarser; "
        f"write {wanted.replace('{name}', name)}"
    )
