"""The smallest change that keeps the bounds: a search through a lattice of changes.

Each quasi-identifier has steps, ever coarser forms of its values; step 0 is no change, and the last
step usually drops it. A node is a step of each. The smallest change has the fewest changed
quasi-identifiers; among these, the fewest steps in all; then the most blocks left; then the first
quasi-identifiers in the list. Every smaller change is measured, or is known to break a bound: if
values are merged, success never rises, and k and l never fall, so a finer release breaks each bound
that a coarser one breaks. The search uses this only if the steps of a quasi-identifier are nested
(each merges values of the last).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

from qifsql.counting.risks import Risk
from qifsql.engine.progress import silent
from qifsql.errors import InputError

MOST = 100_000  # changes that may have to be measured

Node = tuple[int, ...]  # the step of each quasi-identifier


@dataclass
class Search:
    """A search: the last step of each quasi-identifier, the measure of a node, and the bounds.

    ``nested``: whether the steps of a quasi-identifier are. ``monotone``: a finer release breaks
    all bounds that a coarser one breaks. ``risks`` are those of the nodes that were measured.
    """

    heights: Sequence[int]
    nested: Sequence[bool]
    monotone: bool
    measure: Callable[[Node], list[Risk]]
    met: Callable[[list[Risk]], bool]
    show: Callable[[float, int], None] = silent
    risks: dict[Node, list[Risk]] = field(default_factory=dict)

    def find(self) -> Node | None:
        """Return the node of the smallest change that keeps all bounds; None without one."""
        total = math.prod(height + 1 for height in self.heights)
        if total > MOST:
            raise InputError(
                f"there are {total:,} changes to look at, more than {MOST:,}; name fewer "
                "quasi-identifiers, or with --change which of them may change, and how"
            )
        # The coarsest change has the least risk: if it breaks a bound, all do.
        if self.monotone and all(self.nested) and not self._keeps(tuple(self.heights)):
            return None
        before = (0,) * len(self.heights)
        if self._keeps(before):
            return before
        changeable = [i for i, height in enumerate(self.heights) if height]
        for size in range(1, len(changeable) + 1):
            if smallest := self._find_of_size(changeable, size):
                return smallest
        return None

    def _find_of_size(self, changeable: Sequence[int], size: int) -> Node | None:
        """Return the smallest change of ``size`` quasi-identifiers that keeps the bounds."""
        candidates: dict[int, list[Node]] = {}  # by the sum of their steps
        for chosen in filter(self._can_keep, combinations(changeable, size)):
            ranges = (range(self._lowest_step(chosen, i), self.heights[i] + 1) for i in chosen)
            for steps in product(*ranges):
                candidates.setdefault(sum(steps), []).append(self._node(chosen, steps))
        for _, nodes in sorted(candidates.items()):  # the fewest steps first
            met = [node for node in nodes if not self._must_break(node) and self._keeps(node)]
            if met:
                return max(met, key=lambda node: self.risks[node][0].partition["blocks"])
        return None

    def _can_keep(self, chosen: Sequence[int]) -> bool:
        """Return whether changing only these quasi-identifiers can keep the bounds."""
        if not (self.monotone and all(self.nested[i] for i in chosen)):
            return True
        # If their last steps do not keep them, no other steps do.
        return self._keeps(self._node(chosen, [self.heights[i] for i in chosen]))

    def _lowest_step(self, chosen: Sequence[int], which: int) -> int:
        """Return the lowest step of quasi-identifier ``which`` that can keep the bounds.

        It is tried with the other ``chosen`` ones at their last steps, which is the best case.
        """
        if not (self.monotone and all(self.nested[i] for i in chosen)):
            return 1  # a coarser change may have more risk, so that no step is excluded
        for step in range(1, self.heights[which]):
            steps = [step if i == which else self.heights[i] for i in chosen]
            if self._keeps(self._node(chosen, steps)):
                return step
        return self.heights[which]

    def _must_break(self, node: Node) -> bool:
        """Return whether a change must break a bound, because a coarser one is known to."""
        if not (self.monotone and all(self.nested)):
            return False  # a coarser change may have more risk, so that it tells nothing
        return any(
            all(a <= b for a, b in zip(node, coarser, strict=True)) and not self.met(risks)
            for coarser, risks in self.risks.items()
        )

    def _node(self, chosen: Sequence[int], steps: Sequence[int]) -> Node:
        """Return the node with these steps of the chosen quasi-identifiers, and no other change."""
        step_of = dict(zip(chosen, steps, strict=True))
        return tuple(step_of.get(i, 0) for i in range(len(self.heights)))

    def _keeps(self, node: Node) -> bool:
        """Return whether a node keeps the bounds; measure it if it was not measured before."""
        if node not in self.risks:
            self.risks[node] = self.measure(node)
            self.show(0.0, len(self.risks))
        return self.met(self.risks[node])
