"""Coarser forms of a column, by name: ``age:5``, ``date:month``, ``place:3``.

=============================  =====================================================================
numbers, ``age:5``             intervals of that width from 0 on, by their lower ends: 37 is 35,
                               -3 is -5; of DECIMAL, FLOAT and DOUBLE the width may be 0.5
texts, ``place:3``             the first characters
dates and times, ``t:month``   the beginning of the year, quarter, month, week (Monday), day, hour
                               or minute in which they are, in UTC if they have a time zone
dates, ``t:10y``               the beginning of the band of 10 years (y), months (m), weeks (w) or
                               days (d); bands of years and months begin in year 0, of weeks and
                               days on Monday, 5 January 1970
dates, ``t:age@2024-12-31``    the age on that day, in full years; ``t:age5@2024-12-31``: in
                               intervals of 5 years
numbers, dates, ``x:18/65``    the bands between limits, as texts: <18, 18-64, >=65; ``x:18/``
                               has one limit; dates without times alone, in ISO 8601, and decimal
                               points
=============================  =====================================================================

A missing value stays missing. A column whose name is the whole text is that column.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from sqlglot import exp

from qifsql.data.dataset import Column, Schema
from qifsql.data.exact import exact
from qifsql.data.expressions import FLOATING, column, filled, with_one_missing
from qifsql.data.types import INTEGERS, NUMBERS, family, scale_of
from qifsql.errors import ExpressionError, quoted

OF_DATES = ("year", "quarter", "month", "week", "day")
OF_TIMES = ("hour", "minute")
BAND = re.compile(r"([1-9]\d{0,4})([ymwd])", re.ASCII)
AGE = re.compile(r"age([1-9]\d{0,2})?@(\d{4}-\d{2}-\d{2})", re.ASCII)
MONDAY = "1970-01-05"  # a day on which a week begins
LARGEST = 10**38  # above all decimals of DuckDB, and what a limit may be
MARK = "/"  # between limits of bands
QUANTILES = re.compile(r"q([2-9]|[1-9]\d{1,2})", re.ASCII)
_DIGITS_OF_DAY = "(year(born) * 10000 + month(born) * 100 + day(born))"  # 19800407


def coarsened(text: str, schema: Schema) -> tuple[str, exp.Expr] | None:
    """Return the name and the SQL of a coarser form such as ``age:5``; None for other texts.

    After the colon is a width, a number of characters or a unit of time. Raises ExpressionError if
    the column cannot be coarsened in that way.
    """
    name, colon, how = text.strip().rpartition(":")
    original = schema.find(name.strip()) if colon and name.strip() else None
    if original is None:
        return None
    coarsen = _coarsener(original, how)
    if coarsen is None:
        raise ExpressionError(
            f"column {quoted(original.name)} is of type {family(original.type)}, which has no "
            "coarser form here; use an expression, as in NAME=EXPRESSION"
        )
    return f"{original.name}:{how.strip()}", coarsen(original, how.strip())


def _coarsener(original: Column, how: str) -> Callable[[Column, str], exp.Expr] | None:
    """Return the function that coarsens columns of this type; None if they have no coarser form."""
    if MARK in how and is_banded(original.type):
        return _bands
    type_ = family(original.type)
    if type_ in INTEGERS and type_ != "UHUGEINT":
        return _integer_band
    if type_ in (*FLOATING, "DECIMAL"):
        return _decimal_band
    if type_ in ("VARCHAR", "ENUM"):
        return _first_characters
    if type_ == "TIME":
        return _beginning_of_time
    if type_ == "DATE" or type_.startswith("TIMESTAMP"):
        return _beginning_of_date
    return None


def _integer_band(original: Column, width: str) -> exp.Expr:
    """Return the SQL of the lower end of a whole number's interval of this width, from 0 on."""
    if not re.fullmatch(r"[1-9]\d{0,17}", width, re.ASCII):
        raise _error(original, width, "a width, a whole number from 1, as in {name}:5")
    end = _lower_end(exp.cast(column(original), "HUGEINT"), width)
    needs_hugeint = family(original.type) in ("UBIGINT", "HUGEINT")
    return end if needs_hugeint else exp.cast(exp.paren(end), "BIGINT")


def _decimal_band(original: Column, width: str) -> exp.Expr:
    """Return the lower end of a number's interval in SQL: exact in DECIMAL, else a DOUBLE."""
    if not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", width, re.ASCII) or not float(width):
        raise _error(original, width, "a width above 0, as in {name}:0.5")
    if original.type not in FLOATING:
        return _lower_end(column(original), width)
    words = {"value": exp.cast(with_one_missing(column(original)), "DOUBLE")}
    return filled(f"floor(value / CAST({width} AS DOUBLE)) * CAST({width} AS DOUBLE)", words)


def _lower_end(number: exp.Expr, width: str) -> exp.Expr:
    """Return the lower end of the interval of a number; in SQL, % has the sign of the number."""
    return filled(f"value - (((value % {width}) + {width}) % {width})", {"value": number})


def _first_characters(original: Column, how: str) -> exp.Expr:
    if not re.fullmatch(r"[1-9]\d{0,5}", how, re.ASCII):
        raise _error(original, how, "a number of characters from 1, as in {name}:3")
    text: exp.Expr = column(original)
    text = text if family(original.type) == "VARCHAR" else exp.cast(text, "VARCHAR")
    return exp.Anonymous(this="left", expressions=[text, exp.Literal.number(how)])


def _beginning_of_date(original: Column, how: str) -> exp.Expr:
    """Return the age at a date, or the first day or time of a band or unit (``how``)."""
    if match := AGE.fullmatch(how):
        return _age(original, match[2], int(match[1] or 1))
    if match := BAND.fullmatch(how):
        return _date_band(original, int(match[1]), match[2])
    units = OF_DATES if original.type == "DATE" else (*OF_DATES, *OF_TIMES)
    bands = ["a band such as 10y, 6m, 2w or 14d, or age@2024-12-31"]
    if original.type != "DATE":
        bands.append("for quantiles or limits, make it a date with NAME=CAST({name} AS DATE)")
    _check_unit(original, how, units, *bands)
    begun = _truncated(how, exp.cast(column(original), "TIMESTAMP"))
    return exp.cast(begun, "DATE") if how in OF_DATES else begun


def _age(original: Column, day: str, width: int) -> exp.Expr:
    """Return the lower end of the interval of full years from a date to a day; below 0 after it."""
    try:
        until = date.fromisoformat(day)
    except ValueError as e:
        hint = "a day that exists, as in {name}:age@2024-12-31"
        raise _error(original, f"age@{day}", hint) from e
    words = {"born": exp.cast(column(original), "TIMESTAMP")}
    ages = f"floor(({until:%Y%m%d} - {_DIGITS_OF_DAY}) / {10_000 * width})"
    return filled(f"CAST({ages} * {width} AS BIGINT)", words)


def _date_band(original: Column, length: int, unit: str) -> exp.Expr:
    """Return the first day of a band of years, months, weeks or days; infinite dates stay."""
    words = {"moment": exp.cast(exp.cast(column(original), "TIMESTAMP"), "DATE")}
    # ((a % b) + b) % b, because in SQL the remainder of a negative number is negative.
    if unit in "wd":
        width = length * (7 if unit == "w" else 1)
        days = f"(moment - DATE '{MONDAY}')"
        return filled(f"moment - CAST((({days} % {width}) + {width}) % {width} AS INTEGER)", words)
    width = length * (12 if unit == "y" else 1)
    months = "(year(moment) * 12 + month(moment) - 1)"
    begin = f"({months} - (({months} % {width}) + {width}) % {width})"
    # make_date is NULL for infinite dates.
    template = f"coalesce(make_date({begin} // 12, {begin} % 12 + 1, 1), moment)"
    return filled(template, words)


def is_banded(type_: str) -> bool:
    """Return whether values of a type have bands between limits."""
    return family(type_) in (*NUMBERS, "DATE")


def _bands(original: Column, how: str) -> exp.Expr:
    """Return the band of a value between limits, as a text; each limit begins a band."""
    limits = [text.strip() for text in how.removesuffix(MARK).split(MARK)]
    values = [_limit_value(text, original.type) for text in limits]
    if None in values or any(a >= b for a, b in pairwise(values)):  # type: ignore[operator]
        kind = "days, as in {name}:1980-01-01/2000-01-01"
        if original.type != "DATE":
            kind = f"numbers of type {family(original.type)}, as in {{name}}:18/65"
        raise _error(original, how, f"limits in ascending order, {kind}")
    limits = [_write_limit(text, original.type) for text in limits]
    value: exp.Expr = column(original)
    value = exp.paren(with_one_missing(value)) if original.type in FLOATING else value
    type_of_limits = _type_of_limits(original.type, limits)
    case = exp.Case()
    labelled = list(zip(limits, _labels(limits, original.type), strict=True))
    for limit, label in reversed(labelled):  # the first limit that a value reaches, from the top
        literal = exp.cast(exp.Literal.string(limit), type_of_limits, dialect="duckdb")
        case = case.when(exp.GTE(this=value.copy(), expression=literal), exp.Literal.string(label))
    is_present = exp.not_(value.copy().is_(exp.null()))
    return case.when(is_present, exp.Literal.string(f"<{limits[0]}"))


def _limit_value(text: str, type_: str) -> Fraction | date | None:
    """Return the value of a limit of values of a type; None if the text is none."""
    if type_ == "DATE":
        with suppress(ValueError):
            return date.fromisoformat(text)
        return None
    value = exact(text)
    if value is None or type_ in FLOATING:
        return value
    units = value * 10 ** scale_of(type_)  # of the last decimal
    return value if abs(units) < LARGEST and not units % 1 else None


def _type_of_limits(type_: str, limits: Sequence[str]) -> str:
    """Return a type that also holds limits that are beyond all values of a type."""
    if family(type_) == "DECIMAL":
        return f"DECIMAL(38,{scale_of(type_)})"
    if family(type_) in INTEGERS and type_ != "UHUGEINT":  # which no other type holds
        return "BIGINT" if all(abs(int(limit)) < 2**63 for limit in limits) else "HUGEINT"
    return type_


def _write_limit(limit: str, type_: str) -> str:
    """Return a limit as SQL and labels have it: ``1e1`` as 10, ``19600101`` as 1960-01-01."""
    if type_ == "DATE":
        return date.fromisoformat(limit).isoformat()
    return str(int(Fraction(limit))) if family(type_) in INTEGERS else f"{Decimal(limit):f}"


def _labels(limits: Sequence[str], type_: str) -> list[str]:
    """Return the texts of the bands that begin at each limit: ``18-64``, ``[1.5,2)``, ``>=65``."""
    labels = []
    for low, high in pairwise(limits):
        if type_ == "DATE":
            labels.append(f"{low} to {date.fromisoformat(high) - timedelta(days=1)}")
        elif family(type_) in INTEGERS:
            last = int(high) - 1
            between = "-" if int(low) >= 0 else " to "
            labels.append(low if int(low) == last else f"{low}{between}{last}")
        else:
            labels.append(f"[{low},{high})")
    return [*labels, f">={limits[-1]}"]


def _beginning_of_time(original: Column, how: str) -> exp.Expr:
    _check_unit(original, how, OF_TIMES)
    day = exp.cast(exp.Literal.string("1970-01-01"), "DATE")
    moment = exp.paren(exp.Add(this=day, expression=column(original)))
    return exp.cast(_truncated(how, moment), "TIME")


def _truncated(unit: str, moment: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="date_trunc", expressions=[exp.Literal.string(unit), moment])


def _check_unit(original: Column, how: str, units: tuple[str, ...], *others: str) -> None:
    if how not in units:
        raise _error(original, how, ", or ".join([f"one of {', '.join(units)}", *others]))


def _error(original: Column, how: str, hint: str) -> ExpressionError:
    name = quoted(original.name)[1:-1]
    return ExpressionError(
        f"{quoted(f'{original.name}:{how}')[1:-1]} makes column {quoted(original.name)} no "
        f"coarser; write {hint.replace('{name}', name)}"
    )
