"""One set of tables: its margins, their bounds, the components that are solved, contradictions."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from sqlglot import exp

from qifsql.commands.tables import fit, proofs, small_components, solver
from qifsql.commands.tables.hypergraph import Edge
from qifsql.commands.tables.kept_components import KeptComponents
from qifsql.commands.tables.margins import ContradictionError, Published, build_margins
from qifsql.commands.tables.measured import Measured
from qifsql.commands.tables.proofs import Question
from qifsql.commands.tables.table_release import Release
from qifsql.counting import integer_programs
from qifsql.errors import InputError, plural
from qifsql.query.columns import union
from qifsql.query.splice import splice

SECONDS_PER_SET = 10  # for the exact solution of each set that may contradict itself


@dataclass
class Budget:
    """The seconds that are left for exact solutions, and the memory of those that are done."""

    seconds: float
    memory: KeptComponents | None = None


def measure_tables(
    release: Release,
    published: Sequence[Published],
    questions: Sequence[Question],
    budget: Budget,
    pair_scopes: Sequence[Edge] = (),
) -> Measured:
    """Return a set of tables with its bounds, what they prove, and the solved components.

    The bounds of all margins are propagated, then read as proofs; components whose bounds may not
    be sharp are solved exactly while the ``budget`` lasts; expected counts are fitted for the rest.
    ``published`` are tables of the release. ``pair_scopes`` are further sets of attributes,
    of which it will be asked which cells hold somebody. Raises ContradictionError if no counts are
    possible.
    """
    every = release.domain.every
    scope = proofs.asked_scopes(questions, every)
    chosen = [*published, *_structural(release, published)]
    edges = [t.edge for t in chosen]
    margins = build_margins(
        release.tables,
        release.domain,
        chosen,
        further=proofs.further_margins(edges, questions, every, pair_scopes),
        scope=scope,
    )
    in_closed_form = all(proofs.has_closed_form(margins, a) for a in scope)
    if not in_closed_form or margins.joint:  # else every margin is a sum of exact counts
        proofs.sharpen(margins)
    measured = Measured(release, margins, questions, published, in_closed_form)
    measured.proofs = {question: proofs.prove(margins, question) for question in questions}
    # Only the bounds of all attributes may be in closed form, and not those of blocks.
    if not in_closed_form and proofs.has_closed_form(margins, every):
        measured.closed = all(_finds_all_alone(measured, question) for question in questions)
    measured.components = margins.tables.count(margins.nodes[margins.shared])
    measured.open_components = set() if measured.closed else _open_components(measured)
    _solve_exactly(measured, budget)
    # Expected counts are needed where not all arrays were listed, and only for secrets.
    unaveraged = [q for q in questions if len(measured.averaged(q)) < measured.components]
    if any(q.secret is not None for q in unaveraged):
        measured.expected_counts = fit.fit_margins(margins)
    return measured


def _structural(release: Release, published: Sequence[Published]) -> list[Published]:
    """Return the tables that say which combinations can occur, without those that tell no more.

    A table that has been extended by a cell of a release lists only values with their cells, so
    that the pairs of both, which lack the dimensions of components, are not needed beside it.
    """
    listed = [table.edge for table in published if not table.protection.unlisted]
    return [
        table
        for table in release.structural
        if not (table.edge & release.domain.derived and any(table.edge <= e for e in listed))
    ]


def _solve_exactly(measured: Measured, budget: Budget) -> None:
    """Solve components exactly, until the seconds are over; take those used off the budget."""
    start = time.monotonic()
    deadline = start + budget.seconds
    _solve_by_programs(measured, deadline, budget.memory)
    # These list all arrays, which also gives means; they replace the solutions of programs.
    small_components.solve_small(measured, deadline)
    budget.seconds -= time.monotonic() - start


def _solve_by_programs(measured: Measured, deadline: float, memory: KeptComponents | None) -> None:
    """Keep what integer programming proves of open components; note if its library is missing."""
    if not measured.open_components:
        return
    if not integer_programs.available():
        measured.notes.append(
            "components with many combinations stay open: integer programming needs the extra "
            "tables (see docs/start/install.md)"
        )
        return
    for component, outcome in solver.solve_components(measured, deadline, memory):
        for question, solution in outcome.solved.items():
            measured.solved[question][component] = solution
        for edge, cell in outcome.settled:
            measured.settled[edge].add(cell)
        if all(solution.sharp for solution in outcome.solved.values()):
            measured.sharp_components.add(component)


def _finds_all_alone(measured: Measured, question: Question) -> bool:
    """Return whether the bounds single out all people who can be singled out for sure.

    They do if the cells of what is known, with and without the secret, have sharp bounds; or if as
    many are proved to be alone as are alone in the records.
    """
    margins, records = measured.margins, measured.release.records
    if not proofs.has_closed_form(margins, question.scope):
        return False
    if proofs.has_closed_form(margins, question.knowledge):
        return True
    if records is None:
        return False
    # Nobody can be singled out but those who are alone in the records.
    alone = exp.select("count(*)").from_(records.truth(question.knowledge)).where("people = 1")
    proved = exp.select("count(*)").from_(measured.proofs[question].block_lines)
    return margins.tables.rows(alone) == margins.tables.rows(
        proved.where("lower = 1 AND upper = 1")
    )


def _open_components(measured: Measured) -> set[int]:
    """Return the numbers of the components whose bounds are not known to be sharp.

    There are two tests for a sharp component: all that is asked is decomposable, and no cell of its
    tables is open; or all cells that are asked for are listed, and none of them is open.
    """
    margins = measured.margins
    scope = proofs.asked_scopes(measured.questions, margins.domain.every)
    ordered = sorted({*margins.edges, *scope}, key=len)
    if set(scope) <= set(margins.edges) and all(a <= b for a, b in pairwise(ordered)):
        # Tables lie in one another: their sums are a tree, on which propagation finds everything.
        return set()
    edge_sets: list[Sequence[Edge]] = []  # a component is sharp if one has no open cell in it
    if all(proofs.is_decomposable(margins.edges, attributes) for attributes in scope):
        edge_sets.append(margins.edges)
    if all(proofs.complete_margin(margins, attributes) for attributes in scope):
        edge_sets.append(scope)
    queries: list[exp.Query] = []
    for edges in edge_sets:
        nodes = [exp.select("component").from_(margins.nodes[e]) for e in dict.fromkeys(edges)]
        queries.append(union([node.where("lower < upper") for node in nodes], distinct=True))
    queries = queries or [exp.select("component").from_(margins.nodes[margins.shared])]
    return set.intersection(*({c for (c,) in margins.tables.rows(query)} for query in queries))


def contradiction_error(release: Release, published: Sequence[Published]) -> InputError:
    """Return the error about tables for which no counts exist: which, and in which lines."""
    tables = _smallest_set(release, published)
    names = [t.title for t in tables]
    listed = " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
    if len(tables) == 1:
        rest = "".join(f", with {t.title}" for t in release.structural)
        return InputError(
            f"{listed} contradicts the number of people, {release.domain.people:,}{rest}: no "
            "counts within its protection add up to it; check what is counted, and the protection"
        )
    where, limit = "", ", though fewer of them do not"
    if len(tables) == 2:
        first, second = tables
        where, limit = _disagreeing_cells(release, first, second), ""
    return InputError(
        f"the tables {listed} contradict each other{limit}: no counts agree with all of them"
        f"{where}; correct a count, or say how the tables are protected"
    )


def _smallest_set(release: Release, published: Sequence[Published]) -> Sequence[Published]:
    """Return the first of the smallest sets of tables for which no counts exist."""
    question = Question(release.domain.every, None)
    for n in range(1, len(published)):
        for tables in combinations(published, n):
            try:
                measured = measure_tables(release, tables, [question], Budget(SECONDS_PER_SET))
            except ContradictionError:
                return tables
            measured.margins.close()
    return published


def _disagreeing_cells(release: Release, first: Published, second: Published) -> str:
    """Return words on the cells in which two tables have no common count; empty without any."""
    tables = {"cells_one": first.cells, "cells_other": second.cells}
    numbers = {"unlisted_one": first.protection.unlisted}
    numbers |= {"unlisted_other": second.protection.unlisted}
    shape = {"shared": first.edge & second.edge}
    query = splice("tables/disagreements", tables=tables, numbers=numbers, shape=shape)
    ((n, line, second_line),) = release.tables.rows(query)  # first lines; NULL: not of files
    if not n:
        return ""
    text = f", in {plural(n, 'cell')} of what both have"
    places = ((line, first.title), (second_line, second.title))
    lines = [f"line {number} of {title}" for number, title in places if number is not None]
    return f"{text} (the first in {', '.join(lines)})" if lines else text
