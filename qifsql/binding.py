"""Binding: an attack as it was written meets the columns that are there, once.

Names are looked up, expressions parsed, types checked. What comes out can be trusted by everything
that follows.
"""

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from sqlglot import exp

from qifsql import listing, stakes, targets
from qifsql.catalog import Catalog
from qifsql.dataset import Schema
from qifsql.errors import ColumnError, InputError, WeightError, quoted
from qifsql.expressions import column, not_an_expression, parse, split_name
from qifsql.models import Model, model
from qifsql.spec import (
    NULL_RULES,
    NUMBERS,
    Attack,
    Attribute,
    BoundAttack,
    family,
    nested,
)

Attributes = tuple[Attribute, ...]


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
    group = _attributes([attack.by], schema, "group") if attack.by is not None else ()
    if len(group) > 1:
        raise ColumnError("groups are made by one column or expression; name one")
    roles = _typed(
        {"qid": qids, "secret": secrets, "key": key, "weight": weight, "by": group},
        where,
        catalog,
    )
    qids, secrets = roles["qid"], roles["secret"]
    key, weight, group = roles["key"], roles["weight"], roles["by"]
    target = targets.bind(models[0], attack.target, qids, catalog)
    zoned = any("TIME ZONE" in c.type for c in schema.columns)
    notes = _notes(models, qids, secrets, key)
    if all(m.goal == "re-identification" for m in models):
        secrets = ()
    gains, asked = stakes.bind(attack.gains, models, secrets, catalog)
    listed = [b.gain.source for b in gains if b.listed and b.gain.source]
    files = tuple(path for path in (*listed, attack.prior) if path)
    beliefs = {}
    if attack.prior is not None:
        if not secrets:
            raise InputError("a prior is about a secret; name one with --secret, in model cas")
        j, lines = listing.beliefs(secrets, *catalog.beside(attack.prior))
        beliefs = {j: lines}
    return BoundAttack(
        models,
        attack.dataset,
        qids,
        secrets,
        _first(key),
        _first(weight),
        where,
        attack.null,
        target,
        notes,
        zoned,
        gains,
        asked,
        beliefs,
        _first(group),
        stakes.numbers(attack.thresholds, "threshold"),
        stakes.numbers(attack.quantiles, "quantile"),
        files,
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


def _column(name: str | None, schema: Schema) -> Attributes:
    if name is None:
        return ()
    found = schema[name]
    return (Attribute(found.name, column(found), found.type),)


def _weight(text: str | None, schema: Schema) -> Attributes:
    """A column, or an expression that needs no name."""
    if text is None:
        return ()
    named = schema.find(text) or split_name(text)
    return tuple(_named(text if named else f"weight={text}", schema, "weight")[:1])


def _first(attributes: Attributes) -> Attribute | None:
    return attributes[0] if attributes else None


def _disjoint(qids: Attributes, secrets: Attributes, key: Attributes) -> None:
    for secret in secrets:
        for qid in qids:
            if secret.name == qid.name or secret.expression == qid.expression:
                raise ColumnError(
                    f"secret {quoted(secret.name)} is among the quasi-identifiers; "
                    "what the adversary knows is no secret: take it out of one of them"
                )
        if key and secret.expression == key[0].expression:
            raise ColumnError(
                f"secret {quoted(secret.name)} is the key; re-identification needs no secret"
            )


def _typed(
    roles: Mapping[str, Attributes], where: exp.Expr | None, catalog: Catalog
) -> dict[str, Attributes]:
    """Ask the engine for all types in one go, and refuse types that an attack cannot use."""
    every = [attribute for attributes in roles.values() for attribute in attributes]
    types = catalog.types(
        [a.expression for a in every], [f"expression {quoted(a.name)}" for a in every]
    )
    if where is not None:
        catalog.condition(where)
    found = iter(types)
    typed = {
        role: tuple(Attribute(a.name, a.expression, next(found)) for a in attributes)
        for role, attributes in roles.items()
    }
    for attribute in (a for attributes in typed.values() for a in attributes):
        if nested(attribute.type):
            raise ColumnError(
                f"column {quoted(attribute.name)} is nested ({family(attribute.type)}); "
                "use one of its parts as an expression, as in NAME=column.part"
            )
    for weight in typed["weight"]:
        if (kind := family(weight.type)) not in NUMBERS:
            raise WeightError(f"weight {quoted(weight.name)} is of type {kind}, not a number")
    return typed


def _notes(
    models: Sequence[Model],
    qids: Sequence[Attribute],
    secrets: Sequence[Attribute],
    key: Attributes,
) -> tuple[str, ...]:
    """What the user should know before reading the numbers."""
    notes = []
    if key and any(q.expression == key[0].expression for q in qids):
        notes.append(
            f"the key {quoted(key[0].name)} is among the quasi-identifiers: "
            "a key that is unique singles out everybody"
        )
    if secrets and all(m.goal == "re-identification" for m in models):
        notes.append(
            f"{models[0].acronym} needs no secret; to infer one at the same time, "
            f"ask for {models[0].acronym},{models[0].acronym[0]}as"
        )
    return tuple(notes)
