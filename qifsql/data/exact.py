"""Numbers exactly as they are written: 0.1 is one tenth, and 1/3 a third."""

import re
from fractions import Fraction

from qifsql.errors import InputError, quoted

LONGEST = 200  # characters of a number
EXPONENT = re.compile(r"[eE][+-]?([\d_]+)$")


def exact(value: object) -> Fraction | None:
    """Return a number exactly as it is written.

    None if it is no number, a quotient of 0, or longer than anybody writes: 1e99999999 has a
    hundred million digits.
    """
    text = str(value).strip()
    exponent = EXPONENT.search(text)
    if len(text) > LONGEST or (exponent and len(exponent[1]) > 4):
        return None
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None


def share(value: object) -> Fraction:
    """Return a sampling fraction: the share of a population in a sample, above 0 and up to 1."""
    fraction = exact(value)
    if fraction is None or not 0 < fraction <= 1:
        raise InputError(
            f"a fraction is a number above 0 up to 1, as in 0.01 or 1/100, not {quoted(str(value))}"
        )
    return fraction
