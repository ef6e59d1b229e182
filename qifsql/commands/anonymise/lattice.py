"""Search the lattice of full-domain generalisations for the node of the least loss.

Each quasi-identifier has steps 0 (as it is) to its height; a node is a step of each. A node is
coarser than another where none of its steps is lower. Records of classes that break a limit are
suppressed; a node is *allowed* where at most ``limit`` records are. Classes of a coarser node are
unions of those of a finer one, because every step merges values of the one before.

What the search leaves out, and why no better node is lost:

1. *Coarser nodes of an allowed node are allowed*, and finer nodes of one that is not are not, where
   ``monotone`` is set. Without suppression (``limit`` = 0) every class of the finer node keeps the
   limits, and each limit holds of a union if it holds of its parts: sizes and numbers of distinct
   values grow; entropy is concave; with r_1 the most frequent value and T the sum from the l-th
   value on, r_1(A + B) <= r_1(A) + r_1(B) < c (T(A) + T(B)) <= c T(A + B), because the l - 1 most
   frequent values of A + B have at most what those of A and of B have; both distances of
   t-closeness are convex. With suppression a union also merges classes that keep the limits with
   ones that do not. k and distinct l hold of every superset of a class that keeps them, so each
   record that is not suppressed stays so: the number of suppressed records never rises. Entropy,
   recursive l and t have no such property (add one class of a single value to one that is just
   diverse enough), so with these limits and suppression this is not used. Nor is it where people
   have several records: who has records in both classes counts once in their union, so that its
   counts are not the sums of theirs.
2. *A bound on the loss of a node and all coarser ones* (``Loss``). Penalty and entropy are sums of
   what each step loses over all records, and of what suppressed records lose beyond that. The first
   are known before anything is measured, and never fall, because a union spans at least what its
   parts span; the second are not negative, so the first are the bound. Classes that are kept are at
   most all classes, whose number never rises. Discernibility counts the square of the size of a
   class that is kept, and (records x size) >= size^2 for one that is suppressed: it is at least the
   sum of all squares, which never falls, as (a + b)^2 >= a^2 + b^2.
3. *Best first*. Every node is reached from the bottom by exactly one way (its last step that is
   above 0 is the last one climbed), with a bound that never falls on the way. Nodes leave the queue
   in the order of their bounds; once a bound is above the least loss of the allowed nodes that were
   measured, nothing left in the queue is as good.
4. *Bounds on the risk of the release* (``keeps``) are measured of the nodes that are allowed
   otherwise. Nothing is left out because of a bound that is broken, unless ``falling`` is set: then
   nothing is suppressed, and the bounds are on measures that a coarser partition never makes worse.

So the result is optimal when the queue ends in that way, and only then it is called so.
"""

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from operator import getitem, le

Node = tuple[int, ...]

FRONTIER = 2_000_000_000  # records in nodes that are measured for the frontier alone, at most


@dataclass(frozen=True)
class Measured:
    """The classes of a node: in all (``blocks``) and without suppressed ones (``classes``).

    ``suppressed`` counts records; ``smallest`` the people of the smallest class that is kept.
    ``squares`` are the sums of the squared sizes of classes that are kept, and of all.
    ``penalty`` and ``entropy``: what suppressed records lose beyond the steps of the node, as means
    over all records and quasi-identifiers; measured of nodes that may be allowed. ``guessed``: of
    how many records that are kept the best guess at the person is right, one of each class unless
    people have several. Of a node that is refused early, all are about some classes alone.
    """

    blocks: int
    classes: int
    suppressed: int
    smallest: int | None
    squares: int
    all_squares: int
    penalty: Fraction = Fraction(0)
    entropy: Fraction = Fraction(0)
    guessed: Fraction | None = None

    def risk(self, records: int) -> Fraction:
        """Return the chance of the best guess at whose a record is, if it is kept."""
        guessed = Fraction(self.classes) if self.guessed is None else self.guessed
        return guessed / (records - self.suppressed)


@dataclass(frozen=True)
class Loss:
    """A loss to minimise (``spec.LOSSES``); ``generalisation`` is penalty without suppression.

    ``steps`` has what each step of each quasi-identifier loses, as the mean over the records: in
    entropy for ``entropy``, else in penalty; ``records`` is how many records there are.
    """

    name: str
    steps: Sequence[Sequence[Fraction]]
    records: int

    @property
    def additive(self) -> bool:
        """Return whether the loss of a node is at least what its steps lose."""
        return self.name in ("penalty", "entropy", "generalisation")

    @cached_property
    def unit(self) -> int:
        """Return the number of units in a loss of 1, of which ``units`` returns whole numbers."""
        return math.lcm(*(loss.denominator for steps in self.steps for loss in steps))

    @cached_property
    def _units_of_steps(self) -> list[list[int]]:
        return [[int(loss * self.unit) for loss in steps] for steps in self.steps]

    def units(self, node: Node) -> int:
        """Return the sum over the quasi-identifiers of what their steps lose, in units."""
        return sum(map(getitem, self._units_of_steps, node))

    def sum(self, node: Node) -> Fraction:
        """Return the mean over the quasi-identifiers of what their steps lose."""
        return Fraction(self.units(node), self.unit * len(node))

    def of(self, node: Node, measured: Measured) -> Fraction:
        """Return the loss of a node that keeps some record.

        ``classes``: all records divided by the classes that are kept. ``discernibility``: the mean
        over records of the size of their class; a suppressed record counts all records.
        """
        if self.additive:
            of_suppressed = {"penalty": measured.penalty, "entropy": measured.entropy}
            return self.sum(node) + of_suppressed.get(self.name, 0)
        if self.name == "classes":
            return Fraction(self.records, measured.classes)
        return Fraction(measured.squares, self.records) + measured.suppressed

    def bound(self, measured: Measured) -> Fraction:
        """Return a lower bound on the loss of all nodes as coarse as the measured one, or more."""
        if self.name == "classes":
            return Fraction(self.records, measured.blocks)
        return Fraction(measured.all_squares, self.records)


@dataclass
class Lattice:
    """A search: ``heights``, the loss, how a node is measured, and the records to suppress at most.

    ``limit`` is less than all records.

    ``keeps`` returns whether the release of a node keeps all bounds; where ``falling`` is set, that
    of every coarser node does, too. ``late`` says whether the time is up. ``best`` is the best
    allowed node so far, of loss ``least``; ``optimal`` whether no other one is better, ``complete``
    whether every allowed node was measured; below a loss of ``covered`` every one was.
    """

    heights: Node
    loss: Loss
    measure: Callable[[Node], Measured]
    limit: int
    monotone: bool
    late: Callable[[], bool]
    keeps: Callable[[Node], bool] = lambda _node: True
    falling: bool = True
    best: Node | None = None
    least: Fraction = Fraction(0)
    optimal: bool = False
    complete: bool = False
    covered: Fraction = Fraction(0)
    nodes: dict[Node, Measured] = field(default_factory=dict)
    verdicts: dict[Node, bool] = field(default_factory=dict)
    refused: list[Node] = field(default_factory=list)

    def search(self) -> Node | None:
        """Find the best node, then measure others for the frontier; None if none is allowed."""
        top = self.heights
        if not self._judge(top) and self._is_known_refused(top):
            self.optimal = self.complete = True  # the top is refused, and so all finer nodes
            return None
        bottom = self._find_bottom()
        if self.best is not None:
            self._descend(self.best)
        self._visit_by_loss(bottom)
        return self.best

    @property
    def _settles_finer(self) -> bool:
        """Return whether all nodes that are finer than one that is not allowed are not, either."""
        return self.monotone and self.falling

    def _find_bottom(self) -> Node:
        """Return the node that all allowed nodes are as coarse as, or coarser.

        It has, of each quasi-identifier, the finest step that is allowed if all others are at their
        last (found by bisection), or 0 where a refused node says nothing about finer ones.
        """
        bottom = []
        for i, height in enumerate(self.heights):
            # Steps between which the border lies: -1 is below the first one.
            refused, allowed = -1, height if self._settles_finer else 0
            while allowed - refused > 1 and not self.late():
                middle = (refused + allowed) // 2
                if self._judge((*self.heights[:i], middle, *self.heights[i + 1 :])):
                    allowed = middle
                else:
                    refused = middle
            bottom.append(refused + 1)
        return tuple(bottom)

    def _visit_by_loss(self, bottom: Node) -> None:
        """Measure nodes from ``bottom`` up, by rising bound on their loss, and update ``best``.

        Of equal bounds, the finest node comes first. A node that cannot be allowed is not measured,
        but its coarser ones follow. Stop if the time is up, or if the best node is known (it is
        ``optimal``) and enough others were measured for the frontier of risk and loss.
        """
        units = self.loss.unit * len(bottom) if self.loss.additive else 1  # of bounds, in a loss
        queue = [(self._loss_bound(bottom), 0, bottom)]  # bound, sum of the steps, node
        while queue and not self.late():
            bound, _, node = heapq.heappop(queue)
            self.covered = Fraction(bound, units)
            if self.best is not None and self.covered > self.least:
                self.optimal = True  # nothing in the queue loses as little; the rest is frontier
                if len(self.nodes) * max(1_000_000, self.loss.records) >= FRONTIER:
                    return
            if not self._is_known_refused(node) and (self._settles_finer or not self._judge(node)):
                self._climb(node)
            # To reach each node once, no step before the last one that was climbed is climbed.
            climbed = (i for i, step in enumerate(node) if step > bottom[i])
            for child in self._nodes_above(node, first=max(climbed, default=0)):
                child_bound = max(bound, self._loss_bound(child, self.nodes.get(node)))
                heapq.heappush(queue, (child_bound, sum(child), child))
        self.complete = not queue
        self.optimal = self.optimal or not queue

    def frontier(self) -> Iterator[Node]:
        """Yield allowed nodes by rising loss, each with less risk than all before it."""
        allowed = [
            (self.loss.of(node, measured), measured.risk(self.loss.records), node)
            for node, measured in self.nodes.items()
            if measured.suppressed <= self.limit and self._keeps_bounds(node)
        ]
        least_risk: Fraction | None = None
        for _loss, risk, node in sorted(allowed):
            if least_risk is None or risk < least_risk:
                least_risk = risk
                yield node

    def _rank(self, node: Node) -> tuple[Fraction, int, Fraction, Node]:
        """Return the key whose minimum is the best node: loss, suppressed records, risk, steps."""
        measured = self.nodes[node]
        risk = measured.risk(self.loss.records)
        return self.loss.of(node, measured), measured.suppressed, risk, node

    def _loss_bound(self, node: Node, parent: Measured | None = None) -> Fraction | int:
        """Return a lower bound on the loss of a node and all coarser ones; 0 if nothing is known.

        ``parent``: a measured node that is finer. The bound of an additive loss is in its units.
        """
        if self.loss.additive:
            return self.loss.units(node)
        return Fraction(0) if parent is None else self.loss.bound(parent)

    def _nodes_above(self, node: Node, first: int = 0) -> Iterator[Node]:
        """Yield the nodes one step coarser in a quasi-identifier, from index ``first`` on."""
        for i in range(first, len(node)):
            if node[i] < self.heights[i]:
                yield (*node[:i], node[i] + 1, *node[i + 1 :])

    def _is_known_refused(self, node: Node) -> bool:
        """Return whether a node is known not to be allowed, by a coarser one that is not.

        Nodes that are visited one after the other are often known by the same one: it comes first.
        """
        for n, refused in enumerate(self.refused):
            if _is_finer(node, refused):
                self.refused.insert(0, self.refused.pop(n))
                return True
        return False

    def _keeps_bounds(self, node: Node) -> bool:
        """Return whether the release of a node keeps all bounds; each is measured once."""
        if node not in self.verdicts:
            self.verdicts[node] = self.keeps(node)
        return self.verdicts[node]

    def _judge(self, node: Node) -> bool:
        """Measure a node, if it was not, and return whether it is allowed.

        Update ``best`` and ``refused`` (nodes that are not allowed, nor are finer ones).
        """
        if node not in self.nodes:
            self.nodes[node] = self.measure(node)
        suppresses_few = self.nodes[node].suppressed <= self.limit
        if not suppresses_few or not self._keeps_bounds(node):
            refuses_finer = self.falling if suppresses_few else self.monotone
            if refuses_finer and not self._is_known_refused(node):
                self.refused = [*(n for n in self.refused if not _is_finer(n, node)), node]
            return False
        if self.best is None or (not self.optimal and self._rank(node) < self._rank(self.best)):
            self.best, self.least = node, self.loss.of(node, self.nodes[node])
        return True

    def _climb(self, node: Node) -> None:
        """Find the last refused node on a chain from a node to the top, if there is one.

        All nodes finer than it are then known to be refused, without measuring them. Steps from the
        top double until a node is refused; then the chain is bisected.
        """
        if not self._settles_finer and not self._is_known_refused(node):
            return  # refused in a way that tells nothing about finer nodes
        chain = [node]
        while above := list(self._nodes_above(chain[-1])):
            chain.append(min(above, key=lambda n: (self.loss.units(n), n)))
        # Indexes in the chain between which the border lies; -1: no refused node is known.
        refused, allowed, stride = -1, len(chain) - 1, 1
        while allowed - refused > 1 and not self.late():
            tried = (refused + allowed) // 2 if refused >= 0 else max(allowed - stride, 0)
            if not self._is_known_refused(chain[tried]) and self._judge(chain[tried]):
                allowed, stride = tried, 2 * stride
            else:
                refused = tried

    def _descend(self, node: Node) -> None:
        """Go on to finer allowed nodes, by the step that saves most, to know a good one early."""
        lowest: Node | None = node
        while lowest is not None and not self.late():
            finer = [
                (*lowest[:i], step - 1, *lowest[i + 1 :]) for i, step in enumerate(lowest) if step
            ]
            finer.sort(key=lambda n: (self.loss.units(n), n))
            lowest = next((n for n in finer if not self.late() and self._judge(n)), None)


def _is_finer(node: Node, coarser: Node) -> bool:
    return all(map(le, node, coarser))
