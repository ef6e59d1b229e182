"""The sharp bounds of one component, by integer programming.

The columns of the program are the cells of cliques that hold all tables. Cliques in a tree that
agree on what they share extend to whole counts of all attributes, so that the least count of a cell
is a sum over the cliques less a sum over what they share, and never below 0; the largest is the
smallest of its cliques.

Source: M92, M93, M96 to M99; Dobra and Fienberg 2000.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from qifsql.commands.tables.arrays import Cell, Solved
from qifsql.commands.tables.hypergraph import Edge, Link, join_tree
from qifsql.commands.tables.integer_programs import (
    Array,
    InfeasibleError,
    Least,
    OpenError,
    Program,
    Row,
)
from qifsql.commands.tables.proofs import Question

ARRAYS = 300  # solutions that are remembered
TURNS = 20  # rounds in which several columns are moved at once
BRACKET_NODES = 50  # branches for the bracket of the best guess

Columns = Sequence[int]
Ends = tuple[int, int]  # the least and the largest value


@dataclass(frozen=True)
class System:
    """The cliques of a component with their cells and bounds, and the cells of its tables."""

    links: Sequence[Link]
    cells: Sequence[Sequence[tuple[Cell, int, int]]]
    tables: Sequence[tuple[Edge, Cell, int, int]]


@dataclass(frozen=True)
class Count:
    """The count of a cell: columns ``inside`` cliques, less those ``between`` cliques."""

    inside: Sequence[Columns]
    between: Sequence[Columns] = ()

    def smallest(self, array: Array) -> int:
        """Return the least count of the cell with such counts of the cliques."""
        return max(0, _sum(self.inside, array) - _sum(self.between, array))

    def largest(self, array: Array) -> int:
        """Return the largest count of the cell with such counts of the cliques."""
        return min(sum(array[j] for j in columns) for columns in self.inside)

    @property
    def goal(self) -> dict[int, int]:
        """Return the columns of the least count, with their factors."""
        goal: dict[int, int] = defaultdict(int)
        for sign, groups in ((1, self.inside), (-1, self.between)):
            for columns in groups:
                for j in columns:
                    goal[j] += sign
        return goal


def _sum(groups: Sequence[Columns], array: Array) -> int:
    return sum(array[j] for columns in groups for j in columns)


class Component:
    """The program of a component, and solutions of it."""

    def __init__(self, system: System, people: int, deadline: float) -> None:
        self.system, self.people = system, people
        self._margins: dict[Edge, dict[Cell, list[int]]] = {}
        self._first: list[int] = []
        bounds: list[tuple[int, int]] = []
        for cells in system.cells:
            self._first.append(len(bounds))
            bounds += [(lower, upper) for _, lower, upper in cells]
        rows = []
        self._bounds: dict[tuple[int, ...], tuple[int, int]] = {}
        for edge, cell, lower, upper in system.tables:
            columns = self.margin(edge).get(cell, [])
            self._bounds[tuple(columns)] = lower, upper
            rows.append(Row(columns, [1] * len(columns), lower, upper))
            for j in columns:
                bounds[j] = (bounds[j][0], min(bounds[j][1], upper))
        self.program = Program(bounds, [*rows, *self._seams()], deadline)
        self.arrays: list[Array] = []
        self.remember(self.program.minimise({}, first=True))
        if not self.arrays:
            raise OpenError

    def margin(self, edge: Edge) -> dict[Cell, list[int]]:
        """Return the columns of each cell of a margin that lies in a clique."""
        if edge not in self._margins:
            home = next(i for i, link in enumerate(self.system.links) if edge <= link.edge)
            self._margins[edge] = self._columns_inside(home, edge)
        return self._margins[edge]

    def _columns_inside(self, home: int, edge: Edge) -> dict[Cell, list[int]]:
        order = sorted(self.system.links[home].edge)
        picked = [order.index(i) for i in sorted(edge)]
        groups: dict[Cell, list[int]] = defaultdict(list)
        for j, (cell, _, _) in enumerate(self.system.cells[home], self._first[home]):
            groups[tuple(cell[i] for i in picked)].append(j)
        return dict(groups)

    def _seams(self) -> Iterator[Row]:
        """Yield the conditions that cliques have as many people in what they share."""
        for i, link in enumerate(self.system.links):
            if not i:
                continue
            before = self._columns_inside(link.parent or 0, link.shared)
            after = self._columns_inside(i, link.shared)
            for cell in sorted({*before, *after}):
                first, second = before.get(cell, []), after.get(cell, [])
                factors = [1] * len(first) + [-1] * len(second)
                yield Row([*first, *second], factors, 0, 0)

    def remember(self, answer: Least) -> None:
        """Keep a solution, whose first columns are those of the cliques."""
        if answer.solution is not None and len(self.arrays) < ARRAYS:
            self.arrays.append(answer.solution[: len(self.program.bounds)])

    def spread(self) -> None:
        """Look for solutions in which many columns are at one of their bounds."""
        bounds = self.program.bounds
        for end, sign in ((0, 1), (1, -1)):  # the lower bounds of columns, then the upper ones
            for _ in range(TURNS):
                away = [  # columns that no solution has at this end
                    j for j in self.program.free if all(x[j] != bounds[j][end] for x in self.arrays)
                ]
                if not away:
                    break
                answer = self.program.minimise(dict.fromkeys(away, sign), first=True)
                self.remember(answer)
                x = answer.solution
                if x is None or all(x[j] != bounds[j][end] for j in away):
                    break

    def ends(self, columns: Columns) -> tuple[int, int]:
        """Return what a sum of columns is at least and at most."""
        bounds = [self.program.bounds[j] for j in columns]
        lower, upper = self._bounds.get(tuple(columns), (0, self.people))
        lowest, highest = sum(low for low, _ in bounds), sum(high for _, high in bounds)
        return max(lower, lowest), min(upper, highest)

    def lower(self, count: Count) -> int:
        """Return the least count of a cell."""
        attained = min(map(count.smallest, self.arrays))
        outer = sum(self.ends(c)[0] for c in count.inside)
        outer -= sum(self.ends(c)[1] for c in count.between)
        if attained == max(0, outer):
            return attained
        answer = self.program.minimise(count.goal, attained)
        self.remember(answer)
        if not answer.sharp and (answer.attained is None or answer.attained > 0):
            raise OpenError
        return max(0, answer.bound)

    def upper(self, count: Count) -> int:
        """Return the largest count of a cell."""
        attained = max(map(count.largest, self.arrays))
        highest = min(self.ends(c)[1] for c in count.inside)
        if attained == highest:
            return highest
        goal, program = dict.fromkeys(count.inside[0], -1), self.program
        if len(count.inside) > 1:
            top = len(program.bounds)
            goal = {top: -1}
            rows = [
                Row([top, *columns], [1] + [-1] * len(columns), -self.people, 0)
                for columns in count.inside
            ]
            program = program.extended([(0, highest)], rows)
        answer = program.minimise(goal, -attained)
        self.remember(answer)
        if not answer.sharp:
            raise OpenError
        return -answer.bound

    def occurs(self, count: Count) -> bool:
        """Return whether a cell may hold somebody."""
        return any(count.largest(x) for x in self.arrays) or self.upper(count) > 0

    def is_settled(self, columns: Columns) -> bool:
        """Return whether a sum of columns has one possible value."""
        count = Count([columns])
        values = set(map(count.largest, self.arrays))
        return len(values) == 1 and self.lower(count) == self.upper(count)

    def values(self, attribute: int) -> list[int]:
        """Return the values of an attribute."""
        return sorted(value for (value,) in self.margin(frozenset([attribute])))

    def scope(self, attributes: Edge) -> "Scope":
        """Return the cells of a set of attributes; raise OpenError if cliques do not tell them."""
        links = join_tree([link.edge & attributes for link in self.system.links])
        if links is None:
            raise OpenError
        return Scope(self, links)


_Line = tuple[dict[int, int], int]
"""Values of attributes, and how many people have them for sure."""


class Scope:
    """The cells of a set of attributes, in terms of the cliques of a component."""

    def __init__(self, component: Component, links: Sequence[Link]) -> None:
        self.component, self.links = component, links
        self.inside = [component.margin(link.edge) for link in links]
        self.between = [component.margin(link.shared) for link in links[1:]]
        self.attributes = sorted(frozenset().union(*(link.edge for link in links)))
        self._picked = [self._places(link.edge) for link in links]
        self._shared = [self._places(link.shared) for link in links[1:]]

    def _places(self, edge: Edge) -> list[int]:
        return [self.attributes.index(i) for i in sorted(edge)]

    def count(self, cell: Cell) -> Count | None:
        """Return the count of a cell; None if it is empty for sure."""
        inside = []
        for margin, places in zip(self.inside, self._picked, strict=True):
            if not (columns := margin.get(tuple(cell[i] for i in places))):
                return None
            inside.append(columns)
        pairs = zip(self.between, self._shared, strict=True)
        between = [margin[tuple(cell[i] for i in places)] for margin, places in pairs]
        return Count(inside, between)

    def candidates(self) -> list[tuple[Cell, Count]]:
        """Return the cells that hold somebody in the first solution, in order."""
        array = self.component.arrays[0]
        lines: list[_Line] = [({}, 0)]
        for k, link in enumerate(self.links):
            order, shared = sorted(link.edge), sorted(link.shared)
            cells: dict[Cell, list[_Line]] = defaultdict(list)  # by what they share
            for cell, columns in self.inside[k].items():
                values = dict(zip(order, cell, strict=True))
                people = sum(array[j] for j in columns)
                cells[tuple(values[i] for i in shared)].append((values, people))
            joined: list[_Line] = []
            for values, people in lines:
                key = tuple(values[i] for i in shared)
                columns = self.between[k - 1].get(key, []) if k else []
                everybody = sum(array[j] for j in columns)  # with the same shared values
                for further, n in cells.get(key, []):
                    if people + n > everybody:
                        joined.append(({**values, **further}, people + n - everybody))
            lines = joined
        held = sorted(tuple(values[i] for i in self.attributes) for values, _ in lines)
        return [(cell, count) for cell in held if (count := self.count(cell)) is not None]

    def lines(self) -> dict[Cell, tuple[int, int]]:
        """Return the cells that hold somebody for sure, with their bounds.

        Where there are several cliques, an upper bound above the lower one may not be sharp.
        """
        lines = {}
        component = self.component
        for cell, count in self.candidates():
            lower = component.lower(count)
            if not lower:
                continue
            upper = max(map(count.largest, component.arrays))
            if len(self.links) == 1 or upper == lower:
                upper = component.upper(count)
            else:
                upper = min(component.ends(c)[1] for c in count.inside)
            lines[cell] = (lower, upper)
        return lines

    def cells(self) -> tuple[int, bool]:
        """Return the number of cells that may hold somebody, at most, and whether it is exact."""
        component = self.component
        if len(self.links) == 1:
            return sum(component.occurs(Count([c])) for c in self.inside[0].values()), True
        present = {
            j for cells in self.inside for (j,) in cells.values() if component.occurs(Count([[j]]))
        }
        # How many combinations of the cliques below have a cell: from the leaves to the root.
        sizes = [{c: int(j in present) for c, (j,) in cells.items()} for cells in self.inside]
        for k in range(len(self.links) - 1, 0, -1):
            link, parent = self.links[k], self.links[k].parent or 0
            parent_edge = self.links[parent].edge
            message: dict[Cell, int] = defaultdict(int)
            for cell, n in sizes[k].items():
                message[_part_of_cell(cell, link.edge, link.shared)] += n
            for cell in sizes[parent]:
                sizes[parent][cell] *= message[_part_of_cell(cell, parent_edge, link.shared)]
        return sum(sizes[0].values()), self._all_occur(present)

    def _all_occur(self, present: Collection[int]) -> bool:
        """Return whether in one solution all columns that may hold somebody do so."""
        component, program = self.component, self.component.program
        if any(all(x[j] for j in present) for x in component.arrays):
            return True
        held = [
            (max(lower, 1), upper) if j in present else (0, 0)
            for j, (lower, upper) in enumerate(program.bounds)
        ]
        try:
            answer = Program(held, program.rows, program.deadline).minimise({}, first=True)
        except InfeasibleError:
            return False
        component.remember(answer)
        return answer.solution is not None


def _part_of_cell(cell: Cell, edge: Edge, part: Edge) -> Cell:
    """Return the values of some attributes of a cell."""
    values = dict(zip(sorted(edge), cell, strict=True))
    return tuple(values[i] for i in sorted(part))


def solve(
    component: Component, question: Question, every: Edge, bracket: tuple[int, int]
) -> Solved:
    """Return what is proved of a component, for a question; ``bracket`` are bounds of it.

    Raises OpenError if a bound is not proved.
    """
    solved = Solved(bracket_sharp=False)
    lines_scope, knowledge = component.scope(every), component.scope(question.knowledge)
    (solved.cells, solved.sharp), solved.lines = lines_scope.cells(), lines_scope.lines()
    same = question.knowledge == every
    solved.block_lines = dict(solved.lines) if same else knowledge.lines()
    if question.secret is not None:
        scope = component.scope(question.scope)
        order = sorted(question.scope)
        at, secrets = order.index(question.secret), component.values(question.secret)
        for block, (lower, _) in solved.block_lines.items():
            cells = (scope.count((*block[:at], v, *block[at:])) for v in secrets)
            occurring = islice((c for c in cells if c is not None and component.occurs(c)), 2)
            if len(list(occurring)) == 1:
                solved.sure[block] = lower
    solved.lowest, solved.highest = bracket
    if any(question.scope <= link.edge for link in component.system.links):
        ends = _Bracket(component, question)
        low, high = ends.lowest(bracket[0]), ends.highest(bracket[1])
        solved.lowest, solved.highest = max(bracket[0], low.bound), min(bracket[1], -high.bound)
        attained = None if high.attained is None else -high.attained
        solved.bracket_sharp = (solved.lowest, solved.highest) == (low.attained, attained)
    solved.bracket_sharp |= solved.lowest == solved.highest
    return solved


class _Bracket:
    """The least and the largest number of people that the best guess gets right.

    A block is the count of each value of the secret that may occur, or of everybody in it without a
    secret: then a guess is right for one person of a block that is not empty.
    """

    def __init__(self, component: Component, question: Question) -> None:
        self.component, self.question = component, question
        self.first = len(component.program.bounds)
        self.blocks: dict[Cell, list[Columns]] = defaultdict(list)
        for cell, columns in component.margin(question.scope).items():
            part = _part_of_cell(cell, question.scope, question.knowledge)
            self.blocks[part].append(columns)

    def _count_right(self, array: Array) -> int:
        """Return for how many people the best guess is right in a solution."""
        counts = ([sum(array[j] for j in c) for c in block] for block in self.blocks.values())
        if self.question.secret is None:
            return sum(any(block) for block in counts)
        return sum(map(max, counts))

    def lowest(self, outer: int) -> Least:
        """Return the least number, which is not below an outer bound."""
        attained = min(map(self._count_right, self.component.arrays))
        if attained == outer:
            return Least(outer, attained, None)
        tops: list[Ends] = []  # of columns that are the largest count of a block
        rows = []
        for top, (block, _, (lowest, highest)) in enumerate(self._block_ends(), self.first):
            if self.question.secret is None:
                (columns,) = block
                tops.append((min(lowest, 1), min(highest, 1)))
                rows.append(Row([*columns, top], [*[1] * len(columns), -highest], -highest, 0))
                continue
            tops.append((lowest, highest))
            rows += [Row([top, *c], [1, *[-1] * len(c)], 0, highest) for c in block]
        goal = dict.fromkeys(range(self.first, self.first + len(tops)), 1)
        return self._solve(goal, tops, rows, attained)

    def highest(self, outer: int) -> Least:
        """Return the largest number, negative, which is not above an outer bound."""
        attained = max(map(self._count_right, self.component.arrays))
        if attained == outer:
            return Least(-outer, -attained, None)
        extra: list[Ends] = []  # of the largest count of each block, and 0 or 1: which it is
        rows: list[Row] = []
        goal = {}
        for block, ends, (lowest, highest) in self._block_ends():
            top = self.first + len(extra)
            goal[top] = -1
            if self.question.secret is None:
                (columns,) = block
                extra.append((min(lowest, 1), min(highest, 1)))
                rows.append(Row([*columns, top], [*[1] * len(columns), -1], 0, highest))
                continue
            extra.append((lowest, highest))
            able = [(c, low) for c, (low, high) in zip(block, ends, strict=True) if high >= lowest]
            choices = list(range(self.first + len(extra), self.first + len(extra) + len(able)))
            extra += [(0, 1)] * len(able)
            rows.append(Row(choices, [1] * len(choices), 1, 1))
            for (columns, low), choice in zip(able, choices, strict=True):
                factors = [1, *[-1] * len(columns), highest - low]
                rows.append(Row([top, *columns, choice], factors, -highest, highest - low))
        return self._solve(goal, extra, rows, -attained)

    def _block_ends(self) -> Iterator[tuple[Sequence[Columns], list[Ends], Ends]]:
        """Yield each block with the ends of its counts, and the ends of the largest of them."""
        for block in self.blocks.values():
            ends = [self.component.ends(columns) for columns in block]
            yield block, ends, (max(low for low, _ in ends), max(high for _, high in ends))

    def _solve(
        self, goal: dict[int, int], extra: Sequence[Ends], rows: Sequence[Row], attained: int
    ) -> Least:
        """Minimise a goal under further columns, with bounds ``extra``, and rows."""
        program = self.component.program.extended(extra, rows)
        answer = program.minimise(goal, attained, nodes=BRACKET_NODES)
        self.component.remember(answer)
        return answer
