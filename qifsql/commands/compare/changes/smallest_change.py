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
from collections.abc import Callable, Mapping, Sequence
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
        if not self._can_keep(range(len(self.heights))):
            return None
        before = self._node({})
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
                node = self._node(dict(zip(chosen, steps, strict=True)))
                candidates.setdefault(sum(steps), []).append(node)
        for _, nodes in sorted(candidates.items()):  # the fewest steps first
            met = [node for node in nodes if not self._must_break(node) and self._keeps(node)]
            if met:
                return max(met, key=lambda node: self.risks[node][0].partition["blocks"])
        return None

    def _risk_falls(self, chosen: Sequence[int]) -> bool:
        """Return whether coarser steps of the chosen quasi-identifiers never have more risk."""
        return self.monotone and all(self.nested[i] for i in chosen)

    def _can_keep(self, chosen: Sequence[int]) -> bool:
        """Return whether changing only these quasi-identifiers can keep the bounds.

        If their last steps do not keep them, no other steps do.
        """
        last_steps = {i: self.heights[i] for i in chosen}
        return not self._risk_falls(chosen) or self._keeps(self._node(last_steps))

    def _lowest_step(self, chosen: Sequence[int], changed: int) -> int:
        """Return the lowest step of quasi-identifier ``changed`` that can keep the bounds.

        It is tried with the other ``chosen`` ones at their last steps, which is the best case.
        """
        if not self._risk_falls(chosen):
            return 1  # no step is excluded
        last_steps = {i: self.heights[i] for i in chosen}
        for step in range(1, self.heights[changed]):
            if self._keeps(self._node(last_steps | {changed: step})):
                return step
        return self.heights[changed]

    def _must_break(self, node: Node) -> bool:
        """Return whether a change must break a bound, because a coarser one is known to."""
        if not self._risk_falls(range(len(self.heights))):
            return False  # a coarser change may have more risk, so that it tells nothing
        return any(
            all(a <= b for a, b in zip(node, coarser, strict=True)) and not self.met(risks)
            for coarser, risks in self.risks.items()
        )

    def _node(self, steps: Mapping[int, int]) -> Node:
        """Return the node with these steps of quasi-identifiers, and no other change."""
        return tuple(steps.get(i, 0) for i in range(len(self.heights)))

    def _keeps(self, node: Node) -> bool:
        """Return whether a node keeps the bounds; measure it if it was not measured before."""
        if node not in self.risks:
            self.risks[node] = self.measure(node)
            self.show(0.0, len(self.risks))
        return self.met(self.risks[node])
