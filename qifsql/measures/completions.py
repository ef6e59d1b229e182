"""Bounds of an attack over all completions of missing quasi-identifiers.

A completion replaces each missing value by any value, also one that does not occur. The counts
(``qifsql.counting.match_any_counts``) say which incomplete patterns may join which complete
blocks. Bounds hold for every completion; they are sharp if a completion attains them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from itertools import pairwise

Number = int | Fraction


@dataclass(frozen=True)
class Bound:
    """The least and the greatest value over all completions, and whether they are attained."""

    low: Number
    high: Number
    _: KW_ONLY
    low_sharp: bool
    high_sharp: bool

    def attained(self, value: Number) -> "Bound":
        """Return the bound if one completion has this value: an end that equals it is sharp."""
        return replace(
            self,
            low_sharp=self.low_sharp or self.low == value,
            high_sharp=self.high_sharp or self.high == value,
        )

    def over(self, number: Number) -> "Bound":
        """Return the bound of the ratio to a positive number."""
        return replace(self, low=Fraction(self.low) / number, high=Fraction(self.high) / number)

    def less(self, bound: "Bound", *, least: Number) -> "Bound":
        """Return outer bounds of the difference to a number in ``bound``, at least ``least``."""
        low = max(self.low - bound.high, least)
        high = max(self.high - bound.low, least)
        return Bound(low, high, low_sharp=False, high_sharp=False)

    def per(self, bound: "Bound", *, least: Number) -> "Bound":
        """Return outer bounds of the ratio to a number above 0 in ``bound``, at least ``least``."""
        low = max(Fraction(self.low) / bound.high, least)
        high = max(Fraction(self.high) / bound.low, least)
        return Bound(low, high, low_sharp=False, high_sharp=False)

    def minus(self, number: Number) -> "Bound":
        """Return the bound of the difference to a number."""
        return replace(self, low=self.low - number, high=self.high - number)


@dataclass(frozen=True, kw_only=True)
class SecretEnds:
    """The greatest numbers, and the fewest secrets, if a missing secret may be any value.

    ``modes``, ``certain`` and ``fewest`` are of the complete patterns: the people who can be
    guessed right, those whose secret can be certain, the secrets of one (None without any).
    ``unreported`` people miss the secret, ``commonest`` have the most frequent of the
    ``reported_values``.
    """

    modes: int
    certain: int
    fewest: int | None
    unreported: int
    commonest: int
    reported_values: int


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Counts of patterns, the combinations of values that are present.

    ``people`` are all, ``incomplete`` those who miss a value. ``blocks``, ``uniques``, ``modes``
    and ``certain`` are of the complete patterns: their number, those of one person, their people
    with the most frequent secret, their people in patterns of one secret. A pattern has mates if
    another incomplete one agrees with it in all values that both have. The fields that begin with
    ``lonely`` are about patterns without mates, for which the numbers are exact. ``masks`` has for
    each set of columns: blocks that cannot be joined, people that cannot be hidden, and leaves,
    patterns that no other extends. With ``ends``, a missing secret may be anything, too: everybody
    who misses it then has a secret of her own in all other fields.
    """

    people: int
    incomplete: int
    blocks: int
    uniques: int
    modes: int
    certain: int
    with_mates: int
    lonely_blocks: int
    lonely_uniques: int
    lonely_excess: int
    lonely_hidden: int
    lonely_broken: int
    lonely_size: int | None
    lonely_values: int | None
    level: int | None
    hidden: int
    broken: int
    stuck: int
    reachable_uniques: int
    reachable_people: int
    least_size: int | None
    least_values: int | None
    most_frequent: int
    secrets: int
    masks: Mapping[int, Sequence[int]]
    ends: SecretEnds | None = None

    @property
    def exact(self) -> bool:
        """Return whether no two incomplete patterns may be in one block."""
        return not self.with_mates

    @property
    def new_blocks(self) -> int:
        """Return a lower bound of the blocks besides those of complete patterns."""
        leaves = {mask: leaves for mask, (_, _, leaves) in self.masks.items() if leaves}
        if _is_chain(list(leaves)):  # of sets of columns: the number is exact then (M182)
            return self.lonely_blocks + sum(leaves.values())
        # With mates and no complete block that they could join, at least one block is new. Patterns
        # of one mask that cannot be joined are in different blocks; those of two masks may not be.
        least = 0 if self.blocks or not self.with_mates else 1
        return self.lonely_blocks + max([least, *(apart for apart, _, _ in self.masks.values())])

    def block_count(self) -> Bound:
        """Bound the number of blocks (M182)."""
        sharp = _is_chain([mask for mask, (_, _, n) in self.masks.items() if n])
        low, high = self.blocks + self.new_blocks, self.blocks + self.incomplete
        return Bound(low, high, low_sharp=sharp, high_sharp=True)

    def singled_out(self) -> Bound:
        """Bound the number of people who are alone in their block (M183)."""
        hidden = self.lonely_hidden + min(self.hidden, self.reachable_uniques)
        low, high = self.uniques - hidden + self.lonely_uniques, self.uniques + self.incomplete
        return Bound(low, high, low_sharp=self.exact, high_sharp=True)

    def right_guesses(self) -> Bound:
        """Bound the number of people whose secret is guessed right (M184)."""
        excess = self.lonely_excess + max([0, *(people for _, people, _ in self.masks.values())])
        modes = self.ends.modes if self.ends else self.modes
        low, high = max(self.modes + excess, self.most_frequent), modes + self.incomplete
        return Bound(low, high, low_sharp=self.exact, high_sharp=True)

    def certain_people(self) -> Bound:
        """Bound the people whose secret is certain (M185)."""
        broken = self.lonely_broken + min(self.broken, self.reachable_people)
        certain = self.ends.certain if self.ends else self.certain
        low, high = self.certain - broken + self.stuck, certain + self.incomplete
        return Bound(low, high, low_sharp=self.exact, high_sharp=True)

    def smallest_block(self) -> Bound:
        """Bound k, the people of the smallest block (M186)."""
        if not self.incomplete:
            k = self.least_size or self.people
            return Bound(k, k, low_sharp=True, high_sharp=True)
        mean = self.people // max(1, self.blocks + self.new_blocks)
        # The least sizes that are counted (None: there is no such block), and the mean size, which
        # the smallest block cannot exceed.
        limits = (self.least_size, self.lonely_size, self.level, mean)
        high = min(n for n in limits if n is not None)
        return Bound(1, high, low_sharp=True, high_sharp=self.exact)

    def fewest_secrets(self) -> Bound:
        """Bound l, the fewest different secrets of a block (M187)."""
        limits = [n for n in (self.least_values, self.lonely_values) if n is not None]
        high = min([self.secrets, *limits])
        if self.incomplete:
            return Bound(1, high, low_sharp=True, high_sharp=False)
        fewest = self.ends.fewest if self.ends else None  # missing secrets may repeat reported ones
        return Bound(fewest or high, high, low_sharp=True, high_sharp=True)

    def guesses_before(self) -> Bound | None:
        """Bound the people guessed right before the release; None if nobody misses the secret."""
        if self.ends is None or not self.ends.unreported:
            return None
        high = self.ends.commonest + self.ends.unreported
        return Bound(self.most_frequent, high, low_sharp=True, high_sharp=True)

    def certain_before(self) -> Bound:
        """Bound the people whose secret is certain before the release, if somebody misses it."""
        low = 1 if self.people == 1 else 0
        high = self.people if self.ends and self.ends.reported_values <= 1 else 0  # all alike
        return Bound(low, high, low_sharp=True, high_sharp=True)


def _is_chain(masks: Sequence[int]) -> bool:
    """Return whether of any two sets of columns one contains the other."""
    ordered = sorted(masks, key=int.bit_count)
    return all(a & b == a for a, b in pairwise(ordered))
