"""Minimal sample uniques and SUDA scores, subset by subset from the definitions.

Records are dictionaries; a missing value (None or NaN) is one value. Everything is a set or a
fraction, but for DIS-SUDA, which has a power with a broken exponent.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import factorial
from typing import Any

from qifsql.reference.microdata import value

Record = Mapping[str, Any]


def minimal_uniques(
    records: Sequence[Record], qids: Sequence[str], most: int, *, omit_missing: bool = False
) -> list[set[frozenset[str]]]:
    """For every record all subsets that single it out, of which no smaller part does."""
    rows = [{q: value(record[q]) for q in qids} for record in records]
    subsets = [frozenset(s) for m in range(1, len(qids) + 1) for s in combinations(qids, m)]
    unique: list[set[frozenset[str]]] = [set() for _ in rows]
    for subset in subsets:
        seen = [tuple((q, row[q]) for q in sorted(subset)) for row in rows]
        times = Counter(seen)
        for place, key in enumerate(seen):
            whole = not omit_missing or all(rows[place][q] != value(None) for q in subset)
            if times[key] == 1 and whole:
                unique[place].add(subset)
    return [{s for s in mine if len(s) <= most and not any(t < s for t in mine)} for mine in unique]


def score(msus: set[frozenset[str]], n: int, most: int) -> Fraction:
    """The number of paths: (n - m)! for each of m attributes, over those that are not walked."""
    rest = factorial(n - most - 1) if most < n - 1 else 1
    return sum((Fraction(factorial(n - len(s)), rest) for s in msus), Fraction(0))


def intrusion(records: Sequence[Record], qids: Sequence[str], f: Fraction) -> Fraction | None:
    """U f / (U f + P (1 - f)); P are records in blocks of two."""
    sizes = Counter(Counter(tuple(value(r[q]) for q in qids) for r in records).values())
    u, p = sizes[1], 2 * sizes[2]
    below = u * f + p * (1 - f)
    return u * f / below if below else None


def dis_suda(
    scores: Sequence[Fraction], records: Sequence[Record], qids: Sequence[str], f: Fraction
) -> list[float]:
    """1 / (1 + (U / DIS - U) / (score^Q sum score^-Q)) for each record, 0 without a score."""
    n = len(qids)
    q = 1 + (8 - n) / 20
    total = sum(float(s) ** -q for s in scores if s)
    sizes = Counter(Counter(tuple(value(r[a]) for a in qids) for r in records).values())
    dis = intrusion(records, qids, f)
    if not dis:
        return [0.0] * len(scores)
    gap = float(sizes[1] / dis - sizes[1])
    return [1 / (1 + gap / (float(s) ** q * total)) if s else 0.0 for s in scores]


def contributions(
    msus: Sequence[set[frozenset[str]]], qids: Sequence[str], most: int
) -> dict[str, Fraction | None]:
    """The share of all scores in minimal uniques that hold each attribute."""
    n = len(qids)
    total = sum((score(mine, n, most) for mine in msus), Fraction(0))
    return {
        q: sum((score({s for s in mine if q in s}, n, most) for mine in msus), Fraction(0)) / total
        if total
        else None
        for q in qids
    }
