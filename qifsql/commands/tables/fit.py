"""The Bayesian adversary: expected counts over all assignments that agree with the tables.

The expected counts of a decomposable set of exact tables are a product of its cliques over its
separators. Of others they are estimated by the array of greatest entropy within the intervals: each
table has a factor for each of its cells, which is moved until the table holds.

Source: M101 to M103.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlglot import exp

from qifsql.commands.tables.hypergraph import Edge, Link, join_tree, maximal_edges, triangulated
from qifsql.commands.tables.margins import Margins, group_by_edge, has_at_most, places
from qifsql.commands.tables.proofs import clique_cells
from qifsql.query.columns import number
from qifsql.query.plan import Plan, Step

WHAT = "fitting expected counts"
ROUNDS = 300  # of fitting
CHECKED = 5  # rounds, after which it is seen what still moves
CLOSE = 1e-8  # people of a component that are moved in a round, in parts of all
CELLS = 50_000_000  # of a clique, or of the combinations that the best guess depends on
SCALE = 2**40  # expected counts are added as whole numbers, so that no order matters

CUT = "greatest(least(loose, upper), lower)"
WITHOUT = "greatest(least(loose / weight, upper), lower)"  # a multiplier that it has
RATIO = """CASE
    WHEN target = without THEN 1 / weight
    ELSE coalesce(greatest(steps.high, 1e-3), 1)
END"""  # of the multipliers of a group: 1 where its interval holds without one
EVENTS = """unnest([
    {'at': 0::DOUBLE, 'slope': 0::DOUBLE, 'fixed': cells.lower::DOUBLE},
    {'at': cells.lower / cells.loose, 'slope': cells.loose, 'fixed': -cells.lower::DOUBLE},
    {'at': cells.upper / cells.loose, 'slope': -cells.loose, 'fixed': cells.upper::DOUBLE}
])"""  # a ratio, and what a cell adds there to the slope and to the fixed part of the people
REACHED = {
    "low": """at + CASE
        WHEN slope > 0
        THEN least(greatest(target - fixed - slope * at, 0) / slope, coalesce(next - at, 0))
        ELSE 0
    END""",
    "high": """CASE
        WHEN slope > 0
        THEN at + least(greatest(target - fixed - slope * at, 0) / slope, coalesce(next - at, 0))
        ELSE coalesce(next, at)
    END""",
}
REACHING = {
    "low": "fixed + slope * at < target * (1 - 1e-13) OR at = 0",
    "high": "fixed + slope * at <= target * (1 + 1e-13) OR at = 0",
}  # the smallest and the largest ratio with which a target is held
SIDE = {
    "people": CUT,
    "slope": "CASE WHEN loose > lower AND loose < upper THEN loose ELSE 0 END",
    "least": "lower",
    "most": "upper",
}  # of a clique at a seam
SOLVING = {
    "a": "settled_one + people_one - slope_one",
    "b": "settled_other + people_other - slope_other",
    "added": "a + b + slope_one * slope_other / weight",
    "root": "(added + sqrt(greatest(added * added - 4 * a * b, 0))) / 2",
    "floor": "greatest(settled_one + least_one, settled_other + least_other)",
    "now": "greatest(settled_one + people_one, settled_other + people_other)",
    "lowest": "floor + greatest(now - floor, 0) / 10",  # only a ratio of 0 reaches the floor
    "y": "greatest(least(root, settled_one + most_one, settled_other + most_other), lowest)",
}  # of the equation of a seam
DOING = "A cell with one more part of its equation."
OFF = "abs(y - settled_one - people_one) + abs(y - settled_other - people_other)"
SHARING = {
    "start": "greatest(least(1, high_one), low_one)",
    "second": "greatest(least(weight / before / start, high_other), low_other)",
    "first": "greatest(least(weight / before / second, high_one), low_one)",
    "lack": """CASE
        WHEN people_one = 0 OR people_other = 0 THEN 1
        ELSE sqrt(weight / before / first / second)
    END""",
    "ratio_one": "first * lack",
    "ratio_other": "second * lack",
}  # of the product of the multipliers of a seam among both


@dataclass
class Fit:
    """The expected counts: a table of each clique with the column ``mean``, in a tree.

    ``estimate``: they are fitted; ``moved`` is then the largest change of a factor at the end.
    """

    links: list[Link]
    cliques: list[str]
    estimate: bool
    moved: float = 0.0


def fit_margins(margins: Margins) -> Fit | None:
    """Return the expected counts; None if a clique has too many cells."""
    edges = maximal_edges(margins.edges)
    links = join_tree(edges)
    if margins.exact and links is not None:
        return Fit(links, [_is_exact(margins, link.edge) for link in links], estimate=False)
    links = triangulated(edges)
    cells = []
    for link in links:
        if link.edge in margins.nodes:
            query = exp.select(*places(link.edge), "component", "lower", "upper")
            query = query.from_(margins.nodes[link.edge]).where("upper > 0")
        else:
            query = clique_cells(margins, link.edge)
            if not has_at_most(margins, query, CELLS):
                return None
            query = query.select("0 AS lower", number(margins.domain.people).as_("upper"))
        cells.append(margins.keep(query, WHAT))
    return _Fitting(margins, links, cells).run()


def _is_exact(margins: Margins, edge: Edge) -> str:
    query = exp.select(*places(edge), "component", "upper::DOUBLE AS mean")
    return margins.keep(query.from_(margins.nodes[edge]).where("upper > 0"))


@dataclass(frozen=True)
class _Seam:
    """The margin that two cliques share: by cell, what is settled in both, and ``weight``.

    That is the product of the multipliers that the cells of both cliques have had from it.
    """

    upper: int
    lower: int
    shared: Edge
    table: str


@dataclass(frozen=True)
class _Group:
    """A margin inside a clique: by cell, its multiplier ``weight`` and its interval.

    The interval, ``least`` to ``most``, is of the people in cells that are not settled.
    """

    clique: int
    edge: Edge
    table: str


class _Fitting:
    """The array of greatest entropy, by the expected counts of the cliques of a tree.

    A cell that is not settled has the product of the multipliers of its seams and groups
    (``loose``), cut to its interval. A step solves the equation of a group, or of a seam: that both
    cliques have as many people in a cell of it, and that the two multipliers have the product of
    this number. Only cells that are not settled take part. A round is the same statements again.
    """

    def __init__(self, margins: Margins, links: list[Link], cells: list[str]) -> None:
        self.margins, self.links, self.cells = margins, links, cells
        self.open = []
        for name in cells:
            loose = exp.select("*", "1.0::DOUBLE AS loose").from_(name).where("lower < upper")
            self.open.append(self._make_table(loose))
        self.done: list[list[str]] = [[] for _ in links]
        self.seams = [
            self._make_seam(link.parent or 0, j, link.shared) for j, link in enumerate(links) if j
        ]
        self.groups = [
            self._make_group(i, edge, exact=bool(i) and edge == link.shared)
            for edge in sorted(margins.nodes, key=len)
            for i, link in enumerate(links)
            if edge < link.edge and not (i and edge < link.shared)
        ]  # what is smaller than a seam is held by the clique above, and the seam

    def _make_table(self, query: exp.Query) -> str:
        return self.margins.keep(query, WHAT)

    def _replacing(self, name: str, query: exp.Query | Plan) -> Callable[[], None]:
        return self.margins.tables.repeatable(name, query, WHAT)

    def _settled_people(self, i: int, edge: Edge) -> exp.Select:
        """Return the people of settled cells of a clique by a margin of it."""
        total = "sum(CASE WHEN lower = upper THEN lower ELSE 0 END)::DOUBLE AS settled"
        query = group_by_edge(exp.select("any_value(component) AS component"), edge)
        return query.select(_parse(total)).from_(self.cells[i])

    def _make_seam(self, upper: int, lower: int, shared: Edge) -> _Seam:
        """Return the seam of two cliques, without cells whose count is told: groups hold these."""
        first = self._settled_people(upper, shared).subquery("first")
        second = self._settled_people(lower, shared).subquery("second")
        query = exp.select(*places(shared, "first"), "first.component")
        query = query.select("first.settled AS settled_one", "second.settled AS settled_other")
        query = query.select("1.0::DOUBLE AS weight").from_(first)
        query = joined_on(query, second, shared, "first")
        if shared in self.margins.nodes:
            node = self.margins.nodes[shared]
            open_ones = exp.select("lower", *places(shared)).from_(node).where("lower < upper")
            query = joined_on(query, open_ones.subquery("bounds"), shared, "first", "semi")
        return _Seam(upper, lower, shared, self._make_table(query))

    def _make_group(self, i: int, edge: Edge, *, exact: bool) -> _Group:
        """Return a group; an ``exact`` one has only cells whose count is told."""
        settled = self._settled_people(i, edge).subquery("cells")
        query = exp.select(*places(edge, "cells"), "cells.component", "1.0::DOUBLE AS weight")
        query = query.select("greatest(bounds.lower - cells.settled, 0) AS least")
        query = query.select("greatest(bounds.upper - cells.settled, 0) AS most").from_(settled)
        bounds = exp.alias_(exp.to_table(self.margins.nodes[edge]), "bounds", table=True)
        query = joined_on(query, bounds, edge)
        query = query.where("bounds.lower = bounds.upper") if exact else query
        return _Group(i, edge, self._make_table(query))

    def _is_empty(self, table: str) -> bool:
        return not self.margins.tables.rows(exp.select("1").from_(table).limit(1))

    def run(self) -> Fit:
        """Fit until little moves, and return the cliques."""
        steps = self._steps_below(0)
        largest = 0.0
        for n in range(ROUNDS if steps else 0):
            for step in steps:
                step()
            if (n + 1) % CHECKED == 0:
                largest = self._set_aside()
                if largest < CLOSE:
                    break
        cliques = []
        for i, link in enumerate(self.links):
            columns = [*places(link.edge), exp.column("component")]
            settled = exp.select(*columns, "lower::DOUBLE AS mean").from_(self.cells[i])
            parts = [settled.where("lower = upper AND upper > 0")]
            mean = exp.select(*columns, _parse(CUT).as_("mean"))
            parts += [mean.from_(name) for name in (*self.done[i], self.open[i])]
            cliques.append(self._make_table(exp.union(*parts, distinct=False)))
        return Fit(self.links, cliques, estimate=True, moved=largest)

    def _steps_below(self, i: int) -> list[Callable[[], None]]:
        """Return the steps of a clique and of those below it in the tree.

        A seam is solved on the way to a clique and on the way back, so that a step always starts
        from what all steps before it have changed; else two cliques may each correct the same
        error, and never end.
        """
        groups = [g for g in self.groups if g.clique == i and not self._is_empty(g.table)]
        steps = [step for g in groups for step in self._group_steps(g)]
        for seam in self.seams:
            if seam.upper == i:
                solve = [] if self._is_empty(seam.table) else self._seam_steps(seam)
                below = self._steps_below(seam.lower)
                steps += [*solve, *below, *solve] if below else solve
        return steps

    def _group_steps(self, group: _Group) -> list[Callable[[], None]]:
        """Return the steps that move the multipliers of a group to where its intervals hold."""
        edge = group.edge
        people = [_people(_parse(CUT)).as_("people"), _people(_parse(WITHOUT)).as_("without")]
        columns = ("component", "weight", "least", "most")
        query = exp.select(*places(edge, "groups"), *(exp.column(c, "groups") for c in columns))
        query = query.select(*people)
        query = query.from_(exp.alias_(exp.to_table(group.table), "groups", table=True))
        cells = exp.select(*places(self.links[group.clique].edge), "lower", "upper", "loose")
        cells = cells.from_(self.open[group.clique])
        query = joined_on(query, cells.subquery("cells"), edge, "groups").group_by(exp.var("ALL"))
        target = exp.select("*", "greatest(least(without, most), least) AS target").from_("sums")
        after = exp.select(*places(edge, "targets"), "targets.component", "least", "most")
        after = after.select("abs(targets.target - people) AS moved")
        after = after.select(_parse(RATIO).as_("ratio"), "weight")
        steps = exp.alias_(exp.to_table("ratios"), "steps", table=True)
        after = joined_on(after.from_("targets"), steps, edge, "targets", "left")
        moved = exp.select(exp.Star(**{"replace": [_parse("weight * ratio").as_("weight")]})).from_(
            "moved"
        )
        plan = (
            Step("sums", "A cell of the group, with its people.", query),
            Step("targets", "A cell with the people it should have.", target, materialized=True),
            *self._ratio_steps(group.clique, edge, "targets"),
            Step("moved", "A cell with the ratio of its multipliers.", after),
        )
        return [
            self._replacing(group.table, Plan(plan, moved)),
            self._scaling_step(group.clique, edge, group.table, "ratio"),
        ]

    def _ratio_steps(self, i: int, edge: Edge, targets: str, suffix: str = "") -> list[Step]:
        """Return the steps to the ``ratio`` with which open cells hold the ``target``.

        The people in cells that are cut to their intervals are a function of the ratio in pieces,
        each a line, which change where a cell reaches an end of its interval.
        """
        events, changes, lines = (f"{name}{suffix}" for name in ("events", "changes", "pieces"))
        source = exp.alias_(exp.to_table(self.open[i]), "cells", table=True)
        target = exp.alias_(exp.to_table(targets), "targets", table=True)
        end = exp.select(*places(edge, "cells"), "target").select(_parse(EVENTS).as_("event"))
        end = joined_on(end.from_(source), target, edge)
        cell_ends = exp.select(*places(edge), "target", "event.at AS at")
        for c in ("slope", "fixed"):
            cell_ends = cell_ends.select(_integer_people(exp.column(c, "event")).as_(c))
        cell_ends = cell_ends.from_(end.subquery("ends"))
        sums = [exp.alias_(exp.Sum(this=exp.column(c)), c) for c in ("slope", "fixed")]
        change = exp.select(*places(edge), "at", "any_value(target) AS target", *sums)
        change = change.from_(events).group_by(*places(edge), "at")
        line = exp.select(*places(edge), "target", "at", _along(edge, "lead", "at").as_("next"))
        line = line.select(*(_scaled(_along(edge, "sum", c)).as_(c) for c in ("slope", "fixed")))
        ratio = group_by_edge(exp.select(), edge)
        for name, condition in REACHING.items():
            reached = _parse(REACHED[name])
            last = exp.Filter(
                this=exp.func("arg_max", reached, exp.column("at")),
                expression=exp.Where(this=_parse(condition)),
            )
            ratio = ratio.select(exp.alias_(last, name))
        ratio = ratio.from_(lines)
        return [
            Step(events, "An end of the interval of a cell.", cell_ends),
            Step(changes, "A ratio at which some cells reach an end.", change),
            Step(lines, "The people beyond this ratio, as a line.", line.from_(changes)),
            Step(f"ratios{suffix}", "The ratio with which the target is held.", ratio),
        ]

    def _seam_steps(self, seam: _Seam) -> list[Callable[[], None]]:
        """Return the steps that solve a seam: f(u) = g(v) = y, weight u v = y.

        The people f and g of the cliques are lines near where they are: y - a = r u, y - b = s v.
        So y is found, then multipliers that hold it, then both are scaled to the right product.
        """
        edge = seam.shared
        sides = (("one", seam.upper), ("other", seam.lower))
        columns = ("component", "settled_one", "settled_other", "weight")
        query = exp.select(*places(edge, "seams"), *(exp.column(c, "seams") for c in columns))
        query = query.from_(exp.alias_(exp.to_table(seam.table), "seams", table=True))
        for side, i in sides:
            sums = {name: _people(_parse(s)) for name, s in SIDE.items()}
            people = exp.select(*(exp.alias_(tree, name) for name, tree in sums.items()))
            people = group_by_edge(people, edge).from_(self.open[i])
            query = joined_on(query, people.subquery(f"open_{side}"), edge, "seams", "left")
            for name in SIDE:
                some = exp.func("coalesce", exp.column(name, f"open_{side}"), number(0))
                query = query.select(some.as_(f"{name}_{side}"))
        steps = [Step("sums", "A cell of the seam, with its people in both cliques.", query)]
        for name, text in SOLVING.items():
            before, tree = steps[-1].name, _parse(text)
            steps.append(Step(name, DOING, exp.select("*", tree.as_(name)).from_(before)))
        steps[-1] = replace(steps[-1], materialized=True)
        after = exp.select(*places(edge, "y"), "y.component", "settled_one", "settled_other")
        after = after.select("y AS weight", "weight AS before", "people_one", "people_other")
        after = after.select(_parse(OFF).as_("moved")).from_("y")
        for side, i in sides:
            target = exp.column("y") - exp.column(f"settled_{side}")
            chosen = exp.select(*places(edge), target.as_("target")).from_("y")
            steps.append(Step(f"targets_{side}", "The people of one clique.", chosen))
            steps += self._ratio_steps(i, edge, f"targets_{side}", f"_{side}")
            ratios = exp.alias_(exp.to_table(f"ratios_{side}"), f"steps_{side}", table=True)
            after = joined_on(after, ratios, edge, "y", "left")
            for name in REACHING:
                ratio = exp.func("coalesce", exp.column(name, f"steps_{side}"), number(1))
                after = after.select(ratio.as_(f"{name}_{side}"))
        steps.append(Step("moved", "A cell with the ratios of both cliques.", after))
        for name, text in SHARING.items():
            before, tree = steps[-1].name, _parse(text)
            steps.append(Step(name, DOING, exp.select("*", tree.as_(name)).from_(before)))
        moved = exp.select("*").from_(steps[-1].name)
        return [
            self._replacing(seam.table, Plan(tuple(steps), moved)),
            self._scaling_step(seam.upper, edge, seam.table, "ratio_one"),
            self._scaling_step(seam.lower, edge, seam.table, "ratio_other"),
        ]

    def _scaling_step(self, i: int, edge: Edge, table: str, ratio: str) -> Callable[[], None]:
        """Return the step that multiplies the open cells of a clique by the ratios of a margin."""
        some = exp.func("coalesce", exp.column(ratio, "steps"), number(1))
        loose = exp.column("loose", "cells") * some
        bounded = exp.func("greatest", exp.func("least", loose, _parse("1e20")), _parse("1e-60"))
        every = exp.Star(**{"replace": [exp.alias_(bounded, "loose")]})
        query = exp.select(exp.Column(this=every, table=exp.to_identifier("cells")))
        query = query.from_(exp.alias_(exp.to_table(self.open[i]), "cells", table=True))
        source = exp.alias_(exp.to_table(table), "steps", table=True)
        return self._replacing(self.open[i], joined_on(query, source, edge, how="left"))

    def _set_aside(self) -> float:
        """Set components aside that hardly move; return the largest move, as a share."""
        parts: list[_Group | _Seam] = [*self.groups, *self.seams]
        tables = [part.table for part in parts if not self._is_empty(part.table)]
        if not tables:  # all of their cells are settled
            return 0.0
        moves = [
            exp.select("component", "sum(moved) AS moved").from_(name).group_by("component")
            for name in tables
        ]
        all_moves = exp.union(*moves, distinct=False) if len(moves) > 1 else moves[0]
        moved = exp.select("every.component", "sum(every.moved) / max(totals.upper) AS moved")
        node = exp.to_table(self.margins.nodes[self.margins.shared])
        moved = moved.from_(all_moves.subquery("every"))
        moved = moved.join(exp.alias_(node, "totals", table=True), using=["component"])
        name = self._make_table(moved.group_by("every.component"))
        still = exp.GTE(this=exp.column("moved"), expression=exp.Literal.number(CLOSE))
        ((components, moving, largest),) = self.margins.tables.rows(
            exp.select(
                "count(*)",
                exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=still)),
                "coalesce(max(moved), 0)",
            ).from_(name)
        )
        if 0 < moving <= components // 2:
            for i, table in enumerate(self.open):
                self.done[i].append(
                    self._make_table(_rows_of_components(table, name, exp.not_(still.copy())))
                )
            for table in (*self.open, *tables):
                self._replacing(table, _rows_of_components(table, name, still.copy()))()
        self.margins.drop(name)
        return float(largest)


def _parse(text: str) -> exp.Expr:
    """Return an expression of this file as a tree."""
    tree: exp.Expr = exp.maybe_parse(text, dialect="duckdb")
    return tree


def _integer_people(people: exp.Expr) -> exp.Expr:
    """Return a number of people as a whole one, to be added in any order."""
    return exp.cast(exp.paren(people) * number(SCALE), "HUGEINT", dialect="duckdb")


def _scaled(total: exp.Expr) -> exp.Expr:
    return exp.cast(total, "DOUBLE") / number(SCALE)


def _people(mean: exp.Expr) -> exp.Expr:
    """Return the people of cells with these expected counts."""
    return _scaled(exp.Sum(this=_integer_people(mean.copy())))


def _along(edge: Edge, function: str, column: str) -> exp.Window:
    """Return a function of a column over the ratios up to each."""
    order = exp.Order(expressions=[exp.Ordered(this=exp.column("at"))])
    this = exp.func(function, exp.column(column))
    return exp.Window(this=this, partition_by=list(places(edge)), order=order)


def joined_on(
    query: exp.Select,
    source: exp.Expr,
    shared: Edge,
    table: str = "cells",
    how: str = "",
) -> exp.Select:
    """Return a query joined with a source by what it shares with the table ``table``."""
    if not shared:
        return query.join(source, on=exp.true(), join_type=how or "inner")
    pairs = zip(places(shared, table), places(shared, source.alias), strict=True)
    on = exp.and_(*(exp.EQ(this=a, expression=b) for a, b in pairs))
    return query.join(source, on=on, join_type=how or "inner")


def _rows_of_components(table: str, components: str, condition: exp.Expr) -> exp.Select:
    chosen = exp.select("component").from_(components).where(condition).subquery("chosen")
    return exp.select("*").from_(table).join(chosen, using=["component"], join_type="semi")
