"""The releases that are linked without a person key: their columns by role, checked once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from qifsql.adversary import names, roles
from qifsql.adversary.bind import refuse_known_secrets
from qifsql.adversary.names import QID, SECRET
from qifsql.adversary.spec import Attribute, ColumnRoles
from qifsql.adversary.transitions import Rule
from qifsql.counting.matching_columns import person_key, plain, typed
from qifsql.data.collection import Collection, joined_schema
from qifsql.data.dataset import Dataset, Schema
from qifsql.data.expressions import column
from qifsql.data.readers import select_records
from qifsql.data.types import INTEGERS, NUMBERS, comparable, family, nested
from qifsql.engine.catalog import Catalog
from qifsql.errors import ColumnError, InputError, quoted
from qifsql.query.microdata_steps import normal
from qifsql.query.plan import Step


@dataclass(frozen=True)
class Release:
    """One release: its linking columns, its quasi-identifiers and, if focal, its secrets.

    Of the ``linking`` columns, ``exact`` are expressions that must be equal in all releases,
    ``drift`` the columns that may change, in the order of their rules. With ``has_absence``, a
    person who is not in the release is distinguished from one whose observed values are all
    missing.
    """

    dataset: Dataset
    number: int
    qids: tuple[Attribute, ...]
    has_absence: bool
    secrets: tuple[Attribute, ...] = ()
    key: Attribute | None = None
    where: exp.Expr | None = None
    linking: tuple[Attribute, ...] = ()
    exact: tuple[exp.Expr, ...] = ()
    drift: tuple[Attribute, ...] = ()
    columns: tuple[ColumnRoles, ...] = ()

    @property
    def step(self) -> Step:
        """Return the step ``given``: one row per record, with column names that views can read.

        ``exact`` is a struct of the columns that must match exactly, ``observed`` one of the
        quasi-identifiers; ``qid_i`` are the columns that may change. ``unseen``: the record looks
        like that of somebody who is not in the release.
        """
        values = [normal(q) for q in self.qids]
        columns = [exp.alias_(_as_struct(self.exact), "exact")]
        columns += [exp.alias_(plain(a), f"qid_{i}") for i, a in enumerate(self.drift, 1)]
        columns.append(exp.alias_(_as_struct(values), "observed"))
        columns.append(exp.alias_(self._is_absent(values), "unseen"))
        columns += [exp.alias_(plain(s), f"secret_{j}") for j, s in enumerate(self.secrets, 1)]
        if self.key is not None:
            columns.append(exp.alias_(plain(self.key), "key"))
        query = select_records(self.dataset, columns, self.where)
        return Step("given", "One row per record of a release.", query)

    def _is_absent(self, values: Sequence[exp.Expr]) -> exp.Expr:
        """Return the condition that a record looks as if its person were not in the release."""
        if self.number == 1 or (values and self.has_absence):
            return exp.false()
        missing = [exp.paren(value.copy()).is_(exp.null()) for value in values]
        return exp.and_(*missing) if missing else exp.true()

    def observation(self, values: Sequence[str | None]) -> exp.Expr:
        """Return the observation of a target from its values as texts (None: missing)."""
        trees: list[exp.Expr] = []
        for qid, value in zip(self.qids, values, strict=True):
            kind = exp.DataType.build(qid.type, dialect="duckdb")
            text = exp.null() if value is None else exp.Literal.string(value)
            trees.append(normal(replace(qid, expression=exp.cast(text, kind))))
        return _as_struct(trees)


def releases(
    catalogs: Sequence[Catalog],
    rules: Sequence[Rule],
    *,
    qids: Sequence[str],
    secrets: Sequence[str],
    keys: Sequence[str],
    where: str | None,
    has_absence: bool,
) -> tuple[Release, ...]:
    """Return the releases, the focal one first, with columns looked up and types compared.

    ``keys`` has none, one for all releases or one for each; ``where`` is a filter of the focal one.
    """
    datasets = tuple(c.dataset for c in catalogs if isinstance(c.dataset, Dataset))
    both = joined_schema(Collection(datasets), [c.schema for c in catalogs])
    attributes = names.attributes(qids, both, QID)
    if not attributes:
        raise ColumnError(f"no quasi-identifiers for {both.dataset}; name some with --qids")
    focal_secrets = names.attributes(secrets, both, SECRET)
    sequence: list[Release] = []
    for number, (dataset, catalog) in enumerate(zip(datasets, catalogs, strict=True), 1):
        own_qids = typed([q for q in attributes if q.number == number], catalog)
        release = Release(dataset=dataset, number=number, qids=own_qids, has_absence=has_absence)
        if number == 1:
            what = f"the filter (where) of {catalog.schema.dataset}"
            secrets_of_release = typed(focal_secrets, catalog)
            refuse_known_secrets(own_qids, secrets_of_release)
            where_of_release = catalog.filter(where, what)
            release = replace(release, secrets=secrets_of_release, where=where_of_release)
        release = _with_linking_columns(release, rules, catalog.schema, catalogs[0].schema)
        if keys:
            key = person_key(keys[min(number, len(keys)) - 1], catalog.schema)
            focal_key = (sequence[0].key if sequence else None) or key
            _check_key(key, focal_key, catalog.schema.dataset)
            release = replace(release, key=key)
        sequence.append(_with_roles(release, catalog.schema))
    return tuple(sequence)


def _with_linking_columns(
    release: Release, rules: Sequence[Rule], schema: Schema, focal: Schema
) -> Release:
    """Return a release with the column of each rule; refuse one of another type than the focal's.

    ``schema`` has the columns of the release, ``focal`` those of the focal one.
    """
    columns = {rule: _linking_column(rule, schema) for rule in rules}
    for rule, attribute in columns.items():
        reference = _linking_column(rule, focal)
        is_number = rule.kind == "shift"  # shifted numbers may be of different types
        if not is_number and comparable(reference.type) != comparable(attribute.type):
            raise ColumnError(
                f"column {quoted(reference.name)} is {family(reference.type)} in {focal.dataset} "
                f"but {family(attribute.type)} in {schema.dataset}: values are not converted, as "
                "the text 007 is not the number 7; write both with one type (CSV: --all-varchar)"
            )
    steps = release.number - 1  # from the focal release to this one
    constant = {rule: column for rule, column in columns.items() if not rule.drifts}
    return replace(
        release,
        exact=tuple(_without_shifts(rule, column, steps) for rule, column in constant.items()),
        drift=tuple(column for rule, column in columns.items() if rule.drifts),
        linking=tuple(columns.values()),
    )


def _with_roles(release: Release, schema: Schema) -> Release:
    """Return a release with the roles of all columns of its file."""
    by_role = {
        roles.QID: release.qids,
        roles.SECRET: release.secrets,
        roles.LINK: release.linking,
        roles.KEY: (release.key,) if release.key else (),
    }
    return replace(release, columns=roles.columns(schema, by_role, where=release.where))


def _linking_column(rule: Rule, schema: Schema) -> Attribute:
    """Return the column of a rule in one release; refuse a rule that does not fit its type."""
    field = schema[rule.column]
    if nested(field.type):
        raise ColumnError(
            f"column {quoted(field.name)} of {schema.dataset} is nested; it cannot link records"
        )
    is_integer = family(field.type) in INTEGERS
    if rule.kind == "shift" and family(field.type) not in NUMBERS:
        raise ColumnError(
            f"column {quoted(field.name)} of {schema.dataset} is {family(field.type)}, not a "
            f"number, so {rule.shift:+} cannot be added to it"
        )
    if rule.kind == "shift" and is_integer and rule.shift != rule.shift.to_integral_value():
        raise InputError(
            f"column {quoted(field.name)} of {schema.dataset} has whole numbers; "
            f"{rule.shift:+} cannot be added to them"
        )
    return Attribute(field.name, column(field), field.type)


def _without_shifts(rule: Rule, attribute: Attribute, steps: int) -> exp.Expr:
    """Return the part of a value that stays constant: the column less ``steps`` shifts."""
    value = plain(attribute)
    if rule.kind == "exact":
        return value
    total, is_integer = rule.shift * steps, family(attribute.type) in INTEGERS
    number = exp.Literal.number(abs(int(total)) if is_integer else format(abs(total), "f"))
    value = exp.cast(value, "HUGEINT") if is_integer else exp.paren(value)  # no overflow
    return (exp.Sub if total >= 0 else exp.Add)(this=value, expression=number)


def _as_struct(trees: Sequence[exp.Expr]) -> exp.Expr:
    """Return several values as one struct; without values, return a constant."""
    if not trees:
        return exp.true()
    fields = [
        exp.PropertyEQ(this=exp.to_identifier(f"part_{i}"), expression=tree)
        for i, tree in enumerate(trees, 1)
    ]
    return exp.Struct(expressions=fields)


def _check_key(key: Attribute, focal_key: Attribute, dataset: str) -> None:
    """Refuse the key of a release that has another type than that of the focal release."""
    if comparable(key.type) != comparable(focal_key.type):
        raise ColumnError(
            f"key {quoted(key.name)} is {family(key.type)} in {dataset} and of another type in the "
            "focal release; write both with one type"
        )
