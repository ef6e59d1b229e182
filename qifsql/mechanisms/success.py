"""Posterior Bayes vulnerability of what a noisy count says about the record that is added.

A *kind* are guesses that look alike: how many people each of them is right about, at each place of
the useful attribute. Guesses of the secret are its values, guesses of the real count are that the
predicate holds for the added record, or not (thesis Eqs. 6.4 and 6.6).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from qifsql.mechanisms.sums import EPS, Window

Number = TypeVar("Number", int, float)
Line = tuple[Number, Number]
Kind = Sequence[tuple[int, int]]  # places, and the people there


@dataclass(frozen=True)
class Success:
    """A probability; ``error`` bounds how far it may be off, 0 for a fraction."""

    value: Fraction | float
    error: float = 0.0


def exactly(
    kinds: Iterable[Kind], chances: Sequence[Fraction], others: Sequence[int], people: int
) -> Success:
    """V = 1/N Σ_u' max_k Σ_w n_kw ((1 - t_w) b(u') + t_w b(u' - 1)), in fractions.

    ``chances`` are t_w; ``others`` is the distribution b of the noisy count of the others, as
    whole numbers over their sum; ``people`` is N.
    """
    common = math.lcm(*(t.denominator for t in chances))
    yes = [t.numerator * (common // t.denominator) for t in chances]
    lines = {
        (sum(n * (common - yes[w]) for w, n in kind), sum(n * yes[w] for w, n in kind))
        for kind in kinds
    }
    best = upper(lines)
    counts = zip([*others, 0], [0, *others], strict=True)
    total = sum(max(a * now + b * less for a, b in best) for now, less in counts)
    return Success(Fraction(total, common * sum(others) * people))


def nearly(
    kinds: Sequence[Kind], chances: Sequence[tuple[float, float]], others: Window, people: int
) -> Success:
    """The same in floating numbers: the prior, and what each count adds to it.

    ``chances`` are t_w and 1 - t_w. Of the errors of b each can count twice in what is added, in
    the best guess and in the one without the count.
    """
    lines = [
        (
            math.fsum(n * chances[w][1] for w, n in kind),
            math.fsum(n * chances[w][0] for w, n in kind),
        )
        for kind in kinds
    ]
    sizes = [sum(n for _, n in kind) for kind in kinds]
    first = max(range(len(sizes)), key=sizes.__getitem__)
    a0, b0 = lines[first]
    best = upper(lines)
    counts = zip([*others.chances, 0.0], [0.0, *others.chances], strict=True)
    added = math.fsum(
        max(0.0, *(a * now + b * less - (a0 * now + b0 * less) for a, b in best))
        for now, less in counts
    )
    value = min(1.0, (sizes[first] + added) / people)
    return Success(value, min(1.0, 4 * others.error + 16 * EPS))


def upper(lines: Iterable[Line[Number]]) -> list[Line[Number]]:
    """The lines (a, b) that can be the largest a x + b y for some x, y >= 0: their hull."""
    found: list[Line[Number]] = []
    for a, b in sorted(set(lines), reverse=True):
        if found and b <= found[-1][1]:
            continue  # nowhere above the one before
        while len(found) > 1 and _below(found[-2], found[-1], (a, b)):
            found.pop()
        found.append((a, b))
    return found


def _below(left: Line[Number], middle: Line[Number], right: Line[Number]) -> bool:
    """Whether a line is nowhere above both of its neighbours."""
    rise = (middle[1] - left[1]) * (left[0] - right[0])
    return rise <= (right[1] - left[1]) * (left[0] - middle[0])
