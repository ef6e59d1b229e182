"""The intersection attack in SQL, one release after the other, by groups of people.

People with the same classes in every release so far are one combination of spots. The values of the
secret left for it are those left before that also occur in its spot in the new release. Source:
Ganta et al., Algorithm 1, Definitions 7 to 9. The steps that read people and releases, and write
people, have the names of the user's columns.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sqlglot import exp

from qifsql.counting.composition import Bound, Release
from qifsql.counting.locate import Located, locate, locate_nearest
from qifsql.counting.spans import make_places, make_spans
from qifsql.data.dataset import Column
from qifsql.data.domains import Domain, common_domain, domain
from qifsql.data.expressions import FLOATING, with_one_missing
from qifsql.data.expressions import column as column_of
from qifsql.data.readers import numbered_rows, select_records
from qifsql.data.types import nested
from qifsql.engine.tables import Tables
from qifsql.errors import DatasetError, plural
from qifsql.query.columns import equal, union, with_names
from qifsql.query.microdata_steps import normal
from qifsql.query.plan import Plan
from qifsql.query.shapes import Shape
from qifsql.query.splice import splice

EXACT_LIMIT = 2**120  # products of frequencies times people stay below, so their sums are exact
MOST_PARTS = 10**6  # largest denominator of a level of confidence

Row = dict[str, Any]


def read_people(tables: Tables, bound: Bound, *, keyed: bool) -> int:
    """Create ``crowd`` (point, truth, people), ``points`` and, if ``keyed``, ``everybody``.

    A point is a combination of raw values, each given by its place in the order of all values.
    ``everybody`` has a row per person. Return their number; DatasetError if there is nobody.
    """
    _load_people(tables, bound)
    people = tables.count("people")
    if not people and bound.key is not None:
        raise DatasetError(
            f"the overlap is empty: nobody in {bound.people.name} is in every release by the key "
            f"{bound.key.name}; check that all hold the same identifier, or leave the key out"
        )
    if not people:
        filtered = " under the filter (where)" if bound.where is not None else ""
        raise DatasetError(
            f"the overlap is empty: {bound.people.name} has no records{filtered}; name other people"
        )
    numbers = [raw.number for raw in bound.raws]
    for raw in bound.raws:
        value = exp.column(f"qid_{raw.number}")
        values = exp.select(value.as_("value"), "count(*) AS people").from_("people")
        make_places(tables, raw, values.group_by(value))
    shape: dict[str, Shape] = {"qids": numbers, "key": bound.key is not None}
    of_coded = shape | {"truth": bound.truth is not None, "position": True}
    tables.make("coded", splice("cells/coded_people", shape=of_coded))  # values become places
    tables.drop("people")
    tables.make("points", splice("cells/points", places=numbers))  # numbers of combinations
    tables.make("crowd", splice("cells/crowd", places=numbers))  # people by point and true secret
    if keyed:
        tables.make("everybody", splice("compose/everybody", shape=shape))
    tables.drop("coded")
    return people


def _load_people(tables: Tables, bound: Bound) -> None:
    """Create ``people``: a row per person with raw values, truth, key, and position in the input.

    Positions count all people, also those whom the filter leaves out. With a key, only people who
    are in every release have a row.
    """
    columns = {f"qid_{i}": normal(q) for i, q in enumerate(bound.qids, 1)}
    if bound.truth is not None:
        columns["truth"] = _comparable(normal(bound.truth), bound)
    if bound.key is not None:
        columns["key"] = _key_expression(bound.key)
    people = numbered_rows(bound.people, columns, bound.where).subquery("people")
    query = exp.select("*").from_(people)
    for release in bound.releases:
        if bound.key is None or release.key is None:
            continue
        alias = f"keys_{release.number}"
        key = exp.alias_(_key_expression(release.key), "key")
        keys = select_records(release.dataset, [key]).subquery(alias)
        same_key = equal(exp.column("key", "people"), exp.column("key", alias))
        query = query.join(keys, on=same_key, join_type="semi")
    tables.make("people", query)


def _key_expression(key: Column) -> exp.Expr:
    tree: exp.Expr = column_of(key)
    return with_one_missing(tree) if key.type in FLOATING else tree


def read_secrets(tables: Tables, bound: Bound) -> None:
    """Create ``counted_r``, the distinct rows of each release, and ``secret_values`` of all."""
    for release in bound.releases:
        columns = [exp.alias_(cell, name) for name, cell in _cells(release).items()]
        secret = exp.alias_(_comparable(normal(release.secret), bound), "secret")
        query = select_records(release.dataset, [*columns, secret]).select("count(*) AS records")
        positions = [exp.Literal.number(i) for i in range(1, len(columns) + 2)]  # all but records
        counted = f"counted_{release.number}"
        tables.doing("reading releases", release.title).make(counted, query.group_by(*positions))
        if not tables.count(counted):
            raise DatasetError(f"{release.title} has no records; name another file")
    numbers = [release.number for release in bound.releases]
    tables.make("secret_values", splice("compose/secret_values", shape={"releases": numbers}))


def _comparable(secret: exp.Expr, bound: Bound) -> exp.Expr:
    """Return a secret cast to the type that the secrets of all releases have in common."""
    common: Domain = domain(bound.releases[0].secret.type)
    for release in bound.releases[1:]:
        common = common_domain(common, domain(release.secret.type)) or common
    return exp.cast(secret, common.type, dialect="duckdb")


def read_release(tables: Tables, release: Release, *, nearest: bool) -> None:
    """Create the spans of the columns of a release, its classes and their secrets.

    A span is the range of places, of values in their order, that a cell contains. ``classes_r``
    (class, id_j, records) and ``class_secrets_r`` (class, secret, records) are those not
    suppressed; ``suppressed_secrets_r`` (secret, records) are the records whose cells all stand for
    everything. ``nearest``: the tables of distances are made, too; cells stay.
    """
    r, columns = release.number, {column.raw.number: column for column, _ in release.cells}
    counted, coded, classes = f"counted_{r}", f"coded_{r}", f"classes_{r}"
    names = {"counted": counted, "coded": coded, "classes": classes}
    for number, column in columns.items():
        cells = exp.select(exp.column(f"cell_{number}").as_("cell"))
        cells = cells.from_(exp.table_(counted))
        make_spans(tables, column, cells, nearest=nearest)
        names |= {f"{name}_{number}": column.names[name] for name in ("cells", "spans")}
    shape = {"qids": list(columns)}
    tables.make(coded, splice("compose/coded_release", tables=names, shape=shape))
    tables.make(classes, splice("compose/classes", tables=names, shape=shape))
    tables.make(f"class_secrets_{r}", splice("compose/class_secrets", tables=names, shape=shape))
    tables.make(f"suppressed_secrets_{r}", splice("compose/suppressed_secrets", tables=names))
    tables.drop(counted, coded)


def _load_own_classes(tables: Tables, release: Release) -> None:
    """Create ``own_classes``: the classes of the people's own records, which have their keys."""
    assert release.key is not None  # noqa: S101 - a key is of all releases
    cells = [exp.alias_(cell, name) for name, cell in _cells(release).items()]
    key = exp.alias_(_key_expression(release.key), "key")
    tables.make("keyed", select_records(release.dataset, [key, *cells]))
    numbers = [column.raw.number for column, _ in release.cells]
    names = {f"cells_{column.raw.number}": column.names["cells"] for column, _ in release.cells}
    names["classes"] = f"classes_{release.number}"
    query = splice("compose/own_classes", tables=names, shape={"qids": numbers})
    tables.make("own_classes", query)
    tables.drop("keyed")


def _cells(release: Release) -> dict[str, exp.Expr]:
    """Return the cells of a release by the names of their columns, ``cell_j``."""
    return {
        f"cell_{column.raw.number}": a.expression.copy() if nested(a.type) else normal(a)
        for column, a in release.cells
    }


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


@dataclass
class Crossed:
    """Counts of every release (``findings``), and of the first ones together (``steps``).

    ``bayes`` is false if products of frequencies would be too large to be exact.
    """

    findings: list[Row] = field(default_factory=list)
    steps: list["Step"] = field(default_factory=list)
    bayes: bool = True


@dataclass(frozen=True)
class Step:
    """Counts of the first releases together: rows of the views of these names.

    ``chances`` are empty without ``bayes``; ``truths`` is None if the true secrets are not known.
    """

    summary: Row
    by_release: tuple[Row, ...]
    chances: tuple[Row, ...]
    curve: tuple[Row, ...]
    truths: Row | None

    @property
    def people_with_values(self) -> int:
        """Return how many people are in all of them and have a value of the secret left."""
        return int(self.summary["located"] - self.summary["contradictions"])


def template(name: str, **names: str) -> exp.Select:
    """Return the query of a template, with its tables renamed by ``names``."""
    return splice(f"compose/{name}", tables=names)


def rows(tables: Tables, tree: exp.Query) -> list[Row]:
    """Return the rows of a query as dictionaries by column."""
    names = tree.named_selects
    return [dict(zip(names, row, strict=True)) for row in tables.rows(tree)]


def find_people(tables: Tables, bound: Bound, release: Release) -> Row:
    """Locate people in one release and create its tables of spots; return its counts.

    A point is a combination of raw values of people, a class a combination of cells of the release.
    A spot is the set of classes that contain somebody's values: several if cells overlap. The
    tables that remain are ``whereabouts_r`` (the spot of each point), ``spot_secrets_r`` (records
    by spot and secret) and ``spot_sizes_r`` (records and values of each spot).
    """
    r, columns, nearest = release.number, [c for c, _ in release.cells], bound.spec.nearest
    tables = tables.doing("reading releases", release.title)
    read_release(tables, release, nearest=nearest)
    tables = tables.doing("locating people", release.title)
    _locate_points(tables, release, nearest=nearest)
    remaining = ("whereabouts", "spot_secrets", "spot_sizes")
    dropped = ("classes", "class_secrets", "suppressed_secrets", "points", "found", "nearest")
    names = {name: f"{name}_{r}" for name in (*remaining, *dropped)}
    classes_of_points = template("reached", points=names["points"], found=names["found"])
    tables.make("reached", classes_of_points)
    tables.make("spots", template("spots"))  # the different sets of classes
    numbers = [column.raw.number for column in columns]
    places = {"release_points": names["points"], "nearest": names["nearest"]}
    whereabouts = splice("compose/whereabouts", places=numbers, tables=places)
    tables.make(names["whereabouts"], whereabouts)
    (extent,) = rows(tables, template("extent", **names))  # counts of records and classes
    of_anybody = names["suppressed_secrets"]  # records that may be anybody's
    if bound.spec.suppressed == "out":
        tables.make("nobody", exp.select("*").from_(of_anybody).where("FALSE"))
        of_anybody = "nobody"
    candidates = template("spot_secrets", **names | {"suppressed_secrets": of_anybody})
    tables.make(names["spot_secrets"], candidates)
    tables.make(names["spot_sizes"], template("spot_sizes", **names))
    (finding,) = rows(tables, template("finding", **names))  # counts of people by classes found
    if not nearest:
        del finding["by_nearest"]
    elif release.key is not None:  # whether the nearest class is that of their own record
        _load_own_classes(tables, release)
        (correct,) = rows(tables, template("correctness", **names))
        finding |= correct
        tables.drop("own_classes")
    tables.drop("reached", "spots", "nobody", *(names[name] for name in dropped))
    for column in columns:
        tables.drop(*(column.names[name] for name in ("cells", "spans", "members")))
    return extent | finding


def _locate_points(tables: Tables, release: Release, *, nearest: bool) -> None:
    """Locate people in the classes of release r: create ``points_r``, ``found_r``, ``nearest_r``.

    A point is a combination of values that people have in the columns of the release. ``found_r``
    has pairs of a point and a class that contains it. With ``nearest``, a point in no class is
    paired with its nearest classes, in ``found_r`` and in ``nearest_r``; else the latter is empty.
    """
    r, columns = release.number, tuple(column for column, _ in release.cells)
    numbers, pairs, nearest_pairs = [c.raw.number for c in columns], f"found_{r}", f"nearest_{r}"
    points = splice("cells/points", places=numbers, tables={"coded": "points"})
    tables.make(f"points_{r}", points)
    located = Located(r, columns)
    locate(tables, located)
    if nearest:
        locate_nearest(tables, located)
        both = union([exp.select("*").from_(name) for name in (pairs, nearest_pairs)])
        tables.repeatable(pairs, both)()  # replaces the table by both
    else:
        tables.make(nearest_pairs, exp.select("NULL::BIGINT AS point").where("FALSE"))


def intersect_releases(
    tables: Tables, bound: Bound, findings: list[Row], levels: Sequence[Fraction], *, every: bool
) -> Crossed:
    """Intersect the secrets of the spots where people are, release by release.

    Count what is left after the last release, or after each one (``every``); ``levels`` are those
    of confidence. Tables that remain: of the last release ``at_r`` (for each point the number of
    its combination of spots, ``alike``) and ``told_r`` (what such a combination tells of the
    secret), and ``guesses``.
    """
    last = len(bound.releases)
    crossed = Crossed(findings, bayes=_is_exact(tables, bound))
    tables = tables.doing("intersecting", bound.people.name)
    names_of_levels = ["level", "numerator", "denominator"]
    fractions = [(i, level.numerator, level.denominator) for i, level in enumerate(levels, 1)]
    values = exp.values(fractions, alias="levels", columns=names_of_levels)
    tables.make("levels", exp.select("*").from_(values))
    # Before the first release all points have one combination, of no spots.
    summed = exp.select("point", "0::BIGINT AS alike", "sum(people)::BIGINT AS people")
    tables.make("at_0", summed.from_("crowd").group_by("point"))
    tables.make("told_0", template("told_first"))
    for i in range(1, last + 1):
        names = _table_names(i)
        _intersect_next(tables, names, first=i == 1, bayes=crossed.bayes)
        if i == last:
            tables.make("guesses", template("guesses", **names))
        if i == last or every:
            has_truth = i == last and bound.truth is not None
            (summary,) = rows(tables, template("summary", **names))
            step = Step(
                summary,
                tuple(rows(tables, template("by_release", **names))),
                tuple(rows(tables, template("chances", **names))) if crossed.bayes else (),
                tuple(rows(tables, template("curve", **names))),
                rows(tables, template("truths", **names))[0] if has_truth else None,
            )
            crossed.steps.append(step)
        tables.drop(f"at_{i - 1}", f"told_{i - 1}", f"shared_{i - 1}", f"standing_{i}")
    tables.drop(f"shared_{last}")
    return crossed


def _table_names(i: int) -> Mapping[str, str]:
    """Return the tables of release ``i``, and those of the one before, by their names in SQL."""
    now = ("standing", "at_now", "shared", "told")
    tables = {name: f"{name.removesuffix('_now')}_{i}" for name in now}
    before = {f"{name}_before": f"{name}_{i - 1}" for name in ("at", "shared", "told")}
    spots = {name: f"{name}_{i}" for name in ("whereabouts", "spot_secrets", "spot_sizes")}
    return tables | before | spots


def _intersect_next(tables: Tables, names: Mapping[str, str], *, first: bool, bayes: bool) -> None:
    """Intersect the values left with those of one more release: ``told`` has the results.

    ``names`` are those of ``_table_names``. Without ``bayes``, where products of frequencies are
    too large to be exact, all frequencies are 1. ``standing`` has the combinations of spots so far,
    with their people; ``at_now`` the combination of each point; ``shared`` the values of the secret
    that are in all spots of a combination; ``told`` what that says about its people.
    """
    tables.make(names["standing"], template("standing", **names))
    tables.make(names["at_now"], template("at_now", **names))
    secrets = dict(names)
    if not bayes:
        ones = exp.select("spot", "secret", "1::BIGINT AS records").from_(names["spot_secrets"])
        tables.make("present", ones)
        secrets["spot_secrets"] = "present"
    tables.make(names["shared"], template("shared_first" if first else "shared", **secrets))
    tables.make(names["told"], template("told", **names))
    tables.drop("present")


def _is_exact(tables: Tables, bound: Bound) -> bool:
    """Return whether products of frequencies are so small that sums of them over people are exact.

    A sum is at most the product of the largest frequency in each release, times the values of the
    secret that can be left, times the people.
    """
    frequencies, values = [], []  # by release
    for release in bound.releases:
        sizes = exp.table_(f"spot_sizes_{release.number}")
        ((best, effective),) = tables.rows(exp.select("max(best)", "max(effective)").from_(sizes))
        frequencies.append(best or 1)  # NULL: a release without spots
        values.append(effective or 1)
    ((people,),) = tables.rows(exp.select("sum(people)::BIGINT").from_("crowd"))
    # Values that are left occur in all releases, so they are no more than in any of these.
    return bool(math.prod(frequencies) * min(values) * people * MOST_PARTS < EXACT_LIMIT)


def refuse_unlocated(bound: Bound, findings: list[Row]) -> None:
    """Refuse people in no class of a release, or in several."""
    for release, finding in zip(bound.releases, findings, strict=True):
        in_none, in_several = finding["nowhere"] + finding["only_suppressed"], finding["in_several"]
        if in_none or in_several:
            raise DatasetError(
                f"{bound.people.name} has {plural(in_none, 'person')} in no class of "
                f"{release.title} and {plural(in_several, 'person')} in several: its cells have "
                "gaps or overlap; correct them, or allow this by leaving --strict out"
            )
