"""Deterministic and probabilistic success, and the increase by a release.

Every function takes the profile of a partition. For the prior it takes the profile without
quasi-identifiers, which is one block; for one person, the profile of only that person's block.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import polars as pl

from qifsql.measures.profile import Profile

REPORTED = (  # numbers of the people with a reported secret, beside those of everybody
    *("reported", "prior_deterministic_reported", "posterior_deterministic_reported"),
    *("prior_probabilistic_reported", "posterior_probabilistic_reported"),
    *("worst_case_reported", "certain_reported", "certain_missing"),
)


@dataclass(frozen=True)
class Success:
    """An adversary's success: probabilities in [0, 1], exact except ``worst_case``.

    ``certain`` is the number of individuals whose secret is certain.
    """

    deterministic: Fraction
    probabilistic: Fraction
    worst_case: float
    certain: int

    def not_below(self, prior: "Success") -> "Success":
        """Return this success, set to the prior if they differ only by rounding of floats."""
        near = abs(self.probabilistic - prior.probabilistic) < prior.probabilistic / 10**15
        return replace(self, probabilistic=prior.probabilistic) if near else self


def reidentification(profile: Profile) -> Success:
    """Return the success at identifying the owner of a record.

    Deterministic: weight of people alone in their block, over all weight (thesis Eqs. 4.1, 4.2,
    C.1, C.2). Probabilistic: weight of the heaviest person in each block, over all weight; without
    weights blocks / N (thesis Eqs. 4.4, 4.5, C.4, C.5). Worst case: the largest max w / n_b.
    """
    return Success(
        profile.share("weight", alone="size"),
        profile.share("heaviest"),
        float(profile.frame["owner"].max() or 0),  # type: ignore[arg-type]
        profile.singled_out,
    )


def inference(profile: Profile) -> Success:
    """Return the success at inferring the value of a secret.

    Deterministic: weight in blocks with one value, over all weight (thesis Eqs. 4.7-4.9, C.7,
    C.8). Probabilistic: weight of the most likely value in each block, over all weight, the
    Bayes vulnerability (thesis Eqs. 4.11, 4.12, C.10, C.11). Worst case: the largest m_b / n_b.
    A missing value of the secret is a value.
    """
    return Success(
        profile.share("weight", alone="values"),
        profile.share("mode"),
        float(profile.frame["chance"].max() or 0),  # type: ignore[arg-type]
        profile.certain,
    )


def success(profile: Profile, secret: int, gain: int) -> Success:
    """Return the success of a question: its ``probabilistic`` part is the g-vulnerability.

    ``secret`` 0 is the owner of a record, ``gain`` 0 is identity. For other gains ``profile.mode``
    has the gain of the best guess of each block, times ``profile.scale``, summed over the block's
    people. V_g = sum_b max_w sum_v p(v, b) g(w, v) (thesis Def. 6; PoPETs section 3), in the unit
    of the gain; worst case: the largest expected gain from one person. The certain people do not
    depend on the gain function.
    """
    plain = inference(profile) if secret else reidentification(profile)
    if not gain:
        return plain
    worst = float(profile.frame["chance"].max() or 0) / profile.scale  # type: ignore[arg-type]
    gained = profile.share("mode") / Fraction(profile.scale)
    return Success(plain.deterministic, gained, worst, plain.certain)


def success_by_one_record(
    profile: pl.DataFrame, certain: int, guesses: pl.DataFrame | None = None
) -> Success:
    """Return the success at naming the person, or her secret, if one record is known (M188, M189).

    Each of her records is as likely. A block holds the records that are alike, and as many people
    as have one among them.

    ``profile`` is the view ``known_profile``: ``size`` people per block, of whom ``mode`` have the
    most frequent of ``values`` secrets, and the ``records`` of all such blocks. Shares are of
    records. ``certain`` people have a record in a block of one secret. ``guesses`` are the blocks
    of the same records in which guesses count on average, if others: suppressed records then have
    a block of their own.
    """
    rows = profile.select("records", "mode", "size", "values").rows()
    total = sum(records for records, *_ in rows)
    alone = sum(records for records, _, _, values in rows if values == 1)
    averaged = (profile if guesses is None else guesses).select("records", "mode", "size").rows()
    guessed = sum(Fraction(records * mode, size) for records, mode, size in averaged)
    worst = max((mode / size for _, mode, size, _ in rows), default=0.0)
    return Success(Fraction(alone, total), Fraction(guessed) / total, worst, certain)


def additive(prior: Fraction, posterior: Fraction) -> Fraction:
    """Compute posterior minus prior (thesis Eqs. 4.3, 4.10; Def. 7).

    In [0, 1] over everybody; for one person it may be negative, down to -1.
    """
    return posterior - prior


def multiplicative(prior: Fraction, posterior: Fraction) -> Fraction:
    """Compute posterior over prior (thesis Eqs. 4.6, 4.13; Def. 7). The prior is above 0.

    At least 1 over everybody; for one person it may be less, if other people in the block mislead.
    """
    return posterior / prior


def min_entropy_leakage(prior: Fraction, posterior: Fraction) -> float:
    """Compute log2 of posterior over prior, in bits (thesis Def. 5); 0 if nothing leaks."""
    return math.log2(multiplicative(prior, posterior))


def row(before: Success, after: Success) -> dict[str, float | int | None]:
    """Compute the numbers of one row of results; ratios are None (undefined) if the prior is 0."""
    prior, posterior = before.probabilistic, after.probabilistic
    has_logarithm = prior and posterior  # of the ratio of both
    return {
        "prior_deterministic": float(before.deterministic),
        "posterior_deterministic": float(after.deterministic),
        "degradation_deterministic": float(additive(before.deterministic, after.deterministic)),
        "prior_probabilistic": float(prior),
        "posterior_probabilistic": float(posterior),
        "degradation_probabilistic": float(multiplicative(prior, posterior)) if prior else None,
        "leakage_additive": float(additive(prior, posterior)),
        "min_entropy_leakage": min_entropy_leakage(prior, posterior) if has_logarithm else None,
        "worst_case": after.worst_case,
        "individuals_certain": after.certain,
    }


def reported_row(before: Success, after: Success, reported: int) -> dict[str, Any]:
    """Compute the numbers of the people with a reported secret, of whom there are ``reported``.

    ``before`` and ``after`` are the success against them alone.
    """
    return {
        "reported": reported,
        "prior_deterministic_reported": float(before.deterministic),
        "posterior_deterministic_reported": float(after.deterministic),
        "prior_probabilistic_reported": float(before.probabilistic),
        "posterior_probabilistic_reported": float(after.probabilistic),
        "worst_case_reported": after.worst_case,
        "certain_reported": after.certain,
    }


def of_reported(numbers: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the columns of the function ``row`` for people with a reported secret.

    ``numbers`` is a row of a result, with the numbers of all people and, in columns that end in
    ``_reported``, of these. None if the row has no such people (``REPORTED``).
    """
    if numbers.get("posterior_probabilistic_reported") is None:
        return None

    def share(name: str) -> Fraction:
        return Fraction(numbers[f"{name}_reported"])

    priors = share("prior_deterministic"), share("prior_probabilistic")
    before = Success(*priors, worst_case=0.0, certain=0)  # ``row`` does not need these two
    posterior = share("posterior_deterministic"), share("posterior_probabilistic")
    after = Success(*posterior, numbers["worst_case_reported"], numbers["certain_reported"])
    return row(before, after)
