"""Dates in text: the order of day, month and year."""

import re
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
