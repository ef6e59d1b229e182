"""Searching: the smallest risky subsets and the largest safe ones, without visiting all.

Success never falls when the adversary knows more. So the risky subsets, whose success reaches the
threshold, are all that contain one of the *minimal risky* ones, and the others are all parts of the
*maximal safe* ones. The search keeps the maximal safe subsets found so far. The smallest subsets
that are part of none of them are asked next: one that is risky is minimal risky; one that is safe
grows to a new maximal safe one. When all are risky both borders are complete (dualize and advance:
Gunopulos et al. 2003). It asks about each minimal risky subset once and about the attributes of
each maximal safe one, unless the answer follows from others; the rest of the lattice is never
visited.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

Ask = Callable[[Collection[int]], dict[int, bool]]
"""Whether each of some subsets, as numbers, is risky."""


@dataclass(frozen=True)
class Borders:
    """The minimal risky subsets and the maximal safe ones, as numbers, in their order."""

    risky: tuple[int, ...]
    safe: tuple[int, ...]


class Sides:
    """The subsets that are known to be risky or safe, and what follows from them.

    Each attribute has two numbers: their bits are the risky subsets and the safe ones it is in.
    """

    def __init__(self, n: int) -> None:
        self._in = {True: [0] * n, False: [0] * n}
        self._all = {True: 0, False: 0}

    def learn(self, subset: int, *, risky: bool) -> None:
        """Remember one subset."""
        new = self._all[risky] + 1
        self._all[risky] |= new
        for i, members in enumerate(self._in[risky]):
            if subset >> i & 1:
                self._in[risky][i] = members | new

    def follows(self, subset: int) -> bool | None:
        """Whether a subset is risky: it has a risky part, or is part of a safe one; else None."""
        beside, around = 0, self._all[False]
        for i, (risky, safe) in enumerate(zip(self._in[True], self._in[False], strict=True)):
            if subset >> i & 1:
                around &= safe
            else:
                beside |= risky
        return True if beside != self._all[True] else False if around else None


def search(n: int, ask: Ask) -> Borders:
    """Find both borders of the subsets of ``n`` attributes; the empty one is a subset, too."""
    every = (1 << n) - 1
    safe: set[int] = set()
    candidates = {0}
    risky: set[int] = set()
    while open_ := candidates - risky:
        answers = ask(open_)
        risky |= {subset for subset in open_ if answers[subset]}
        maxima = _grown({s for s in open_ if not answers[s]}, every, ask)
        for subset in maxima - safe:
            safe.add(subset)
            candidates = _beyond(candidates, every & ~subset)
    return Borders(_ordered(risky & candidates), _ordered(safe))


def _grown(seeds: Iterable[int], every: int, ask: Ask) -> set[int]:
    """Safe subsets with one attribute after the other added, as long as they stay safe."""
    grown = set(seeds)
    bit = 1
    while bit <= every:
        larger = {s | bit for s in grown if not s & bit}
        answers = ask(larger) if larger else {}
        grown = {s if s & bit or answers[s | bit] else s | bit for s in grown}
        bit <<= 1
    return grown


def _beyond(candidates: Iterable[int], missing: int) -> set[int]:
    """The minimal subsets that are beyond one more safe subset: with one attribute it misses."""
    there = {c for c in candidates if c & missing}
    within = [c for c in candidates if not c & missing]
    bits = [1 << i for i in range(missing.bit_length()) if missing >> i & 1]
    by_bit = {bit: [c for c in there if c & bit] for bit in bits}
    for subset in within:
        for bit in bits:
            new = subset | bit
            if not any(c & new == c for c in by_bit[bit]):
                there.add(new)
    return there


def _ordered(subsets: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(subsets, key=lambda s: (s.bit_count(), s)))
