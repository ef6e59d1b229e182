"""A slow, exact oracle for published tables: every consistent dataset, one by one, in fractions.

Written from the definitions alone: a dataset is an array of non-negative whole counts over all
combinations of values; it is consistent if each of its margins lies in the interval that a
published cell stands for. The closed forms are those of Dobra and Fienberg (PNAS 2000). Attributes
are told by their numbers, values are anything that can be hashed.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from typing import Any

from qifsql.reference import published_tables
from qifsql.reference.published_tables import (
    Cell,
    ClosedForm,
    Dims,
    count,
    domains,
    guesses,
    of,
    success,
)

Interval = tuple[int, float]  # the upper end may be infinite
Array = tuple[int, ...]  # one count for each cell of the problem, in its order
Told = Mapping[Cell, int | None]  # published cells, None where the count is hidden


class TooManyError(Exception):
    """More consistent datasets than are worth looking at."""


@dataclass(frozen=True)
class Table:
    """A published table of some attributes.

    ``kind`` is exact, suppress, suppress zeros, round, round random, noise or atleast.
    """

    dims: Dims
    kind: str = "exact"
    number: int = 0

    @property
    def drawn(self) -> bool:
        """Return whether chance decides what is published."""
        return self.kind in {"round random", "noise"}

    @property
    def protection(self) -> str:
        """Return the protection as users write it."""
        if self.kind == "exact":
            return "exact"
        name, *variant = self.kind.split()
        return " ".join([f"{name}{'<' if name == 'suppress' else ':'}{self.number}", *variant])


# What is published, and what it says.


def choices(table: Table, n: int) -> list[int | None]:
    """Return what may be published for a count, None: hidden. It is one thing unless drawn."""
    k = table.number
    if table.kind == "suppress":
        return [None if 0 < n < k else n]
    if table.kind == "suppress zeros":
        return [None if n < k else n]
    if table.kind == "round":  # half up
        return [k * math.floor(Fraction(n, k) + Fraction(1, 2))]
    if table.kind == "round random":
        return [m for m in range(0, n + k, k) if abs(n - m) < k]
    if table.kind == "noise":
        return [m for m in range(n + k + 1) if abs(n - m) <= k]
    if table.kind == "atleast":
        return [min(n, k)]
    return [n]


def publish(people: Sequence[Cell], table: Table) -> dict[Cell, int | None]:
    """Return a table as its custodian makes it, for all combinations of values that occur."""
    truth = count(people, table.dims)
    values = domains(people)
    told = {}
    for cell in product(*(values[i] for i in table.dims)):
        (told[cell],) = choices(table, truth[cell])
    return told


def interval(table: Table, told: int | None) -> Interval:
    """Return the counts that a published cell may stand for."""
    k = table.number
    if told is None:
        return (0 if table.kind == "suppress zeros" else 1), k - 1
    if table.kind == "round":
        return max(0, told - math.floor(k / 2)), told + math.ceil(k / 2) - 1
    if table.kind == "round random":
        return max(0, told - k + 1), told + k - 1
    if table.kind == "noise":
        return max(0, told - k), told + k
    if table.kind == "atleast" and told >= k:
        return k, math.inf
    return told, told


# All datasets that agree with the tables.


@dataclass(frozen=True)
class Problem:
    """The adversary's information: the attributes' values, the number of people, tables.

    A combination that a table does not list is a published 0. ``possible`` are the combinations of
    some attributes that can occur at all.
    """

    values: tuple[Cell, ...]
    people: int
    tables: tuple[tuple[Table, Told], ...]
    possible: tuple[tuple[Dims, frozenset[Cell]], ...] = ()

    @property
    def everything(self) -> Dims:
        return tuple(range(len(self.values)))

    @property
    def cells(self) -> list[Cell]:
        """Return all combinations of values."""
        return list(product(*self.values))

    def combinations(self, dims: Dims) -> list[Cell]:
        return list(product(*(self.values[i] for i in dims)))

    def intervals(self) -> list[tuple[Dims, dict[Cell, Interval]]]:
        """Return for each table the interval of each combination, listed or not."""
        return [
            (
                table.dims,
                {c: interval(table, told.get(c, 0)) for c in self.combinations(table.dims)},
            )
            for table, told in self.tables
        ]


def consistent(problem: Problem, limit: int = 10**5) -> list[Array]:
    """Return all arrays that agree with the tables, found cell after cell.

    A value is tried if no sum that the cell is in gets too large, and if no sum that it is the last
    cell of stays too small.
    """
    cells = problem.cells
    sums: list[tuple[list[int], Interval]] = [
        (list(range(len(cells))), (problem.people, problem.people))
    ]
    for dims, wanted in problem.intervals():
        for combination, ends in wanted.items():
            sums.append(([i for i, c in enumerate(cells) if of(c, dims) == combination], ends))
    for dims, allowed in problem.possible:
        sums.append(([i for i, c in enumerate(cells) if of(c, dims) not in allowed], (0, 0)))
    sums = [(members, ends) for members, ends in sums if members]
    touched = [
        [j for j, (members, _) in enumerate(sums) if i in members] for i in range(len(cells))
    ]
    so_far = [0] * len(sums)
    array = [0] * len(cells)
    found: list[Array] = []
    steps = 0

    def go(i: int) -> None:
        nonlocal steps
        steps += 1
        if len(found) > limit or steps > 20 * limit:
            raise TooManyError
        if i == len(cells):
            found.append(tuple(array))
            return
        largest = min(sums[j][1][1] - so_far[j] for j in touched[i])
        ended = [j for j in touched[i] if sums[j][0][-1] == i]
        least = max([0, *(sums[j][1][0] - so_far[j] for j in ended)])
        for n in range(least, int(largest) + 1):
            array[i] = n
            for j in touched[i]:
                so_far[j] += n
            go(i + 1)
            for j in touched[i]:
                so_far[j] -= n

    go(0)
    return found


def margin(problem: Problem, array: Array, dims: Dims) -> dict[Cell, int]:
    """Return the counts of an array for each combination of some attributes."""
    sums = dict.fromkeys(problem.combinations(dims), 0)
    for cell, n in zip(problem.cells, array, strict=True):
        sums[of(cell, dims)] += n
    return sums


def bounds(problem: Problem, arrays: Sequence[Array], dims: Dims) -> dict[Cell, tuple[int, int]]:
    """Return the least and the largest count of each combination over all arrays: sharp."""
    margins = [margin(problem, x, dims) for x in arrays]
    return {
        c: (min(m[c] for m in margins), max(m[c] for m in margins))
        for c in problem.combinations(dims)
    }


def ways(array: Array) -> int:
    """Return in how many ways people can have the lines of an array: N! / prod x_c!."""
    return math.factorial(sum(array)) // math.prod(math.factorial(n) for n in array)


def expected(problem: Problem, arrays: Sequence[Array], dims: Dims) -> dict[Cell, Fraction]:
    """Return mean counts where all assignments of people to lines are equally likely."""
    sums = dict.fromkeys(problem.combinations(dims), 0)
    for x in arrays:
        weight = ways(x)
        for cell, n in zip(problem.cells, x, strict=True):
            sums[of(cell, dims)] += weight * n
    everything = sum(map(ways, arrays))
    return {c: Fraction(n, everything) for c, n in sums.items()}


# What is reported.


def vulnerability(counts: Mapping[Cell, int | Fraction], people: int, *, secret: bool) -> Fraction:
    """Return the success of the best guess for one array: of the secret (last), or of who it is."""
    if not secret:
        return Fraction(sum(n > 0 for n in counts.values()), people)
    best: dict[Cell, int | Fraction] = {}
    for cell, n in counts.items():
        best[cell[:-1]] = max(n, best.get(cell[:-1], n))
    return Fraction(sum(best.values())) / people


def close_call(means: Mapping[Cell, Fraction], within: float = 1e-6) -> bool:
    """Return whether two guesses are nearly as good but not equally good."""
    for known, tied in guesses(means).items():
        most = means[tied[0]]
        if any(0 < most - m < within for c, m in means.items() if c[:-1] == known):
            return True
    return False


def row(
    problem: Problem,
    arrays: Sequence[Array],
    known: Dims,
    secret: int | None,
    people: Sequence[Cell] | None = None,
) -> dict[str, Any]:
    """Return what the tables tell who knows some attributes. ``people``: the records.

    Impossible combinations are no cells that tables could prove to be empty.
    """
    n = problem.people
    lines = {
        c: ends
        for c, ends in bounds(problem, arrays, problem.everything).items()
        if all(of(c, dims) in allowed for dims, allowed in problem.possible)
    }
    groups = bounds(problem, arrays, known)
    asked = known if secret is None else (*known, secret)
    per_array = [
        vulnerability(margin(problem, x, asked), n, secret=secret is not None) for x in arrays
    ]
    answer: dict[str, Any] = {
        "people": n,
        "reconstructed": sum(low for low, high in lines.values() if low == high),
        "reconstructed_ones": sum(low == high == 1 for low, high in lines.values()),
        "cells_proved": sum(low == high for low, high in lines.values()),
        "singled_out": sum(low == high == 1 for low, high in groups.values()),
        "certain_inference": None,
        "lowest": min(per_array),
        "highest": max(per_array),
        "actual": None,
        "prior": None,
        "records": None,
    }
    if secret is None:
        everything = sum(map(ways, arrays))
        mean = sum((v * ways(x) for v, x in zip(per_array, arrays, strict=True)), Fraction(0))
        answer["believed"] = mean / everything
        answer["prior"] = Fraction(1, n)
    else:
        pairs = bounds(problem, arrays, asked)
        answer["certain_inference"] = sum(
            low
            for k, (low, _) in groups.items()
            if sum(pairs[*k, v][1] > 0 for v in problem.values[secret]) == 1
        )
        means = expected(problem, arrays, asked)
        answer["believed"] = vulnerability(means, n, secret=True)
    if people is not None:
        truth = {**dict.fromkeys(problem.combinations(asked), 0), **count(people, asked)}
        answer["records"] = vulnerability(truth, n, secret=secret is not None)
        if secret is not None:
            answer["actual"] = success(guesses(means), truth) / n
            answer["prior"] = Fraction(max(count(people, (secret,)).values()), n)
    return answer


# Closed forms: exact tables whose attributes are a decomposable hypergraph.


def running_intersection(sets: Sequence[frozenset[int]]) -> list[tuple[Dims, Dims]] | None:
    """Return the largest sets in an order in which each meets all before it within one of them.

    Each with what it has in common with those. All orders are tried. None: there is no such order.
    """
    largest = [s for i, s in enumerate(sets) if not any(s < t for t in sets) and s not in sets[:i]]
    for order in permutations(largest):
        separators = [frozenset[int]()]
        for i in range(1, len(order)):
            separator = order[i] & frozenset().union(*order[:i])
            if not any(separator <= before for before in order[:i]):
                break
            separators.append(separator)
        else:
            return [
                (tuple(sorted(c)), tuple(sorted(s))) for c, s in zip(order, separators, strict=True)
            ]
    return None


def closed_form(people: Sequence[Cell], sets: Sequence[Dims]) -> ClosedForm | None:
    """Return the closed forms for exact tables of all attributes; None: not decomposable."""
    assert set().union(*sets) == set(range(len(domains(people))))
    order = running_intersection([frozenset(s) for s in sets])
    if order is None:
        return None
    return published_tables.closed_form(people, order)
