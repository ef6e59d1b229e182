"""Levels of people of whom all records are known, and of people of whom one is."""

from collections.abc import Mapping
from fractions import Fraction

import polars as pl

from qifsql.commands.levels import reported_secrets
from qifsql.commands.levels.grading import Answer, Run
from qifsql.data.hierarchy import Hierarchy

IN_SEVERAL_BLOCKS = ("people_at_worst", "people_in_violation")


def levels_in_both_readings(run: Run, trees: Mapping[int, Hierarchy], skew: Fraction) -> Answer:
    """Return the levels of a counted run in both readings; details are of all records."""
    every = reported_secrets.smaller_levels(run, trees, skew, show_blocks=False)
    again = run.by_one_record()
    again.count(trees)
    single = reported_secrets.smaller_levels(again, trees, skew, show_blocks=False)
    records = {"records": run.counts.records}
    totals = {"people": every.rows[0]["people"], **dict.fromkeys(IN_SEVERAL_BLOCKS)}
    rows = [row | records | {"known_records": "all"} for row in every.rows]
    rows += [row | records | totals | {"known_records": "one"} for row in single.rows]
    order = {(r["measure"], r["secret"]): i for i, r in reversed(list(enumerate(every.rows)))}
    rows.sort(key=lambda row: order.get((row["measure"], row["secret"]), len(order)))
    details: Mapping[str, pl.DataFrame] = every.details
    return Answer(rows, details, (*every.plans, *single.plans))
