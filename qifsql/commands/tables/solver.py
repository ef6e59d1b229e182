"""Open components, solved one after the other by integer programming.

A component with at most ``MOST_CELLS_OF_PROGRAM`` cells has all of them as columns of its program.
One with more has the cells of cliques that hold all tables; what is not known of a person is then
in one clique each.
"""

import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any

from sqlglot import exp

from qifsql.commands.tables import proofs
from qifsql.commands.tables.arrays import Cell, Solved
from qifsql.commands.tables.component_bounds import solve
from qifsql.commands.tables.component_program import Component, System
from qifsql.commands.tables.hypergraph import NOTHING, Edge, Link, maximal_edges, triangulate
from qifsql.commands.tables.kept_components import KeptComponents
from qifsql.commands.tables.margins import ContradictionError, Margins, places
from qifsql.commands.tables.measured import Measured, in_components
from qifsql.commands.tables.proofs import Question
from qifsql.commands.tables.small_components import Bounded, bounded_cells
from qifsql.counting.integer_programs import InfeasibleError, OpenError
from qifsql.data.expressions import filled
from qifsql.data.files import parsed_json
from qifsql.query.columns import number

MOST_CELLS_OF_PROGRAM = 1_000  # cells of a component that all become columns
MOST_COLUMNS = 20_000  # cells of the cliques of a component
COMPONENTS_PER_BATCH = 50  # that are read at once
WHAT = "solving components"


@dataclass(frozen=True)
class Outcome:
    """The proofs about a component, by question, and the cells of tables that are settled."""

    solved: Mapping[Question, Solved]
    settled: Sequence[tuple[Edge, Cell]]


@dataclass(frozen=True)
class _Cliques:
    """Cliques in a tree, and a table of the cells of each: the columns of programs."""

    links: tuple[Link, ...]
    tables: tuple[str, ...]


_Programs = Mapping[Question, _Cliques]
"""The cliques of a component, by question."""


def solve_components(
    measured: Measured, deadline: float, memory: KeptComponents | None
) -> Iterator[tuple[int, Outcome]]:
    """Yield the numbers of open components that are solved, with what is proved of each.

    Those with the fewest columns come first; some stay open at the ``deadline``. An outcome in
    ``memory`` (None: no file) is not computed again. ContradictionError if tables contradict.
    """
    programs = _solvable_components(measured)
    for start in range(0, len(programs), COMPONENTS_PER_BATCH):
        if time.monotonic() > deadline:
            return
        batch = _Batch(measured, dict(programs[start : start + COMPONENTS_PER_BATCH]))
        texts = {} if memory is None else memory.read(list(batch.digests.values()))
        fresh: dict[str, str] = {}  # outcomes to store, by digest
        try:
            for k, (component, digest) in enumerate(batch.digests.items(), start):
                measured.margins.tables.engine.settings.progress(WHAT, k / len(programs))
                if digest in texts:
                    yield component, _from_json(texts[digest], measured.questions)
                    continue
                try:
                    outcome = batch.outcome(component, deadline)
                except OpenError:
                    continue
                fresh[digest] = _to_json(outcome)
                yield component, outcome
        finally:
            if memory is not None and fresh:
                memory.write(fresh)


def _solvable_components(measured: Measured) -> list[tuple[int, _Programs]]:
    """Return the open components that can be solved, each with its cliques, the fewest cells first.

    The columns of an integer program are all cells of the component if these are few (one clique of
    all attributes); else the cells of smaller cliques, if those are few. Others stay open.
    """
    margins, components = measured.margins, measured.open_components
    programs: dict[int, _Programs] = {}
    columns: dict[int, int] = {}  # numbers of cells, which become columns of programs
    all_cells = _all_cells(measured)  # of components with few cells; None: not listed
    if all_cells is not None:
        counted = _count_columns(margins, all_cells.tables)
        columns = {c: n for c, n in counted.items() if c in components}
        programs = dict.fromkeys(columns, dict.fromkeys(measured.questions, all_cells))
    large = components - columns.keys()
    by_question = _cliques_by_question(margins, measured.questions) if large else None
    if by_question is not None:
        names = {name for cliques in by_question.values() for name in cliques.tables}
        counted = _count_columns(margins, names)
        by_cliques = {c: n for c, n in counted.items() if c in large and n <= MOST_COLUMNS}
        columns |= by_cliques
        programs |= dict.fromkeys(by_cliques, by_question)
    return [(c, programs[c]) for c in sorted(programs, key=lambda c: (columns[c], c))]


def _all_cells(measured: Measured) -> _Cliques | None:
    """Return one clique of all attributes, with the cells of components that have few.

    The table of the cells is made, with their bounds. None if possible cells are too many to count,
    or an attribute is in no table.
    """
    margins, every = measured.margins, measured.margins.domain.every
    support = next(iter(measured.proofs.values())).support  # equal for all questions
    if support is None:  # too many to count
        return None
    is_small = filled("cells <= n", {"n": number(MOST_CELLS_OF_PROGRAM)})
    chosen = margins.keep(exp.select("component").from_(support).where(is_small))
    if table := proofs.complete_margin(margins, every):
        cells = exp.select("component", "lower", "upper", *places(every)).from_(table)
    elif proofs.free_attributes(margins, every):  # no table bounds their values
        return None
    else:  # no margin lists all cells: combine the cells of the margins
        possible = proofs.clique_cells(margins, every, bounded=True).subquery("possible")
        cells = exp.select("*").from_(possible)
    cells = cells.join(chosen, using=["component"], join_type="semi")
    return _Cliques((Link(every, NOTHING, None),), (margins.keep(cells, WHAT),))


def _count_columns(margins: Margins, names: Iterable[str]) -> dict[int, int]:
    """Return by component the number of possible cells in the tables of these names."""
    columns: dict[int, int] = defaultdict(int)
    for name in names:
        query = exp.select("component", "count(*)").from_(name).where("upper > 0")
        for component, n in margins.tables.rows(query.group_by("component")):
            columns[component] += n
    return columns


def _cliques_by_question(margins: Margins, questions: Sequence[Question]) -> _Programs | None:
    """Return for each question cliques that hold all tables, and tables of their cells.

    None if a clique has too many cells, or an attribute is in no table.
    """
    if proofs.free_attributes(margins, margins.domain.every):
        return None
    by_question = {}
    for question in questions:
        # Attributes that are eliminated first lie in one clique: those that are neither known nor
        # asked for, and then the secret.
        secret = frozenset([] if question.secret is None else [question.secret])
        first = [margins.domain.every - question.scope, secret]
        links = triangulate(maximal_edges(margins.edges), [e for e in first if e])
        tables: list[str] = []
        for link in links:
            table = proofs.complete_margin(margins, link.edge)
            table = table or proofs.bounded_clique(margins, link.edge, WHAT)
            if table is None:
                return None
            tables.append(table)
        by_question[question] = _Cliques(tuple(links), tuple(tables))
    return by_question


class _Batch:
    """The integer programs of some components, and a digest of the input of each."""

    def __init__(self, measured: Measured, programs: Mapping[int, _Programs]) -> None:
        """Read what the programs are made of, by component: cells of cliques and tables, brackets.

        ``programs`` has the cliques by component and question. A bracket is the least and the
        largest number of people whom the best guess gets right, as far as it is known.
        """
        self.margins, self.programs = measured.margins, programs
        margins = measured.margins
        node = exp.select("component").from_(margins.nodes[margins.shared])
        self.chosen = margins.keep(node.where(in_components(programs)))
        # The cells of the tables of each component, with their bounds.
        self.tables: dict[int, list[tuple[Edge, Cell, int, int]]] = {c: [] for c in programs}
        for edge in dict.fromkeys([margins.shared, *margins.edges]):
            rows = bounded_cells(margins, margins.nodes[edge], edge, self.chosen)
            for component, table_cells in rows.items():
                self.tables[component] += [(edge, *bounded) for bounded in table_cells]
        # The possible cells of a clique (its attributes, its table) by component.
        self.cells: dict[tuple[Edge, str], dict[int, list[Bounded]]] = {}
        all_cliques = chain.from_iterable(by_question.values() for by_question in programs.values())
        for cliques in all_cliques:
            for link, name in zip(cliques.links, cliques.tables, strict=True):
                if (link.edge, name) not in self.cells:
                    cells = bounded_cells(margins, name, link.edge, self.chosen, "upper > 0")
                    self.cells[link.edge, name] = cells
        self.brackets: dict[Question, dict[int, tuple[int, int]]] = {}
        for question, proved in measured.proofs.items():
            query = exp.select("component", "lowest", "highest").from_(proved.bracket)
            query = query.join(self.chosen, using=["component"], join_type="semi")
            brackets = margins.tables.rows(query)
            self.brackets[question] = {c: (low, high) for c, low, high in brackets}
        self.digests = {c: self._digest(c) for c in programs}

    def _build_system(self, component: int, cliques: _Cliques) -> System:
        """Return the cells of the cliques and of the published tables in a component."""
        cells = [
            self.cells[link.edge, name].get(component, [])
            for link, name in zip(cliques.links, cliques.tables, strict=True)
        ]
        return System(cliques.links, cells, self.tables[component])

    def _digest(self, component: int) -> str:
        """Return a digest of the problem of a component: all that its outcome depends on."""
        problem: list[Any] = [sorted(self.margins.domain.every), self.margins.domain.people]
        for question, cliques in self.programs[component].items():
            system = self._build_system(component, cliques)
            problem += [sorted(question.knowledge), question.secret]
            problem += [self.brackets[question].get(component)]
            problem += [[sorted(link.edge) for link in cliques.links], system.cells]
        problem += [[(sorted(edge), *bounded) for edge, *bounded in self.tables[component]]]
        return hashlib.sha256(json.dumps(problem).encode()).hexdigest()

    def outcome(self, component: int, deadline: float) -> Outcome:
        """Return what is proved of a component for all questions; OpenError if it stays open."""
        every, people = self.margins.domain.every, self.margins.domain.people
        programs: dict[_Cliques, Component] = {}  # questions with the same cliques share one
        solved: dict[Question, Solved] = {}
        try:
            for question, cliques in self.programs[component].items():
                if cliques not in programs:
                    system = self._build_system(component, cliques)
                    programs[cliques] = Component(system, people, deadline)
                    programs[cliques].attain_bounds()
                bracket = self.brackets[question].get(component, (0, people))
                solved[question] = solve(programs[cliques], question, every, bracket)
            program = next(iter(programs.values()))  # any of them has all cells of tables
            settled = [
                (edge, cell)
                for edge, cell, lower, upper in self.tables[component]
                if lower < upper and program.is_settled(program.margin(edge).get(cell, []))
            ]
        except InfeasibleError as e:
            raise ContradictionError from e
        return Outcome(solved, settled)


def _to_json(outcome: Outcome) -> str:
    """Return an outcome as JSON, without means; mappings become lists of pairs (keys are texts)."""
    solved = []
    for solution in outcome.solved.values():
        fields = asdict(replace(solution, believed=None, means={}))
        lists = {name: list(v.items()) for name, v in fields.items() if isinstance(v, dict)}
        solved.append({**fields, **lists})
    return json.dumps([solved, [(sorted(edge), cell) for edge, cell in outcome.settled]])


def _from_json(text: str, questions: Sequence[Question]) -> Outcome:
    """Return the outcome that ``_to_json`` wrote, with the questions in the same order."""
    solutions, settled = parsed_json(text)
    solved = {}
    for question, fields in zip(questions, solutions, strict=True):
        for name in ("lines", "block_lines"):
            fields[name] = {tuple(cell): tuple(bounds) for cell, bounds in fields[name]}
        fields["sure"] = {tuple(cell): people for cell, people in fields["sure"]}
        solved[question] = Solved(**{**fields, "means": {}})
    return Outcome(solved, [(frozenset(edge), tuple(cell)) for edge, cell in settled])
