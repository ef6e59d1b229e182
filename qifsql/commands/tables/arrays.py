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
MOST_ARRAYS = 10_000  # of a component; one with more is not listed


@dataclass(frozen=True)
class Sum:
    """A condition: the counts of ``cells``, places in a list, add up to ``lower`` to ``upper``."""

    cells: Sequence[int]
    lower: int
    upper: int


@dataclass
class Solved:
    """The exact solution of a component for a question."""

    # The least and the largest count of cells that hold somebody for sure: of all attributes, and
    # of what the adversary knows.
    lines: dict[Cell, tuple[int, int]] = field(default_factory=dict)
    block_lines: dict[Cell, tuple[int, int]] = field(default_factory=dict)
    sure: dict[Cell, int] = field(default_factory=dict)  # people whose secret is proved, by block
    cells: int = 0  # number of those that may hold somebody
    sharp: bool = True  # whether the bounds are attained
    lowest: int = 0  # people whom the best guess gets right, at least and at most
    highest: int = 0
    bracket_sharp: bool = True  # whether both are attained
    believed: Fraction | None = None  # the mean of that number; None: not all arrays are listed
    means: dict[Cell, Fraction] = field(default_factory=dict)  # counts by block and secret

    @property
    def proved_lines(self) -> dict[Cell, int]:
        """Return the lines whose count is proved."""
        return {cell: low for cell, (low, high) in self.lines.items() if low == high}

    @property
    def lone_blocks(self) -> dict[Cell, int]:
        """Return the blocks that are proved to have one person: their people, 1."""
        return {block: 1 for block, bounds in self.block_lines.items() if bounds == (1, 1)}

    @property
    def certain(self) -> int:
        """Return the people whose secret is proved."""
        return sum(self.sure.values())


class TooManyError(Exception):
    """There are more arrays than are listed."""


def list_arrays(
    bounds: Sequence[tuple[int, int]], sums: Sequence[Sum], deadline: float, visits: int
) -> list[Array]:
    """Return all arrays, one count per cell, that keep the bounds of each cell and all sums.

    Raises TooManyError above ``MOST_ARRAYS``, after so many steps (``visits``), or at the deadline.
    """
    search = _Search(bounds, sums, deadline, visits)
    ends = zip(sums, search.smallest, search.largest, strict=True)
    if all(low <= s.upper and high >= s.lower for s, low, high in ends):
        search.extend([])
    return search.arrays


class _Search:
    """A depth-first search for arrays: cell by cell, each count that the sums still allow."""

    def __init__(
        self, bounds: Sequence[tuple[int, int]], sums: Sequence[Sum], deadline: float, limit: int
    ) -> None:
        self.bounds, self.sums, self.deadline, self.visit_limit = bounds, sums, deadline, limit
        self.visits, self.arrays = 0, list[Array]()
        self.sums_of_cell: list[list[int]] = [[] for _ in bounds]  # places in ``sums``
        for place, condition in enumerate(sums):
            for cell in condition.cells:
                self.sums_of_cell[cell].append(place)
        # What each sum can still become: cells after those that are fixed are at their bounds.
        lowers, uppers = [lower for lower, _ in bounds], [upper for _, upper in bounds]
        self.smallest = [sum(lowers[cell] for cell in condition.cells) for condition in sums]
        self.largest = [sum(uppers[cell] for cell in condition.cells) for condition in sums]

    def extend(self, counts: list[int]) -> None:
        """Try all counts of the next cell after ``counts``; keep the arrays that are complete."""
        if len(counts) == len(self.bounds):
            if len(self.arrays) == MOST_ARRAYS:
                raise TooManyError
            self.arrays.append(tuple(counts))
            return
        lower, upper = self.bounds[len(counts)]
        places = self.sums_of_cell[len(counts)]
        # A sum that its other cells cannot fill, or leave room in, narrows the bounds of this one.
        lowest = max([lower, *(self.sums[k].lower - self.largest[k] + upper for k in places)])
        highest = min([upper, *(self.sums[k].upper - self.smallest[k] + lower for k in places)])
        for count in range(lowest, highest + 1):
            self.visits += 1
            late = self.visits % 1000 == 0 and time.monotonic() > self.deadline
            if self.visits > self.visit_limit or late:
                raise TooManyError
            for k in places:  # fix the count in its sums
                self.smallest[k] += count - lower
                self.largest[k] -= upper - count
            self.extend([*counts, count])
            for k in places:  # leave it open again
                self.smallest[k] -= count - lower
                self.largest[k] += upper - count


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
        right = _infer_secret(solved, _margin(counts, [*knowledge, secret]), weights)
    solved.lowest, solved.highest = min(right), max(right)
    return solved


def _margin(counts: Mapping[Cell, Array], places: Sequence[int]) -> dict[Cell, Array]:
    """Return the sums of cells with the same codes at ``places``; each has a count per array."""
    inside: dict[Cell, list[Array]] = defaultdict(list)
    for cell, counts_by_array in counts.items():
        inside[tuple(cell[place] for place in places)].append(counts_by_array)
    return {cell: tuple(map(sum, zip(*parts, strict=True))) for cell, parts in inside.items()}


def _sure_bounds(counts: Mapping[Cell, Array]) -> dict[Cell, tuple[int, int]]:
    """Return the least and the largest count of the cells that hold somebody in all arrays."""
    return {cell: (min(n), max(n)) for cell, n in counts.items() if min(n)}


def _infer_secret(
    solved: Solved, counts: Mapping[Cell, Array], weights: Sequence[int]
) -> list[int]:
    """Set ``means``, ``believed`` and ``sure`` of ``solved``.

    Return for each array how many people the best guess gets right. The last code of a cell is
    the secret, those before it are the block. Each cell of ``counts`` has a count per array, each
    array has a weight.
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
        block: lower
        for block, (lower, _) in solved.block_lines.items()
        if sum(any(counts[cell]) for cell in blocks[block]) == 1
    }
    right = [0] * len(weights)
    for cells in blocks.values():
        for place, sizes in enumerate(zip(*(counts[cell] for cell in cells), strict=True)):
            right[place] += max(sizes)  # of the values of the secret, in this array
    return right


def _array_weights(possible: Sequence[Array], counts: Sequence[Array]) -> list[int]:
    """Return for each array a weight: in how many ways its people can be assigned to the cells.

    The ways are n! / prod x_c!; factors that are the same for all arrays are left out. ``counts``
    has the counts of each cell, one per array.
    """
    open_cells = [(c, max(of_cell)) for c, of_cell in enumerate(counts) if len(set(of_cell)) > 1]
    return [
        math.prod(math.perm(largest, largest - array[c]) for c, largest in open_cells)
        for array in possible
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
