"""Binding: an attack as it was written meets the columns that are there, once.

Names are looked up, expressions parsed, types checked. What comes out can be trusted by everything
that follows.
"""

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Protocol

from sqlglot import exp

from qifsql.dataset import Schema
from qifsql.errors import ColumnError, InputError, TargetError, WeightError, quoted
from qifsql.expressions import column, not_an_expression, parse, split_name
from qifsql.models import Model, model
from qifsql.spec import (
    INTEGERS,
    NULL_RULES,
    NUMBERS,
    Attack,
    Attribute,
    BoundAttack,
    family,
    nested,
)


class Catalog(Protocol):
    """What binding asks of the engine about one dataset."""

    @property
    def schema(self) -> Schema:
        """The columns there are."""

    def types(self, expressions: Sequence[exp.Expr], whats: Sequence[str]) -> list[str]:
        """The types of expressions; ``whats`` names them in messages."""

    def condition(self, tree: exp.Expr) -> None:
        """Refuse an expression that is not true or false."""

    def fits(self, value: str, type_: str) -> bool:
        """Whether a text can be read as a value of that type."""


def bind(attack: Attack, catalog: Catalog) -> BoundAttack:
    """Check an attack against the columns of its dataset, once.

    Raises ColumnError, ExpressionError, WeightError or TargetError.
    """
    schema = catalog.schema
    models = _models(attack.models)
    if attack.null not in NULL_RULES:
        rules = " or ".join(NULL_RULES)
        raise InputError(
            f"missing values cannot be treated as {quoted(attack.null)} here; use {rules}"
        )
    names = attack.qids or tuple(attack.target)
    qids = _attributes(names, schema, "quasi-identifier")
    secrets = _attributes(attack.secrets, schema, "secret")
    key = _column(attack.key, schema)
    weight = _weight(attack.weight, schema)
    where = None
    if attack.where is not None:
        where = parse(attack.where, schema, "the filter (where)")
    if not qids:
        raise ColumnError(f"no quasi-identifiers for {schema.dataset}; name some with --qids")
    _disjoint(qids, secrets, key)
    if any(m.goal == "attribute inference" for m in models) and not secrets:
        raise ColumnError(f"model {models[0].acronym} infers a secret; name one with --secret")
    qids, secrets, key, weight = _typed(qids, secrets, key, weight, where, catalog)
    target = _target(models[0], attack.target, qids, catalog)
    zoned = any("TIME ZONE" in c.type for c in schema.columns)
    notes = _notes(models, qids, secrets, key)
    if all(m.goal == "re-identification" for m in models):
        secrets = ()
    return BoundAttack(
        models, attack.dataset, qids, secrets, key, weight, where, attack.null, target, notes, zoned
    )


def _models(names: Sequence[str]) -> tuple[Model, ...]:
    models = tuple(dict.fromkeys(model(name.strip()) for name in names))
    if not models:
        raise InputError("no model is named; name one, such as crs")
    if len({m.individual for m in models}) > 1:
        raise InputError("models of one person and of everybody are run apart")
    return models


def _attributes(names: Sequence[str], schema: Schema, role: str) -> tuple[Attribute, ...]:
    found: list[Attribute] = []
    for name in names:
        found += _named(name, schema, role)
    seen: set[str] = set()
    for attribute in found:
        if attribute.name in seen:
            raise ColumnError(f"{role} {quoted(attribute.name)} is given twice; name it once")
        seen.add(attribute.name)
    return tuple(found)


def _named(text: str, schema: Schema, role: str) -> list[Attribute]:
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


def _column(name: str | None, schema: Schema) -> Attribute | None:
    if name is None:
        return None
    found = schema[name]
    return Attribute(found.name, column(found), found.type)


def _weight(text: str | None, schema: Schema) -> Attribute | None:
    """A column, or an expression that needs no name."""
    if text is None:
        return None
    named = schema.find(text) or split_name(text)
    return _named(text if named else f"weight={text}", schema, "weight")[0]


def _disjoint(
    qids: Sequence[Attribute], secrets: Sequence[Attribute], key: Attribute | None
) -> None:
    for secret in secrets:
        for qid in qids:
            if secret.name == qid.name or secret.expression == qid.expression:
                raise ColumnError(
                    f"secret {quoted(secret.name)} is among the quasi-identifiers; "
                    "what the adversary knows is no secret: take it out of one of them"
                )
        if key and secret.expression == key.expression:
            raise ColumnError(
                f"secret {quoted(secret.name)} is the key; re-identification needs no secret"
            )


def _typed(  # noqa: PLR0917 - the five roles and the filter
    qids: tuple[Attribute, ...],
    secrets: tuple[Attribute, ...],
    key: Attribute | None,
    weight: Attribute | None,
    where: exp.Expr | None,
    catalog: Catalog,
) -> tuple[tuple[Attribute, ...], tuple[Attribute, ...], Attribute | None, Attribute | None]:
    """Ask the engine for all types in one go, and refuse types that an attack cannot use."""
    rest = [a for a in (key, weight) if a]
    every = [*qids, *secrets, *rest]
    types = catalog.types(
        [a.expression for a in every], [f"expression {quoted(a.name)}" for a in every]
    )
    if where is not None:
        catalog.condition(where)
    typed = [Attribute(a.name, a.expression, t) for a, t in zip(every, types, strict=True)]
    for attribute in typed:
        if nested(attribute.type):
            raise ColumnError(
                f"column {quoted(attribute.name)} is nested ({family(attribute.type)}); "
                "use one of its parts as an expression, as in NAME=column.part"
            )
    if weight is not None and (kind := family(typed[-1].type)) not in NUMBERS:
        raise WeightError(f"weight {quoted(weight.name)} is of type {kind}, not a number")
    n, m = len(qids), len(qids) + len(secrets)
    others = iter(typed[m:])
    return (
        tuple(typed[:n]),
        tuple(typed[n:m]),
        next(others) if key else None,
        next(others) if weight else None,
    )


def _target(
    kind: Model, target: Mapping[str, object], qids: Sequence[Attribute], catalog: Catalog
) -> dict[str, str | None]:
    """The target's values in the order of the quasi-identifiers, as texts that fit their types."""
    if not kind.individual:
        if target:
            raise TargetError(
                f"model {kind.acronym} attacks everybody and takes no target; "
                f"use i{kind.acronym[1:]} for one person"
            )
        return {}
    given: dict[str, object] = {}
    for name, value in target.items():
        found = [q for q in qids if q.name == name]
        found = found or [q for q in qids if q.name.casefold() == name.casefold()]
        if len(found) != 1:
            raise TargetError(f"the target names {quoted(name)}, which is no quasi-identifier")
        given[found[0].name] = value
    if missing := [q.name for q in qids if q.name not in given]:
        raise TargetError(
            f"the target has no value for {', '.join(map(quoted, missing))}; "
            "give --target COLUMN=VALUE for every quasi-identifier"
        )
    return {q.name: _fitting(q, given[q.name], catalog) for q in qids}


def _fitting(qid: Attribute, value: object, catalog: Catalog) -> str | None:
    if value is None:
        return None
    text = str(value)
    if isinstance(value, bytes):
        text = "".join(f"\\x{byte:02X}" for byte in value)
    if not (_is_exact(text, qid.type) and catalog.fits(text, qid.type)):
        raise TargetError(
            f"the target's value for {quoted(qid.name)} does not fit its type {family(qid.type)}"
        )
    return text


def _is_exact(text: str, type_: str) -> bool:
    """Whether reading the text as that type would neither round it nor cut it."""
    text, kind = text.strip(), family(type_)
    if kind == "DECIMAL":
        scale = int(type_.rstrip(")").split(",")[1])
        found = re.fullmatch(r"[-+]?\d*(?:\.(\d*?)0*)?", text)
        return found is not None and len(found[1] or "") <= scale
    if kind == "DATE":
        return re.fullmatch(r"[-+]?\d+-\d\d?-\d\d?|-?infinity", text) is not None
    if kind.startswith("TIME"):
        fraction = re.search(r"\.(\d*?)0*(?:[^\d.].*)?$", text)
        digits = {"TIMESTAMP_S": 0, "TIMESTAMP_MS": 3, "TIMESTAMP_NS": 9}.get(kind, 6)
        return fraction is None or len(fraction[1]) <= digits
    return kind not in INTEGERS or re.fullmatch(r"[-+]?\d+", text) is not None


def _notes(
    models: Sequence[Model],
    qids: Sequence[Attribute],
    secrets: Sequence[Attribute],
    key: Attribute | None,
) -> tuple[str, ...]:
    """What the user should know before reading the numbers."""
    notes = []
    if key and any(q.expression == key.expression for q in qids):
        notes.append(
            f"the key {quoted(key.name)} is among the quasi-identifiers: "
            "a key that is unique singles out everybody"
        )
    if secrets and all(m.goal == "re-identification" for m in models):
        notes.append(
            f"{models[0].acronym} needs no secret; to infer one at the same time, "
            f"ask for {models[0].acronym},{models[0].acronym[0]}as"
        )
    return tuple(notes)
