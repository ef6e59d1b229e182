"""One set of tables: its margins, their bounds, and the components that are solved."""

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from sqlglot import exp

from qifsql.commands.tables import arrays, fit, integer_programs, solver
from qifsql.commands.tables.arrays import Cell, Solved, Sum, TooManyError
from qifsql.commands.tables.dimensions import Records
from qifsql.commands.tables.hypergraph import Edge
from qifsql.commands.tables.margins import (
    ContradictionError,
    Domain,
    Margins,
    Published,
    build,
    check_first,
    places,
)
from qifsql.commands.tables.proofs import (
    JOINT,
    Proofs,
    Question,
    closed,
    complete,
    decomposed,
    further,
    prove,
    sets,
    sharpen,
)
from qifsql.engine.tables import Tables
from qifsql.query.columns import number

SMALL = 400  # cells of a component whose arrays are listed
FEW_VISITS = 5_000  # of the search where the bounds are sharp
TRIED = 5_000  # components whose arrays are listed, the smallest first


@dataclass(frozen=True)
class Release:
    """The tables of a command, their dimensions, and the records behind them if they are at hand.

    ``structural`` tables say only which combinations can occur, ``possible`` is their number.
    """

    tables: Tables
    domain: Domain
    published: Sequence[Published]
    records: Records | None
    possible: int
    structural: Sequence[Published] = ()


@dataclass
class Measured:
    """A set of tables with its bounds.

    ``solved`` are the components that were solved exactly, by question, ``sharp`` those of them
    that were open; ``counts`` are the expected counts, ``notes`` remarks on them.
    """

    release: Release
    margins: Margins
    questions: Sequence[Question]
    titles: Sequence[str]
    closed: bool
    proofs: dict[Question, Proofs] = field(default_factory=dict)
    solved: dict[Question, dict[int, Solved]] = field(default_factory=dict)
    open_components: int = 0
    components: int = 0
    sharp: set[int] = field(default_factory=set)
    counts: fit.Fit | None = None
    settled: dict[Edge, set[Cell]] = field(default_factory=lambda: defaultdict(set))
    best: dict[Question, tuple[str, Edge] | None] = field(default_factory=dict)
    by_component: dict[Question, str] = field(default_factory=dict)
    published: Sequence[Published] = ()
    notes: list[str] = field(default_factory=list)


@dataclass
class Budget:
    """The seconds that are left for exact solutions, and the memory of those that are done."""

    seconds: float
    memory: solver.Memory | None = None


def measure(
    release: Release,
    published: Sequence[Published],
    questions: Sequence[Question],
    budget: "Budget",
    others: Sequence[Edge] = (),
) -> Measured:
    """Return a set of tables with its bounds and what they prove.

    ``others`` are further sets of attributes whose lines will be asked for.
    """
    every = release.domain.every
    scope = sets(questions, every)
    chosen = [*published, *release.structural]
    edges = [t.edge for t in chosen]
    margins = build(
        release.tables,
        release.domain,
        chosen,
        further=further(edges, questions, every, others),
        scope=scope,
        joint=scope,
        most=JOINT,
    )
    in_closed_form = all(closed(margins, a) for a in scope)
    check_first(margins)
    if not in_closed_form or margins.joint:  # else every margin is a sum of exact counts
        sharpen(margins)
    measured = Measured(
        release,
        margins,
        questions,
        [t.title for t in published],
        in_closed_form,
        published=published,
    )
    for question in questions:
        measured.proofs[question] = prove(margins, question)
    if not in_closed_form and closed(margins, every):
        measured.closed = all(_decided(measured, question) for question in questions)
    _look(measured)
    measured.solved = {question: {} for question in questions}
    start = time.monotonic()
    deadline = start + budget.seconds
    _program(measured, deadline, budget.memory)
    _list(measured, deadline, FEW_VISITS)
    _list(measured, deadline, arrays.VISITS)
    budget.seconds -= time.monotonic() - start
    left = [q for q in questions if len(averaged(measured, q)) < measured.components]
    if any(q.secret is not None for q in left):
        measured.counts = fit.fitted(margins)
    return measured


def _decided(measured: Measured, question: Question) -> bool:
    """Return whether nobody can be singled out beyond those who are, by what is known.

    Only who is alone in the records can be.
    """
    margins, records = measured.margins, measured.release.records
    if not closed(margins, question.scope):
        return False
    if closed(margins, question.knowledge):
        return True
    if records is None:
        return False
    alone = exp.select("count(*)").from_(records.truth(question.knowledge)).where("people = 1")
    proved = exp.select("count(*)").from_(measured.proofs[question].block_lines)
    ((n,),) = margins.tables.rows(alone)
    ((m,),) = margins.tables.rows(proved.where("lower = 1 AND upper = 1"))
    return bool(n == m)


def _look(measured: Measured) -> None:
    """Count the components, and those whose bounds are not known to be sharp."""
    margins = measured.margins
    measured.components = margins.tables.count(margins.nodes[margins.shared])
    if measured.closed:
        return
    query = _open(measured)
    if query is None:
        measured.open_components = measured.components
    else:
        ((n,),) = margins.tables.rows(exp.select("count(*)").from_(query.subquery("open")))
        measured.open_components = int(n)


def _open(measured: Measured) -> exp.Query | None:
    """Return the components with cells that are not settled; None: all of them may have some."""
    margins = measured.margins
    scope = sets(measured.questions, margins.domain.every)
    if _nested(margins, scope):
        return exp.select("0 AS component").where(exp.false())
    conditions = []
    if all(decomposed(margins.edges, scope_) for scope_ in scope):
        conditions.append(margins.edges)
    if all(a in margins.nodes and complete(margins, a) for a in scope):
        conditions.append(scope)
    if not conditions:
        return None
    each = []
    for edges in conditions:
        parts = [
            exp.select("component").from_(margins.nodes[e]).where("lower < upper")
            for e in dict.fromkeys(edges)
        ]
        each.append(exp.union(*parts) if len(parts) > 1 else parts[0].distinct())
    return exp.intersect(*each) if len(each) > 1 else each[0]


def _nested(margins: Margins, scope: Sequence[Edge]) -> bool:
    """Return whether all tables and all that is asked lie in one another, so that bounds are sharp.

    The sums of their cells are then a tree, on which propagation finds all that follows.
    """
    edges = sorted({*margins.edges, *scope}, key=len)
    return all(a <= b for a, b in pairwise(edges)) and set(scope) <= set(margins.edges)


def _list(measured: Measured, deadline: float, visits: int) -> None:
    """List all arrays of small components, the smallest first, until the time is over."""
    margins = measured.margins
    every = margins.domain.every
    if every not in margins.nodes or not complete(margins, every):
        return
    candidates = exp.select("component", "count(*) AS cells").from_(margins.nodes[every])
    candidates = candidates.where("upper > 0").group_by("component")
    small = exp.select("component", "cells").from_(candidates.subquery("candidates"))
    small = small.where(exp.LTE(this=exp.column("cells"), expression=number(SMALL)))
    chosen = margins.make(small.order_by("cells", "component").limit(TRIED))
    cells = _rows_of(measured, every, chosen)
    sums = _sums_of(measured, chosen, cells)
    still_open = _open_ones(measured)
    attributes = sorted(every)
    again = visits > FEW_VISITS
    left = [c for c in cells if not again or (c in still_open and c not in measured.sharp)]
    for component in sorted(left, key=lambda c: (len(cells[c]), c)):
        if time.monotonic() > deadline:
            break
        bounds = [(lower, upper) for _, lower, upper in cells[component]]
        conditions = [one for _, _, one in sums[component]]
        try:
            each = arrays.arrays(bounds, conditions, deadline, visits)
        except TooManyError:
            continue
        if not each:
            raise ContradictionError(chosen)
        for edge, cell, one in sums[component]:
            if one.lower < one.upper and len({sum(x[c] for c in one.cells) for x in each}) == 1:
                measured.settled[edge].add(cell)
        for question in measured.questions:
            knowledge = [attributes.index(i) for i in sorted(question.knowledge)]
            secret = None if question.secret is None else attributes.index(question.secret)
            lines = [cell for cell, _, _ in cells[component]]
            measured.solved[question][component] = arrays.solve(lines, each, knowledge, secret)
        if component in still_open:
            measured.sharp.add(component)


def _program(measured: Measured, deadline: float, memory: solver.Memory | None) -> None:
    """Solve components that are still open by integer programming, until the time is over."""
    solved = measured.solved
    left = _open_ones(measured)
    left -= {c for c in left if all(c in solved[question] for question in measured.questions)}
    if not left:
        return
    if not integer_programs.available():
        measured.notes.append(
            "components with many combinations stay open: integer programming needs the extra "
            "tables (see docs/start/install.md)"
        )
        return
    results = solver.outcomes(measured.margins, measured.proofs, left, deadline, memory)
    for component, outcome in results:
        for question, one in outcome.solved.items():
            solved[question][component] = one
        for edge, cell in outcome.settled:
            measured.settled[edge].add(cell)
        if all(one.sharp for one in outcome.solved.values()):
            measured.sharp.add(component)


def averaged(measured: Measured, question: Question) -> dict[int, Solved]:
    """Return the components with exact expected counts: those whose arrays were all listed."""
    solved = measured.solved[question]
    return {c: one for c, one in solved.items() if one.believed is not None}


def _sums_of(
    measured: Measured, chosen: str, cells: Mapping[int, Sequence[tuple[Cell, int, int]]]
) -> dict[int, list[tuple[Edge, Cell, Sum]]]:
    """Return the cells of all tables as sums of the cells of all attributes, by component."""
    margins = measured.margins
    every = sorted(margins.domain.every)
    sums: dict[int, list[tuple[Edge, Cell, Sum]]] = defaultdict(list)
    for edge in dict.fromkeys([margins.shared, *margins.edges]):
        picked = [every.index(i) for i in sorted(edge)]
        for component, rows in _rows_of(measured, edge, chosen).items():
            members: dict[Cell, list[int]] = defaultdict(list)
            for k, (cell, _, _) in enumerate(cells.get(component, ())):
                members[tuple(cell[i] for i in picked)].append(k)
            for cell, lower, upper in rows:
                one = Sum(members.get(cell, []), lower, upper)
                sums[component].append((edge, cell, one))
    return sums


def _open_ones(measured: Measured) -> set[int]:
    """Return the components that are not settled, of a problem whose cells are all listed."""
    if measured.closed:
        return set()
    query = _open(measured)
    if query is None:
        node = measured.margins.nodes[measured.margins.shared]
        query = exp.select("component").from_(node)
    return {int(c) for (c,) in measured.margins.tables.rows(query)}


def _rows_of(measured: Measured, edge: Edge, chosen: str) -> dict[int, list[tuple[Cell, int, int]]]:
    """Return the possible cells of a margin with their bounds, by component."""
    margins = measured.margins
    query = exp.select("component", "lower", "upper", *places(edge)).from_(margins.nodes[edge])
    query = query.join(chosen, using=["component"], join_type="semi")
    query = query.where("upper > 0") if edge == margins.domain.every else query
    query = query.order_by("component", *places(edge))
    rows: dict[int, list[tuple[Cell, int, int]]] = defaultdict(list)
    for component, lower, upper, *codes in margins.tables.rows(query):
        rows[component].append((tuple(codes), lower, upper))
    return rows


def excluded(query: exp.Select, table: str, solved: Mapping[int, Solved]) -> exp.Select:
    """Return a query without the components that were solved."""
    if not solved:
        return query
    listed = exp.In(
        this=exp.column("component", table or None), expressions=[number(c) for c in sorted(solved)]
    )
    return query.where(exp.not_(listed))
