"""Columns that are functions of a quasi-identifier: they undo what generalising it hides.

A column ``age_cat`` that stays in a release tells the age group of a person whose age was
generalised further. Such a column is found by the attack that infers it from the quasi-identifier
alone: its success is the share of the people whose value of the column is the most frequent one of
their value of the quasi-identifier.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from qifsql.adversary.models import MODELS
from qifsql.adversary.roles import SETTLED
from qifsql.adversary.spec import Attribute, BoundAttack, ColumnRoles, Microdata
from qifsql.counting import risks
from qifsql.data.types import nested
from qifsql.engine.protocol import Engine
from qifsql.errors import quoted
from qifsql.query.plan import Plan

NEARLY = 0.99
"""The share of the people from which on a column counts as a function of a quasi-identifier."""

CONSTANT = 0.95
"""The share of its most frequent value from which on a column counts as constant."""

TOGETHER = 5
"""The mean number of people with one value of the quasi-identifier below which all columns would
be functions of it."""


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
    for qid in generalised if candidates else ():
        microdata = replace(people, qids=(qid,), secrets=candidates, by=None, person=None)
        attack = BoundAttack((MODELS["crs"], MODELS["cas"]), microdata)
        column_risks, more_plans = risks.measure(engine, attack)
        plans += more_plans
        for risk in column_risks:
            row = risk.partition
            share = row["cas_posterior_probabilistic"]  # guessed right from the quasi-identifier
            constant = row["cas_prior_probabilistic"] >= CONSTANT  # guessed right without it
            if share >= NEARLY and row["average_class_size"] >= TOGETHER and not constant:
                functions.append(Dependent(risk.secret or "", qid.name, share))
    return functions, plans
