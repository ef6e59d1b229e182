"""Claims of an adversary who names only people of whom she is sure."""

import math
from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction

from qifsql.reference.microdata import Key, Names, Rows, Weight, Weights, blocks, key, masses, value
from qifsql.reference.success import best_guess, kind


@dataclass(frozen=True)
class Claims:
    """The people who are named, and the weight of all, of these, and of those who are guessed.

    ``right`` with the release, ``before`` without it.
    """

    people: int
    everybody: Fraction
    weight: Fraction
    right: Fraction
    before: Fraction

    @property
    def coverage(self) -> Fraction:
        """Return the share of all weight that is named."""
        return self.weight / self.everybody

    @property
    def precision(self) -> Fraction | None:
        """Return the share of right claims; None without claims."""
        return self.right / self.weight if self.people else None

    @property
    def precision_before(self) -> Fraction | None:
        """Return the share of right claims about the same people without the release."""
        return self.before / self.weight if self.people else None

    @property
    def loss(self) -> float:
        """Return the anonymity loss coefficient: 0 if nothing can be lost."""
        if self.precision is None or self.precision_before is None:
            return 0.0
        after, before = (
            coefficient(p, self.coverage) for p in (self.precision, self.precision_before)
        )
        return (after - before) / (1 - before) if before < 1 else 0.0


def claims(
    rows: Rows,
    qids: Names,
    secret: str | None,
    threshold: Weight,
    *,
    weights: Weights = None,
    suppressed: Collection[Key] = (),
) -> Claims:
    """Return the claims about everybody whose best guess is right with at least this chance (M217).

    Without the release the best guess about everybody is the likeliest value, of several the first
    in order; for re-identification it is right with the chance of the likeliest record. Records
    with ``suppressed`` keys may be anybody's, as in ``success.kinds_of``.
    """
    seen = blocks(rows, qids, secret, weights)
    (everybody,) = blocks(rows, [], secret, weights).values()
    usual, chance_before = best_guess(everybody), kind(everybody).chance
    people, total, weight, right, before = 0, Fraction(), Fraction(), Fraction(), Fraction()
    for i, (row, mass) in enumerate(zip(rows, masses(rows, weights), strict=True)):
        total += mass
        of_person = key(row, qids)
        if not mass:
            continue
        chance = chance_before if of_person in suppressed else kind(seen[of_person]).chance
        if chance < Fraction(threshold):
            continue
        hers = i if secret is None else value(row[secret])
        people, weight = people + 1, weight + mass
        right += mass * (hers == best_guess(seen[of_person]))
        before += mass * (chance_before if secret is None else int(hers == usual))
    return Claims(people, total, weight, right, before)


def coefficient(precision: Fraction, recall: Fraction) -> float:
    """Return the precision-recall coefficient of Francis and Wagner 2025 (M219)."""
    if recall <= Fraction(1, 10**4):
        return float(recall)
    return float(precision) * (1 - (math.log(recall) / math.log(1e-4)) ** 3)
