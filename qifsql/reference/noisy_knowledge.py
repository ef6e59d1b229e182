"""Knowledge with errors and gaps (M150 to M154, M157): all that may be known of everybody.

A law says what may be known instead of a value, from the value and the weights of all values.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

from qifsql.reference.microdata import Blocks, Key
from qifsql.reference.success import Success

Chances: TypeAlias = Mapping[Any, Fraction]
"""All that may be known, with probabilities that add up to 1."""
Law: TypeAlias = Callable[[Any, Chances], Chances]
UNKNOWN = object()  # nothing is known
MOST_DEVIATIONS = 6  # deviations beyond which an error is left out


def exact(v: Any, _: Chances) -> Chances:
    """Return the value itself."""
    return {v: Fraction(1)}


def within(width: int) -> Law:
    """Return the law of whole numbers at most ``width`` off (M151); missing is known as missing."""

    def law(v: Any, _: Chances) -> Chances:
        if v is None:
            return {None: Fraction(1)}
        return {v + j: Fraction(1, 2 * width + 1) for j in range(-width, width + 1)}

    return law


def normal(deviation: float) -> Law:
    """Return the law of a normal error, rounded to a whole number (M151); missing stays missing.

    Errors beyond ``MOST_DEVIATIONS`` deviations are left out, and the others scaled to add up to 1.
    """
    unit, far = deviation * math.sqrt(2), math.ceil(MOST_DEVIATIONS * deviation)
    tail = [Fraction(math.erfc((j - 0.5) / unit)) for j in range(1, far + 2)]  # |error| > j - 1/2
    # Twice the chance of an error of j, which is that of -j, too.
    parts = {j: tail[j - 1] - tail[j] for j in range(1, far + 1)} | {0: 2 * (1 - tail[0])}
    total = 2 * sum(parts.values()) - parts[0]

    def law(v: Any, _: Chances) -> Chances:
        if v is None:
            return {v: Fraction(1)}
        return {v + sign * j: p / total for j, p in parts.items() for sign in (1, -1) if p}

    return law


def right(p: Fraction) -> Law:
    """Return the law of mistakes (M152): with 1 - p another value, by their weights."""

    def law(v: Any, weights: Chances) -> Chances:
        others = sum(weights.values()) - weights[v]
        if not others:
            return {v: Fraction(1)}
        return {o: p if o == v else (1 - p) * w / others for o, w in weights.items()}

    return law


def missing(p: Fraction) -> Law:
    """Return the law of gaps (M152): nothing is known with probability p."""
    return lambda v, _: {UNKNOWN: p, v: 1 - p}


def table(lines: Mapping[tuple[Any, Any], Fraction]) -> Law:
    """Return the law of a table of value and label (M152); other values are known as they are."""

    def law(v: Any, _: Chances) -> Chances:
        labels = {label: p for (of, label), p in lines.items() if of == v}
        return labels or {v: Fraction(1)}

    return law


@dataclass
class Crowd:
    """The people who may be meant: the weight of all, that of each guess, how many are possible."""

    total: int = 0
    possible: int = 0
    guesses: dict[Any, int] = field(default_factory=dict)

    @property
    def best(self) -> int:
        """Return the weight of the best guess."""
        return max(self.guesses.values())


def _weights_of_values(people: Blocks, column: int) -> dict[Any, Fraction]:
    """Return the weight of the people with each value of a quasi-identifier, by its position."""
    weights: dict[Any, Fraction] = {}
    for true, values in people.items():
        mass = sum((cell.weight for cell in values.values()), Fraction())
        weights[true[column]] = weights.get(true[column], Fraction()) + mass
    return weights


@dataclass(frozen=True)
class Knowledge:
    """All that may be known of people alike, and the people who may be meant by it.

    ``laws`` has for each column what may be known of its values, in parts of ``scale``.
    """

    people: Blocks
    laws: Sequence[Mapping[Any, Mapping[Any, int]]]
    scale: int

    @classmethod
    def of(cls, people: Blocks, laws: Sequence[Law]) -> "Knowledge":
        """Return what may be known by these laws (M150), one for each quasi-identifier.

        Each law gets the weights of the people by value of its column. Its probabilities become
        whole numbers of parts, in the scale of the column.
        """
        parts, scales = [], []
        for column, law in enumerate(laws):
            weights = _weights_of_values(people, column)
            chances = {v: law(v, weights) for v in weights}  # by value: what is known, how likely
            scale = math.lcm(*(p.denominator for c in chances.values() for p in c.values()))
            parts.append(
                {v: {k: int(p * scale) for k, p in c.items() if p} for v, c in chances.items()}
            )
            scales.append(scale)
        return cls(people, parts, math.prod(scales))

    @property
    def pairs(self) -> int:
        """Return how many pairs there are of people alike and of what may be known of them."""
        fans = ((len(t[v]) for t, v in zip(self.laws, true, strict=True)) for true in self.people)
        return sum(map(math.prod, fans))

    def notions(self, true: Key) -> Iterable[tuple[Key, int]]:
        """Yield what may be known of people with these values, and its part of the whole (M150)."""
        columns = (t[v].items() for t, v in zip(self.laws, true, strict=True))
        for parts in product(*columns):
            yield tuple(k for k, _ in parts), math.prod(p for _, p in parts)

    def crowds(self, *, owner: bool) -> dict[Key, Crowd]:
        """Return the people who may be meant, by what the adversary may know (a notion).

        ``owner``: the secret is whose record it is. Of people alike only the heaviest is then a
        guess, as the others are never a better one; all of them count as possible.
        """
        crowds: dict[Key, Crowd] = {}
        for true, values in self.people.items():  # true: the quasi-identifiers as they are
            masses = {v: int(cell.weight) for v, cell in values.items()}  # by secret
            total, number = sum(masses.values()), len(masses)
            if owner:
                masses = dict([max(masses.items(), key=lambda item: item[1])])
            for notion, part in self.notions(true):
                crowd = crowds.setdefault(notion, Crowd())
                crowd.total += total * part
                for v, mass in masses.items():
                    crowd.guesses[v] = crowd.guesses.get(v, 0) + mass * part
                if owner:  # others of people alike are possible, too
                    crowd.possible += number
                else:
                    crowd.possible = len(crowd.guesses)
        return crowds

    def success(self, crowds: Iterable[Crowd]) -> Success:
        """Return the success (M153) and certainty (M154) over all that may be known."""
        cells = [cell for values in self.people.values() for cell in values.values()]
        weight = sum(int(cell.weight) for cell in cells) * self.scale
        seen = list(crowds)
        certain = Fraction(sum(crowd.total for crowd in seen if crowd.possible == 1), weight)
        return Success(
            certain,
            Fraction(sum(crowd.best for crowd in seen), weight),
            max(Fraction(crowd.best, crowd.total) for crowd in seen),
            int(certain * sum(cell.people for cell in cells)),
        )

    def expected(self, crowds: Mapping[Key, Crowd], true: Key) -> Fraction:
        """Return the expected success about a person with these values (M157)."""
        parts = ((crowds[notion], part) for notion, part in self.notions(true))
        sums = (part * Fraction(crowd.best, crowd.total) for crowd, part in parts)
        return sum(sums, Fraction()) / self.scale
