"""The roles of the columns of a file in an attack.

A column is *covered* if the column itself has a role: the adversary knows or infers it, or it
identifies, selects, weights or groups people. If the adversary knows or infers only a coarser form
or an expression of it (``age:5``), the column is not covered, because the file has more detail.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from qifsql.adversary.spec import Attribute, ColumnRoles
from qifsql.data.collection import tagged
from qifsql.data.dataset import Column, Schema
from qifsql.data.expressions import column, source_columns, with_one_missing
from qifsql.errors import quoted

QID, SECRET, KEY, WEIGHT = "quasi-identifier", "secret", "key", "weight"
GROUP, MEMBER, FILTER, WAVE, LINK = "group", "member", "filter", "wave", "link"
PERSON, HOUSEHOLD = "person", "household"
IN_NO_RULE = "secret (in no rule)"
LEFT_OUT = "left out"  # of a release
MOST_NAMED = 40  # most names of columns in a remark
SETTLED = frozenset({QID, SECRET, KEY, MEMBER, WAVE, PERSON, HOUSEHOLD, IN_NO_RULE})
"""Roles of columns that the adversary knows or infers, or that identify people.

Columns with other roles (weight, group, filter) are in the file, but the adversary is not assumed
to know them."""


def columns(
    schema: Schema,
    attributes: Mapping[str, Sequence[Attribute]],
    *,
    where: exp.Expr | None = None,
    wave: str | None = None,
    keys: Iterable[str] = (),
    there: Mapping[int, exp.Expr] | None = None,
) -> tuple[ColumnRoles, ...]:
    """Return all columns of a file, or of each dataset of a collection, with their roles.

    ``attributes`` are the attributes of each role, ``where`` the filter, ``wave`` the name of the
    column of waves, ``keys`` the engine's names of further keys. ``there`` maps the number of a
    dataset to the column that states whether a person is in it.
    """
    readers = _readers(attributes)  # of each column, the attributes that read it, by role
    filtering = source_columns(where) if where is not None else frozenset()
    identifying = frozenset(keys)
    listing = []
    for number, name, original in _listed(schema):
        source = original.source_name
        roles, forms = _roles_and_forms(readers.get(source, {}))
        if source in identifying and KEY not in roles:
            roles.append(KEY)
        if source in filtering:
            roles.append(FILTER)
        if wave is not None and original.name.casefold() == wave.casefold():
            roles.append(WAVE)
        itself = _attribute(name, original, number, (there or {}).get(number))
        listing.append(ColumnRoles(name, tuple(roles), tuple(forms), itself, original.label))
    return tuple(listing)


def merged_roles(first: Sequence[ColumnRoles], *others: Sequence[ColumnRoles]) -> list[ColumnRoles]:
    """Return the columns of a file, each with its roles in all of these attacks on the file."""
    merged = []
    for entries in zip(first, *others, strict=True):  # of one column, an entry for each attack
        roles = dict.fromkeys(role for entry in entries for role in entry.roles)
        forms = dict.fromkeys(form for entry in entries for form in entry.forms)
        # "secret (only as age:5)" is no longer so if the column itself is a secret
        remaining = [form for form in forms if not any(form.startswith(f"{r} (") for r in roles)]
        merged.append(replace(entries[0], roles=tuple(roles), forms=tuple(remaining)))
    return merged


def of_files(files: Iterable[Sequence[ColumnRoles]]) -> list[ColumnRoles]:
    """Return the columns of several files, with the number of the file as tag."""
    numbered = enumerate(files, 1)
    return [replace(c, name=tagged(number, c.name)) for number, file in numbered for c in file]


def unnamed(columns: Iterable[ColumnRoles]) -> str:
    """Return the names of the columns that are not covered, for a remark; empty without any."""
    names = [quoted(column.name) for column in columns if not column.covered]
    n_more = len(names) - MOST_NAMED
    more = f" and {n_more} more (the manifest lists all)" if n_more > 0 else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _listed(schema: Schema) -> list[tuple[int, str, Column]]:
    """Return (number of the dataset, name, column); in a collection the name has a tag, 2:age."""
    if not schema.parts:
        return [(1, original.name, original) for original in schema.columns]
    return [
        (number, tagged(number, original.name), original)
        for number, part in enumerate(schema.parts, 1)
        for original in part.columns
    ]


def _readers(by_role: Mapping[str, Sequence[Attribute]]) -> dict[str, dict[str, list[Attribute]]]:
    """Return the attributes that read each column: ``readers[engine's name of the column][role]``.

    The expression of an attribute may read several columns, or none.
    """
    readers: dict[str, dict[str, list[Attribute]]] = {}
    for role, attributes in by_role.items():
        for attribute in attributes:
            for source in source_columns(attribute.expression):
                readers.setdefault(source, {}).setdefault(role, []).append(attribute)
    return readers


def _roles_and_forms(readers: Mapping[str, Sequence[Attribute]]) -> tuple[list[str], list[str]]:
    """Return the roles of a column itself, and in words the roles that only forms of it have.

    ``readers`` are the attributes that read the column, by role.
    """
    roles: list[str] = []
    forms: list[str] = []
    for role, attributes in readers.items():
        # Who knows or infers a form of a column, such as age:5, does not know the column.
        if role not in (QID, SECRET) or any(_is_whole(a.expression) for a in attributes):
            roles.append(role)
        else:
            forms.append(f"{role} (only as {', '.join(a.name for a in attributes)})")
    return roles, forms


def _is_whole(tree: exp.Expr) -> bool:
    """Return whether an expression is a column itself, possibly with NaN as missing."""
    inner = tree.unnest()
    if isinstance(inner, exp.Column):
        return True
    first = inner.find(exp.Column)
    return first is not None and inner == with_one_missing(first)


def _attribute(
    name: str, original: Column, number: int, there: exp.Expr | None
) -> Attribute | None:
    """Return a column of a release as an attribute; None if the file has no column of its name.

    ``number`` is that of the release, and ``there`` tells whether it has a record of the person.
    """
    if not original.source_name:
        return None
    expression = column(original)
    return Attribute(
        name=name, expression=expression, type=original.type, number=number, there=there
    )
