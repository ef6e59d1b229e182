"""The risk of one release: its blocks, and the success of adversaries who know them.

The counts are those of ``qifsql.attack`` (models CRS and CAS), and k and l come from the same
profiles.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from qifsql.adversary.spec import BoundAttack
from qifsql.counting import known_records, missing_secrets
from qifsql.counting.counts import Counts
from qifsql.counting.missing_secrets import Reported
from qifsql.engine.protocol import Engine
from qifsql.measures import bayes, register_links
from qifsql.measures.bayes import Success
from qifsql.measures.profile import Profile
from qifsql.query import compiler
from qifsql.query.plan import Plan

SUCCESS = (
    *("prior_deterministic", "posterior_deterministic"),
    *("prior_probabilistic", "posterior_probabilistic"),
)
PARTITION: dict[str, pl.DataType] = {
    **dict.fromkeys(("records", "blocks"), pl.Int64()),
    "average_class_size": pl.Float64(),
    **dict.fromkeys(("k", "singled_out", "l"), pl.Int64()),
    **{f"crs_{name}": pl.Float64() for name in SUCCESS},
    **{f"cas_{name}": pl.Float64() for name in SUCCESS},
}
"""The measures of a release and a secret.

``k`` is the size of the smallest block, ``l`` the smallest number of different values of the secret
in a block, with missing as a value or among people with a reported one; ``average_class_size`` is
the mean number of records per block. ``crs_*`` is the success of re-identification, ``cas_*`` that
of inferring the secret: the probabilities in [0, 1] of PoPETs Table 11. ``l`` and ``cas_*`` are
NULL if no secret is named. With a person there are rows for all records of a person known and for
one (``known_records``), and everything but ``records`` counts people, as in ``attack``."""


@dataclass(frozen=True)
class Risk:
    """The risk of one release and one secret: ``PARTITION``, and the rows of ``attack``.

    ``attacks`` maps acronyms to the measures of their rows (``qifsql.measures.bayes.row``). With a
    person, ``known_records`` says which of her records are known, as in ``attack``.
    """

    secret: str | None
    partition: dict[str, Any]
    attacks: dict[str, dict[str, Any]]
    known_records: str | None = None


def measure(engine: Engine, bound: BoundAttack) -> tuple[list[Risk], list[Plan]]:
    """Return the risk for each secret, or one risk without a secret, and the plans that ran.

    With a person there are two each: for all records known, and for one. Without quasi-identifiers
    the posterior equals the prior.
    """
    counts = Counts(engine, bound)
    questions = compiler.questions(bound)  # pairs: number of a secret (0: the owner), of a gain
    questions = questions if (0, 0) in questions else [(0, 0), *questions]  # for the sizes
    prior = counts.profiles(questions, prior=True)
    after = counts.profiles(questions, prior=False) if bound.microdata.qids else prior
    by_one_record = known_records.measure(counts, questions)
    reported = missing_secrets.measure(counts, questions)
    names = [secret.name for secret in bound.microdata.secrets]
    risks = []
    for j, secret in enumerate(names, 1) if names else [(0, None)]:
        by_all = risk(secret, j, prior, after, reported.get((j, 0)))
        if not by_one_record:
            risks.append(by_all)
            continue
        totals = {"records": counts.records, "people": prior[0, 0].individuals}
        by_one = _risk_by_one_record(secret, j, prior, by_one_record, reported.get((j, 0)))
        risks += [_of_people(by_all, "all", totals), _of_people(by_one, "one", totals)]
    plans = list(counts.plans)
    counts.forget()
    return risks, plans


def risk(
    secret: str | None,
    j: int,
    prior: Mapping[tuple[int, int], Profile],
    after: Mapping[tuple[int, int], Profile],
    reported: Reported | None = None,
) -> Risk:
    """Return the risk for one secret, number ``j`` from 1, or for none (0).

    ``prior`` and ``after`` are profiles without and with the quasi-identifiers: those of question
    (0, 0) are about whose record it is, those of (j, 0) about the secret. ``reported`` are the
    people who report it, if some miss it.
    """
    before, blocks = prior[0, 0], after[0, 0]
    attacks = {"crs": _row(bayes.reidentification(before), bayes.reidentification(blocks), blocks)}
    attacks["crs"] |= {
        "prosecutor_risk": register_links.highest(blocks.least("size")),
        "marketer_risk": register_links.marketer(blocks.blocks, blocks.individuals),
    }
    if j:
        profile = after[j, 0]
        attacks["cas"] = _row(bayes.inference(prior[j, 0]), bayes.inference(profile), profile)
        of_reported = reported.columns() if reported else {}
        attacks["cas"] |= {"l": _smaller(profile.least("values"), of_reported)}
    mean_size = blocks.individuals / blocks.blocks
    return _of_attacks(secret, attacks, {"records": blocks.individuals}, mean_size)


def _risk_by_one_record(
    secret: str | None,
    j: int,
    prior: Mapping[tuple[int, int], Profile],
    by_record: Mapping[int, known_records.OneRecord],
    reported: Reported | None,
) -> Risk:
    """Return the risk for secret ``j`` (0: none) if one record of each person is known.

    ``by_record`` has the blocks of records by secret; 0 is the owner of the record.
    """
    crs = by_record[0].columns(prior[0, 0], 0, {"k": None})
    crs |= {
        "prosecutor_risk": register_links.highest(crs["k"]),
        "marketer_risk": crs["posterior_probabilistic"],
    }
    attacks = {"crs": crs}
    if j:
        cas = by_record[j].columns(prior[j, 0], j, {"k": None, "l": None})
        of_reported = reported.columns_of_one_record() if reported else {}
        attacks["cas"] = cas | {"l": _smaller(cas["l"], of_reported)}
    blocks = by_record[0].profile
    if blocks.is_empty():  # all records are suppressed: the only block is everyone
        blocks, _ = by_record[0].success(prior[0, 0], 0)
    mean_size = int((blocks["size"] * blocks["blocks"]).sum()) / int(blocks["blocks"].sum())
    return _of_attacks(secret, attacks, {}, mean_size)


def _smaller(values: int, of_reported: Mapping[str, Any]) -> int:
    """Return the fewest values of a block, of everybody or of the people with a reported one."""
    reported = of_reported.get("l")
    return values if reported is None else min(values, reported)


def _of_attacks(
    secret: str | None,
    attacks: dict[str, dict[str, Any]],
    totals: Mapping[str, int],
    mean_size: float,
) -> Risk:
    """Return the risk of rows by model (``crs``, ``cas``); ``totals`` are added to each row."""
    crs, cas = (attacks.get(model, {}) for model in ("crs", "cas"))
    partition = {
        **totals,
        "blocks": crs["blocks"],
        "average_class_size": mean_size,
        "k": crs["k"],
        "singled_out": crs["singled_out"],
        "l": cas.get("l"),
        **{f"crs_{name}": crs.get(name) for name in SUCCESS},
        **{f"cas_{name}": cas.get(name) for name in SUCCESS},
    }
    return Risk(secret, partition, {model: {**row, **totals} for model, row in attacks.items()})


def _of_people(measured: Risk, reading: str, totals: dict[str, int]) -> Risk:
    """Return a risk as that of people of whom ``all`` or ``one`` of the records are known."""
    partition = measured.partition | totals | {"known_records": reading}
    attacks = {model: row | totals for model, row in measured.attacks.items()}
    return Risk(measured.secret, partition, attacks, reading)


def _row(before: Success, then: Success, profile: Profile) -> dict[str, Any]:
    """Return the columns of ``attack`` for success without and with the quasi-identifiers."""
    row = bayes.row(before, then)
    counts = {"blocks": profile.blocks, "singled_out": profile.singled_out}
    return row | counts | {"k": profile.least("size")}
