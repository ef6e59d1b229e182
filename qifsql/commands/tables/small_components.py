"""Small components: all arrays of counts of each are listed, so that its solution is exact."""

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlglot import exp

from qifsql.commands.tables import arrays
from qifsql.commands.tables.arrays import Cell, Sum, TooManyError
from qifsql.commands.tables.hypergraph import Edge
from qifsql.commands.tables.margins import ContradictionError, Margins, places
from qifsql.commands.tables.measured import Measured
from qifsql.commands.tables.proofs import complete_margin
from qifsql.data.expressions import filled
from qifsql.query.columns import number

MOST_CELLS = 400  # of a component whose arrays are listed
MOST_COMPONENTS = 5_000  # whose arrays are listed, the smallest first
FIRST_VISITS = 5_000  # steps of the first search for arrays, before it gives up
MOST_VISITS = 300_000  # steps of the second

Bounded = tuple[Cell, int, int]
"""A cell with its lower and its upper bound."""


class TableCell(NamedTuple):
    """A cell of a margin, and the condition on the counts of the cells inside it.

    The condition has the places of these cells in the list of their component.
    """

    attributes: Edge
    codes: Cell
    condition: Sum


def solve_small(measured: Measured, deadline: float) -> None:
    """Solve small components exactly, the smallest first, until the time is over.

    The possible cells of a component are read, with its published sums, and all arrays of counts
    that agree with these are listed. What they prove is stored in ``measured``; a component with
    too many arrays stays as it is. Raises ContradictionError for one with none.
    """
    margins = measured.margins
    every = margins.domain.every
    if (table := complete_margin(margins, every)) is None:  # not all possible cells are listed
        return
    is_small = filled("count(*) <= n", {"n": number(MOST_CELLS)})
    sizes = exp.select("component", "count(*) AS cells").from_(table)
    sizes = sizes.where("upper > 0").group_by("component").having(is_small)
    smallest = margins.keep(sizes.order_by("cells", "component").limit(MOST_COMPONENTS))
    cells = bounded_cells(margins, table, every, smallest, "upper > 0")
    sums = _sums_of_tables(margins, smallest, cells)
    waiting = sorted(cells, key=lambda component: (len(cells[component]), component))
    for visits in (FIRST_VISITS, MOST_VISITS):
        for component in waiting:
            if time.monotonic() > deadline:
                return
            bounds = [(lower, upper) for _, lower, upper in cells[component]]
            conditions = [cell.condition for cell in sums[component]]
            try:
                possible = arrays.list_arrays(bounds, conditions, deadline, visits)
            except TooManyError:
                continue
            if not possible:
                raise ContradictionError
            _store_solution(measured, component, cells[component], sums[component], possible)
        # Search longer, but only where the bounds are not known to be sharp.
        unsolved = measured.open_components - measured.sharp_components
        waiting = [component for component in waiting if component in unsolved]


def _store_solution(
    measured: Measured,
    component: int,
    cells: Sequence[Bounded],
    sums: Sequence[TableCell],
    possible: Sequence[arrays.Array],
) -> None:
    """Store in ``measured`` what all arrays of counts of a component prove together.

    That is its solution for each question, and its published cells that hide their count, but have
    the same in all arrays. ``possible`` are all arrays of counts of its ``cells``; ``sums`` are
    cells of its published tables.
    """
    for table_cell in sums:
        condition = table_cell.condition
        totals = {sum(array[c] for c in condition.cells) for array in possible}
        if condition.lower < condition.upper and len(totals) == 1:  # hidden, and yet certain
            measured.settled[table_cell.attributes].add(table_cell.codes)
    attributes = sorted(measured.margins.domain.every)
    codes = [cell for cell, _, _ in cells]
    for question in measured.questions:
        knowledge = [attributes.index(i) for i in sorted(question.knowledge)]  # places in a cell
        secret = None if question.secret is None else attributes.index(question.secret)
        solution = arrays.solve(codes, possible, knowledge, secret)
        measured.solved[question][component] = solution
    if component in measured.open_components:
        measured.sharp_components.add(component)


def _sums_of_tables(
    margins: Margins, chosen: str, cells: Mapping[int, Sequence[Bounded]]
) -> dict[int, list[TableCell]]:
    """Return by component the cells of published tables, each a sum of cells of all attributes.

    ``cells`` are these cells of all attributes by component, ``chosen`` is an engine table of the
    components asked for.
    """
    every = sorted(margins.domain.every)
    sums: dict[int, list[TableCell]] = defaultdict(list)
    for edge in dict.fromkeys([margins.shared, *margins.edges]):
        inner = [every.index(i) for i in sorted(edge)]  # places in a cell of all attributes
        published = bounded_cells(margins, margins.nodes[edge], edge, chosen)
        for component, table_cells in published.items():
            places_inside: dict[Cell, list[int]] = defaultdict(list)
            for place, (combination, _, _) in enumerate(cells.get(component, ())):
                places_inside[tuple(combination[i] for i in inner)].append(place)
            for codes, lower, upper in table_cells:
                condition = Sum(places_inside.get(codes, []), lower, upper)
                sums[component].append(TableCell(edge, codes, condition))
    return sums


def bounded_cells(
    margins: Margins, table: str, edge: Edge, chosen: str, where: str = ""
) -> dict[int, list[Bounded]]:
    """Return by component the cells of a margin: codes of values, least and largest count.

    ``table`` is the engine table of a margin of the attributes ``edge``, ``chosen`` that of the
    components asked for; ``where`` is a condition on the cells.
    """
    query = exp.select("component", "lower", "upper", *places(edge)).from_(table)
    query = query.join(chosen, using=["component"], join_type="semi")
    query = query.where(where) if where else query
    cells: dict[int, list[Bounded]] = defaultdict(list)
    rows = margins.tables.rows(query.order_by("component", *places(edge)))
    for component, lower, upper, *codes in rows:
        cells[component].append((tuple(codes), lower, upper))
    return cells
