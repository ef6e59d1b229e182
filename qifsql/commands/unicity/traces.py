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
from qifsql.query.plan import Plan
from qifsql.query.splice import make_step, splice

MOST_SETS = 100_000_000  # sets of points that are compared, at most
MOST_SUSPECTS = 5_000_000_000  # people with the rarest point of a draw that are compared, at most
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Lengths:
    """Numbers of people by their number of points, and by the number of points that others have."""

    points: Mapping[int, int]
    shared: Mapping[int, int]

    def people(self, size: int) -> int:
        """Return the number of people with at least ``size`` points."""
        return sum(n for points, n in self.points.items() if points >= size)

    def sets(self, size: int) -> int:
        """Return the number of sets of ``size`` shared points, of all people, to be compared."""
        return sum(n * comb(shared, size) for shared, n in self.shared.items())


class Traces:
    """The log as tables in the engine: people, points, and the points of each person."""

    def __init__(self, engine: Engine, bound: BoundAttack) -> None:
        """Make the engine tables of traces: the points of each person, people, and paths."""
        self.tables = Tables(engine, "reading points", bound.microdata.dataset.name)
        self.bound = bound
        steps = tuple(microdata_steps.steps(bound.microdata, key=True))
        self.tables.make(
            "traces", microdata_steps.plan(bound.microdata, steps, self._query("traces"))
        )
        for name in ("places", "people", "paths"):
            self.tables.make(name, self._query(name))

    def lengths(self) -> Lengths:
        """Count the people by their number of points, and by that of points that others have."""
        rows = self.tables.answer(self._query("lengths"), "counting points")
        return Lengths(
            {int(points): int(n) for points, _, n in rows if points is not None},
            {int(shared): int(n) for _, shared, n in rows if shared is not None},
        )

    def unique_share(self, size: int) -> float:
        """Return the share of a person's sets of ``size`` points that nobody else has, on average.

        It is a mean over all people with at least ``size`` points.
        """
        shape = {"size": size}
        steps = make_step("unicity/single", shape=shape), make_step("unicity/chances", shape=shape)
        rows = self.tables.answer(Plan(steps, self._query("alone")), f"comparing sets of {size}")
        # A row: number of points, people with so many, and how many of their sets are unique.
        shares = fsum(int(unique) / comb(int(points), size) for points, _, unique in rows)
        return shares / sum(int(people) for _, people, _ in rows)

    def draw_unique(self, size: int, *, draws: int, seed: int) -> int:
        """Draw people, and ``size`` points of each; return for how many nobody else has these."""
        numbers = {"wanted_seed": seed, "wanted_points": size, "wanted_draws": draws}
        self.tables.make("asked", splice("unicity/asked", numbers=numbers))
        for name in ("eligible", "drawn", "picked", "rarest"):
            self.tables.make(name, self._query(name))
        ((suspects,),) = self.tables.answer(self._query("suspects"), "drawing")
        if suspects > MOST_SUSPECTS:
            raise InputError(
                f"{draws:,} draws of {size} points would look at {suspects:,} people who share "
                "one; make fewer --draws, or less coarse points"
            )
        query = splice("unicity/hidden", shape={"size": size})
        ((hidden,),) = self.tables.answer(query, f"drawing {size} points")  # somebody else has them
        self.tables.drop("asked", "eligible", "drawn", "picked", "rarest")
        return draws - int(hidden)

    def _query(self, name: str) -> exp.Select:
        return splice(f"unicity/{name}", width=len(self.bound.microdata.qids))


def wilson_interval(right: int, draws: int) -> tuple[float, float]:
    """Return the interval of the share ``right / draws`` at 95 % confidence, in [0, 1].

    It is Wilson's with a correction for continuity (Newcombe 1998, method 4). It contains every
    share in at least 94.5 % of samples; without the correction, shares near 0 or 1 in only 84 %.
    """
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)

    def low(right: int) -> float:
        if not right:
            return 0.0
        wrong = draws - right
        root = math.sqrt(z * z - 2 - 1 / draws + 4 * right * (wrong + 1) / draws)
        return max(0.0, (2 * right + z * z - 1 - z * root) / (2 * (draws + z * z)))

    return low(right), 1 - low(draws - right)
