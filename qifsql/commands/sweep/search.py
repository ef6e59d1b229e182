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
from qifsql.commands.sweep.star_blocks import StarBlocks
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

    The risky subsets (True) and the safe ones (False) are numbered apart, in the order in which
    they are learnt. A set of them is an integer with a bit for each: ``_all`` of them, and
    ``_with`` an attribute, by its position.
    """

    def __init__(self, n: int) -> None:
        self._with = {True: [0] * n, False: [0] * n}
        self._all = {True: 0, False: 0}

    def learn(self, subset: int, *, risky: bool) -> None:
        """Store whether one subset is risky."""
        new = self._all[risky] + 1  # the next bit: those before are all ones
        self._all[risky] |= new
        for i, members in enumerate(self._with[risky]):
            if subset >> i & 1:
                self._with[risky][i] = members | new

    def conclude(self, subset: int) -> bool | None:
        """Return whether the subset is risky, if that follows from known subsets; else None."""
        # Bits of the known risky subsets that are no part of it, and of the safe ones around it.
        risky_outside, safe_around = 0, self._all[False]
        for i, (risky, safe) in enumerate(zip(self._with[True], self._with[False], strict=True)):
            if subset >> i & 1:  # only known subsets with the attribute i are around it
                safe_around &= safe
            else:  # known subsets with it are no part of the subset
                risky_outside |= risky
        if risky_outside != self._all[True]:
            return True  # a part of it is risky
        return False if safe_around else None  # it is part of a safe one


def find_borders(n: int, ask: Ask) -> Borders:
    """Find both borders of the subsets of ``n`` attributes, including the empty subset.

    Subsets are numbers: bit i is the i-th attribute. ``ask`` returns which of them are risky.
    """
    full = (1 << n) - 1
    maximal_safe: set[int] = set()
    candidates = {0}  # the minimal subsets that are part of no known safe one
    risky: set[int] = set()  # candidates that turned out to be risky
    while untested := candidates - risky:  # every safe one has been replaced by larger ones
        answers = ask(untested)
        risky |= {subset for subset in untested if answers[subset]}
        maxima = _grow_safe({s for s in untested if not answers[s]}, full, ask)
        for subset in maxima - maximal_safe:
            maximal_safe.add(subset)
            candidates = _extend_candidates(candidates, full & ~subset)
    return Borders(_by_size(risky & candidates), _by_size(maximal_safe))


def _grow_safe(seeds: Iterable[int], full: int, ask: Ask) -> set[int]:
    """Return a maximal safe subset around each of ``seeds``, all of which are safe.

    Subsets are bits of attributes; ``full`` has all. Each attribute in turn is added to every
    subset that stays safe with it. ``ask`` returns which of some subsets are risky.
    """
    grown = set(seeds)
    bit = 1
    while bit <= full:
        larger = {s | bit for s in grown if not s & bit}
        is_risky = ask(larger) if larger else {}
        grown = {s if s & bit or is_risky[s | bit] else s | bit for s in grown}
        bit <<= 1
    return grown


def _extend_candidates(candidates: Iterable[int], missing: int) -> set[int]:
    """Return the minimal subsets that are part of no known safe subset, after a new safe one.

    ``candidates`` are those before; ``missing`` has the attributes that the new one lacks (bits).
    A candidate inside the new one is replaced by its unions with each missing attribute.
    """
    outside = {c for c in candidates if c & missing}  # these are no part of the new safe subset
    bits = [1 << i for i in range(missing.bit_length()) if missing >> i & 1]
    outside_with = {bit: [c for c in outside if c & bit] for bit in bits}
    minimal = set(outside)
    for inside in (c for c in candidates if not c & missing):
        for bit in bits:
            union = inside | bit
            if not any(c & union == c for c in outside_with[bit]):  # no candidate is part of it
                minimal.add(union)
    return minimal


def _by_size(subsets: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(subsets, key=lambda s: (s.bit_count(), s)))


class OutOfTimeError(Exception):
    """Error for a search that has no time left for all its subsets."""


@dataclass
class BorderSearch:
    """The search on the data: the sums of the subsets measured so far, for each question.

    Subsets are by position, as in the passes. ``stars`` are the blocks of suppressed records.
    """

    passes: Sequence[Pass]
    prior: Mapping[int, Success]
    stars: StarBlocks | None = None
    sums: dict[int, dict[int, Sums]] = field(default_factory=dict)

    def borders(
        self, threshold: float, questions: Sequence[str | None], qids: Sequence[str]
    ) -> pl.DataFrame:
        """Return the rows of ``BORDERS``: both borders of every question and measure.

        ``questions`` are the secrets by number; 0 is None, re-identification. Subsets are measured
        as they are needed, unless the workspace has them; OutOfTimeError if the time is over.
        """
        layout = self.passes[0].layout
        if not all(data_pass.is_done for data_pass in self.passes):  # some table is not written
            raise OutOfTimeError
        for data_pass in self.passes:
            self._store(data_pass.stored_sums())
        rows = []
        with ExitStack() as streams:
            for data_pass in self.passes:
                streams.enter_context(data_pass.keep_streams_open())
            for (question, secret), measure in product(enumerate(questions), MEASURES):
                borders = find_borders(layout.n, self._make_ask(question, measure, threshold))
                key = {"model": "CAS" if question else "CRS", "secret": secret, "measure": measure}
                sides = {"minimal risky": borders.risky, "maximal safe": borders.safe}
                for border, subsets in sides.items():
                    for subset in sorted(subsets, key=lambda s: (s.bit_count(), layout.members(s))):
                        members = layout.members(subset)
                        row = {
                            "border": border,
                            "n_qids": len(members),
                            "qids": [qids[i] for i in members],
                            "posterior": self._success(subset, question, measure),
                            "subset": sum(1 << i for i in members),
                        }
                        rows.append(key | row)
        return pl.DataFrame(rows, schema=BORDERS)

    def _make_ask(self, question: int, measure: str, threshold: float) -> Ask:
        """Return a function that tells which of some subsets reach a threshold, for a question."""
        known_subsets = KnownSubsets(self.passes[0].layout.n)

        def judge(subset: int) -> bool:
            risky = self._success(subset, question, measure) >= threshold
            known_subsets.learn(subset, risky=risky)
            return risky

        def ask(subsets: Collection[int]) -> dict[int, bool]:
            # Only subsets whose verdict does not follow from others are measured.
            verdicts = {s: known_subsets.conclude(s) for s in subsets}
            unknown = [subset for subset, risky in verdicts.items() if risky is None]
            self._measure(unknown)
            measured = {subset: judge(subset) for subset in unknown}
            return {s: measured[s] if risky is None else risky for s, risky in verdicts.items()}

        for subset in self.sums:
            judge(subset)
        return ask

    def _measure(self, subsets: Iterable[int]) -> None:
        """Measure the subsets that are not measured yet; 0, the empty one, has the prior."""
        new = [s for s in subsets if s and s not in self.sums]
        for data_pass in self.passes if new else ():
            sums = data_pass.measure_subsets(new)
            if len(sums) < len(new) * len(data_pass.questions):
                raise OutOfTimeError
            self._store(sums)

    def _store(self, sums: Mapping[tuple[int, int], Sums]) -> None:
        """Keep the sums of subsets, by subset and question."""
        for (subset, question), answer in sums.items():
            self.sums.setdefault(subset, {})[question] = answer

    def _success(self, subset: int, question: int, measure: str) -> float:
        """Return the success of a measured subset; that of the empty one is the prior."""
        if not subset:
            return float(getattr(self.prior[question], measure))
        people, mode, certain = self.sums[subset][question]
        if measure == "probabilistic":
            return mode / people
        if self.stars is not None:  # nobody is certain because of records that are * in the subset
            members = self.passes[0].layout.members(subset)
            certain -= self.stars.certain(sum(1 << i for i in members), question)
        return certain / people
