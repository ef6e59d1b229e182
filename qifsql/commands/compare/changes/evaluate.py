"""The risks of changed releases: with each change alone, with all together, and in a search."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from sqlglot import exp

from qifsql.adversary.changes import Change
from qifsql.adversary.spec import Attribute, BoundAttack
from qifsql.commands.compare.changes.change_lattice import States, Variant
from qifsql.commands.compare.changes.smallest_change import Node, Search
from qifsql.counting import changed_attributes, generalisation, losses, risks, suppressed
from qifsql.counting.changed_attributes import Changeable, as_values
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
    """One request: the attack on the original release, and the tables and plans for it.

    ``trees`` are files of hierarchies by quasi-identifier. Measuring a release adds to ``plans``
    and ``suppressed``, comparing to ``remarks``.
    """

    def __init__(
        self,
        engine: Engine,
        catalog: Catalog,
        bound: BoundAttack,
        trees: Mapping[str, str],
        reading: str | None,
    ) -> None:
        """Prepare to measure changes of the attack ``bound``; ``trees`` are hierarchies."""
        self.bound = bound
        self.reading = reading  # the known records that bounds are about; None: both
        self.tables = Tables(engine, "reading records", bound.microdata.dataset.name)
        self.plans: list[Plan] = []
        self.suppressed: dict[int, None] = {}  # how many records are, in the releases measured
        self.tried = 0
        microdata = bound.microdata
        self.changed = Changeable.of(catalog, microdata.qids, trees, microdata.where)
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
        """Return the risks of a changed release and the plans; note its suppressed records."""
        attack = states.variant(variant)
        self.suppressed[attack.microdata.suppressed] = None
        return risks.measure(self.tables.engine, attack)

    def compare(self, requests: Sequence[Change], *, seed: int) -> list[dict[str, Any]]:
        """Return the rows before any change, with each alone, with all; ``seed`` draws a sample."""
        check_records(self.tables.engine, self.bound.microdata)
        # The forms of each quasi-identifier, at first as it is; ``_add`` adds those of the changes.
        forms = [[as_values(q)] for q in self.bound.microdata.qids]
        alone = [self._add(forms, [change]) for change in requests]
        together = self._add(forms, requests)
        scales = losses.read_original(self.tables, self.raws, self.bound.microdata)
        lots = seed if any(c.kind == "sample" for c in requests) else None  # None: no sample
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
            # A change of a column after which no value is coarser; qid 0 is a sample.
            if release == "alone" and not penalty and changes[0].qid:
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
        changed = changed_attributes.apply_changes(originals, combination, self.changed)
        states: list[int | None] = []
        for forms_of_qid, form in zip(forms, changed, strict=True):
            if form is not None and form not in forms_of_qid:  # None: the column is dropped
                forms_of_qid.append(form)
            states.append(None if form is None else forms_of_qid.index(form))
        return Variant(tuple(states), math.prod(rates, start=Fraction(1)) if rates else None)

    def search(self, requests: Sequence[Change], rules: Sequence[Bound]) -> list[dict[str, Any]]:
        """Return the rows before any change, and of the smallest change that keeps the bounds.

        Only ``requests`` are tried; without any, all usual coarser forms. Rows of the smallest
        change are missing if there is none, or no change is needed. Each quasi-identifier has its
        changes in order as steps (0: none). A node of the search is a combination of steps; a
        variant names the forms of the quasi-identifiers at these steps.
        """
        check_records(self.tables.engine, self.bound.microdata)
        scales = losses.read_original(self.tables, self.raws, self.bound.microdata)
        forms = [[as_values(qid)] for qid in self.bound.microdata.qids]
        changes_of = self._changes(requests, scales)
        # the state of each quasi-identifier at each of its steps, from 0: no change
        states_of = [
            [0, *(self._add(forms, [change]).states[j] for change in changes)]
            for j, changes in enumerate(changes_of)
        ]
        states = States(self.tables, self.bound, scales, forms)

        def variant(node: Node) -> Variant:
            pairs = zip(states_of, node, strict=True)
            return Variant(tuple(of_qid[step] for of_qid, step in pairs))

        def measure(node: Node) -> list[Risk]:
            outcomes, plans = self._measure(states, variant(node))
            self.plans = self.plans or plans
            return outcomes

        def meets(outcomes: Sequence[Risk]) -> bool:
            judged = [r for r in outcomes if self.reading in (None, r.known_records)]
            return all(rule.met(judged) for rule in rules)

        progress = self.tables.engine.settings.progress
        search = Search(
            heights=[len(changes) for changes in changes_of],
            nested=[_are_nested(states, j, of_qid) for j, of_qid in enumerate(states_of, 1)],
            monotone=self.bound.microdata.person is None and all(rule.monotone for rule in rules),
            measure=measure,
            met=meets,
            show=lambda share, n: progress("searching", share, f"{plural(n, 'change')} measured"),
        )
        smallest = search.find()
        self.tried = len(search.risks)
        releases = {"before": (0,) * len(forms)}
        if smallest is not None and any(smallest):
            releases["smallest"] = smallest
        rows = []
        for release, node in releases.items():
            outcomes = search.risks.get(node) or measure(node)
            pairs = zip(changes_of, node, strict=True)
            chosen = [changes[step - 1] for changes, step in pairs if step]
            penalty = states.penalty(variant(node))
            rows += _release_rows(release, chosen, penalty, outcomes, met=node == smallest)
        return rows

    def _changes(self, requests: Sequence[Change], scales: Sequence[Scale]) -> list[list[Change]]:
        """Return a list for each quasi-identifier: changes, each coarser than the one before.

        They are the requested ones; by default the usual ones of its type, from the length of its
        scale (``scales``, for numbers) or of its values (for codes of one length).
        """
        qids = self.bound.microdata.qids
        if requests:
            return generalisation.named_steps(requests, qids)
        lengths = [
            generalisation.common_length(qid, exp.table_(f"places_{j}"), self.tables.rows)
            for j, qid in enumerate(qids, 1)
        ]
        return generalisation.usual_steps(qids, [s.length for s in scales], lengths, self.trees)


def _are_nested(states: States, j: int, of_qid: Sequence[int | None]) -> bool:
    """Return whether each state of quasi-identifier j merges values of the one before it.

    ``of_qid`` are its states by step; None, a dropped column, merges all.
    """
    return all(
        coarse is None or (fine is not None and states.nested(j, fine, coarse))
        for fine, coarse in pairwise(of_qid)
    )


def _release_rows(
    release: str,
    changes: Sequence[Change],
    penalty: float,
    outcomes: Sequence[Risk],
    *,
    met: bool | None = None,
) -> list[dict[str, Any]]:
    """Return a row of a release per secret; ``met``: all bounds hold."""
    row = {"release": release, "changes": [change.text for change in changes]}
    last = {"certainty_penalty": penalty, "met": met}
    return [row | {"secret": risk.secret} | risk.partition | last for risk in outcomes]
