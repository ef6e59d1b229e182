"""Integer programs whose answers are proved in whole numbers.

The simplex method of HiGHS finds a solution and multipliers of the rows in floating point. Neither
is trusted. A solution counts once it is rounded and satisfies every row. Multipliers give a bound
whatever they are; it is computed in whole numbers. Where the two differ, a fractional column is
split into two branches.

Source: M92; Neumaier and Shcherbina 2004.
"""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

LIBRARY = "highspy"
SCALE = 2**30  # multipliers are rounded to parts of 1 / SCALE
MOST_NODES = 200  # branches that are looked at before only a bound is returned
NEARLY_WHOLE = 1e-6  # a number at most this far from a whole one is taken for it
PRIMAL, DUAL = 4, 1  # strategies of the simplex method

Array = tuple[int, ...]
Limits = Mapping[int, tuple[int, int]]
"""The bounds of columns in a branch of the search, by their place among those that are free."""


@dataclass(frozen=True)
class Row:
    """A condition: columns, each times a factor, add up to a number from lower to upper."""

    columns: Sequence[int]
    factors: Sequence[int]
    lower: int
    upper: int


@dataclass(frozen=True)
class Least:
    """The least value of a goal: at least ``bound``; ``attained`` by a solution (None: unknown)."""

    bound: int
    attained: int | None
    solution: Array | None

    @property
    def sharp(self) -> bool:
        """Return whether the bound is attained."""
        return self.bound == self.attained


@dataclass(frozen=True)
class _Node:
    """A bound of the goal in a part of the search, and its two branches or its best solution."""

    bound: int
    branches: Sequence[Limits] = ()
    solution: Array | None = None


class InfeasibleError(Exception):
    """No whole numbers satisfy all rows."""


class OpenError(Exception):
    """The time is over, or a solution was not found."""


def available() -> bool:
    """Return whether the library is installed."""
    return find_spec(LIBRARY) is not None


@dataclass
class _Best:
    """The least value of a goal so far, and its solution unless the value was at hand before."""

    value: int | None
    solution: Array | None = None

    def excludes(self, bound: int) -> bool:
        """Return whether a branch whose values are at least ``bound`` has nothing better."""
        return self.value is not None and bound >= self.value

    def improve(self, value: int, solution: Array) -> None:
        """Take a solution if it is better."""
        if self.value is None or value < self.value:
            self.value, self.solution = value, solution


class Program:
    """Columns of whole numbers with bounds, and rows.

    ``free`` are the columns whose bounds differ. The simplex method sees only these, by their
    places in ``free``, and ``_open_rows``, the rows over them that do not always hold.
    """

    def __init__(
        self, bounds: Sequence[tuple[int, int]], rows: Sequence[Row], deadline: float
    ) -> None:
        """Set up a program; ``bounds`` are of columns, ``deadline`` is of ``time.monotonic``."""
        self.bounds, self.rows, self.deadline = list(bounds), list(rows), deadline
        self.free = [j for j, (lower, upper) in enumerate(bounds) if lower < upper]
        self._place_of_free = {j: k for k, j in enumerate(self.free)}
        self._open_rows = [row for row in map(self._open_row, rows) if row is not None]
        self._model: Any = None  # that of the library, once it is needed
        self._limited: list[int] = []  # places whose bounds the last branch changed in the model

    def extended(self, bounds: Sequence[tuple[int, int]], rows: Sequence[Row]) -> "Program":
        """Return a program with further columns and rows."""
        return Program([*self.bounds, *bounds], [*self.rows, *rows], self.deadline)

    def _open_row(self, row: Row) -> Row | None:
        """Return a row over the free columns, by place; None if it holds for all their values."""
        columns, factors = [], []
        lower, upper = row.lower, row.upper
        lowest, highest = 0, 0  # of the sum of the free columns, within their bounds
        for j, a in zip(row.columns, row.factors, strict=True):
            low, high = self.bounds[j]
            if low == high:  # a fixed column is a constant: it moves to the other side
                lower, upper = lower - a * low, upper - a * low
                continue
            columns.append(self._place_of_free[j])
            factors.append(a)
            lowest += min(a * low, a * high)
            highest += max(a * low, a * high)
        if lower > highest or upper < lowest:
            raise InfeasibleError
        if lower <= lowest and highest <= upper:
            return None
        return Row(columns, factors, max(lower, lowest), min(upper, highest))

    def holds(self, array: Array) -> bool:
        """Return whether whole numbers, one per column, satisfy all bounds and rows."""
        if not all(low <= n <= high for n, (low, high) in zip(array, self.bounds, strict=True)):
            return False
        sums = [
            sum(a * array[j] for j, a in zip(row.columns, row.factors, strict=True))
            for row in self.rows
        ]
        return all(row.lower <= n <= row.upper for n, row in zip(sums, self.rows, strict=True))

    def minimise(
        self,
        goal: Mapping[int, int],
        attained: int | None = None,
        *,
        nodes: int = MOST_NODES,
        first: bool = False,
    ) -> Least:
        """Return the least value of a goal, a sum of columns times factors, by branch and bound.

        ``goal`` has the factor of each column. ``attained`` is the value of a solution that is at
        hand. At most so many ``nodes`` are looked at; ``first``: stop at the first solution. Raises
        InfeasibleError if there is none, and OpenError if the time is over.
        """
        costs = [goal.get(j, 0) for j in self.free]  # of the free columns, by place
        fixed = goal.keys() - self._place_of_free.keys()
        constant = sum(goal[j] * self.bounds[j][0] for j in fixed)  # what fixed columns contribute
        box = [self.bounds[j] for j in self.free]
        # No solution is below this: each column at its better end, as if there were no rows.
        floor = sum(min(c * low, c * high) for c, (low, high) in zip(costs, box, strict=True))
        best = _Best(None if attained is None else attained - constant)
        stack: list[tuple[Limits, int]] = [({}, floor)]  # branches, and a lower bound of each
        open_bounds: list[int] = []  # lower bounds of branches that are not settled
        looks = 0
        while stack:
            limits, floor = stack.pop()
            if best.excludes(floor):
                continue
            if looks == nodes or (first and best.solution is not None):
                open_bounds.append(floor)  # this branch is not looked at, only bounded
                continue
            looks += 1
            node = self._make_node(costs, limits)
            if node is None or best.excludes(node.bound):
                continue
            bound = max(node.bound, floor)
            stack += [(branch, bound) for branch in node.branches]
            point = node.solution
            if point is None:
                if not node.branches:  # no whole point is known: the branch stays open
                    open_bounds.append(bound)
                continue
            value = sum(c * point[j] for c, j in zip(costs, self.free, strict=True) if c)
            best.improve(value, point)
            if bound < value:  # the branch may have a better point than this one
                open_bounds.append(bound)
        if best.value is None:
            if not open_bounds:  # every branch was proved to have no solution
                raise InfeasibleError
            return Least(min(open_bounds) + constant, None, None)
        least = min([*open_bounds, best.value])
        return Least(least + constant, best.value + constant, best.solution)

    def _make_node(self, costs: Sequence[int], limits: Limits) -> _Node | None:
        """Solve the part of the search within ``limits``; None: proved to have no solution.

        A node with neither branches nor a solution stays open: no whole point is known in it.
        """
        relaxed = self._relax(costs, limits)
        if relaxed is None:
            return None
        bound, point = relaxed
        if point is None:
            return _Node(bound)
        fractions = [abs(value - round(value)) for value in point]
        largest = max(fractions, default=0.0)
        if largest > NEARLY_WHOLE:
            k = fractions.index(largest)  # the column furthest from a whole number is split
            low, high = limits.get(k, self.bounds[self.free[k]])
            below = {**limits, k: (low, math.floor(point[k]))}
            above = {**limits, k: (math.floor(point[k]) + 1, high)}
            # the nearer branch is the last one, which is looked at first
            return _Node(bound, [below, above] if point[k] % 1 > 0.5 else [above, below])
        array = [low for low, _ in self.bounds]  # fixed columns have no other value
        for j, value in zip(self.free, point, strict=True):
            array[j] = round(value)
        return _Node(bound, (), tuple(array) if self.holds(tuple(array)) else None)

    def _relax(
        self, costs: Sequence[int], limits: Limits
    ) -> tuple[int, Sequence[float] | None] | None:
        """Return a lower bound of the goal within limits, and the best point, maybe of fractions.

        The point has the value of each free column; None: it is not known. Return None in place of
        the pair if it is proved that no point exists. Raises OpenError if the time is over.
        """
        remaining = self.deadline - time.monotonic()
        if remaining <= 0:
            raise OpenError
        if not self._open_rows:  # each free column is at one of its ends
            box = [limits.get(k, self.bounds[j]) for k, j in enumerate(self.free)]
            ends = zip(costs, box, strict=True)
            corner = [float(high if c < 0 else low) for c, (low, high) in ends]
            return self._proved_bound(costs, limits, []), corner
        import highspy

        model = self._run_simplex(costs, limits, remaining)
        status = model.getModelStatus()
        if status == highspy.HighsModelStatus.kTimeLimit:
            raise OpenError
        if status == highspy.HighsModelStatus.kOptimal:
            solution = model.getSolution()
            return self._proved_bound(costs, limits, solution.row_dual), solution.col_value
        if status == highspy.HighsModelStatus.kInfeasible and self._is_refuted(limits):
            return None
        return self._proved_bound(costs, limits, [0.0] * len(self._open_rows)), None

    def _run_simplex(self, costs: Sequence[int], limits: Limits, remaining: float) -> Any:
        """Run the simplex method within limits, from the last basis; return the library's model."""
        model = self._model or self._load_model()
        model.changeColsCost(len(costs), list(range(len(costs))), [float(c) for c in costs])
        changed = sorted({*self._limited, *limits})  # those of the branch before are reset
        if changed:
            box = [limits.get(k, self.bounds[self.free[k]]) for k in changed]
            lows, highs = [float(low) for low, _ in box], [float(high) for _, high in box]
            model.changeColsBounds(len(changed), changed, lows, highs)
        self._limited = list(limits)
        model.setOptionValue("simplex_strategy", DUAL if limits else PRIMAL)
        model.setOptionValue("time_limit", model.getRunTime() + remaining)
        model.run()
        return model

    def _load_model(self) -> Any:
        """Return the program as a model of HiGHS, with costs 0."""
        import highspy
        from highspy import _core

        model = _core._Highs()  # the class around it prints a banner
        options: dict[str, Any] = {"output_flag": False, "presolve": "off", "solver": "simplex"}
        for name, value in (options | {"threads": 1, "random_seed": 0}).items():
            model.setOptionValue(name, value)
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = len(self.free), len(self._open_rows)
        program.col_cost_ = [0.0] * len(self.free)
        program.col_lower_ = [float(self.bounds[j][0]) for j in self.free]
        program.col_upper_ = [float(self.bounds[j][1]) for j in self.free]
        program.row_lower_ = [float(row.lower) for row in self._open_rows]
        program.row_upper_ = [float(row.upper) for row in self._open_rows]
        starts = [0]
        for row in self._open_rows:
            starts.append(starts[-1] + len(row.columns))
        matrix = program.a_matrix_
        matrix.format_ = highspy.MatrixFormat.kRowwise
        matrix.start_ = starts
        matrix.index_ = [k for row in self._open_rows for k in row.columns]
        matrix.value_ = [float(a) for row in self._open_rows for a in row.factors]
        model.passModel(program)
        self._model = model
        return model

    def _proved_bound(
        self, costs: Sequence[int], limits: Limits, multipliers: Sequence[float]
    ) -> int:
        """Return a lower bound of the goal in whole numbers, true whatever the multipliers are.

        The goal is a whole number, so the bound is rounded up.
        """
        return -(-self._scaled_bound(costs, limits, multipliers) // SCALE)

    def _scaled_bound(
        self, costs: Sequence[int], limits: Limits, multipliers: Sequence[float]
    ) -> int:
        """Return the bound of the goal that the multipliers of rows prove, times ``SCALE``.

        This is the Lagrangean bound. A row times its multiplier y is taken off the costs, and adds
        y times its lower end (upper, if y is below 0) to the bound, which is the least that the row
        can contribute. What remains of the cost of a column is added at the end where it is least.
        """
        reduced = [c * SCALE for c in costs]  # the costs that remain, by place
        total = 0
        for row, y in zip(self._open_rows, multipliers, strict=False):
            factor = round(y * SCALE) if math.isfinite(y) else 0
            if not factor:
                continue
            total += factor * (row.lower if factor > 0 else row.upper)
            for k, a in zip(row.columns, row.factors, strict=True):
                reduced[k] -= a * factor
        for k, cost in enumerate(reduced):
            if cost:
                low, high = limits.get(k) or self.bounds[self.free[k]]
                total += cost * (low if cost > 0 else high)
        return total

    def _is_refuted(self, limits: Limits) -> bool:
        """Return whether the library's dual ray proves, exactly, that there is no point.

        A ray has a multiplier for each row. It is a proof (Farkas) if the goal 0 has a bound above
        0 with them, or with their opposites, as the sign of a ray is a convention of the library.
        """
        _, present, ray = self._model.getDualRay()
        if not present:  # only the dual simplex method ends with a ray
            self._model.clearSolver()
            self._model.setOptionValue("simplex_strategy", DUAL)
            self._model.run()
            _, present, ray = self._model.getDualRay()
        largest = max(map(abs, ray), default=0.0) if present else 0.0
        if not largest or not math.isfinite(largest):
            return False
        nothing = [0] * len(self.free)
        rays = [[sign * float(y) / largest for y in ray] for sign in (1, -1)]
        return any(self._scaled_bound(nothing, limits, unit) > 0 for unit in rays)
