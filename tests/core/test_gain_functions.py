"""Gain functions as users write them: what a text names, and what it cannot."""

from fractions import Fraction

import pytest

from qifsql.adversary.gains import IDENTITY, Gain, parse
from qifsql.errors import InputError

BILLION = Fraction(10**9)


@pytest.mark.parametrize(
    ("text", "gain"),
    [
        ("identity", Gain("identity", "identity")),
        (" IDENTITY ", Gain("identity", "identity")),
        ("tries:1", Gain("tries:1", "tries", Fraction(1))),
        (" Tries : 3 ", Gain("Tries : 3", "tries", Fraction(3))),
        ("tries:2.0", Gain("tries:2.0", "tries", Fraction(2))),
        ("tries:1000000000", Gain("tries:1000000000", "tries", BILLION)),
        ("penalty:0", Gain("penalty:0", "penalty", Fraction(0))),
        ("penalty:0.5", Gain("penalty:0.5", "penalty", Fraction(1, 2))),
        ("penalty:1/3", Gain("penalty:1/3", "penalty", Fraction(1, 3))),
        ("penalty:0.000000001", Gain("penalty:0.000000001", "penalty", 1 / BILLION)),
        ("tolerance:5", Gain("tolerance:5", "tolerance", Fraction(5))),
        ("tolerance:1e9", Gain("tolerance:1e9", "tolerance", BILLION)),
        ("worth:4", Gain("worth:4", "worth", Fraction(4))),
        ("worth:0", Gain("worth:0", "worth", Fraction(0))),
        ("worth:worths.csv", Gain("worth:worths.csv", "worth", source="worths.csv")),
        ("worth: C:/w.csv", Gain("worth: C:/w.csv", "worth", source="C:/w.csv")),
        ("matrix:4", Gain("matrix:4", "matrix", source="4")),
        ("matrix:m.csv", Gain("matrix:m.csv", "matrix", source="m.csv")),
        ("sql: guess = secret", Gain("sql: guess = secret", "sql", source="guess = secret")),
        ("sql:1", Gain("sql:1", "sql", source="1")),
    ],
)
def test_a_text_names_a_gain_function(text: str, gain: Gain) -> None:
    assert parse(text) == gain


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *(
            (text, "there is no gain")
            for text in ("", "gain", "gain:1", "tries", "tries:", "sql: ")
        ),
        *((text, "there is no gain") for text in ("identity:", "identity:1", "matrix", "worth")),
        ("tries:many", "needs a number, as in tries:3"),
        ("penalty:much", "needs a number, as in penalty:0.5"),
        ("tolerance:1/0", "needs a number, as in tolerance:5"),
        ("tries:0", "needs a whole number from 1"),
        ("tries:-1", "needs a whole number from 1"),
        ("tries:1.5", "needs a whole number from 1"),
        ("tries:1000000001", "is beyond 1,000,000,000"),
        ("penalty:-0.1", "needs a number from 0 with at most 9 decimals"),
        ("worth:-1", "needs a number from 0 with at most 9 decimals"),
        ("tolerance:0.0000000001", "needs a number from 0 with at most 9 decimals"),
        ("tolerance:1000000000.5", "is beyond 1,000,000,000"),
        ("worth:1e10", "is beyond 1,000,000,000"),
    ],
)
def test_other_texts_are_refused_with_what_to_write(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(text)


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ("worth:worths.csv", "worths.csv"),
        ("matrix:m.csv", "m.csv"),
        ("worth:4", None),
        ("sql:guess = secret", None),
        ("tries:3", None),
        ("identity", None),
    ],
)
def test_only_gains_that_are_listed_have_a_file(text: str, file: str | None) -> None:
    assert parse(text).file == file


def test_the_identity_is_one_function() -> None:
    assert parse("Identity") is IDENTITY
