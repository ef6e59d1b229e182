"""A slow, exact oracle for the intersection attack: sets, Fractions, one person after the other.

Written from M66 and Ganta et al. (Algorithm 1, Definitions 7 to 9). Cells are told by
what they mean, never by their text: nothing is shared with the package's parser.
"""

import csv
import datetime
import io
import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from qifsql.reference import microdata


@dataclass(frozen=True)
class Everything:
    """Suppressed."""


@dataclass(frozen=True)
class Interval:
    """From ``lower`` to ``upper``, None where it has no end."""

    lower: Any
    upper: Any
    open_below: bool = False
    open_above: bool = False
    missing: bool = False


@dataclass(frozen=True)
class Members:
    """Some values, None for the missing one. ``node``: it is written as this label."""

    values: tuple[Any, ...]
    node: str | None = None


@dataclass(frozen=True)
class Begun:
    """Texts of a length that begin in a way; of any length, where nobody's text is so."""

    prefix: str
    length: int
    any_length: bool = False


Cell = Everything | Interval | Members | Begun


def holds(cell: Cell, value: Any) -> bool:
    """Return whether a raw value is one of those that a cell stands for."""
    value = microdata.value(value)
    if isinstance(cell, Everything):
        return True
    if isinstance(cell, Members):
        return value in [microdata.value(v) for v in cell.values]
    if isinstance(cell, Begun):
        return (
            value is not None
            and (cell.any_length or len(str(value)) == cell.length)
            and str(value).startswith(cell.prefix)
        )
    if value is None:
        return cell.missing
    above = (
        cell.lower is None or value > cell.lower or (value == cell.lower and not cell.open_below)
    )
    below = (
        cell.upper is None or value < cell.upper or (value == cell.upper and not cell.open_above)
    )
    return above and below


def written(cell: Cell, value: Any = str) -> str | None:
    """The cell as text, in the syntax that releases use; None: an empty field."""
    if isinstance(cell, Everything):
        return "*"
    if isinstance(cell, Begun):
        return cell.prefix + "*" * (cell.length - len(cell.prefix))
    if isinstance(cell, Members):
        if cell.node is not None:
            return cell.node
        if cell.values == (None,):
            return None
        if len(cell.values) == 1 and not _reads_as_form(str(cell.values[0])):
            return str(cell.values[0])
        return "{" + ",".join("" if v is None else _quoted(str(v)) for v in cell.values) + "}"
    tail = "?" if cell.missing else ""
    if cell.lower is None:
        return f"{'<' if cell.open_above else '<='}{cell.upper}{tail}"
    if cell.upper is None:
        return f"{'>' if cell.open_below else '>='}{cell.lower}{tail}"
    ends = "(" if cell.open_below else "[", "[" if cell.open_above else "]"
    return f"{ends[0]}{cell.lower},{cell.upper}{ends[1]}{tail}"


def _reads_as_form(text: str) -> bool:
    return any(c in text for c in "*[]{}<>()-,") or text == ""


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


@dataclass(frozen=True)
class Release:
    """Rows of cells, each with a secret; ``columns`` are the numbers of the quasi-identifiers."""

    columns: tuple[int, ...]
    rows: tuple[tuple[tuple[Cell, ...], Hashable], ...]


@dataclass
class Told:
    """Of one person: per release the classes, the counts of secrets (None: nowhere)."""

    classes: list[int]
    counts: list[Counter[Hashable] | None]
    nearest: list[bool] = field(default_factory=list)

    @property
    def located(self) -> bool:
        return all(c is not None for c in self.counts)

    def left(self) -> set[Hashable]:
        return set.intersection(*(set(c or ()) for c in self.counts))

    def weights(self) -> dict[Hashable, int]:
        return {v: math.prod((c or Counter())[v] for c in self.counts) for v in self.left()}


STEPS = 2**20  # of the range of a column's numbers


def number(value: Any) -> float:
    """A value as a number: a date as its seconds."""
    if isinstance(value, datetime.date):
        return (value - datetime.date(1970, 1, 1)).days * 86400.0
    return float(value)


def stretches(cell: Cell, kind: str) -> list[tuple[float, float]]:
    """The numbers for which a cell stands, from and to; open ends of whole steps are closed."""
    if isinstance(cell, Members) and kind != "text":
        values = [microdata.value(v) for v in cell.values]
        return [(number(v), number(v)) for v in values if v is not None]
    if not isinstance(cell, Interval):
        return []
    unit = {"whole": 1, "decimal": 100}.get(kind)
    ends = [-math.inf, math.inf]
    if cell.lower is not None:
        ends[0] = number(cell.lower)
        if unit:
            scaled = Fraction(cell.lower) * unit
            ends[0] = (math.floor(scaled) + 1 if cell.open_below else math.ceil(scaled)) / unit
    if cell.upper is not None:
        ends[1] = number(cell.upper)
        if unit:
            scaled = Fraction(cell.upper) * unit
            ends[1] = (math.ceil(scaled) - 1 if cell.open_above else math.floor(scaled)) / unit
    return [(ends[0], ends[1])]


@dataclass(frozen=True)
class Distances:
    """Distances of people from the cells of releases; ``kinds`` are those of the columns."""

    people: Sequence[Sequence[Any]]
    kinds: Sequence[str]

    def nearest(self, person: Sequence[Any], release: Release) -> set[tuple[str | None, ...]]:
        """The nearest classes: the least sum of squares, of which 2^20 steps are a range."""
        squares = {}
        for cells, _ in release.rows:
            if not all(isinstance(c, Everything) for c in cells):
                squares[tuple(map(written, cells))] = sum(
                    self.square(person, release, at) for at in enumerate(cells)
                )
        return {name for name, square in squares.items() if square == min(squares.values())}

    def square(self, person: Sequence[Any], release: Release, at: tuple[int, Cell]) -> int:
        """The square of the distance of a person from one cell."""
        column, cell = at
        i = release.columns[column]
        value, kind = microdata.value(person[i]), self.kinds[i]
        if holds(cell, value):
            return 0
        found = stretches(cell, kind)
        if value is None or not found:
            return STEPS**2
        values = [microdata.value(p[i]) for p in self.people]
        numbers = [number(v) for v in values if v is not None]
        for row, _ in release.rows:
            numbers += [a for a, b in stretches(row[column], kind) if a == b]

        def share(x: float) -> float:
            least, range_ = min(numbers), max(numbers) - min(numbers)
            part = (x - least) / range_ if range_ else float((x > least) - (x < least))
            return max(-1.0, min(2.0, part))

        own = share(number(value))
        away = min(max(share(a) - own, own - share(b), 0.0) for a, b in found)
        return math.floor(away * STEPS + 0.5) ** 2


def told(
    person: Sequence[Any],
    releases: Sequence[Release],
    *,
    ignored: bool,
    distances: Distances | None = None,
) -> Told:
    """Return where a person is found, or nearest by ``distances``, and which secrets are there."""
    found = Told([], [])
    for release in releases:
        own = [person[i] for i in release.columns]
        counts: Counter[Hashable] = Counter()
        classes = set()
        for cells, secret in release.rows:
            if all(isinstance(c, Everything) for c in cells):
                counts[secret] += not ignored
            elif all(holds(c, v) for c, v in zip(cells, own, strict=True)):
                counts[secret] += 1
                classes.add(tuple(map(written, cells)))
        found.nearest.append(distances is not None and not classes)
        if distances is not None and not classes:
            classes = distances.nearest(person, release)
            for cells, secret in release.rows:
                counts[secret] += tuple(map(written, cells)) in classes
        counts = +counts
        found.classes.append(len(classes))
        found.counts.append(counts or None)
    return found


def best(counts: Counter[Hashable]) -> Fraction:
    """The chance of the best guess from one release."""
    return Fraction(max(counts.values()), sum(counts.values()))


def mean(values: Sequence[Fraction | int]) -> float | None:
    return float(Fraction(sum(values)) / len(values)) if values else None


def summary(people: Sequence[Told], n: int) -> dict[str, Any]:
    """The row of a result for the first ``n`` releases."""
    cut = [Told(t.classes[:n], t.counts[:n]) for t in people]
    located = [t for t in cut if t.located]
    clear = [t for t in located if t.left()]
    effective = [min(len(c or ()) for c in t.counts) for t in clear]
    left = [len(t.left()) for t in clear]
    weights = [t.weights() for t in clear]
    drops = [a - b for a, b in zip(effective, left, strict=True)]
    return {
        "releases": n,
        "people": len(people),
        "located": len(located),
        "contradictions": len(located) - len(clear),
        "effective_prior": mean(effective),
        "effective_posterior": mean(left),
        "drop": mean(drops),
        "vulnerable": sum(d > 0 for d in drops),
        "vulnerable_share": sum(d > 0 for d in drops) / len(people),
        "perfect_breach": left.count(1),
        "perfect_breach_share": left.count(1) / len(people),
        "perfect_breach_before": sum(a == b == 1 for a, b in zip(effective, left, strict=True)),
        "prior_success": mean([max(best(c) for c in t.counts if c) for t in clear]),
        "posterior_success": mean([Fraction(max(w.values()), sum(w.values())) for w in weights]),
    }


def by_release(
    people: Sequence[Told], release: Release, i: int, *, nearest: bool
) -> dict[str, Any]:
    """The row of one release, but for its name."""
    suppressed = [s for cells, s in release.rows if all(isinstance(c, Everything) for c in cells)]
    classes = Counter(
        tuple(map(written, cells))
        for cells, _ in release.rows
        if not all(isinstance(c, Everything) for c in cells)
    )
    clear = [t for t in people if t.located and t.left()]
    effective = [len(t.counts[i] or ()) for t in clear]
    drops = [e - len(t.left()) for e, t in zip(effective, clear, strict=True)]
    return {
        "records": len(release.rows),
        "classes": len(classes),
        "smallest_class": min(classes.values(), default=None),
        "suppressed": len(suppressed),
        "in_one_class": sum(t.classes[i] == 1 for t in people),
        "in_several": sum(t.classes[i] > 1 for t in people),
        "in_no_class": sum(t.counts[i] is None for t in people),
        "only_suppressed": sum(t.classes[i] == 0 and t.counts[i] is not None for t in people),
        "by_nearest": sum(t.nearest[i] and t.classes[i] > 0 for t in people) if nearest else None,
        "rightly_located": None,
        "rightly_nearest": None,
        "partition_size": mean([sum((t.counts[i] or Counter()).values()) for t in clear]),
        "effective_anonymity": mean(effective),
        "drop": mean(drops),
        "vulnerable": sum(d > 0 for d in drops),
        "vulnerable_share": sum(d > 0 for d in drops) / len(people),
        "perfect_breach": effective.count(1),
        "success": mean([best(t.counts[i]) for t in clear if t.counts[i]]),  # type: ignore[arg-type]
        "baseline": max(Counter(s for _, s in release.rows).values()) / len(release.rows),
    }


def curve(people: Sequence[Told], level: Fraction) -> tuple[int, int, int]:
    """People at or above a confidence: with one release, with all, by the best guess."""
    clear = [t for t in people if t.located and t.left()]
    return (
        sum(Fraction(1, min(len(c or ()) for c in t.counts)) >= level for t in clear),
        sum(Fraction(1, len(t.left())) >= level for t in clear),
        sum(Fraction(max(t.weights().values()), sum(t.weights().values())) >= level for t in clear),
    )


def guess(found: Told) -> Hashable:
    """The best guess; of equals the smallest value, a missing one last."""
    weights = found.weights()
    most = max(weights.values())
    tied = [v for v, w in weights.items() if w == most]
    return min(tied, key=microdata.order_key)


def as_csv(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A CSV file whose missing values are empty and whose texts are quoted."""
    made = io.StringIO()
    for row in [list(names), *rows]:
        told = ["" if v is None else (_quoted(v) if isinstance(v, str) else str(v)) for v in row]
        made.write(",".join(told) + "\n")
    assert len(list(csv.reader(io.StringIO(made.getvalue())))) == len(rows) + 1
    return made.getvalue()
