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

DEPENDENT_SHARE = 0.99
"""The share of the people from which on a column counts as a function of a quasi-identifier."""

CONSTANT_SHARE = 0.95
"""The share of its most frequent value from which on a column counts as constant."""

FEWEST_RECORDS = 5
"""The mean number of records with one value of the quasi-identifier below which all columns would
be functions of it."""

COLUMNS_AT_ONCE = 20
"""Columns that one statement counts."""


@dataclass(frozen=True)
class Dependent:
    """A column that is nearly a function of a quasi-identifier.

    ``share``: the share of the people whose value of the column is the most frequent one of their
    value of the quasi-identifier, in [``DEPENDENT_SHARE``, 1].
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
        for first in range(0, len(candidates), COLUMNS_AT_ONCE):
            counted = candidates[first : first + COLUMNS_AT_ONCE]
            # An attack that infers each column, as a secret, from this quasi-identifier.
            about = replace(people, qids=(qid,), secrets=counted, by=None, person=None)
            # Of each column, without and with the quasi-identifier known: the records, the number
            # of its values, and the weights of all records and of those that are guessed right.
            shape = {"columns": len(counted), "weighted": about.weight is not None}
            query = splice("compare/best_guesses", shape=shape)
            plans.append(microdata_steps.plan(about, microdata_steps.steps(about), query))
            rows = engine.rows(plans[-1], "columns that depend on others", people.dataset.name)
            functions += _find_functions(about, rows)
    return functions, plans


def _find_functions(about: Microdata, rows: Sequence[tuple[Any, ...]]) -> list[Dependent]:
    """Return the columns that nearly follow from a quasi-identifier, by view ``best_guesses``."""
    # By number of the column, and whether the quasi-identifier is known.
    guesses = {(column, is_known): counts for column, is_known, *counts in rows}
    functions = []
    for number, column in enumerate(about.secrets, 1):
        records, values, weight, right = guesses.get((number, True), (0, 0, 0, 0))
        share = right / weight if weight else 0.0
        # Without the quasi-identifier, those guessed right have the most frequent value of all.
        (*_, most_frequent) = guesses[number, False] if weight else (0,)
        is_constant = most_frequent >= CONSTANT_SHARE * weight
        if share >= DEPENDENT_SHARE and records >= FEWEST_RECORDS * values and not is_constant:
            functions.append(Dependent(column.name, about.qids[0].name, share))
    return functions
