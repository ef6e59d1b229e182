"""The smallest change that keeps the bounds: a search through a lattice of changes.

Each quasi-identifier has a ladder of ever coarser forms; the last one usually drops it. A change is
a rung of each ladder. The smallest change has the fewest changed quasi-identifiers; among these,
the fewest rungs climbed in all; then the most blocks left; then the first quasi-identifiers in the
list. Every smaller change is measured, or is known to break a bound: if values are merged, success
never rises, and k and l never fall, so a finer release breaks each bound that a coarser one breaks.
The search uses this only if the rungs of a ladder are nested (each merges values of the last).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

from qifsql.counting.risks import Risk
from qifsql.engine.progress import silent
from qifsql.errors import InputError

MOST = 100_000  # changes that may have to be measured

Rungs = tuple[int, ...]  # the rung of each quasi-identifier's ladder; 0: not changed


@dataclass
class Search:
    """A search: the ``heights`` of the ladders, the measure of a change, and the bounds.

    ``nested``: each ladder is nested or not. ``monotone``: a finer release breaks all bounds that a
    coarser one breaks. ``tried`` counts the measured changes, ``risks`` are their risks.
    """

    heights: Sequence[int]
    nested: Sequence[bool]
    monotone: bool
    measure: Callable[[Rungs], list[Risk]]
    met: Callable[[list[Risk]], bool]
    show: Callable[[float, int], None] = silent
    tried: int = 0
    risks: dict[Rungs, list[Risk]] = field(default_factory=dict)

    def find(self) -> Rungs | None:
        """Return the rungs of the smallest change that keeps all bounds; None without one.

        A rung is how far a quasi-identifier is coarsened, 0 for not at all. Raises InputError if
        there are too many changes.
        """
        total = math.prod(height + 1 for height in self.heights)
        if total > MOST:
            raise InputError(
                f"there are {total:,} changes to look at, more than {MOST:,}; name fewer "
                "quasi-identifiers, or with --change which of them may change, and how"
            )
        movable = [i for i, height in enumerate(self.heights) if height]
        # The coarsest change has the least risk: if it breaks a bound, all do.
        if self.monotone and all(self.nested) and not self._keeps(tuple(self.heights)):
            return None
        before = (0,) * len(self.heights)
        if self._keeps(before):
            return before
        smallest = (self._of_size(movable, size) for size in range(1, len(movable) + 1))
        return next(filter(None, smallest), None)

    def _of_size(self, movable: Sequence[int], size: int) -> Rungs | None:
        """Return the smallest change of ``size`` ``movable`` columns that keeps the bounds."""
        candidates: dict[int, list[Rungs]] = {}  # by the number of rungs that are climbed
        for chosen in filter(self._can_keep, combinations(movable, size)):
            heights = (range(self._lowest_rung(chosen, i), self.heights[i] + 1) for i in chosen)
            for climbed in product(*heights):
                candidates.setdefault(sum(climbed), []).append(self._rungs(chosen, climbed))
        for steps in sorted(candidates):
            met = [r for r in candidates[steps] if not self._must_break(r) and self._keeps(r)]
            if met:
                return max(met, key=lambda rungs: self.risks[rungs][0].partition["blocks"])
        return None

    def _can_keep(self, chosen: Sequence[int]) -> bool:
        """Return whether changing only these quasi-identifiers can keep the bounds.

        If their last rungs do not keep them, no other rungs do.
        """
        if not (self.monotone and all(self.nested[i] for i in chosen)):
            return True
        return self._keeps(self._rungs(chosen, [self.heights[i] for i in chosen]))

    def _lowest_rung(self, chosen: Sequence[int], which: int) -> int:
        """Return the lowest rung of ladder ``which`` that can keep the bounds.

        The other ``chosen`` ladders, numbers of quasi-identifiers, are at their last rungs.
        """
        if not (self.monotone and all(self.nested[i] for i in chosen)):
            return 1  # a coarser change may have more risk, so that no rung is excluded
        for rung in range(1, self.heights[which]):
            climbed = [rung if i == which else self.heights[i] for i in chosen]
            if self._keeps(self._rungs(chosen, climbed)):
                return rung
        return self.heights[which]

    def _must_break(self, rungs: Rungs) -> bool:
        """Return whether a change must break a bound, because a coarser one is known to."""
        if not (self.monotone and all(self.nested)):
            return False  # a coarser change may have more risk, so that it tells nothing
        return any(
            all(a <= b for a, b in zip(rungs, change, strict=True)) and not self.met(outcomes)
            for change, outcomes in self.risks.items()
        )

    def _rungs(self, chosen: Sequence[int], climbed: Sequence[int]) -> Rungs:
        rung_of = dict(zip(chosen, climbed, strict=True))
        return tuple(rung_of.get(i, 0) for i in range(len(self.heights)))

    def _keeps(self, rungs: Rungs) -> bool:
        if rungs not in self.risks:
            self.risks[rungs] = self.measure(rungs)
            self.tried += 1
            self.show(0.0, self.tried)
        return self.met(self.risks[rungs])
