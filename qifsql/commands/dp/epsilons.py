"""Epsilons as people write them: numbers and logarithms, ``ln 3, 1, 2.5, ln 10^5``.

    list     = item ("," item)*
    item     = "ln" quantity | "ln" "(" quantity ")" | quantity
    quantity = number | number "^" digits | number "/" number
    number   = digits ["." digits] ["e" ["+" | "-"] digits]

Nothing else is read, and nothing is evaluated but this.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

from qifsql.errors import InputError, quoted

DIGITS = 60  # of e^-epsilon, where it is no fraction
MOST = 1_000  # an epsilon above this is a typing error: e^-1000 is no noise
_NUMBER = r"\d{1,40}(?:\.\d{1,40})?(?:e[+-]?\d{1,3})?"
_QUANTITY = rf"({_NUMBER})\s*(?:\^\s*(\d{{1,3}})|/\s*({_NUMBER}))?"
_PLAIN = re.compile(_QUANTITY, re.I | re.A)
_LOG = re.compile(rf"ln\s*(?:\(\s*{_QUANTITY}\s*\)|{_QUANTITY})", re.I | re.A)
_WORK = Context(prec=DIGITS)


@dataclass(frozen=True)
class Epsilon:
    """How much noise: epsilon > 0, in nats, and alpha = e^-epsilon, in (0, 1).

    ``text`` is how it was written. ``ratio`` is e^epsilon where that is a fraction (``ln 3``),
    which makes every result one.
    """

    text: str
    value: Decimal
    ratio: Fraction | None = None

    @property
    def alpha(self) -> Fraction:
        """e^-epsilon: exact, or right to 60 digits."""
        if self.ratio is not None:
            return 1 / self.ratio
        return Fraction(_WORK.exp(-self.value))

    def part(self, n: int) -> "Epsilon":
        """An n-th of it: what is left for each of n counts that share it."""
        if n == 1:
            return self
        root = None if self.ratio is None else _root(self.ratio, n)
        return Epsilon(f"({self.text})/{n}", _WORK.divide(self.value, Decimal(n)), root)


def read(value: str | float | Sequence[str | float]) -> tuple[Epsilon, ...]:
    """The epsilons of a list, each once, in their order; InputError where one is none."""
    each = [value] if isinstance(value, str | int | float) else list(value)
    texts = [part.strip() for item in each for part in _written(item).split(",")]
    if not any(texts):
        raise InputError("no epsilon is given; name some, as in --epsilon 'ln 3, 1, 2.5'")
    epsilons: dict[Decimal, Epsilon] = {}
    for text in texts:
        epsilon = _one(text)
        epsilons.setdefault(epsilon.value, epsilon)
    return tuple(epsilons.values())


def _written(item: str | float) -> str:
    return item if isinstance(item, str) else repr(item)


def _one(text: str) -> Epsilon:
    """One item of the list."""
    if text.startswith("-") and (_PLAIN.fullmatch(text[1:]) or _LOG.fullmatch(text[1:])):
        raise _not_above(text)
    if log := _LOG.fullmatch(text):
        ratio = _quantity(list(log.groups()[:3] if log[1] else log.groups()[3:]))
        if ratio <= 1:
            raise _not_above(text)
        value = _WORK.subtract(_WORK.ln(ratio.numerator), _WORK.ln(ratio.denominator))
        return _bounded(Epsilon(text, value, ratio))
    if plain := _PLAIN.fullmatch(text):
        number = _quantity(list(plain.groups()))
        if number <= 0:
            raise _not_above(text)
        return _bounded(Epsilon(text, _WORK.divide(number.numerator, number.denominator)))
    raise InputError(
        f"{quoted(text)} is no epsilon; write numbers and logarithms, as in 'ln 3, 1, 2.5, ln 10^5'"
    )


def _quantity(groups: list[str | None]) -> Fraction:
    """A number, a power or a quotient of two numbers."""
    base, power, divisor = groups
    number = Fraction(base or 0)
    if power is not None:
        if abs(Decimal(base or 0)) > Decimal("1e40"):
            raise InputError(f"{quoted(str(base))} is too large for a power")
        return Fraction(number ** int(power))
    if divisor is None:
        return number
    if not Fraction(divisor):
        raise InputError(f"an epsilon is divided by 0: {quoted(f'{base}/{divisor}')}")
    return number / Fraction(divisor)


def _bounded(epsilon: Epsilon) -> Epsilon:
    if epsilon.value > MOST:
        raise InputError(f"epsilon {quoted(epsilon.text)} is no noise at all; give at most {MOST}")
    if epsilon.value < Decimal("1e-9"):
        raise InputError(
            f"epsilon {quoted(epsilon.text)} leaves nothing of the count; give at least 1e-9"
        )
    return epsilon


def _not_above(text: str) -> InputError:
    return InputError(
        f"epsilon {quoted(text)} is not above 0; an epsilon is a number above 0, and ln X one "
        "with X above 1"
    )


def _root(ratio: Fraction, n: int) -> Fraction | None:
    """The n-th root of a fraction where it is one."""
    parts = []
    for whole in (ratio.numerator, ratio.denominator):
        near = int(_WORK.power(whole, _WORK.divide(1, n)).to_integral_value())
        exact = next((r for r in (near - 1, near, near + 1) if r > 0 and r**n == whole), None)
        if exact is None:
            return None
        parts.append(exact)
    return Fraction(*parts)
