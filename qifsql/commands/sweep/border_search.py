"""Hunting: the search for risky subsets, put to the data."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from qifsql.commands.sweep.answers import MEASURES
from qifsql.commands.sweep.result import BORDERS
from qifsql.commands.sweep.scheduler import Runner, Sums
from qifsql.commands.sweep.search import Ask, Sides, search
from qifsql.measures.bayes import Success


class OutOfTimeError(Exception):
    """There was no time for all that was to be asked."""


@dataclass
class Hunt:
    """The subsets asked so far, as positions, and their sums for each question."""

    runners: Sequence[Runner]
    prior: Mapping[int, Success]
    sums: dict[int, dict[int, Sums]] = field(default_factory=dict)

    def borders(
        self, threshold: float, questions: Sequence[str | None], qids: Sequence[str]
    ) -> pl.DataFrame:
        """Both borders of every question and measure, as in ``answers.borders``."""
        layout = self.runners[0].layout
        if any(r.workspace.pending(r.number) for r in self.runners):
            raise OutOfTimeError
        for runner in self.runners:
            self._learn(runner.sums())
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
        """Who says whether the success of each of some subsets reaches the threshold."""
        sides = Sides(self.runners[0].layout.n)

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
        for runner in self.runners if new else ():
            sums = runner.ask(new)
            if len(sums) < len(new) * len(runner.questions):
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
    """The numbers of the quasi-identifiers of a subset of positions."""
    return sorted(i for position, i in enumerate(order) if subset >> position & 1)
