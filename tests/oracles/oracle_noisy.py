"""A slow, exact oracle of noisy knowledge, from M150 to M157, record by record.

Every record and everything that may be known of it is looked at; every probability is a fraction.
Nothing is shared with the package.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, erf, sqrt

Row = Mapping[str, object]
Known = tuple[object, ...]
UNKNOWN = ("nothing is known",)


def within(column: str, w: int) -> "Law":
    """One of the whole numbers at most w off, equally likely; a missing value is known."""

    def known(row: Row, _rows: Sequence[Row]) -> dict[object, Fraction]:
        x = row[column]
        if x is None:
            return {None: Fraction(1)}
        return {x + j: Fraction(1, 2 * w + 1) for j in range(-w, w + 1)}  # type: ignore[operator]

    return Law(column, known)


def sd(column: str, deviation: float) -> "Law":
    """A normal error, rounded to a whole number, at most 6 deviations off."""

    def known(row: Row, _rows: Sequence[Row]) -> dict[object, Fraction]:
        x = row[column]
        if x is None:
            return {None: Fraction(1)}
        most = ceil(6 * deviation)

        def below(at: float) -> Fraction:
            return Fraction((1 + erf(at / deviation / sqrt(2))) / 2)

        parts = {j: below(j + 0.5) - below(j - 0.5) for j in range(-most, most + 1)}
        whole = sum(parts.values())
        return {x + j: p / whole for j, p in parts.items() if p}  # type: ignore[operator]

    return Law(column, known)


def right(column: str, p: Fraction, weight: str | None = None) -> "Law":
    """The value with probability p, else another one by its frequency among the others."""

    def known(row: Row, rows: Sequence[Row]) -> dict[object, Fraction]:
        frequency: dict[object, Fraction] = {}
        for other in rows:
            more = Fraction(other[weight]) if weight else Fraction(1)  # type: ignore[arg-type]
            value = other[column]
            frequency[value] = frequency.get(value, Fraction(0)) + more
        x = row[column]
        others = sum(frequency.values()) - frequency[x]
        if not others:
            return {x: Fraction(1)}
        wrong = {v: (1 - p) * f / others for v, f in frequency.items() if v != x}
        return {x: p, **wrong}

    return Law(column, known)


def missing(column: str, p: Fraction) -> "Law":
    """Nothing with probability p, else the value."""

    def known(row: Row, _rows: Sequence[Row]) -> dict[object, Fraction]:
        return {UNKNOWN: p, row[column]: 1 - p}

    return Law(column, known)


def table(column: str, lines: Mapping[tuple[object, object], Fraction]) -> "Law":
    """By a table of value and label; a value that is not in it is known as itself."""

    def known(row: Row, _rows: Sequence[Row]) -> dict[object, Fraction]:
        x = row[column]
        labels = {label: p for (value, label), p in lines.items() if value == x}
        return labels or {x: Fraction(1)}

    return Law(column, known)


def exact(column: str) -> "Law":
    """The value itself."""
    return Law(column, lambda row, _rows: {row[column]: Fraction(1)})


@dataclass(frozen=True)
class Law:
    """The law of one column: the probabilities of what is known of a record."""

    column: str
    of: object

    def known(self, row: Row, rows: Sequence[Row]) -> dict[object, Fraction]:
        """Return what may be known of a record."""
        return {k: p for k, p in self.of(row, rows).items() if p}  # type: ignore[operator]


@dataclass(frozen=True)
class Found:
    """Success, what may be known, the largest chance, and the expected success of each record."""

    deterministic: Fraction
    probabilistic: Fraction
    worst: Fraction
    observations: int
    people: tuple[Fraction, ...]


def attack(
    rows: Sequence[Row], laws: Sequence[Law], secret: str | None = None, weight: str | None = None
) -> Found:
    """The success at a secret, or at re-identification, person by person."""
    weights = [Fraction(row[weight]) if weight else Fraction(1) for row in rows]  # type: ignore[arg-type]
    whole = sum(weights)
    joint: dict[Known, dict[int, Fraction]] = {}
    for i, row in enumerate(rows):
        for parts in product(*(law.known(row, rows).items() for law in laws)):
            chance = weights[i] / whole
            for _, p in parts:
                chance *= p
            joint.setdefault(tuple(k for k, _ in parts), {})[i] = chance
    success = certain = worst = Fraction(0)
    people = [Fraction(0)] * len(rows)
    for chances in joint.values():
        guesses: dict[object, Fraction] = {}
        for i, chance in chances.items():
            guess = i if secret is None else rows[i][secret]
            guesses[guess] = guesses.get(guess, Fraction(0)) + chance
        best, total = max(guesses.values()), sum(guesses.values())
        success += best
        certain += total if len(guesses) == 1 else 0
        worst = max(worst, best / total)
        for i, chance in chances.items():
            people[i] += chance / (weights[i] / whole) * best / total
    return Found(certain, success, worst, len(joint), tuple(people))
