"""Bind gain functions to the secrets: parse expressions, open files, check types."""

from collections.abc import Sequence
from decimal import Decimal

from sqlglot import exp

from qifsql.adversary import gains, value_files
from qifsql.adversary.gains import IDENTITY, OF_VALUES, Gain
from qifsql.adversary.models import Model
from qifsql.adversary.rule_text import decimal
from qifsql.adversary.spec import Attribute, BoundGain
from qifsql.data.column_questions import Catalog
from qifsql.data.dataset import Column, Schema
from qifsql.data.expressions import parse
from qifsql.data.types import NUMBERS, family
from qifsql.errors import ExpressionError, InputError, quoted


def bind(
    texts: Sequence[str], models: Sequence[Model], secrets: Sequence[Attribute], catalog: Catalog
) -> tuple[tuple[BoundGain, ...], tuple[int, ...]]:
    """Return the bound gains without identity, and the numbers of all gains in the user's order.

    A number is the place among the bound gains, from 1; that of identity is 0. ``texts`` are the
    gains as the user wrote them.
    """
    bound: list[BoundGain] = []
    asked_gains: list[int] = []
    definitions: set[tuple[object, ...]] = set()
    for gain in map(gains.parse, texts):
        definition = gain.kind, gain.number, gain.source  # the same however it is written
        if definition in definitions:
            raise InputError(f"gain {quoted(gain.text)} is given twice; name it once")
        definitions.add(definition)
        if gain.kind in OF_VALUES and any(m.goal == "re-identification" for m in models):
            raise InputError(
                f"gain {gain.kind} is about values of a secret; re-identification takes "
                "identity, tries:K and penalty:C: run the models separately"
            )
        if gain != IDENTITY:
            bound.append(_bound(gain, secrets, catalog))
        asked_gains.append(len(bound) if gain != IDENTITY else 0)
    return tuple(bound), tuple(asked_gains)


def thresholds(texts: Sequence[str], bound: Sequence[BoundGain]) -> tuple[str, ...]:
    """Return thresholds, sorted and distinct; above 1 only with ``bound`` gains, not identity."""
    levels = numbers(texts, "threshold")
    if levels and not bound and Decimal(levels[-1]) > 1:
        raise InputError(
            f"threshold {levels[-1]} is above 1, and success is a probability; 9 % is 0.09"
        )
    return levels


def certainties(levels: float | Sequence[float | str] | None) -> list[float]:
    """Return thresholds of success, from 0 to 1, sorted and distinct; none for None."""
    if levels is None:
        return []
    texts = [levels] if isinstance(levels, int | float) else levels
    return [float(level) for level in thresholds(list(map(str, texts)), ())]


def numbers(texts: Sequence[str], what: str) -> tuple[str, ...]:
    """Return decimals, sorted and distinct; ``what`` is "threshold" (from 0) or "quantile"."""
    decimals: set[Decimal] = set()
    for text in texts:
        exact = decimal(text)
        if exact is None or exact < 0 or (what == "quantile" and exact > 1):
            limits = "from 0 to 1" if what == "quantile" else "from 0, such as 0.5"
            raise InputError(f"{what} {quoted(text)} is not a number {limits}")
        number = Decimal(text)
        if what == "quantile" and number != round(number, 9):
            raise InputError(f"{what} {quoted(text)} has more than 9 decimals")
        decimals.add(number)
    return tuple(f"{number:f}" for number in sorted(decimals))


def _bound(gain: Gain, secrets: Sequence[Attribute], catalog: Catalog) -> BoundGain:
    """Return a gain with the SQL expression, or the query of its file, by number of the secret."""
    numbered = list(enumerate(secrets, 1))
    if gain.kind == "tolerance":
        for secret in secrets:
            if (kind := family(secret.type)) not in NUMBERS:
                raise InputError(
                    f"gain tolerance needs a number, but secret {quoted(secret.name)} is {kind}; "
                    "make one of it, as in --secret YEAR=year(day)"
                )
    if gain.kind == "sql":
        return BoundGain(gain, {}, {j: _expression(gain, s, catalog) for j, s in numbered})
    if gain.file is None:
        return BoundGain(gain)
    dataset, schema = catalog.beside(gain.file)
    return BoundGain(gain, {j: value_files.gains(gain, s, dataset, schema) for j, s in numbered})


def _expression(gain: Gain, secret: Attribute, catalog: Catalog) -> exp.Expr:
    """Return the gain as an expression over ``guess`` and ``secret``, both of the secret's type."""
    types = {"guess": secret.type, "secret": secret.type}
    schema = Schema("a gain", tuple(Column(n, n, t) for n, t in types.items()))
    tree = parse(gain.source or "", schema, f"gain {quoted(gain.text)}")
    if not list(tree.find_all(exp.Column)):
        raise ExpressionError(
            f"gain {quoted(gain.text)} uses neither guess nor secret; every guess is worth the same"
        )
    catalog.check_number(tree, types, f"gain {quoted(gain.text)}")
    return tree
