"""Numbers of few people that follow from the numbers of a report together.

A number about fewer people than the limit is left out, whether it is shown or follows from two that
are: the size of the smallest block, a bar of a histogram, a result whose filter leaves few people,
or all but few of those of another result about the same files.
"""

from collections.abc import Sequence, Set
from itertools import combinations

import polars as pl

from qifsql.results.stored import Stored

SMALLEST, BIN, PEOPLE = "k", "bin", "individuals"
COUNTED = ("records", "people")  # columns of the number of people of a result


def few(stored: Sequence[Stored], minimum: int) -> Set[int]:
    """Return the places of results that alone, or with those before them, tell about few people.

    Results without a filter come first; a filter is what others can subtract.
    """
    out: set[int] = set()
    by_files: dict[tuple[str, ...], list[int]] = {}
    order = sorted(range(len(stored)), key=lambda i: (bool(_where(stored[i])), -_people(stored[i])))
    for i in order:
        n = _people(stored[i])
        shown = by_files.setdefault(_files(stored[i]), [])
        if _where(stored[i]) and (n < minimum or _tells(n, shown, minimum)):
            out.add(i)
        elif n:
            shown.append(n)
    return out


def _tells(n: int, shown: Sequence[int], minimum: int) -> bool:
    """Return whether sums and differences of numbers of people leave fewer than the limit."""
    rests = [abs(n - other) for other in shown]
    rests += [abs(a - b - n) for a, b in combinations(sorted(shown, reverse=True), 2)]
    return any(0 < rest < minimum for rest in rests)


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
    places = [place for part in parts for place in _shown_bars(part, minimum)]
    return order.filter(pl.col("place").is_in(places)).drop("place")


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
