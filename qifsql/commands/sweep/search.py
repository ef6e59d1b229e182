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

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from qifsql.commands.sweep.answers import MEASURES
from qifsql.commands.sweep.result import BORDERS
from qifsql.commands.sweep.scheduler import Pass
from qifsql.commands.sweep.worker import Sums
from qifsql.measures.bayes import Success

Ask = Callable[[Collection[int]], dict[int, bool]]
"""A function that tells, for each of some subsets (as numbers), whether it is risky."""


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
        """Return whether a subset is risky: it has a risky part, or is part of a safe one.

        Else None.
        """
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
    """Return safe subsets with one attribute after the other added, as long as they stay safe."""
    grown = set(seeds)
    bit = 1
    while bit <= every:
        larger = {s | bit for s in grown if not s & bit}
        answers = ask(larger) if larger else {}
        grown = {s if s & bit or answers[s | bit] else s | bit for s in grown}
        bit <<= 1
    return grown


def _beyond(candidates: Iterable[int], missing: int) -> set[int]:
    """Return the minimal subsets that are beyond one more safe subset.

    With one attribute it misses.
    """
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


class OutOfTimeError(Exception):
    """There was no time for all that was to be asked."""


@dataclass
class BorderSearch:
    """The search, put to the data: the sums of the subsets measured so far, for each question.

    Subsets are by position, as in the passes.
    """

    passes: Sequence[Pass]
    prior: Mapping[int, Success]
    sums: dict[int, dict[int, Sums]] = field(default_factory=dict)

    def borders(
        self, threshold: float, questions: Sequence[str | None], qids: Sequence[str]
    ) -> pl.DataFrame:
        """Return both borders of every question and measure, as in ``answers.borders``."""
        layout = self.passes[0].layout
        if any(p.workspace.pending(p.number) for p in self.passes):
            raise OutOfTimeError
        for each in self.passes:
            self._learn(each.sums())
        rows = []
        for question, secret in enumerate(questions):
            for measure in MEASURES:
                answer = search(layout.n, self._judge(question, measure, threshold))
                borders = (("minimal risky", answer.risky), ("maximal safe", answer.safe))
                for border, subsets in borders:
                    named = sorted((_members(layout.order, s), s) for s in subsets)
                    rows += [
                        {
                            "model": "CRS" if secret is None else "CAS",
                            "secret": secret,
                            "measure": measure,
                            "border": border,
                            "n_qids": len(members),
                            "qids": [qids[i] for i in members],
                            "posterior": self._success(subset, question, measure),
                            "subset": sum(1 << i for i in members),
                        }
                        for members, subset in sorted(named, key=lambda pair: len(pair[0]))
                    ]
        return pl.DataFrame(rows, schema=BORDERS)

    def _judge(self, question: int, measure: str, threshold: float) -> Ask:
        """Return who says whether the success of each of some subsets reaches the threshold."""
        sides = Sides(self.passes[0].layout.n)

        def judge(subset: int) -> bool:
            risky = self._success(subset, question, measure) >= threshold
            sides.learn(subset, risky=risky)
            return risky

        def ask(subsets: Collection[int]) -> dict[int, bool]:
            verdicts = {s: sides.follows(s) for s in subsets}
            self._measure(s for s, risky in verdicts.items() if risky is None)
            return {s: judge(s) if risky is None else risky for s, risky in verdicts.items()}

        for subset in self.sums:
            judge(subset)
        return ask

    def _measure(self, subsets: Iterable[int]) -> None:
        """Put those subsets to the data that were not before."""
        new = [s for s in subsets if s and s not in self.sums]
        for each in self.passes if new else ():
            sums = each.ask(new)
            if len(sums) < len(new) * len(each.questions):
                raise OutOfTimeError
            self._learn(sums)

    def _learn(self, sums: Mapping[tuple[int, int], Sums]) -> None:
        for (subset, question), answer in sums.items():
            self.sums.setdefault(subset, {})[question] = answer

    def _success(self, subset: int, question: int, measure: str) -> float:
        if not subset:
            success = self.prior[question]
            return float(getattr(success, measure))
        people, mode, certain = self.sums[subset][question]
        return (mode if measure == "probabilistic" else certain) / people


def _members(order: Sequence[int], subset: int) -> list[int]:
    """Return the numbers of the quasi-identifiers of a subset of positions."""
    return sorted(i for position, i in enumerate(order) if subset >> position & 1)
