"""All arrays of counts that agree with the tables, for a component that has few of them.

Everything about such a component is exact: the bounds, the bracket, and the mean over all
assignments of people to cells, in which an array x has the weight n! / prod x_c!.

Source: M92, M99, M100.
"""

import math
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

Cell = tuple[int, ...]
Array = tuple[int, ...]
"""The counts of the cells of a component."""
ARRAYS = 10_000  # arrays of a small component
VISITS = 300_000  # steps of the search before it gives up


@dataclass(frozen=True)
class Sum:
    """A condition: the counts of ``cells``, places in a list, add up to ``lower`` to ``upper``."""

    cells: Sequence[int]
    lower: int
    upper: int


@dataclass
class Solved:
    """The exact solution of a component.

    ``lines``, ``block_lines`` (cell: lower, upper) and ``sure`` (cell: people) hold somebody for
    sure; ``cells`` is the number of cells that may hold somebody. ``lowest`` and ``highest`` are
    the bracket of the best guess (``bracket_sharp``: attained), ``believed`` its mean, in people;
    ``means`` are the expected counts of what is known and the secret. ``believed`` is None if not
    all arrays were listed. ``sharp``: the bounds are attained.
    """

    lines: dict[Cell, tuple[int, int]] = field(default_factory=dict)
    block_lines: dict[Cell, tuple[int, int]] = field(default_factory=dict)
    sure: dict[Cell, int] = field(default_factory=dict)
    cells: int = 0
    lowest: int = 0
    highest: int = 0
    bracket_sharp: bool = True
    sharp: bool = True
    believed: Fraction | None = None
    means: dict[Cell, Fraction] = field(default_factory=dict)

    @property
    def proved_lines(self) -> dict[Cell, int]:
        """Return the lines whose count is proved."""
        return {cell: low for cell, (low, high) in self.lines.items() if low == high}

    @property
    def lone_blocks(self) -> dict[Cell, int]:
        """Return the blocks that are proved to have one person: their people, 1."""
        return {block: 1 for block, bounds in self.block_lines.items() if bounds == (1, 1)}

    @property
    def singled_out(self) -> int:
        """Return the people who are proved to be alone in their block."""
        return len(self.lone_blocks)

    @property
    def certain(self) -> int:
        """Return the people whose secret is proved."""
        return sum(self.sure.values())


class TooManyError(Exception):
    """There are more arrays than are listed."""


def arrays(
    bounds: Sequence[tuple[int, int]], sums: Sequence[Sum], deadline: float, visits: int = VISITS
) -> list[Array]:
    """Return all arrays, one count per cell, that keep the bounds of each cell and all sums.

    Raises TooManyError above ``ARRAYS`` of them, after so many ``visits``, or at the deadline.
    """
    # The sums that each cell is part of; what each sum is at least and at most.
    sums_of_cell: list[list[int]] = [[] for _ in bounds]
    for g, condition in enumerate(sums):
        for c in condition.cells:
            sums_of_cell[c].append(g)
    smallest = [sum(bounds[c][0] for c in condition.cells) for condition in sums]
    largest = [sum(bounds[c][1] for c in condition.cells) for condition in sums]
    if any(a > s.upper or b < s.lower for a, b, s in zip(smallest, largest, sums, strict=True)):
        return []
    search = _Search(bounds, sums, sums_of_cell, smallest, largest, deadline, visits)
    search.extend([])
    return search.arrays


@dataclass
class _Search:
    """A depth-first search; ``smallest`` and ``largest`` are what each sum can still become.

    ``sums_of_cell`` has, for each cell, the places of the sums that it is part of.
    """

    bounds: Sequence[tuple[int, int]]
    sums: Sequence[Sum]
    sums_of_cell: list[list[int]]
    smallest: list[int]
    largest: list[int]
    deadline: float
    visit_limit: int
    visits: int = 0
    arrays: list[Array] = field(default_factory=list)

    def extend(self, counts: list[int]) -> None:
        """Try all counts of the next cell after ``counts``; keep the arrays that are complete."""
        c = len(counts)
        if c == len(self.bounds):
            if len(self.arrays) == ARRAYS:
                raise TooManyError
            self.arrays.append(tuple(counts))
            return
        low, high = self._range(c)
        for count in range(low, high + 1):
            self.visits += 1
            late = self.visits % 1000 == 0 and time.monotonic() > self.deadline
            if self.visits > self.visit_limit or late:
                raise TooManyError
            self._move(c, count, 1)
            self.extend([*counts, count])
            self._move(c, count, -1)

    def _range(self, c: int) -> tuple[int, int]:
        """Return the least and the largest count of cell c that its sums still allow."""
        low, high = self.bounds[c]
        for g in self.sums_of_cell[c]:
            condition = self.sums[g]
            low = max(low, condition.lower - self.largest[g] + self.bounds[c][1])
            high = min(high, condition.upper - self.smallest[g] + self.bounds[c][0])
        return low, high

    def _move(self, c: int, count: int, sign: int) -> None:
        """Fix the count of a cell in its sums (``sign`` 1), or leave it open again (-1)."""
        low, high = self.bounds[c]
        for g in self.sums_of_cell[c]:
            self.smallest[g] += sign * (count - low)
            self.largest[g] -= sign * (high - count)


def solve(
    cells: Sequence[Cell], possible: Sequence[Array], knowledge: Sequence[int], secret: int | None
) -> Solved:
    """Return what the ``possible`` arrays of a component prove together, and their means.

    An array has the count of each of the ``cells``, which are codes. ``knowledge`` and ``secret``
    are the places in a cell of what the adversary knows and infers; None: she infers the person.
    """
    counts = dict(zip(cells, zip(*possible, strict=True), strict=True))
    blocks = _margin(counts, knowledge)
    weights = _array_weights(possible, list(counts.values()))
    solved = Solved(
        lines=_sure_bounds(counts),
        block_lines=_sure_bounds(blocks),
        cells=sum(map(any, counts.values())),
    )
    if secret is None:  # she is right about one person of a block that is not empty
        right = [sum(map(bool, sizes)) for sizes in zip(*blocks.values(), strict=True)]
        solved.believed = _mean(right, weights, sum(weights))
    else:
        right = _solve_secret(solved, _margin(counts, [*knowledge, secret]), weights)
    solved.lowest, solved.highest = min(right), max(right)
    return solved


def _margin(counts: Mapping[Cell, Array], places: Sequence[int]) -> dict[Cell, Array]:
    """Return the sums of cells with the same codes at ``places``; each has a count per array."""
    inside: dict[Cell, list[Array]] = defaultdict(list)
    for cell, counts_of_cell in counts.items():
        inside[tuple(cell[i] for i in places)].append(counts_of_cell)
    return {cell: tuple(map(sum, zip(*parts, strict=True))) for cell, parts in inside.items()}


def _sure_bounds(counts: Mapping[Cell, Array]) -> dict[Cell, tuple[int, int]]:
    """Return the least and the largest count of the cells that hold somebody in all arrays."""
    return {cell: (min(n), max(n)) for cell, n in counts.items() if min(n)}


def _solve_secret(
    solved: Solved, counts: Mapping[Cell, Array], weights: Sequence[int]
) -> list[int]:
    """Add what is inferred of a secret to ``solved``; return the right best guesses by array.

    The last code of a cell is the secret, those before it are the block; a cell has a count, and
    a weight, for each array.
    """
    total = sum(weights)
    solved.means = {cell: _mean(n, weights, total) for cell, n in counts.items()}
    blocks: dict[Cell, list[Cell]] = defaultdict(list)
    for cell in counts:
        blocks[cell[:-1]].append(cell)
    solved.believed = sum(
        (max(solved.means[cell] for cell in cells) for cells in blocks.values()), Fraction(0)
    )
    solved.sure = {
        block: solved.block_lines[block][0]
        for block, cells in blocks.items()
        if block in solved.block_lines and sum(any(counts[cell]) for cell in cells) == 1
    }
    largest = [
        map(max, zip(*(counts[cell] for cell in cells), strict=True)) for cells in blocks.values()
    ]
    return [sum(right) for right in zip(*largest, strict=True)]


def _array_weights(possible: Sequence[Array], columns: Sequence[tuple[int, ...]]) -> list[int]:
    """Return for each array a weight: in how many ways its people can be assigned to the cells.

    The ways are n! / prod x_c!; factors that are the same for all arrays are left out.
    """
    open_cells = [(c, max(counts)) for c, counts in enumerate(columns) if min(counts) < max(counts)]
    return [
        math.prod(math.perm(largest, largest - x[c]) for c, largest in open_cells) for x in possible
    ]


def _mean(numbers: Sequence[int], weights: Sequence[int], total: int) -> Fraction:
    return Fraction(sum(n * w for n, w in zip(numbers, weights, strict=True)), total)


def best_values(means: Mapping[Cell, Fraction]) -> dict[Cell, list[int]]:
    """Return the codes of the likeliest secrets by block; the last code of a cell is its secret."""
    by_block: dict[Cell, dict[int, Fraction]] = defaultdict(dict)
    for (*block, value), mean in means.items():
        by_block[tuple(block)][value] = mean
    largest = {block: max(values.values()) for block, values in by_block.items()}
    return {
        block: [value for value, mean in values.items() if mean == largest[block]]
        for block, values in by_block.items()
    }
