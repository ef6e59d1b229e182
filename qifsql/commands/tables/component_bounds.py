"""Proofs about one component: lines, secrets, and the bracket of the best guess.

Source: M92, M93, M96 to M99; Dobra and Fienberg 2000.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from qifsql.commands.tables.arrays import Cell, Solved
from qifsql.commands.tables.component_program import (
    Columns,
    Component,
    Ends,
    part_of_cell,
    people_in,
)
from qifsql.commands.tables.hypergraph import Edge
from qifsql.commands.tables.proofs import Question
from qifsql.counting.integer_programs import Array, Least, Row

BRACKET_NODES = 50  # branches for the bracket of the best guess


def solve(
    component: Component, question: Question, every: Edge, bracket: tuple[int, int]
) -> Solved:
    """Return what is proved of a component, for a question; ``every`` are all attributes.

    A line is a cell that holds somebody in all solutions: of all attributes, and (``block_lines``)
    of what the adversary knows. ``bracket``: least and largest number of people whom the best guess
    gets right, as known before; it is narrowed. Raises OpenError if a bound is not proved in time.
    """
    solved = Solved(bracket_sharp=False)
    all_attributes, knowledge = component.scope(every), component.scope(question.knowledge)
    solved.cells, solved.sharp = all_attributes.cells()
    solved.lines = all_attributes.lines()
    same = question.knowledge == every
    solved.block_lines = dict(solved.lines) if same else knowledge.lines()
    if question.secret is not None:
        solved.sure = _sure_secrets(component, question, solved.block_lines)
    solved.lowest, solved.highest = lowest, highest = bracket
    # A clique that has what she knows and infers has a column for each count of her blocks. Without
    # one, the bracket stays as it was.
    if any(question.scope <= link.edge for link in component.system.links):
        ends = _Bracket(component, question)
        low, high = ends.lowest(lowest), ends.highest(highest)  # of ``high``, numbers are negative
        solved.lowest, solved.highest = max(lowest, low.bound), min(highest, -high.bound)
        highest_attained = None if high.attained is None else -high.attained
        solved.bracket_sharp = (solved.lowest, solved.highest) == (low.attained, highest_attained)
    solved.bracket_sharp |= solved.lowest == solved.highest
    return solved


def _sure_secrets(
    component: Component, question: Question, block_lines: dict[Cell, tuple[int, int]]
) -> dict[Cell, int]:
    """Return the blocks in which one value of the secret is possible, with their least people."""
    assert question.secret is not None  # noqa: S101 - asked of secrets only
    scope, place = component.scope(question.scope), sorted(question.scope).index(question.secret)
    values = sorted(value for (value,) in component.margin(frozenset([question.secret])))
    sure: dict[Cell, int] = {}
    for block, (lower, _) in block_lines.items():
        counts = (scope.count((*block[:place], value, *block[place:])) for value in values)
        possible = (count for count in counts if count is not None and component.occurs(count))
        if len(list(islice(possible, 2))) == 1:  # two are enough to see that there are several
            sure[block] = lower
    return sure


class _Bracket:
    """The least and the largest number of people that the best guess gets right.

    A block is what the adversary knows. Its counts, each a list of columns that add up to it, are
    those of each value of the secret that may occur; the largest is guessed right. Without a secret
    it has one count, of all its people: one of them is guessed right if it is not empty.
    """

    def __init__(self, component: Component, question: Question) -> None:
        """Find the counts of each block."""
        self.component, self.question = component, question
        self.blocks: dict[Cell, list[Columns]] = defaultdict(list)
        for cell, columns in component.margin(question.scope).items():
            block = part_of_cell(cell, question.scope, question.knowledge)
            self.blocks[block].append(columns)

    def _count_right(self, array: Array) -> int:
        """Return for how many people the best guess is right in a solution, ``array``."""
        blocks = ([people_in(columns, array) for columns in b] for b in self.blocks.values())
        if self.question.secret is None:
            return sum(map(any, blocks))
        return sum(map(max, blocks))

    def lowest(self, outer: int) -> Least:
        """Return the least number of people guessed right, which is at least ``outer``.

        A column of the integer program is added for each block: how many are guessed right in it.
        Their sum is minimised. Without a secret it is 1 if the block is not empty, else at least
        each count of the block. A ``Row`` has columns, their factors, and the bounds of their sum.
        """
        attained = min(map(self._count_right, self.component.arrays))
        if attained == outer:
            return Least(outer, attained, None)
        added = _Added(len(self.component.program.bounds))
        for block, _, (lowest, highest) in self._block_ends():
            if self.question.secret is None:
                (columns,) = block
                right = added.column(min(lowest, 1), min(highest, 1), goal=1)
                # -highest <= people - highest * right <= 0: right is 1 if there are any people
                factors = [*[1] * len(columns), -highest]
                added.rows.append(Row([*columns, right], factors, -highest, 0))
            else:
                right = added.column(lowest, highest, goal=1)  # >= each count
                for columns in block:
                    added.rows.append(Row([right, *columns], [1, *[-1] * len(columns)], 0, highest))
        return self._solve(added, attained)

    def highest(self, outer: int) -> Least:
        """Return minus the largest number of people guessed right, which is at most ``outer``.

        Its negative is the goal, because programs minimise. A column is added for each block: how
        many are guessed right in it.
        """
        attained = max(map(self._count_right, self.component.arrays))
        if attained == outer:
            return Least(-outer, -attained, None)
        added = _Added(len(self.component.program.bounds))
        for block, ends, (lowest, highest) in self._block_ends():
            if self.question.secret is None:  # 1 if the block is not empty
                (columns,) = block
                right = added.column(min(lowest, 1), min(highest, 1), goal=-1)  # <= people
                added.rows.append(Row([*columns, right], [*[1] * len(columns), -1], 0, highest))
                continue
            # The column is at most that count of the block whose choice is 1; others' are 0.
            right = added.column(lowest, highest, goal=-1)
            able = [  # only these counts can be the largest
                (columns, low)
                for columns, (low, high) in zip(block, ends, strict=True)
                if high >= lowest
            ]
            choices = [added.column(0, 1) for _ in able]
            added.rows.append(Row(columns=choices, factors=[1] * len(choices), lower=1, upper=1))
            for (columns, low), choice in zip(able, choices, strict=True):
                # right <= count + slack * (1 - choice), which always holds if the choice is 0
                slack = highest - low
                factors = [1, *[-1] * len(columns), slack]
                added.rows.append(Row([right, *columns, choice], factors, -highest, slack))
        return self._solve(added, -attained)

    def _block_ends(self) -> Iterator[tuple[Sequence[Columns], list[Ends], Ends]]:
        """Yield of each block the counts, the bounds of each, and the bounds of the largest one."""
        for block in self.blocks.values():
            ends = [self.component.ends(columns) for columns in block]
            yield block, ends, Ends(max(e.lower for e in ends), max(e.upper for e in ends))

    def _solve(self, added: "_Added", attained: int) -> Least:
        """Minimise the goal over the component's program with the columns and rows ``added``.

        ``attained`` is a value of the goal that some solution has. The solution found is kept.
        """
        program = self.component.program.extended(added.bounds, added.rows)
        answer = program.minimise(added.goal, attained, nodes=BRACKET_NODES)
        self.component.remember(answer)
        return answer


@dataclass
class _Added:
    """Columns, with bounds, and rows that a bracket adds to a program, and its goal.

    ``first`` is the number of the first added column.
    """

    first: int
    bounds: list[Ends] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    goal: dict[int, int] = field(default_factory=dict)

    def column(self, lower: int, upper: int, *, goal: int = 0) -> int:
        """Add a column with bounds and its factor in the goal; return its number."""
        number = self.first + len(self.bounds)
        self.bounds.append(Ends(lower, upper))
        if goal:
            self.goal[number] = goal
        return number
