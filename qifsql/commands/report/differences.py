"""Numbers of few people that follow from the numbers of a report together.

A number about fewer people than the limit is left out, whether it is shown or follows from two that
are: the size of the smallest block, a bar of a histogram, the people of a value of a secret, a
result whose filter leaves few people, or whose number of people, added to and subtracted from those
of other results about the same files, leaves few.
"""

from collections.abc import Sequence, Set
from itertools import chain

import polars as pl

from qifsql.results.stored import Stored

SMALLEST, PEOPLE = "k", "individuals"
WORST = ("worst_case", "prosecutor_risk")  # chances against the smallest block
BIN, VALUE, SUSPECTED = "bin", "value", "suspected"  # of histograms and of chances of values
COUNTED = ("records", "people")  # columns of the number of people of a result
MOST_TERMS = 4  # numbers that are added and subtracted
MOST_NUMBERS = 12  # different numbers that are shown about the same files


def telling_results(stored: Sequence[Stored], minimum: int) -> Set[int]:
    """Return the indexes of filtered results that tell about fewer people than ``minimum``.

    They do so alone, or by the difference from results that are shown. Those without a filter are
    always shown, so they come first; then those about more people.
    """
    telling: set[int] = set()
    shown_by_files: dict[tuple[str, ...], dict[tuple[str, int], None]] = {}  # (filter, people)
    order = sorted(range(len(stored)), key=lambda i: (bool(_where(stored[i])), -_people(stored[i])))
    for i in order:
        where, n = _where(stored[i]), _people(stored[i])
        shown_counts = shown_by_files.setdefault(_files(stored[i]), {})
        numbers = [people for _, people in shown_counts]
        repeats = (where, n) in shown_counts  # the same people again tell nothing new
        if where and (n < minimum or not (repeats or _leaves_no_few_people(n, numbers, minimum))):
            telling.add(i)
        elif n:
            shown_counts[where, n] = None
    return telling


def _leaves_no_few_people(n: int, numbers: Sequence[int], minimum: int) -> bool:
    """Return whether no sum or difference of ``n`` and ``numbers`` is a number of few people.

    All are numbers of people. What a filter means is not read: the people of two filters may be
    apart, or those of one may be among those of the other. Two kinds of sums are tried: those of
    up to four numbers, as for the last cell of two crossed filters, and a number minus any set of
    others, as for the last of many regions.
    """
    if len(numbers) >= MOST_NUMBERS:  # too many sums to try
        return False
    n_terms = {n: 1}  # for each sum of few numbers, how many it needs at least
    subset_sums = {0}
    for m in numbers:
        for sum_, terms in list(n_terms.items()):
            if terms < MOST_TERMS:
                for further in (sum_ + m, sum_ - m):
                    n_terms[further] = min(terms + 1, n_terms.get(further, MOST_TERMS))
        subset_sums |= {sum_ + m for sum_ in subset_sums}
    rests = n_terms.keys() | {n - sum_ for sum_ in subset_sums}
    rests |= {m - n - sum_ for m in numbers for sum_ in subset_sums}
    return not any(0 < abs(rest) < minimum for rest in rests)


def _where(stored: Stored) -> str:
    return str(stored.spec.get("where") or "")


def _files(stored: Stored) -> tuple[str, ...]:
    return tuple(sorted(str(file.get("sha256")) for file in stored.manifest.get("inputs", ())))


def _people(stored: Stored) -> int:
    """Return how many people a result is about; 0 if it does not say."""
    for name in COUNTED:
        if name in stored.frame.columns and stored.frame.schema[name].is_integer():
            return int(stored.frame[name].drop_nulls().max() or 0)  # type: ignore[arg-type]
    return 0


def has_few(stored: Stored, minimum: int) -> bool:
    """Return whether tables of a result have numbers of few people."""
    tables = (stored.frame, *stored.details.values())
    return any(not table.equals(without_few(table, minimum)) for table in tables)


def without_few(table: pl.DataFrame, minimum: int) -> pl.DataFrame:
    """Return a table without bars and values of few people, and with NULL for other few people.

    Those are ``k`` (smallest block) and those ``suspected`` of a value. Where ``k`` is left out, so
    is the chance against the worst block, of which it is one part in ``k``, unless it is 1. A bar,
    or a value of a secret, is a row of so many ``individuals``; further columns tell tables apart.
    """
    schema = table.schema
    if SMALLEST in schema and schema[SMALLEST].is_integer():
        small = pl.col(SMALLEST).is_between(1, minimum - 1)
        hidden = {SMALLEST: small}
        hidden |= {name: small & (pl.col(name) < 1) for name in WORST if name in schema}
        table = table.with_columns(
            pl.when(~is_hidden.fill_null(value=False)).then(name).alias(name)
            for name, is_hidden in hidden.items()
        )
    parts = {BIN, SUSPECTED} & set(schema)
    if not parts or PEOPLE not in schema or not schema[PEOPLE].is_integer():
        return table
    if SUSPECTED in schema:
        is_few = pl.col(SUSPECTED).is_between(1, minimum - 1)
        table = table.with_columns(pl.when(~is_few).then(SUSPECTED).alias(SUSPECTED))
    of_row = (BIN, VALUE, SUSPECTED, PEOPLE)
    keys = [n for n in schema if n not in of_row and not schema[n].is_float()]
    table = table.with_row_index("place")
    histograms = table.partition_by(keys, maintain_order=True) if keys else [table]
    places = chain.from_iterable(_shown_bars(bars, minimum) for bars in histograms)
    return table.filter(pl.col("place").is_in(list(places))).drop("place")


def _shown_bars(bars: pl.DataFrame, minimum: int) -> list[int]:
    """Return the places of the bars of a histogram that are shown: not those of few people.

    A hidden bar could be the difference from all people. So further bars are hidden, the smallest
    first, until at least two are hidden, with ``minimum`` people together. Empty bars are shown.
    """
    ordered = bars.sort(PEOPLE, "place")
    hidden: list[int] = []
    people = 0  # in hidden bars
    for n, place in ordered.select(PEOPLE, "place").rows():
        is_next = hidden and (len(hidden) < 2 or people < minimum)
        if n and (n < minimum or is_next):
            hidden.append(place)
            people += n
    return [place for place in ordered["place"] if place not in hidden]
