"""Levels over all completions of missing quasi-identifiers: k, l and alpha as bounds."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import polars as pl

from qifsql.adversary.options import MATCH_ANY
from qifsql.commands.levels.spec import SUPPRESSED, LevelOptions
from qifsql.counting import match_any_counts
from qifsql.counting.counts import Counts as AttackCounts
from qifsql.engine.tables import Tables
from qifsql.errors import InputError
from qifsql.measures.completions import Bound, Counts

BOUNDS: dict[str, pl.DataType] = {
    **dict.fromkeys(("low", "high"), pl.Float64()),
    **dict.fromkeys(("low_sharp", "high_sharp"), pl.Boolean()),
}
"""Further columns if missing values may be anything: the least and the greatest level over all
completions of missing quasi-identifiers (NULL: not bounded here), and whether a completion is known
to attain it. The other columns are those of the completion in which all missing values of a column
are one value of its own."""


def check_options(
    options: LevelOptions, thresholds: Mapping[str, Fraction], every_k: Sequence[Fraction]
) -> None:
    """Refuse options that are not about bounds."""
    if thresholds or every_k:
        raise InputError(
            f"null {MATCH_ANY} gives bounds of levels and judges none, because a person with a "
            "missing value may always be alone; leave the required levels out"
        )
    refused = [n for n in ("population", "hierarchy", "show_blocks") if options[n]]
    if options["suppressed"] != SUPPRESSED[0]:
        refused.append("suppressed")
    if refused:
        raise InputError(f"null {MATCH_ANY} does not take {refused[0]}; leave it out")


def add_bounds(
    rows: Sequence[Mapping[str, Any]], counts: AttackCounts, tables: Tables
) -> list[dict[str, Any]]:
    """Return the rows of levels with ``BOUNDS``: the least and greatest if missing may be any."""
    match_any_counts.check(counts.bound)
    names = [secret.name for secret in counts.bound.microdata.secrets]
    by_secret = {n: match_any_counts.count(counts, j, tables) for j, n in enumerate(names, 1)}
    # levels without a secret are of sizes, which any secret counts
    sizes = next(iter(by_secret.values()), None) or match_any_counts.count(counts, 0, tables)
    return [dict(row) | _bound_columns(row, by_secret.get(row["secret"], sizes)) for row in rows]


def _bound_columns(row: Mapping[str, Any], counts: Counts) -> dict[str, Any]:
    """Return the columns ``BOUNDS`` of a level; empty for a level without bounds."""
    value = row["value"]
    if not counts.incomplete:  # the table is its only completion
        ends = {"low": value, "high": value}
        return ends | dict.fromkeys(("low_sharp", "high_sharp"), None if value is None else True)
    bound = _bounds_by_level(counts).get(row["measure"])
    if bound is None:
        return dict.fromkeys(BOUNDS)
    low, high = float(bound.low), float(bound.high)
    return {
        "low": low,
        "high": high,
        "low_sharp": bound.low_sharp or low == value,
        "high_sharp": bound.high_sharp or high == value,
    }


def _bounds_by_level(counts: Counts) -> dict[str, Bound]:
    """Return the bounds of each level that has any, by name; a completion reaches a sharp end."""
    blocks, right, values = counts.block_count(), counts.right_guesses(), counts.fewest_secrets()
    mean = Bound(  # the most blocks have the smallest mean size
        low=Fraction(counts.people, int(blocks.high)),
        high=Fraction(counts.people, int(blocks.low)),
        low_sharp=blocks.high_sharp,
        high_sharp=blocks.low_sharp,
    )
    share = Fraction(right.low) / counts.people  # the largest share is at least the mean one
    return {
        "k": counts.smallest_block(),
        "average_class_size": mean,
        "l_distinct": values,
        # entropy is largest where all values are equally frequent
        "l_entropy": Bound(low=1, high=values.high, low_sharp=True, high_sharp=False),
        "alpha": Bound(low=share, high=1, low_sharp=False, high_sharp=True),
    }
