"""The smallest change that keeps the bounds: a walk through a lattice of changes.

Each quasi-identifier has a ladder of ever coarser forms, the last usually without it. A change is a
rung of each ladder. Its cost, in this order: how many quasi-identifiers are changed; how many rungs
are climbed in all; how few blocks are left; and the place of the quasi-identifiers in the list.
Every change that costs less is looked at, or is known to break a bound: success never rises, and k
and l never fall, where values are merged, so that what a coarser release breaks a finer one breaks,
too. That is used only where the rungs of a ladder are nested (each merges values of the last).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

from qifsql.counting.risks import Risk
from qifsql.engine.settings import silent
from qifsql.errors import InputError

MOST = 100_000  # changes that may have to be looked at

Rungs = tuple[int, ...]  # of each quasi-identifier the rung of its ladder; 0: as it is


@dataclass
class Search:
    """A search: ``heights`` of the ladders, how a change is measured, and the bounds it must keep.

    ``nested``: whether ladders are, each; ``monotone``: whether bounds are. ``tried`` counts the
    changes that were measured, ``risks`` are theirs.
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
        """Return the rungs of the smallest change that keeps all bounds; None if none does.

        Raises InputError where there are too many changes.
        """
        total = math.prod(height + 1 for height in self.heights)
        if total > MOST:
            raise InputError(
                f"there are {total:,} changes to look at, more than {MOST:,}; name fewer "
                "quasi-identifiers, or with --change which of them may change, and how"
            )
        movable = [i for i, height in enumerate(self.heights) if height]
        if self.monotone and all(self.nested) and not self._keeps(tuple(self.heights)):
            return None
        before = (0,) * len(self.heights)
        if self._keeps(before):
            return before
        smallest = (self._of_size(movable, size) for size in range(1, len(movable) + 1))
        return next(filter(None, smallest), None)

    def _of_size(self, movable: Sequence[int], size: int) -> Rungs | None:
        """Return the smallest change of that many quasi-identifiers."""
        hopeful = [c for c in combinations(movable, size) if self._hopeful(c)]
        by_steps: dict[int, list[Rungs]] = {}
        for chosen in hopeful:
            least = [self._least(chosen, i) for i in chosen]
            ways = (range(n, self.heights[i] + 1) for n, i in zip(least, chosen, strict=True))
            for climbed in product(*ways):
                by_steps.setdefault(sum(climbed), []).append(self._rungs(chosen, climbed))
        for steps in sorted(by_steps):
            met = [r for r in by_steps[steps] if not self._doomed(r) and self._keeps(r)]
            if met:
                return max(met, key=lambda rungs: self.risks[rungs][0].partition["blocks"])
        return None

    def _hopeful(self, chosen: Sequence[int]) -> bool:
        """Return whether changing just these may do.

        Where their last rungs do not, nothing does.
        """
        if not (self.monotone and all(self.nested[i] for i in chosen)):
            return True
        return self._keeps(self._rungs(chosen, [self.heights[i] for i in chosen]))

    def _least(self, chosen: Sequence[int], which: int) -> int:
        """Return the least rung of one ladder that may do, the others being at their last."""
        if not (self.monotone and all(self.nested[i] for i in chosen)):
            return 1
        for rung in range(1, self.heights[which]):
            climbed = [rung if i == which else self.heights[i] for i in chosen]
            if self._keeps(self._rungs(chosen, climbed)):
                return rung
        return self.heights[which]

    def _doomed(self, rungs: Rungs) -> bool:
        """Return whether a coarser change is known to break a bound."""
        if not (self.monotone and all(self.nested)):
            return False
        return any(
            all(a <= b for a, b in zip(rungs, change, strict=True)) and not self.met(outcomes)
            for change, outcomes in self.risks.items()
        )

    def _rungs(self, chosen: Sequence[int], climbed: Sequence[int]) -> Rungs:
        at = dict(zip(chosen, climbed, strict=True))
        return tuple(at.get(i, 0) for i in range(len(self.heights)))

    def _keeps(self, rungs: Rungs) -> bool:
        if rungs not in self.risks:
            self.risks[rungs] = self.measure(rungs)
            self.tried += 1
            self.show(0.0, self.tried)
        return self.met(self.risks[rungs])
