"""Reading people and releases: the generated steps, where names of the user's files stand."""

from collections.abc import Sequence

from sqlglot import exp

from qifsql.counting.composition import Bound, Release
from qifsql.counting.spans import make_places, make_spans
from qifsql.data.dataset import Column
from qifsql.data.domains import Domain, domain, together
from qifsql.data.expressions import (
    FLOATING,
    SOURCE,
    column,
    with_one_missing,
)
from qifsql.data.relation import relation
from qifsql.data.types import nested
from qifsql.engine.tables import Tables
from qifsql.errors import DatasetError
from qifsql.query.microdata import normal
from qifsql.query.spread import named, spread


def read_people(tables: Tables, bound: Bound, *, keyed: bool) -> int:
    """Make ``crowd`` (point, truth, people), ``points`` and, for ``keyed`` results, ``everybody``.

    A point is a combination of raw values, each as its place among all. Returns the number of
    people. Raises DatasetError where nobody is left.
    """
    _load(tables, bound)
    n = tables.count("people")
    if not n:
        raise DatasetError(_nobody(bound))
    for raw in bound.raws:
        j = raw.number
        values = exp.select(f"qid_{j} AS value", "count(*) AS people").from_("people")
        make_places(tables, raw, values.group_by(f"qid_{j}"))
    numbers = [raw.number for raw in bound.raws]
    coded = exp.select().from_("people")
    for j in numbers:
        coded = coded.join(
            exp.alias_(exp.to_table(f"places_{j}"), f"places_{j}", table=True),
            on=f"people.qid_{j} IS NOT DISTINCT FROM places_{j}.value",
        ).select(f"places_{j}.place AS place_{j}")
    coded = _with_truth(coded, bound)
    if keyed:
        coded = coded.select("people.position", *(["people.key"] if bound.key else []))
    tables.make("coded", coded)
    tables.drop("people")
    tables.make("points", spread("points", over=numbers))
    crowd = spread("crowd", over=numbers)
    tables.make("crowd", crowd)
    if keyed:
        columns = ["position", "truth", *(["key"] if bound.key else [])]
        same = exp.and_(*(f"coded.place_{j} = points.place_{j}" for j in numbers))
        query = exp.select("point", *columns).from_("coded").join("points", on=same)
        tables.make("everybody", query)
    tables.drop("coded")
    return n


def _load(tables: Tables, bound: Bound) -> None:
    """Make ``people``: their raw values, truth and key; with ``--key`` those in every release."""
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
        query = query.join(keys, on=f"people.key = {alias}.key", join_type="semi")
    tables.make("people", query)


def _key(key: Column) -> exp.Expr:
    tree: exp.Expr = column(key)
    return with_one_missing(tree) if key.type in FLOATING else tree


def _nobody(bound: Bound) -> str:
    if bound.key is not None:
        return (
            f"the overlap is empty: nobody in {bound.people.name} is in every release by the key "
            f"{bound.key.name}; check that all hold the same identifier, or leave the key out"
        )
    after = " under the filter (where)" if bound.where is not None else ""
    return f"the overlap is empty: {bound.people.name} has no records{after}; name other people"


def read_secrets(tables: Tables, bound: Bound) -> None:
    """Make ``counted_r``, the different rows of each release, and ``secret_values`` of all."""
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
        secret = exp.alias_(_comparable(normal(release.secret), _common(bound)), "secret")
        rows = exp.alias_(relation(release.dataset), SOURCE, table=True)
        query = exp.select(*columns, secret, "count(*) AS records").from_(rows)
        positions = [exp.Literal.number(i) for i in range(1, len(columns) + 2)]
        tables.doing("reading releases", release.title).make(
            f"counted_{r}", query.group_by(*positions)
        )
        if not tables.count(f"counted_{r}"):
            raise DatasetError(f"{release.title} has no records; name another file")
        secrets = exp.select("secret").from_(f"counted_{r}")
        values = secrets if values is None else exp.union(values, secrets)
    assert values is not None  # noqa: S101 - there is a release
    order = "row_number() OVER (ORDER BY secret ASC NULLS LAST) AS code"
    different = exp.select("secret").distinct().from_(values.subquery("every"))
    tables.make("secret_values", exp.select("secret", order).from_(different.subquery("different")))


def _common(bound: Bound) -> Domain:
    """The domain in which secrets of all releases are compared."""
    common_domain = domain(bound.releases[0].secret.type)
    for release in bound.releases[1:]:
        common_domain = together(common_domain, domain(release.secret.type)) or common_domain
    return common_domain


def _comparable(tree: exp.Expr, common_domain: Domain) -> exp.Expr:
    return exp.cast(tree, common_domain.type, dialect="duckdb")


def _with_truth(coded: exp.Select, bound: Bound) -> exp.Select:
    """With the number of the true secret; 0 where no release has that value."""
    if bound.truth is None:
        return coded.select("0 AS truth")
    condition = exp.NullSafeEQ(
        this=_comparable(exp.column("truth", table="people"), _common(bound)),
        expression=exp.column("secret", table="secret_values"),
    )
    return coded.join("secret_values", on=condition, join_type="left").select(
        "coalesce(secret_values.code, 0) AS truth"
    )


def read_release(tables: Tables, release: Release) -> None:
    """Make the spans of the columns of a release, its classes and their secrets.

    ``classes_r`` (class, id_j, records) and ``class_secrets_r`` (class, secret, records) are those
    not suppressed; ``suppressed_secrets_r`` (secret, records) are the records of which every cell
    stands for everything.
    """
    r = release.number
    numbers = [g.raw.number for g, _ in release.cells]
    counted = f"counted_{r}"
    for g, _ in release.cells:
        cells = exp.select(f"cell_{g.raw.number} AS cell").from_(counted)
        make_spans(tables, g, cells)
    coded = exp.select("secret_values.code AS secret", f"{counted}.records").from_(counted)
    coded = coded.join(
        "secret_values", on=f"{counted}.secret IS NOT DISTINCT FROM secret_values.secret"
    )
    for g, _ in release.cells:
        j = g.raw.number
        for held, on in (
            ("cells", f"{counted}.cell_{j} IS NOT DISTINCT FROM cells_{j}.cell"),
            ("spans", f"cells_{j}.id = spans_{j}.id"),
        ):
            table = exp.alias_(exp.to_table(g.names[held]), f"{held}_{j}", table=True)
            coded = coded.join(table, on=on)
        coded = coded.select(f"spans_{j}.id AS id_{j}")
    everything = exp.and_(*(f"spans_{j}.everything" for j in numbers))
    tables.make(f"coded_{r}", coded.select(exp.alias_(everything, "suppressed")))
    ids = [f"id_{j}" for j in numbers]
    summed = exp.select(*ids, "sum(records)::BIGINT AS records").from_(f"coded_{r}")
    summed = summed.where("NOT suppressed").group_by(*ids)
    tables.make(
        f"classes_{r}",
        exp.select("row_number() OVER () AS class", "*").from_(summed.subquery("summed")),
    )
    same = exp.and_("NOT coded.suppressed", *(f"coded.{i} = classes.{i}" for i in ids))
    secrets = exp.select("classes.class", "coded.secret", "sum(coded.records)::BIGINT AS records")
    secrets = secrets.from_(named(f"coded_{r}", "coded")).join(
        named(f"classes_{r}", "classes"), on=same
    )
    tables.make(f"class_secrets_{r}", secrets.group_by("classes.class", "coded.secret"))
    gone = exp.select("secret", "sum(records)::BIGINT AS records").from_(f"coded_{r}")
    tables.make(f"suppressed_secrets_{r}", gone.where("suppressed").group_by("secret"))
    tables.drop(counted, f"coded_{r}", *(g.names["cells"] for g, _ in release.cells))


def read_points(tables: Tables, release: Release, every: Sequence[int]) -> str:
    """Make ``points_r``, the different values of people in a release's columns.

    Returns the table that says which of them each point is (``point``, ``own``).
    """
    r = release.number
    numbers = [g.raw.number for g, _ in release.cells]
    places = [f"place_{j}" for j in numbers]
    different = exp.select(*places).distinct().from_("points").subquery("different")
    tables.make(f"points_{r}", exp.select("row_number() OVER () AS point", "*").from_(different))
    same = exp.and_(*(f"points.{p} = own.{p}" for p in places))
    mapped = exp.select("points.point", "own.point AS own").from_("points")
    tables.make(f"own_{r}", mapped.join(named(f"points_{r}", "own"), on=same))
    return f"own_{r}"
