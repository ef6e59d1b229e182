"""Risks of households: a member singled out, any member guessed right, the household as a record.

A best guess is right about person i with the chance r_i of i's block. If guesses about members are
independent, one of them is right with 1 - prod (1 - r_i) (M175). Without that assumption the chance
is between max r_i and min(1, sum r_i) (M176). As one record, a household is the set of its members'
records (M177): the adversary knows the quasi-identifiers of all members.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from qifsql.counting.counts import Counts
from qifsql.measures import household_risk
from qifsql.measures.bayes import success
from qifsql.measures.profile import Profile
from qifsql.query.compiler import Question

Rows = list[dict[str, Any]]


def risks(counts: Counts, questions: Sequence[Question]) -> Rows:
    """Return the risks of households by their members; each row names its question."""
    identity = [(secret, gain) for secret, gain in questions if not gain]  # right guesses
    if not identity:
        return []
    # by secret: sums over people without a household, and over people in one
    alone = {r["secret"]: r for r in counts.frame("unhoused", identity).to_dicts()}
    housed = {r["secret"]: r for r in counts.frame("households", identity).to_dicts()}
    household = counts.bound.microdata.household
    name = household.name if household else None
    return [
        {"secret": secret, "gain": gain, "household": name}
        | household_risk.summary(housed[secret], alone[secret])
        for secret, gain in identity
    ]


def rows(counts: Counts, after: Mapping[Question, Profile], measured: Rows) -> Rows:
    """Return rows of ``risks`` with further columns ``record_*``: the attack on households.

    In it a household is one record: the adversary knows the values of all its members together.
    ``after`` has the questions, ``counts`` the attack on people; its tables must be dropped, as
    others of the same names are made.
    """
    bound, household = counts.bound, counts.bound.microdata.household
    if household is not None:
        of_sets = bound.on(bound.microdata.of_sets(household))
        bound = replace(of_sets, gains=(), asked_gains=(0,), thresholds=(), quantiles=())
    questions = sorted((secret, gain) for secret, gain in after if not gain)
    records = Counts(counts.engine, bound)
    prior, posterior = (records.profiles(questions, prior=p) for p in (True, False))
    counts.plans += records.plans
    records.forget()
    finished = []
    for row in measured:
        q = row["secret"], row["gain"]
        as_record: dict[str, float] = {
            "record_blocks": posterior[q].blocks,
            "record_singled_out": posterior[q].singled_out,
        }
        for when, profiles in (("prior", prior), ("posterior", posterior)):
            reached = success(profiles[q], *q)
            as_record[f"record_{when}_deterministic"] = float(reached.deterministic)
            as_record[f"record_{when}_probabilistic"] = float(reached.probabilistic)
        finished.append(row | as_record)
    return finished
