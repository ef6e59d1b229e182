"""The people with a reported secret, beside everybody: a missing secret is no value that protects.

The adversary then guesses the most frequent reported value of a block. Blocks in which nobody
reports the secret are counted apart: there it is certain that it is missing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl
from sqlglot import exp

from qifsql.adversary.spec import Microdata
from qifsql.counting import claims, known_records
from qifsql.counting.claims import Profiles
from qifsql.counting.counts import Counts
from qifsql.counting.known_records import OneRecord
from qifsql.engine.protocol import Engine
from qifsql.measures import bayes
from qifsql.measures.profile import Profile
from qifsql.query import microdata_steps
from qifsql.query.compiler import Question


@dataclass(frozen=True)
class Reported:
    """The blocks of the people with a reported secret, and the people of whom it is surely missing.

    ``after`` is None if nobody who is attacked reports the secret, ``prior`` if nobody does.
    ``known_one``: of people with several records, the blocks if one record is known. ``steps`` are
    the people by success (see ``claims``), None without thresholds.
    """

    question: Question
    prior: Profile | None
    after: Profile | None
    unreported: int
    known_one: OneRecord | None = None
    steps: pl.DataFrame | None = None

    def columns(self) -> dict[str, Any]:
        """Return columns to add to the row of the attack: ``bayes.REPORTED``, and ``l``.

        They are the success against people with a reported secret, and numbers of people. ``l`` is
        the fewest reported values of a block. If nobody reports the secret, there is no ``l``, and
        the success is None.
        """
        if self.prior is None or self.after is None:
            counts = {"reported": 0, "certain_reported": 0, "certain_missing": self.unreported}
            return dict.fromkeys(bayes.REPORTED) | counts
        secret, gain_number = self.question
        before, after = (bayes.success(p, secret, gain_number) for p in (self.prior, self.after))
        row = bayes.reported_row(before, after, self.after.individuals)
        return row | {"certain_missing": self.unreported, "l": self.after.least("values")}

    def columns_of_one_record(self) -> dict[str, Any]:
        """Return these columns for people of whom one record is known; no ``certain_missing``."""
        if self.prior is None or self.known_one is None:
            return dict.fromkeys(bayes.REPORTED) | {"reported": 0, "certain_reported": 0}
        profile, then = self.known_one.success(self.prior, self.question[0])
        before = bayes.success(self.prior, *self.question)
        row = bayes.reported_row(before, then, self.prior.individuals)
        return row | {"certain_missing": None, "l": profile["values"].min()}


def measure(counts: Counts, questions: Sequence[Question]) -> dict[Question, Reported]:
    """Return the people with a reported secret, by question; secrets that all report are left out.

    A question is the number of a secret (0, the owner, is never missing) and of a gain function
    (0: identity). If people have several records, this drops the tables of ``counts``, and only
    questions of the identity are answered.
    """
    # A flag of membership, which is the secret of such a model, is never missing.
    numbers = {j for j, _ in questions if j} if not counts.bound.member else set[int]()
    secrets = sorted(j for j in numbers if is_missed(counts, j))
    to_count = [(j, g) for j, g in questions if j in secrets]
    if not to_count:
        return {}
    if counts.bound.microdata.person is not None:
        counts.forget()
        return {(j, g): _with_several_records(counts, (j, g)) for j, g in to_count if not g}
    prior, after = (counts.profiles(to_count, prior=p, reported=True) for p in (True, False))
    unreported = counts.frame("unreported", [(j, 0) for j in secrets])
    people = {row["secret"]: row["people"] for row in unreported.to_dicts()}
    if not counts.bound.target:  # if nobody reports it, suppressed records tell that, too
        people |= {j: counts.domain(j).people for j, g in to_count if (j, g) not in prior}
    steps = _steps(counts, prior, after)
    reported: dict[Question, Reported] = {}
    for j, g in to_count:
        people_by_success = None if steps is None or g else steps.filter(secret=j)
        before, then = prior.get((j, g)), after.get((j, g))
        reported[j, g] = Reported((j, g), before, then, people[j], steps=people_by_success)
    return reported


def _with_several_records(counts: Counts, question: Question) -> Reported:
    """Return the people who report the secret of ``question`` in one of their records.

    They are counted again, by the records that report it alone; the plans are added to ``counts``.
    """
    bound, (j, _) = counts.bound, question
    # The people in blocks in which no record reports the secret: it is surely missing.
    unreported = counts.frame("people_unreported", [question])["people"][0]
    _, reporting = records_of_sets(counts, j)
    if not reporting:
        everybody = counts.domain(j).people
        return Reported(question, prior=None, after=None, unreported=everybody)
    microdata = replace(bound.microdata, secrets=(bound.microdata.secrets[j - 1],), reported=True)
    only_question = [(1, 0)]  # the secret is the first of this microdata
    reported = Counts(counts.engine, bound.on(microdata))
    prior, after = (reported.profiles(only_question, prior=p)[1, 0] for p in (True, False))
    steps = _steps(reported, {(1, 0): prior}, {(1, 0): after})
    steps = None if steps is None else steps.with_columns(secret=pl.lit(j, pl.Int64))
    known_one = known_records.measure(reported, only_question)[1]
    reported.forget()
    counts.plans += reported.plans
    return Reported(question, prior, after, unreported=unreported, known_one=known_one, steps=steps)


def _steps(counts: Counts, prior: Profiles, after: Profiles) -> pl.DataFrame | None:
    """Return the people who report each secret, by success; None without thresholds."""
    if not counts.bound.thresholds:
        return None
    are_among_all = not counts.bound.microdata.reported  # else the counts are of them alone
    return claims.steps(counts, list(after), prior, after, reported=are_among_all)


def is_missed(counts: Counts, secret: int) -> bool:
    """Return whether some people miss a secret; of sets of records, whether some records do."""
    if counts.bound.microdata.person is None:
        return counts.domain(secret).missing
    records, reported = records_of_sets(counts, secret)
    return reported < records


def records_of_sets(counts: Counts, secret: int) -> tuple[int, int]:
    """Return the number of records in the sets of people, and of those with a secret."""
    if counts.reported is None:
        counts.reported = _reported_records(counts.engine, counts.bound.microdata)
    records, *reported = counts.reported
    return records, reported[secret - 1]


def incomplete(engine: Engine, microdata: Microdata) -> list[int]:
    """Return the numbers of the secrets that are missing in some records, not in all."""
    records, *reported = _reported_records(engine, microdata)
    return [j for j, n in enumerate(reported, 1) if 0 < n < records]


def _reported_records(engine: Engine, microdata: Microdata) -> list[int]:
    """Return the number of records, then of those that report secret 1, secret 2, ..."""
    secrets = [exp.column(f"secret_{j}") for j in range(1, len(microdata.secrets) + 1)]
    counted = [exp.Count(this=this) for this in (exp.Star(), *secrets)]
    table = "microdata" if microdata.person is None else "records"
    steps = microdata_steps.steps(microdata)
    plan = microdata_steps.plan(microdata, steps, exp.select(*counted).from_(table))
    ((*numbers,),) = engine.rows(plan, "counting", microdata.dataset.name)
    return [int(number) for number in numbers]
