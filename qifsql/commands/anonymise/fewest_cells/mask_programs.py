"""The fewest cells to suppress, by integer programs over small blocks of classes.

A class are the records with the same values of all quasi-identifiers. Classes are to be placed in
groups of equal cells, each with at least k records. A class fits the groups whose cells, but for
suppressed ones, are its own. Its records may go to several of them, and each of them loses the
suppressed cells of its group. Records that a group lacks are lent by others, and lose them, too.

The classes are divided into blocks, such that no record seems better off in a group that classes of
several blocks fit. The program of a block lets a record leave the block, at a price: the least that
a group with classes of other blocks takes, its lent records counted for those who need them. So in
every release the records of a block lose at least the optimum of its program. Where that lets no
record leave, the records are placed by it, and nothing better exists; else the block stays open.

Source: M201 and M92 (the proofs of bounds); Meyerson and Williams 2004 (the problem).
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count

from qifsql.counting.integer_programs import InfeasibleError, Least, OpenError, Program, Row

CLASSES = 40  # of a block, unless they share a group
COLUMNS = 4_000  # of the program of a block
NODES = 1_000  # branches of a program that are looked at
UNIT = 2**20  # bounds are counted in parts of a cell
PARTS = 60  # parts of a cell in programs

Placements = dict[tuple[int, int], int]
"""Numbers of records: how many of a class c are placed in a group g, by the numbers (c, g)."""


@dataclass(frozen=True)
class Group:
    """Equal cells: how many are suppressed, and the classes that fit, by number.

    ``people`` are the records of these classes, ``spare`` those that one other class can lend, so
    that it keeps k; -1 if no other class fits.
    """

    cells: int
    people: int
    spare: int
    classes: Sequence[int]

    @property
    def lendable(self) -> bool:
        """Return whether other classes fit, which could lend all their records."""
        return self.spare >= 0

    def charge(self, k: int, records: int, unit: int) -> int:
        """Return the least that so many records lose in this group, in parts of a cell.

        ``unit`` is the number of parts. If all classes that fit are here (``people``) and still
        fewer than k, each of their records pays its share of the cells of those that are lent.
        """
        return records * self.cells * max(self.people, k) * unit // self.people


@dataclass(frozen=True)
class Problem:
    """The records of each class, the groups by number, and the least size of a group."""

    sizes: Mapping[int, int]
    groups: Mapping[int, Group]
    k: int

    @cached_property
    def groups_of(self) -> Mapping[int, Sequence[int]]:
        """Return the groups that each class fits."""
        numbers: dict[int, list[int]] = defaultdict(list)
        for g, group in self.groups.items():
            for c in group.classes:
                numbers[c].append(g)
        return numbers

    def bound_of_class(self, c: int) -> int:
        """Return a lower bound on what the records of a class lose, in ``UNIT``."""
        groups = (self.groups[g] for g in self.groups_of[c])
        return min(group.charge(self.k, self.sizes[c], UNIT) for group in groups)

    def count_cells(self, placements: Mapping[tuple[int, int], int]) -> int:
        """Return how many cells are suppressed by placements, those of lent records included."""
        records: dict[int, int] = defaultdict(int)
        for (_, g), people in placements.items():
            records[g] += people
        return sum(self.groups[g].cells * max(n, self.k) for g, n in records.items())


@dataclass(frozen=True)
class Block:
    """Some classes: where their records were, where they lose fewer cells, and a lower bound.

    No placement of their records loses fewer cells than ``bound``, which is in ``UNIT``.
    """

    classes: tuple[int, ...]
    before: Placements
    after: Placements
    bound: int

    def is_open(self, problem: Problem, placements: Mapping[int, Placements]) -> bool:
        """Return whether its records may lose fewer cells than by ``placements`` (by class)."""
        return problem.count_cells(_merge_classes(placements, self.classes)) * UNIT > self.bound

    def reverted(self, groups: Collection[int]) -> "Block":
        """Return the block as it was if some of its records are now in one of these groups."""
        is_in_them = any(g in groups for _, g in self.after)
        return replace(self, after=self.before) if is_in_them else self


def improve(
    problem: Problem, placements: Placements, solved: Sequence[Block], deadline: float
) -> list[Block]:
    """Divide the classes into blocks, and place the records of each as well as possible.

    ``placements`` are where the records are before; they decide the blocks. Blocks that are
    ``solved``, with the same classes and placements, are not solved again. ``deadline`` is of
    ``time.monotonic``; blocks that are open by then stay as they are.
    """
    answers = {(block.classes, frozenset(block.after.items())): block for block in solved}
    of_classes = divide_by_class(placements)
    blocks = []
    for classes in sorted(_Blocks(problem, placements).make(), key=lambda c: (len(c), c)):
        inside = frozenset(classes)
        placed = _merge_classes(of_classes, classes)
        answer = answers.get((classes, frozenset(placed.items())))
        if answer is None:
            after, bound = _solve_block(problem, inside, placed, deadline)
        else:
            after, bound = placed, answer.bound
        blocks.append(Block(classes, placed, after, bound))
    return blocks


def divide_by_class(placements: Placements) -> Mapping[int, Placements]:
    """Return the placements of each class."""
    divided: dict[int, Placements] = defaultdict(dict)
    for (c, g), people in placements.items():
        divided[c][c, g] = people
    return divided


def _merge_classes(of_classes: Mapping[int, Placements], classes: Iterable[int]) -> Placements:
    return {pair: people for c in classes for pair, people in of_classes[c].items()}


def merge(blocks: Iterable[Block]) -> Placements:
    """Return where the records of all blocks are."""
    return {pair: people for block in blocks for pair, people in block.after.items()}


def solve_together(problem: Problem, attained: int, deadline: float) -> tuple[Least, Placements]:
    """Place all classes by one integer program, whose minimum is the fewest suppressed cells.

    ``attained`` is how many cells the best known placements suppress; those that are returned are
    empty unless they suppress fewer. The ``Least`` is in ``PARTS`` of a cell.
    """
    program = _BlockProgram(problem, frozenset(problem.sizes), prices={})  # nobody leaves
    least = program.solve(attained * PARTS, deadline)
    return least, program.placements(least)


class _Blocks:
    """Blocks of classes, which grow by union.

    ``parents`` leads from a class to the one whose ``members`` are the block.
    """

    def __init__(self, problem: Problem, placements: Placements) -> None:
        """Begin with a block for each class."""
        self.problem, self.placements = problem, placements
        self.parents = {c: c for c in problem.sizes}
        self.members = {c: [c] for c in problem.sizes}

    def make(self) -> Iterable[tuple[int, ...]]:
        """Divide the classes into blocks, each of which is improved by a program of its own.

        First classes are joined that need each other's records to make a group of k, then (best
        first) a class and a group in which it seems to lose less, unless the block gets too large.
        """
        placed: dict[int, Placements] = defaultdict(dict)  # by group
        for (c, g), people in self.placements.items():
            placed[g][c, g] = people
        for of_group in placed.values():
            for classes in self._sufficient_parts(of_group):
                self._join(classes)
        records = {g: sum(of_group.values()) for g, of_group in placed.items()}
        for _, g, c in sorted(self._links(records)):
            classes = [c, *self.problem.groups[g].classes]
            if sum(len(self.members[r]) for r in {self._root(c) for c in classes}) <= CLASSES:
                self._join(classes)
        return (tuple(sorted(self.members[c])) for c in self.members)

    def _sufficient_parts(self, placed: Placements) -> Iterator[list[int]]:
        """Yield the classes of a group in parts of at least k records; in one if it needs loans."""
        classes: list[int] = []
        inside, remaining = 0, sum(placed.values())
        for (c, _), people in sorted(placed.items()):
            classes.append(c)
            inside += people
            if inside >= self.problem.k and remaining - inside >= self.problem.k:
                yield classes
                classes, inside, remaining = [], 0, remaining - inside
        yield classes

    def _links(self, records: Mapping[int, int]) -> Iterator[tuple[int, int, int]]:
        """Yield, for each class, the groups in which a record of it might lose fewer cells.

        An item has the change of its loss (negative, in parts of a cell: the smallest item saves
        most), the number of that group, and the class. ``records`` are those now in each group; a
        record pays its share of the cells that are suppressed in its group, also those of loans.
        """
        problem = self.problem
        charges = {g: group.charge(problem.k, 1, UNIT) for g, group in problem.groups.items()}
        for c, g in self.placements:
            n = records[g]
            paid = problem.groups[g].cells * max(n, problem.k) * UNIT // n
            for cheaper in problem.groups_of[c]:
                if charges[cheaper] < paid:
                    yield charges[cheaper] - paid, cheaper, c

    def _root(self, c: int) -> int:
        while self.parents[c] != c:
            c = self.parents[c]
        return c

    def _join(self, classes: Iterable[int]) -> None:
        """Make one block of those that the classes are in."""
        roots = sorted({self._root(c) for c in classes}, key=lambda r: -len(self.members[r]))
        largest, *others = roots
        for root in others:
            self.parents[root] = largest
            self.members[largest] += self.members.pop(root)


def _solve_block(
    problem: Problem, inside: Collection[int], placed: Placements, deadline: float
) -> tuple[Placements, int]:
    """Place the records of the classes ``inside``, a block, so that they lose the fewest cells.

    Return where they are, and a lower bound on their loss in ``UNIT``. If the program is too large,
    or late, or finds nothing better, they stay as they are (``placed``).
    """
    cells = problem.count_cells(placed)
    floor = sum(map(problem.bound_of_class, inside))
    if floor >= cells * UNIT:  # nobody can lose less
        return placed, floor
    # Records may leave the block at a price, so that the optimum is a bound whatever others do.
    prices = {c: price for c in inside if (price := _price(problem, c, inside)) is not None}
    program = _BlockProgram(problem, inside, prices)
    if program.columns > COLUMNS:
        return placed, floor
    try:
        least = program.solve(cells * PARTS, deadline)
        bound = max(floor, least.bound * UNIT // PARTS)
        better = program.placements(least)
        if least.solution is not None and not better:  # somebody leaves, or nobody can lend so many
            within = _BlockProgram(problem, inside, prices={}, lends_spare_only=True)
            better = within.placements(within.solve(cells * PARTS, deadline))
        return better or placed, bound
    except OpenError:
        return placed, floor


def _price(problem: Problem, c: int, inside: Collection[int]) -> int | None:
    """Return the least loss of a record in a group that other blocks share; None: it fits none."""
    groups = [problem.groups[g] for g in problem.groups_of[c]]
    charges = [
        group.charge(problem.k, 1, PARTS)
        for group in groups
        if any(fitting not in inside for fitting in group.classes)
    ]
    return min(charges, default=None)


class _BlockProgram:
    """The integer program of a block: who is placed in which group, and who lends.

    Its unknowns have numbers: ``placed``, by class and group, the records of the class in the
    group; by group, whether it is ``used``, and the records ``lent`` to it; and by class, the
    records ``leaving`` the block, at the price of the class.
    """

    def __init__(
        self,
        problem: Problem,
        inside: Collection[int],
        prices: Mapping[int, int],
        *,
        lends_spare_only: bool = False,
    ) -> None:
        """Assign a number to each unknown; ``inside`` are the classes of the block.

        ``prices``: what a record costs that leaves it, in ``PARTS`` of a cell, by class; those
        without a price stay. With ``lends_spare_only`` a group borrows what classes can spare, else
        all that it lacks.
        """
        self.problem, self.prices, self.lends_spare_only = problem, prices, lends_spare_only
        self.classes = sorted(inside)
        groups = _useful_groups(problem, inside)
        numbers = count()
        pairs = ((c, g) for g, classes in groups.items() for c in classes)
        self.placed = dict(zip(pairs, numbers, strict=False))
        self.used = dict(zip(groups, numbers, strict=False))
        self.lent = dict(zip(groups, numbers, strict=False))
        self.leaving = dict(zip((c for c in self.classes if c in prices), numbers, strict=False))
        self.columns = next(numbers)

    def solve(self, attained: int, deadline: float) -> Least:
        """Return the fewest suppressed cells of the block (in ``PARTS`` of a cell).

        There is a solution only if it is less than ``attained``.
        """
        sizes = self.problem.sizes
        largest = {j: sizes[c] for (c, _), j in self.placed.items()}  # of each unknown
        costs = {j: self._cost(g) for (_, g), j in self.placed.items()}
        largest |= dict.fromkeys(self.used.values(), 1)
        for g, j in self.lent.items():
            group = self.problem.groups[g]
            lent = self.problem.k - 1 if group.lendable else 0
            largest[j] = min(lent, max(group.spare, 0)) if self.lends_spare_only else lent
            costs[j] = self._cost(g)
        for c, j in self.leaving.items():
            largest[j], costs[j] = sizes[c], self.prices[c]
        bounds = [(0, largest[j]) for j in range(self.columns)]
        goal = {j: cost for j, cost in costs.items() if cost}
        try:
            program = Program(bounds, list(self._rows()), deadline)
            return program.minimise(goal, attained, nodes=NODES)
        except InfeasibleError:
            return Least(attained, attained, None)

    def _cost(self, g: int) -> int:
        """Return what a record loses in a group, in ``PARTS`` of a cell."""
        return self.problem.groups[g].cells * PARTS

    def placements(self, least: Least) -> Placements:
        """Return the placements of a solution.

        They are empty if there is none, a record leaves, or no class can lend what a group lacks.
        """
        people = least.solution
        if people is None or any(people[j] for j in self.leaving.values()):
            return {}
        groups = self.problem.groups
        if any(people[j] > max(groups[g].spare, 0) for g, j in self.lent.items()):
            return {}
        return {pair: people[j] for pair, j in self.placed.items() if people[j]}

    def _rows(self) -> Iterator[Row]:
        """Yield the conditions: all records have a place, and a group has k of them or none."""
        sizes, k = self.problem.sizes, self.problem.k
        of_class: dict[int, list[int]] = {c: [] for c in self.classes}  # numbers of unknowns
        of_group: dict[int, dict[int, int]] = {g: {} for g in self.used}  # with sizes of classes
        for (c, g), j in self.placed.items():
            of_class[c].append(j)
            of_group[g][j] = sizes[c]
        for c, j in self.leaving.items():
            of_class[c].append(j)
        for c, columns in of_class.items():  # each record is placed once, or leaves
            yield Row(columns=columns, factors=[1 for _ in columns], lower=sizes[c], upper=sizes[c])
        for g, size_of in of_group.items():
            used, lent = self.used[g], self.lent[g]
            people = sum(size_of.values())
            # placed + lent >= k * used
            yield Row([*size_of, lent, used], [*(1 for _ in size_of), 1, -k], 0, people + k)
            for j, size in size_of.items():  # no record is in a group that is not used
                yield Row(columns=[j, used], factors=[1, -size], lower=-people, upper=0)
            # lent <= (k - 1) * used: a group is not made of lent records alone
            yield Row(columns=[lent, used], factors=[1, 1 - k], lower=-k, upper=0)


def _useful_groups(problem: Problem, inside: Collection[int]) -> dict[int, Sequence[int]]:
    """Return the groups that the program of a block needs, by number: the classes that fit.

    Groups that cannot have k records are left out. Of groups that the same classes fit, the one
    with the fewest suppressed cells is enough.
    """
    numbers = sorted({g for c in inside for g in problem.groups_of[c]})
    # The cells and the number of a group, by the classes that fit it, and whether others can lend.
    cheapest: dict[tuple[frozenset[int], bool], tuple[int, int]] = {}
    for g in numbers:
        group = problem.groups[g]
        classes = frozenset(c for c in group.classes if c in inside)
        if group.lendable or sum(problem.sizes[c] for c in classes) >= problem.k:
            key, rank = (classes, group.lendable), (group.cells, g)
            cheapest[key] = min(cheapest.get(key, rank), rank)
    useful: dict[int, Sequence[int]] = {}
    for (classes, lendable), (cells, g) in sorted(cheapest.items(), key=lambda item: item[1]):
        lendable_cells, _ = cheapest.get((classes, True), (cells + 1, 0))
        if lendable or cells < lendable_cells:  # else one that can borrow costs no more
            useful[g] = sorted(classes)
    return useful
