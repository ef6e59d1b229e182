"""Loss and utility on many random samples of the data (thesis section 7.1, future work 3).

A sample has a given number of records, each set of so many equally likely. Only counts are drawn:
the numbers of the records that are drawn, and how many of these are of each cell of the data. The
noise moves between the values of all data, whatever a sample has.
"""

import math
import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

import polars as pl

from qifsql.commands.dp.count import Counts
from qifsql.errors import InputError
from qifsql.measures.intervals import Interval, mean_of_chances, range_of_next

MOST_SAMPLES = 10_000
MOST_DRAWN = 20_000_000  # records of all samples
USUAL_SIZE = 1_000
MEASURES = ("privacy_loss", "utility")

SAMPLES: dict[str, pl.DataType] = {
    "epsilon": pl.Float64(),
    **dict.fromkeys(("epsilon_given", "mechanism"), pl.String()),
    "predicate": pl.Int64(),
    "measure": pl.String(),
    **dict.fromkeys(("samples", "sample_size"), pl.Int64()),
    **dict.fromkeys(("mean", "mean_low", "mean_high", "low", "high", "all_data"), pl.Float64()),
}
"""One row per epsilon, mechanism and predicate (NULL: all together) and ``measure``, which is
privacy_loss or utility. ``mean`` is that of the samples; ``mean_low`` to ``mean_high`` is the
interval of the mean over all samples of this size, at 95 %: that of Student, widened by samples so
rare that none may have been drawn, with any number that a sample can have (M156). A further sample
is from ``low`` to ``high`` with a probability of at least 95 %, whatever the distribution (M214;
NULL for fewer than 39 samples). ``all_data`` is the number of all records, as in the results."""


def check(samples: int | None, size: int | None) -> None:
    """Refuse numbers of samples that are none, and a size without samples."""
    if samples is None and size is not None:
        raise InputError("a size of samples needs their number (--samples)")
    for number in (samples, size):
        if isinstance(number, bool) or not isinstance(number, int | None):
            raise InputError("samples and their size are whole numbers")
    if samples is not None and not 2 <= samples <= MOST_SAMPLES:
        raise InputError(f"samples is a whole number from 2 to {MOST_SAMPLES:,}")


def size_of_samples(counts: Counts, samples: int, size: int | None) -> int:
    """Return how many records a sample has: ``size``; None: 1,000, or half of fewer than 2,000."""
    records = counts.extent.records
    if size is None:
        size = min(USUAL_SIZE, max(1, records // 2))
    if not 1 <= size <= records:
        raise InputError(f"a sample has from 1 to {records:,} records, which are all")
    if samples * size > MOST_DRAWN:
        raise InputError(
            f"{samples:,} samples of {size:,} records are more than {MOST_DRAWN:,} records in all; "
            "draw fewer, or smaller ones"
        )
    return size


def draw(counts: Counts, size: int, lot: str) -> Counts:
    """Return the counts of a random sample of ``size`` records; equal lots draw equal samples."""
    # Records are numbered cell by cell; ``drawn`` has the number of drawn records of each cell.
    ends = list(accumulate(people for *_, people in counts.population))
    numbers = random.Random(lot).sample(range(ends[-1]), size)  # noqa: S311 - no secret
    drawn = Counter(bisect_right(ends, n) for n in numbers)
    secrets: dict[int, list[tuple[int, int, int]]] = {}
    totals = dict.fromkeys(counts.totals, 0)
    people = [0] * len(counts.people)
    for cell in sorted(drawn):
        place, pattern, secret, _ = counts.population[cell]
        secrets.setdefault(secret, []).append((place, pattern, drawn[cell]))
        totals[pattern] += drawn[cell]
        if people:  # noise is on records
            people[place] += drawn[cell]
    return replace(
        counts,
        extent=replace(counts.extent, records=size),
        kinds=tuple(sorted({tuple(cells) for cells in secrets.values()})),
        totals=totals,
        people=tuple(people),
    )


def sample_rows(
    counts: Counts,
    lots: Sequence[str],
    size: int,
    *,
    measure_counts: Callable[[Counts], Iterator[dict[str, object]]],
    all_data: Sequence[dict[str, object]],
    progress: Callable[[float], None] = lambda _: None,
) -> pl.DataFrame:
    """Return the table ``SAMPLES`` of a sample for each lot.

    ``measure_counts`` yields rows of the result from counts; ``all_data`` are those of all data.
    """
    results: list[list[dict[str, object]]] = []
    for i, lot in enumerate(lots, 1):
        results.append(list(measure_counts(draw(counts, size, lot))))
        progress(i / len(lots))
    rows = []
    for j, of_all in enumerate(all_data):
        for measure in MEASURES:
            if of_all[measure] is None:  # the utility of counts that have a bound alone
                continue
            values = [float(row[j][measure]) for row in results]  # type: ignore[arg-type]
            mean_low, mean_high = _interval_of_mean(values, _limits(counts, of_all, measure))
            low, high = range_of_next(values) or (None, None)
            names = ("epsilon", "epsilon_given", "mechanism", "predicate")
            row_of_measure = {
                **{name: of_all[name] for name in names},
                "measure": measure,
                "samples": len(lots),
                "sample_size": size,
                "mean": math.fsum(values) / len(values),
                "mean_low": mean_low,
                "mean_high": mean_high,
                "low": low,
                "high": high,
                "all_data": of_all[measure],
            }
            rows.append(row_of_measure)
    return pl.DataFrame(rows, schema=SAMPLES)


def _limits(counts: Counts, row: dict[str, object], measure: str) -> Interval:
    """Return the smallest and largest loss or utility that any data with these values can have.

    A loss is at most e^epsilon of a person, the number of values of the secret (a guess is right
    once in so many cases without a report), and the number of combinations of true answers, through
    which alone a report depends on the secret. A guess of an answer is right in half of cases.
    """
    alone = row["predicate"] is not None
    if measure == "utility":
        return 0.5 if alone else 0.0, 1.0
    answers = 2 if alone else 2 ** max(counts.totals).bit_length()
    epsilon = min(700.0, float(row["epsilon_person"]))  # type: ignore[arg-type] # e^700 is a float
    return 1.0, min(math.exp(epsilon), counts.extent.secret_values, answers)


def _interval_of_mean(values: Sequence[float], limits: Interval) -> Interval:
    """Return a 95 % confidence interval of the mean over all possible samples.

    ``values`` are of the samples that were drawn; ``limits`` are the least and greatest possible.
    """
    least, width = limits[0], limits[1] - limits[0]
    if not width:  # epsilon is 0
        return limits
    shares = [(value - least) / width for value in values]
    squares = math.fsum(share * share for share in shares) / len(shares)
    low, high = mean_of_chances(math.fsum(shares) / len(shares), squares, len(shares))
    return least + low * width, least + high * width
