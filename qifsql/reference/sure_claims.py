"""Claims of an adversary who names only people of whom she is sure."""

import math
from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction

from qifsql.reference.microdata import Blocks, Key, Names, Rows, Weight, Weights, blocks
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
    """Return the claims about records in blocks by some columns; see ``claims_of_blocks``."""
    before, after = (blocks(rows, names, secret, weights) for names in ([], qids))
    return claims_of_blocks(
        before, after, Fraction(threshold), owner=secret is None, suppressed=suppressed
    )


def claims_of_blocks(
    before: Blocks,
    after: Blocks,
    threshold: Fraction,
    *,
    owner: bool,
    suppressed: Collection[Key] = (),
) -> Claims:
    """Return the claims about everybody whose best guess is right with at least this chance (M217).

    ``before`` is one block, of everybody. Without the release the best guess about all is the
    likeliest value, of several the first in order; for re-identification (``owner``) any record is
    right with the chance of the likeliest one. People of ``suppressed`` blocks may be anybody, as
    in ``success.kinds_of``.
    """
    (everybody,) = before.values()
    of_all, usual = kind(everybody), best_guess(everybody)
    people, weight, right, usually_right = 0, Fraction(), Fraction(), Fraction()
    for name, values in after.items():
        block = kind(values)
        chance = of_all.chance if name in suppressed else block.chance
        if chance >= threshold:
            people, weight, right = people + block.people, weight + block.weight, right + block.best
            with_usual = values[usual].weight if usual in values else Fraction()
            usually_right += block.weight * of_all.chance if owner else with_usual
    return Claims(people, of_all.weight, weight, right, usually_right)


def coefficient(precision: Fraction, recall: Fraction) -> float:
    """Return the precision-recall coefficient of Francis and Wagner 2025 (M219)."""
    if recall <= Fraction(1, 10**4):
        return float(recall)
    return float(precision) * (1 - (math.log(recall) / math.log(1e-4)) ** 3)
