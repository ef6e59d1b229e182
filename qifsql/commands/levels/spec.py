"""Levels that are wanted: what people may ask for, as exact numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TypedDict

from qifsql.errors import InputError, did_you_mean, quoted, several

Number = int | float | str | Fraction | Decimal
DIGITS = 30  # that a wanted level may have


class Aims(TypedDict, total=False):
    """Levels that are wanted; a block that does not keep one is in violation of it.

    ``k``: people in a block, at least. ``l``: distinct values of a secret, at least.
    ``l_entropy``: exp of the entropy of a block, at least. ``c``: recursive (c, l)-diversity, the
    most frequent value has less than c times the people of the values from number l on; its l is
    ``l_recursive``, else ``l``, else the fewest values in a block. ``t``: distance of block and
    release, at most, by every ground distance there is. ``alpha``: share of a value, at most.
    ``beta`` and ``enhanced_beta``: relative gain of a value, at most. ``delta``: logarithm of the
    factor between shares, below. With a population: ``k_map`` at least, ``presence_min`` at least
    and ``presence_max`` at most.
    """

    k: Number
    l: Number  # noqa: E741 - the field's own letter
    l_entropy: Number
    l_recursive: Number
    c: Number
    t: Number
    alpha: Number
    beta: Number
    enhanced_beta: Number
    delta: Number
    k_map: Number
    presence_min: Number
    presence_max: Number


@dataclass(frozen=True)
class Measure:
    """How a level is read: what wants it, whether higher is safer, whether the wanted is kept.

    ``strict``: the wanted level itself is a violation. ``own``: of the population.
    """

    name: str
    aim: str | None
    higher_is_safer: bool = False
    strict: bool = False
    of_population: bool = False


MEASURES = (
    Measure("k", "k", higher_is_safer=True),
    Measure("average_class_size", None, higher_is_safer=True),
    Measure("k_map", "k_map", higher_is_safer=True, of_population=True),
    Measure("delta_presence_min", "presence_min", higher_is_safer=True, of_population=True),
    Measure("delta_presence_max", "presence_max", of_population=True),
    Measure("l_distinct", "l", higher_is_safer=True),
    Measure("l_entropy", "l_entropy", higher_is_safer=True),
    Measure("l_recursive_c", "c", strict=True),
    Measure("t_equal", "t"),
    Measure("t_ordered", "t"),
    Measure("t_hierarchical", "t"),
    Measure("alpha", "alpha"),
    Measure("basic_beta", "beta"),
    Measure("enhanced_beta", "enhanced_beta"),
    Measure("delta_disclosure", "delta", strict=True),
)
"""The measures in the order of their rows; the first ones are of no secret."""

_WHOLE = ("k", "l", "l_recursive", "k_map")
_BOUNDS: Mapping[str, tuple[int, int | None]] = {
    "k": (1, None),
    "l": (1, None),
    "l_entropy": (1, None),
    "l_recursive": (1, None),
    "c": (0, None),
    "t": (0, 1),
    "alpha": (0, 1),
    "beta": (0, None),
    "enhanced_beta": (0, None),
    "delta": (0, None),
    "k_map": (1, None),
    "presence_min": (0, 1),
    "presence_max": (0, 1),
}
_ABOVE = ("c", "alpha", "delta")  # 0 itself cannot be kept


def read(options: Mapping[str, object]) -> dict[str, Fraction]:
    """The wanted levels as fractions; InputError where one is out of its range."""
    thresholds: dict[str, Fraction] = {}
    for name, value in options.items():
        if name not in _BOUNDS:
            raise TypeError(f"unknown level {name!r}{did_you_mean(name, _BOUNDS)}")
        if value is not None:
            thresholds[name] = _number(name, value)
    if {"c", "l_recursive"} & set(thresholds) == {"l_recursive"}:
        raise InputError("l_recursive is the l of (c, l)-diversity; name c, too")
    low, high = thresholds.get("presence_min"), thresholds.get("presence_max")
    if low is not None and high is not None and low > high:
        raise InputError("presence_min is above presence_max; exchange them")
    return thresholds


def check(thresholds: Mapping[str, Fraction], records: int, values: Mapping[str, int]) -> None:
    """Refuse levels that no release of so many records, and secrets of so many values, can have."""
    if thresholds.get("k", 0) > records:
        raise InputError(
            f"k = {thresholds['k']} is above the number of records, {records:,}: no block can have "
            "so many people; want a smaller k"
        )
    for name in ("l", "l_entropy", "l_recursive"):
        for secret, there in values.items():
            if thresholds.get(name, 0) > there:
                raise InputError(
                    f"{name} = {shown(thresholds[name])} is above the {several(there, 'value')} "
                    f"that secret {quoted(secret)} has in the release: no block can have so many; "
                    f"want at most {there}"
                )


def shown(number: Fraction) -> str:
    """A wanted level as it is written: ``5``, ``0.2``."""
    return str(number.numerator) if number.denominator == 1 else f"{float(number):.12g}"


def _number(name: str, value: object) -> Fraction:
    number = exact(value)
    low, high = _BOUNDS[name]
    kind = "a whole number" if name in _WHOLE else "a number"
    span = " ".join(["from", str(low), *(["to", str(high)] if high is not None else [])])
    span = span.replace("from 0", "above 0") if name in _ABOVE else span
    span = span.replace("above 0 to", "above 0, up to")
    fits = number is not None and number >= low and (high is None or number <= high)
    fits = fits and not (name in _ABOVE and number == 0)
    if number is None or not fits or (name in _WHOLE and number.denominator != 1):
        raise InputError(f"{name} is {kind} {span}; {quoted(str(value))} is none")
    return number


def exact(value: object) -> Fraction | None:
    """A number as it is written: 0.2 is a fifth; None where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction | Decimal):
        return None
    try:
        if isinstance(value, Fraction):
            return value
        written = Decimal(str(value).strip())
        if not written.is_finite() or abs(written.adjusted()) > DIGITS:
            return Fraction() if written == 0 else None
        return Fraction(written)
    except (InvalidOperation, ValueError):
        return None
