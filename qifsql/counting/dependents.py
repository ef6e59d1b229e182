"""Columns that are functions of a quasi-identifier: they undo what generalising it hides.

A column ``age_cat`` that stays in a release tells the age group of a person whose age was
generalised further. Such a column is found by the attack that infers it from the quasi-identifier
alone: its success is the share of the people whose value of the column is the most frequent one of
their value of the quasi-identifier.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from qifsql.adversary.roles import SETTLED
from qifsql.adversary.spec import Attribute, ColumnRoles, Microdata
from qifsql.data.types import nested
from qifsql.engine.protocol import Engine
from qifsql.errors import quoted
from qifsql.query import microdata_steps
from qifsql.query.plan import Plan
from qifsql.query.splice import splice

NEARLY = 0.99
"""The share of the people from which on a column counts as a function of a quasi-identifier."""

CONSTANT = 0.95
"""The share of its most frequent value from which on a column counts as constant."""

TOGETHER = 5
"""The mean number of records with one value of the quasi-identifier below which all columns would
be functions of it."""

AT_ONCE = 20
"""Columns that one statement counts."""


@dataclass(frozen=True)
class Dependent:
    """A column that is nearly a function of a quasi-identifier.

    ``share``: the share of the people whose value of the column is the most frequent one of their
    value of the quasi-identifier, in [``NEARLY``, 1].
    """

    column: str
    qid: str
    share: float

    @property
    def note(self) -> str:
        """Return the note for the reader."""
        function = "a function" if self.share == 1 else "nearly a function"
        return (
            f"column {quoted(self.column)} is {function} of {quoted(self.qid)} ({self.share:.1%} "
            "of the people): it reveals what generalising hides; change or drop it, too"
        )


def dependents(
    engine: Engine,
    people: Microdata,
    generalised: Sequence[Attribute],
    columns: Sequence[ColumnRoles],
) -> tuple[list[Dependent], list[Plan]]:
    """Return the columns that are functions of a quasi-identifier, and the plans that ran.

    A column counts if it has no role in the attack and is not nested. ``people`` are the records,
    whose filter and weights apply; ``generalised`` the quasi-identifiers that the release
    generalises or drops; ``columns`` all columns of the dataset.
    """
    candidates = tuple(
        c.attribute
        for c in columns
        if c.attribute is not None and not SETTLED & set(c.roles) and not nested(c.attribute.type)
    )
    functions: list[Dependent] = []
    plans: list[Plan] = []
    for qid in generalised:
        for first in range(0, len(candidates), AT_ONCE):
            some = candidates[first : first + AT_ONCE]
            about = replace(people, qids=(qid,), secrets=some, by=None, person=None)
            plans.append(_plan_guesses(about))
            rows = engine.rows(plans[-1], "columns that depend on others", people.dataset.name)
            functions += _find_functions(about, rows)
    return functions, plans


def _plan_guesses(about: Microdata) -> Plan:
    """Return the plan that counts the best guesses of some columns, from one quasi-identifier."""
    shape = {"columns": len(about.secrets), "weighted": about.weight is not None}
    query = splice("compare/best_guesses", shape=shape)
    return microdata_steps.plan(about, microdata_steps.steps(about), query)


def _find_functions(about: Microdata, rows: Sequence[tuple[Any, ...]]) -> list[Dependent]:
    """Return the columns that are functions, from the rows of ``best_guesses``."""
    guesses = {row[:2]: row[2:] for row in rows}  # by column, and with or without the other
    functions = []
    for number, column in enumerate(about.secrets, 1):
        records, values, weight, mode = guesses.get((number, True), (0, 0, 0, 0))
        share = mode / weight if weight else 0.0
        is_constant = not weight or guesses[number, False][3] >= CONSTANT * weight
        if share >= NEARLY and records >= TOGETHER * values and not is_constant:
            functions.append(Dependent(column.name, about.qids[0].name, share))
    return functions
