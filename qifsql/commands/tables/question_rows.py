"""The row of a question about a set of tables: what is proved, and the Bayesian adversary."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sqlglot import exp

from qifsql.commands.tables import arrays, best_guesses
from qifsql.commands.tables.arrays import Solved
from qifsql.commands.tables.fit import SCALE
from qifsql.commands.tables.margins import join_shared, places
from qifsql.commands.tables.measured import Measured, without_components
from qifsql.commands.tables.proofs import Proofs, Question, free_attributes, has_closed_form
from qifsql.query.columns import number


def question_row(measured: Measured, question: Question) -> dict[str, Any]:
    """Return the row of a question."""
    domain = measured.release.domain
    people = domain.people
    totals = _proved_totals(measured, question)
    cells = None
    if totals["support"] is not None:
        cells = measured.release.possible - totals["support"] + totals["lines"]
    prior, believed, actual, estimate = success(measured, question)
    best = measured.release.records
    settled = totals["lowest"] == totals["highest"]
    if question.secret is None and believed is None:
        believed = Fraction(totals["lowest"], people) if settled else None
        estimate = not settled
    return {
        "tables": [table.title for table in measured.published],
        "known": [domain.names[i] for i in sorted(question.knowledge)],
        "secret": None if question.secret is None else domain.names[question.secret],
        "people": people,
        "bounds": _method(measured),
        "sharp": measured.closed or len(measured.open_components) == len(measured.sharp),
        "reconstructed": totals["reconstructed"],
        "reconstructed_ones": totals["ones"],
        "cells_proved": cells,
        "singled_out": totals["singled_out"],
        "certain_inference": totals["certain"],
        "lowest": totals["lowest"] / people,
        "highest": totals["highest"] / people,
        "bracket_sharp": settled or not totals["open_brackets"],
        "prior": prior,
        "believed": None if believed is None else float(believed),
        "actual": None if actual is None else float(actual),
        "records": None
        if best is None
        else best.best_success(question.knowledge, question.secret) / people,
        "estimate": estimate,
        "components": measured.components,
        "components_proved": totals["proved"] / measured.components,
        "components_open": len(measured.open_components) - len(measured.sharp),
    }


def _method(measured: Measured) -> str:
    """Return how the bounds were computed."""
    if has_closed_form(measured.margins, measured.release.domain.every):
        return "closed form"
    if not measured.sharp:
        return "propagation"
    return "integer programming" if len(measured.sharp) == measured.components else "mixed"


def _proved_totals(measured: Measured, question: Question) -> dict[str, Any]:
    """Return what is proved of all components together."""
    margins, proofs = measured.margins, measured.proofs[question]
    solved = measured.solved[question]
    by_component = margins.keep(_by_component(measured, proofs, solved), "adding components")
    measured.by_component[question] = by_component
    columns = ("reconstructed", "ones", "lines", "singled_out", "certain", "lowest", "highest")
    sums = [
        exp.func("coalesce", exp.cast(exp.Sum(this=exp.column(c)), "BIGINT"), number(0)).as_(c)
        for c in columns
    ]
    support = exp.func(
        "coalesce",
        exp.cast(exp.Sum(this=exp.column("support")), "HUGEINT", dialect="duckdb"),
        number(0),
    )
    counted = exp.Filter(
        this=exp.Count(this=exp.Star()),
        expression=exp.Where(
            this=exp.EQ(this=exp.column("lines"), expression=exp.column("support"))
        ),
    )
    query = exp.select(*sums, support.as_("support"), counted.as_("proved")).from_(by_component)
    query = query.select("count(*) FILTER (WHERE lowest < highest) AS open_brackets")
    ((*numbers, support_cells, proved, brackets),) = margins.tables.answer(query)
    totals: dict[str, Any] = dict(zip(columns, map(int, numbers), strict=True))
    totals["open_brackets"] = int(brackets)
    totals |= {"support": int(support_cells), "proved": int(proved)}
    for solution in solved.values():
        proved_lines = list(solution.proved_lines.values())
        totals["reconstructed"] += sum(proved_lines)
        totals["ones"] += proved_lines.count(1)
        totals["lines"] += len(proved_lines)
        totals["singled_out"] += solution.singled_out
        totals["certain"] += solution.certain
        totals["lowest"] += solution.lowest
        totals["highest"] += solution.highest
        totals["open_brackets"] += not solution.bracket_sharp
        totals["support"] += solution.cells
        totals["proved"] += solution.cells == len(proved_lines)
    if proofs.support is None:
        totals |= {"support": None, "proved": 0}
    return totals


def _by_component(measured: Measured, proofs: Proofs, solved: Mapping[int, Solved]) -> exp.Select:
    """Return a row per component that was not solved, with all that is proved of it."""
    margins = measured.margins
    node = margins.nodes[margins.shared]
    query = exp.select("totals.component", *places(margins.shared, "totals"))
    query = query.select("totals.upper AS people")
    query = query.from_(exp.alias_(exp.to_table(node), "totals", table=True))
    settled = "lower = upper"
    parts: list[tuple[str, str, dict[str, str]]] = [
        (
            "all_lines",
            proofs.lines,
            {
                "reconstructed": f"sum(lower) FILTER (WHERE {settled})",
                "ones": f"count(*) FILTER (WHERE {settled} AND lower = 1)",
                "lines": f"count(*) FILTER (WHERE {settled})",
            },
        ),
        (
            "known_lines",
            proofs.block_lines,
            {"singled_out": "count(*) FILTER (WHERE lower = 1 AND upper = 1)"},
        ),
        ("brackets", proofs.bracket, {"lowest": "max(lowest)", "highest": "min(highest)"}),
    ]
    if proofs.sure is not None:
        parts.append(("proved", proofs.sure, {"certain": "sum(people)"}))
    if proofs.support is not None:
        parts.append(("possible", proofs.support, {"support": "sum(cells)"}))
    for alias, table, columns in parts:
        inner = exp.select("component").from_(table).group_by("component")
        for name, text in columns.items():
            inner = inner.select(exp.alias_(exp.maybe_parse(text, dialect="duckdb"), name))
        query = query.join(inner.subquery(alias), on=_same_component(alias), join_type="left")
        query = query.select(
            *(exp.func("coalesce", exp.column(c, alias), number(0)).as_(c) for c in columns)
        )
    if proofs.sure is None:
        query = query.select("0 AS certain")
    if proofs.support is None:
        query = query.select("0 AS support")
    return without_components(query, solved, "totals")


def _same_component(alias: str) -> exp.Expr:
    return exp.EQ(this=exp.column("component", "totals"), expression=exp.column("component", alias))


def success(
    measured: Measured, question: Question
) -> tuple[float | None, Fraction | None, Fraction | None, bool]:
    """Return the prior, and the believed and actual success of the Bayesian adversary.

    The last is whether the believed one is an estimate.
    """
    people = measured.release.domain.people
    solved = measured.averaged(question)
    all_solved = len(solved) == measured.components
    if question.secret is None:
        believed = None
        if all_solved:
            believed = (
                sum((s.believed or Fraction(0) for s in solved.values()), Fraction(0)) / people
            )
        return 1 / people, believed, None, False
    prior = _constant_guess(measured, question.secret)
    believed, actual = Fraction(0), Fraction(0)
    records = measured.release.records
    for solution in solved.values():
        believed += solution.believed or 0
    estimate = False
    measured.best[question] = None
    if records is not None and solved:
        actual += _right_when_solved(measured, question)
    if not all_solved:
        if measured.counts is None:
            return prior, None, None, False
        sums = _right_when_fitted(measured, question)
        if sums is None:
            measured.notes.append(
                "the best guess depends on too many combinations to list them: believed and actual "
                "success are not measured; name fewer dimensions with --known"
            )
            return prior, None, None, False
        believed, actual = believed + sums[0], actual + sums[1]
        estimate = measured.counts.estimate
    return prior, believed / people, None if records is None else actual / people, estimate


def _constant_guess(measured: Measured, secret: int) -> float | None:
    """Return the success of the best constant guess; None if no table tells it."""
    release = measured.release
    people = release.domain.people
    edge = frozenset([secret])
    if release.records is not None:
        truth = release.records.truth(edge)
        ((n,),) = release.tables.rows(exp.select("max(people)").from_(truth))
        return int(n) / people
    table = next((t for t in release.published if t.exact and t.edge >= edge), None)
    if table is None:
        return None
    inner = exp.select("sum(lower) AS n").from_(table.cells).group_by(*places(edge))
    ((n,),) = release.tables.rows(exp.select("max(n)").from_(inner.subquery("values")))
    return int(n) / people


def _right_when_solved(measured: Measured, question: Question) -> Fraction:
    """Return the people whose secret the best guess gets right, in solved components."""
    records, margins = measured.release.records, measured.margins
    assert records is not None and question.secret is not None  # noqa: S101, PT018 - checked before
    attributes = sorted(question.scope)
    at = attributes.index(question.secret)
    truth = exp.select("component", "people", *places(question.scope))
    truth = join_shared(
        truth.from_(records.truth(question.scope | margins.shared)),
        margins.nodes[margins.shared],
        "totals",
        margins.shared,
    )
    solved = measured.averaged(question)
    guesses = {c: arrays.best_values(solution.means) for c, solution in solved.items()}
    right = Fraction(0)
    for component, n, *codes in margins.tables.rows(truth):
        if component not in guesses:
            continue
        value = codes.pop(at)
        best = guesses[component].get(tuple(codes), [])
        if value in best:
            right += Fraction(int(n), len(best))
    return right


def _right_when_fitted(measured: Measured, question: Question) -> tuple[Fraction, Fraction] | None:
    """Return the people guessed right, believed and actual, in components that are not solved."""
    margins, records = measured.margins, measured.release.records
    assert measured.counts is not None and question.secret is not None  # noqa: S101, PT018 - checked before
    solved = measured.averaged(question)
    size = margins.domain.sizes[question.secret]
    if question.secret in free_attributes(margins, question.scope):
        ((n,),) = margins.tables.rows(
            without_components(
                exp.select("sum(upper)").from_(margins.nodes[margins.shared]), solved
            )
        )
        even = Fraction(int(n or 0), size)
        return even, even
    relevant = best_guesses.expected_counts(margins, measured.counts, question)
    if relevant is None:
        return None
    table, edge = relevant
    best = best_guesses.best_guesses(
        margins, table, edge, question.secret, exact=not measured.counts.estimate
    )
    measured.best[question] = best, edge
    scaled = exp.func("floor", exp.Mul(this=exp.column("best"), expression=number(SCALE)))
    first = exp.select("component", *places(edge - {question.secret}), "max(best) AS best")
    first = first.from_(best).group_by("component", *places(edge - {question.secret}))
    total = exp.Sum(this=exp.cast(scaled, "HUGEINT", dialect="duckdb"))
    query = exp.select(exp.cast(total, "HUGEINT", dialect="duckdb").as_("believed"))
    query = without_components(query.from_(first.subquery("first")), solved, "first")
    ((n,),) = margins.tables.answer(query)
    believed = Fraction(int(n or 0), SCALE)
    if records is None:
        return believed, Fraction(0)
    truth = exp.select("best.ties", "sum(truth.people)::BIGINT AS people")
    truth = truth.from_(exp.alias_(exp.to_table(records.truth(edge)), "truth", table=True))
    truth = join_shared(truth, best, "best", edge).group_by("best.ties")
    truth = without_components(truth, solved, "best")
    rights = margins.tables.answer(truth)
    return believed, sum((Fraction(int(n), int(t)) for t, n in rights), Fraction(0))
