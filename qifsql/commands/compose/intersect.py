"""The intersection attack in SQL, one release after the other, by groups of people.

People with the same classes in every release so far are one combination of spots. The values of the
secret left for it are those left before that also occur in its spot in the new release. Source:
Ganta et al., Algorithm 1, Definitions 7 to 9.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from qifsql.commands.compose.release_steps import read_release
from qifsql.counting.composition import Bound, Release
from qifsql.counting.locate import Located, locate
from qifsql.engine.tables import Tables
from qifsql.errors import DatasetError, plural
from qifsql.query.splice import splice

LIMIT = 2**120  # products of frequencies times people stay below, so their sums are exact

Row = dict[str, Any]


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


def template(name: str, **names: str) -> exp.Select:
    """Return the query of a template, with its tables renamed by ``names``."""
    return splice(f"compose/{name}", tables=names)


def rows(tables: Tables, tree: exp.Query) -> list[Row]:
    """Return the rows of a query as dictionaries by column."""
    names = tree.named_selects
    return [dict(zip(names, row, strict=True)) for row in tables.rows(tree)]


def find_people(tables: Tables, bound: Bound, release: Release) -> Row:
    """Locate people in one release and create its tables of spots; return its counts.

    A spot is the set of classes that contain somebody's values. The tables that remain are
    ``whereabouts_r`` (point, spot, classes), ``spot_secrets_r`` and ``spot_sizes_r``.
    """
    r, numbers = release.number, [g.raw.number for g, _ in release.cells]
    tables = tables.doing("reading releases", release.title)
    read_release(tables, release)
    points, pairs = f"points_{r}", f"found_{r}"
    tables.make(points, splice("cells/points", places=numbers, tables={"coded": "points"}))
    tables = tables.doing("locating people", release.title)
    locate(tables, Located(r, tuple(g for g, _ in release.cells)))
    tables.make("reached", template("reached", points=points, found=pairs))
    tables.make("spots", template("spots"))
    results = ("whereabouts", "spot_secrets", "spot_sizes")
    read = ("classes", "class_secrets", "suppressed_secrets")
    names = {name: f"{name}_{r}" for name in (*results, *read)}
    places = {"release_points": points}
    whereabouts = splice("compose/whereabouts", places=numbers, tables=places)
    tables.make(names["whereabouts"], whereabouts)
    (extent,) = rows(tables, template("extent", **names))
    candidates = dict(names)  # tables of the records that may be a person's
    if bound.spec.suppressed == "out":
        nobody = exp.select("*").from_(names["suppressed_secrets"]).where("FALSE")
        tables.make("nobody", nobody)
        candidates["suppressed_secrets"] = "nobody"
    tables.make(names["spot_secrets"], template("spot_secrets", **candidates))
    tables.make(names["spot_sizes"], template("spot_sizes", **names))
    (finding,) = rows(tables, template("finding", **names))
    tables.drop("reached", "spots", points, pairs, "nobody", *(names[name] for name in read))
    for g, _ in release.cells:
        tables.drop(g.names["spans"], g.names["members"])
    return extent | finding


def intersect_releases(
    tables: Tables, bound: Bound, findings: list[Row], levels: exp.Query, *, every: bool
) -> Crossed:
    """Intersect release by release; ``every``: count after each, not only after the last.

    ``levels`` are those of confidence. The tables that remain are ``at_r`` (point, and alike: the
    number of its combination of spots) and ``told_r`` of the last release, and ``guesses``.
    """
    last = len(bound.releases)
    crossed = Crossed(findings, bayes=_is_exact(tables, bound))
    tables = tables.doing("intersecting", bound.people.name)
    tables.make("levels", levels)
    summed = exp.select("point", "0::BIGINT AS alike", "sum(people)::BIGINT AS people")
    tables.make("at_0", summed.from_("crowd").group_by("point"))
    tables.make("told_0", template("told_first"))
    for i in range(1, last + 1):
        names = _table_names(i)
        _intersect_next(tables, names, first=i == 1, bayes=crossed.bayes)
        if i == last:
            tables.make("guesses", template("guesses", **names))
        if i == last or every:
            truth = i == last and bound.truth is not None
            crossed.steps.append(_count_step(tables, names, truth=truth, bayes=crossed.bayes))
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
    too large to be exact, all frequencies are 1.
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


def _count_step(tables: Tables, names: Mapping[str, str], *, truth: bool, bayes: bool) -> Step:
    """Return the counts of the releases so far; without ``bayes`` no chances of the best guess."""
    (summary,) = rows(tables, template("summary", **names))
    return Step(
        summary,
        tuple(rows(tables, template("by_release", **names))),
        tuple(rows(tables, template("chances", **names))) if bayes else (),
        tuple(rows(tables, template("curve", **names))),
        rows(tables, template("truths", **names))[0] if truth else None,
    )


def _is_exact(tables: Tables, bound: Bound) -> bool:
    """Return whether sums over people of products of frequencies are certainly exact.

    A sum is at most the product of the largest frequencies, times values of the secret and people;
    10^6 is the largest denominator of a level of confidence.
    """
    frequencies, values = [], []
    for release in bound.releases:
        sizes = exp.table_(f"spot_sizes_{release.number}")
        ((best, effective),) = tables.rows(exp.select("max(best)", "max(effective)").from_(sizes))
        frequencies.append(best or 1)  # NULL: a release without spots
        values.append(effective or 1)
    ((people,),) = tables.rows(exp.select("sum(people)::BIGINT").from_("crowd"))
    # The values that are left are in all releases: no more than the fewest.
    return bool(math.prod(frequencies) * min(values) * people * 10**6 < LIMIT)


def refuse_unlocated(bound: Bound, findings: list[Row]) -> None:
    """Refuse people in no class of a release, or in several."""
    for release, row in zip(bound.releases, findings, strict=True):
        lost, ambiguous = row["nowhere"] + row["only_suppressed"], row["in_several"]
        if lost or ambiguous:
            raise DatasetError(
                f"{bound.people.name} has {plural(lost, 'person')} in no class of {release.title} "
                f"and {plural(ambiguous, 'person')} in several: its cells have gaps or "
                "overlap; correct them, or allow this by leaving --strict out"
            )
