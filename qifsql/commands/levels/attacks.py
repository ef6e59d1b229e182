"""The four attacks on k and l, and whom they bite: homogeneity, background, similarity, skewness.

Homogeneity: all people of a block have one value. Background knowledge: whoever knows that a person
has *not* one of the two values of a block knows which one it is. Similarity: the values of a block
differ, but all are below one node of the hierarchy. Skewness: a value is much likelier in a block
than in the release. Sources: Machanavajjhala et al. 2007 (the first two), Li et al. 2007.
"""

from fractions import Fraction
from typing import Any

import polars as pl

from qifsql.commands.levels.secret_blocks import Secret
from qifsql.commands.levels.steps import Tables, number, row
from qifsql.data.hierarchy import Hierarchy

ATTACKS: dict[str, pl.DataType] = {
    "attack": pl.String(),
    "secret": pl.String(),
    "level": pl.Int64(),
    "people": pl.Int64(),
    "blocks": pl.Int64(),
    "success_before": pl.Float64(),
    "success_after": pl.Float64(),
    "factor": pl.Float64(),
}
"""One row per attack and secret, and for similarity per level of the hierarchy: in how many blocks
it bites and how many people stand there; their chance to be guessed right (similarity: their node)
before the attack and with it. ``factor``: of skewness, how many times as likely a value must be."""


def bites(
    tables: Tables, secret: Secret, hierarchy: Hierarchy | None, *, skew: Fraction
) -> list[dict[str, Any]]:
    """Whom each attack bites, of one secret (``ATTACKS``)."""
    j, width = secret.number, secret.width
    ratio = row(
        factor=number(skew.numerator, "HUGEINT"), divisor=number(skew.denominator, "HUGEINT")
    )
    (counts,) = tables.dicts("bites", j, width, {"skew": ratio})
    mean = counts["two_likelier"] / counts["two_people"] if counts["two_people"] else None
    one_people, skewed = counts["one_people"], counts["skewed_people"]
    rows: list[dict[str, Any]] = [
        {
            "attack": "homogeneity",
            "people": one_people,
            "blocks": counts["one_blocks"],
            "success_before": secret.commonest / secret.people,
            "success_after": 1.0 if one_people else None,
        },
        {
            "attack": "background",
            "people": counts["two_people"],
            "blocks": counts["two_blocks"],
            "success_before": mean,
            "success_after": 1.0 if counts["two_people"] else None,
        },
    ]
    if hierarchy is not None:
        rows += _similar(tables, secret)
    rows.append(
        {
            "attack": "skewness",
            "people": skewed,
            "blocks": counts["skewed_blocks"],
            "factor": float(skew),
        }
    )
    return [dict.fromkeys(ATTACKS) | {"secret": secret.name} | each for each in rows]


def table(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """The rows as a table (``ATTACKS``)."""
    return pl.DataFrame(rows, schema=ATTACKS)


def _similar(tables: Tables, secret: Secret) -> list[dict[str, Any]]:
    """Blocks of several values below one node, for each level of the hierarchy."""
    lines = tables.dicts("alike", secret.number, secret.width)
    return [
        {
            "attack": "similarity",
            "level": line["level"],
            "people": line["people"],
            "blocks": line["blocks"],
            "success_before": line["everybody"] / secret.people,
            "success_after": 1.0 if line["people"] else None,
        }
        for line in sorted(lines, key=lambda line: line["level"])
    ]
