"""Steps with the parameters of an attack, generated for each gain function and belief.

``asked`` is one row with the numbers of a gain function and the required thresholds and quantiles.
``listed`` and ``beliefs`` are the user's files. ``pairs`` has the gain of each guess for each
value. ``numbers`` are the values of a secret as numbers. All other steps are in ``sql/``.
"""

from fractions import Fraction

from sqlglot import exp

from qifsql.adversary.gains import STAKED
from qifsql.adversary.spec import Attribute, BoundAttack
from qifsql.data.types import INTEGERS
from qifsql.query.plan import Step
from qifsql.query.render import parsed

PAIRS = "One row per guess and value of the secret: what the guess gains."
IS_LISTED = """
    listed.value IS NOT DISTINCT FROM secret_values.value
    AND NOT (listed.value IS NULL AND NOT listed.raw IS NULL)
"""
"""The condition that a line of a file names a value; a text of another type does not."""
LISTED = """
    SELECT {guess}, secret_values.code, listed.gain
    FROM listed AS listed
    JOIN secret_values AS secret_values ON {is_listed}
"""
"""The gains of the values that are named in a file."""
UNLISTED = """
    SELECT unnamed.code AS guess, unnamed.code AS code, rest.gain
    FROM (
        SELECT secret_values.code
        FROM secret_values AS secret_values
        ANTI JOIN listed AS listed ON {is_listed}
    ) AS unnamed
    CROSS JOIN (
        SELECT listed.gain AS gain
        FROM listed AS listed
        ANTI JOIN secret_values AS secret_values ON {is_listed}
        WHERE listed.raw = '*'
    ) AS rest
"""
"""The worth of the values that no line names, which is that of the line ``*``.

If ``*`` is a value of the secret, the line names only this value."""
COMPUTED = """
    SELECT guess_code AS guess, code, gain
    FROM (
        SELECT guesses.code AS guess_code, guesses.value AS guess, secrets.code,
            secrets.value AS secret
        FROM secret_values AS guesses
        CROSS JOIN secret_values AS secrets
    ) AS source
"""
"""The gain of every guess for every value of the secret; a guess is the code of a value."""


def make(attack: BoundAttack, name: str, secret: int, gain: int) -> Step | None:
    """Return the generated step ``name`` for one secret and gain function; None if it is a file.

    Tables without a schema are steps that it reads, with the names of their files.
    """
    if name == "asked":
        return Step(name, "One row: what was asked for.", _request_row(attack, secret, gain))
    if name == "beliefs":
        doc = "One row per value of the secret: how strongly the adversary believes in it before."
        return Step(name, doc, attack.beliefs[secret])
    if name == "numbers":
        attribute = attack.microdata.secrets[secret - 1]
        kind = "HUGEINT" if _is_integer(attribute) else attribute.type
        doc = "One row per value of the secret, as a number."
        number = exp.cast("value", kind, dialect="duckdb")
        query = exp.select("code", "value", exp.alias_(number, "number")).from_("secret_values")
        return Step(name, doc, query)
    if name == "listed":
        listed = attack.gains[gain - 1].listed[secret]
        return Step(name, "One row per gain of the file that was named.", listed)
    if name == "pairs":
        return _pairs(attack, secret, gain)
    return None


def _request_row(attack: BoundAttack, secret: int, gain: int) -> exp.Select:
    """Return the one row of ``asked`` for a secret and a gain function (0: identity).

    It has the parameters of all kinds of gains; those of other kinds than this one have the value
    that changes nothing. Gains of a penalty n / d are in units of 1 / d (``scale``).
    """
    gain_function = attack.gains[gain - 1].gain if gain else None
    kind = gain_function.kind if gain_function else "identity"
    number = (gain_function.number if gain_function else None) or Fraction(0)
    scale: exp.Expr = exp.Literal.number(number.denominator if kind == "penalty" else 1)
    tolerance = _decimal(number if kind == "tolerance" else Fraction(0))
    if kind == "tolerance" and _is_integer(attack.microdata.secrets[secret - 1]):
        tolerance = exp.cast(exp.Literal.number(int(number)), "HUGEINT")
    thresholds = [exp.cast(exp.Literal.number(t), "DOUBLE") for t in attack.thresholds]
    quantiles = [exp.cast(exp.Literal.number(q), "DECIMAL(18, 9)") for q in attack.quantiles]
    columns = {
        "scale": exp.column("scale") if kind in STAKED else scale,
        "tries": exp.Literal.number(int(number) if kind == "tries" else 1),
        "penalty": exp.Literal.number(number.numerator if kind == "penalty" else 0),
        "tolerance": tolerance,
        "thresholds": exp.Array(expressions=thresholds),
        "quantiles": exp.Array(expressions=quantiles),
    }
    query = exp.select(*(exp.alias_(tree, name) for name, tree in columns.items()))
    return query.from_("scale") if kind in STAKED else query


def _decimal(number: Fraction) -> exp.Expr:
    digits = f"{int(number * 10**9):010d}"
    return exp.cast(exp.Literal.number(f"{digits[:-9]}.{digits[-9:]}"), "DECIMAL(20, 9)")


def _is_integer(secret: Attribute) -> bool:
    return secret.type in INTEGERS or (secret.type.startswith("DECIMAL") and ",0)" in secret.type)


def _pairs(attack: BoundAttack, secret: int, gain: int) -> Step:
    """Return the step of the gains of guesses: computed, listed in a file, or one number.

    ``secret`` and ``gain`` are numbers from 1. A row has ``guess``, ``code`` (of the true value)
    and ``gain``. For the kind ``worth`` there are only right guesses, as all others gain 0.
    """
    bound = attack.gains[gain - 1]
    if bound.gain.kind == "sql":  # an expression over ``guess`` and ``secret``
        query = _query(COMPUTED)
        gains = exp.alias_(exp.cast(bound.expressions[secret].copy(), "DOUBLE"), "gain")
        query.set("expressions", [*query.expressions[:2], gains])  # guess and code stay
        return Step("pairs", PAIRS, query)
    if bound.gain.kind != "worth":  # a file of gains
        return Step("pairs", PAIRS, _query(LISTED, guess="listed.guess"))
    if bound.gain.number is None:  # a file with the worth of guessing each value right
        named = _query(LISTED, guess="secret_values.code AS guess")
        return Step("pairs", PAIRS, exp.union(named, _query(UNLISTED), distinct=False))
    worth = exp.alias_(exp.cast(_decimal(bound.gain.number), "DOUBLE"), "gain")
    query = exp.select("code AS guess", "code", worth).from_("secret_values")
    return Step("pairs", "One row per value: what guessing it right gains.", query)


def _query(template: str, guess: str = "") -> exp.Select:
    """Return the query of one of the templates above, with its column of guesses."""
    query = parsed(template.format(is_listed=IS_LISTED, guess=guess))
    assert isinstance(query, exp.Select)  # noqa: S101 - it is one
    return query
