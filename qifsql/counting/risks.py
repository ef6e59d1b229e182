"""The risk of one release: its blocks, and the success of adversaries who know them.

The counts are those of ``qifsql.attack`` (models CRS and CAS), and k and l come from the same
profiles.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from qifsql.adversary.spec import BoundAttack
from qifsql.counting.counts import Counts
from qifsql.engine.protocol import Engine
from qifsql.measures import bayes, disclosure
from qifsql.measures.bayes import Success
from qifsql.measures.profile import Profile
from qifsql.query import compiler
from qifsql.query.plan import Plan

SUCCESS = (
    *("prior_deterministic", "posterior_deterministic"),
    *("prior_probabilistic", "posterior_probabilistic"),
)
PARTITION: dict[str, pl.DataType] = {
    "records": pl.Int64(),
    "blocks": pl.Int64(),
    "average_class_size": pl.Float64(),
    "k": pl.Int64(),
    "singled_out": pl.Int64(),
    "l": pl.Int64(),
    **{f"crs_{name}": pl.Float64() for name in SUCCESS},
    **{f"cas_{name}": pl.Float64() for name in SUCCESS},
}
"""The measures of a release and a secret.

``k`` is the size of the smallest block, ``l`` the smallest number of different values of the secret
in a block (a missing value is a value), ``average_class_size`` the mean number of records per
block. ``crs_*`` is the success of re-identification, ``cas_*`` that of inferring the secret: the
probabilities in [0, 1] of PoPETs Table 11. ``l`` and ``cas_*`` are NULL if no secret is named."""


@dataclass(frozen=True)
class Risk:
    """The risk of one release and one secret: ``PARTITION``, and the rows of ``attack``.

    ``attacks`` maps acronyms to the measures of their rows (``qifsql.measures.bayes.row``).
    """

    secret: str | None
    partition: dict[str, Any]
    attacks: dict[str, dict[str, Any]]


def measure(engine: Engine, bound: BoundAttack) -> tuple[list[Risk], list[Plan]]:
    """Return the risk for each secret, or one risk without a secret, and the plans that ran.

    Without quasi-identifiers the posterior equals the prior.
    """
    counts = Counts(engine, bound, again=False)
    questions = compiler.questions(bound)
    questions = questions if (0, 0) in questions else [(0, 0), *questions]
    prior = counts.profiles(questions, prior=True)
    after = counts.profiles(questions, prior=False) if bound.microdata.qids else prior
    risks = []
    for j in range(1, len(bound.microdata.secrets) + 1) if bound.microdata.secrets else (0,):
        secret = bound.microdata.secrets[j - 1].name if j else None
        risks.append(risk(secret, j, prior, after))
    plans = list(counts.plans)
    counts.forget()
    return risks, plans


def risk(
    secret: str | None,
    j: int,
    prior: Mapping[tuple[int, int], Profile],
    after: Mapping[tuple[int, int], Profile],
) -> Risk:
    """Return the risk for one secret, number ``j`` from 1, or for none (0).

    The profiles of question (0, 0) are about whose record it is, those of (j, 0) about the secret.
    """
    before, blocks = prior[0, 0], after[0, 0]
    attacks = {"crs": _row(bayes.reidentification(before), bayes.reidentification(blocks), blocks)}
    attacks["crs"] |= {
        "prosecutor_risk": disclosure.highest(blocks.least("size")),
        "marketer_risk": disclosure.marketer(blocks.blocks, blocks.individuals),
    }
    values: int | None = None
    if j:
        profile = after[j, 0]
        attacks["cas"] = _row(bayes.inference(prior[j, 0]), bayes.inference(profile), profile)
        values = profile.least("values")
        attacks["cas"] |= {"l": values}
    records = blocks.individuals
    partition = {
        "records": records,
        "blocks": blocks.blocks,
        "average_class_size": records / blocks.blocks,
        "k": blocks.least("size"),
        "singled_out": blocks.singled_out,
        "l": values,
    }
    for model in ("crs", "cas"):
        row = attacks.get(model, {})
        partition |= {f"{model}_{name}": row.get(name) for name in SUCCESS}
    for row in attacks.values():
        row |= {"records": records}
    return Risk(secret, partition, attacks)


def _row(before: Success, then: Success, profile: Profile) -> dict[str, Any]:
    row = bayes.row(before, then)
    counts = {"blocks": profile.blocks, "singled_out": profile.singled_out}
    return row | counts | {"k": profile.least("size")}
