"""A slow, exact oracle for what releases still tell: one record after the other, in fractions.

Written from M2 to M14, M41 to M57 and M66. A block is a dictionary entry, a cell a list of
the values of the original that it contains.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Sequence
from datetime import date
from fractions import Fraction
from typing import Any

from qifsql.reference import microdata, success
from qifsql.reference import syntactic_levels as levels


def risk(
    keys: Sequence[Hashable], secrets: Sequence[Hashable], suppressed: Collection[Hashable] = ()
) -> dict[str, Any]:
    """Return the risks of a release, from the blocks' keys and secrets, record by record.

    Records with a ``suppressed`` key are in a block of everyone.
    """
    rows = [{"key": key, "secret": secret} for key, secret in zip(keys, secrets, strict=True)]
    hidden = [(microdata.value(key),) for key in suppressed if key in keys]
    results = {
        "crs": success.attack(rows, ["key"], suppressed=hidden),
        "cas": success.attack(rows, ["key"], "secret", suppressed=hidden),
    }
    kinds = ("deterministic", "probabilistic")
    columns = [f"{time}_{kind}" for time in ("prior", "posterior") for kind in kinds]
    crs = results["crs"]
    reported = [row for row in rows if microdata.value(row["secret"]) is not None]
    blocks = blocks_of(rows, suppressed)
    of_reported = blocks_of(reported, suppressed) if reported else []
    return {
        **{name: crs[name] for name in ("records", "blocks", "singled_out")},
        "average_class_size": crs["records"] / crs["blocks"],
        "k": min(map(levels.k, blocks)),
        "l": min(map(levels.l_distinct, [*blocks, *of_reported])),
        **{f"{model}_{name}": float(r[name]) for model, r in results.items() for name in columns},
    }


def blocks_of(rows: microdata.Rows, suppressed: Collection[Hashable]) -> list[microdata.Counts]:
    """Return the blocks, and that of everyone where a record is suppressed."""
    shown = [row for row in rows if row["key"] not in suppressed]
    everyone: list[tuple[microdata.Rows, list[str]]] = [(rows, [])]
    groups = everyone if len(shown) < len(rows) else []
    groups = [(shown, ["key"]), *groups] if shown else groups
    return [b for some, names in groups for b in microdata.counts(some, names, "secret").values()]


def number(value: Any) -> Fraction:
    """Return where a number or date stands."""
    return Fraction(value.toordinal() if isinstance(value, date) else value)


def penalty(
    contained: Sequence[Sequence[Any]], everything: Sequence[bool], values: set[Any], ordered: bool
) -> Fraction:
    """The mean share of the values that a cell contains, or of their range that it spans."""
    known = [number(v) for v in values if v is not None] if ordered else []
    total = Fraction(0)
    for inside, all_ in zip(contained, everything, strict=True):
        if all_ or not inside:
            total += 1
        elif ordered:
            own = [number(v) for v in inside if v is not None]
            if own and max(own) > min(own):
                total += (max(own) - min(own)) / (max(known) - min(known))
        elif len(inside) > 1:
            total += Fraction(len(inside), len(values))
    return total / len(contained)


def stretch(number: Any, records: int, values: Sequence[Any]) -> list[Any]:
    """The values in the shortest stretch around a number with so many records, or all of them."""
    known = sorted(v for v in values if v is not None)
    ends = [(a, b) for a in set(known) for b in set(known) if a <= number <= b]
    enough = [(b - a, a, b) for a, b in ends if sum(a <= v <= b for v in known) >= records]
    _, lower, upper = min(enough, default=(0, known[0], known[-1]))
    return [v for v in dict.fromkeys(known) if lower <= v <= upper]


def distances(
    original: Sequence[Any], contained: Sequence[Sequence[Any]]
) -> tuple[Fraction, float]:
    """Total variation and divergence (bits) of the original's values and the spread-out cells."""
    p = {v: Fraction(n, len(original)) for v, n in Counter(original).items()}
    q: dict[Any, Fraction] = defaultdict(Fraction)
    outside = Fraction(0)
    for inside in contained:
        for value in inside:
            q[value] += Fraction(1, len(inside) * len(contained))
        if not inside:
            outside += Fraction(1, len(contained))
    variation = (sum((abs(p[v] - q[v]) for v in p), Fraction(0)) + outside) / 2
    if any(not q[v] for v in p):
        return variation, math.inf
    return variation, sum(float(p[v]) * math.log2(p[v] / q[v]) for v in p)
