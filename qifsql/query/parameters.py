"""The steps that hold what was asked: one is generated for each gain function and belief.

``asked`` is one row with the numbers of a gain function and the thresholds and quantiles wanted;
``listed`` and ``beliefs`` are the user's files; ``pairs`` says what each guess gains from each
value; ``numbers`` are the values of a secret as numbers. Everything else is in ``sql/``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from qifsql.adversary.gains import STAKED, Gain
from qifsql.adversary.spec import Attribute, BoundAttack
from qifsql.data.expressions import SOURCE
from qifsql.data.types import INTEGERS

Names = Mapping[str, str]
REST = "*"  # in a file of worths: all values that no other line names


@dataclass(frozen=True)
class Recipe:
    """A generated step: what it reads, and its query once these have names."""

    doc: str
    reads: tuple[str, ...]
    query: Callable[[Names], exp.Query]


def make(attack: BoundAttack, name: str, secret: int, gain: int) -> Recipe | None:
    """The generated step of that name for one secret and gain function; None for files."""
    if name == "asked":
        return _request(attack, secret, gain)
    if name == "beliefs":
        query = attack.beliefs[secret]
        doc = "One row per value of the secret: how strongly the adversary believes in it before."
        return Recipe(doc, (), lambda _: query)
    if name == "numbers":
        return _numbers(attack.secrets[secret - 1])
    if name == "listed":
        listed = attack.gains[gain - 1].listed[secret]
        return Recipe("One row per gain of the file that was named.", (), lambda _: listed)
    if name == "pairs":
        return _pairs(attack, secret, gain)
    return None


def _request(attack: BoundAttack, secret: int, gain: int) -> Recipe:
    bound = attack.gains[gain - 1] if gain else None
    kind = bound.gain.kind if bound else "identity"
    number = (bound.gain.number if bound else None) or Fraction(0)
    scale: exp.Expr = exp.Literal.number(number.denominator if kind == "penalty" else 1)
    tolerance = _decimal(number if kind == "tolerance" else Fraction(0))
    if kind == "tolerance" and _whole(attack.secrets[secret - 1]):
        tolerance = exp.cast(exp.Literal.number(int(number)), "HUGEINT")
    thresholds = [exp.cast(exp.Literal.number(t), "DOUBLE") for t in attack.thresholds]
    quantiles = [exp.cast(exp.Literal.number(q), "DECIMAL(18, 9)") for q in attack.quantiles]

    def query(names: Names) -> exp.Query:
        shown = exp.column("scale") if "scale" in names else scale
        columns = {
            "scale": shown,
            "tries": exp.Literal.number(int(number) if kind == "tries" else 1),
            "penalty": exp.Literal.number(number.numerator if kind == "penalty" else 0),
            "tolerance": tolerance,
            "thresholds": exp.Array(expressions=thresholds),
            "quantiles": exp.Array(expressions=quantiles),
        }
        selected = exp.select(*(exp.alias_(tree, name) for name, tree in columns.items()))
        return selected.from_(names["scale"]) if "scale" in names else selected

    doc = "One row: what was asked for."
    return Recipe(doc, ("scale",) if kind in STAKED else (), query)


def _decimal(number: Fraction) -> exp.Expr:
    """A number with at most 9 decimals as it is written."""
    digits = f"{int(number * 10**9):010d}"
    return exp.cast(exp.Literal.number(f"{digits[:-9]}.{digits[-9:]}"), "DECIMAL(20, 9)")


def _numbers(secret: Attribute) -> Recipe:
    kind = "HUGEINT" if _whole(secret) else secret.type

    def query(names: Names) -> exp.Query:
        number = exp.cast(exp.column("value"), kind, dialect="duckdb")
        columns = (exp.column("code"), exp.column("value"), exp.alias_(number, "number"))
        return exp.select(*columns).from_(names["secret_values"])

    return Recipe("One row per value of the secret, as a number.", ("secret_values",), query)


def _whole(secret: Attribute) -> bool:
    """Whether all values are whole numbers."""
    return secret.type in INTEGERS or (secret.type.startswith("DECIMAL") and ",0)" in secret.type)


def _pairs(attack: BoundAttack, secret: int, gain: int) -> Recipe:
    bound = attack.gains[gain - 1]
    if bound.gain.kind == "sql":
        return _computed(bound.expressions[secret])
    if bound.gain.kind == "worth" and bound.gain.number is not None:
        return _constant(bound.gain)
    guess = "code" if bound.gain.kind == "worth" else "guess"
    doc = "One row per guess and value of the secret: what the guess gains."

    def query(names: Names) -> exp.Query:
        table = "secret_values" if guess == "code" else "listed"
        named = (
            exp.select(
                exp.alias_(exp.column(guess, table), "guess"),
                exp.column("code", "secret_values"),
                exp.column("gain", "listed"),
            )
            .from_(exp.to_table(names["listed"]).as_("listed"))
            .join(exp.to_table(names["secret_values"]).as_("secret_values"), on=_same())
        )
        if guess == "guess":
            return named
        return exp.union(named, _rest(names), distinct=False)

    return Recipe(doc, ("listed", "secret_values"), query)


def _same() -> exp.Expr:
    """Return whether a line of a file names a value; what is no value of the type names none."""
    value = exp.column("value", "listed")
    unfit = exp.and_(value.is_(exp.null()), exp.not_(exp.column("raw", "listed").is_(exp.null())))
    same = exp.NullSafeEQ(this=value.copy(), expression=exp.column("value", "secret_values"))
    return exp.and_(same, exp.not_(exp.paren(unfit)))


def _rest(names: Names) -> exp.Select:
    """Return the worth of the values that no line names: that of the line ``*``.

    A line that names a value ``*`` of the secret is no such line.
    """
    listed = exp.to_table(names["listed"]).as_("listed")
    values = exp.to_table(names["secret_values"]).as_("secret_values")
    star = exp.EQ(this=exp.column("raw", "listed"), expression=exp.Literal.string(REST))
    rest = (
        exp.select(exp.alias_(exp.column("gain", "listed"), "gain"))
        .from_(listed)
        .join(values, on=_same(), join_type="anti")
        .where(star)
    )
    unnamed = (
        exp.select(exp.column("code", "secret_values"))
        .from_(values.copy())
        .join(listed.copy(), on=_same(), join_type="anti")
    )
    columns = [exp.alias_(exp.column("code", "unnamed"), name) for name in ("guess", "code")]
    query = exp.select(*columns, exp.column("gain", "rest")).from_(unnamed.subquery("unnamed"))
    return query.join(rest.subquery("rest"), join_type="cross")


def _computed(expression: exp.Expr) -> Recipe:
    """Every guess with every value of the secret; a guess is a value, under its number."""

    def query(names: Names) -> exp.Query:
        both = exp.select(
            exp.alias_(exp.column("code", "guesses"), "guess_code"),
            exp.alias_(exp.column("value", "guesses"), "guess"),
            exp.column("code", "secrets"),
            exp.alias_(exp.column("value", "secrets"), "secret"),
        ).from_(exp.to_table(names["secret_values"]).as_("guesses"))
        both = both.join(exp.to_table(names["secret_values"]).as_("secrets"), join_type="cross")
        return exp.select(
            exp.alias_(exp.column("guess_code"), "guess"),
            exp.column("code"),
            exp.alias_(exp.cast(expression.copy(), "DOUBLE"), "gain"),
        ).from_(both.subquery(SOURCE))

    doc = "One row per guess and value of the secret: what the guess gains."
    return Recipe(doc, ("secret_values",), query)


def _constant(gain: Gain) -> Recipe:
    number = gain.number or Fraction(0)

    def query(names: Names) -> exp.Query:
        return exp.select(
            exp.alias_(exp.column("code"), "guess"),
            exp.column("code"),
            exp.alias_(exp.cast(_decimal(number), "DOUBLE"), "gain"),
        ).from_(names["secret_values"])

    return Recipe("One row per value: what guessing it right gains.", ("secret_values",), query)
