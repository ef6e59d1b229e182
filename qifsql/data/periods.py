"""Periods as people write them: ``1980s``, ``1980-1984``, ``1980``, ``Jan-Mar 2019``, ``Jan 2019``.

A release has them in place of dates, and they are read as the days from the first to the last one.
"""

import re
from datetime import date, timedelta

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTH = rf"({'|'.join(MONTHS)})"
_YEAR = "([1-9][0-9]{3})"
_DECADE = re.compile("([1-9][0-9]{2}0)s")
_YEARS = re.compile(rf"{_YEAR}(?:-{_YEAR})?")
_MONTHS = re.compile(rf"{_MONTH}(?:-{_MONTH})? {_YEAR}")
_LONGER = re.compile(rf"{_MONTH} {_YEAR} to {_MONTH} {_YEAR}")


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
