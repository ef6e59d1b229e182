"""Levels of people of whom all records are known, and of people of whom one is."""

from collections.abc import Mapping
from fractions import Fraction

from qifsql.commands.levels import reported_secrets
from qifsql.commands.levels.grading import Answer, Run
from qifsql.data.hierarchy import Hierarchy

IN_SEVERAL_BLOCKS = ("people_at_worst", "people_in_violation")


def levels_in_both_readings(run: Run, trees: Mapping[int, Hierarchy], skew: Fraction) -> Answer:
    """Return levels where all records of a person are known, and where one is, side by side."""
    of_all = reported_secrets.smaller_levels(run, trees, skew, show_blocks=False)
    run_of_one = run.by_one_record()
    run_of_one.count(trees)
    of_one = reported_secrets.smaller_levels(run_of_one, trees, skew, show_blocks=False)
    records = {"records": run.counts.records}
    # a person may be in several blocks if one record is known: these columns are then empty
    totals = {"people": of_all.rows[0]["people"], **dict.fromkeys(IN_SEVERAL_BLOCKS)}
    rows = [row | records | {"known_records": "all"} for row in of_all.rows]
    rows += [row | records | totals | {"known_records": "one"} for row in of_one.rows]
    keys = list(dict.fromkeys((row["measure"], row["secret"]) for row in rows))
    rows.sort(key=lambda row: keys.index((row["measure"], row["secret"])))
    return Answer(rows, of_all.details, (*of_all.plans, *of_one.plans))
