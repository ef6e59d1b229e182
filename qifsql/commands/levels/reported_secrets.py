"""Levels of a secret that is missing for some people: with NULL as a value, and without it.

A missing secret is no value that protects. Each level is found among all people, and among those
with a reported secret; the smaller protection is the level.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import polars as pl

from qifsql.commands.levels import spec as aims
from qifsql.commands.levels.grading import Answer, Run
from qifsql.commands.levels.worst_blocks import table_of_blocks
from qifsql.data.hierarchy import Hierarchy

Row = Mapping[str, Any]
SAFER = {measure.name: measure.higher_is_safer for measure in aims.MEASURES}


def smaller_levels(
    run: Run, trees: Mapping[int, Hierarchy], skew: Fraction, *, show_blocks: bool
) -> Answer:
    """Return the levels of a counted run, where a secret is missing the smaller of the two."""
    answer = run.answer(skew, show_blocks=show_blocks)
    for number, again in _runs_of_reported(run):
        again.count({1: trees[number]} if number in trees else {})
        answer = _smaller(answer, again.answer(skew, show_blocks=show_blocks))
    return answer


def _runs_of_reported(run: Run) -> Iterator[tuple[int, Run]]:
    """Yield the number of each secret that some people miss, and the run without these people.

    The tables of each run, the first one's too, are dropped before the next and at the end.
    """
    previous = run
    for number, secret, l in run.incomplete_secrets():  # noqa: E741 - the field's own letter
        previous.counts.forget()
        microdata = replace(run.bound.microdata, secrets=(secret,), reported=True)
        previous = run.on(run.bound.on(microdata), l)
        yield number, previous
    previous.counts.forget()


def _smaller(answer: Answer, reported: Answer) -> Answer:
    """Return an answer with the levels of people with a reported secret where they are smaller.

    ``people`` and ``blocks`` stay those of all. A worst block is that of the level that is taken;
    an attack is on those of whom more succumb.
    """
    totals = {name: answer.rows[0][name] for name in ("people", "blocks")}
    of_reported = {_level(r): r | totals for r in reported.rows if r["secret"] is not None}
    smaller = {
        _level(row): of_reported[_level(row)]
        for row in answer.rows
        if _level(row) in of_reported and _protection(of_reported[_level(row)]) < _protection(row)
    }
    rows = [smaller.get(_level(row), row) for row in answer.rows]
    details = {"attacks": _worse_attacks(answer.details["attacks"], reported.details["attacks"])}
    if "worst" in answer.details:
        worst = answer.details["worst"].to_dicts()
        worst_reported = {_level(r): r for r in reported.details["worst"].to_dicts()}
        chosen = [worst_reported[_level(r)] if _level(r) in smaller else r for r in worst]
        details["worst"] = table_of_blocks(chosen)
    return Answer(rows, details, (*answer.plans, *reported.plans))


def _level(row: Row) -> tuple[str, str | None]:
    """Return what a row is the level of: its measure and secret."""
    return row["measure"], row["secret"]


def _worse_attacks(attacks: pl.DataFrame, reported: pl.DataFrame) -> pl.DataFrame:
    """Return each attack on all people, or on those with a reported secret if more succumb."""
    rows = attacks.to_dicts()
    by_attack = {(r["attack"], r["secret"], r["level"]): r for r in reported.to_dicts()}
    pairs = [(r, by_attack.get((r["attack"], r["secret"], r["level"]), r)) for r in rows]
    worse = [max(pair, key=lambda attack: attack["people"]) for pair in pairs]
    return pl.DataFrame(worse, schema=attacks.schema)


def _protection(row: Row) -> tuple[bool, float]:
    """Return how a level protects: whether it is met, and its value with its sign."""
    met = row["met"] is not False
    if row["value"] is None:  # no number is enough
        return met, -math.inf
    return met, row["value"] if SAFER[row["measure"]] else -row["value"]
