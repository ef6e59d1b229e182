"""Summaries of the distances of all people: mean, largest, shares, distribution."""

import math
from collections.abc import Sequence
from fractions import Fraction

import polars as pl
from sqlglot import exp

from qifsql.commands.dit.posteriors import DISTANCES
from qifsql.commands.dit.spec import Question
from qifsql.counting.passes import Passes
from qifsql.query.columns import double
from qifsql.query.render import render

SUMMARY: dict[str, pl.DataType] = {
    "run": pl.Int64(),
    "method": pl.String(),
    "k": pl.Int64(),
    "limits": pl.String(),
    "classifier": pl.String(),
    "distance": pl.String(),
    "records": pl.Int64(),
    "mean": pl.Float64(),
    "std": pl.Float64(),
    "max": pl.Float64(),
    "different": pl.Float64(),
    "infinite": pl.Int64(),
}
"""One row per run and distance (see ``posteriors``). ``k`` and ``limits`` (on the secret) are those
of the run, both empty for releases from outside. ``records`` is the number of people tested.
``mean`` and ``std`` (of the population: divided by their number) are over the finite distances,
empty if all are infinite; ``infinite`` counts the infinite ones. ``max`` is the largest distance:
the release is (epsilon, 0)-differentiable for every epsilon above it (Definition 1 requires
distances below epsilon). ``different`` is the share of people whose most probable secret changes
without their record."""

SHARES: dict[str, pl.DataType] = {
    "run": pl.Int64(),
    "k": pl.Int64(),
    "limits": pl.String(),
    "distance": pl.String(),
    "point": pl.Float64(),
    "people": pl.Int64(),
    "share": pl.Float64(),
}
"""One row per run, distance and point: the people with a distance of at most ``point``
(``distribution``, points 0 and 10^-6 to 10^2 in steps of 10^0.1), or above it (``thresholds``)."""

GRID = (0.0, *(10 ** (i / 10) for i in range(-60, 21)))
UNIT = 2**80


def summary_rows(passes: Passes, question: Question) -> pl.DataFrame:
    """Return the summary (``SUMMARY``) of the table ``each_one``."""
    rows = []
    for row in passes.stream.rows(render(passes.query("dit/moments"))):
        run, distance, records, different, infinite, total, squares, greatest = row
        finite = records - infinite
        mean = float(Fraction(total, UNIT * finite)) if finite else None
        std = math.sqrt(Fraction(squares, UNIT * finite)) if finite else None
        labels = (*_limits_of_run(question, run), question.classifier, distance, records)
        moments = (mean, std, greatest, different / records, infinite)
        rows.append((run, question.method, *labels, *moments))
    rows.sort(key=lambda row: (row[0], DISTANCES.index(row[5])))
    return pl.DataFrame(rows, schema=SUMMARY, orient="row")


def share_rows(
    passes: Passes, question: Question, points: Sequence[float], *, above: bool
) -> pl.DataFrame:
    """Count the people of ``each_one`` with a distance of at most each point, or above it."""
    listed = exp.values([(double(p),) for p in points], alias="listed", columns=["point"])
    passes.keep("points", exp.select("point").from_(listed))
    rows = []
    counted = passes.stream.rows(render(passes.query("dit/shares")))
    for run, distance, point, people, records in counted:
        count = records - people if above else people
        rows.append((run, *_limits_of_run(question, run), distance, point, count, count / records))
    passes.drop("points")
    rows.sort(key=lambda row: (row[0], DISTANCES.index(row[3]), row[4]))
    return pl.DataFrame(rows, schema=SHARES, orient="row")


def _limits_of_run(question: Question, run: int) -> tuple[int | None, str | None]:
    wishes = question.runs[run - 1]
    return (None, None) if wishes is None else (wishes.k, wishes.diversity or None)
