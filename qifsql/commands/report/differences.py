"""Numbers of few people that follow from the numbers of a report together.

A number about fewer people than the limit is left out, whether it is shown or follows from two that
are: the size of the smallest block, a bar of a histogram, a result whose filter leaves few people,
or whose number of people, added to and subtracted from those of other results about the same files,
leaves few.
"""

from collections.abc import Sequence, Set
from itertools import chain

import polars as pl

from qifsql.results.stored import Stored

SMALLEST, BIN, PEOPLE = "k", "bin", "individuals"
COUNTED = ("records", "people")  # columns of the number of people of a result
TERMS = 4  # so many numbers are added and subtracted
NUMBERS = 12  # so many different numbers are shown about the same files


def telling_results(stored: Sequence[Stored], minimum: int) -> Set[int]:
    """Return the places of results that alone, or with those before them, tell about few people.

    Results without a filter come first; a filter is what others can subtract.
    """
    out: set[int] = set()
    by_files: dict[tuple[str, ...], dict[tuple[str, int], None]] = {}
    order = sorted(range(len(stored)), key=lambda i: (bool(_where(stored[i])), -_people(stored[i])))
    for i in order:
        where, n = _where(stored[i]), _people(stored[i])
        facts = by_files.setdefault(_files(stored[i]), {})
        numbers = [people for _, people in facts]
        repeated = (where, n) in facts
        if where and (n < minimum or not (repeated or _is_safe(n, numbers, minimum))):
            out.add(i)
        elif n:
            facts[where, n] = None
    return out


def _is_safe(n: int, numbers: Sequence[int], minimum: int) -> bool:
    """Return whether a further number of people and those before leave no fewer than the limit.

    What a filter means is not read: each may lie within, or apart from, each other. Added and
    subtracted are up to four numbers, as for the last cell of two crossed filters, and all parts
    that a larger number may consist of, as for the last of many regions.
    """
    if len(numbers) >= NUMBERS:
        return False
    terms = {n: 1}
    parts = {0}
    for m in numbers:
        for rest, count in list(terms.items()):  # the fewest numbers that each sum takes
            if count < TERMS:
                for sum_ in (rest + m, rest - m):
                    terms[sum_] = min(count + 1, terms.get(sum_, TERMS))
        parts |= {sum_ + m for sum_ in parts}
    rests = terms.keys() | {n - sum_ for sum_ in parts}
    rests |= {m - n - sum_ for m in numbers for sum_ in parts}
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
    """Return a table without the smallest blocks below the limit and the bars of few people."""
    schema = table.schema
    if SMALLEST in schema and schema[SMALLEST].is_integer():
        small = pl.col(SMALLEST).is_between(1, minimum - 1)
        table = table.with_columns(pl.when(~small).then(SMALLEST).alias(SMALLEST))
    if not {BIN, PEOPLE} <= set(schema) or not schema[PEOPLE].is_integer():
        return table
    keys = [n for n in schema if n not in (BIN, PEOPLE) and not schema[n].is_float()]
    order = table.with_row_index("place")
    parts = order.partition_by(keys, maintain_order=True) if keys else [order]
    places = chain.from_iterable(_shown_bars(part, minimum) for part in parts)
    return order.filter(pl.col("place").is_in(list(places))).drop("place")


def _shown_bars(part: pl.DataFrame, minimum: int) -> list[int]:
    """Return the places of bars that are shown: those of few people, and at least so many, are not.

    A single bar that is left out would be the difference from all people.
    """
    bars = sorted(zip(part[PEOPLE].to_list(), part["place"].to_list(), strict=True))
    positive = [bar for bar in bars if bar[0]]
    hidden = [bar for bar in positive if bar[0] < minimum]
    for bar in positive[len(hidden) :] if hidden else []:
        if len(hidden) > 1 and sum(people for people, _ in hidden) >= minimum:
            break
        hidden.append(bar)
    out = {place for _, place in hidden}
    return [place for _, place in bars if place not in out]
