"""The harm by table, by group of people and by component, and where tables overlap.

Of the worst component also the combinations, with the bounds of each count.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import polars as pl
from sqlglot import exp

from qifsql.commands.tables import proofs
from qifsql.commands.tables.arrays import Cell
from qifsql.commands.tables.dimensions import value_texts
from qifsql.commands.tables.hypergraph import Edge, maximal_edges
from qifsql.commands.tables.margins import (
    MOST_LISTED_CELLS,
    Margins,
    Published,
    has_at_most,
    place,
    places,
)
from qifsql.commands.tables.measured import Measured, in_components, without_components
from qifsql.commands.tables.proofs import Question
from qifsql.commands.tables.question_rows import right_people
from qifsql.commands.tables.spec import CELLS_LISTED
from qifsql.data.expressions import filled
from qifsql.query.columns import number
from qifsql.query.shapes import Shape
from qifsql.query.splice import splice

COMPONENTS_LISTED = 20
MOST_COMBINATIONS = 10_000  # of a component whose combinations are listed

CHECKS: dict[str, pl.DataType] = {
    **dict.fromkeys(("table", "protection"), pl.String()),
    **dict.fromkeys(("cells", "hidden", "undone", "small", "ones", "twos"), pl.Int64()),
}
"""One row per table: its published ``cells``, the ``hidden`` ones among them, and of these the
``undone`` ones, whose count follows from the tables. ``small`` cells show a count from 1 to less
than the named number; ``ones`` and ``twos`` show 1 and 2."""

DISCLOSURE: dict[str, pl.DataType] = {
    **dict.fromkeys(("table", "dimension"), pl.String()),
    **dict.fromkeys(("rows", "people"), pl.Int64()),
}
"""One row per table and dimension: the rows with a single cell that is not 0, so that the value of
the dimension is certain for at least so many ``people`` in them (group disclosure)."""

OVERLAPS: dict[str, pl.DataType] = {
    **dict.fromkeys(("tables", "dimensions"), pl.List(pl.String())),
    **dict.fromkeys(("cells", "people"), pl.Int64()),
}
"""One row per pair of tables: the combinations of the dimensions of both that are proved to hold
somebody, and fewer people than the named number (differencing)."""

GROUPS: dict[str, pl.DataType] = {
    **dict.fromkeys(("secret", "by", "group"), pl.String()),
    **dict.fromkeys(("people", "reconstructed", "singled_out", "certain_inference"), pl.Int64()),
    "actual": pl.Float64(),
}
"""One row per question and group of people. ``people`` and ``actual`` are NULL without records;
``singled_out`` and ``certain_inference`` are NULL where the group is not known."""

COMPONENTS: dict[str, pl.DataType] = {
    **dict.fromkeys(("secret", "component"), pl.String()),
    **dict.fromkeys(("people", "reconstructed", "singled_out", "certain_inference"), pl.Int64()),
    **dict.fromkeys(("lowest", "highest"), pl.Float64()),
}
"""One row per question and component, such as a school: those in which most people are proved."""

CELLS: dict[str, pl.DataType] = {
    **dict.fromkeys(("component", "row_dimensions", "row"), pl.List(pl.String())),
    **dict.fromkeys(("column_dimension", "column"), pl.String()),
    **dict.fromkeys(("lower", "upper", "people"), pl.Int64()),
}
"""One row per combination that may hold somebody, of the component in which most people are proved
(``component``: its values; NULL: all people), at most 200. Its count is from ``lower`` to
``upper``, which may be outer bounds; ``people`` is the true count (NULL without records).
``column`` is the value of one dimension, the secret if there is one, ``row`` are those of the
others."""


def checks(measured: Measured, small: int) -> pl.DataFrame:
    """Return a row per table (``CHECKS``); published counts from 1 to below ``small`` are small."""
    rows, numbers = [], {"small_limit": small}
    for table in measured.published:
        query = splice("tables/cell_checks", tables={"cells": table.cells}, numbers=numbers)
        (cell_counts,) = measured.margins.rows(query)
        undone = _undone_cells(measured, table) if cell_counts["hidden"] else 0
        texts = {"table": table.title, "protection": table.protection.text}
        rows.append(texts | cell_counts | {"undone": undone})
    return pl.DataFrame(rows, schema=CHECKS)


def _undone_cells(measured: Measured, table: Published) -> int:
    """Return how many hidden cells of a table have one possible count: by bounds, or solutions."""
    margins = measured.margins
    tables = {"cells": table.cells, "bounds": margins.nodes[table.edge]}
    cells = splice("tables/hidden_cells", tables=tables, shape={"edge": table.edge})
    hidden = exp.select().from_(cells.subquery("hidden_cells"))
    # The bounds are NULL where no margin has the cell: it is empty for sure.
    proved = hidden.select("count(*)").where("lower IS NOT DISTINCT FROM upper")
    ((n,),) = margins.tables.rows(proved)
    if settled := measured.settled.get(table.edge):  # proved by the solution of a component
        open_cells = (
            hidden.select(*places(table.edge)).where("lower < upper").limit(MOST_LISTED_CELLS)
        )
        n += sum(tuple(codes) in settled for codes in margins.tables.rows(open_cells))
    return int(n)


def disclosure(measured: Measured) -> pl.DataFrame:
    """Return per table and dimension the rows with a single cell that is not 0 (``DISCLOSURE``)."""
    margins = measured.margins
    rows = []
    for table in measured.published:
        if table.protection.unlisted or len(table.edge) < 2:
            continue  # a cell that is not listed may have people; one dimension has no rows
        # Cells of releases that follow from the table's own dimensions tell nothing more.
        within = [t.edge for t in measured.release.structural if t.edge <= table.edge]
        edge = table.edge - (frozenset().union(*within) & margins.domain.derived)
        # The dimension whose value a row may tell: a cell of a release is no value of its own.
        for i in sorted(edge & margins.domain.independent if len(edge) > 1 else ()):
            tables, shape = {"cells": table.cells}, {"edge": edge - {i}}
            query = splice("tables/single_cells", tables=tables, shape=shape)
            ((single_rows, people),) = margins.tables.rows(query)
            rows.append((table.title, margins.domain.names[i], int(single_rows), int(people)))
    return pl.DataFrame(rows, schema=DISCLOSURE, orient="row")


def crossing_pairs(published: Sequence[Published]) -> list[tuple[Published, Published]]:
    """Return the pairs of tables of which neither has all dimensions of the other."""
    return [
        (a, b) for a, b in combinations(published, 2) if not (a.edge <= b.edge or b.edge <= a.edge)
    ]


def overlaps(measured: Measured, small: int) -> pl.DataFrame:
    """Return per pair of tables how many combinations they prove to be small (``OVERLAPS``).

    Those hold somebody for sure, but fewer than ``small`` people. Pairs with the same dimensions
    together prove the same; the first stands for them.
    """
    margins = measured.margins
    by_edge: dict[Edge, list[str]] = {}  # the titles of a pair, by the dimensions of both
    for a, b in crossing_pairs(measured.published):
        by_edge.setdefault(a.edge | b.edge, [a.title, b.title])
    rows = []
    is_small = filled("upper < n", {"n": number(small)})
    for edge, titles in by_edge.items():
        proved = proofs.sure_cells(margins, edge)
        query = exp.select("count(*)", "coalesce(sum(lower), 0)::BIGINT").from_(proved)
        ((n, people),) = margins.tables.rows(query.where(is_small))
        names = [margins.domain.names[i] for i in sorted(edge & margins.domain.independent)]
        rows.append((titles, names, int(n), int(people)))
    return pl.DataFrame(rows, schema=OVERLAPS, orient="row")


def groups(measured: Measured, questions: Sequence[Question], by: int) -> pl.DataFrame:
    """Return a row per question and value of dimension ``by``: what is proved (``GROUPS``)."""
    margins, records = measured.margins, measured.release.records
    sizes: dict[int, int] = {}  # true numbers of people, by the code of the group
    if records is not None:
        truth = exp.select(place(by), "people").from_(records.truth(frozenset([by])))
        sizes = dict(margins.tables.rows(truth))
    rows = []
    for question in questions:
        proved = _proved_by_group(measured, question, by)
        right = None
        if records is not None and question in measured.best_guesses:  # of a secret
            right = right_people(measured, question, records, by)
        secret = None if question.secret is None else margins.domain.names[question.secret]
        for code, text in value_texts(margins, by).items():
            people = None if records is None else sizes.get(code, 0)
            row: dict[str, Any] = {"secret": secret, "by": margins.domain.names[by]}
            row |= {"group": text, "people": people, "actual": None}
            row |= {name: None if n is None else int(n.get(code, 0)) for name, n in proved.items()}
            if right is not None and people:
                row["actual"] = float(right.get(code, Fraction(0)) / people)
            rows.append(row)
    return pl.DataFrame(rows, schema=GROUPS)


def _proved_by_group(
    measured: Measured, question: Question, by: int
) -> dict[str, Counter[int] | None]:
    """Return by measure the people proved, by code of their value of ``by``; None: not known.

    Components with an exact solution (``solved``) are counted from it, the others from their
    bounds.
    """
    proved, solved = measured.proofs[question], measured.solved[question].values()
    place_of_group = sorted(measured.margins.domain.every).index(by)
    reconstructed = _sums_by_group(
        measured, question, by, table=proved.lines, total="sum(lower)", condition="lower = upper"
    ) + _people_by_code((solution.proved_lines for solution in solved), place_of_group)
    if by not in question.knowledge:  # a block may have people of several groups
        return {"reconstructed": reconstructed, "singled_out": None, "certain_inference": None}
    place_of_group = sorted(question.knowledge).index(by)
    one_person = "lower = 1 AND upper = 1"  # of a block: its person is singled out
    alone = _sums_by_group(
        measured, question, by, table=proved.block_lines, total="count(*)", condition=one_person
    ) + _people_by_code((solution.lone_blocks for solution in solved), place_of_group)
    sure = _people_by_code((solution.sure for solution in solved), place_of_group)
    if proved.sure is not None:
        sure += _sums_by_group(
            measured, question, by, table=proved.sure, total="sum(people)", condition="people > 0"
        )
    return {"reconstructed": reconstructed, "singled_out": alone, "certain_inference": sure}


def _people_by_code(solutions: Iterable[Mapping[Cell, int]], at: int) -> Counter[int]:
    """Return the people of the cells of solutions, by the code at place ``at`` of each cell."""
    people: Counter[int] = Counter()
    for people_by_cell in solutions:
        for cell, n in people_by_cell.items():
            people[cell[at]] += n
    return people


def _sums_by_group(
    measured: Measured, question: Question, by: int, *, table: str, total: str, condition: str
) -> Counter[int]:
    """Return the SQL aggregate ``total`` of the rows of a table, by the code of dimension ``by``.

    Only rows with the SQL ``condition`` count, and none of solved components.
    """
    aggregate = exp.cast(filled(total, {}), "BIGINT")
    query = exp.select(place(by), aggregate).from_(table).where(condition)
    query = without_components(query, measured.solved[question])
    return Counter(dict(measured.margins.tables.rows(query.group_by(place(by)))))


def components(measured: Measured, question: Question) -> list[dict[str, Any]]:
    """Return a row per component in which something is proved of people (``COMPONENTS``).

    ``worst_components`` has those with most such people, and none if all is one component. A
    component without people has no shares, and is left out.
    """
    margins = measured.margins
    secret = None if question.secret is None else margins.domain.names[question.secret]
    rows = []
    for row in worst_components(measured, question):
        if row["people"]:
            title = ", ".join(text or "" for text in _component_texts(margins, row))
            line = {"secret": secret, "component": title, "certain_inference": row["certain"]}
            line |= {name: row[name] for name in ("people", "reconstructed", "singled_out")}
            line |= {end: row[end] / row["people"] for end in ("lowest", "highest")}  # shares
            rows.append(line)
    return rows


def _component_texts(margins: Margins, row: dict[str, Any]) -> list[str | None]:
    """Return the values that make a component, such as a school, from the codes in a row."""
    codes = [(i, row[place(i)]) for i in sorted(margins.shared)]
    return [value_texts(margins, i, [code])[code] for i, code in codes]


def worst_components(measured: Measured, question: Question) -> list[dict[str, Any]]:
    """Return the ``COMPONENTS_LISTED`` components with most people proved, the worst first.

    A dictionary has the number ``component``, the codes ``place_i`` of its values, and in people
    ``people``, ``reconstructed``, ``singled_out``, ``certain``, ``lowest`` and ``highest``.
    """
    margins = measured.margins
    if not margins.shared:  # all people are one component
        return []
    solved = measured.solved[question]
    attributes = sorted(margins.shared)
    proved = ("reconstructed", "singled_out", "certain")
    columns = ("component", "people", *proved, "lowest", "highest")
    query = exp.select(*columns, *places(attributes)).from_(measured.by_component[question])
    query = query.order_by(*(exp.column(name).desc() for name in proved))
    rows = margins.rows(query.order_by(*places(attributes)).limit(COMPONENTS_LISTED))
    if solved:  # the table above has none of them
        node = exp.select("component", "upper AS people", *places(attributes))
        node = node.from_(margins.nodes[margins.shared])
        for row in margins.rows(node.where(in_components(solved))):
            solution = solved[row["component"]]
            row["reconstructed"] = sum(solution.proved_lines.values())
            row["singled_out"] = len(solution.lone_blocks)
            row["certain"] = solution.certain
            row["lowest"], row["highest"] = solution.lowest, solution.highest
            rows.append(row)
    codes = [place(i) for i in attributes]
    rows.sort(key=lambda row: (*(-row[name] for name in proved), *(row[code] for code in codes)))
    return rows[:COMPONENTS_LISTED]


def cell_details(measured: Measured, question: Question) -> dict[str, pl.DataFrame]:
    """Return the detail ``cells``, the first combinations of the worst component.

    Empty if they are too many to list; a note in ``measured`` says so. They are ordered by their
    codes: first those of the rows, then that of the column.
    """
    margins = measured.margins
    every = margins.domain.every
    component = None
    if every > margins.shared:  # else a component is a single combination
        component = next(iter(worst_components(measured, question)), None)
    cells = _bounded_combinations(measured, question, component)
    if cells is None:
        measured.notes.append("the combinations of the worst component are too many to list")
        return {}
    dims = margins.domain.independent
    inner = dims if component is None else dims - margins.shared  # differ within the component
    across = question.secret if question.secret in inner else None
    if across is None:  # the columns are the values of the dimension that has the fewest
        across = min(inner, key=lambda i: (margins.domain.sizes[i], -i))
    values = None if component is None else _component_texts(margins, component)
    down = sorted(inner - {across})
    dimensions, names = [*down, across], margins.domain.names
    cells.sort(key=lambda cell: [cell[place(i)] for i in dimensions])
    listed = cells[:CELLS_LISTED]
    texts = {i: value_texts(margins, i, {cell[place(i)] for cell in listed}) for i in dimensions}
    lines = [
        {
            "component": values,
            "row_dimensions": [names[i] for i in down],
            "row": [texts[i][cell[place(i)]] for i in down],
            "column_dimension": names[across],
            "column": texts[across][cell[place(across)]],
        }
        | {name: cell[name] for name in ("lower", "upper", "people")}
        for cell in listed
    ]
    return {"cells": pl.DataFrame(lines, schema=CELLS)}


def _bounded_combinations(
    measured: Measured, question: Question, component: dict[str, Any] | None
) -> list[dict[str, Any]] | None:
    """Return a row per combination of a component that may hold somebody: codes, bounds, people.

    ``component`` is a row of ``worst_components``; None: all people. Returns None if there are too
    many.
    """
    margins, records = measured.margins, measured.release.records
    every = margins.domain.every
    if table := proofs.complete_margin(margins, every):  # a margin lists them, with upper bounds
        edges = [every]
        query = exp.select("component", *places(every)).from_(table).where("upper > 0")
    else:  # those that no margin excludes; their upper bounds are the least of the tables
        edges, query = maximal_edges(margins.edges), proofs.clique_cells(margins, every)
    if component is not None:
        query = exp.select("*").from_(query.subquery("possible"))
        query = query.where(in_components([component["component"]]))
    if not has_at_most(margins, query, MOST_COMBINATIONS):
        return None
    tables = {"cells": margins.keep(query), "proved": measured.proofs[question].lines}
    tables |= {f"margin_{k}": margins.nodes[edge] for k, edge in enumerate(edges)}
    tables |= {} if records is None else {"truth": records.truth(every)}
    shape: dict[str, Shape] = {"every": every, "edges": edges, "has_records": records is not None}
    rows = margins.rows(splice("tables/component_cells", tables=tables, shape=shape))
    for row in rows:  # the solution of a component, if it has one, may have sharper bounds
        cell = tuple(row[place(i)] for i in sorted(every))
        solution = measured.solved[question].get(row["component"])
        if solution is not None and cell in solution.lines:
            row["lower"], row["upper"] = solution.lines[cell]
    return rows
