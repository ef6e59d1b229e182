"""Bind an attack to the columns of its data, once.

Names are looked up, expressions parsed and types checked, so later code need not check them.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from qifsql.adversary import bind_gains, roles, sets, value_files
from qifsql.adversary import names as naming
from qifsql.adversary import target as targets
from qifsql.adversary.models import Model, models_named
from qifsql.adversary.names import Attributes
from qifsql.adversary.notes import (
    of_household,
    of_names,
    of_records,
    of_roles,
    of_spellings,
    of_words,
)
from qifsql.adversary.options import NULL_RULES
from qifsql.adversary.spec import Attack, Attribute, BoundAttack, ColumnRoles, Microdata
from qifsql.data.collection import ABSENT_RULES, Collection, tagged
from qifsql.data.column_questions import Catalog, Repeated
from qifsql.data.dataset import Dataset, Schema
from qifsql.data.expressions import parse, source_columns
from qifsql.data.option import split_name
from qifsql.data.topics import numbers_people
from qifsql.data.types import NUMBERS, family, generalised, nested
from qifsql.errors import ColumnError, InputError, WeightError, plural, quoted


def bind(attack: Attack, catalog: Catalog, *, noted: bool = True) -> BoundAttack:
    """Return the attack bound to the columns of its dataset, with everything checked.

    ``catalog`` has the columns of the dataset, and asks the engine for types and counts. ``noted``:
    look at values for notes on them. Raises ColumnError, ExpressionError, WeightError or
    TargetError.
    """
    models = _models(attack)
    _check_rules(attack)
    where, by_role = _attributes(attack, models, catalog)
    target = targets.bind(models[0], attack.target, by_role[roles.QID], catalog)
    microdata = _microdata(attack, catalog, models, by_role, where)
    notes = _notes(attack, catalog, by_role, microdata) if noted else ()
    gains, asked_gains = bind_gains.bind(attack.gains, models, microdata.secrets, catalog)
    gain_files = [b.gain.source for b in gains if b.listed and b.gain.source]
    remarks = catalog.remarks  # on the columns that were used until now
    return BoundAttack(
        models=models,
        microdata=replace(microdata, notes=(*notes, *remarks)),
        target=target,
        gains=gains,
        asked_gains=asked_gains,
        beliefs=_beliefs(attack, microdata.secrets, catalog),
        thresholds=bind_gains.thresholds(attack.thresholds, gains),
        quantiles=bind_gains.numbers(attack.quantiles, "quantile"),
        files=tuple(path for path in (*gain_files, attack.prior) if path),
        member=models[0].goal == "membership",  # then it is the goal of all models
    )


def _microdata(
    attack: Attack,
    catalog: Catalog,
    models: Sequence[Model],
    by_role: Mapping[str, Attributes],
    where: exp.Expr | None,
) -> Microdata:
    """Return the dataset with the attributes of each role and its filter ``where``."""
    schema = catalog.schema
    first = {role: attributes[0] if attributes else None for role, attributes in by_role.items()}
    group = first[roles.GROUP]
    if not models[0].individual:
        group = group or first[roles.MEMBER]  # members and others are measured apart
    secrets = by_role[roles.SECRET] + by_role[roles.MEMBER]
    if all(model.goal == "re-identification" for model in models):
        secrets = ()  # the record is the secret
    return Microdata(
        dataset=attack.dataset,
        qids=by_role[roles.QID],
        secrets=secrets,
        key=first[roles.KEY],
        weight=first[roles.WEIGHT],
        by=group,
        where=where,
        null=attack.null,
        zoned=any("TIME ZONE" in c.type for c in schema.columns),
        releases=tuple(part.dataset for part in schema.parts) or (schema.dataset,),
        columns=_column_roles(attack, schema, by_role, where),
        person=first[roles.PERSON],
        household=first[roles.HOUSEHOLD],
        repeated=_repeated(attack, catalog, _identifying(attack, by_role), where),
        names=_names_of_people(attack, catalog, by_role, where),
    )


def _notes(
    attack: Attack, catalog: Catalog, by_role: Mapping[str, Attributes], microdata: Microdata
) -> tuple[str, ...]:
    """Return what may mislead in the columns and values of the attack."""
    qids, secrets = by_role[roles.QID], by_role[roles.SECRET] + by_role[roles.MEMBER]
    where = microdata.where
    return (
        *of_roles(_models(attack), qids, secrets, _identifying(attack, by_role)),
        *(of_records(column, here=attack.may_count_people) for column in microdata.repeated),
        *map(of_household, _households(attack, catalog, where)),
        *map(of_names, microdata.names),
        *of_words(attack, catalog, (*qids, *microdata.secrets), where),
        *of_spellings(attack, catalog, (*qids, *secrets), where),
    )


def _identifying(attack: Attack, by_role: Mapping[str, Attributes]) -> dict[str, str]:
    """Return the user's names of columns that identify people, by the engine's names."""
    people = {a.expression.name: a.name for a in by_role[roles.PERSON]}
    return _keys(attack.dataset, by_role[roles.KEY]) | people


def _attributes(
    attack: Attack, models: Sequence[Model], catalog: Catalog
) -> tuple[exp.Expr | None, dict[str, Attributes]]:
    """Return the filter (None: all records), and the typed attributes of each role.

    A role without attributes has an empty tuple. The secret of membership is its flag (``member``).
    """
    schema = catalog.schema
    names = attack.qids or tuple(attack.target)  # without qids, the target names them
    distinct = _tells_absent(attack)
    qids = naming.attributes(names, schema, naming.QID, distinct=distinct, again=not attack.qids)
    secrets = naming.attributes(attack.secrets, schema, naming.SECRET)
    flags = _flags(attack, models[0], schema)
    key = naming.of_column(attack.key, schema)
    weight = naming.weight(attack.weight, schema)
    where = None if attack.where is None else parse(attack.where, schema, "the filter (where)")
    if not qids:
        raise ColumnError(f"no quasi-identifiers for {schema.dataset}; name some with --qids")
    refuse_known_secrets(qids, secrets + flags, key)
    inferring = [m.acronym for m in models if m.goal == "attribute inference"]
    if inferring and not secrets:
        raise ColumnError(f"model {inferring[0]} infers a secret; name one with --secret")
    group = _column_of(attack.by, schema, roles.GROUP)
    sets.check(attack, models)
    by_role = {
        roles.QID: qids,
        roles.SECRET: secrets,
        roles.MEMBER: flags,
        roles.KEY: key,
        roles.WEIGHT: weight,
        roles.GROUP: group,
        roles.PERSON: _column_of(attack.person, schema, roles.PERSON),
        roles.HOUSEHOLD: _column_of(attack.household, schema, roles.HOUSEHOLD),
    }
    return where, with_types(by_role, where, catalog, cells=isinstance(attack.dataset, Dataset))


def _tells_absent(attack: Attack) -> bool:
    """Return whether being absent from a dataset is a value of its own: asked of either."""
    of_collection = attack.dataset.absent if isinstance(attack.dataset, Collection) else "null"
    return "distinct" in (attack.absent, of_collection)


def _column_roles(
    attack: Attack, schema: Schema, by_role: Mapping[str, Attributes], where: exp.Expr | None
) -> tuple[ColumnRoles, ...]:
    """Return all columns of the dataset with their roles; ``where`` is the filter."""
    keys = _keys(attack.dataset, by_role[roles.KEY])
    wave = attack.wave
    if wave is not None and (parts := split_name(wave)) is not None:
        wave, _ = parts  # "year" of "year=2018,2019"
    # Everybody is in the focal dataset, 1, so only the others have a column of presence.
    numbers = range(2, len(schema.parts) + 1) if _tells_absent(attack) else ()
    there = {n: naming.there(n) for n in numbers}
    return roles.columns(schema, by_role, where=where, wave=wave, keys=keys, there=there)


def _flags(attack: Attack, model: Model, schema: Schema) -> Attributes:
    """Return the flag of members, if the model is about membership; refuse an unused flag."""
    if model.goal == "membership":
        return _member(attack, schema)
    if attack.member is not None:
        raise InputError(
            "member says who is in the release, for models of membership (cms, ims, cml, iml); "
            f"leave it out of {model.acronym}"
        )
    return ()


def _column_of(name: str | None, schema: Schema, role: str) -> Attributes:
    """Return the column of a role, if it is named; raise ColumnError if several are."""
    columns = naming.attributes([name], schema, role) if name is not None else ()
    if len(columns) > 1:
        subject = "groups are made by" if role == roles.GROUP else f"{role} is"
        raise ColumnError(f"{subject} one column or expression; name one")
    return columns


def group_of(name: str, catalog: Catalog) -> Attribute:
    """Return the column or named expression whose values are groups, with its type."""
    untyped = _column_of(name, catalog.schema, roles.GROUP)
    (group,) = with_types({roles.GROUP: untyped}, None, catalog)[roles.GROUP]
    return group


def _check_rules(attack: Attack) -> None:
    """Refuse unknown rules for missing values and absent people."""
    if attack.null not in NULL_RULES:
        rules = " or ".join(NULL_RULES)
        raise InputError(
            f"missing values cannot be treated as {quoted(attack.null)} here; use {rules}"
        )
    if attack.absent not in ABSENT_RULES:
        raise InputError(f"absent is one of {', '.join(ABSENT_RULES)}")


def _beliefs(attack: Attack, secrets: Attributes, catalog: Catalog) -> dict[int, exp.Query]:
    """Return the query of the prior file by the number of its secret, from 1; {} without a file.

    The query has a row per line of the file: a value of the secret and its prior probability.
    """
    if attack.prior is None:
        return {}
    if not secrets:
        raise InputError("a prior is about a secret; name one with --secret, in model cas")
    dataset, schema = catalog.beside(attack.prior)
    secret_number, query = value_files.beliefs(secrets, dataset, schema)
    return {secret_number: query}


def _models(attack: Attack) -> tuple[Model, ...]:
    """Return the models, each once; refuse models that cannot be combined, or do not fit."""
    models = models_named(attack.models)
    if not models:
        raise InputError("no model is named; name one, such as crs")
    if len({m.individual for m in models}) > 1:
        raise InputError("individual and collective models cannot be combined; run them separately")
    if len({m.goal == "membership" for m in models}) > 1:
        raise InputError(
            "membership models cannot be combined with others, as their secret is "
            "membership; run them separately"
        )
    _check_keys(attack)
    # The release of a population is not a dataset that is known.
    n_known = attack.dataset.n_known_datasets if isinstance(attack.dataset, Collection) else 1
    for m in models:
        if n_known > 1 and not m.longitudinal:
            raise InputError(
                f"model {m.acronym} attacks a single dataset, and here are {n_known}; for the "
                f"collection use {m.acronym[:2]}l"
            )
    return models


def _check_keys(attack: Attack) -> None:
    """Refuse more keys than datasets; the waves of a long table share one."""
    n_datasets = len(attack.dataset.datasets) if isinstance(attack.dataset, Collection) else 1
    if attack.wave is not None and len(attack.keys) > 1:
        raise InputError(
            f"{plural(len(attack.keys), 'key')} for one long table, whose waves share one; name it"
        )
    if len(attack.keys) > n_datasets:
        raise InputError(
            f"{plural(len(attack.keys), 'key')} for {plural(n_datasets, 'dataset')}; name one key "
            "for all of them, or one for each"
        )


def _member(attack: Attack, schema: Schema) -> Attributes:
    """Return the flag of members, one attribute: a column, or presence in the release's file."""
    if attack.secrets:
        raise InputError(
            f"model {attack.models[0]} asks whether somebody is in the release; leave the secret "
            "out, or name the flag with --member"
        )
    if isinstance(attack.dataset, Collection) and attack.dataset.release:
        there = naming.there(len(attack.dataset.datasets))
        return (Attribute("member", exp.paren(there), "BOOLEAN"),)
    if attack.member is None:
        raise InputError(
            f"model {attack.models[0]} needs to know who is in the release: a flag (--member "
            "COLUMN), or everybody who may be in it (--population FILE) and a --key"
        )
    flags = naming.attributes([attack.member], schema, "member")
    if len(flags) > 1:
        raise InputError("membership takes one flag; name one")
    return flags


def refuse_known_secrets(qids: Attributes, secrets: Attributes, key: Attributes = ()) -> None:
    """Refuse a secret that is a quasi-identifier, has the name of one, or is the key (if any)."""
    for secret in secrets:
        for qid in qids:
            if secret.expression == qid.expression:
                raise ColumnError(
                    f"secret {quoted(secret.name)} is among the quasi-identifiers; what the "
                    "adversary knows is not a secret: take it out of one of "
                    f"them{_others(qid, qids)}"
                )
            if secret.name == qid.name:
                raise ColumnError(
                    f"secret {quoted(secret.name)} has the name of a quasi-identifier; give it "
                    "another, as in NAME=EXPRESSION"
                )
        if key and secret.expression == key[0].expression:
            raise ColumnError(
                f"secret {quoted(secret.name)} is the key; re-identification needs no secret"
            )


def _others(qid: Attribute, qids: Attributes) -> str:
    """Return a hint with the names of this column in the other datasets; empty without any.

    In a collection, a quasi-identifier without a tag is that of every dataset that has it.
    """
    name = qid.name.removeprefix(tagged(1, ""))
    others = [q.name for q in qids if q.number > 1 and q.name == tagged(q.number, name)]
    listed = ", ".join(map(quoted, others))
    return f"; to know it of another dataset, write {listed}" if others else ""


def _keys(dataset: Dataset | Collection, key: Attributes) -> dict[str, str]:
    """Return the user's names of the columns that identify people, by the engine's names."""
    names = {a.expression.name: a.name for a in key}
    if isinstance(dataset, Collection):
        for i, column in enumerate(dataset.key_columns, 1):
            names[tagged(i, column.source_name)] = tagged(i, column.name)
    return names


def with_types(
    by_role: Mapping[str, Attributes],
    where: exp.Expr | None,
    catalog: Catalog,
    *,
    cells: bool = False,
) -> dict[str, Attributes]:
    """Return the attributes of each role with their types; refuse types that no attack can use.

    Nested types are refused, except with ``cells`` those of generalised cells (lists of values,
    intervals) as quasi-identifiers. A filter ``where`` that is not true or false is refused, too.
    One query gets the types of all roles, in their order.
    """
    untyped = [attribute for attributes in by_role.values() for attribute in attributes]
    titles = [f"expression {quoted(a.name)}" for a in untyped]
    types = iter(catalog.types([a.expression for a in untyped], titles))
    if where is not None:
        catalog.condition(where)
    typed: dict[str, Attributes] = {}
    for role, attributes in by_role.items():
        typed[role] = tuple(replace(a, type=next(types)) for a in attributes)
        may_be_cells = cells and role == roles.QID
        for attribute in typed[role]:
            if nested(attribute.type) and not (may_be_cells and generalised(attribute.type)):
                raise ColumnError(
                    f"column {quoted(attribute.name)} is nested ({family(attribute.type)}); "
                    "use one of its parts as an expression, as in NAME=column.part"
                )
    for weight in typed.get(roles.WEIGHT, ()):
        if (kind := family(weight.type)) not in NUMBERS:
            hint = "; if it has a decimal comma, add --decimal ," if kind == "VARCHAR" else ""
            raise WeightError(f"weight {quoted(weight.name)} is of type {kind}, not a number{hint}")
    return typed


def _repeated(
    attack: Attack, catalog: Catalog, keys: Mapping[str, str], where: exp.Expr | None
) -> tuple[Repeated, ...]:
    """Return the columns that number people and have some number in several records.

    ``keys`` has the user's names of columns that identify people, by the engine's names.
    """
    # With a person, people are counted; the datasets of a collection have one record per person.
    if attack.person is not None or attack.of_collection:
        return ()
    return people_of_several_records(catalog, where, keys)


def people_of_several_records(
    catalog: Catalog, where: exp.Expr | None, keys: Container[str] = ()
) -> tuple[Repeated, ...]:
    """Return the columns that number people, by their names or as ``keys``, and repeat a number."""
    columns = catalog.schema.columns
    names = [c.name for c in columns if c.name in keys or numbers_people(c.name)]
    return catalog.people.repeats(names, where, keys)


def _names_of_people(
    attack: Attack, catalog: Catalog, by_role: Mapping[str, Attributes], where: exp.Expr | None
) -> tuple[Repeated, ...]:
    """Return the columns that look like names of people, and have no role in the attack."""
    if attack.of_collection:
        return ()
    used = {
        name for role in by_role.values() for a in role for name in source_columns(a.expression)
    }
    names = {c.name for c in catalog.schema.columns if c.source_name in used}
    return catalog.people.names_of_people(names, where)


def _households(attack: Attack, catalog: Catalog, where: exp.Expr | None) -> tuple[Repeated, ...]:
    """Return the first column that numbers households, where nobody says who lives together."""
    named = attack.person is not None or attack.household is not None
    if named or attack.of_collection or attack.target:
        return ()
    return catalog.people.households([c.name for c in catalog.schema.columns], where)[:1]
