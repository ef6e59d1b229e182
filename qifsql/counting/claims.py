"""People by the success of the best guess about them, and how many a guess is right about."""

from collections.abc import Mapping, Sequence

import polars as pl

from qifsql.counting.counts import Counts
from qifsql.measures.anonymity_loss import STEP
from qifsql.measures.profile import Profile
from qifsql.query.compiler import Question


def steps(
    counts: Counts,
    questions: Sequence[Question],
    prior: Mapping[Question, Profile],
    *,
    reported: bool = False,
) -> pl.DataFrame:
    """Return the people in blocks of each success, by the number of the secret (0: the owner).

    Other columns are those of ``STEP``. ``prior`` are the profiles without quasi-identifiers;
    ``reported``: only people whose secret is not missing, as in ``prior``. Questions with a gain
    function are left out. People with suppressed records are in one more block, everyone (see ``suppressed``).
    """
    identity = [(j, g) for j, g in questions if not g and (j, g) in prior]
    schema = {"secret": pl.Int64(), **STEP}
    if not identity:
        return pl.DataFrame(schema=schema)
    tables = [counts.frame("claims", identity, reported=reported)]
    if counts.bound.microdata.suppressed:
        hidden = counts.frame("claims", identity, reported=reported, hidden=True)
        usual = pl.col("usual").sum().alias("usual")
        hidden = hidden.group_by("secret").agg(
            pl.col("people", "weight", "correct").sum(),
            pl.when(pl.col("usual").is_not_null().all()).then(usual),
        )
        chances = {q[0]: prior[q].frame["chance" if q[0] else "owner"][0] for q in identity}
        tables.append(hidden.with_columns(chance=pl.col("secret").replace_strict(chances)))
    counted = {name: kind for name, kind in schema.items() if name != "usual_share"}
    rows = pl.concat(t.select(pl.col(c).cast(kind) for c, kind in counted.items()) for t in tables)
    shares = {0: prior[0, 0].frame["owner"][0]} if (0, 0) in prior else {}  # of any record
    share = pl.col("secret").replace_strict(shares, default=None, return_dtype=pl.Float64)
    return rows.with_columns(usual_share=share)
