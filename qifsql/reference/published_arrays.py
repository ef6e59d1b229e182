"""All arrays of counts that agree with published tables, one by one, in exact fractions.

Written from the definitions alone: a dataset is an array of non-negative whole counts over all
combinations of values; it is consistent if each of its margins is a count that the protections of a
table may print as the published one. Attributes are told by their numbers, values are anything that
can be hashed. Source: M89 to M104; Dobra and Fienberg 2000.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import chain, permutations, product
from typing import Any, NamedTuple

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
Marks = Mapping[Cell, int | None]  # published cells, None where the count is hidden


class TooManyError(Exception):
    """More consistent datasets than are worth looking at."""


@dataclass(frozen=True)
class Table:
    """A published table of some attributes.

    ``kind`` is exact, suppress, suppress zeros, round, round random, round positive, round random
    positive, noise or atleast; or a whole protection as users write it, suppress<5+round:5.
    """

    dims: Dims
    kind: str = "exact"
    number: int = 0

    @property
    def steps(self) -> list[tuple[str, int]]:
        """Return the protections that are applied one after the other, each with its number."""
        parts = [re.split("[<:]", part.strip()) for part in self.protection.split("+")]
        texts = [(name, *words[0].split(" ", 1)) for name, *words in parts if words]
        return [(" ".join((name, *variant)), int(n)) for name, n, *variant in texts]

    @property
    def drawn(self) -> bool:
        """Return whether chance decides what is published."""
        return any("random" in kind or kind == "noise" for kind, _ in self.steps)

    @property
    def protection(self) -> str:
        """Return the protection as users write it."""
        if self.number == 0 or self.kind == "exact":
            return self.kind
        name, *variant = self.kind.split()
        return " ".join([f"{name}{'<' if name == 'suppress' else ':'}{self.number}", *variant])


# What is published, and what it says.


def printed(kind: str, k: int, n: int) -> list[int | None]:
    """Return what one protection may print for a count, None: hidden."""
    if kind == "suppress":
        return [None if 0 < n < k else n]
    if kind == "suppress zeros":
        return [None if n < k else n]
    if kind == "round":  # half up
        return [k * math.floor(Fraction(n, k) + Fraction(1, 2))]
    if kind == "round random":
        return [m for m in range(0, n + k, k) if abs(n - m) < k]
    if kind.endswith("positive"):  # a count above 0 is at least the base
        rounded = printed(kind.removesuffix(" positive"), k, n)
        return list(dict.fromkeys(max(k, m or 0) if n else m for m in rounded))
    if kind == "noise":
        return [m for m in range(n + k + 1) if abs(n - m) <= k]
    return [min(n, k)]  # atleast


def choices(table: Table, n: int) -> list[int | None]:
    """Return what may be published for a count, None: hidden. It is one thing unless drawn."""
    return list(_choices(table, n))


@cache
def _choices(table: Table, n: int) -> tuple[int | None, ...]:
    marks: list[int | None] = [n]
    for kind, k in table.steps:
        further = ([None] if m is None else printed(kind, k, m) for m in marks)
        marks = list(dict.fromkeys(chain.from_iterable(further)))
    return tuple(marks)


def publish(people: Sequence[Cell], table: Table) -> dict[Cell, int | None]:
    """Return a table as its custodian makes it, for all combinations of values that occur."""
    truth = count(people, table.dims)
    values = domains(people)
    marks = {}
    for cell in product(*(values[i] for i in table.dims)):
        (marks[cell],) = choices(table, truth[cell])
    return marks


def meanings(table: Table, mark: int | None) -> list[int]:
    """Return the counts that may be published so; of "k or more" the first ones."""
    farthest = (mark or 0) + 2 * sum(k for _, k in table.steps) + 1
    return [n for n in range(farthest + 1) if mark in _choices(table, n)]


@cache
def interval(table: Table, mark: int | None) -> Interval:
    """Return the least and the largest count that a published cell may stand for."""
    counts = meanings(table, mark)
    if not counts:  # nothing is published so: a combination that is not listed, as 0
        return mark or 0, mark or 0
    is_open = any(kind == "atleast" and mark == k for kind, k in table.steps)
    return counts[0], math.inf if is_open else counts[-1]


# All datasets that agree with the tables.


@dataclass(frozen=True)
class Problem:
    """The adversary's information: the attributes' values, the number of people, tables.

    A combination that a table does not list is a published 0. ``possible`` are the combinations of
    some attributes that can occur at all.
    """

    values: tuple[Cell, ...]
    people: int
    tables: tuple[tuple[Table, Marks], ...]
    possible: tuple[tuple[Dims, frozenset[Cell]], ...] = ()

    @property
    def everything(self) -> Dims:
        """Return all attributes."""
        return tuple(range(len(self.values)))

    @property
    def cells(self) -> list[Cell]:
        """Return all combinations of values."""
        return list(product(*self.values))

    def combinations(self, dims: Dims) -> list[Cell]:
        """Return all combinations of the values of some attributes."""
        return list(product(*(self.values[i] for i in dims)))

    def intervals(self) -> list[tuple[Dims, dict[Cell, Interval]]]:
        """Return for each table the interval of each combination, listed or not."""
        return [
            (
                table.dims,
                {c: interval(table, marks.get(c, 0)) for c in self.combinations(table.dims)},
            )
            for table, marks in self.tables
        ]


class Sum(NamedTuple):
    """A sum of counts that is told: the places of its cells in the problem, and its limits."""

    places: list[int]
    least: int
    largest: float


def told_sums(problem: Problem) -> list[Sum]:
    """Return the sums of cells: all people, each published combination, what cannot occur (0)."""
    cells = problem.cells
    sums = [Sum(list(range(len(cells))), problem.people, problem.people)]
    for dims, ends_of_cells in problem.intervals():
        for combination, (least, largest) in ends_of_cells.items():
            places = [i for i, c in enumerate(cells) if of(c, dims) == combination]
            sums.append(Sum(places, least, largest))
    for dims, allowed in problem.possible:
        sums.append(Sum([i for i, c in enumerate(cells) if of(c, dims) not in allowed], 0, 0))
    return [total for total in sums if total.places]


def consistent(problem: Problem, limit: int = 10**5) -> list[Array]:
    """Return all arrays that agree with the tables, arrays cell after cell.

    A value is tried if no sum that the cell is in gets too large, and if no sum that it is the last
    cell of stays too small.
    """
    sums, n_cells = told_sums(problem), len(problem.cells)
    # Of each cell, the numbers of the sums that it is in.
    sums_of = [[j for j, s in enumerate(sums) if i in s.places] for i in range(n_cells)]
    so_far = [0] * len(sums)  # of each sum, what the cells before add up to
    array = [0] * n_cells
    arrays: list[Array] = []
    steps = 0

    def fill(i: int) -> None:
        """Try each count in cell ``i`` that the sums allow, and fill the cells after it."""
        nonlocal steps
        steps += 1
        if len(arrays) > limit or steps > 20 * limit:
            raise TooManyError
        if i == n_cells:
            arrays.append(tuple(array))
            return
        largest = min(sums[j].largest - so_far[j] for j in sums_of[i])
        last_of = [j for j in sums_of[i] if sums[j].places[-1] == i]
        least = max([0, *(sums[j].least - so_far[j] for j in last_of)])
        for n in range(least, int(largest) + 1):
            array[i] = n
            for j in sums_of[i]:
                so_far[j] += n
            fill(i + 1)
            for j in sums_of[i]:
                so_far[j] -= n

    fill(0)
    return arrays


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
    for block, tied in guesses(means).items():
        best = means[tied[0]]
        if any(0 < best - m < within for c, m in means.items() if c[:-1] == block):
            return True
    return False


def of_records(people: Sequence[Cell], knowledge: Dims, secret: int | None) -> dict[str, Any]:
    """Return what the records tell without the tables: people, prior, success of the best guess."""
    n = len(people)
    counts = count(people, knowledge if secret is None else (*knowledge, secret))
    usual = 1 if secret is None else max(count(people, (secret,)).values())
    best = vulnerability(counts, n, secret=secret is not None)
    return {"people": n, "prior": Fraction(usual, n), "records": best}


def row(
    problem: Problem,
    arrays: Sequence[Array],
    knowledge: Dims,
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
    groups = bounds(problem, arrays, knowledge)
    scope = knowledge if secret is None else (*knowledge, secret)
    per_array = [
        vulnerability(margin(problem, x, scope), n, secret=secret is not None) for x in arrays
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
        pairs = bounds(problem, arrays, scope)
        answer["certain_inference"] = sum(
            low
            for k, (low, _) in groups.items()
            if sum(pairs[*k, v][1] > 0 for v in problem.values[secret]) == 1
        )
        means = expected(problem, arrays, scope)
        answer["believed"] = vulnerability(means, n, secret=True)
    if people is not None:
        answer |= of_records(people, knowledge, secret)
        if secret is not None:
            truth = {**dict.fromkeys(problem.combinations(scope), 0), **count(people, scope)}
            answer["actual"] = success(guesses(means), truth) / n
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
    order = running_intersection([frozenset(s) for s in sets])
    if order is None:
        return None
    return published_tables.closed_form(people, order)
