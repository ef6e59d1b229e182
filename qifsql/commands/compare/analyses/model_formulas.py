"""Formulas of models, such as ``wage ~ age + sex``: a small grammar, of which nothing is executed.

A formula is an outcome, ``~``, and terms joined by ``+``. A term is a column; ``a:b`` is the
interaction of two, ``a*b`` means ``a + b + a:b``, and ``-1`` leaves the intercept out. A name that
is no word is written as ```hours per week``` or ``Q("hours per week")``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from qifsql.errors import InputError, quoted

MOST_FACTORS = 4
"""Columns that ``*`` may join: four make 15 terms."""
_TOKEN = re.compile(
    r"""\s*(?:
    `(?P<ticked>[^`]+)` | Q\(\s*(?:"(?P<double>[^"]+)"|'(?P<single>[^']+)')\s*\)
    | (?P<word>[^\W\d][\w.]*)(?!\s*\() | (?P<minus>-\s*1(?![\w.])) | (?P<sign>[~+:*])
    )\s*""",
    re.VERBOSE,
)
_NAMES = ("ticked", "double", "single", "word")
_EXAMPLE = (
    "a formula is, for example, wage ~ age + sex: columns joined by +, : or *, and -1; write other "
    'names as `hours per week` or Q("hours per week")'
)

Term = tuple[str, ...]


@dataclass(frozen=True)
class Formula:
    """A formula as it was typed: its outcome, its terms (each of one column or more), intercept."""

    text: str
    outcome: str
    terms: tuple[Term, ...]
    has_intercept: bool

    @property
    def predictors(self) -> tuple[str, ...]:
        """Return the columns of the terms, each once, in their order."""
        return tuple(dict.fromkeys(name for term in self.terms for name in term))


@dataclass(frozen=True)
class _Token:
    """A name, or (None) one of the signs ``~``, ``+``, ``:``, ``*`` and ``-1``."""

    name: str | None
    sign: str


def parse(text: str) -> Formula:
    """Return the formula of a text; raise InputError for one that is not of the grammar."""
    tokens = _tokens(text)
    if len(tokens) < 3 or tokens[0].name is None or tokens[1].sign != "~":
        raise InputError(f"{quoted(text)} does not begin with an outcome and ~; {_EXAMPLE}")
    outcome = tokens[0].name
    terms: dict[frozenset[str], Term] = {}
    has_intercept = True
    for part in _split(tokens[2:], "+"):
        names = part
        if part and part[-1].sign == "-1":  # as in a - 1
            has_intercept, names = False, part[:-1]
        # ``- 1`` alone has no term; a part without anything is an error, which ``_terms`` finds.
        for term in _terms(names, text) if names or part == [] else ():
            terms.setdefault(frozenset(term), term)
    if any(outcome in term for term in terms):
        raise InputError(f"the outcome {quoted(outcome)} is a predictor, too; name it once")
    if not terms:
        raise InputError(f"{quoted(text)} has no predictor; {_EXAMPLE}")
    return Formula(text, outcome, tuple(terms.values()), has_intercept)


def _tokens(text: str) -> list[_Token]:
    """Return the names and signs of a formula; raise InputError for anything else in it."""
    tokens: list[_Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise InputError(
                f"{quoted(text)} cannot be read from character {at + 1} on; {_EXAMPLE}"
            )
        name = next((match[group] for group in _NAMES if match[group] is not None), None)
        sign = "-1" if match["minus"] else match["sign"] or ""
        tokens.append(_Token(name, sign))
        at = match.end()
    return tokens


def _split(tokens: Sequence[_Token], sign: str) -> list[list[_Token]]:
    """Return the parts of a sequence between the tokens that are a sign."""
    parts: list[list[_Token]] = [[]]
    for token in tokens:
        if token.sign == sign:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _terms(tokens: Sequence[_Token], text: str) -> list[Term]:
    """Return the terms of a part between two ``+``, each the names of the columns to multiply.

    ``a:b`` is one term; ``a*b`` means three: a, b and their product.
    """
    factors: list[Term] = []
    for factor in _split(tokens, "*"):
        names = [_name(member, text) for member in _split(factor, ":")]
        factors.append(tuple(dict.fromkeys(names)))
    if len(factors) > MOST_FACTORS:
        raise InputError(f"{quoted(text)} joins more than {MOST_FACTORS} columns by *; name fewer")
    return [
        tuple(dict.fromkeys(name for factor in chosen for name in factor))
        for size in range(1, len(factors) + 1)
        for chosen in combinations(factors, size)
    ]


def _name(tokens: Sequence[_Token], text: str) -> str:
    """Return the name that is alone between two signs."""
    if len(tokens) != 1 or tokens[0].name is None:
        raise InputError(f"{quoted(text)} has signs without a column between them; {_EXAMPLE}")
    return tokens[0].name
