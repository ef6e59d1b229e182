"""The result of a sweep: one row per subset and question, with the columns of an attack."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from qifsql.counting.scales import Spread
from qifsql.measures import anonymity_loss
from qifsql.measures.anonymity_loss import CLAIMS
from qifsql.measures.bayes import Success, inference, reidentification
from qifsql.measures.profile import Profile
from qifsql.results.assessment import SCHEMA
from qifsql.results.result import Result

NAME, COUNT, NUMBER, SUBSET = pl.String(), pl.Int64(), pl.Float64(), pl.UInt32()
QUESTION: dict[str, pl.DataType] = {"model": NAME, "secret": NAME}
GAME = QUESTION | {"measure": NAME}
KEYS = ["subset", "question"]
ALMOST_CERTAIN = 0.995  # the least success that is rounded to 100 percent
SUMMED = (
    pl.col("blocks", "people", "mode", "certain").sum(),
    pl.col("k", "l").min(),
    pl.col("worst_case").max(),
)
"""Sums and extremes over the blocks of a subset and question, from those of kinds of blocks."""

SWEPT = SCHEMA | {"k": COUNT, "l": COUNT, "subset": SUBSET}
"""The columns of a sweep: those of an attack, and three more.

``k`` is the size of the smallest block (k-anonymity). ``l`` is the smallest number of distinct
values of the secret in a block (distinct l-diversity; NULL for re-identification). ``subset`` is
the subset as a number: bit i stands for the i-th quasi-identifier, in the order given; of more
than 28 quasi-identifiers it is the place of the subset among the rows, from 1."""

SUPPRESSED: dict[str, pl.DataType] = {"suppressed": COUNT}
"""A further column where cells are suppressed: the records with ``*`` in the whole subset, each of
which is one of anything there."""

UNREPORTED: dict[str, pl.DataType] = {"certain_missing": COUNT}
"""A further column of people: those whose secret is known to be missing, if all records are."""

HISTOGRAMS: dict[str, pl.DataType] = {
    **{"model": NAME, "qids": pl.List(NAME), "secret": NAME},
    **{"bin": COUNT, "individuals": COUNT, "subset": SUBSET},
}
"""Individuals by success on their block in percent, rounded half to even, 0 to 100."""

SURE: dict[str, pl.DataType] = {
    **{"model": NAME, "qids": pl.List(NAME), "secret": NAME, "of_reported": pl.Boolean()},
    **{**CLAIMS, "greatest": pl.Boolean(), "subset": SUBSET},
}
"""The claims of an adversary who speaks only when she is at least ``threshold`` sure (``sure`` of
an attack). If some people miss a secret, rows with ``of_reported`` are about those who report it. A
success is rounded to a whole percent, half to even, as in histograms: 90 % is 89.5 % or more; but
100 % is certainty, and what else is rounded to it is 99.5 %. ``precision_before`` and ``alc`` are
NULL for a secret: a sweep does not count who has its most frequent value. Then no row is
``greatest``."""

BEST = QUESTION | {
    **{"n_qids": COUNT, "best_for": NAME, "qids": pl.List(NAME)},
    **{"posterior_deterministic": NUMBER, "degradation_deterministic": NUMBER},
    **{"posterior_probabilistic": NUMBER, "degradation_probabilistic": NUMBER, "subset": SUBSET},
}
"""The subset of each size that is best for the adversary. A question and size have one row if one
subset is best by both measures (``best_for`` is "both"), otherwise one for each measure."""

SHAPLEY = GAME | {"qid": NAME, "shapley": NUMBER, "share": NUMBER, "alone": NUMBER, "last": NUMBER}
"""Shapley values: one row for each question, measure and quasi-identifier.

``shapley`` is its part of V(all) - V(empty), ``share`` is that part divided by V(all) - V(empty)
(NULL if that is 0), ``alone`` is V({a}) - V(empty), ``last`` is V(all) - V(all but a)."""

INTERACTIONS = GAME | {"a": NAME, "b": NAME, "interaction": NUMBER}
"""Interaction of two quasi-identifiers beyond their contributions alone (below 0: they repeat each
other): one row for each question, measure and pair, ``a`` before ``b`` in ``qids``."""

BORDERS = GAME | {
    **{"border": NAME, "n_qids": COUNT, "qids": pl.List(NAME)},
    **{"posterior": NUMBER, "subset": SUBSET},
}
"""Both sides of a threshold. ``border`` is "minimal risky" (the posterior reaches the threshold,
and that of no smaller part of the subset does) or "maximal safe" (the posterior stays below, and
that of no larger subset around it does). The empty subset counts, too; its posterior is the
prior."""

DROP_FIRST = QUESTION | {
    **{"rank": COUNT, "qid": NAME, "posterior_all": NUMBER, "posterior_without": NUMBER},
    **{"saved": NUMBER, "saved_deterministic": NUMBER, "shapley": NUMBER},
}
"""Reduction by dropping one quasi-identifier: one row for each question and quasi-identifier; rank
1 saves most. All numbers except ``saved_deterministic`` are of the probabilistic measure."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Sweep(Result):
    """The result of a sweep over subsets of the quasi-identifiers ``qids``.

    ``frame`` has the columns of ``SWEPT``; ``details`` has the answers and the plan, by name.
    ``whole``: every subset is there. ``complete``: all requested work is done.
    """

    qids: tuple[str, ...]
    whole: bool
    complete: bool = True


def priors(secrets: Mapping[int, Spread], people: int) -> dict[int, Success]:
    """Return the success before the release for each question, from one block of all people."""

    def one_block(mode: int, values: int) -> Profile:
        """Return the profile of all people in a block, ``mode`` of whom have the best guess."""
        row = {"size": people, "mode": mode, "values": values, "blocks": 1}
        return Profile.of_counts(pl.DataFrame([row]))

    successes = {0: reidentification(one_block(1, people))}
    for j, spread in secrets.items():
        successes[j] = inference(one_block(spread.most_frequent, spread.values))
    return successes


def result_frame(
    subsets: pl.DataFrame,
    prior: Mapping[int, Success],
    *,
    names: pl.DataFrame,
    secrets: Sequence[str],
) -> pl.DataFrame:
    """Return the rows of ``SWEPT`` from sums over the blocks of each ``subset`` and ``question``.

    Of the ``people``, the best guess is right for ``mode``, and certain for ``certain``. ``prior``
    has the success before the release by question; 0 is re-identification. ``names`` has the names
    in each subset (``qids``). An attack divides the same whole numbers once, so its floats are
    equal in every digit.
    """
    answered = pl.col("question").n_unique().over("subset") == len(prior)
    subsets = subsets.filter(answered)  # by every pass: the time may end between two passes
    if subsets.is_empty():
        return pl.DataFrame(schema=SWEPT)
    people = int(subsets["people"][0])
    alone = subsets.filter(pl.col("question") == 0).select("subset", singled_out="certain")
    # a row per question: its number, model and secret, and whom guesses were right for before
    people_before = pl.DataFrame(
        [(j, round(s.probabilistic * people), round(s.deterministic * people))
         for j, s in prior.items()],
        schema={"question": pl.UInt8(), "mode_before": COUNT, "certain_before": COUNT},
        orient="row",
    ).join(questions(secrets), on="question")  # fmt: skip
    table = subsets.join(people_before, on="question").join(alone, on="subset")
    mode, mode_before = pl.col("mode"), pl.col("mode_before")
    everybody = pl.col("people")  # polars rounds twice if it divides by a number, not a column
    certain, certain_before = pl.col("certain"), pl.col("certain_before")
    table = table.with_columns(
        datasets=pl.lit(1, pl.Int64),
        records="people",
        prior_deterministic=certain_before / everybody,
        posterior_deterministic=certain / everybody,
        degradation_deterministic=(certain - certain_before) / everybody,
        prior_probabilistic=mode_before / everybody,
        posterior_probabilistic=mode / everybody,
        degradation_probabilistic=mode / mode_before,
        leakage_additive=(mode - mode_before) / everybody,
        individuals_certain="certain",
        seconds=pl.lit(0.0),
        l=pl.when(pl.col("question") > 0).then("l"),
    )
    ratios = table["degradation_probabilistic"].to_list()
    leakage = pl.Series("min_entropy_leakage", [math.log2(r) for r in ratios], pl.Float64)
    table = table.with_columns(leakage).join(names, on="subset")
    table = table.with_columns(n_qids=pl.col("qids").list.len().cast(pl.Int64))
    table = table.sort("n_qids", "subset", "question")
    return table.select(pl.col(c).cast(t) for c, t in SWEPT.items())


def histograms(bins: pl.DataFrame, secrets: Sequence[str], names: pl.DataFrame) -> pl.DataFrame:
    """Return the histograms of each subset and question; ``names`` has the names in each subset."""
    table = bins.join(questions(secrets), on="question").join(names, on="subset")
    ordered = table.sort(pl.col("qids").list.len(), "subset", "question", "bin")
    return ordered.select(pl.col(c).cast(t) for c, t in HISTOGRAMS.items())


def sure(
    bins: pl.DataFrame, secrets: Sequence[str], names: pl.DataFrame, threshold: float
) -> pl.DataFrame:
    """Return the claims of an adversary who speaks only when she is as sure as the threshold.

    A row is a subset and question (``SURE``). ``bins`` has the people by percent of success
    (``individuals``), those of them who are guessed right (``mode``) and who are certain;
    ``names`` has the names in each subset.
    """
    people, certain = pl.col("individuals"), pl.col("certain")
    percent = (pl.col("bin") / 100).round(2)  # else 0.7000000000000001 (see ``by_percent``)
    chance = pl.when(pl.col("bin") < 100).then(percent).otherwise(ALMOST_CERTAIN)
    sums = {"people": people - certain, "correct": pl.col("mode") - certain}
    parts = [
        bins.select(*KEYS, chance=chance, **sums),
        bins.select(*KEYS, chance=pl.lit(1.0), people=certain, correct=certain),
    ]
    steps = pl.concat(parts).filter(pl.col("people") > 0)
    everybody = pl.col("people").sum().over(KEYS)
    steps = steps.with_columns(
        weight="people",
        usual=pl.lit(None, pl.Int64),
        usual_share=pl.when(pl.col("question") == 0).then(1 / everybody),
    )
    curve = anonymity_loss.curve(steps, KEYS)
    table = anonymity_loss.at_thresholds(curve, [threshold], KEYS).with_columns(of_reported=False)
    table = table.join(questions(secrets), on="question").join(names, on="subset")
    ordered = table.sort(pl.col("qids").list.len(), "subset", "question", "greatest")
    return ordered.select(pl.col(c).cast(t) for c, t in SURE.items())


def questions(secrets: Sequence[str]) -> pl.DataFrame:
    """Return the model and the secret of each question by number; 0 is re-identification."""
    rows = [(j, "CAS" if j else "CRS", secret) for j, secret in enumerate([None, *secrets])]
    return pl.DataFrame(rows, schema={"question": pl.UInt8(), **QUESTION}, orient="row")


def names_by_bits(subsets: pl.Series, qids: Sequence[str]) -> pl.DataFrame:
    """Return the names in each subset, a number with a bit for each of ``qids``."""
    names = [pl.when(includes(1 << i)).then(pl.lit(qid)) for i, qid in enumerate(qids)]
    members = pl.concat_list(names).list.drop_nulls()
    return subsets.unique().to_frame("subset").with_columns(qids=members)


def includes(mask: int) -> pl.Expr:
    """Return an expression for whether a ``subset`` has all bits of a mask."""
    return pl.col("subset") & pl.lit(mask, SUBSET) == pl.lit(mask, SUBSET)
