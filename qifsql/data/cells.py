"""Generalised cells written as text, and the raw values in each.

========================= =====================================================================
``*``                     everything, a missing value too (suppressed)
``[20,30]`` ``[20,30)``   an interval; ``]20,30]`` is ``(20,30]``; bounds: numbers, ISO dates
``20-29`` ``1.5-2``       the interval [20,29] of whole numbers from 0; of numbers [1.5,2]
``-5 to -1``              an interval, its ends included
``1980s`` ``Jan-Mar 2019`` a period of days (``qifsql.data.dates``); a decade, of years, too
``2019-01-01/2019-03-31`` the interval of ISO 8601, its last day included; ``..``: no bound
``<30`` ``>=40``          an interval with one bound
``[20,30]?``              an interval and the missing value
``{France,"a,b",}``       a set, one CSV row in braces; an empty item without quotes: missing
``130**``                 a prefix: each star is one character; texts of any length that begin
                          with it, where no value of the people has that length
``Europe``                a node of the column's hierarchy, if any; only * has priority over it
anything else             the value itself
========================= =====================================================================

Source: M66; the two hospitals of Ganta et al. use ``*``, ``<30``, ``3*`` and ``130**``.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor

from qifsql.data.dates import days_of, decade
from qifsql.data.domains import DATED, LARGEST, NUMBERS, Domain, reader
from qifsql.data.types import scale_of

_BOUND = r"\s*([^\s\[\](){},<>?][^\[\](){},<>?]*?)\s*"
_INTERVAL = re.compile(rf"([\[\](]){_BOUND},{_BOUND}([\]\[)])(\??)")
_DASHED = re.compile(r"(0|[1-9][0-9]*)-(0|[1-9][0-9]*)(\??)")
_FROM_0 = r"([0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)"
_DASHED_NUMBERS = re.compile(rf"{_FROM_0}[-–]{_FROM_0}(\??)")
_WORDED = re.compile(r"([^\s?][^?]*?) to ([^?]*[^\s?])(\??)")
_ISO_INTERVAL = re.compile(r"([^/]+)/([^/]+?)(\??)")
_DECIMAL_COMMA = re.compile(r"(?<=[0-9]),(?=[0-9])")
_FOUR_PARTS = re.compile(r"([^,]+),([^,]+),([^,]+),([^,]+)")
_ONE_BOUND = re.compile(rf"(<=|>=|<|>|≤|≥){_BOUND}(\??)")
_PREFIX = re.compile(r"([^*]*)(\*+)", re.S)
_ITEM = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^",{}]*?))\s*(,|$)', re.S)
_DAY, _END_OF_DAY = Domain("date", "DATE"), "T23:59:59.999999"
_INFINITE = ("inf", "-inf")  # as the engine writes them
_NO_LOWER_BOUND, _NO_UPPER_BOUND = ("-inf", "-∞", ".."), ("inf", "+inf", "∞", "..")

INTERVAL, SET, PREFIX, PLAIN = "interval", "set", "prefix", "plain value"


class UnreadableError(Exception):
    """A cell that does not parse; the message states its form, never its text."""


@dataclass(frozen=True)
class Cell:
    """The values in a cell, as texts for the engine, in one of four forms.

    The forms are ``everything``; an interval (``ranged``) from ``lower`` to ``upper`` (None: no
    bound), without the ends that are open; ``items``; and texts of ``length`` that begin with
    ``prefix`` (``open_above``: of any length, where no value has it). ``missing`` adds the missing
    value.
    """

    everything: bool = False
    ranged: bool = False
    lower: str | None = None
    upper: str | None = None
    open_below: bool = False
    open_above: bool = False
    missing: bool = False
    items: tuple[str, ...] = ()
    prefix: str | None = None
    length: int | None = None


def with_points(text: str) -> str:
    """Return a cell of numbers with a decimal point in place of each decimal comma.

    >>> [with_points(t) for t in ("[1,5;2,25)", "[1,5,2,25]", "[20,30]", "1,5-2", "<3,75")]
    ['[1.5,2.25)', '[1.5,2.25]', '[20,30]', '1.5-2', '<3.75']
    >>> [with_points(t) for t in ("{1,5;2,25}", "{1,2,3,4}")]  # items that commas divide are whole
    ['{1.5,2.25}', '{1,2,3,4}']
    """
    if ";" in text:
        return _DECIMAL_COMMA.sub(".", text).replace(";", ",")
    if text.startswith("{"):
        return text
    if text.startswith(("[", "(", "]")):  # a single comma divides its bounds
        return _FOUR_PARTS.sub(r"\1.\2,\3.\4", text) if _FOUR_PARTS.fullmatch(text) else text
    return _DECIMAL_COMMA.sub(".", text)


def parse(text: str, domain: Domain, nodes: Mapping[str, Sequence[str]] | None = None) -> Cell:
    """Return the raw values that a generalised cell stands for, such as ``20-29`` or ``130**``.

    ``domain``: the kind of the raw values; ``nodes``: those of a hierarchy, with their leaves.
    Raises UnreadableError if the cell does not parse.
    """
    read = reader(domain)
    if text == "*":
        return Cell(everything=True)
    if nodes and text in nodes:
        return Cell(items=_values(nodes[text], read, domain))
    if text == "":  # a value of its own among texts only
        return Cell(items=("",)) if domain.kind == "text" else Cell(missing=True)
    if (match := _PREFIX.fullmatch(text)) is not None:
        return _prefixed(match[1], len(text), domain)
    if text.startswith("{"):
        return _set(text, read, domain)
    if (interval := _period(text, domain) or _interval(text, domain)) is not None:
        return _ranged(interval, read, domain)
    if text.startswith("["):
        raise UnreadableError(f"{INTERVAL} that is not finished or has no two bounds")
    return Cell(items=_values([text], read, domain))


def _values(
    texts: Sequence[str], read: Callable[[str], str | None], domain: Domain
) -> tuple[str, ...]:
    """Return texts as values of the domain, as the engine writes them.

    ``read`` returns None for a text that is no value of the domain: it is refused. Numbers with too
    many decimals for the domain are left out, as no person can have one: 28.5 among whole numbers.
    """
    infinite = _INFINITE if domain.kind == "floating" else ()
    values = [text if text in infinite else read(text) for text in texts]
    if None in values:
        raise UnreadableError(f"{PLAIN}, which {domain.words} of the people cannot equal")
    if domain.kind not in ("whole", "decimal"):
        return tuple(v for v in values if v is not None)
    digits = scale_of(domain.type)
    units = [Fraction(v) * 10**digits for v in values if v is not None]  # of the last decimal
    return tuple(_written(u.numerator, digits) for u in units if u.denominator == 1)


def _period(text: str, domain: Domain) -> Cell | None:
    """Return a period of days, or a decade of whole numbers, as an interval; None for others."""
    period, missing = text.removesuffix("?"), text.endswith("?")
    if domain.kind == "whole" and (years := decade(period)):
        first_year, last_year = map(str, years)
        return Cell(ranged=True, lower=first_year, upper=last_year, missing=missing)
    if domain.kind not in ("date", "timestamp") or (days := days_of(period)) is None:
        return None
    first, last = map(str, days)
    return _to_end_of_day(Cell(ranged=True, lower=first, upper=last, missing=missing), domain)


def _to_end_of_day(cell: Cell, domain: Domain) -> Cell:
    """Return an interval of timestamps up to the end of its last day, where it names no time."""
    if domain.kind != "timestamp" or cell.upper is None or reader(_DAY)(cell.upper) is None:
        return cell
    return replace(cell, upper=cell.upper + _END_OF_DAY)


def _interval(text: str, domain: Domain) -> Cell | None:
    """Return ``[20,30)``, ``20-29``, ``>=40?`` with bounds as written; None for other texts."""
    if match := _INTERVAL.fullmatch(text):
        opening, lower, upper, closing, missing = match.groups()
        cell = _between(lower, upper, missing)
        return replace(cell, open_below=opening != "[", open_above=closing != "]")
    closed = _DASHED_NUMBERS if domain.kind in NUMBERS else _DASHED  # 20-29
    if match := closed.fullmatch(text):
        return _between(*match.groups())
    if domain.ordered and (match := _WORDED.fullmatch(text)):  # -5 to -1
        return _to_end_of_day(_between(*match.groups()), domain)
    if domain.kind in DATED and (match := _ISO_INTERVAL.fullmatch(text)):  # DATE/DATE
        return _to_end_of_day(_between(*match.groups()), domain)
    if match := _ONE_BOUND.fullmatch(text):  # <30
        sign, bound, missing = match.groups()
        cell = Cell(ranged=True, missing=bool(missing))
        if sign in ("<", "<=", "≤"):
            return replace(cell, upper=bound, open_above=sign == "<")
        return replace(cell, lower=bound, open_below=sign == ">")
    return None


def _between(lower: str, upper: str, missing: str) -> Cell:
    """Return the closed interval of two bounds as written; ``missing``: not empty, missing, too."""
    return Cell(
        ranged=True,
        lower=None if lower in _NO_LOWER_BOUND else lower,
        upper=None if upper in _NO_UPPER_BOUND else upper,
        missing=bool(missing),
    )


def _ranged(cell: Cell, read: Callable[[str], str | None], domain: Domain) -> Cell:
    """Return the interval with bounds of the domain; refuse other bounds and empty intervals."""
    if not domain.ordered:
        raise UnreadableError(f"{INTERVAL}, but values of the people are {domain.words}")
    lower, upper = (None if b is None else read(b) for b in (cell.lower, cell.upper))
    # a bound that is written but cannot be read is no value of the domain
    if (lower is None, upper is None) != (cell.lower is None, cell.upper is None):
        raise UnreadableError(f"{INTERVAL} whose bounds are not {domain.words}")
    if lower is not None and upper is not None:
        low, high = (Fraction(lower), Fraction(upper)) if domain.kind in NUMBERS else (lower, upper)
        is_open = cell.open_below or cell.open_above
        if low > high or (low == high and is_open):  # type: ignore[operator]
            raise UnreadableError(f"{INTERVAL} with nothing between its bounds")
    cell = replace(cell, lower=lower, upper=upper)
    return _on_grid(cell, domain) if domain.kind in ("whole", "decimal") else cell


def _on_grid(cell: Cell, domain: Domain) -> Cell:
    """Return the closed interval of the same numbers: (2.5,5) of whole numbers becomes [3,4].

    A missing bound becomes the smallest or largest number of the engine's type.
    """
    digits = scale_of(domain.type)  # bounds are counted in units of the last decimal
    largest = LARGEST if domain.kind == "whole" else 10**38 - 1
    lower, upper = -largest, largest
    if cell.lower is not None:
        bound = Fraction(cell.lower) * 10**digits
        lower = floor(bound) + 1 if cell.open_below else ceil(bound)
    if cell.upper is not None:
        bound = Fraction(cell.upper) * 10**digits
        upper = ceil(bound) - 1 if cell.open_above else floor(bound)
    low, high = (_written(max(-largest, min(largest, n)), digits) for n in (lower, upper))
    return replace(cell, lower=low, upper=high, open_below=False, open_above=False)


def _written(units: int, digits: int) -> str:
    """Return a number of units of the last of the digits after the point as a decimal."""
    integer, fraction = divmod(abs(units), 10**digits)
    sign, after_point = "-" if units < 0 else "", f".{fraction:0{digits}}" if digits else ""
    return f"{sign}{integer}{after_point}"


def _prefixed(prefix: str, length: int, domain: Domain) -> Cell:
    """Return the cell of values with ``length`` characters that begin with ``prefix``."""
    if domain.kind not in ("text", "whole", "date"):
        raise UnreadableError(f"{PREFIX}, but values of the people are {domain.words}")
    if domain.kind == "whole" and prefix.lstrip("-").startswith("0"):
        raise UnreadableError(
            f"{PREFIX} that begins with 0, but values of the people are numbers, which have lost "
            "such zeros; read them as text (CSV: --all-varchar)"
        )
    # open_above: where no text of the people has that length, texts of any length count
    return Cell(prefix=prefix, length=length, open_above=domain.kind == "text")


def _set(text: str, read: Callable[[str], str | None], domain: Domain) -> Cell:
    """Return the cell of a set such as ``{France,"a,b",}``: one row of CSV in braces."""
    if len(text) < 2 or not text.endswith("}"):
        raise UnreadableError(f"{SET} that is not finished")
    csv_row, start, missing = text[1:-1], 0, False
    items: list[str] = []
    while True:
        match = _ITEM.match(csv_row, start)
        if match is None:
            raise UnreadableError(f"{SET} that is not one CSV row; quote items with comma or brace")
        quoted, plain, comma = match.groups()
        if quoted is None and plain == "":  # an empty item is the missing value
            missing = True
        else:
            item = plain if quoted is None else quoted.replace('""', '"')
            items += _values([item], read, domain)
        start = match.end()
        if not comma:
            return Cell(items=tuple(items), missing=missing)
