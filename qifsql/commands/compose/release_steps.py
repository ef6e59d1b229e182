"""Steps that read people and releases, and write people, with the names of the user's columns."""

from sqlglot import exp

from qifsql.counting.composition import Bound, Release
from qifsql.counting.spans import make_places, make_spans
from qifsql.data.dataset import Column
from qifsql.data.domains import Domain, common_domain, domain
from qifsql.data.expressions import FLOATING, SOURCE, column, with_one_missing
from qifsql.data.readers import relation
from qifsql.data.types import nested
from qifsql.engine.tables import Tables
from qifsql.errors import DatasetError
from qifsql.query.columns import equal, with_names
from qifsql.query.microdata_steps import normal
from qifsql.query.plan import Plan
from qifsql.query.shapes import Shape
from qifsql.query.splice import splice


def read_people(tables: Tables, bound: Bound, *, keyed: bool) -> int:
    """Create ``crowd`` (point, truth, people), ``points`` and, if ``keyed``, ``everybody``.

    A point is a combination of raw values, each given by its place in the order of all values.
    ``everybody`` has a row per person. Return their number; DatasetError if there is nobody.
    """
    _load_people(tables, bound)
    people = tables.count("people")
    if not people:
        raise DatasetError(_nobody_message(bound))
    numbers = [raw.number for raw in bound.raws]
    for raw in bound.raws:
        value = exp.column(f"qid_{raw.number}")
        values = exp.select(value.as_("value"), "count(*) AS people").from_("people")
        make_places(tables, raw, values.group_by(value))
    shape: dict[str, Shape] = {"qids": numbers, "key": bound.key is not None}
    of_coded = shape | {"truth": bound.truth is not None, "position": True}
    tables.make("coded", splice("cells/coded_people", shape=of_coded))
    tables.drop("people")
    tables.make("points", splice("cells/points", places=numbers))
    tables.make("crowd", splice("cells/crowd", places=numbers))
    if keyed:
        tables.make("everybody", splice("compose/everybody", shape=shape))
    tables.drop("coded")
    return people


def _load_people(tables: Tables, bound: Bound) -> None:
    """Create ``people``, one row each: raw values, truth, key, and position in the input.

    People whom the filter leaves out are positions, too. With a key, only people in every release.
    """
    columns = [exp.alias_(normal(q), f"qid_{i}") for i, q in enumerate(bound.qids, 1)]
    if bound.truth is not None:
        columns.append(exp.alias_(_comparable(normal(bound.truth), bound), "truth"))
    if bound.key is not None:
        columns.append(exp.alias_(_key(bound.key), "key"))
    columns.append(exp.alias_(exp.Window(this=exp.RowNumber()), "position"))
    meant = bound.where.copy() if bound.where is not None else exp.true()
    columns.append(exp.alias_(meant, "meant"))
    rows = exp.alias_(relation(bound.people), SOURCE, table=True)
    inner = exp.select(*columns).from_(rows).subquery("people")
    query = exp.select(exp.Star(**{"except_": [exp.to_identifier("meant")]})).from_(inner)
    query = query.where("people.meant")
    for release in bound.releases:
        if bound.key is None or release.key is None:
            continue
        alias = f"keys_{release.number}"
        source = exp.alias_(relation(release.dataset), SOURCE, table=True)
        keys = exp.select(exp.alias_(_key(release.key), "key")).from_(source).subquery(alias)
        key = equal(exp.column("key", "people"), exp.column("key", alias))
        query = query.join(keys, on=key, join_type="semi")
    tables.make("people", query)


def _key(key: Column) -> exp.Expr:
    tree: exp.Expr = column(key)
    return with_one_missing(tree) if key.type in FLOATING else tree


def _nobody_message(bound: Bound) -> str:
    """Return the message of the error for an empty overlap."""
    if bound.key is not None:
        return (
            f"the overlap is empty: nobody in {bound.people.name} is in every release by the key "
            f"{bound.key.name}; check that all hold the same identifier, or leave the key out"
        )
    after = " under the filter (where)" if bound.where is not None else ""
    return f"the overlap is empty: {bound.people.name} has no records{after}; name other people"


def read_secrets(tables: Tables, bound: Bound) -> None:
    """Create ``counted_r``, the distinct rows of each release, and ``secret_values`` of all."""
    for release in bound.releases:
        columns = []
        for g, attribute in release.cells:
            is_nested = nested(attribute.type)  # an interval or a set
            cell = attribute.expression.copy() if is_nested else normal(attribute)
            columns.append(exp.alias_(cell, f"cell_{g.raw.number}"))
        secret = exp.alias_(_comparable(normal(release.secret), bound), "secret")
        rows = exp.alias_(relation(release.dataset), SOURCE, table=True)
        query = exp.select(*columns, secret, "count(*) AS records").from_(rows)
        positions = [exp.Literal.number(i) for i in range(1, len(columns) + 2)]  # all but records
        counted = f"counted_{release.number}"
        tables.doing("reading releases", release.title).make(counted, query.group_by(*positions))
        if not tables.count(counted):
            raise DatasetError(f"{release.title} has no records; name another file")
    numbers = [release.number for release in bound.releases]
    tables.make("secret_values", splice("compose/secret_values", shape={"releases": numbers}))


def _comparable(secret: exp.Expr, bound: Bound) -> exp.Expr:
    common: Domain = domain(bound.releases[0].secret.type)
    for release in bound.releases[1:]:
        common = common_domain(common, domain(release.secret.type)) or common
    return exp.cast(secret, common.type, dialect="duckdb")


def read_release(tables: Tables, release: Release) -> None:
    """Create the spans of the columns of a release, its classes and their secrets.

    ``classes_r`` (class, id_j, records) and ``class_secrets_r`` (class, secret, records) are those
    not suppressed; ``suppressed_secrets_r`` (secret, records) are the records whose cells all stand
    for everything.
    """
    r, columns = release.number, {g.raw.number: g for g, _ in release.cells}
    counted, coded, classes = f"counted_{r}", f"coded_{r}", f"classes_{r}"
    names = {"counted": counted, "coded": coded, "classes": classes}
    for number, g in columns.items():
        cells = exp.select(exp.column(f"cell_{number}").as_("cell"))
        make_spans(tables, g, cells.from_(exp.table_(counted)))
        names |= {f"{name}_{number}": g.names[name] for name in ("cells", "spans")}
    shape = {"qids": list(columns)}
    tables.make(coded, splice("compose/coded_release", tables=names, shape=shape))
    tables.make(classes, splice("compose/classes", tables=names, shape=shape))
    tables.make(f"class_secrets_{r}", splice("compose/class_secrets", tables=names, shape=shape))
    tables.make(f"suppressed_secrets_{r}", splice("compose/suppressed_secrets", tables=names))
    tables.drop(counted, coded, *(g.names["cells"] for g in columns.values()))


def plan_people(bound: Bound, *, bayes: bool) -> Plan:
    """Return the plan of a row per person, in the order of the input: results of all releases.

    The columns are ``person`` from 1 (and the key); for each release the number of the person's
    classes (``classes_r``), of the records in them (``size_r``) and of their distinct secrets
    (``effective_r``); then ``prior``, ``posterior``, ``drop``, ``confidence``, ``best_guess`` and
    ``success``. These are NULL if a person is not in every release or, from ``drop`` on, if no
    value is left.
    """
    last = len(bound.releases)
    query = splice(
        "compose/results_of_people",
        tables={"at_last": f"at_{last}", "told": f"told_{last}"},
        shape={"releases": range(1, last + 1), "key": bound.key is not None, "bayes": bayes},
    )
    return Plan((), with_names(query, {} if bound.key is None else {"key": bound.key.name}))
