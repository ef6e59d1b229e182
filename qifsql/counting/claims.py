"""People by the success of the best guess about them, and how many a guess is right about."""

from collections.abc import Mapping, Sequence

import polars as pl

from qifsql.counting.counts import Counts
from qifsql.measures.anonymity_loss import STEP
from qifsql.measures.profile import Profile
from qifsql.query.compiler import Question

Profiles = Mapping[Question, Profile]


def steps(
    counts: Counts,
    questions: Sequence[Question],
    prior: Profiles,
    after: Profiles,
    *,
    reported: bool = False,
) -> pl.DataFrame:
    """Return a row per secret (its number; 0: the owner) and success of the best guess in blocks.

    ``STEP`` describes the columns. ``prior`` and ``after`` are the profiles without and with
    quasi-identifiers; ``reported``: only people whose secret is not missing, as in the profiles.
    Questions with a gain function are left out.
    """
    schema = {"secret": pl.Int64(), **STEP}
    tables = [pl.DataFrame(schema=schema)]
    for j, g in questions:
        if g or (j, g) not in prior:
            continue
        if counts.bound.microdata.weight is None and j not in counts.bound.beliefs:
            rows = _unweighted(after[j, g].frame, j)
        else:
            rows = _weighted(counts, (j, g), prior[j, g], reported=reported)
        # without the release, a guess at the owner of a record is right as often as the best one
        usual_share = pl.lit(None if j else prior[j, g].frame["owner"][0])
        rows = rows.with_columns(secret=pl.lit(j), usual_share=usual_share)
        tables.append(rows.select(pl.col(name).cast(kind) for name, kind in schema.items()))
    return pl.concat(tables)


def _unweighted(profile: pl.DataFrame, secret: int) -> pl.DataFrame:
    """Return the rows of ``STEP`` of a secret from its profile; of kinds of blocks."""
    if secret:
        return profile.select("chance", "people", "weight", "usual", correct="mode")
    correct = pl.col("heaviest")  # the profile may be that of a secret in the same blocks
    return profile.select("people", "weight", chance="owner", correct=correct, usual=pl.lit(None))


def _weighted(
    counts: Counts, question: Question, prior: Profile, *, reported: bool
) -> pl.DataFrame:
    """Return the rows of ``STEP``, of each 0.1 % of success, where people have weights.

    People with suppressed records are in one more block, everyone (see ``suppressed``).
    """
    rows = counts.frame("claims", [question], reported=reported)
    if not counts.bound.microdata.suppressed:
        return rows
    hidden = counts.frame("claims", [question], reported=reported, hidden=True)
    sums = hidden.select(pl.col("people", "weight", "correct", "usual").sum())
    chance = prior.frame["chance" if question[0] else "owner"][0]
    everyone = sums.filter(pl.col("people") > 0).with_columns(chance=pl.lit(chance))
    return pl.concat([rows.select(everyone.columns), everyone], how="vertical_relaxed")
