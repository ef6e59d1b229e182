"""The user's small files about the values of a secret: gains and prior probabilities.

Values are read in the type of the secret. CSV is read as text, so ``01`` is not 1 unless the
secret is a number. An empty field is the missing value.
"""

from collections.abc import Mapping, Sequence

from sqlglot import exp

from qifsql.adversary.gains import Gain
from qifsql.adversary.spec import Attribute
from qifsql.data.dataset import Column, Dataset, Schema
from qifsql.data.expressions import SOURCE, column, filled, is_nan, with_one_missing
from qifsql.data.readers import relation
from qifsql.data.types import INTEGERS, family
from qifsql.errors import InputError, quoted

WHOLE = "CASE WHEN NOT coalesce(number <> value, FALSE) THEN value END"  # a cast would round 2.5
MISSING = ("", "(missing)")  # names of the column for the missing value in a wide matrix
WIDE = 500  # most columns of values in a wide matrix


def gains(gain: Gain, secret: Attribute, dataset: Dataset, schema: Schema) -> exp.Query:
    """Return the query of a gains file: a row per guess and value of the secret, with its gain.

    The columns are ``guess`` (NULL in a worth file, where it is the value), ``value``, ``raw`` (the
    value as written) and ``gain``. A matrix has them as lines, or a column per value.
    """
    value = _value_column(schema, secret)
    earned = schema.find("gain") or schema.find("worth")
    guess = schema.find("guess")
    if gain.kind == "worth":
        if value is None or earned is None:
            raise InputError(
                f"{dataset.name} is not a worth file; it needs the columns value (or "
                f"{quoted(secret.name)}) and worth"
            )
        return _earned(dataset, exp.null(), value, earned, secret)  # of a right guess alone
    if guess is not None and value is not None and earned is not None:
        return _earned(dataset, _text(guess), value, earned, secret)
    guesses, *values = schema.columns  # else the names of the columns are values of the secret
    if not values or len(values) > WIDE:
        raise InputError(
            f"{dataset.name} is not a gain matrix; it needs the columns guess, secret and gain, or "
            f"a column of guesses and one for each value of the secret (at most {WIDE})"
        )
    queries = [_wide(dataset, guesses, amount, secret) for amount in values]
    return exp.union(*queries, distinct=False) if len(queries) > 1 else queries[0]


def beliefs(
    secrets: Sequence[Attribute], dataset: Dataset, schema: Schema
) -> tuple[int, exp.Query]:
    """Return the number of the secret that a prior file is about, from 1, and its query.

    The query has a row per line of the file, with the columns ``value``, ``raw`` (the value as
    written) and ``belief`` (its prior probability).
    """
    believed = schema.find("probability") or schema.find("belief") or schema.find("prior")
    numbers = _numbers_of_secrets(secrets, schema)
    secret = secrets[numbers[0] - 1] if len(numbers) == 1 else None
    value = _value_column(schema, secret) if secret else None
    if believed is None or secret is None or value is None:
        raise InputError(
            f"{dataset.name} is not a prior file; it needs a column named like one of the secrets "
            "(or value, where there is one secret) and the column probability"
        )
    columns = {"value": typed(column(value), secret), "raw": _raw(value, secret)}
    return numbers[0], lines(dataset, columns | {"belief": number(believed)})


def _numbers_of_secrets(secrets: Sequence[Attribute], schema: Schema) -> list[int]:
    """Return the numbers, from 1, of the secrets that are columns of a file.

    Names in another case count only if no name is equal. The only secret needs no column.
    """
    exact = {c.name for c in schema.columns}
    numbers = [j for j, s in enumerate(secrets, 1) if s.name in exact]
    numbers = numbers or [j for j, s in enumerate(secrets, 1) if schema.find(s.name) is not None]
    if not numbers and len(secrets) == 1:
        return [1]  # its column may be called value
    return numbers


def _value_column(schema: Schema, secret: Attribute) -> Column | None:
    """Return the column of a file of values that has the values of the secret."""
    return schema.find(secret.name) or schema.find("secret") or schema.find("value")


def lines(dataset: Dataset, columns: Mapping[str, exp.Expr]) -> exp.Select:
    """Return the lines of a file as a query with these columns, by name."""
    query = exp.select(*(exp.alias_(tree, name) for name, tree in columns.items()))
    return query.from_(exp.alias_(relation(dataset), SOURCE, table=True))


def _earned(
    dataset: Dataset, guess: exp.Expr, value: Column, earned: Column, secret: Attribute
) -> exp.Select:
    """Return the query of a file with a line per ``guess`` and value: what the guess earns."""
    columns = {"guess": guess, "value": typed(column(value), secret), "raw": _raw(value, secret)}
    return lines(dataset, columns | {"gain": number(earned)})


def _wide(dataset: Dataset, first: Column, amount: Column, secret: Attribute) -> exp.Select:
    """Return one column of a wide matrix: the gain of each guess for the value in its name."""
    name = exp.null() if amount.title in MISSING else exp.Literal.string(amount.title)
    raw = exp.cast(name.copy(), "VARCHAR")
    columns = {"guess": _text(first), "value": typed(name, secret), "raw": raw}
    return lines(dataset, columns | {"gain": number(amount)})


def typed(tree: exp.Expr, attribute: Attribute) -> exp.Expr:
    """Return a value cast to the type of an attribute; a value that does not fit becomes NULL."""
    fitting = cast_exactly(tree, attribute.type)
    return with_one_missing(fitting) if attribute.floating else fitting


def cast_exactly(tree: exp.Expr, type_: str) -> exp.Expr:
    """Return a value cast to a type; NULL if it does not fit, as 2.5 in a whole number."""
    tried = exp.TryCast(this=tree, to=exp.DataType.build(type_, dialect="duckdb"))
    if family(type_) not in INTEGERS:
        return tried
    number = exp.TryCast(this=tree.copy(), to=exp.DataType.build("DOUBLE"))
    return filled(WHOLE, {"value": tried, "number": number})


def _text(value: Column) -> exp.Expr:
    return exp.cast(column(value), "VARCHAR")


def _raw(value: Column, secret: Attribute) -> exp.Expr:
    """Return a value as it is written; NULL if it is missing or NaN."""
    if not secret.floating:
        return _text(value)
    return exp.Case().when(is_nan(number(value)), exp.null()).else_(_text(value))


def number(value: Column) -> exp.Expr:
    """Return a value as a number; NULL if it is not a number."""
    return exp.TryCast(this=column(value), to=exp.DataType.build("DOUBLE"))
