"""The Bayesian adversary: expected counts over all assignments that agree with the tables.

The expected counts of a decomposable set of exact tables are a product of its cliques over its
separators. Of others they are estimated by the array of greatest entropy within the intervals: each
table has a factor for each of its cells, which is moved until the table holds.

Source: M101 to M104.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from qifsql.commands.tables.hypergraph import (
    NOTHING,
    Edge,
    Link,
    maximal,
    pruned,
    tree,
    triangulated,
)
from qifsql.commands.tables.margins import Margins, fits, grouped, places
from qifsql.commands.tables.proofs import Question, clique, free
from qifsql.query.columns import number

WHAT = "fitting expected counts"
ROUNDS = 200  # of fitting
CLOSE = 1e-8  # people of a component that are moved in the last round, in parts of all
CELLS = 50_000_000  # of a clique, or of the combinations that the best guess depends on
TIE, TIE_EXACT = 1e-7, 1e-12  # values this close to the best, in parts of it, are as good
SCALE = 2**40  # expected counts are added as whole numbers, so that no order matters

CUT = exp.func(
    "greatest", exp.func("least", exp.column("loose"), exp.column("upper")), exp.column("lower")
)


@dataclass
class Fit:
    """The expected counts: a table of each clique with the column ``mean``, in a tree.

    ``estimate``: they are fitted; ``moved`` is then the largest change of a factor at the end.
    """

    links: list[Link]
    cliques: list[str]
    estimate: bool
    moved: float = 0.0


def fitted(margins: Margins) -> Fit | None:
    """Return the expected counts; None if a clique has too many cells."""
    edges = maximal(margins.edges)
    links = tree(edges)
    if margins.exact and links is not None:
        return Fit(links, [_exact(margins, link.edge) for link in links], estimate=False)
    links = triangulated(edges)
    cells = []
    for link in links:
        if link.edge in margins.nodes:
            query = exp.select(*places(link.edge), "component", "lower", "upper")
            query = query.from_(margins.nodes[link.edge]).where("upper > 0")
        else:
            query = clique(margins, link.edge)
            if not fits(margins, query, CELLS):
                return None
            query = query.select("0 AS lower", number(margins.domain.people).as_("upper"))
        cells.append(margins.make(query, WHAT))
    return _Fitting(margins, links, cells).run()


def _exact(margins: Margins, edge: Edge) -> str:
    query = exp.select(*places(edge), "component", "upper::DOUBLE AS mean")
    return margins.make(query.from_(margins.nodes[edge]).where("upper > 0"))


@dataclass
class _Seam:
    """The margin that two cliques share: by cell, what is settled in both, and multipliers."""

    one: int
    other: int
    shared: Edge
    table: str


@dataclass
class _Group:
    """A margin inside a clique: for each cell, its interval without what is settled."""

    clique: int
    edge: Edge
    table: str


class _Fitting:
    """The array of greatest entropy, by the expected counts of the cliques of a tree.

    A cell that is not settled has the product of the multipliers of its seams and groups, cut to
    its interval. A step solves the equations of one seam or group: that both cliques have as many
    people in a cell of it, and that the two multipliers have the product of this number. Only
    cells that are not settled take part.
    """

    def __init__(self, margins: Margins, links: list[Link], cells: list[str]) -> None:
        self.margins, self.links, self.cells = margins, links, cells
        self.open = []
        for name in cells:
            loose = exp.select("*", "1.0::DOUBLE AS loose").from_(name).where("lower < upper")
            cut = exp.select("*", CUT.copy().as_("mean")).from_(loose.subquery("cells"))
            self.open.append(self._make(cut))
        self.done: list[list[str]] = [[] for _ in links]
        self.seams = [
            self._seam(link.parent or 0, j, link.shared) for j, link in enumerate(links) if j
        ]
        self.groups = []
        for edge in sorted(margins.nodes, key=len):
            home = next((i for i, link in enumerate(links) if edge <= link.edge), None)
            if home is not None and edge != links[home].edge:
                self.groups.append(self._group(home, edge))

    def _make(self, query: exp.Query) -> str:
        return self.margins.make(query, WHAT)

    def _settled(self, i: int, edge: Edge) -> exp.Select:
        """Return the people of settled cells of a clique by a margin of it."""
        total = "sum(CASE WHEN lower = upper THEN lower ELSE 0 END)::DOUBLE AS settled"
        query = grouped(exp.select("any_value(component) AS component"), edge)
        return query.select(exp.maybe_parse(total, dialect="duckdb")).from_(self.cells[i])

    def _seam(self, one: int, other: int, shared: Edge) -> _Seam:
        first = self._settled(one, shared).subquery("first")
        second = self._settled(other, shared).subquery("second")
        query = exp.select(*places(shared, "first"), "first.component")
        query = query.select("first.settled AS settled_one", "second.settled AS settled_other")
        query = query.select("1.0::DOUBLE AS weight").from_(first)
        return _Seam(one, other, shared, self._make(_on(query, second, shared, "first")))

    def _group(self, i: int, edge: Edge) -> _Group:
        settled = self._settled(i, edge).subquery("cells")
        query = exp.select(*places(edge, "cells"), "cells.component", "1.0::DOUBLE AS weight")
        query = query.select("greatest(bounds.lower - cells.settled, 0) AS lower")
        query = query.select("greatest(bounds.upper - cells.settled, 0) AS upper").from_(settled)
        bounds = exp.alias_(exp.to_table(self.margins.nodes[edge]), "bounds", table=True)
        return _Group(i, edge, self._make(_on(query, bounds, edge)))

    def run(self) -> Fit:
        """Fit until little moves, and return the cliques."""
        largest = 0.0
        for _ in range(ROUNDS):
            moves = [self._fit(group) for group in self.groups]
            moves += [name for seam in self.seams for name in self._join(seam)]
            largest = self._set_aside(moves) if moves else 0.0
            if largest < CLOSE:
                break
        cliques = []
        for i, link in enumerate(self.links):
            shown = [*places(link.edge), exp.column("component")]
            settled = exp.select(*shown, "lower::DOUBLE AS mean").from_(self.cells[i])
            each = [settled.where("lower = upper AND upper > 0")]
            each += [exp.select(*shown, "mean").from_(n) for n in (*self.done[i], self.open[i])]
            cliques.append(self._make(exp.union(*each, distinct=False)))
        return Fit(self.links, cliques, estimate=True, moved=largest)

    def _replace(self, i: int, query: exp.Query) -> None:
        old = self.open[i]
        self.open[i] = self._make(query)
        self.margins.tables.drop(old)
        self.margins.names.remove(old)

    def _sums(self, i: int, edge: Edge) -> exp.Select:
        query = grouped(exp.select().from_(self.open[i]), edge)
        return query.select("sum(mean) AS people")

    def _fit(self, group: _Group) -> str:
        """Move the multiplier of each cell of a group to where its interval holds."""
        sums = self._sums(group.clique, group.edge).subquery("sums")
        near = "greatest(least(sums.people / cells.weight, cells.upper), cells.lower)"
        query = exp.select(*places(group.edge, "cells"), "cells.component", "cells.lower")
        query = query.select("cells.upper", "cells.weight AS before", "sums.people")
        query = query.select(exp.maybe_parse(near, dialect="duckdb").as_("near"))
        source = exp.alias_(exp.to_table(group.table), "cells", table=True)
        query = _on(query.from_(source), sums, group.edge)
        step = exp.select(*places(group.edge), "component", "lower", "upper")
        step = step.select("greatest(near * before / people, 1e-100) AS weight")
        step = step.select("greatest(near * before / people, 1e-100) / before AS ratio")
        step = step.select("abs(near - people) AS moved")
        group.table = self._make(step.from_(query.subquery("cells")))
        self._scale(group.clique, group.edge, group.table, "ratio")
        return group.table

    def _join(self, seam: _Seam) -> list[str]:
        """Solve the equations of a seam: y - a = r u, y - b = s v, weight u v = y."""
        first = self._sums(seam.one, seam.shared).subquery("first")
        second = self._sums(seam.other, seam.shared).subquery("second")
        query = exp.select(*places(seam.shared, "cells"), "cells.component")
        query = query.select("cells.settled_one", "cells.settled_other", "cells.weight")
        query = query.select(
            "coalesce(first.people, 0) AS one", "coalesce(second.people, 0) AS other"
        )
        query = query.from_(exp.alias_(exp.to_table(seam.table), "cells", table=True))
        query = _on(query, first, seam.shared, how="left")
        query = _on(query, second, seam.shared, how="left")
        middle = exp.select("*").select(
            exp.maybe_parse(
                "settled_one + settled_other + one * other / weight", dialect="duckdb"
            ).as_("added")
        )
        middle = middle.from_(query.subquery("open_ones"))
        root = "(added + sqrt(greatest(added * added - 4 * settled_one * settled_other, 0))) / 2"
        solved = exp.select("*", exp.maybe_parse(root, dialect="duckdb").as_("y"))
        solved = solved.from_(middle.subquery("middle")).where("one > 0 OR other > 0")
        ratios = {
            "ratio_one": "if(one > 0, greatest((y - settled_one) / one, 1e-9), 1)",
            "ratio_other": "if(other > 0, greatest((y - settled_other) / other, 1e-9), 1)",
            "weight": "CASE WHEN one > 0 AND other > 0 THEN y ELSE 1.0 END",
            "moved": "abs(y - settled_one - one) + abs(y - settled_other - other)",
        }
        step = exp.select(*places(seam.shared), "component", "settled_one", "settled_other")
        for name, text in ratios.items():
            step = step.select(exp.maybe_parse(text, dialect="duckdb").as_(name))
        seam.table = self._make(step.from_(solved.subquery("solved")))
        self._scale(seam.one, seam.shared, seam.table, "ratio_one")
        self._scale(seam.other, seam.shared, seam.table, "ratio_other")
        return [seam.table]

    def _scale(self, i: int, edge: Edge, table: str, ratio: str) -> None:
        """Multiply cells by the ratio of a margin, and cut them to their intervals."""
        loose = exp.Mul(this=exp.column("loose", "cells"), expression=exp.column(ratio, "steps"))
        query = exp.select(*places(self.links[i].edge, "cells"), "cells.component", "cells.lower")
        query = query.select("cells.upper", loose.as_("loose"))
        query = query.from_(exp.alias_(exp.to_table(self.open[i]), "cells", table=True))
        source = exp.alias_(exp.to_table(table), "steps", table=True)
        query = _on(query, source, edge)
        self._replace(i, exp.select("*", CUT.copy().as_("mean")).from_(query.subquery("cells")))

    def _set_aside(self, moves: Sequence[str]) -> float:
        """Set components aside that hardly move; return the largest move, as a share."""
        each = [
            exp.select("component", "sum(moved) AS moved").from_(name).group_by("component")
            for name in moves
        ]
        every = exp.union(*each, distinct=False) if len(each) > 1 else each[0]
        moved = exp.select("every.component", "sum(every.moved) / max(totals.upper) AS moved")
        node = exp.to_table(self.margins.nodes[self.margins.shared])
        moved = moved.from_(every.subquery("every"))
        moved = moved.join(exp.alias_(node, "totals", table=True), using=["component"])
        name = self._make(moved.group_by("every.component"))
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
                self.done[i].append(self._make(_of(table, name, exp.not_(still.copy()))))
                self._replace(i, _of(table, name, still.copy()))
            parts: list[_Group | _Seam] = [*self.groups, *self.seams]
            for part in parts:
                part.table = self._make(_of(part.table, name, still.copy()))
        return float(largest)


def _on(
    query: exp.Select,
    source: exp.Expr,
    shared: Edge,
    left: str = "cells",
    how: str = "",
) -> exp.Select:
    """Return a query joined with a source by what it shares with the table ``left``."""
    if not shared:
        return query.join(source, on=exp.true(), join_type=how or "inner")
    pairs = zip(places(shared, left), places(shared, source.alias), strict=True)
    on = exp.and_(*(exp.EQ(this=a, expression=b) for a, b in pairs))
    return query.join(source, on=on, join_type=how or "inner")


def _of(table: str, components: str, condition: exp.Expr) -> exp.Select:
    chosen = exp.select("component").from_(components).where(condition).subquery("chosen")
    return exp.select("*").from_(table).join(chosen, using=["component"], join_type="semi")


def beliefs(margins: Margins, fit: Fit, question: Question) -> tuple[str, Edge] | None:
    """Return the expected counts of what the best guess depends on, and these attributes.

    The table has the columns ``component``, the places, the secret's among them, and ``mean``. None
    if there are too many combinations.
    """
    assert question.secret is not None  # noqa: S101 - asked of secrets only
    links = pruned(fit.links, question.scope, question.secret)
    used = frozenset().union(*(link.edge for link in links))
    edge = used & question.scope
    product: exp.Expr = exp.column("mean", "clique_0")
    query = exp.select("clique_0.component", *places(edge))
    for k, link in enumerate(links):
        name = fit.cliques[next(i for i, one in enumerate(fit.links) if one.edge == link.edge)]
        alias = f"clique_{k}"
        if not k:
            query = query.from_(exp.alias_(exp.to_table(name), alias, table=True))
            continue
        margin = grouped(exp.select().from_(name), link.shared).select("sum(mean) AS mean")
        share = exp.select(*places(link.edge, "cells"))
        ratio = exp.Div(this=exp.column("mean", "cells"), expression=exp.column("mean", "margins"))
        share = share.select(ratio.as_("mean"))
        share = share.from_(exp.alias_(exp.to_table(name), "cells", table=True))
        share = _on(share, margin.subquery("margins"), link.shared)
        if link.shared:
            using = tuple(places(link.shared))
            query = query.join(share.subquery(alias), using=using)
        else:
            query = query.join(share.subquery(alias), join_type="cross")
        product = exp.Mul(this=product, expression=exp.column("mean", alias))
    if len(links) > 1 and not fits(margins, query, CELLS):
        return None
    if edge == used:
        query = query.select(product.as_("mean"))
    else:
        query = query.select(exp.Sum(this=product).as_("mean"))
        query = query.group_by("clique_0.component", *places(edge))
    return margins.make(query, "looking for the best guess"), edge


def best_guesses(margins: Margins, table: str, edge: Edge, secret: int, *, exact: bool) -> str:
    """Return the best guesses by what is known: ``mean``, and ``ties`` of the values as good.

    One row per combination of what is known and best value of the secret.
    """
    knowledge = edge - {secret}
    near = 1 - (TIE_EXACT if exact else TIE)
    best = exp.Window(this=exp.Max(this=exp.column("mean")), partition_by=list(places(knowledge)))
    query = exp.select("component", *places(edge), "mean", best.as_("best")).from_(table)
    enough = exp.Mul(this=exp.column("best"), expression=exp.Literal.number(near))
    chosen = exp.select("component", *places(edge), "best").from_(query.subquery("every"))
    chosen = chosen.where(exp.GTE(this=exp.column("mean"), expression=enough))
    ties = exp.Window(this=exp.Count(this=exp.Star()), partition_by=list(places(knowledge)))
    final = exp.select("*", ties.as_("ties")).from_(chosen.subquery("chosen"))
    return margins.make(final, "looking for the best guess")


__all__ = ["NOTHING", "Fit", "beliefs", "best_guesses", "fitted", "free"]
