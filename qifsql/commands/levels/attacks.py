"""Four attacks on k and l: homogeneity, background knowledge, similarity and skewness.

Homogeneity: all people of a block who report a value have one. Background knowledge: a block has
two values; an adversary who can rule out one of them for a person knows the other. Similarity: the
values of a block differ, but all are below one node of the hierarchy. Skewness: a value is much
likelier in a block than in the release. Sources: Machanavajjhala et al. 2007, Li et al. 2007.
"""

from fractions import Fraction
from typing import Any

import polars as pl

from qifsql.commands.levels.secret_blocks import Secret
from qifsql.commands.levels.steps import Tables
from qifsql.data.hierarchy import Hierarchy
from qifsql.query.columns import typed_number

TEXT, COUNT, NUMBER = pl.String(), pl.Int64(), pl.Float64()
ATTACKS: dict[str, pl.DataType] = {
    **{"attack": TEXT, "secret": TEXT, "level": COUNT, "people": COUNT, "blocks": COUNT},
    **{"success_before": NUMBER, "success_after": NUMBER, "factor": NUMBER},
}
"""One row per attack and secret; for similarity, one per level of the hierarchy, too.

``blocks`` are those in which the attack succeeds, ``people`` the people in them. Where some miss
the secret, homogeneity is about all people of a block, its chances about those who report a value;
another attack is on those who report one if it reaches more of them. ``success_before``
and ``success_after`` are the chances to guess their value right (similarity: their node), before
the attack and with it. ``factor`` is for skewness: a value must be this many times as likely."""


def rows(
    tables: Tables, secret: Secret, hierarchy: Hierarchy | None, *, skew: Fraction
) -> list[dict[str, Any]]:
    """Return the rows of ``ATTACKS`` on a secret: whom four known attacks succeed against.

    ``skew`` is how many times as likely a value must be in a block for the attack of skewness.
    """
    j, people = secret.number, secret.people
    terms = {"factor": skew.numerator, "divisor": skew.denominator}
    ratio = {name: typed_number(term, "HUGEINT") for name, term in terms.items()}
    # Blocks, and the people in them, with at most one reported value (``one_``), with two
    # (``two_``), and in which a value is that much likelier (``skewed_``).
    (counts,) = tables.dicts("bites", j, {"skew": ratio})
    of_one_value, of_two_values = counts["one_people"], counts["two_people"]
    likelier = counts["two_likelier"] / of_two_values if of_two_values else None
    attack_rows = [
        _certain("homogeneity", of_one_value, counts["one_blocks"], secret.commonest / people),
        _certain("background", of_two_values, counts["two_blocks"], likelier),
    ]
    if hierarchy is not None:
        # A row per level of the hierarchy: the blocks with all values below one node there.
        for row in sorted(tables.dicts("alike", j), key=lambda row: row["level"]):
            before = row["everybody"] / people  # below the node with the most people
            similarity = _certain("similarity", row["people"], row["blocks"], before)
            attack_rows.append(similarity | {"level": row["level"]})
    skewed = {"people": counts["skewed_people"], "blocks": counts["skewed_blocks"]}
    attack_rows.append({"attack": "skewness", **skewed, "factor": float(skew)})
    return [dict.fromkeys(ATTACKS) | {"secret": secret.name} | row for row in attack_rows]


def _certain(attack: str, people: int, blocks: int, before: float | None) -> dict[str, Any]:
    """Return the row of an attack that makes the guess about people certainly right."""
    row: dict[str, Any] = {"attack": attack, "people": people, "blocks": blocks}
    return row | {"success_before": before, "success_after": 1.0 if people else None}
