"""Hunting: the search for risky subsets, put to the data."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import polars as pl

from qifsql.measures.bayes import Success
from qifsql.sweep.answers import BORDERS, MEASURES
from qifsql.sweep.runner import Runner, Sums
from qifsql.sweep.search import search


@dataclass
class Hunt:
    """The subsets asked so far, as positions, and their sums for each question."""

    runners: Sequence[Runner]
    prior: Mapping[int, Success]
    known: dict[int, dict[int, Sums]] = field(default_factory=dict)

    def borders(
        self, threshold: float, questions: Sequence[str | None], qids: Sequence[str]
    ) -> pl.DataFrame:
        """Both borders of every question and measure, as in ``answers.borders``."""
        layout = self.runners[0].layout
        for runner in self.runners:
            self._learn(runner.sums())
        rows = []
        for question, secret in enumerate(questions):
            for measure in MEASURES:
                risky = partial(self._risky, question=question, measure=measure, least=threshold)
                found = search(layout.n, risky)
                borders = (("minimal risky", found.risky), ("maximal safe", found.safe))
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

    def _risky(
        self, subsets: Collection[int], *, question: int, measure: str, least: float
    ) -> dict[int, bool]:
        """Whether the success of each subset reaches the threshold."""
        new = [s for s in subsets if s and s not in self.known]
        if new:
            for runner in self.runners:
                self._learn(runner.ask(new))
        return {s: self._success(s, question, measure) >= least for s in subsets}

    def _learn(self, sums: Mapping[tuple[int, int], Sums]) -> None:
        for (subset, question), found in sums.items():
            self.known.setdefault(subset, {})[question] = found

    def _success(self, subset: int, question: int, measure: str) -> float:
        if not subset:
            success = self.prior[question]
            return float(getattr(success, measure))
        people, mode, certain = self.known[subset][question]
        return (mode if measure == "probabilistic" else certain) / people


def _members(order: Sequence[int], subset: int) -> list[int]:
    """The numbers of the quasi-identifiers of a subset of positions."""
    return sorted(i for position, i in enumerate(order) if subset >> position & 1)
