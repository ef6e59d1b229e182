"""Components that are left open, solved one after the other by integer programming.

A component with few cells has all of them as columns of its program. One with many has those of
cliques that hold all tables; what is not known of a person is then in one clique each.
"""

import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

from sqlglot import exp

from qifsql.commands.tables.arrays import Cell, Solved
from qifsql.commands.tables.component_bounds import Component, System, solve
from qifsql.commands.tables.hypergraph import NOTHING, Edge, Link, maximal, triangulated
from qifsql.commands.tables.integer_programs import InfeasibleError, OpenError
from qifsql.commands.tables.margins import ContradictionError, Margins, fits, places
from qifsql.commands.tables.proofs import COUNTED, Proofs, Question, clique, complete, free
from qifsql.data import json_text
from qifsql.query.columns import number

WHOLE = 1_000  # cells of a component that are all columns
COLUMNS = 20_000  # cells of the cliques of a component
BATCH = 50  # components that are read at once
WHAT = "solving components"

Bounded = tuple[Cell, int, int]


@dataclass(frozen=True)
class Outcome:
    """The proofs about a component, by question, and the cells of tables that are settled."""

    solved: Mapping[Question, Solved]
    settled: Sequence[tuple[Edge, Cell]]


class Memory(Protocol):
    """Texts of outcomes by the digest of their problem."""

    def read(self, digests: Sequence[str]) -> dict[str, str]:
        """Return the texts of those digests that are stored."""

    def write(self, texts: Mapping[str, str]) -> None:
        """Store texts."""


@dataclass(frozen=True)
class _Shape:
    """Cliques in a tree, and a table of the cells of each."""

    links: tuple[Link, ...]
    tables: tuple[str, ...]


def outcomes(
    margins: Margins,
    proofs: Mapping[Question, Proofs],
    left: set[int],
    deadline: float,
    memory: Memory | None,
) -> Iterator[tuple[int, Outcome]]:
    """Yield components with what is proved of them, those with few cells first.

    What ``memory`` has is not solved again. Raises ContradictionError if tables contradict.
    """
    jobs = _jobs(margins, proofs, left)
    for start in range(0, len(jobs), BATCH):
        if time.monotonic() > deadline:
            return
        batch = _Batch(margins, proofs, dict(jobs[start : start + BATCH]))
        texts = {} if memory is None else memory.read(list(batch.digests.values()))
        fresh: dict[str, str] = {}
        try:
            for k, component in enumerate(batch.digests):
                digest = batch.digests[component]
                margins.tables.engine.settings.progress(WHAT, (start + k) / len(jobs))
                if digest in texts:
                    yield component, _outcome(texts[digest], list(proofs))
                    continue
                try:
                    outcome = batch.outcome(component, deadline)
                except OpenError:
                    continue
                fresh[digest] = _text(outcome)
                yield component, outcome
        finally:
            if memory is not None and fresh:
                memory.write(fresh)


def _jobs(
    margins: Margins, proofs: Mapping[Question, Proofs], left: set[int]
) -> list[tuple[int, Mapping[Question, _Shape]]]:
    """Return the components that can be solved, each with its cliques by question."""
    questions = list(proofs)
    whole = _whole(margins, proofs, left)
    jobs = []
    few: dict[int, int] = {}
    if whole is not None:
        few = {c: n for c, n in _sizes(margins, whole.tables).items() if c in left}
        jobs = [(n, c, dict.fromkeys(questions, whole)) for c, n in few.items()]
    if len(few) < len(left) and not free(margins, margins.domain.every):
        several = {q: shape for q in questions if (shape := _tree(margins, q)) is not None}
        if len(several) == len(questions):
            names = {name for shape in several.values() for name in shape.tables}
            sizes = _sizes(margins, names)
            jobs += [
                (n, c, several)
                for c, n in sizes.items()
                if c in left and c not in few and n <= COLUMNS
            ]
    return [(c, shape) for _, c, shape in sorted(jobs, key=lambda job: job[:2])]


def _whole(margins: Margins, proofs: Mapping[Question, Proofs], left: set[int]) -> _Shape | None:
    """Return the cells of all attributes as one clique, for components that have few of them."""
    every = margins.domain.every
    support = next(iter(proofs.values())).support
    if support is None:
        return None
    query = exp.select("component").from_(support)
    few = margins.make(query.where(exp.LTE(this=exp.column("cells"), expression=number(WHOLE))))
    if every in margins.nodes and complete(margins, every):
        cells = exp.select("component", "lower", "upper", *places(every))
        cells = cells.from_(margins.nodes[every])
    elif free(margins, every):
        return None
    else:
        bounds = (number(0).as_("lower"), number(margins.domain.people).as_("upper"))
        possible = clique(margins, every).subquery("possible")
        cells = exp.select("component", *bounds, *places(every)).from_(possible)
    cells = cells.join(few, using=["component"], join_type="semi")
    return _Shape((Link(every, NOTHING, None),), (margins.make(cells, WHAT),))


def _sizes(margins: Margins, names: Iterable[str]) -> dict[int, int]:
    """Return the number of possible cells in tables by component."""
    sizes: dict[int, int] = defaultdict(int)
    for name in names:
        query = exp.select("component", "count(*)").from_(name).where("upper > 0")
        for component, n in margins.tables.rows(query.group_by("component")):
            sizes[component] += n
    return sizes


def _tree(margins: Margins, question: Question) -> _Shape | None:
    """Return cliques for a question, and tables of their cells; None if there are too many."""
    secret = frozenset([] if question.secret is None else [question.secret])
    first = [margins.domain.every - question.scope, secret]
    links = triangulated(maximal(margins.edges), [e for e in first if e])
    tables: list[str] = []
    for link in links:
        if link.edge in margins.nodes and complete(margins, link.edge):
            tables.append(margins.nodes[link.edge])
            continue
        query = clique(margins, link.edge)
        if not fits(margins, query, COUNTED):
            return None
        query = query.select("0 AS lower", number(margins.domain.people).as_("upper"))
        tables.append(margins.make(query, WHAT))
    return _Shape(tuple(links), tuple(tables))


class _Batch:
    """The problems of some components, with a digest of each."""

    def __init__(
        self,
        margins: Margins,
        proofs: Mapping[Question, Proofs],
        jobs: Mapping[int, Mapping[Question, _Shape]],
    ) -> None:
        self.margins, self.proofs, self.jobs = margins, proofs, jobs
        node = exp.select("component").from_(margins.nodes[margins.shared])
        numbers = [number(c) for c in sorted(jobs)]
        self.chosen = margins.make(node.where(exp.column("component").isin(*numbers)))
        edges = dict.fromkeys([margins.shared, *margins.edges])
        rows = {edge: self._rows(edge, margins.nodes[edge]) for edge in edges}
        self.tables = {
            c: [(edge, *one) for edge in edges for one in rows[edge].get(c, [])] for c in jobs
        }
        shapes = {id(s): s for several in jobs.values() for s in several.values()}
        sources = {
            (link.edge, name)
            for shape in shapes.values()
            for link, name in zip(shape.links, shape.tables, strict=True)
        }
        self.cells = {one: self._rows(*one, "upper > 0") for one in sources}
        self.brackets = {q: self._brackets(proofs[q].bracket) for q in proofs}
        self.digests = {c: self._digest(c) for c in jobs}

    def _rows(self, edge: Edge, table: str, where: str = "") -> dict[int, list[Bounded]]:
        """Return the cells of a table with their bounds, by component."""
        query = exp.select("component", "lower", "upper", *places(edge)).from_(table)
        query = query.join(self.chosen, using=["component"], join_type="semi")
        query = query.where(where) if where else query
        rows: dict[int, list[Bounded]] = defaultdict(list)
        for component, lower, upper, *codes in self.margins.tables.rows(
            query.order_by("component", *places(edge))
        ):
            rows[component].append((tuple(codes), lower, upper))
        return rows

    def _brackets(self, table: str) -> dict[int, tuple[int, int]]:
        query = exp.select("component", "lowest", "highest").from_(table)
        query = query.join(self.chosen, using=["component"], join_type="semi")
        return {c: (low, high) for c, low, high in self.margins.tables.rows(query)}

    def _system(self, component: int, shape: _Shape) -> System:
        cells = [
            self.cells[link.edge, name].get(component, [])
            for link, name in zip(shape.links, shape.tables, strict=True)
        ]
        return System(shape.links, cells, self.tables[component])

    def _digest(self, component: int) -> str:
        """Return a digest of the problem of a component: all that its outcome depends on."""
        parts: list[Any] = [sorted(self.margins.domain.every), self.margins.domain.people]
        for question, shape in self.jobs[component].items():
            system = self._system(component, shape)
            parts += [sorted(question.knowledge), question.secret]
            parts += [self.brackets[question].get(component)]
            parts += [[sorted(link.edge) for link in shape.links], system.cells]
        parts += [[(sorted(edge), *one) for edge, *one in self.tables[component]]]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def outcome(self, component: int, deadline: float) -> Outcome:
        """Return what is proved of a component; raise OpenError if it stays open."""
        people = self.margins.domain.people
        programs: dict[int, Component] = {}
        solved: dict[Question, Solved] = {}
        settled: list[tuple[Edge, Cell]] = []
        try:
            for question, shape in self.jobs[component].items():
                if id(shape) not in programs:
                    system = self._system(component, shape)
                    programs[id(shape)] = Component(system, people, deadline)
                    programs[id(shape)].spread()
                bracket = self.brackets[question].get(component, (0, people))
                every = self.margins.domain.every
                solved[question] = solve(programs[id(shape)], question, every, bracket)
            program = next(iter(programs.values()))
            settled += [
                (edge, cell)
                for edge, cell, lower, upper in self.tables[component]
                if lower < upper and program.settled(program.margin(edge).get(cell, []))
            ]
        except InfeasibleError as e:
            raise ContradictionError(self.chosen) from e
        return Outcome(solved, settled)


def _text(outcome: Outcome) -> str:
    """Return an outcome as JSON; the cells of a mapping become lists."""
    solved = []
    for one in outcome.solved.values():
        values = asdict(replace(one, believed=None, means={}))
        lists = {name: list(v.items()) for name, v in values.items() if isinstance(v, dict)}
        solved.append({**values, **lists})
    return json.dumps([solved, [(sorted(edge), cell) for edge, cell in outcome.settled]])


def _outcome(text: str, questions: Sequence[Question]) -> Outcome:
    several, settled = json_text.parsed(text)
    solved = {}
    for question, one in zip(questions, several, strict=True):
        lines = {
            name: {tuple(cell): tuple(both) for cell, both in one[name]}
            for name in ("lines", "block_lines")
        }
        sure = {tuple(cell): n for cell, n in one["sure"]}
        solved[question] = Solved(**{**one, **lines, "sure": sure, "means": {}})
    return Outcome(solved, [(frozenset(edge), tuple(cell)) for edge, cell in settled])
