"""The slow oracle of ``anonymise``, without SQL, written from the documentation alone.

Places of values, Mondrian, MDAV, cells and what a written cell stands for. The limits are those of
``qifsql.reference.class_limits``.
"""

import csv
import math
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import Any

from qifsql.reference.class_limits import judge

Tuple = tuple[int, ...]


def value(cell: Any) -> Any:
    """A cell with one missing value and one zero."""
    if isinstance(cell, float):
        return None if math.isnan(cell) else cell + 0.0
    return cell


def ordered(cells: Sequence[Any]) -> list[Any]:
    """The different values in their order, missing last."""
    found = {value(cell) for cell in cells}
    there = [v for v in found if v is not None]
    there.sort(key=lambda v: v.encode() if isinstance(v, str) else v)
    return there + ([None] if None in found else [])


def position(v: Any) -> float | None:
    """Return where a value is; None where it has no distances."""
    if isinstance(v, bool) or not isinstance(v, int | float | Decimal | date):
        return None
    return float(v.toordinal() - date(1970, 1, 1).toordinal()) if isinstance(v, date) else float(v)


def places(cells: Sequence[Any]) -> dict[Any, int]:
    """Each value's place from 0 to 2^30, no two the same."""
    values = ordered(cells)
    known = [v for v in values if v is not None]
    spots = [position(v) for v in known]
    last = len(values) - 1
    shares = [math.floor(i / last * 2**30) if last else 0 for i, _ in enumerate(values)]
    if len(known) > 1 and None not in spots:
        reach = spots[-1] - spots[0]
        span = reach + (reach / (len(known) - 1) if None in values else 0)
        if reach > 0 and math.isfinite(span):
            shares = [math.floor((p - spots[0]) / span * 2**30) for p in spots]
            shares += [2**30] * (None in values)
    highest = accumulate((share - i for i, share in enumerate(shares)), max)
    return {v: i + high for i, (v, high) in enumerate(zip(values, highest, strict=True))}


# Limits.


@dataclass(frozen=True)
class Limits:
    k: int = 1
    l: int | None = None  # noqa: E741 - it is called l
    l_entropy: Fraction | None = None
    l_recursive: tuple[Fraction, int] | None = None
    t: Fraction | None = None
    t_ordered: Fraction | None = None


Allowed = Callable[[Collection[int]], bool]


def allowed(
    secrets: Sequence[Sequence[Any]], limits: Limits, people: Sequence[Any] | None = None
) -> Allowed:
    """Return whether these records may be a class; ``secrets`` has a list for each secret.

    With ``people``, whose record each is, the limits are about different people.
    """
    names = [str(j) for j, _ in enumerate(secrets)]
    columns = [*secrets, *([] if people is None else [people])]
    rows = [dict(zip([*names, "person"], row, strict=False)) for row in zip(*columns, strict=True)]
    if not columns:
        return lambda group: len(group) >= limits.k
    return judge(rows, names, vars(limits), None if people is None else "person")


# Mondrian.


@dataclass(frozen=True)
class Along:
    """A hierarchy: of each record, and of each value, the nodes from the root to the value."""

    paths: Sequence[tuple[Any, ...]]
    leaves: Collection[tuple[Any, ...]]

    def lowest(self, group: Collection[int]) -> tuple[Any, ...]:
        """The path of the lowest node that is above all values of these records."""
        first = self.paths[next(iter(group))]
        paths = [self.paths[i] for i in group]
        return next(
            first[:d] for d in range(len(first), -1, -1) if all(p[:d] == first[:d] for p in paths)
        )

    def width(self, group: Collection[int]) -> int:
        """The share of all values that are below that node, of 2^30; of one value 0."""
        if len({self.paths[i] for i in group}) == 1:
            return 0
        node = self.lowest(group)
        below = sum(leaf[: len(node)] == node for leaf in self.leaves)
        return below * 2**30 // len(self.leaves)

    def cut(self, group: Sequence[int]) -> list[list[int]]:
        """The records by child of that node."""
        depth, sides = len(self.lowest(group)) + 1, dict[Any, list[int]]()
        for i in group:
            sides.setdefault(self.paths[i][:depth], []).append(i)
        return list(sides.values())


def along(column: Sequence[Any], lines: Sequence[Sequence[str]]) -> Along:
    """The hierarchy of a column; each line is a value and its nodes, the last of all the same."""
    paths: dict[Any, tuple[Any, ...]] = {line[0] or None: tuple(reversed(line)) for line in lines}
    leaves = list(paths.values())
    paths.setdefault(None, (lines[0][-1], None))
    return Along([paths[value(v)] for v in column], leaves)


Spots = Sequence[int] | Along


def cut(group: Sequence[int], spots: Spots) -> list[list[int]] | None:
    """The sides of the cut nearest to the median; of two as near, more are below."""
    if isinstance(spots, Along):
        return spots.cut(group) if spots.width(group) else None
    best = None
    for spot in sorted({spots[i] for i in group})[:-1]:
        below = sum(spots[i] <= spot for i in group)
        off = (abs(2 * below - len(group)), -below)
        if best is None or off < best[0]:
            best = off, spot
    if best is None:
        return None
    low = [i for i in group if spots[i] <= best[1]]
    return [low, [i for i in group if spots[i] > best[1]]]


def width(group: Sequence[int], spots: Spots) -> int:
    """The part of the scale that these records span."""
    if isinstance(spots, Along):
        return spots.width(group)
    return max(spots[i] for i in group) - min(spots[i] for i in group)


def widest_first(group: Sequence[int], spots: Sequence[Spots]) -> list[int]:
    """The attributes, the widest first, of equally wide ones the first."""
    widths = [width(group, s) for s in spots]
    return sorted(range(len(spots)), key=lambda a: (-widths[a], a))


def mondrian(group: Sequence[int], spots: Sequence[Spots], fits: Allowed) -> list[list[int]]:
    """The classes, as numbers of records; ``spots`` has the places of all for each attribute."""
    for attribute in widest_first(group, spots):
        sides = cut(group, spots[attribute])
        if sides is not None and all(map(fits, sides)):
            return [found for side in sides for found in mondrian(side, spots, fits)]
    return [list(group)]


# MDAV.


def squared(a: Tuple, b: Tuple) -> int:
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))


def mdav(
    group: Sequence[int],
    spots: Sequence[Sequence[int]],
    k: int,
    whose: Sequence[Any] | None = None,
) -> list[list[int]]:
    """The groups of one part, as numbers of records; ``whose`` they are, if people have several."""
    members: dict[Tuple, list[int]] = {}
    for i in group:
        members.setdefault(tuple(s[i] for s in spots), []).append(i)
    left = sorted(members)
    found: list[list[int]] = []

    def grid(t: Tuple) -> Tuple:
        return tuple(x // 1024 for x in t)

    def far(origin: Tuple) -> Tuple:
        return max(left, key=lambda t: (squared(grid(t), origin), t))

    def people(tuples: Sequence[Tuple]) -> int:
        return len({i if whose is None else whose[i] for t in tuples for i in members[t]})

    def take(around: Tuple) -> None:
        near = sorted(left, key=lambda t: (squared(grid(t), around), t))
        n = next(n for n in range(1, len(near) + 1) if people(near[:n]) >= k)
        n = n if people(near[n:]) >= k else len(near)
        found.append([i for t in near[:n] for i in members[t]])
        left[:] = sorted(near[n:])

    while left:
        size, records = people(left), sum(len(members[t]) for t in left)
        sums = (sum(grid(t)[a] * len(members[t]) for t in left) for a, _ in enumerate(spots))
        first = grid(far(tuple(s // records for s in sums)))
        second = grid(far(first))
        take(first)
        if size >= 3 * k and left:
            take(second)
    return found


# Cells.


def cell(values: Sequence[Any], kind: str) -> Any:
    """Return what the members of a class show: an interval or a set."""
    there = ordered(values)
    if kind == "set":
        return there
    known = [v for v in there if v is not None]
    ends = (known[0], known[-1]) if known else (None, None)
    return {"lower": ends[0], "upper": ends[1], "missing": None in there}


def stands_for(text: str, type_: Callable[[str], Any]) -> Callable[[Any], bool]:
    """Return what a written cell stands for: a test of values. ``type_`` reads a value."""
    if text == "*":
        return lambda _: True
    ranged = _ends(text, type_) if type_ not in (str, bool) else None
    if ranged is not None:
        low, high = ranged
        missing = text.endswith("?")
        return lambda v: missing if v is None else low <= v <= high
    if text.startswith("{") and text.endswith("}"):
        return partial(lambda found, v: v in found, [*_items(text[1:-1], type_)])
    return partial(lambda found, v: v == found, type_(text) if text else None)


def _ends(text: str, type_: Callable[[str], Any]) -> tuple[Any, Any] | None:
    """Return the ends of ``20-29``, ``-5 to -1``, ``1980s`` or ``Jan-Mar 2019``."""
    text = text.removesuffix("?")
    if type_ == date.fromisoformat and (days := _days(text)):
        return days
    is_date = type_ == date.fromisoformat  # 2019-01-01 is a day, and no range
    m = re.fullmatch(r"(.+?) to (.+)", text)
    m = m or (None if is_date else re.fullmatch(r"([0-9.e+]+(?:e-[0-9]+)?)-(.+)", text))
    return None if m is None else (type_(m[1]), type_(m[2]))


def _days(text: str) -> tuple[date, date] | None:
    """Return the first and the last day of a period."""
    names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    if m := re.fullmatch(r"(\d{4})(s|-\d{4})?", text):
        last = int(m[1]) + 9 if m[2] == "s" else int((m[2] or f"-{m[1]}")[1:])
        return date(int(m[1]), 1, 1), date(last, 12, 31)
    months = [(names.index(n) + 1, y) for n, y in re.findall(r"([A-Z][a-z]{2})(?: (\d{4}))?", text)]
    if not months:
        return None
    (first, year), (last, last_year) = months[0], months[-1]
    begin, end = date(int(year or last_year), first, 1), date(int(last_year), last, 28)
    while (end + timedelta(days=1)).month == last:
        end += timedelta(days=1)
    return begin, end


def _items(text: str, type_: Callable[[str], Any]) -> list[Any]:
    """The items of a set: an empty one without quotes is missing."""
    found: list[Any] = []
    fields = re.findall(r'(?:^|,)("(?:[^"]|"")*"|[^,"]*)', text, re.S)
    plain = next(csv.reader([text], strict=True)) if "\n" not in text and "\r" not in text else None
    assert plain is None or len(plain) == len(fields)
    for field in fields:
        if field.startswith('"'):
            found.append(type_(field[1:-1].replace('""', '"')))
        else:
            found.append(type_(field) if field else None)
    return found
