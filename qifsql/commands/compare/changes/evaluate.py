"""The risks of changed releases: with each change alone, with all together, and in a search."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from sqlglot import exp

from qifsql.adversary.changes import Change
from qifsql.adversary.spec import Attribute, BoundAttack
from qifsql.commands.compare.changes.change_lattice import States, Variant
from qifsql.commands.compare.changes.smallest_change import Rungs, Search
from qifsql.counting import changed_attributes, generalisation, losses, risks, suppressed
from qifsql.counting.changed_attributes import Changed, as_values
from qifsql.counting.losses import Scale
from qifsql.counting.risks import Risk
from qifsql.counting.session import check_records
from qifsql.counting.spans import Raw
from qifsql.engine.catalog import Catalog
from qifsql.engine.protocol import Engine
from qifsql.engine.tables import Tables
from qifsql.errors import plural
from qifsql.query.plan import Plan
from qifsql.study.bounds import Bound

IN_SAMPLE = (
    "the adversary is assumed to know who is in the sample; for one who does not, keep the sample "
    "and see qifsql estimate"
)


class Work:
    """One request: the attack on the original release, and the tables and plans for it."""

    def __init__(
        self,
        engine: Engine,
        catalog: Catalog,
        bound: BoundAttack,
        trees: Mapping[str, str],
        reading: str | None,
    ) -> None:
        self.bound = bound
        self.reading = reading  # the known records that bounds are about; None: both
        self.tables = Tables(engine, "reading records", bound.microdata.dataset.name)
        self.plans: list[Plan] = []
        self.suppressed: dict[int, None] = {}  # how many records are, in the releases measured
        self.tried = 0
        microdata = bound.microdata
        self.changed = Changed.of(catalog, microdata.qids, trees, microdata.where)
        self.remarks = self.changed.remarks
        self.trees = self.changed.hierarchies
        self.raws = [
            Raw(i, q.name, bound.microdata.dataset.name, q.type, self.trees.get(q.name))
            for i, q in enumerate(bound.microdata.qids, 1)
        ]

    @property
    def notes(self) -> list[str]:
        """Return remarks on the releases, the last one on suppressed records."""
        records = max(self.suppressed, default=0)
        differ = len(self.suppressed) > 1
        return [*self.remarks, *([suppressed.note(records, maximum=differ)] if records else [])]

    def _measure(self, states: States, variant: Variant) -> tuple[list[Risk], list[Plan]]:
        """Return the risks of a changed release, and the plans that ran."""
        attack = states.variant(variant)
        self.suppressed[attack.microdata.suppressed] = None
        return risks.measure(self.tables.engine, attack)

    def compare(self, requests: Sequence[Change], *, seed: int) -> list[dict[str, Any]]:
        """Return the rows before any change, with each alone, with all; ``seed`` draws a sample."""
        check_records(self.tables.engine, self.bound.microdata)
        forms = [[as_values(q)] for q in self.bound.microdata.qids]  # grows with each change
        alone = [self._add(forms, [change]) for change in requests]
        together = self._add(forms, requests)
        scales = losses.read_original(self.tables, self.raws, self.bound.microdata)
        lots = seed if any(c.kind == "sample" for c in requests) else None
        states = States(self.tables, self.bound, scales, forms, seed=lots)
        releases: list[tuple[str, Sequence[Change], Variant]]  # which case, its changes, its states
        releases = [("before", [], Variant((0,) * len(forms)))]
        releases += [("alone", [change], v) for change, v in zip(requests, alone, strict=True)]
        releases += [("together", requests, together)] if len(requests) > 1 else []
        rows = []
        for release, changes, variant in releases:
            outcomes, plans = self._measure(states, variant)
            self.plans += plans
            penalty = states.penalty(variant)
            rows += _release_rows(release, changes, penalty, outcomes)
            if release == "alone" and not penalty and changes[0].qid:  # no value became coarser
                qid = self.bound.microdata.qids[changes[0].qid - 1]
                self.remarks.append(changed_attributes.nothing_changed(changes[0].text, qid))
        if lots is not None:
            sample = f"the sample is drawn with seed {seed}; another has another risk"
            self.remarks += [sample, IN_SAMPLE]
        return rows

    def _add(self, forms: list[list[Attribute]], combination: Sequence[Change]) -> Variant:
        """Return the release after changes, one after the other; add new forms to ``forms``.

        ``forms`` are those of each quasi-identifier, the original one first; the place of a form in
        its list is its state.
        """
        rates = [change.rate for change in combination if change.kind == "sample"]
        originals = [forms_of_qid[0] for forms_of_qid in forms]
        changed = changed_attributes.apply(originals, combination, self.changed)
        states: list[int | None] = []
        for forms_of_qid, form in zip(forms, changed, strict=True):
            if form is not None and form not in forms_of_qid:  # None: the column is dropped
                forms_of_qid.append(form)
            states.append(None if form is None else forms_of_qid.index(form))
        return Variant(tuple(states), math.prod(rates, start=Fraction(1)) if rates else None)

    def search(self, requests: Sequence[Change], rules: Sequence[Bound]) -> list[dict[str, Any]]:
        """Return the rows before any change, and of the smallest change that keeps the bounds.

        Only ``requests`` are tried; without any, all usual coarser forms. Rows of the smallest
        change are missing if there is none, or no change is needed.
        """
        check_records(self.tables.engine, self.bound.microdata)
        scales = losses.read_original(self.tables, self.raws, self.bound.microdata)
        forms = [[as_values(qid)] for qid in self.bound.microdata.qids]
        ladders = self._ladders(self._changes(requests, scales), forms)
        states = States(self.tables, self.bound, scales, forms)

        def measure(rungs: Rungs) -> list[Risk]:
            outcomes, plans = self._measure(states, ladders.variant(rungs))
            self.plans = self.plans or plans
            return outcomes

        progress = self.tables.engine.settings.progress
        search = Search(
            [len(changes) for changes in ladders.changes],
            [_are_nested(states, j, ladder) for j, ladder in enumerate(ladders.states, 1)],
            self.bound.microdata.person is None and all(rule.monotone for rule in rules),
            measure,
            lambda outcomes: self._meets(rules, outcomes),
            lambda share, n: progress("searching", share, f"{plural(n, 'change')} measured"),
        )
        smallest = search.find()
        self.tried = search.tried
        releases = {"before": (0,) * len(forms)}
        if smallest is not None and any(smallest):
            releases["smallest"] = smallest
        rows = []
        for release, rungs in releases.items():
            outcomes = search.risks.get(rungs) or measure(rungs)
            loss = states.penalty(ladders.variant(rungs))
            changes = ladders.climbed(rungs)
            rows += _release_rows(release, changes, loss, outcomes, met=rungs == smallest)
        return rows

    def _changes(self, requests: Sequence[Change], scales: Sequence[Scale]) -> list[list[Change]]:
        """Return the changes of each quasi-identifier to try, each coarser than the one before."""
        qids = self.bound.microdata.qids
        if requests:
            return generalisation.named_steps(requests, qids)
        lengths = [
            generalisation.common_length(qid, exp.table_(f"places_{j}"), self.tables.rows)
            for j, qid in enumerate(qids, 1)
        ]
        return generalisation.usual_steps(qids, [s.length for s in scales], lengths, self.trees)

    def _ladders(
        self, changes: Sequence[Sequence[Change]], forms: list[list[Attribute]]
    ) -> "_Ladders":
        """Return the ladders of changes, each from the original values; add new forms to ``forms``.

        ``forms`` are those of each quasi-identifier, the original one first.
        """
        states: list[list[int | None]] = []
        for of_qid in changes:
            after = [self._add(forms, [change]).states[change.qid - 1] for change in of_qid]
            states.append([0, *after])
        return _Ladders(changes, states)

    def _meets(self, rules: Sequence[Bound], outcomes: Sequence[Risk]) -> bool:
        """Return whether a release keeps all bounds, in each reading of known records asked for."""
        judged = [r for r in outcomes if self.reading in (None, r.known_records)]
        return all(rule.met(judged) for rule in rules)


@dataclass(frozen=True)
class _Ladders:
    """The ladder of each quasi-identifier: rung 0 is no change, rung n the change number n.

    ``states`` are the states after them, from rung 0 on; None: the column is dropped.
    """

    changes: Sequence[Sequence[Change]]
    states: Sequence[Sequence[int | None]]

    def variant(self, rungs: Rungs) -> Variant:
        """Return the release in which each quasi-identifier is at its rung."""
        pairs = zip(self.states, rungs, strict=True)
        return Variant(tuple(states[rung] for states, rung in pairs))

    def climbed(self, rungs: Rungs) -> list[Change]:
        """Return the changes of the quasi-identifiers that are not at rung 0."""
        pairs = zip(self.changes, rungs, strict=True)
        return [changes[rung - 1] for changes, rung in pairs if rung]


def _are_nested(states: States, j: int, ladder: Sequence[int | None]) -> bool:
    """Return whether each state of a ladder merges values of the one before; None merges all."""
    return all(
        coarse is None or (fine is not None and states.nested(j, fine, coarse))
        for fine, coarse in pairwise(ladder)
    )


def _release_rows(
    release: str,
    changes: Sequence[Change],
    loss: float,
    outcomes: Sequence[Risk],
    *,
    met: bool | None = None,
) -> list[dict[str, Any]]:
    """Return a row of a release per secret; ``loss`` is its penalty, ``met``: all bounds hold."""
    row = {"release": release, "changes": [change.text for change in changes]}
    last = {"certainty_penalty": loss, "met": met}
    return [row | {"secret": risk.secret} | risk.partition | last for risk in outcomes]
