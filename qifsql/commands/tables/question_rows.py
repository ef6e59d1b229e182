"""The row of a question about a set of tables: what is proved, and the Bayesian adversary."""

from collections import defaultdict
from fractions import Fraction
from typing import Any, NamedTuple

from sqlglot import exp

from qifsql.commands.tables import arrays, fit
from qifsql.commands.tables.dimensions import Records
from qifsql.commands.tables.fit import SCALE, Fit
from qifsql.commands.tables.hypergraph import NOTHING
from qifsql.commands.tables.margins import places
from qifsql.commands.tables.measured import Measured, without_components
from qifsql.commands.tables.proofs import Question, free_attributes, has_closed_form
from qifsql.query.splice import splice


def question_row(measured: Measured, question: Question) -> dict[str, Any]:
    """Return the row of a question about a set of tables, with the columns ``tables.SCHEMA``."""
    domain = measured.release.domain
    people = domain.people
    totals = _proved_totals(measured, question)
    cells_proved = None
    if totals["support"] is not None:  # the empty cells, and those with a proved count
        cells_proved = measured.release.possible - totals["support"] + totals["lines"]
    prior, believed, actual, estimate = success(measured, question)
    with_records = None
    if (records := measured.release.records) is not None:
        with_records = records.best_success(question.knowledge, question.secret) / people
    settled = totals["lowest"] == totals["highest"]
    if question.secret is None and believed is None:  # known if lowest and highest are the same
        believed = Fraction(totals["lowest"], people) if settled else None
        estimate = not settled
    if has_closed_form(measured.margins, domain.every):
        method = "closed form"
    elif not measured.sharp_components:
        method = "propagation"
    else:
        all_solved = len(measured.sharp_components) == measured.components
        method = "integer programming" if all_solved else "mixed"
    return {
        "tables": list(dict.fromkeys(table.source for table in measured.published)),
        "known": [domain.names[i] for i in sorted(question.knowledge)],
        "secret": None if question.secret is None else domain.names[question.secret],
        "people": people,
        "bounds": method,
        "sharp": measured.closed or len(measured.open_components) == len(measured.sharp_components),
        "reconstructed": totals["reconstructed"],
        "reconstructed_ones": totals["ones"],
        "cells_proved": cells_proved,
        "singled_out": totals["singled_out"],
        "certain_inference": totals["certain"],
        "lowest": totals["lowest"] / people,
        "highest": totals["highest"] / people,
        "bracket_sharp": settled or not totals["open_brackets"],
        "prior": prior,
        "believed": None if believed is None else float(believed),
        "actual": None if actual is None else float(actual),
        "records": with_records,
        "estimate": estimate,
        "components": measured.components,
        "components_proved": totals["proved"] / measured.components,
        "components_open": len(measured.open_components) - len(measured.sharp_components),
    }


def _proved_totals(measured: Measured, question: Question) -> dict[str, Any]:
    """Return what is proved of all components together.

    Components with an exact solution are added from it, all others from their bounds, which
    ``measured.by_component`` keeps.

    In people: ``reconstructed``, ``ones`` (of these, alone), ``singled_out``, ``certain`` (secrets
    that are proved), and ``lowest`` to ``highest``, those whom the best guess gets right. In
    combinations of all attributes: ``lines`` (of people, with a proved count) and ``support`` (that
    may hold somebody; None: too many to count). In components: ``proved`` and ``open_brackets``.
    """
    margins, proofs = measured.margins, measured.proofs[question]
    solved = measured.solved[question]
    by_component = _keep_by_component(measured, question)
    query = splice("tables/proved_totals", tables={"component_proofs": by_component})
    (sums,) = margins.tables.answer(query)
    totals: dict[str, Any] = dict(zip(query.named_selects, map(int, sums), strict=True))
    for solution in solved.values():
        proved_lines = list(solution.proved_lines.values())
        totals["reconstructed"] += sum(proved_lines)
        totals["ones"] += proved_lines.count(1)
        totals["lines"] += len(proved_lines)
        totals["singled_out"] += len(solution.lone_blocks)
        totals["certain"] += solution.certain
        totals["lowest"] += solution.lowest
        totals["highest"] += solution.highest
        totals["open_brackets"] += not solution.bracket_sharp
        totals["support"] += solution.cells
        totals["proved"] += solution.cells == len(proved_lines)
    if proofs.support is None:  # possible cells were too many to count, so none is known to be all
        totals |= {"support": None, "proved": 0}
    return totals


def _keep_by_component(measured: Measured, question: Question) -> str:
    """Make and return the table of what the bounds prove, a row per component.

    Components with an exact solution are left out. ``measured.by_component`` gets its name.
    """
    margins, proofs = measured.margins, measured.proofs[question]
    tables = {"totals": margins.nodes[margins.shared], "brackets": proofs.bracket}
    tables |= {"all_lines": proofs.lines, "block_lines": proofs.block_lines}
    tables |= {} if proofs.sure is None else {"sure": proofs.sure}
    tables |= {} if proofs.support is None else {"possible_cells": proofs.support}
    shape = {"has_secret": proofs.sure is not None, "is_counted": proofs.support is not None}
    query = splice(
        "tables/component_proofs", tables=tables, shape={"shared": margins.shared, **shape}
    )
    query = without_components(query, measured.solved[question], "totals")
    measured.by_component[question] = name = margins.keep(query, "adding components")
    return name


class Success(NamedTuple):
    """The success of the Bayesian adversary, as shares of people; None where it is not measured.

    ``estimate``: the believed one is of fitted counts.
    """

    prior: float | None
    believed: Fraction | None = None
    actual: Fraction | None = None
    estimate: bool = False


def success(measured: Measured, question: Question) -> Success:
    """Return the success of the Bayesian adversary; keep her best guesses in ``measured``.

    Components whose arrays of counts were all listed have exact means; of the others, fitted
    expected counts say what she believes.
    """
    margins, secret = measured.margins, question.secret
    people = margins.domain.people
    solved = measured.averaged(question)  # the other components have a fit
    all_solved = len(solved) == measured.components
    believed = sum((s.believed or Fraction(0) for s in solved.values()), Fraction(0))  # in people
    if secret is None:  # re-identification: a fit does not tell how many blocks are empty
        return Success(1 / people, believed / people if all_solved else None)
    prior = _constant_guess(measured, secret)
    measured.best_guesses[question] = None
    by_chance = Fraction(0)  # people guessed right where no table has the secret
    estimate = False
    if not all_solved:
        if measured.expected_counts is None:  # a clique has too many cells to fit
            return Success(prior)
        estimate = measured.expected_counts.estimate
        if secret in free_attributes(margins, question.scope):  # in no table: any guess is as good
            open_people = exp.select("sum(upper)").from_(margins.nodes[margins.shared])
            ((n,),) = margins.tables.rows(without_components(open_people, solved))
            by_chance = Fraction(int(n or 0), margins.domain.sizes[secret])
            believed += by_chance
        else:
            fitted = _believed_when_fitted(measured, question, measured.expected_counts)
            if fitted is None:
                measured.notes.append(
                    "the best guess depends on too many combinations to list them: believed and "
                    "actual success are not measured; name fewer dimensions with --known"
                )
                return Success(prior)
            believed += fitted
    actual = None
    if measured.release.records is not None:
        right = right_people(measured, question, measured.release.records)
        actual = sum(right.values(), by_chance) / people
    return Success(prior, believed / people, actual, estimate)


def _constant_guess(measured: Measured, secret: int) -> float | None:
    """Return the share of people with the most frequent secret; None: no exact table tells it."""
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


def _believed_when_fitted(measured: Measured, question: Question, counts: Fit) -> Fraction | None:
    """Return how many people the adversary expects to guess right, by the expected ``counts``.

    Only components without exact means count. Keeps the best guesses in ``measured``. None if they
    depend on too many combinations.
    """
    assert question.secret is not None  # noqa: S101 - asked of secrets only
    margins = measured.margins
    relevant = fit.expected_counts(margins, counts, question)
    if relevant is None:
        return None
    table, edge = relevant
    knowledge = edge - {question.secret}
    exact = not counts.estimate
    # A row per block and best value of the secret.
    best_guesses = margins.make(
        "best_guesses",
        {"expected_counts": table},
        fit.GUESSING,
        edge=edge,
        knowledge=knowledge,
        exact=exact,
    )
    measured.best_guesses[question] = best_guesses, edge
    query = splice(
        "tables/believed_people",
        tables={"best_guesses": best_guesses},
        numbers={"parts_of_one": SCALE},
        shape={"knowledge": knowledge},
    )
    solved = measured.averaged(question)
    ((n,),) = margins.tables.answer(without_components(query, solved, "first"))
    return Fraction(int(n or 0), SCALE)  # SQL adds whole parts of a person: SCALE of them are one


def right_people(
    measured: Measured, question: Question, records: Records, by: int | None = None
) -> dict[int | None, Fraction]:
    """Return the people whose secret the best guess gets right, by the code of dimension ``by``.

    Without ``by`` the one key is None. Of several values that are as good, one is guessed at
    random, so that it is right for a share of the people who have one of them.
    """
    margins, solved = measured.margins, measured.averaged(question)
    group = NOTHING if by is None else frozenset([by])
    right: dict[int | None, Fraction] = defaultdict(Fraction)
    if (best := measured.best_guesses[question]) is not None:  # the guesses by expected counts
        table, edge = best
        tables = {"truth": records.truth(edge | group), "best": table}
        query = splice("tables/fitted_rights", tables=tables, shape={"edge": edge, "group": group})
        unsolved = without_components(query, solved, "best")
        for *codes, ties, people in margins.tables.answer(unsolved):
            right[codes[0] if codes else None] += Fraction(int(people), int(ties))
    if not solved:
        return right
    # Components with exact means: each combination of records is compared with the best values.
    attributes = sorted(question.scope | group)
    truth = records.truth(question.scope | margins.shared | group)
    query = splice(
        "tables/component_people",
        tables={"truth": truth, "totals": margins.nodes[margins.shared]},
        shape={"edge": attributes, "shared": margins.shared},
    )
    guesses = {c: arrays.best_values(solution.means) for c, solution in solved.items()}
    for component, people, *codes in margins.tables.rows(query):
        cell: dict[int | None, int] = dict(zip(attributes, codes, strict=True))  # no key None
        block = tuple(cell[i] for i in sorted(question.knowledge))
        best_values = guesses.get(component, {}).get(block, [])
        if cell[question.secret] in best_values:
            right[cell.get(by)] += Fraction(int(people), len(best_values))
    return right
