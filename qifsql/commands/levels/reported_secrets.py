"""Levels of a secret that is missing for some people: with NULL as a value, and without it.

A missing secret is no value that protects. Each level is found among all people, and among those
with a reported secret; the smaller protection is the level.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from qifsql.adversary.spec import Attack
from qifsql.commands.levels import spec as aims
from qifsql.commands.levels.grading import OF_POPULATION, Run
from qifsql.commands.levels.spec import Suppressed
from qifsql.engine.protocol import Engine

Row = Mapping[str, Any]
SAFER = {measure.name: measure.higher_is_safer for measure in aims.MEASURES}


@dataclass(frozen=True)
class Reported:
    """The run about the people with a reported secret, which has this number among the secrets."""

    number: int
    run: Run


def runs(engine: Engine, spec: Attack, run: Run, suppressed: Suppressed) -> Iterator[Reported]:
    """Yield a run for each secret that some people miss and by_key report, one after another."""
    microdata = run.bound.microdata
    thresholds = {n: t for n, t in run.thresholds.items() if n not in ("k", *OF_POPULATION)}
    incomplete = [(j, secret, run.l_of(j)) for j, secret in run.reported_secrets()]
    counts = run.counts
    for j, secret, l in incomplete:  # noqa: E741 - the field's own letter
        counts.forget()
        bound = run.bound.on(replace(microdata, secrets=(secret,), reported=True))
        again = Run(
            engine,
            spec,
            bound,
            thresholds=thresholds,
            every_k=(),
            population=None,
            suppressed=suppressed,
            default_l=l,
        )
        yield Reported(j, again)
        counts = again.counts


def worse_levels(rows: Sequence[dict[str, Any]], reported: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the levels of all people, or those of people with a reported secret where smaller.

    ``people`` and ``blocks`` stay those of all.
    """
    by_key = {(row["measure"], row["secret"]): row for row in reported if row["secret"] is not None}
    merged = []
    for row in rows:
        reported_row = by_key.get((row["measure"], row["secret"]))
        is_worse = reported_row is not None and _protection(reported_row) < _protection(row)
        totals = {"people": row["people"], "blocks": row["blocks"]}
        merged.append({**reported_row, **totals} if reported_row is not None and is_worse else row)
    return merged


def _protection(row: Row) -> tuple[bool, float]:
    """Return how a level protects: whether it is met, and its value with its sign."""
    met = row["met"] is not False
    if row["value"] is None:  # no number is enough
        return met, -math.inf
    return met, row["value"] if SAFER[row["measure"]] else -row["value"]


def worse_attacks(table: pl.DataFrame, reported: pl.DataFrame) -> pl.DataFrame:
    """Return the attacks on all people, or on those with a reported secret where more succumb."""
    key = ("attack", "secret", "level")
    by_key = {tuple(row[name] for name in key): row for row in reported.iter_rows(named=True)}
    rows = []
    for row in table.iter_rows(named=True):
        reported_row = by_key.get(tuple(row[name] for name in key), row)
        rows.append(max(row, reported_row, key=lambda attack: attack["people"]))
    return pl.DataFrame(rows, schema=table.schema)
