"""Generated steps that read people and releases, with the names of columns in the user's files."""

from collections.abc import Sequence

from sqlglot import exp

from qifsql.counting.composition import Bound, Release
from qifsql.counting.spans import make_places, make_spans
from qifsql.data.dataset import Column
from qifsql.data.domains import Domain, domain, together
from qifsql.data.expressions import FLOATING, SOURCE, column, with_one_missing
from qifsql.data.readers import relation
from qifsql.data.types import nested
from qifsql.engine.tables import Tables
from qifsql.errors import DatasetError
from qifsql.query.columns import equal, same
from qifsql.query.microdata_steps import normal
from qifsql.query.splice import splice


def read_people(tables: Tables, bound: Bound, *, keyed: bool) -> int:
    """Create ``crowd`` (point, truth, people), ``points`` and, if ``keyed``, ``everybody``.

    A point is a combination of raw values, each given by its place in the order of all values.
    Return the number of people; raise DatasetError if there are none.
    """
    _load_people(tables, bound)
    n = tables.count("people")
    if not n:
        raise DatasetError(_refuse_nobody(bound))
    for raw in bound.raws:
        j = raw.number
        value = exp.column(f"qid_{j}")
        values = exp.select(value.as_("value"), "count(*) AS people").from_("people")
        make_places(tables, raw, values.group_by(value))
    numbers = [raw.number for raw in bound.raws]
    coded = exp.select().from_("people")
    for j in numbers:
        places = f"places_{j}"
        value_of = same(exp.column(f"qid_{j}", "people"), exp.column("value", places))
        coded = coded.join(exp.table_(places, alias=places), on=value_of)
        coded = coded.select(exp.column("place", places).as_(f"place_{j}"))
    coded = _with_truth(coded, bound)
    if keyed:
        coded = coded.select("people.position", *(["people.key"] if bound.key else []))
    tables.make("coded", coded)
    tables.drop("people")
    tables.make("points", splice("cells/points", places=numbers))
    tables.make("crowd", splice("cells/crowd", places=numbers))
    if keyed:
        columns = ["position", "truth", *(["key"] if bound.key else [])]
        point = exp.and_(*_equal([f"place_{j}" for j in numbers], "coded", "points"))
        query = exp.select("point", *columns).from_("coded").join("points", on=point)
        tables.make("everybody", query)
    tables.drop("coded")
    return n


def _load_people(tables: Tables, bound: Bound) -> None:
    """Create ``people``: raw values, truth and key; with a key only people in every release."""
    columns = [exp.alias_(normal(q), f"qid_{i}") for i, q in enumerate(bound.qids, 1)]
    if bound.truth is not None:
        columns.append(exp.alias_(normal(bound.truth), "truth"))
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


def _equal(columns: Sequence[str], table: str, other_table: str) -> list[exp.Expr]:
    """Return the conditions that columns of two tables are equal."""
    return [equal(exp.column(c, table), exp.column(c, other_table)) for c in columns]


def _key(key: Column) -> exp.Expr:
    tree: exp.Expr = column(key)
    return with_one_missing(tree) if key.type in FLOATING else tree


def _refuse_nobody(bound: Bound) -> str:
    if bound.key is not None:
        return (
            f"the overlap is empty: nobody in {bound.people.name} is in every release by the key "
            f"{bound.key.name}; check that all hold the same identifier, or leave the key out"
        )
    after = " under the filter (where)" if bound.where is not None else ""
    return f"the overlap is empty: {bound.people.name} has no records{after}; name other people"


def read_secrets(tables: Tables, bound: Bound) -> None:
    """Create ``counted_r``, the distinct rows of each release, and ``secret_values`` of all."""
    values: exp.Query | None = None
    for release in bound.releases:
        r = release.number
        columns = [
            exp.alias_(
                attribute.expression.copy() if nested(attribute.type) else normal(attribute),
                f"cell_{g.raw.number}",
            )
            for g, attribute in release.cells
        ]
        secret = exp.alias_(_comparable(normal(release.secret), _common_domain(bound)), "secret")
        rows = exp.alias_(relation(release.dataset), SOURCE, table=True)
        query = exp.select(*columns, secret, "count(*) AS records").from_(rows)
        positions = [exp.Literal.number(i) for i in range(1, len(columns) + 2)]
        tables.doing("reading releases", release.title).make(
            f"counted_{r}", query.group_by(*positions)
        )
        if not tables.count(f"counted_{r}"):
            raise DatasetError(f"{release.title} has no records; name another file")
        secrets = exp.select("secret").from_(exp.table_(f"counted_{r}"))
        values = secrets if values is None else exp.union(values, secrets)
    assert values is not None  # noqa: S101 - there is a release
    order = "row_number() OVER (ORDER BY secret ASC NULLS LAST) AS code"
    different = exp.select("secret").distinct().from_(values.subquery("every"))
    tables.make("secret_values", exp.select("secret", order).from_(different.subquery("different")))


def _common_domain(bound: Bound) -> Domain:
    """Return the domain in which secrets of all releases are compared."""
    common_domain = domain(bound.releases[0].secret.type)
    for release in bound.releases[1:]:
        common_domain = together(common_domain, domain(release.secret.type)) or common_domain
    return common_domain


def _comparable(tree: exp.Expr, common_domain: Domain) -> exp.Expr:
    return exp.cast(tree, common_domain.type, dialect="duckdb")


def _with_truth(coded: exp.Select, bound: Bound) -> exp.Select:
    """Return the query with the number of the true secret, 0 if no release has this value."""
    if bound.truth is None:
        return coded.select("0 AS truth")
    condition = exp.NullSafeEQ(
        this=_comparable(exp.column("truth", table="people"), _common_domain(bound)),
        expression=exp.column("secret", table="secret_values"),
    )
    return coded.join("secret_values", on=condition, join_type="left").select(
        "coalesce(secret_values.code, 0) AS truth"
    )


def read_release(tables: Tables, release: Release) -> None:
    """Create the spans of the columns of a release, its classes and their secrets.

    ``classes_r`` (class, id_j, records) and ``class_secrets_r`` (class, secret, records) are those
    not suppressed; ``suppressed_secrets_r`` (secret, records) are the records whose cells all stand
    for everything.
    """
    r = release.number
    numbers = [g.raw.number for g, _ in release.cells]
    counted = f"counted_{r}"
    for g, _ in release.cells:
        cells = exp.select(exp.column(f"cell_{g.raw.number}").as_("cell"))
        cells = cells.from_(exp.table_(counted))
        make_spans(tables, g, cells)
    secret = same(exp.column("secret", counted), exp.column("secret", "secret_values"))
    coded = exp.select("secret_values.code AS secret", exp.column("records", counted))
    coded = coded.from_(exp.table_(counted)).join("secret_values", on=secret)
    for g, _ in release.cells:
        j = g.raw.number
        cells_j, spans_j = f"cells_{j}", f"spans_{j}"
        cell = same(exp.column(f"cell_{j}", counted), exp.column("cell", cells_j))
        coded = coded.join(exp.table_(g.names["cells"], alias=cells_j), on=cell)
        span = equal(exp.column("id", cells_j), exp.column("id", spans_j))
        coded = coded.join(exp.table_(g.names["spans"], alias=spans_j), on=span)
        coded = coded.select(exp.column("id", spans_j).as_(f"id_{j}"))
    everything = exp.and_(*(exp.column("everything", f"spans_{j}") for j in numbers))
    tables.make(f"coded_{r}", coded.select(exp.alias_(everything, "suppressed")))
    ids = [f"id_{j}" for j in numbers]
    columns = [exp.column(name) for name in ids]
    coded_release = exp.table_(f"coded_{r}")
    summed = exp.select(*columns, "sum(records)::BIGINT AS records").from_(coded_release)
    summed = summed.where("NOT suppressed").group_by(*columns)
    tables.make(
        f"classes_{r}",
        exp.select("row_number() OVER () AS class", "*").from_(summed.subquery("summed")),
    )
    in_class = exp.and_("NOT coded.suppressed", *_equal(ids, "coded", "classes"))
    secrets = exp.select("classes.class", "coded.secret", "sum(coded.records)::BIGINT AS records")
    secrets = secrets.from_(exp.table_(f"coded_{r}", alias="coded")).join(
        exp.table_(f"classes_{r}", alias="classes"), on=in_class
    )
    tables.make(f"class_secrets_{r}", secrets.group_by("classes.class", "coded.secret"))
    gone = exp.select("secret", "sum(records)::BIGINT AS records").from_(coded_release)
    tables.make(f"suppressed_secrets_{r}", gone.where("suppressed").group_by("secret"))
    tables.drop(counted, f"coded_{r}", *(g.names["cells"] for g, _ in release.cells))
