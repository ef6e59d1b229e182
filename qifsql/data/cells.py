"""Generalised cells written as text, and the raw values in each.

========================= =====================================================================
``*``                     everything, a missing value too (suppressed)
``[20,30]`` ``[20,30)``   an interval; ``]20,30]`` is ``(20,30]``; bounds: numbers, ISO dates
``20-29``                 the interval [20,29] of whole numbers from 0
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

from qifsql.data.domains import LARGEST, NUMBERS, Domain, exact, reader
from qifsql.data.types import scale_of

_BOUND = r"\s*([^\s\[\](){},<>?][^\[\](){},<>?]*?)\s*"
_INTERVAL = re.compile(rf"([\[\](]){_BOUND},{_BOUND}([\]\[)])(\??)")
_DASHED = re.compile(r"(0|[1-9][0-9]*)-(0|[1-9][0-9]*)(\??)")
_ONE_BOUND = re.compile(rf"(<=|>=|<|>|≤|≥){_BOUND}(\??)")
_PREFIX = re.compile(r"([^*]*)(\*+)", re.S)
_ITEM = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^",{}]*?))\s*(,|$)', re.S)
_ENDLESS = ("inf", "-inf")  # as the engine writes them
_WITHOUT_END = {"inf": 1, "+inf": 1, "∞": 1, "-inf": -1, "-∞": -1}

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


def parse(text: str, domain: Domain, nodes: Mapping[str, Sequence[str]] | None = None) -> Cell:
    """Return the values in a cell; raise UnreadableError if it does not parse.

    ``nodes`` are the nodes of a hierarchy, with their leaves.
    """
    read = reader(domain)
    if text == "*":
        return Cell(everything=True)
    if nodes and text in nodes:
        return Cell(items=_values(nodes[text], read, domain))
    if text == "":
        return Cell(items=("",)) if domain.kind == "text" else Cell(missing=True)
    if (match := _PREFIX.fullmatch(text)) is not None:
        return _prefixed(match[1], len(text), domain)
    if text.startswith("{"):
        return _set(text, read, domain)
    if (interval := _interval(text)) is not None:
        return _ranged(interval, read, domain)
    if text.startswith("["):
        raise UnreadableError(f"{INTERVAL} that is not finished or has no two bounds")
    return Cell(items=_values([text], read, domain))


def _values(
    texts: Sequence[str], read: Callable[[str], str | None], domain: Domain
) -> tuple[str, ...]:
    """Return texts as values of the domain; leave out numbers that no value can equal."""
    endless = _ENDLESS if domain.kind == "floating" else ()
    values = [text if text in endless else read(text) for text in texts]
    if None in values:
        raise UnreadableError(f"{PLAIN}, which {domain.words} of the people cannot equal")
    if domain.kind not in ("whole", "decimal"):
        return tuple(v for v in values if v is not None)
    digits = scale_of(domain.type)
    units = [exact(v) * 10**digits for v in values if v is not None]
    return tuple(_written(u.numerator, digits) for u in units if u.denominator == 1)


def _interval(text: str) -> Cell | None:
    """Return an interval with its bounds as they are written; None for other texts."""
    if match := _INTERVAL.fullmatch(text):
        below, lower, upper, above, missing = match.groups()
        ends = _WITHOUT_END.get(lower), _WITHOUT_END.get(upper)
        return Cell(
            ranged=True,
            lower=None if ends[0] == -1 else lower,
            upper=None if ends[1] == 1 else upper,
            open_below=below != "[",
            open_above=above != "]",
            missing=bool(missing),
        )
    if match := _DASHED.fullmatch(text):
        return Cell(ranged=True, lower=match[1], upper=match[2], missing=bool(match[3]))
    if match := _ONE_BOUND.fullmatch(text):
        sign, bound, missing = match.groups()
        cell = Cell(ranged=True, missing=bool(missing))
        if sign in ("<", "<=", "≤"):
            return replace(cell, upper=bound, open_above=sign == "<")
        return replace(cell, lower=bound, open_below=sign == ">")
    return None


def _ranged(cell: Cell, read: Callable[[str], str | None], domain: Domain) -> Cell:
    """Return the interval with bounds of the domain; refuse other bounds and empty intervals."""
    if not domain.ordered:
        raise UnreadableError(f"{INTERVAL}, but values of the people are {domain.words}")
    bounds = [None if b is None else read(b) for b in (cell.lower, cell.upper)]
    if bounds != [None if b is None else read(b) or "" for b in (cell.lower, cell.upper)]:
        raise UnreadableError(f"{INTERVAL} whose bounds are not {domain.words}")
    lower, upper = bounds
    if lower is not None and upper is not None:
        both = (exact(lower), exact(upper)) if domain.kind in NUMBERS else (lower, upper)
        half = cell.open_below or cell.open_above
        if both[0] > both[1] or (both[0] == both[1] and half):  # type: ignore[operator]
            raise UnreadableError(f"{INTERVAL} with nothing between its bounds")
    cell = replace(cell, lower=lower, upper=upper)
    return _on_grid(cell, domain) if domain.kind in ("whole", "decimal") else cell


def _on_grid(cell: Cell, domain: Domain) -> Cell:
    """Return the closed interval of the same numbers of the domain, as the engine compares them."""
    digits = scale_of(domain.type)
    unit = 10**digits
    largest = LARGEST if domain.kind == "whole" else 10**38 - 1
    lower, upper = -largest, largest
    if cell.lower is not None:
        units = exact(cell.lower) * unit
        rounded = units.numerator // units.denominator
        lower = rounded + (cell.open_below or rounded != units)
    if cell.upper is not None:
        units = exact(cell.upper) * unit
        rounded = -(-units.numerator // units.denominator)
        upper = rounded - (cell.open_above or rounded != units)
    lower, upper = (max(-largest, min(largest, n)) for n in (lower, upper))
    low, high = (_written(n, digits) for n in (lower, upper))
    return replace(cell, lower=low, upper=high, open_below=False, open_above=False)


def _written(n: int, digits: int) -> str:
    """Return ``n`` units of the last digit after the point, as a decimal."""
    text = str(abs(n)).rjust(digits + 1, "0")
    point = len(text) - digits
    return ("-" if n < 0 else "") + text[:point] + ("." + text[point:] if digits else "")


def _prefixed(prefix: str, length: int, domain: Domain) -> Cell:
    if domain.kind not in ("text", "whole", "date"):
        raise UnreadableError(f"{PREFIX}, but values of the people are {domain.words}")
    if domain.kind == "whole" and len(prefix.lstrip("-")) > 0 and prefix.lstrip("-")[0] == "0":
        raise UnreadableError(
            f"{PREFIX} that begins with 0, but values of the people are numbers, which have lost "
            "such zeros; read them as text (CSV: --all-varchar)"
        )
    return Cell(prefix=prefix, length=length, open_above=domain.kind == "text")


def _set(text: str, read: Callable[[str], str | None], domain: Domain) -> Cell:
    if len(text) < 2 or not text.endswith("}"):
        raise UnreadableError(f"{SET} that is not finished")
    inner, at, missing = text[1:-1], 0, False
    items: list[str] = []
    while True:
        match = _ITEM.match(inner, at)
        if match is None:
            raise UnreadableError(f"{SET} that is not one CSV row; quote items with comma or brace")
        quote, plain, comma = match.groups()
        if quote is None and plain == "":
            missing = True
        else:
            item = plain if quote is None else quote.replace('""', '"')
            items += _values([item], read, domain)
        at = match.end()
        if not comma:
            return Cell(items=tuple(items), missing=missing)
