"""Matching columns of a release and a register.

A quasi-identifier without a tag has the same name in both; ``1:zip,2:plz`` matches ``zip`` of the
release with ``plz`` of the register. Names with tags are paired in their order.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from qifsql.adversary.names import QID, attributes
from qifsql.adversary.spec import Attribute
from qifsql.data.collection import Collection, joined_schema, tagged
from qifsql.data.dataset import Column, Dataset, Schema
from qifsql.data.expressions import SOURCE, column, identifier
from qifsql.data.readers import select_records
from qifsql.data.types import comparable, family, nested
from qifsql.engine.catalog import Catalog
from qifsql.errors import ColumnError, InputError, plural, quoted
from qifsql.query.microdata_steps import normal
from qifsql.query.plan import Step


@dataclass(frozen=True)
class Side:
    """The release or the register: records, quasi-identifiers in common order, key and filter."""

    dataset: Dataset
    qids: tuple[Attribute, ...]
    key: Attribute | None
    where: exp.Expr | None

    @property
    def complete(self) -> exp.Expr:
        """Return the condition that no quasi-identifier of a record is missing."""
        return exp.and_(*(exp.not_(exp.paren(normal(q)).is_(exp.null())) for q in self.qids))

    def step(self, name: str) -> Step:
        """Return the step of the records that can be linked: those without missing values."""
        columns = [exp.alias_(plain(q), f"qid_{i}") for i, q in enumerate(self.qids, 1)]
        columns += [exp.alias_(plain(self.key), "key")] if self.key else []
        doc = f"One row per record of the {name} that misses no quasi-identifier."
        return Step(name, doc, self.rows(*columns).where(self.complete))

    def keyed(self, name: str) -> Step:
        """Return the step of the keys of all records."""
        assert self.key is not None  # noqa: S101 - called only with a truth
        query = self.rows(exp.alias_(plain(self.key), "key"))
        return Step(name, "One row per record: the key of its person.", query)

    def rows(self, *columns: exp.Expr) -> exp.Select:
        """Return columns of the records that pass the filter."""
        return select_records(self.dataset, columns, self.where)


def bind_sides(
    catalogs: Sequence[Catalog],
    qids: Sequence[str],
    truth: Sequence[str],
    wheres: Sequence[str | None],
) -> tuple[Side, Side]:
    """Return the release and the register, each with the columns to compare.

    ``catalogs`` and ``wheres`` (filters; None: all records) are those of the release and the
    register; ``truth`` names the person key, once for both or for each (empty: none). Raises
    ColumnError if a column has no partner, or a partner of another type.
    """
    datasets = tuple(c.dataset for c in catalogs if isinstance(c.dataset, Dataset))
    # The columns of both files, as those of a collection, whose names have tags (1:zip, 2:zip).
    both = joined_schema(Collection(datasets), [c.schema for c in catalogs])
    pairs = _pairs(qids, both)
    if not pairs:
        raise ColumnError("no quasi-identifiers to compare; name some with --qids")
    if len(truth) > len(catalogs):
        raise InputError(f"{plural(len(truth), 'truth')} for two files; name one, or one for each")
    both_sides = []
    for i, catalog in enumerate(catalogs):  # 0: the release, 1: the register
        side_qids = typed([pair[i] for pair in pairs], catalog)
        key = person_key(truth[min(i, len(truth) - 1)], catalog.schema) if truth else None
        where = catalog.filter(wheres[i], f"the filter (where) of {catalog.schema.dataset}")
        both_sides.append(Side(datasets[i], side_qids, key, where))
    release, register = both_sides
    keys = [(release.key, register.key)] if release.key and register.key else []
    for attribute, partner in [*zip(release.qids, register.qids, strict=True), *keys]:
        _check_types(attribute, partner, both.parts)
    return release, register


def _pairs(qids: Sequence[str], both: Schema) -> list[tuple[Attribute, Attribute]]:
    """Return the quasi-identifiers of the release, each with its partner in the register.

    ``both`` has the columns of the two files, with the number of the file (1: release, 2:
    register). A name or pattern that both files have pairs columns of the same name. Names with
    tags (``1:zip``, ``2:plz``) are paired in their order.
    """
    pairs: list[tuple[Attribute, Attribute]] = []
    tagged_1: list[Attribute] = []  # columns of the release that are named with a tag, in order
    tagged_2: list[Attribute] = []  # those of the register: the partners of the former
    for text in qids:
        columns = attributes([text], both, QID)
        release, register = ([a for a in columns if a.number == n] for n in (1, 2))
        if release and register:  # a name that both have, or a pattern
            pairs += _pairs_of_names(release, register, both)
        elif text.strip() in (a.name for a in columns) or re.match(r"\s*[12]\s*:", text):
            tagged_1 += release
            tagged_2 += register
        else:  # an untagged name that only one of the files has
            raise _no_partner(columns[0], both)
    if len(tagged_1) != len(tagged_2):
        raise ColumnError(
            f"{plural(len(tagged_1), 'quasi-identifier')} with tag 1 and {len(tagged_2)} with "
            "tag 2: each of the release needs its partner in the register, as in 1:zip,2:plz"
        )
    pairs += zip(tagged_1, tagged_2, strict=True)
    for side in zip(*pairs, strict=True):
        side_names = [attribute.name for attribute in side]
        if twice := [name for name in side_names if side_names.count(name) > 1]:
            raise ColumnError(f"{QID} {quoted(twice[0])} is given twice; name it once")
    return pairs


def _pairs_of_names(
    release: Sequence[Attribute], register: Sequence[Attribute], both: Schema
) -> list[tuple[Attribute, Attribute]]:
    """Return the columns of both files in pairs of one name; a single pair may differ in case.

    Raises ColumnError if a column has no partner of its name.
    """
    names_1, names_2 = ({_strip_tag(a): a for a in side} for side in (release, register))
    is_pair = len(release) == len(register) == 1
    if is_pair and {n.casefold() for n in names_1} == {n.casefold() for n in names_2}:
        return [(release[0], register[0])]
    if unpaired := names_1.keys() ^ names_2.keys():
        name = min(unpaired)
        raise _no_partner((names_1 | names_2)[name], both)
    return [(attribute, names_2[name]) for name, attribute in names_1.items()]


def _strip_tag(attribute: Attribute) -> str:
    return attribute.name.removeprefix(tagged(attribute.number, ""))


def _no_partner(attribute: Attribute, both: Schema) -> ColumnError:
    """Return the error that a column of one file has no partner in the other."""
    name = _strip_tag(attribute)
    text, (file, partner) = quoted(name)[1:-1], (part.dataset for part in both.parts)
    example = f"1:{text},2:..."
    if attribute.number == 2:
        file, partner, example = partner, file, f"1:...,2:{text}"
    return ColumnError(
        f"{QID} {quoted(name)} of {file} is not in {partner}; say which column it is there, as in "
        f"{example}"
    )


def typed(qids: Sequence[Attribute], catalog: Catalog) -> tuple[Attribute, ...]:
    """Return the attributes of one dataset, without its tag, with their types; refuse nested."""
    columns = [replace(a, name=_strip_tag(a), expression=_untagged(a), number=1) for a in qids]
    whats = [f"expression {quoted(a.name)}" for a in columns]
    types = catalog.types([a.expression for a in columns], whats)
    with_types = tuple(replace(a, type=type_) for a, type_ in zip(columns, types, strict=True))
    for attribute in with_types:
        if nested(attribute.type):
            raise ColumnError(
                f"column {quoted(attribute.name)} of {catalog.schema.dataset} is nested "
                f"({family(attribute.type)}); use one of its parts, as in NAME=column.part"
            )
    return with_types


def _untagged(attribute: Attribute) -> exp.Expr:
    """Return the expression of an attribute without the tag of its dataset (``1:``) in columns."""
    tag = tagged(attribute.number, "")

    def without_tag(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column) or node.table != SOURCE:
            return node
        name = identifier(node.name.removeprefix(tag))
        return exp.Column(this=name, table=exp.to_identifier(SOURCE))

    return attribute.expression.transform(without_tag)


def person_key(name: str, schema: Schema) -> Attribute:
    """Return the key column; raise ColumnError if it does not exist or is nested."""
    key: Column = schema[name]
    if nested(key.type):
        raise ColumnError(f"key {quoted(key.name)} of {schema.dataset} is nested; name another")
    return Attribute(key.name, column(key), key.type)


def _check_types(attribute: Attribute, partner: Attribute, parts: Sequence[Schema]) -> None:
    """Refuse columns of the release and the register whose values would have to be converted."""
    if comparable(attribute.type) == comparable(partner.type):
        return
    raise ColumnError(
        f"column {quoted(attribute.name)} is {family(attribute.type)} in {parts[0].dataset} but "
        f"{quoted(partner.name)} is {family(partner.type)} in {parts[1].dataset}: values are not "
        "converted, as the text 007 is not the number 7; write both with one type (CSV: "
        "--all-varchar), or cast one, as in 1:NAME=column::VARCHAR"
    )


def plain(attribute: Attribute) -> exp.Expr:
    """Return the attribute with one missing value and one zero, and ENUM values as text."""
    tree = normal(attribute)
    return exp.cast(tree, "VARCHAR") if family(attribute.type) == "ENUM" else tree
