"""Epsilons as people write them, numbers and logarithms: ``ln 3, 1, 2.5, ln 10^5``.

A number may be raised to a power, ``2^3``, or divided, ``3/2``; nothing else is evaluated.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

from qifsql.errors import InputError, quoted

DIGITS = 60  # of e^-epsilon, if it is not a fraction
MOST_EPSILON = 1_000  # one above this is a typing error: e^-1000 is no noise
_NUMBER = r"\d{1,40}(?:\.\d{1,40})?(?:e[+-]?\d{1,3})?"
_ITEM = re.compile(
    rf"(ln\s*(\(\s*)?)?({_NUMBER})\s*(?:\^\s*(\d{{1,3}})|/\s*({_NUMBER}))?(?(2)\s*\))", re.I | re.A
)
_WORK = Context(prec=DIGITS)


@dataclass(frozen=True)
class Epsilon:
    """An amount of noise: epsilon > 0, in nats, and alpha = e^-epsilon, in (0, 1)."""

    text: str  # the user's spelling
    value: Decimal
    ratio: Fraction | None = None  # e^epsilon, if a fraction (``ln 3``); so are results then

    @property
    def alpha(self) -> Fraction:
        """Return e^-epsilon: exact, or right to 60 digits."""
        return Fraction(_WORK.exp(-self.value)) if self.ratio is None else 1 / self.ratio

    def part(self, n: int) -> "Epsilon":
        """Return epsilon / n: the epsilon of each of n counts that share it."""
        return self if n == 1 else Epsilon(f"({self.text})/{n}", _WORK.divide(self.value, n))


def parse(value: str | float | Sequence[str | float]) -> tuple[Epsilon, ...]:
    """Return the epsilons of numbers and of texts with commas, each once; InputError for others."""
    values = [value] if isinstance(value, str | int | float) else value
    line = ",".join(v if isinstance(v, str) else repr(v) for v in values)
    texts = [text.strip() for text in line.split(",")]
    if not any(texts):
        raise InputError("no epsilon is given; name some, as in --epsilon 'ln 3, 1, 2.5'")
    epsilons: dict[Decimal, Epsilon] = {}
    for epsilon in map(_parse_epsilon, texts):
        epsilons.setdefault(epsilon.value, epsilon)
    return tuple(epsilons.values())


def _parse_epsilon(text: str) -> Epsilon:
    """Parse an epsilon, a number or the logarithm ``ln`` of one; refuse those out of range."""
    match = _ITEM.fullmatch(text.removeprefix("-"))
    if not match:
        what = "write numbers and logarithms, as in 'ln 3, 1, 2.5, ln 10^5'"
        raise InputError(f"{quoted(text)} is not an epsilon; {what}")
    log, _, *quantity = match.groups()  # log: whether it is a logarithm
    number = Fraction() if text.startswith("-") else _quantity(*quantity)  # 0: refused below
    if number <= (1 if log else 0):
        what = "an epsilon is a number above 0, and ln X one with X above 1"
        raise InputError(f"epsilon {quoted(text)} is not above 0; {what}")
    numerator, denominator = number.as_integer_ratio()
    if log:
        value = _WORK.subtract(_WORK.ln(numerator), _WORK.ln(denominator))
    else:
        value = _WORK.divide(numerator, denominator)
    if value > MOST_EPSILON:
        raise InputError(f"epsilon {quoted(text)} means no noise; give at most {MOST_EPSILON}")
    if value < Decimal("1e-9"):
        raise InputError(f"epsilon {quoted(text)} leaves nothing of the count; give at least 1e-9")
    return Epsilon(text, value, number if log else None)


def _quantity(base: str, power: str | None, divisor: str | None) -> Fraction:
    """Return ``base``, its power, or its quotient by a divisor, where there is one."""
    if power is not None and Decimal(base) > Decimal("1e40"):
        raise InputError(f"{quoted(base)} is too large for a power")
    if divisor is not None and not Fraction(divisor):
        raise InputError(f"an epsilon is divided by 0: {quoted(f'{base}/{divisor}')}")
    return Fraction(base) ** int(power or 1) / Fraction(divisor or 1)
