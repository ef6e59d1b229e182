"""Laws of noisy knowledge: what an adversary knows of a person, given the person's true value.

``age:+-2; city:right=0.9; job:missing=0.3``: semicolons separate laws, and each is about one
quasi-identifier or several. Quasi-identifiers without a law are known exactly. A name with ``=``,
``:``, ``,`` or ``;`` stands in double quotes. The laws of different quasi-identifiers are
independent given the person. ``age:matrix=FILE`` says by which transition matrix the released
values of a quasi-identifier or secret were drawn from the true ones. Source: M150 to M152, M197.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from qifsql.adversary.rule_text import MARKS, decimal, in_quotes, probability, split, unquoted
from qifsql.errors import InputError, quoted

Kind = Literal["exact", "within", "sd", "right", "missing", "table", "matrix"]
FORMS = "age:+-2; city:right=0.9; job:missing=0.3"
EXACT = "exact"  # in place of laws: all is known exactly
FILES = ("table", "matrix")  # the laws that name a file
WHAT = "what is known (knows)"
WIDEST = 1_000_000  # largest w of +-w
GREATEST = 1_000  # largest standard deviation
HOW = "+-2, sd=2, right=0.9, missing=0.3, table=FILE, matrix=FILE or exact"


@dataclass(frozen=True, kw_only=True)
class Law:
    """The law of one quasi-identifier.

    ``number`` is w of ``+-w``, the standard deviation, or the probability of ``right`` and
    ``missing``; ``table`` is a file, of ``matrix``, too.
    """

    column: str
    kind: Kind
    number: Fraction = Fraction(0)
    table: str = ""

    @property
    def certain(self) -> bool:
        """Return whether the adversary knows the value exactly."""
        always_right = self.kind == "right" and self.number == 1
        no_error = self.kind in ("within", "missing") and self.number == 0
        return self.kind == "exact" or always_right or no_error

    @property
    def law(self) -> str:
        """Return the law as users write it after ``column:``, such as ``right=0.9``."""
        if self.kind == "exact":
            return "exact"
        if self.kind == "within":
            return f"+-{self.number}"
        if self.kind in FILES:
            return f"{self.kind}={in_quotes(self.table, MARKS + '=')}"
        return f"{self.kind}={as_decimal(self.number)}"

    def plain(self) -> str:
        """Return the law as users write it."""
        return f"{in_quotes(self.column, MARKS + '=')}:{self.law}"


def as_decimal(number: Fraction) -> str:
    """Return a decimal number with all its digits."""
    digits = 0
    while (number * 10**digits).denominator != 1:
        digits += 1
    text = f"{(number * 10**digits).numerator:0{digits + 1}d}"
    return f"{text[:-digits]}.{text[-digits:]}" if digits else text


def laws(text: str | Sequence[str]) -> tuple[Law, ...]:
    """Return the laws in a text; raise InputError if one is invalid or names a column twice."""
    texts = [text] if isinstance(text, str) else text
    pieces = (piece for text in texts for piece in split(text, ";", WHAT) if piece)
    named = [law for piece in pieces for law in _laws(piece)]
    if not named:
        raise InputError(f"knows names no quasi-identifier; write laws such as {quoted(FORMS)}")
    names = [law.column for law in named]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"knows names {quoted(name)} twice; each quasi-identifier has one law")
    return tuple(named)


def has_matrix(text: str | None) -> bool:
    """Return whether a text has laws (not None or ``exact``), and one is that of a matrix."""
    if text is None or text == EXACT:
        return False
    return any(law.kind == "matrix" for law in laws(text))


def _laws(piece: str) -> list[Law]:
    """Return the laws of a text without semicolon (``age,size:+-2``): one for each name."""
    names, *texts = split(piece, ":", WHAT, limit=2)  # at the first colon outside double quotes
    columns = [unquoted(name) for name in split(names, ",", WHAT)]
    if not texts or not texts[0]:
        raise InputError(
            f"{quoted(piece)} of knows has no law; behind the name stand a colon and {HOW}, as in "
            f"{FORMS}"
        )
    if not all(columns):
        raise InputError(f"{quoted(piece)} of knows names no quasi-identifier; write {FORMS}")
    return [_law(column, texts[0]) for column in columns]


def _law(column: str, text: str) -> Law:
    """Return the law of a column from the text after its colon: ``exact``, ``+-2``, ``sd=2``..."""
    about = f"the law of {quoted(column)}"  # begins the errors
    if text.casefold() == "exact":
        return Law(column=column, kind="exact")
    if match := re.fullmatch(r"(?:\+\s*-|\+/-|±)\s*(.*)", text, re.S):
        return Law(column=column, kind="within", number=_width(match[1], about))
    kind, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise InputError(f"{about} ({quoted(text)}) is not known; use {HOW}")
    match kind.casefold():
        case "sd":
            return Law(column=column, kind="sd", number=_deviation(value, about))
        case "right":
            return Law(column=column, kind="right", number=_chance_right(value, column))
        case "missing":
            number = probability(value, f"missing of {quoted(column)}")
            return Law(column=column, kind="missing", number=number)
        case "table" if value:
            return Law(column=column, kind="table", table=unquoted(value))
        case "matrix" if value:
            return Law(column=column, kind="matrix", table=unquoted(value))
    raise InputError(
        f"{about} ({quoted(text)}) is not known; use {HOW} (a name with = or : stands in double "
        "quotes)"
    )


def _chance_right(text: str, column: str) -> Fraction:
    """Return the probability of ``right=...``, which is above 0."""
    number = probability(text, f"right of {quoted(column)}")
    if not number:
        raise InputError(
            f"right of {quoted(column)} is 0, and an adversary who is never right is not "
            "measured; write a probability above 0, such as right=0.9"
        )
    return number


def _width(text: str, about: str) -> Fraction:
    """Return w of ``+-w``, a whole number; ``about`` begins an error with the law's column."""
    width = decimal(text)
    if width is None or width.denominator != 1 or not 0 <= width <= WIDEST:
        raise InputError(
            f"{about} is +- a whole number from 0 to {WIDEST:,}, such as +-2; for errors of other "
            "kinds use sd=2.5"
        )
    return width


def _deviation(text: str, about: str) -> Fraction:
    """Return the standard deviation of ``sd=...``; ``about`` begins an error with the column."""
    deviation = decimal(text)
    if deviation is None or not 0 < deviation <= GREATEST:
        raise InputError(
            f"{about} is a standard deviation above 0, at most {GREATEST:,}, such as sd=2; measure "
            "in larger units for more, as in --qids thousands=income//1000"
        )
    return deviation
