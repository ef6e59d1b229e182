"""Unicity: the share of people who are unique by a few of their points in a pseudonymous log.

Source: M64 and M65; de Montjoye, Hidalgo, Verleysen, Blondel, Unique in the Crowd, 2013.
"""

from collections.abc import Sequence
from typing import Any, Unpack

import polars as pl
from sqlglot import exp

from qifsql.adversary.notes import notes_of_people
from qifsql.adversary.spec import Attack, Microdata
from qifsql.commands.unicity.spec import UnicityOptions
from qifsql.commands.unicity.traces import MOST_SETS, Lengths, Traces, wilson_interval
from qifsql.counting.session import opened
from qifsql.data.dataset import Tabular
from qifsql.data.option import complete
from qifsql.engine.protocol import Engine
from qifsql.engine.settings import Settings, with_seed
from qifsql.errors import DatasetError, InputError, large, no_records, plural, quoted
from qifsql.query import microdata_steps
from qifsql.results.result import Result
from qifsql.results.storage import Origin

MOST_POINTS = 20

UNICITY: dict[str, pl.DataType] = {
    **dict.fromkeys(("points", "people"), pl.Int64()),
    **dict.fromkeys(("unicity", "low", "high"), pl.Float64()),
    "method": pl.String(),
    **dict.fromkeys(("draws", "all_people", "all_records"), pl.Int64()),
}
"""One row per number of known ``points``. ``people`` have at least this number of different points.
``unicity`` is the chance, in [0, 1], that this number of different points of one of them, chosen at
random, belong to nobody else; NULL without such people. ``method`` is exact or sampled. If sampled,
``low`` to ``high`` is Wilson's interval at 95 % confidence, corrected for continuity, from this
number of ``draws``. ``all_people`` and ``all_records`` are those of the file, the same in every
row."""


def unicity(
    source: Tabular,
    *,
    seed: int = 0,
    settings: Settings | None = None,
    **options: Unpack[UnicityOptions],
) -> Result:
    """Measure how many people are unique by a few of their records in a pseudonymous log.

    Points are a person's distinct records. Exact if at most 100 million sets must be compared,
    else estimated from random draws that depend on the seed and the data only.

    Returns:
        A Result. frame: one row per number of points: people (with that many points), unicity in
        [0, 1] (NULL without such people), method (exact or sampled), low and high (95 % Wilson
        interval of a sample, else NULL).

    Raises:
        InputError: A name, type or option does not fit the data; the message says what to try.
        DatasetError: There are no records, or none has a person.

    Example:
        >>> log = "data-samples/school_census_2019_enrolments.parquet"
        >>> result = qifsql.unicity(log, person="ID_ALUNO", qids="CO_ENTIDADE", points=1)
        >>> result.frame["method"].item()
        'exact'

    Source: M64 and M65; de Montjoye et al., Unique in the Crowd, 2013.

    """
    options = complete(options, UnicityOptions)
    points, draws = options["points"], options["draws"]
    sizes = (points,) if isinstance(points, int) else tuple(points)
    _check_numbers(sizes, draws)
    settings = with_seed(settings, seed, "unicity")
    origin = Origin.now(settings, "unicity")
    spec = Attack.of(
        "crs", source, qids=options["qids"], key=options["person"], where=options["where"]
    )
    with opened(spec, settings) as (engine, bound):
        records, without = _count_records(engine, bound.microdata)
        traces = Traces(engine, bound)
        lengths = traces.lengths()
        rows, notes = [], list(notes_of_people(bound.microdata))
        if without:
            notes.append(
                f"{plural(without, 'record')} without a person are left out: nothing says "
                "whose they are"
            )
        totals = {"all_people": lengths.people(1), "all_records": records}
        for n in sizes:
            row, notes_on_row = _row(traces, lengths, n, draws, seed)
            rows.append(row | totals)
            notes += notes_on_row
        dataset, key = bound.microdata.dataset, bound.microdata.key
        request = {
            "dataset": dataset.name,
            "person": key.name if key else None,
            "qids": [q.name for q in bound.microdata.qids],
            "points": list(sizes),
            "draws": draws,
            "seed": seed,
            "where": options["where"],
            **dataset.read_with,
        }
        origin = origin.about(request, dataset.paths).listing(bound.microdata.columns)
        origin = origin.sending(traces.tables.statements)
    frame = pl.DataFrame(rows, schema=UNICITY)
    return Result(frame=frame, origin=origin, notes=tuple(notes))


def _row(
    traces: Traces, lengths: Lengths, n: int, draws: int, seed: int
) -> tuple[dict[str, Any], list[str]]:
    """Return the row of ``UNICITY`` for n points, without totals, and notes on it."""
    row: dict[str, Any] = {"points": n, "people": lengths.people(n)}
    if not row["people"]:  # unicity stays NULL
        return row, [f"nobody has {plural(n, 'different point')}"]
    if lengths.sets(n) <= MOST_SETS:
        return row | {"unicity": traces.unique_share(n), "method": "exact"}, []
    right = traces.draw_unique(n, draws=draws, seed=seed)
    low, high = wilson_interval(right, draws)
    row |= {"unicity": right / draws, "low": low, "high": high, "method": "sampled", "draws": draws}
    note = (
        f"for {n} points {large(lengths.sets(n))} sets would be compared, more than "
        f"{MOST_SETS:,}: {draws:,} were drawn instead (seed {seed})"
    )
    return row, [note]


def _check_numbers(sizes: Sequence[int], draws: int) -> None:
    """Refuse numbers of known points or of draws that are out of range."""
    are_integers = all(isinstance(n, int) and not isinstance(n, bool) for n in (*sizes, draws))
    if not sizes or not are_integers or not all(1 <= n <= MOST_POINTS for n in sizes):
        raise InputError(
            f"points are whole numbers from 1 to {MOST_POINTS}, as in --points 1,2,3,4"
        )
    if len(set(sizes)) < len(sizes):
        raise InputError("a number of points is given twice; give it once")
    if not 1 <= draws <= 10**8:
        raise InputError("draws are a whole number from 1 to 100,000,000")


def _count_records(engine: Engine, microdata: Microdata) -> tuple[int, int]:
    """Return the number of records, and of those without a person (NULL); refuse data of nobody."""
    query = exp.select("count(*)", "count(*) FILTER (WHERE key IS NULL)").from_("microdata")
    plan = microdata_steps.plan(microdata, microdata_steps.steps(microdata, key=True), query)
    name = microdata.dataset.name
    ((records, without),) = engine.rows(plan, "counting records", name)
    if not records:
        raise no_records(name, "nobody to single out", filtered=microdata.where is not None)
    if records == without:
        key = quoted(microdata.key.name) if microdata.key else ""
        raise DatasetError(f"no record of {name} has a person ({key}); name another column")
    return int(records), int(without)
