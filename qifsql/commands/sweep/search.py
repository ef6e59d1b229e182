"""Search for the smallest risky subsets and the largest safe ones, without visiting all.

Success never falls when the adversary knows more. A subset is risky if its success reaches the
threshold, otherwise safe. So each risky subset contains a *minimal risky* one, and each safe subset
is part of a *maximal safe* one. The search keeps the maximal safe subsets found so far. It measures
next the smallest subsets that are part of none of them. If one is risky, it is minimal risky; if it
is safe, it grows to a new maximal safe one. When all of them are risky, both borders are complete
(dualize and advance: Gunopulos et al. 2003). The search measures each minimal risky subset once and
the attributes of each maximal safe one, unless the result follows from others; it never visits the
rest of the lattice.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import product

import polars as pl

from qifsql.commands.sweep.result import BORDERS
from qifsql.commands.sweep.scheduler import Pass
from qifsql.commands.sweep.worker import Sums
from qifsql.measures.bayes import Success
from qifsql.measures.set_functions import MEASURES

Ask = Callable[[Collection[int]], dict[int, bool]]
"""A function that returns, for each given subset (as a number), whether it is risky."""


@dataclass(frozen=True)
class Borders:
    """The minimal risky subsets and the maximal safe ones, as numbers, in their order."""

    risky: tuple[int, ...]
    safe: tuple[int, ...]


class KnownSubsets:
    """The subsets that are known to be risky or safe, and the conclusions from them.

    Each attribute has two numbers: the bits of one are the risky subsets that contain the
    attribute, those of the other the safe ones.
    """

    def __init__(self, n: int) -> None:
        self._in = {True: [0] * n, False: [0] * n}
        self._all = {True: 0, False: 0}

    def learn(self, subset: int, *, risky: bool) -> None:
        """Store whether one subset is risky."""
        new = self._all[risky] + 1
        self._all[risky] |= new
        for i, members in enumerate(self._in[risky]):
            if subset >> i & 1:
                self._in[risky][i] = members | new

    def conclude(self, subset: int) -> bool | None:
        """Return True if a part of the subset is risky, False if it is in a safe one, else None."""
        beside, around = 0, self._all[False]
        for i, (risky, safe) in enumerate(zip(self._in[True], self._in[False], strict=True)):
            if subset >> i & 1:
                around &= safe
            else:
                beside |= risky
        return True if beside != self._all[True] else False if around else None


def find_borders(n: int, ask: Ask) -> Borders:
    """Find both borders of the subsets of ``n`` attributes, including the empty subset."""
    every = (1 << n) - 1
    safe: set[int] = set()
    candidates = {0}
    risky: set[int] = set()
    while open_ := candidates - risky:
        answers = ask(open_)
        risky |= {subset for subset in open_ if answers[subset]}
        maxima = _grow_safe({s for s in open_ if not answers[s]}, every, ask)
        for subset in maxima - safe:
            safe.add(subset)
            candidates = _extend_candidates(candidates, every & ~subset)
    return Borders(_by_size(risky & candidates), _by_size(safe))


def _grow_safe(seeds: Iterable[int], every: int, ask: Ask) -> set[int]:
    """Return the safe subsets, extended by each attribute in turn that keeps them safe."""
    grown = set(seeds)
    bit = 1
    while bit <= every:
        larger = {s | bit for s in grown if not s & bit}
        answers = ask(larger) if larger else {}
        grown = {s if s & bit or answers[s | bit] else s | bit for s in grown}
        bit <<= 1
    return grown


def _extend_candidates(candidates: Iterable[int], missing: int) -> set[int]:
    """Return the minimal subsets that are part of no safe subset, after a new safe one.

    ``missing`` has the attributes that the new safe subset lacks.
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


def _by_size(subsets: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(subsets, key=lambda s: (s.bit_count(), s)))


class OutOfTimeError(Exception):
    """Error for a search that has no time left for all its subsets."""


@dataclass
class BorderSearch:
    """The search on the data: the sums of the subsets measured so far, for each question.

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
        if any(p.workspace.pending_tasks(p.number) for p in self.passes):
            raise OutOfTimeError
        for data_pass in self.passes:
            self._store(data_pass.stored_sums())
        rows = []
        with ExitStack() as streams:
            for data_pass in self.passes:
                streams.enter_context(data_pass.keep_streams_open())
            for (question, secret), measure in product(enumerate(questions), MEASURES):
                ask = self._make_judge(question, measure, threshold)
                borders = find_borders(layout.n, ask)
                for border, subsets in (
                    ("minimal risky", borders.risky),
                    ("maximal safe", borders.safe),
                ):
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

    def _make_judge(self, question: int, measure: str, threshold: float) -> Ask:
        """Return a function that compares the success of given subsets with the threshold."""
        sides = KnownSubsets(self.passes[0].layout.n)

        def judge(subset: int) -> bool:
            risky = self._success(subset, question, measure) >= threshold
            sides.learn(subset, risky=risky)
            return risky

        def ask(subsets: Collection[int]) -> dict[int, bool]:
            verdicts = {s: sides.conclude(s) for s in subsets}
            self._measure(s for s, risky in verdicts.items() if risky is None)
            return {s: judge(s) if risky is None else risky for s, risky in verdicts.items()}

        for subset in self.sums:
            judge(subset)
        return ask

    def _measure(self, subsets: Iterable[int]) -> None:
        """Measure the subsets that are not measured yet."""
        new = [s for s in subsets if s and s not in self.sums]
        for data_pass in self.passes if new else ():
            sums = data_pass.measure_subsets(new)
            if len(sums) < len(new) * len(data_pass.questions):
                raise OutOfTimeError
            self._store(sums)

    def _store(self, sums: Mapping[tuple[int, int], Sums]) -> None:
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
