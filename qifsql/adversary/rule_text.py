"""Texts of rules about columns, such as ``age:+1; city:stay=0.93``.

Semicolons separate rules, a colon ends the names of the columns, commas separate names. A mark
inside double quotes belongs to a name.
"""

from decimal import Decimal, InvalidOperation
from fractions import Fraction

from qifsql.errors import InputError

MARKS = ',;:"'
DIGITS = 60  # most digits of a number before and after the point


def split(text: str, mark: str, what: str, *, limit: int = 0) -> list[str]:
    """Return the pieces between marks outside double quotes, stripped of blanks.

    ``limit`` is the most pieces, 0 any number; ``what`` names the rules in an error.
    """
    starts, inside = [0], False
    for i, character in enumerate(text):
        inside ^= character == '"'
        if character == mark and not inside and (not limit or len(starts) < limit):
            starts.append(i + 1)
    if inside:
        raise InputError(f"a double quote in {what} is not closed; close it behind the name")
    ends = [*(start - 1 for start in starts[1:]), len(text)]
    return [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]


def in_quotes(name: str, marks: str = MARKS) -> str:
    """Return a name as users write it: in double quotes if it contains a mark or outer blanks."""
    is_plain = name and name == name.strip() and not any(mark in name for mark in marks)
    return name if is_plain else quoted_name(name)


def quoted_name(name: str) -> str:
    """Return a name in double quotes, as CSV writes a field with a comma."""
    return '"' + name.replace('"', '""') + '"'


def unquoted(text: str) -> str:
    """Return the name inside double quotes; a text that is not in quotes as it is."""
    name = text[1:-1].replace('""', '"')
    return name if quoted_name(name) == text else text


def probability(text: str | float, what: str) -> Fraction:
    """Return a probability exactly: 0.93 is 93/100. Raise InputError outside [0, 1]."""
    number = decimal(text)
    if number is None:
        raise InputError(f"{what} is a probability from 0 to 1, such as 0.93")
    if not 0 <= number <= 1:
        raise InputError(f"{what} is outside 0 to 1; a probability is between them, such as 0.93")
    return number


def decimal(text: str | float) -> Fraction | None:
    """Return a decimal number exactly, None if the text is no number of at most 60 digits."""
    try:
        number = Decimal(str(text).strip())
    except (InvalidOperation, ValueError):
        return None
    if not number.is_finite() or (number and not -DIGITS <= number.adjusted() <= DIGITS):
        return None
    return Fraction(number) if len(number.as_tuple().digits) <= DIGITS else None
