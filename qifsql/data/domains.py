"""Domains: the kinds of values in generalised cells, and the types in which they are compared.

The type of the people's raw column determines the domain; the cells of a release must be of the
same kind, or text, which is parsed. No value is cast silently: the text 28 is not the number 28.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import partial
from typing import Literal

from qifsql.data.expressions import FLOATING
from qifsql.data.types import INTEGERS, family, generalised, nested, scale_of
from qifsql.errors import ColumnError, quoted

Kind = Literal["whole", "decimal", "floating", "date", "timestamp", "time", "text", "other"]
NUMBERS = ("whole", "decimal", "floating")
DATED = ("date", "timestamp", "time")
LARGEST = 2**127 - 1  # the largest whole number of the engine

_NUMBER = re.compile(r"[+-]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")
_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIMESTAMP = rf"{_DATE}(?:[T ][0-9]{{2}}:[0-9]{{2}}(?::[0-9.]{{2,9}})?)?"
_TIME = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"
_ISO: Mapping[str, tuple[str, Callable[[str], date | datetime | time]]] = {
    "date": (_DATE, date.fromisoformat),
    "timestamp": (_TIMESTAMP, datetime.fromisoformat),
    "time": (_TIME, time.fromisoformat),
}
_WORDS = {
    **dict.fromkeys(NUMBERS, "numbers"),
    "date": "dates",
    "timestamp": "timestamps",
    "time": "times of day",
    "text": "text",
}


@dataclass(frozen=True)
class Domain:
    """The values of one quasi-identifier: their kind, and the type in which they are compared."""

    kind: Kind
    type: str

    @property
    def ordered(self) -> bool:
        """Return whether values have an order, so that cells can be intervals."""
        return self.kind not in ("text", "other")

    @property
    def words(self) -> str:
        """Return the name of the kind of values, for messages."""
        return _WORDS.get(self.kind, self.type)


def domain(type_: str) -> Domain:
    """Return the domain of a column of that type, which is not nested."""
    kind = family(type_)
    if kind in INTEGERS and kind != "UHUGEINT":
        return Domain("whole", "HUGEINT")
    if kind == "DECIMAL":
        return Domain("decimal", f"DECIMAL(38,{scale_of(type_)})")
    if kind in FLOATING:
        return Domain("floating", "DOUBLE")
    by_type: dict[str, Domain] = {
        "VARCHAR": Domain("text", "VARCHAR"),
        "ENUM": Domain("text", "VARCHAR"),
        "DATE": Domain("date", "DATE"),
        "TIMESTAMP": Domain("timestamp", "TIMESTAMP"),
        "TIME": Domain("time", "TIME"),
    }
    return by_type.get(kind) or Domain("other", type_)


def common_domain(raw: Domain, cells: Domain) -> Domain | None:
    """Return the domain for comparing raw values with plain cells; None if they do not compare."""
    if raw.kind in NUMBERS and cells.kind in NUMBERS:
        if "floating" in (raw.kind, cells.kind):
            return Domain("floating", "DOUBLE")
        if raw.kind == cells.kind == "whole":
            return raw
        scale = max(scale_of(d.type) for d in (raw, cells))
        return Domain("decimal", f"DECIMAL(38,{scale})")
    return raw if raw == cells else None


def parts(type_: str) -> tuple[Literal["plain", "list", "interval"], str]:
    """Return the form of the cells of a column of that type, and the type of the values in them.

    Raises ColumnError if a nested type is neither a list nor an interval.
    """
    if not nested(type_):
        return "plain", type_
    if cells := generalised(type_):
        return cells
    raise ColumnError(
        f"it is nested ({family(type_)}) and neither a list of values nor an interval, a "
        "structure of lower, upper and missing"
    )


def reader(domain: Domain) -> Callable[[str], str | None]:
    """Return a function that reads a text as a value of the domain.

    The function returns the text for the engine, or None if the text is not a value. Numbers have
    no leading zeros: 28, not 028. Whole numbers may have a fraction (``28.5``), which is kept. No
    number of more than 2,000 characters is read: Python converts 4,300 digits at most.
    """
    if domain.kind in NUMBERS:
        return lambda text: text if len(text) <= 2000 and _NUMBER.fullmatch(text) else None
    if domain.kind in _ISO:
        return partial(_iso, *_ISO[domain.kind])
    if domain.type == "BOOLEAN":
        return lambda text: text if text in ("true", "false") else None
    return lambda text: text


def clash(column: str, release: str, cells: str, *, people: str, raw: str) -> ColumnError:
    """Return the error for cells and raw values that cannot be compared."""
    return ColumnError(
        f"column {quoted(column)} of {release} holds {cells}, but that of {people} is "
        f"{family(raw)}: values are not converted; write both with one type"
    )


def _iso(pattern: str, read: Callable[[str], date | datetime | time], text: str) -> str | None:
    try:
        return read(text).isoformat() if re.fullmatch(pattern, text) else None
    except ValueError:
        return None
