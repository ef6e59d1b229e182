"""The Bayesian adversary: expected counts over all assignments that agree with the tables.

Her best guess of a secret is the value with the largest expected count.
The expected counts of a decomposable set of exact tables are a product of its cliques over its
separators. Of others they are estimated by the array of greatest entropy within the intervals: each
table has a factor for each of its cells, which is moved until the table holds. The steps are those
of ``sql/tables/fit.sql``.

Source: M101 to M104.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from qifsql.commands.tables import hypergraph
from qifsql.commands.tables.hypergraph import Edge, Link
from qifsql.commands.tables.margins import Margins, has_at_most, places
from qifsql.commands.tables.proofs import Question, bounded_clique
from qifsql.data.expressions import filled
from qifsql.query.plan import Plan, Step
from qifsql.query.shapes import Shape
from qifsql.query.splice import splice
from qifsql.query.templates import load

WHAT, GUESSING = "fitting expected counts", "looking for the best guess"
MOST_ROUNDS = 300  # of fitting
ROUNDS_PER_CHECK = 5  # rounds between two looks at what still moves
PATIENCE = 50  # rounds in which what still moves has to fall to a half
SETTLED_SHARE = 1e-8  # a component is settled if a round moves a smaller share of its people
MOST_CELLS = 50_000_000  # combinations that the best guess depends on
SCALE = 2**40  # parts of a person: expected counts are added as whole numbers of them

FitStep = Callable[[], None]
"""A statement that moves multipliers, which is repeated in each round."""


@dataclass
class Fit:
    """The expected counts of the cells of cliques in a tree."""

    links: list[Link]
    cliques: list[str]  # the table of each, with the column ``mean``
    estimate: bool  # whether they are fitted
    moved: float = 0.0  # largest share of the people of a component that moved in the last rounds


def fit_margins(margins: Margins) -> Fit | None:
    """Return the expected counts of the cells of cliques; None: one has too many cells.

    They are exact if all tables are exact and form a tree, else fitted by rounds of SQL.
    """
    edges = hypergraph.maximal_edges(margins.edges)
    links = hypergraph.join_tree(edges)
    if margins.exact and links is not None:
        counts = []
        for link in links:
            cells = {"cells": margins.nodes[link.edge]}
            counts.append(margins.make("exact_counts", cells, edge=link.edge))
        return Fit(links, counts, estimate=False)
    links = hypergraph.triangulate(edges)
    tables = []
    for link in links:
        if link.edge in margins.nodes:
            query = exp.select(*places(link.edge), "component", "lower", "upper")
            query = query.from_(margins.nodes[link.edge]).where("upper > 0")
            tables.append(margins.keep(query, WHAT))
        elif table := bounded_clique(margins, link.edge, WHAT):
            tables.append(table)
        else:
            return None
    return _Fitting(margins, links, tables).run()


@dataclass(frozen=True)
class _Seam:
    """The margin that two cliques share, by their numbers, and the table of its cells."""

    upper: int
    lower: int
    shared: Edge
    table: str


@dataclass(frozen=True)
class _InnerMargin:
    """A margin inside a clique, and the table of its cells."""

    clique: int
    edge: Edge
    table: str


class _Fitting:
    """The array of greatest entropy, by the expected counts of the cliques of a tree.

    A step solves the equations of an inner margin: the people in each cell are within its bounds;
    or of a seam: both cliques have the same number of people in each of its cells, which is the
    product of their two multipliers. Only cells whose count is open take part: ``open`` has their
    table for each clique, and ``done`` the tables of rows that ``_set_aside`` took out of it.
    """

    def __init__(self, margins: Margins, links: list[Link], cells: list[str]) -> None:
        """Make the tables of inner margins and seams; ``cells`` are those of the cliques."""
        self.margins, self.links, self.cells = margins, links, cells
        # By clique, the cells whose bounds differ; the fit changes only these.
        self.open = [margins.make("open_cells", {"cells": name}, WHAT) for name in cells]
        self.done: list[list[str]] = [[] for _ in links]
        self.seams: list[_Seam] = []
        for i, link in enumerate(links[1:], 1):  # each clique but the root, with its parent
            parent = link.parent or 0
            tables = {"clique_one": cells[parent], "clique_other": cells[i]}
            if has_bounds := link.shared in margins.nodes:  # else they have known counts
                tables["bounds"] = margins.nodes[link.shared]
            table = margins.make("seams", tables, WHAT, shared=link.shared, has_bounds=has_bounds)
            self.seams.append(_Seam(parent, i, link.shared, table))
        self.inner_margins: list[_InnerMargin] = []
        for edge in sorted(margins.nodes, key=len):
            for i, link in enumerate(links):
                # The clique above has a margin inside the seam, too, and the seam makes both equal.
                if edge < link.edge and not (i and edge < link.shared):
                    tables = {"clique": cells[i], "bounds": margins.nodes[edge]}
                    # Of the seam itself, only cells with a known count: the step of the seam does
                    # the others.
                    exact = bool(i) and edge == link.shared
                    table = margins.make("fit_groups", tables, WHAT, edge=edge, exact=exact)
                    self.inner_margins.append(_InnerMargin(i, edge, table))

    def _is_empty(self, table: str) -> bool:
        return not self.margins.tables.rows(exp.select("1").from_(table).limit(1))

    def run(self) -> Fit:
        """Repeat the steps until little moves, or no less than before; return the counts.

        A fit of many hidden counts may take thousands of rounds that hardly change it. It stops,
        and a note says how many people still move.
        """
        steps = self._steps_below(0)  # clique 0 is the root: the steps of all cliques
        moved = [0.0]  # at each check, the largest share of the people of a component
        for n in range(1, MOST_ROUNDS + 1 if steps else 0):
            for step in steps:
                step()
            if n % ROUNDS_PER_CHECK == 0:
                moved.append(self._set_aside())
                is_stuck = n > PATIENCE and 2 * moved[-1] > moved[-1 - PATIENCE // ROUNDS_PER_CHECK]
                if moved[-1] < SETTLED_SHARE or is_stuck:
                    break
        cliques = []
        for i, link in enumerate(self.links):
            parts = [*self.done[i], self.open[i]]
            tables = {f"part_{n}": name for n, name in enumerate(parts)} | {"cells": self.cells[i]}
            n, edge = len(parts), link.edge
            cliques.append(self.margins.make("fitted_counts", tables, WHAT, edge=edge, parts=n))
        return Fit(self.links, cliques, estimate=True, moved=moved[-1])

    def _steps_below(self, i: int) -> list[FitStep]:
        """Return the steps of clique i and of the cliques below it in the tree, in order.

        A seam is solved before and after the clique below it, so that each step sees what all
        steps before it have changed. Otherwise two cliques may correct the same error in turn, for
        ever.
        """
        inner_margins = [
            m for m in self.inner_margins if m.clique == i and not self._is_empty(m.table)
        ]
        steps = [step for margin in inner_margins for step in self._group_steps(margin)]
        for seam in self.seams:
            if seam.upper == i:
                solve = [] if self._is_empty(seam.table) else self._seam_steps(seam)
                below = self._steps_below(seam.lower)
                steps += [*solve, *below, *solve] if below else solve
        return steps

    def _group_steps(self, margin: _InnerMargin) -> list[FitStep]:
        """Return the steps that bring the people in each cell of a margin into its interval.

        The first replaces the table of the margin: ``group_people`` are the people of its open
        cells now, ``group_targets`` those they should have, ``cut_targets`` those of groups that
        need more than a rule of three, ``moved_groups`` the ratio for each cell. The second
        multiplies the open cells of the clique by the ratio.
        """
        edge, open_cells = margin.edge, self.open[margin.clique]
        steps = (
            _step("group_people", {"groups": margin.table, "open_cells": open_cells}, edge=edge),
            _step("group_targets", materialized=True),
            _step("cut_targets"),
            *_ratio_steps(edge, open_cells, "cut_targets"),
        )
        moved = _view("moved_groups", {"targets": "group_targets"}, edge=edge)
        return [
            self._replacing(margin.table, Plan(steps, moved)),
            self._scaling_step(margin.clique, edge, margin.table, "ratio"),
        ]

    def _seam_steps(self, seam: _Seam) -> list[FitStep]:
        """Return the steps that make two cliques agree on the people in each cell of a seam.

        The first replaces the table of the seam: ``seam_people`` are the people of its cells on
        either side now, ``seam_solution`` those both should have, ``moved_seams`` the ratio for
        each side. The others multiply the open cells of either clique by its ratio.
        """
        edge = seam.shared
        cliques = {"one": seam.upper, "other": seam.lower}
        tables = {f"clique_{side}": self.open[i] for side, i in cliques.items()}
        steps = [
            _step("seam_people", {"seams": seam.table, **tables}, shared=edge),
            _step("seam_solution", materialized=True),
        ]
        for side, i in cliques.items():  # ratios that give each side the people of the solution
            targets, settled = f"seam_targets_{side}", {"settled": f"settled_{side}"}
            steps.append(_step("seam_targets", name=targets, columns=settled, shared=edge))
            steps += _ratio_steps(edge, self.open[i], targets, f"_{side}")
        new_ratios = Plan(tuple(steps), _view("moved_seams", shared=edge))
        return [
            self._replacing(seam.table, new_ratios),
            *(
                self._scaling_step(i, edge, seam.table, f"ratio_{side}")
                for side, i in cliques.items()
            ),
        ]

    def _scaling_step(self, i: int, edge: Edge, table: str, ratio: str) -> FitStep:
        """Return the step that multiplies the open cells of clique i by the ratios of a margin.

        ``table`` has the cells of the margin, ``ratio`` is its column of ratios.
        """
        tables = {"open_cells": self.open[i], "steps": table}
        query = _view("scaled_cells", tables, columns={"ratio": ratio}, edge=edge)
        return self._replacing(self.open[i], query)

    def _replacing(self, name: str, query: exp.Query | Plan) -> FitStep:
        """Return a step that puts the rows of a query, which may read the table, in its place."""
        return self.margins.tables.repeatable(name, query, WHAT)

    def _set_aside(self) -> float:
        """Move the rows of settled components from ``open`` to ``done``, if these are half or more.

        A component, such as a school, is settled if the last round has hardly moved people in it.
        Return the largest share of the people of a component that the last round moved.
        """
        margins: list[_InnerMargin | _Seam] = [*self.inner_margins, *self.seams]
        tables = [margin.table for margin in margins if not self._is_empty(margin.table)]
        if not tables:  # all of their cells are settled
            return 0.0
        names = {f"part_{n}": name for n, name in enumerate(tables)}
        names["totals"] = self.margins.nodes[self.margins.shared]
        moves = self.margins.make("component_moves", names, WHAT, parts=len(tables))
        is_moving = filled("moved >= share", {"share": exp.Literal.number(SETTLED_SHARE)})
        moving_components = filled("count(*) FILTER (WHERE is_moving)", {"is_moving": is_moving})
        counts = exp.select("count(*)", moving_components, "coalesce(max(moved), 0)").from_(moves)
        ((components, moving, largest),) = self.margins.tables.rows(counts)
        if 0 < moving <= components // 2:  # at most half are left: it pays to copy their rows
            for settled, table in zip(self.done, self.open, strict=True):
                rows = _rows_of_components(table, moves, exp.not_(is_moving))
                settled.append(self.margins.keep(rows, WHAT))
            for table in (*self.open, *tables):
                self._replacing(table, _rows_of_components(table, moves, is_moving))()
        self.margins.drop(moves)
        return float(largest)


Names = dict[str, str] | None


def _view(view: str, tables: Names = None, columns: Names = None, **shape: Shape) -> exp.Select:
    """Return a view of ``sql/tables/fit.sql`` in a shape."""
    numbers = {"parts_of_one": SCALE}
    return splice(f"tables/{view}", tables=tables, columns=columns, numbers=numbers, shape=shape)


def _step(
    view: str,
    tables: Names = None,
    columns: Names = None,
    *,
    name: str = "",
    materialized: bool = False,
    **shape: Shape,
) -> Step:
    """Return the view of ``sql/tables/fit.sql`` as a step of a plan, under its or another name."""
    doc = load(f"tables/{view}", **shape).doc
    return Step(name or view, doc, _view(view, tables, columns, **shape), materialized)


def _ratio_steps(edge: Edge, open_cells: str, targets: str, suffix: str = "") -> list[Step]:
    """Return the steps to ``ratios``: multiplied by them, open cells add up to their ``targets``.

    Cells are cut to their intervals. So the people in them are a piecewise linear function of the
    ratio, with a new piece where a cell reaches an end of its interval. The names of the steps end
    in ``suffix``.
    """
    views = ("interval_ends", "ratio_changes", "ratio_lines", "ratios")
    tables = {"open_cells": open_cells, "targets": targets, **{v: f"{v}{suffix}" for v in views}}
    return [_step(view, tables, name=f"{view}{suffix}", edge=edge) for view in views]


def _rows_of_components(table: str, components: str, condition: exp.Expr) -> exp.Select:
    """Return the rows of components that satisfy a condition in the table ``components``."""
    chosen = exp.select("component").from_(components).where(condition).subquery("chosen")
    return exp.select("*").from_(table).join(chosen, using=["component"], join_type="semi")


def expected_counts(margins: Margins, fit: Fit, question: Question) -> tuple[str, Edge] | None:
    """Return a table of the expected counts that the best guess depends on, and its attributes.

    A row is a combination: ``component``, a place for each attribute, the secret among them, and
    ``mean``. None if there are more than ``MOST_CELLS`` rows.
    """
    assert question.secret is not None  # noqa: S101 - asked of secrets only
    links = hypergraph.prune_tree(fit.links, question.scope, question.secret)
    used = frozenset().union(*(link.edge for link in links))
    edge = used & question.scope
    cliques = {link.edge: name for link, name in zip(fit.links, fit.cliques, strict=True)}
    tables = {f"clique_{k}": cliques[link.edge] for k, link in enumerate(links)}
    members: Shape = [[link.edge, link.shared] for link in links]
    shape = {"edge": edge, "cliques": members, "added": False}
    combinations = splice("tables/expected_counts", tables=tables, shape=shape)
    if len(links) > 1 and not has_at_most(margins, combinations, MOST_CELLS):
        return None
    counts = margins.make(
        "expected_counts", tables, GUESSING, edge=edge, cliques=members, added=edge != used
    )
    return counts, edge
