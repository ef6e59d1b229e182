"""Gain functions, as users write them: the worth of each guess to the adversary.

``identity`` (1 for a right guess), ``tries:3`` (right within three guesses), ``penalty:0.5`` (a
wrong guess costs a half, abstaining costs nothing), ``tolerance:5`` (a guessed number is right
within 5), ``worth:FILE`` (a right guess earns the worth of the value in the file), ``worth:4`` (the
same worth for every value), ``matrix:FILE`` (a gain for every guess and value),
``sql:EXPRESSION`` over ``guess`` and ``secret``. Source: thesis Def. 6; PoPETs section 3.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from qifsql.data.exact import exact
from qifsql.errors import InputError, quoted

Kind = Literal["identity", "tries", "penalty", "tolerance", "worth", "matrix", "sql"]
KINDS = get_args(Kind)
OF_VALUES = ("tolerance", "worth", "matrix", "sql")  # kinds that use the values of a secret
FILED = ("worth", "matrix")  # kinds whose gains can be listed in a file
STAKED = ("worth", "matrix", "sql")  # kinds with a gain for each guess and value
EXAMPLES = {"tries": "3", "penalty": "0.5", "tolerance": "5"}
HOW = "identity, tries:K, penalty:C, tolerance:T, worth:FILE, matrix:FILE or sql:EXPRESSION"


@dataclass(frozen=True)
class Gain:
    """One gain function as the user wrote it.

    ``number`` is the number after ``tries``, ``penalty``, ``tolerance`` or ``worth``; ``source``
    is the file or the expression.
    """

    text: str
    kind: Kind
    number: Fraction | None = None
    source: str | None = None

    @property
    def file(self) -> str | None:
        """Return the file that lists the gains; None without a file."""
        return self.source if self.kind in FILED else None


IDENTITY = Gain("identity", "identity")


def parse(text: str) -> Gain:
    """Return the gain function that a text names; raise InputError if the text is invalid."""
    kind, colon, rest = text.strip().partition(":")
    kind = kind.strip().casefold()
    rest = rest.strip()
    if kind == "identity" and not colon:
        return IDENTITY
    if kind not in KINDS or kind == "identity" or not rest:
        raise InputError(f"there is no gain {quoted(text)}; use {HOW}")
    number = None if kind in ("matrix", "sql") else exact(rest)
    if number is None and kind in STAKED:  # a file or an expression; worth:4 has a number
        return Gain(text.strip(), kind, source=rest)  # type: ignore[arg-type]
    if number is None:
        raise InputError(f"gain {quoted(text)} needs a number, as in {kind}:{EXAMPLES[kind]}")
    _check_number(number, text, integer=kind == "tries")
    return Gain(text.strip(), kind, number=number)  # type: ignore[arg-type]


def _check_number(number: Fraction, text: str, *, integer: bool) -> None:
    """Refuse the number of the gain ``text`` if it is too large or small, or has a fraction."""
    if integer and (number < 1 or number.denominator != 1):
        raise InputError(f"gain {quoted(text)} needs a whole number from 1, as in tries:3")
    if not integer and (number < 0 or number.denominator > 10**9):
        raise InputError(f"gain {quoted(text)} needs a number from 0 with at most 9 decimals")
    if number > 10**9:
        raise InputError(f"gain {quoted(text)} is beyond 1,000,000,000; use a smaller number")
