"""Turn names as users write them into attributes: columns, named expressions, patterns, tags.

In a collection ``2:school`` is the column school of the second dataset. A quasi-identifier without
a tag means the column in every dataset that has it; any other name without a tag means a column of
the focal dataset.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NoReturn

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from qifsql.adversary.spec import Attribute
from qifsql.data.coarsen import coarsened
from qifsql.data.collection import tag_of, tagged
from qifsql.data.dataset import Column, Schema
from qifsql.data.expressions import SOURCE, column, identifier, not_an_expression, parse
from qifsql.data.files import matches
from qifsql.data.option import split_name
from qifsql.errors import ColumnError, InputError, did_you_mean, quoted

Attributes = tuple[Attribute, ...]
QID, SECRET = "quasi-identifier", "secret"


def attributes(
    names: Sequence[str], schema: Schema, role: str, *, distinct: bool = False, again: bool = False
) -> Attributes:
    """Return the attributes that names mean in a role, each once, in the order of their datasets.

    ``role`` is that of messages, such as ``secret``. ``distinct``: absence of a person differs from
    a missing value, so that attributes of the datasets from 2 on have the column ``there``.
    ``again``: several names may mean the same attribute, as in a target (``school``, ``2:school``).
    Raises ColumnError or ExpressionError if a name is unknown, ambiguous or given twice.
    """
    by_name: dict[str, Attribute] = {}
    for name in names:
        for attribute in _meant(name, schema, role):
            if attribute.name in by_name and not again:
                raise ColumnError(f"{role} {quoted(attribute.name)} is given twice; name it once")
            by_name.setdefault(attribute.name, attribute)
    sequence = sorted(by_name.values(), key=lambda a: a.number)  # the datasets in their order
    if distinct:
        sequence = [replace(a, there=there(a.number)) if a.number > 1 else a for a in sequence]
    return tuple(sequence)


def check_qids(texts: Iterable[str], names: Sequence[str]) -> None:
    """Refuse a text that names none of the quasi-identifiers ``names``."""
    for text in texts:
        if text not in names:
            raise ColumnError(
                f"{quoted(text)} is not a quasi-identifier{did_you_mean(text, names)}"
            )


def _meant(text: str, schema: Schema, role: str) -> list[Attribute]:
    """Return the attributes that a name means: of all datasets for a quasi-identifier, else focal.

    A text such as "1:age" is read as a tag and a column. If that fails and a column really has this
    name, the error has a hint how to write it ("1:1:age").
    """
    if not schema.parts:  # not a collection
        return named(text, schema, role)
    datasets = schema.parts if role == QID else schema.parts[:1]
    try:
        return _in_collection(text, schema) if role == QID else _of_focal(text, schema, role)
    except InputError as e:
        looks_tagged = re.match(r"\s*\d+\s*:", text)
        for number, part in enumerate(datasets, 1):
            if looks_tagged and any(c.name == text for c in part.columns):
                phrase = f"the column {quoted(text)} of {part.dataset}"
                hint = f"{phrase} is written {quoted(tagged(number, text))}"
                raise type(e)(f"{e}; {hint}", detail=e.detail) from e
        raise


def there(number: int) -> exp.Column:
    """Return the column that states whether the person is in a dataset of the collection."""
    return exp.Column(this=identifier(tagged(number, "")), table=exp.to_identifier(SOURCE))


def named(text: str, schema: Schema, role: str) -> list[Attribute]:
    """Return the attributes of one text: a column, named expression, coarser form or pattern.

    Only a pattern (``region*``) means several. Expressions and coarser forms have the type "" until
    the engine is asked. ``role`` is that of messages.
    """
    if (original := _column(text, schema)) is not None:
        return [Attribute(original.name, column(original), original.type)]
    if (parts := split_name(text)) is not None:
        name, expression = parts
        return [Attribute(name, parse(expression, schema, f"{role} {quoted(name)}"), "")]
    if (coarser := coarsened(text, schema)) is not None:
        return [Attribute(*coarser, "")]
    if matches := _matching(text, schema):
        return [Attribute(c.name, column(schema[c.name]), c.type) for c in matches]
    if re.fullmatch(r"[\w*?]+", text) and set(text) & set("*?"):
        raise ColumnError(
            f"no column of {schema.dataset} matches {quoted(text)}; check the pattern"
        )
    if hint := not_an_expression(text):
        raise ColumnError(f"column {quoted(text)} is not in {schema.dataset}{hint}")
    return [Attribute(text, column(schema[text]), "")]  # raises: it was not found above


def of_column(name: str | None, schema: Schema) -> Attributes:
    """Return a column of the focal dataset, in a tuple; an empty tuple without a name."""
    if name is None:
        return ()
    original = _focal(schema)[name]
    return (Attribute(original.name, column(original), original.type),)


def weight(text: str | None, schema: Schema) -> Attributes:
    """Return the weight, one attribute: a column of the focal dataset, or an expression."""
    if text is None:
        return ()
    focal = _focal(schema)
    if focal.find(text) is None and schema.find(text) is not None:  # it has a tag
        return tuple(_of_focal(text, schema, "weight"))
    has_name = focal.find(text) or split_name(text)  # an expression may have none, as in w / 2
    return tuple(named(text if has_name else f"weight={text}", focal, "weight")[:1])


def _focal(schema: Schema) -> Schema:
    """Return the columns of the focal dataset, all of them without a collection."""
    return schema.parts[0] if schema.parts else schema


def _column(text: str, schema: Schema) -> Column | None:
    """Return the column of a name as it is written, else without blanks around it."""
    return schema.find(text) or schema.find(text.strip())


def _matching(text: str, schema: Schema) -> list[Column]:
    """Return the columns that match a pattern; ignore case only if no column matches otherwise.

    A text without ``*``, ``?`` and ``[`` is not a pattern and matches nothing.
    """
    pattern = text.strip()
    if not any(c in pattern for c in "*?["):
        return []
    exact = [c for c in schema.columns if matches(c.name, pattern)]
    return exact or [c for c in schema.columns if matches(c.name.casefold(), pattern.casefold())]


def _in_collection(text: str, schema: Schema) -> list[Attribute]:
    """Return a quasi-identifier of the dataset in its tag, else of every dataset that has it.

    A text that is a column of one dataset is not read as an expression or pattern in another.
    """
    tag = tag_of(text, len(schema.parts))
    if tag is not None:
        number, name = tag
        return _tagged(named(name, schema.parts[number - 1], QID), number)
    numbered = list(enumerate(schema.parts, 1))  # a dataset with its number
    datasets = [(n, part) for n, part in numbered if _column(text, part)]
    datasets = datasets or [(n, part) for n, part in numbered if is_in(text, part)]
    if not datasets:
        _refuse_unknown(text, schema)
    return [a for n, part in datasets for a in _tagged(named(text, part, QID), n)]


def _refuse_unknown(text: str, schema: Schema) -> NoReturn:
    """Refuse a name that no dataset has, or an expression over columns of several datasets."""
    by_name = {c.name.casefold(): c for part in schema.parts for c in part.columns}
    doubtful, columns = any(p.doubtful for p in schema.parts), tuple(by_name.values())
    union = Schema("any dataset of the collection", columns, doubtful=doubtful)
    named(text, union, QID)  # raises if no dataset has it; else several have its columns
    raise ColumnError(
        f"no dataset of the collection has all columns of {QID} {quoted(text)}; an expression "
        "is about one dataset"
    )


def is_in(text: str, dataset: Schema) -> bool:
    """Return whether a dataset has a column, or all of an expression or pattern, unambiguously."""
    if _column(text, dataset) is not None:
        return True
    parts = split_name(text)  # "decade" and "birth_year//10" of decade=birth_year//10
    if parts is None:
        name = text.rpartition(":")[0].strip()  # of a coarser form, such as age:5
        return bool(_matching(text, dataset)) or dataset.find(name) is not None
    try:
        _, expression = parts
        tree = sqlglot.parse_one(expression, read="duckdb")
    except (SqlglotError, RecursionError):
        return True  # no valid SQL: ``named`` raises the error
    return all(dataset.find(c.parts[0].name) for c in tree.find_all(exp.Column))


def _of_focal(text: str, schema: Schema, role: str) -> list[Attribute]:
    """Return a secret, group or weight of the focal dataset, with or without the tag 1."""
    number, name = tag_of(text, len(schema.parts)) or (1, text)
    if number != 1:
        raise ColumnError(
            f"{role} {quoted(text)} is of an auxiliary dataset; it must be of the focal one, as "
            f"in {tagged(1, quoted(name)[1:-1])}"
        )
    return named(name, schema.parts[0], role)


def _tagged(matches: Sequence[Attribute], number: int) -> list[Attribute]:
    return [replace(a, name=tagged(number, a.name), number=number) for a in matches]


def subset(text: str, names: Sequence[str]) -> int:
    """Return the subset of a text like ``day+school`` as a bit mask: bit i is for ``names[i]``."""
    if not text:
        raise InputError(
            'subset "" is empty: a subset names one quasi-identifier or more, as in day+school'
        )
    members = _members(text, names)
    if members is None:
        rest = text  # less the names that are right (which may contain +), for a hint on the next
        while prefixes := [n for n in names if rest.startswith(f"{n}+")]:
            rest = rest[len(max(prefixes, key=len)) + 1 :]
        hint = did_you_mean(rest.split("+")[0], names)
        raise InputError(f"subset {quoted(text)} names no quasi-identifier there{hint}")
    if len(set(members)) < len(members):
        raise InputError(f"subset {quoted(text)} names a quasi-identifier twice; name it once")
    return sum(1 << i for i in members)


def _members(text: str, names: Sequence[str]) -> list[int] | None:
    """Return the positions of names that a text joins by +; None if it has another name.

    A name may contain + itself: the longest name that leaves a readable rest counts.
    """
    for name in sorted(names, key=len, reverse=True):
        if text == name:
            return [names.index(name)]
        if text.startswith(f"{name}+"):
            rest = _members(text[len(name) + 1 :], names)
            if rest is not None:
                return [names.index(name), *rest]
    return None
