"""Levels of a secret that is missing for some people: with NULL as a value, and without it.

A missing secret is no value that protects. Each level is found among all people, and among those
with a reported secret; the smaller protection is the level. Of people with several records, that is
done twice: for an adversary who knows all records of a person, and for one who knows one.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import polars as pl

from qifsql.commands.levels.grading import Answer, Run
from qifsql.commands.levels.spec import MEASURES
from qifsql.commands.levels.worst_blocks import table_of_blocks

Row = Mapping[str, Any]
IN_SEVERAL_BLOCKS = ("people_at_worst", "people_in_violation")


def smaller_levels(run: Run, skew: Fraction, *, show_blocks: bool) -> Answer:
    """Return the levels of a run, of missing secrets the smaller of two; its tables are dropped."""
    answer = run.answer(skew, show_blocks=show_blocks)
    incomplete = run.incomplete_secrets()
    run.counts.forget()
    for j in incomplete:
        of_reported = run.among_reported(j)
        answer = _smaller(answer, of_reported.answer(skew, show_blocks=show_blocks))
        of_reported.counts.forget()
    return answer


def levels_in_both_readings(run: Run, skew: Fraction) -> Answer:
    """Return levels where all records of a person are known, and where one is, side by side.

    ``run`` has counted the first; its tables are dropped.
    """
    of_all = smaller_levels(run, skew, show_blocks=False)
    of_one = smaller_levels(run.by_one_record(), skew, show_blocks=False)
    records = {"records": run.counts.records}
    # a person may be in several blocks if one record is known: these columns are then empty
    totals = {"people": of_all.rows[0]["people"], **dict.fromkeys(IN_SEVERAL_BLOCKS)}
    rows = [row | records | {"known_records": "all"} for row in of_all.rows]
    rows += [row | records | totals | {"known_records": "one"} for row in of_one.rows]
    keys = list(dict.fromkeys(map(_key, rows)))
    rows.sort(key=lambda row: keys.index(_key(row)))
    return Answer(rows, of_all.details, (*of_all.plans, *of_one.plans))


def _smaller(answer: Answer, reported: Answer) -> Answer:
    """Return an answer with the levels of people with a reported secret where they protect less.

    ``people`` and ``blocks`` stay those of all. A worst block is that of the level that is taken;
    an attack is on those of whom more succumb.
    """
    totals = {name: answer.rows[0][name] for name in ("people", "blocks")}
    of_reported = {_key(r): r | totals for r in reported.rows if r["secret"] is not None}
    smaller = {}  # rows of reported secrets that take the place of others
    for row in answer.rows:
        of_same_level = of_reported.get(_key(row))
        if of_same_level is not None and _protection(of_same_level) < _protection(row):
            smaller[_key(row)] = of_same_level
    rows = [smaller.get(_key(row), row) for row in answer.rows]
    details = {"attacks": _worse_attacks(answer.details["attacks"], reported.details["attacks"])}
    if "worst" in answer.details:
        blocks = answer.details["worst"].to_dicts()
        blocks_of_reported = {_key(r): r for r in reported.details["worst"].to_dicts()}
        details["worst"] = table_of_blocks(
            [blocks_of_reported[_key(r)] if _key(r) in smaller else r for r in blocks]
        )
    return Answer(rows, details, (*answer.plans, *reported.plans))


def _key(row: Row) -> tuple[str, str | None]:
    """Return what a row of levels is about: its measure and secret."""
    return row["measure"], row["secret"]


def _worse_attacks(attacks: pl.DataFrame, reported: pl.DataFrame) -> pl.DataFrame:
    """Return for each attack the row on all people, or that on those who report the secret.

    It is the one in which the attack succeeds against more people. Homogeneity takes the people of
    the first, whose secret is known or known to be missing, and its other columns of the second.
    """
    on_reported = {(r["attack"], r["secret"], r["level"]): r for r in reported.to_dicts()}
    worse = []
    for on_all in attacks.to_dicts():
        key = on_all["attack"], on_all["secret"], on_all["level"]
        on_reporting = on_reported.get(key, on_all)  # the secret of others is never missing
        if on_all["attack"] == "homogeneity":
            counted = {name: on_all[name] for name in ("people", "blocks", "success_after")}
            worse.append(on_reporting | counted)
        else:
            worse.append(on_reporting if on_reporting["people"] > on_all["people"] else on_all)
    return pl.DataFrame(worse, schema=attacks.schema)


def _protection(row: Row) -> tuple[bool, float]:
    """Return an order of rows of a level, the least protection first: not met, then by value."""
    met = row["met"] is not False
    if row["value"] is None:  # no number is enough
        return met, -math.inf
    return met, row["value"] if MEASURES[row["measure"]].higher_is_safer else -row["value"]
