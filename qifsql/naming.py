"""Names as people write them become attributes: columns, named expressions, patterns, with tags.

In a collection ``2:school`` is the school of the second dataset. A quasi-identifier without a tag
is that of every dataset that has it; anything else without a tag is of the focal dataset.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from sqlglot import exp

from qifsql.collection import tag_of, tagged
from qifsql.dataset import Schema
from qifsql.errors import ColumnError, quoted
from qifsql.expressions import SOURCE, column, identifier, not_an_expression, parse, split_name
from qifsql.spec import Attribute

Attributes = tuple[Attribute, ...]
QID, SECRET = "quasi-identifier", "secret"


def attributes(
    names: Sequence[str], schema: Schema, role: str, *, distinct: bool = False
) -> Attributes:
    """The attributes of a role, each once. ``distinct``: absent people are told from missing ones.

    Raises ColumnError or ExpressionError where a name is not there, not clear or given twice.
    """
    found: list[Attribute] = []
    for name in names:
        if not schema.parts:
            found += named(name, schema, role)
        elif role == QID:
            found += _in_collection(name, schema, role)
        else:
            found += _of_focal(name, schema, role)
    seen: set[str] = set()
    for attribute in found:
        if attribute.name in seen:
            raise ColumnError(f"{role} {quoted(attribute.name)} is given twice; name it once")
        seen.add(attribute.name)
    found.sort(key=lambda a: a.number)  # the datasets in their order
    if distinct:
        found = [replace(a, there=there(a.number)) if a.number > 1 else a for a in found]
    return tuple(found)


def there(number: int) -> exp.Column:
    """Whether the person is in a dataset of the collection."""
    return exp.Column(this=identifier(tagged(number, "")), table=exp.to_identifier(SOURCE))


def named(text: str, schema: Schema, role: str) -> list[Attribute]:
    """One name: a column, else a named expression, else a pattern over columns."""
    if (found := schema.find(text) or schema.find(text.strip())) is not None:
        return [Attribute(found.name, column(found), found.type)]
    if (parts := split_name(text)) is not None:
        name, expression = parts
        return [Attribute(name, parse(expression, schema, f"{role} {quoted(name)}"), "")]
    if any(c in text for c in "*?["):
        matches = [c for c in schema.columns if fnmatchcase(c.name, text)]
        matches = matches or [
            c for c in schema.columns if fnmatchcase(c.name.casefold(), text.casefold())
        ]
        if matches:
            return [Attribute(c.name, column(schema[c.name]), c.type) for c in matches]
    if re.fullmatch(r"[\w*?]+", text) and set(text) & set("*?"):
        raise ColumnError(
            f"no column of {schema.dataset} matches {quoted(text)}; check the pattern"
        )
    if hint := not_an_expression(text):
        raise ColumnError(f"column {quoted(text)} is not in {schema.dataset}{hint}")
    return [Attribute(text, column(schema[text]), "")]  # raises: it was not found above


def of_column(name: str | None, schema: Schema) -> Attributes:
    """A column of the focal dataset; none where no name is given."""
    if name is None:
        return ()
    found = schema[name]
    return (Attribute(found.name, column(found), found.type),)


def weight(text: str | None, schema: Schema) -> Attributes:
    """A column, or an expression that needs no name."""
    if text is None:
        return ()
    known = schema.find(text) or split_name(text)
    return tuple(named(text if known else f"weight={text}", schema, "weight")[:1])


def _in_collection(text: str, schema: Schema, role: str) -> list[Attribute]:
    """With a tag: of that dataset; without: of every dataset that has it."""
    tag = tag_of(text, len(schema.parts))
    if tag is not None:
        number, name = tag
        return _tagged(named(name, schema.parts[number - 1], role), number)
    found: list[Attribute] = []
    trouble: ColumnError | None = None
    for number, part in enumerate(schema.parts, 1):
        try:
            found += _tagged(named(text, part, role), number)
        except ColumnError as e:
            trouble = trouble or e
    if not found and trouble is not None:
        raise ColumnError(
            f"no dataset of the collection has {role} {quoted(text)}: {trouble}"
        ) from trouble
    return found


def _of_focal(text: str, schema: Schema, role: str) -> list[Attribute]:
    """A secret, group or weight: of the focal dataset, whether that is said or not."""
    tag = tag_of(text, len(schema.parts))
    if tag is not None and tag[0] != 1:
        raise ColumnError(
            f"{role} {quoted(text)} is of an auxiliary dataset; it must be of the focal one, as "
            f"in {tagged(1, quoted(tag[1])[1:-1])}"
        )
    return named(tag[1] if tag else text, schema.parts[0], role)


def _tagged(found: Sequence[Attribute], number: int) -> list[Attribute]:
    return [replace(a, name=tagged(number, a.name), number=number) for a in found]
