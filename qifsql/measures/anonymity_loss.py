"""Claims of an adversary who speaks only when she is sure, and the same claims before a release.

She names the people about whom her best guess is right with a chance of at least a threshold.

Source: Francis and Wagner 2025 (arXiv 2507.01710).
"""

from collections.abc import Sequence

import polars as pl

LEAST_RECALL = 1e-4  # with less, precision does not count
RECALL_POWER = 3  # how slowly the coefficient falls with the recall
STEPS = 100  # of a curve that is shown

STEP: dict[str, pl.DataType] = {
    "chance": pl.Float64(),
    "people": pl.Int64(),
    **dict.fromkeys(("weight", "correct", "usual"), pl.Int128()),
    "usual_share": pl.Float64(),
}
"""Columns of counts, one row per success of the best guess (``chance``).

``people`` are those about whom it has this success, ``weight`` is what they weigh, ``correct`` the
weight of those about whom it is right, and ``usual`` of those about whom the best guess without the
release is. NULL: that is right about the share ``usual_share`` of any people, or it is not known
(both are NULL), and neither is the loss."""

CLAIMS: dict[str, pl.DataType] = {
    "threshold": pl.Float64(),
    "claims": pl.Int64(),
    **dict.fromkeys(("right", "precision", "coverage", "precision_before", "alc"), pl.Float64()),
}
"""Columns of claims; ``precision`` and ``precision_before`` are NULL where nobody is named."""


def curve(
    steps: pl.DataFrame, keys: Sequence[str], *, in_people: pl.Expr | None = None
) -> pl.DataFrame:
    """Return the claims at each success, the greatest first, of each question (M217).

    ``steps`` has the columns ``keys`` of a question, and those of ``STEP``; claims at a success are
    about the rows with it or more. ``in_people`` is the condition that a weight is a number of
    people; only then it is known how many people she is right about (``right``).
    """
    rows = steps.sort("chance", descending=True, maintain_order=True)
    sums = ("people", "weight", "correct", "usual")
    rows = rows.with_columns(pl.col(name).cum_sum().over(keys) for name in sums)
    rows = rows.unique([*keys, "chance"], keep="last", maintain_order=True)
    weight, correct = pl.col("weight"), pl.col("correct")
    rows = rows.with_columns(
        threshold="chance",
        claims="people",
        right=correct if in_people is None else pl.when(in_people).then(correct),
        precision=correct / weight,
        coverage=weight / weight.max().over(keys),
        precision_before=pl.coalesce(pl.col("usual") / weight, "usual_share"),
    )
    rows = rows.with_columns(alc=loss(*map(pl.col, ("precision", "precision_before", "coverage"))))
    return rows.select(*keys, *(pl.col(name).cast(kind) for name, kind in CLAIMS.items()))


def loss(precision: pl.Expr, precision_before: pl.Expr, coverage: pl.Expr) -> pl.Expr:
    """Return the anonymity loss coefficient of claims about the same people (M219).

    1 is a release that names everybody rightly, 0 one that adds nothing to the guesses without it;
    0, too, where nothing can be added.
    """
    after, before = (_coefficient(p, coverage) for p in (precision, precision_before))
    return pl.when(before >= 1).then(0.0).otherwise((after - before) / (1 - before))


def _coefficient(precision: pl.Expr, recall: pl.Expr) -> pl.Expr:
    """Return the precision-recall coefficient."""
    loss_of_recall = (recall.log() / pl.lit(LEAST_RECALL).log()).pow(RECALL_POWER)
    is_counted = recall > LEAST_RECALL
    return pl.when(is_counted).then(precision * (1 - loss_of_recall)).otherwise(recall)


def at_thresholds(
    claims: pl.DataFrame, thresholds: Sequence[float], keys: Sequence[str]
) -> pl.DataFrame:
    """Return the claims of a curve at each threshold, and those of the greatest coefficient.

    A curve has a row for each chance that somebody is sure of. The claims at a threshold are those
    at the next chance of it or above; where there is none, nobody is claimed. A row of the greatest
    coefficient has ``greatest``; of equal coefficients the greatest threshold counts.
    """
    questions = claims.select(keys).unique(maintain_order=True).with_row_index("place")
    rows = claims.join(questions, on=keys, nulls_equal=True).sort("threshold")
    levels = pl.DataFrame({"asked": thresholds}, schema={"asked": pl.Float64})
    requests = questions.join(levels, how="cross").sort("asked")
    reached = requests.join_asof(
        rows.drop(keys),
        left_on="asked",
        right_on="threshold",
        by="place",
        strategy="forward",
        check_sortedness=False,  # polars cannot check it within groups
    )
    numbers = ("claims", "right", "coverage", "alc")
    nobody = (pl.when(pl.col("claims").is_null()).then(0).otherwise(n).alias(n) for n in numbers)
    reached = reached.with_columns(*nobody, threshold="asked", greatest=False)
    greatest = rows.drop_nulls("alc").sort("alc", "threshold", descending=True)
    greatest = greatest.unique("place", keep="first")
    columns = ["place", *keys, *CLAIMS, "greatest"]
    together = [reached.select(columns), greatest.with_columns(greatest=True).select(columns)]
    return pl.concat(together).sort("place", "greatest", "threshold").drop("place")


def by_percent(claims: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Return the claims of a curve at whole percents of certainty, in place of all thresholds.

    A row stands for claims that are at least as certain as its ``threshold``, rounded down to a
    percent: the exact one would be the chance of some block.
    """
    chance = pl.col("threshold")
    # A product with 100 may seem to be smaller, so that the next percent is reached. polars divides
    # by a number as it multiplies by its inverse: 70 / 100 is above 0.7 until it is rounded.
    percent, next_percent = ((((STEPS * chance).floor() + i) / STEPS).round(2) for i in (0, 1))
    threshold = pl.when(next_percent <= chance).then(next_percent).otherwise(percent)
    rows = claims.with_columns(threshold=threshold).sort(*keys, "threshold", "claims")
    return rows.unique([*keys, "threshold"], keep="last", maintain_order=True)
