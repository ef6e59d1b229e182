"""The points of people in a log, and the share of unique sets of them: exact, or from draws."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from math import comb, fsum
from statistics import NormalDist

from sqlglot import exp

from qifsql.adversary.spec import BoundAttack
from qifsql.engine.protocol import Engine
from qifsql.engine.tables import Tables
from qifsql.errors import InputError
from qifsql.query import microdata_steps
from qifsql.query.columns import equal
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import splice

SUBSETS = 100_000_000  # sets of points that are compared, at most
SUSPECTS = 5_000_000_000  # people with the rarest point of a draw that are compared, at most
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Lengths:
    """Numbers of people by number of points, and by number of points shared with others."""

    points: Mapping[int, int]
    shared: Mapping[int, int]

    def people(self, size: int) -> int:
        """Return the number of people with at least ``size`` points."""
        return sum(n for points, n in self.points.items() if points >= size)

    def sets(self, size: int) -> int:
        """Return the number of sets of ``size`` shared points, of all people, to be compared."""
        return sum(n * comb(shared, size) for shared, n in self.shared.items())


class Trails:
    """The log as tables in the engine: people, points, and the points of each person."""

    def __init__(self, engine: Engine, bound: BoundAttack) -> None:
        self.tables = Tables(engine, "reading points", bound.microdata.dataset.name)
        self.bound = bound
        steps = tuple(microdata_steps.steps(bound.microdata, key=True))
        self.tables.make(
            "traces", microdata_steps.plan(bound.microdata, steps, self._query("traces"))
        )
        for name in ("places", "people", "paths"):
            self.tables.make(name, self._query(name))

    def lengths(self) -> Lengths:
        """Return the numbers of people by their number of points."""
        rows = self.tables.answer(self._query("lengths"), "counting points")
        return Lengths(
            {int(points): int(n) for points, _, n in rows if points is not None},
            {int(shared): int(n) for _, shared, n in rows if shared is not None},
        )

    def exact(self, size: int) -> float:
        """Return the mean over people of the share of their sets of points that nobody else has.

        SQL adds whole numbers; the division is done here.
        """
        plan = Plan((_single_sets(size), _person_sets(size)), self._query("alone"))
        rows = self.tables.answer(plan, f"comparing sets of {size}")
        shares = [(int(alone), comb(int(points), size)) for points, _, alone in rows]
        return fsum(alone / sets for alone, sets in shares) / sum(int(n) for _, n, _ in rows)

    def draw(self, size: int, *, draws: int, seed: int) -> int:
        """Return the number of draws in which only the person has the known points."""
        parameters = {"seed": exp.Literal.string(str(seed)), "points": exp.Literal.number(size)}
        parameters["draws"] = exp.Literal.number(draws)
        query = exp.select(*(exp.alias_(tree, name) for name, tree in parameters.items()))
        self.tables.make("asked", query)
        for name in ("eligible", "drawn", "picked", "rarest"):
            self.tables.make(name, self._query(name))
        ((suspects,),) = self.tables.answer(self._query("suspects"), "drawing")
        if suspects > SUSPECTS:
            raise InputError(
                f"{draws:,} draws of {size} points would look at {suspects:,} people who share "
                "one; make fewer --draws, or less coarse points"
            )
        ((hidden,),) = self.tables.answer(_count_hidden(size), f"drawing {size} points")
        self.tables.drop("asked", "eligible", "drawn", "picked", "rarest")
        return draws - int(hidden)

    def _query(self, name: str) -> exp.Select:
        return splice(f"unicity/{name}", width=len(self.bound.microdata.qids))


def _single_sets(size: int) -> Step:
    """Return the step with the sets of shared points that only one person has."""
    points = [exp.column("point", f"point_{i}") for i in range(1, size + 1)]
    query = exp.select(exp.alias_(exp.AnyValue(this=exp.column("person", "point_1")), "person"))
    query = query.from_(exp.alias_(_shared_points(), "point_1", table=True))
    for i in range(2, size + 1):
        name, before = f"point_{i}", f"point_{i - 1}"
        same = equal(exp.column("person", name), exp.column("person", before))
        later = exp.GT(this=exp.column("point", name), expression=exp.column("point", before))
        rows = exp.alias_(_shared_points(), name, table=True)
        query = query.join(rows, on=exp.and_(same, later))
    is_single = equal(exp.Count(this=exp.Star()), exp.Literal.number(1))
    doc = "One row per set of points that others have, too, but all of them only one person."
    return Step("single", doc, query.group_by(*points).having(is_single))


def _shared_points() -> exp.Subquery:
    return exp.select("person", "point").from_("paths").where("owners > 1").subquery()


def _count_hidden(size: int) -> exp.Select:
    """Return a query for the number of draws in which somebody else has all known points.

    Each other person with the rarest point is looked up among those with the other points.
    """
    query = exp.select(exp.Count(this=exp.Distinct(expressions=[exp.column("draw", "rarest")])))
    somebody_else = exp.NEQ(
        this=exp.column("person", "others"), expression=exp.column("person", "rarest")
    )
    query = query.from_("rarest").join(
        "paths AS others", on=exp.and_(_has_point("others", 1), somebody_else)
    )
    for i in range(2, size + 1):
        same = equal(exp.column("person", f"others_{i}"), exp.column("person", "others"))
        on = exp.and_(same, _has_point(f"others_{i}", i))
        query = query.join(exp.table_("paths", alias=f"others_{i}"), on=on, join_type="semi")
    return query


def _has_point(who: str, i: int) -> exp.Expr:
    """Return the condition that somebody has the known point of number ``i``."""
    point = exp.Bracket(
        this=exp.column("known", "rarest"), expressions=[exp.Literal.number(i)], offset=1
    )
    return equal(exp.column("point", who), point)


def _person_sets(size: int) -> Step:
    """Return the step with the number of sets of each person who has enough points."""
    columns = [
        exp.column("person"),
        exp.column("points"),
        exp.alias_(_binomial(exp.column("points"), size), "sets"),
        exp.alias_(_binomial(exp.column("shared"), size), "tested"),
    ]
    enough = exp.GTE(this=exp.column("points"), expression=exp.Literal.number(size))
    query = exp.select(*columns).from_("people").where(enough)
    doc = "One row per person with enough points: sets of points, and of shared points."
    return Step("chances", doc, query)


def _binomial(n: exp.Expr, size: int) -> exp.Expr:
    """Return the binomial coefficient (n, ``size``); each division leaves a whole number."""
    binomial: exp.Expr = exp.cast(exp.Literal.number(1), "HUGEINT")
    for i in range(size):
        less = exp.paren(exp.Sub(this=n.copy(), expression=exp.Literal.number(i)))
        product = exp.paren(exp.Mul(this=binomial, expression=less))
        binomial = exp.paren(exp.IntDiv(this=product, expression=exp.Literal.number(i + 1)))
    return binomial


def wilson_interval(right: int, draws: int) -> tuple[float, float]:
    """Return the interval of a share at 95 % confidence, in [0, 1].

    It is Wilson's with a correction for continuity (Newcombe 1998, method 4). It contains every
    share in at least 94.5 % of samples; without the correction, shares near 0 or 1 in only 84 %.
    """
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)

    def low(right: int) -> float:
        wrong = draws - right
        root = math.sqrt(z * z - 2 - 1 / draws + 4 * right * (wrong + 1) / draws)
        return max(0.0, (2 * right + z * z - 1 - z * root) / (2 * (draws + z * z)))

    return (low(right) if right else 0.0), (1 - low(draws - right) if right < draws else 1.0)
