"""The integer program of one component of tables, and the cells and counts in its terms.

The columns of the program are the cells of cliques that hold all tables. Cliques in a tree that
agree on what they share extend to whole counts of all attributes, so that the least count of a cell
is a sum over the cliques less a sum over what they share, and never below 0; the largest is the
smallest of its cliques.

Source: M92, M93, M96 to M99; Dobra and Fienberg 2000.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from qifsql.commands.tables.arrays import Cell
from qifsql.commands.tables.hypergraph import Edge, Link, join_tree
from qifsql.counting.integer_programs import Array, InfeasibleError, Least, OpenError, Program, Row

MOST_SOLUTIONS = 300  # that are remembered of a component
SPREAD_ROUNDS = 20  # in which several columns are moved at once

Columns = Sequence[int]


class Ends(NamedTuple):
    """The least and the largest value of a sum."""

    lower: int
    upper: int


@dataclass(frozen=True)
class System:
    """The cliques of a component, and its cells."""

    links: Sequence[Link]  # the cliques
    cells: Sequence[Sequence[tuple[Cell, int, int]]]  # of each clique, with lower and upper bound
    tables: Sequence[tuple[Edge, Cell, int, int]]  # cells of published tables, with both bounds


@dataclass(frozen=True)
class Count:
    """The count of a cell, by columns of a program, each of which is the count of a clique's cell.

    The cliques do not say the count, but its bounds: at most the count of each part ``inside`` a
    clique, at least the sum of these parts less that of the parts ``between`` cliques.
    """

    inside: Sequence[Columns]  # of each clique, the columns that add up to its part of the cell
    between: Sequence[Columns] = ()  # of each clique but the first, those of the values it shares

    def smallest(self, array: Array) -> int:
        """Return the least count that the cell can have if the columns are as in ``array``."""
        inside, between = map(chain.from_iterable, (self.inside, self.between))
        return max(0, people_in(inside, array) - people_in(between, array))

    def largest(self, array: Array) -> int:
        """Return the largest count that the cell can have if the columns are as in ``array``."""
        return min(people_in(columns, array) for columns in self.inside)

    @property
    def goal(self) -> dict[int, int]:
        """Return the least count, were it not cut at 0, as a linear goal: a factor per column."""
        goal = Counter(chain.from_iterable(self.inside))
        goal.subtract(chain.from_iterable(self.between))
        return goal


def people_in(columns: Iterable[int], array: Array) -> int:
    """Return the sum of some columns in a solution."""
    return sum(array[j] for j in columns)


class Component:
    """The integer program of a component, and solutions of it, the ``arrays``.

    A column is the count of a cell of a clique. A row is the sum of a published cell, or says that
    two cliques count the same people. ``people`` is the number of all people.
    """

    def __init__(self, system: System, people: int, deadline: float) -> None:
        """Build the integer program, and find a first solution, which ``arrays`` then holds.

        A column is the number of people of one cell of a clique (a set of attributes that published
        tables know together). A row says that the columns of a published cell add up to a number
        within its bounds, or that two cliques agree on the attributes that they share.

        Raises OpenError if none is found by the ``deadline``, InfeasibleError if there is none.
        """
        self.system, self.people = system, people
        self._margins: dict[Edge, dict[Cell, list[int]]] = {}  # columns, by attributes and cell
        self._first: list[int] = []  # the first column of each clique
        bounds: list[tuple[int, int]] = []  # of each column
        for cells in system.cells:
            self._first.append(len(bounds))
            bounds += [(lower, upper) for _, lower, upper in cells]
        rows = []
        self._bounds: dict[tuple[int, ...], tuple[int, int]] = {}  # of tables' cells, by columns
        for edge, cell, lower, upper in system.tables:
            columns = self.margin(edge).get(cell, [])  # those that add up to this cell
            self._bounds[tuple(columns)] = lower, upper
            rows.append(Row(columns, [1] * len(columns), lower, upper))
            for j in columns:  # no part of a cell has more people than the cell
                part_lower, part_upper = bounds[j]
                bounds[j] = (part_lower, min(part_upper, upper))
        self.program = Program(bounds, [*rows, *self._seams()], deadline)
        self.arrays: list[Array] = []
        self.remember(self.program.minimise({}, first=True))
        if not self.arrays:  # the deadline came first
            raise OpenError

    def margin(self, edge: Edge) -> dict[Cell, list[int]]:
        """Return by cell of the attributes ``edge`` the columns that add up to its count.

        They are columns of the first clique that has these attributes.
        """
        if edge not in self._margins:
            clique = next(i for i, link in enumerate(self.system.links) if edge <= link.edge)
            self._margins[edge] = self._columns_inside(clique, edge)
        return self._margins[edge]

    def _columns_inside(self, clique: int, edge: Edge) -> dict[Cell, list[int]]:
        """Return by cell of the attributes ``edge`` the columns of this clique that it contains."""
        clique_edge = self.system.links[clique].edge
        columns: dict[Cell, list[int]] = defaultdict(list)
        for j, (cell, _, _) in enumerate(self.system.cells[clique], self._first[clique]):
            columns[part_of_cell(cell, clique_edge, edge)].append(j)
        return dict(columns)

    def _seams(self) -> Iterator[Row]:
        """Yield a row per cell of the values that a clique shares with its parent.

        Both count the same people: the columns in the parent less those in the clique are 0.
        """
        for i, link in enumerate(self.system.links[1:], 1):
            in_parent = self._columns_inside(link.parent or 0, link.shared)
            in_clique = self._columns_inside(i, link.shared)
            for cell in sorted({*in_parent, *in_clique}):
                first, second = in_parent.get(cell, []), in_clique.get(cell, [])
                factors = [1] * len(first) + [-1] * len(second)
                yield Row([*first, *second], factors, lower=0, upper=0)

    def remember(self, answer: Least) -> None:
        """Add the solution of a program, if it found one, to ``arrays``, unless these are many.

        A program may have been extended by columns behind those of the cells: they are cut off.
        """
        if answer.solution is not None and len(self.arrays) < MOST_SOLUTIONS:
            self.arrays.append(answer.solution[: len(self.program.bounds)])

    def attain_bounds(self) -> None:
        """Add solutions to ``arrays`` in which many columns are at their bounds at once.

        A bound that a solution attains is sharp, and needs no program of its own to prove it.
        """
        for end, factor in ((0, 1), (1, -1)):  # make columns small, then large
            ends = [bounds[end] for bounds in self.program.bounds]
            for _ in range(SPREAD_ROUNDS):
                free = self.program.free
                away = [j for j in free if all(array[j] != ends[j] for array in self.arrays)]
                if not away:  # each column is at its end in some solution
                    break
                answer = self.program.minimise(dict.fromkeys(away, factor), first=True)
                self.remember(answer)
                solution = answer.solution
                if solution is None or all(solution[j] != ends[j] for j in away):
                    break  # no further bound is attained

    def ends(self, columns: Columns) -> Ends:
        """Return bounds of a sum of columns that hold, but need not be attained.

        They are the narrower of the sums of the columns' bounds, and those of the published cell
        that is made of the same columns, if there is one.
        """
        bounds = [self.program.bounds[j] for j in columns]
        lower, upper = self._bounds.get(tuple(columns), (0, self.people))
        lowest, highest = sum(low for low, _ in bounds), sum(high for _, high in bounds)
        return Ends(max(lower, lowest), min(upper, highest))

    def lower(self, count: Count) -> int:
        """Return the least count of a cell in any solution; OpenError: not proved in time."""
        attained = min(map(count.smallest, self.arrays))  # by a solution that is kept
        outer = sum(self.ends(c).lower for c in count.inside)
        outer -= sum(self.ends(c).upper for c in count.between)  # the least count is not below this
        if attained == max(0, outer):  # a solution has the outer bound: it is sharp
            return attained
        answer = self.program.minimise(count.goal, attained)
        self.remember(answer)
        # A goal of 0 or less is enough: counts are cut at 0, so that 0 is the least one.
        if not answer.sharp and (answer.attained is None or answer.attained > 0):
            raise OpenError
        return max(0, answer.bound)

    def upper(self, count: Count) -> int:
        """Return the largest count of a cell in any solution; OpenError: not proved in time.

        Programs minimise; so the goal is minus the count.
        """
        attained = max(map(count.largest, self.arrays))
        highest = min(self.ends(c).upper for c in count.inside)
        if attained == highest:  # a solution has the outer bound: it is sharp
            return highest
        goal, program = dict.fromkeys(count.inside[0], -1), self.program
        if len(count.inside) > 1:  # the count is a further column, at most the part in each clique
            top = len(program.bounds)
            goal = {top: -1}
            rows = [
                Row(
                    columns=[top, *columns],
                    factors=[1, *(-1 for _ in columns)],
                    lower=-self.people,
                    upper=0,
                )
                for columns in count.inside
            ]
            program = program.extended([(0, highest)], rows)
        answer = program.minimise(goal, -attained)
        self.remember(answer)
        if not answer.sharp:
            raise OpenError
        return -answer.bound

    def occurs(self, count: Count) -> bool:
        """Return whether a cell holds somebody in some solution; OpenError: not known in time."""
        return any(map(count.largest, self.arrays)) or self.upper(count) > 0

    def is_settled(self, columns: Columns) -> bool:
        """Return whether a sum of columns of one clique has the same value in all solutions."""
        count = Count([columns])
        values = set(map(count.largest, self.arrays))
        return len(values) == 1 and self.lower(count) == self.upper(count)

    def scope(self, attributes: Edge) -> "Scope":
        """Return the cells of a set of attributes; OpenError if the cliques form no tree on it."""
        links = join_tree([link.edge & attributes for link in self.system.links])
        if links is None:
            raise OpenError
        return Scope(self, links)


class Scope:
    """The cells of a set of attributes, in terms of the cliques of a component.

    ``links`` are the parts of the cliques with these attributes, a tree. ``inside`` has for each of
    them, ``between`` for each but the first by the values that it shares with its parent, the
    columns of each cell.
    """

    def __init__(self, component: Component, links: Sequence[Link]) -> None:
        self.component, self.links = component, links
        self.inside = [component.margin(link.edge) for link in links]
        self.between = [component.margin(link.shared) for link in links[1:]]
        self.attributes: Edge = frozenset().union(*(link.edge for link in links))

    def count(self, cell: Cell) -> Count | None:
        """Return the count of a cell as sums of columns; None: it is empty in all solutions."""
        parts = (part_of_cell(cell, self.attributes, link.edge) for link in self.links)
        inside = [margin.get(part, []) for margin, part in zip(self.inside, parts, strict=True)]
        if not all(inside):  # a clique has no column for its part of the cell
            return None
        parts = (part_of_cell(cell, self.attributes, link.shared) for link in self.links[1:])
        return Count(inside, [m[part] for m, part in zip(self.between, parts, strict=True)])

    def possible_lines(self) -> list[tuple[Cell, Count]]:
        """Return the cells, with counts, that the first solution alone proves to hold somebody.

        The cells of one clique after the other are joined by the values that they share. Some
        people are in both cells if these have more people together than there are with the shared
        values.
        """
        array = self.component.arrays[0]  # the first solution
        lines: list[tuple[dict[int, int], int]] = [({}, 0)]  # values by attribute, and people
        for k, link in enumerate(self.links):
            between = self.between[k - 1] if k else {}  # the first clique is joined to nothing
            everybody = {cell: people_in(columns, array) for cell, columns in between.items()}
            further = defaultdict(list)  # the lines of this clique, by the values that it shares
            for cell, columns in self.inside[k].items():
                values = dict(zip(sorted(link.edge), cell, strict=True))
                further[_codes(values, link.shared)].append((values, people_in(columns, array)))
            joined = []
            for values, people in lines:
                key = _codes(values, link.shared)
                for more_values, more_people in further.get(key, []):
                    both = people + more_people - everybody.get(key, 0)
                    if both > 0:
                        joined.append(({**values, **more_values}, both))
            lines = joined
        held = sorted(_codes(values, self.attributes) for values, _ in lines)
        return [(cell, count) for cell in held if (count := self.count(cell)) is not None]

    def lines(self) -> dict[Cell, tuple[int, int]]:
        """Return the cells that hold somebody for sure, with their least and largest counts.

        Where there are several cliques, an upper bound above the lower one may not be sharp: it is
        taken from bounds alone, without a program.
        """
        lines = {}
        component = self.component
        for cell, count in self.possible_lines():
            lower = component.lower(count)
            if not lower:
                continue
            upper = max(map(count.largest, component.arrays))
            if len(self.links) == 1 or upper == lower:
                upper = component.upper(count)
            else:
                upper = min(component.ends(c).upper for c in count.inside)
            lines[cell] = (lower, upper)
        return lines

    def cells(self) -> tuple[int, bool]:
        """Return how many cells hold somebody in some solution, and whether this is exact.

        With several cliques, the cells whose parts may each hold somebody are counted. These may be
        too many, unless one solution has people in all parts at once.
        """
        component = self.component
        if len(self.links) == 1:
            return sum(component.occurs(Count([c])) for c in self.inside[0].values()), True
        present = {  # the columns, each a cell of a clique, that may hold somebody
            j for cells in self.inside for (j,) in cells.values() if component.occurs(Count([[j]]))
        }
        return self._combinations(present), self._all_occur(present)

    def _combinations(self, present: Collection[int]) -> int:
        """Return how many cells can be put together from columns ``present``.

        A cell takes one column from each clique; neighbours must agree on the values they share.
        """
        # For each cell of a clique the combinations with the cliques below it, from the leaves up.
        sizes = [{c: int(j in present) for c, (j,) in cells.items()} for cells in self.inside]
        for k in range(len(self.links) - 1, 0, -1):
            link, parent = self.links[k], self.links[k].parent or 0
            parent_edge = self.links[parent].edge
            below: dict[Cell, int] = defaultdict(int)  # by the values shared with the parent
            for cell, n in sizes[k].items():
                below[part_of_cell(cell, link.edge, link.shared)] += n
            for cell in sizes[parent]:
                sizes[parent][cell] *= below[part_of_cell(cell, parent_edge, link.shared)]
        return sum(sizes[0].values())

    def _all_occur(self, present: Collection[int]) -> bool:
        """Return whether one solution is found that has people in all columns ``present``."""
        component, program = self.component, self.component.program
        if any(all(array[j] for j in present) for array in component.arrays):
            return True
        bounds = [
            (max(lower, 1), upper) if j in present else (0, 0)
            for j, (lower, upper) in enumerate(program.bounds)
        ]
        try:
            answer = Program(bounds, program.rows, program.deadline).minimise({}, first=True)
        except InfeasibleError:
            return False
        component.remember(answer)
        return answer.solution is not None


def _codes(values: Mapping[int, int], attributes: Edge) -> Cell:
    """Return the values of some attributes, in the order of these."""
    return tuple(values[i] for i in sorted(attributes))


def part_of_cell(cell: Cell, edge: Edge, part: Edge) -> Cell:
    """Return the values that a cell of attributes ``edge`` has of those in ``part``."""
    return _codes(dict(zip(sorted(edge), cell, strict=True)), part)
