"""Dates as people write them: the order of day, month and year, and periods of days.

Periods are ``1980s``, ``1980-1984``, ``1980``, ``Jan-Mar 2019`` and ``Jan 2019``. A release has
them in place of dates, and they are read as the days from the first to the last one.
"""

import re
from datetime import date, timedelta
from typing import Literal, cast, get_args

from qifsql.errors import DatasetError, quoted

Order = Literal["dmy", "mdy", "ymd"]
ORDERS: tuple[str, ...] = get_args(Order)
DAYS = {"dmy": "%d{0}%m{0}%Y", "mdy": "%m{0}%d{0}%Y", "ymd": "%Y{0}%m{0}%d"}
"""The form of a date in DuckDB by its order; ``{0}`` is the mark between the parts."""
TIMES = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", "T%H:%M:%S", "T%H:%M:%S.%f")
WRITTEN = {
    "dmy": "[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{4}",
    "mdy": "[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{4}",
    "ymd": "[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}",
}
"""Patterns of dates by their order: the year has four digits."""
YEAR_FIRST = f"{WRITTEN['ymd']}([ T].*)?"
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTH = rf"({'|'.join(MONTHS)})"
_YEAR = "([1-9][0-9]{3})"
_DECADE = re.compile("([1-9][0-9]{2}0)s")
_YEARS = re.compile(rf"{_YEAR}(?:-{_YEAR})?")
_MONTHS = re.compile(rf"{_MONTH}(?:-{_MONTH})? {_YEAR}")
_LONGER = re.compile(rf"{_MONTH} {_YEAR} to {_MONTH} {_YEAR}")


def order(text: str | None) -> Order | None:
    """Return an order of dates; DatasetError if it is another text."""
    if text is not None and text not in ORDERS:
        raise DatasetError(f'date order {quoted(text)} is unknown; give "dmy", "mdy" or "ymd"')
    return cast("Order | None", text)


def iso(text: str, order_: str) -> str:
    """Return a date that does not begin with the year in the form of ISO 8601; else the text."""
    if not re.fullmatch(WRITTEN["dmy"], text):
        return text
    parts = dict(zip(order_, re.split("[-/.]", text), strict=True))
    return f"{parts['y']}-{parts['m']:0>2}-{parts['d']:0>2}"


def instant(order_: str) -> str:
    """Return the template of a ``field`` as TIMESTAMP: NULL if it is no date of this order.

    Dates with the year first are read, too, because they are not ambiguous.
    """
    kinds = dict.fromkeys((order_, "ymd"))
    forms = [DAYS[k].format(mark) + time for k in kinds for mark in "/-." for time in TIMES]
    listed = ", ".join(f"'{form}'" for form in forms)
    is_date = "|".join(WRITTEN[k] for k in kinds)
    pattern = f"({is_date})([ T].*)?"
    return (
        f"CASE WHEN regexp_full_match(field, '{pattern}') THEN try_strptime(field, [{listed}]) END"
    )


def decade(text: str) -> tuple[int, int] | None:
    """Return the first and the last year of a decade such as ``1980s``; None for other texts."""
    match = _DECADE.fullmatch(text)
    return (int(match[1]), int(match[1]) + 9) if match else None


def days_of(text: str) -> tuple[date, date] | None:
    """Return the first and the last day of a period; None for other texts."""
    if years := decade(text):
        first_year, last_year = years
        return _days(first_year, "Jan", last_year, "Dec")
    if match := _YEARS.fullmatch(text):
        return _days(int(match[1]), "Jan", int(match[2] or match[1]), "Dec")
    if match := _MONTHS.fullmatch(text):
        year = int(match[3])
        return _days(year, match[1], year, match[2] or match[1])
    if match := _LONGER.fullmatch(text):
        return _days(int(match[2]), match[1], int(match[4]), match[3])
    return None


def _days(first_year: int, first: str, last_year: int, last: str) -> tuple[date, date] | None:
    """Return the first and the last day from a month to another; None if they are in disorder."""
    begin = date(first_year, MONTHS.index(first) + 1, 1)
    month_after = date(last_year, MONTHS.index(last) + 1, 28) + timedelta(days=4)
    end = month_after - timedelta(days=month_after.day)
    return (begin, end) if begin <= end else None
