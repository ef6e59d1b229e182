"""The distances of all people: mean, largest, shares, distribution, and a row for each person."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
from sqlglot import exp

from qifsql.adversary.spec import Microdata
from qifsql.commands.dit.posteriors import DISTANCES
from qifsql.commands.dit.spec import Question
from qifsql.counting.passes import Passes
from qifsql.counting.scales import own_name
from qifsql.data.readers import STORE
from qifsql.engine.protocol import Engine
from qifsql.measures import intervals
from qifsql.query import microdata_steps
from qifsql.query.columns import as_native, double, named, native_types
from qifsql.query.plan import Step
from qifsql.query.render import render
from qifsql.query.splice import splice
from qifsql.results.storage import Origin, stream

SUMMARY: dict[str, pl.DataType] = {
    "run": pl.Int64(),
    "method": pl.String(),
    "k": pl.Int64(),
    **dict.fromkeys(("limits", "classifier", "distance"), pl.String()),
    "records": pl.Int64(),
    **dict.fromkeys(("mean", "std", "max", "different"), pl.Float64()),
    "infinite": pl.Int64(),
}
"""One row per run and distance (see ``posteriors``). ``k`` and ``limits`` (on the secret) are those
of the run, both empty for releases from outside. ``records`` is the number of people tested.
``mean`` and ``std`` (of the population: divided by their number) are over the finite distances,
empty if all are infinite; ``infinite`` counts the infinite ones. ``max`` is the largest distance:
the release is (epsilon, 0)-differentiable for every epsilon above it (Definition 1 requires
distances below epsilon). ``different`` is the share of people whose most probable secret changes
without their record."""

TEXT, COUNT, NUMBER = pl.String(), pl.Int64(), pl.Float64()
SHARES: dict[str, pl.DataType] = {
    **{"run": COUNT, "k": COUNT, "limits": TEXT, "distance": TEXT, "point": NUMBER},
    **{"people": COUNT, "share": NUMBER},
}
"""One row per run, distance and point: the people with a distance of at most ``point``
(``distribution``, points 0 and 10^-6 to 10^2 in steps of 10^0.1), or above it (``thresholds``)."""

DELTAS: dict[str, pl.DataType] = {
    **{"run": COUNT, "k": COUNT, "limits": TEXT, "distance": TEXT, "epsilon": NUMBER},
    **{"draws": COUNT, "people": COUNT, "delta": NUMBER, "low": NUMBER, "high": NUMBER},
}
"""One row per run, distance and epsilon: the largest share over all people of draws in which their
distance is at least epsilon (Definition 1). ``low`` and ``high`` cover the largest chance over the
people tested, with probability 95 % or more: every person's exact interval has an error of 5 %
divided by the number of people with different values. Without anything random there is one draw,
and delta is 0 or 1."""

GRID = (0.0, *(10 ** (i / 10) for i in range(-60, 21)))
UNIT = 2**80


def summary_rows(passes: Passes, question: Question) -> pl.DataFrame:
    """Return the summary (``SUMMARY``) of the table ``each_one``: one row per run and distance."""
    rows = []
    for row in _in_order(passes.stream.rows(render(passes.query("dit/moments")))):
        run, distance, records, different, infinite, total, squares, greatest = row
        finite = records - infinite
        mean = float(Fraction(total, UNIT * finite)) if finite else None  # SQL counts in 1/UNIT
        std = math.sqrt(Fraction(squares, UNIT * finite)) if finite else None
        labels = (*_limits_of_run(question, run), question.classifier, distance, records)
        moments = (mean, std, greatest, different / records, infinite)
        rows.append((run, question.method, *labels, *moments))
    return pl.DataFrame(rows, schema=SUMMARY, orient="row")


def share_rows(
    passes: Passes, question: Question, points: Sequence[float], *, above: bool
) -> pl.DataFrame:
    """Return ``SHARES``: people with at most each distance of ``points``, or ``above`` it."""
    rows = []
    for run, distance, point, people, records in _count_at_points(passes, "shares", points):
        count = records - people if above else people
        rows.append((run, *_limits_of_run(question, run), distance, point, count, count / records))
    return pl.DataFrame(rows, schema=SHARES, orient="row")


def delta_rows(passes: Passes, question: Question) -> pl.DataFrame:
    """Return ``DELTAS``: a row per run, distance and epsilon (threshold), with delta.

    Delta is the largest share over the targets of draws in which the target's distance is at least
    epsilon. The table ``drawn`` has the distances in all draws.
    """
    rows = []
    for row in _count_at_points(passes, "exceeded", question.thresholds):
        # ``exceeded``: the most draws in which the distance of one target is at least the point.
        run, distance, point, exceeded, draws, people, targets = row
        delta = exceeded / draws
        low, high = delta, delta
        if question.random:  # the error is shared by all targets, so that all intervals hold
            low, high = intervals.clopper_pearson(exceeded, draws, 0.05 / targets)
        labels = (*_limits_of_run(question, run), distance, point, draws, people)
        rows.append((run, *labels, delta, low, high))
    return pl.DataFrame(rows, schema=DELTAS, orient="row")


def _count_at_points(passes: Passes, view: str, points: Sequence[float]) -> list[tuple[Any, ...]]:
    """Return the rows of a view of ``sql/dit`` that counts people at distances, the ``points``."""
    listed = exp.values([(double(p),) for p in points], alias="listed", columns=["point"])
    passes.keep("points", exp.select("point").from_(listed))
    rows = passes.stream.rows(render(passes.query(f"dit/{view}")))
    passes.drop("points")
    return _in_order(rows)


def _in_order(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Sort rows by their first three columns: run, distance (as in DISTANCES) and a number."""

    def key(row: tuple[Any, ...]) -> tuple[Any, ...]:
        run, distance, number, *_ = row
        return run, DISTANCES.index(distance), number

    return sorted(rows, key=key)


def _limits_of_run(question: Question, run: int) -> tuple[int | None, str | None]:
    """Return the k of a run, and its limits on the secret in words; None without any."""
    limits = question.runs[run - 1]
    return (None, None) if limits is None else (limits.k, limits.diversity or None)


def write_people(
    engine: Engine, microdata: Microdata, question: Question, path: Path, origin: Origin
) -> int:
    """Write a row per run and record, in the order of the input; return the number of rows.

    Columns: ``record`` (position in the input, from 1), the key under its name, ``run`` and ``k``
    if there are several runs, the distances (see ``posteriors``), and the most probable secret with
    and without the record. Distances are empty for people outside the sample.
    """
    native, record = native_types(path), microdata_steps.RECORD
    columns: list[tuple[exp.Expr, str]] = [(exp.column(record, "everybody"), record)]
    if microdata.key is not None:
        key = as_native(exp.column("key", "everybody"), microdata.key, native)
        columns.append((key, microdata.key.name))
    if len(question.runs) > 1:
        columns += [(exp.column(name, "runs"), name) for name in ("run", "k")]
    distances = ["emd_printed", "emd", "max_divergence"]
    distances += ["emd_hierarchy"] if question.hierarchy else []
    columns += [(exp.column(name, "apart"), name) for name in distances]
    for table, name in (("guessed", "best_guess"), ("guessed_without", "best_guess_without")):
        value = as_native(exp.column("value", table), microdata.secrets[0], native)
        columns.append((value, name))
    tables = {
        "whose": own_name("whose"),
        "apart": f"{STORE}.main.apart",
        "known": own_name("dictionary_secret_1"),
    }
    k_of_runs = [(i, None if w is None else w.k) for i, w in enumerate(question.runs, 1)]
    runs = exp.select("*").from_(exp.values(k_of_runs, alias="runs", columns=["run", "k"]))
    steps = [microdata_steps.everybody(microdata), Step("runs", "One row per run: its k.", runs)]
    query = splice("dit/record_guesses", tables=tables).select(*named(columns), append=False)
    plan = microdata_steps.plan(microdata, steps, query)
    return stream(engine, plan, path, origin, what="writing records")
