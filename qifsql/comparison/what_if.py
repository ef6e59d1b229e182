"""What if: the risk before and after changes, alone and together, without writing data.

And the smallest change that keeps bounds on the risk (``qifsql.comparison.search``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
from sqlglot import exp

from qifsql import policy as policies
from qifsql.binding import bind
from qifsql.comparison import bounds, changes, ladders, losses, risks
from qifsql.comparison.bounds import Bound
from qifsql.comparison.changes import Change, Changed
from qifsql.comparison.losses import Scale
from qifsql.comparison.risks import Risk
from qifsql.comparison.search import Rungs, Search
from qifsql.comparison.states import States, Variant
from qifsql.dataset import Dataset
from qifsql.datatypes import family
from qifsql.dialect import render
from qifsql.engine.catalog import Catalog
from qifsql.engine.duckdb import DuckDB
from qifsql.engine.settings import Settings
from qifsql.errors import ColumnError, InputError, did_you_mean, quoted, several
from qifsql.export import Origin
from qifsql.expressions import SOURCE
from qifsql.plan import Plan
from qifsql.relation import openings
from qifsql.sanitise.hierarchies import Hierarchy
from qifsql.sanitise.spans import Raw
from qifsql.sanitise.tables import Tables
from qifsql.session import check_records
from qifsql.spec import Attack, Attribute, BoundAttack

SCHEMA: dict[str, pl.DataType] = {
    "release": pl.String(),
    "changes": pl.List(pl.String()),
    "secret": pl.String(),
    **risks.PARTITION,
    "certainty_penalty": pl.Float64(),
    "met": pl.Boolean(),
}
"""One row per release and secret: ``risks.PARTITION`` of the release as it would be.

``release`` is ``before``; ``alone``, with one change; ``together``, with all; or ``smallest``, with
the smallest change that keeps the bounds. ``certainty_penalty`` is what values lose
(``utility.penalty``), the mean over the quasi-identifiers, in [0, 1]: 1 for one that is dropped.
``met``: whether the bounds are kept, NULL without bounds."""


@dataclass(frozen=True)
class WhatIf:
    """The releases (``SCHEMA``); ``bounds`` that were asked for, whether they are ``met`` by any.

    ``met`` is None without bounds. ``tried`` is how many changes the search has measured.
    """

    frame: pl.DataFrame
    origin: Origin
    notes: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()
    met: bool | None = None
    tried: int = 0


def what_if(
    source: str | Path | Dataset,
    *,
    qids: str | Sequence[str] = (),
    secret: str | Sequence[str] = (),
    change: str | Sequence[str] = (),
    until: str | Sequence[str] = (),
    policy: str | Path | None = None,
    where: str | None = None,
    hierarchies: Mapping[str, str | Path] | None = None,
    settings: Settings | None = None,
) -> WhatIf:
    """Measure the risk (CRS, and CAS of each secret) before and after changes; nothing is written.

    ``change``: one or several (``qifsql.comparison.changes``): ``age:5``, ``date:month``,
    ``age:@2``, ``drop=zip``, ``top(age)=90``, ``age=EXPRESSION``, ``sample=0.1``. Those of one
    quasi-identifier are made one after the other. ``until``: bounds such as ``crs<=0.1`` or
    ``k>=5`` (``qifsql.comparison.bounds``); ``policy``: a file of ``qifsql.policy`` whose rules are
    bounds, and whose adversary is taken where none is named here. With bounds the smallest change
    that keeps them all is looked for (``qifsql.comparison.search``); changes that are named then
    are the rungs of ladders, each made to the values as they are, finest first. ``hierarchies``:
    quasi-identifier -> file.
    ``sample`` is drawn by the seed of the settings (0 without one).

    Raises InputError: DatasetError, ColumnError, ExpressionError.
    """
    origin = Origin.now(settings, "what-if")
    options: dict[str, Any] = {"qids": qids, "secret": secret, "where": where}
    read = None
    if policy is not None:
        read = policies.read(policy, **options)
        options = _of_policy(read)
    wanted, limits = _several(change), _several(until)
    if not wanted and not limits and read is None:
        raise InputError(f"nothing is asked for; name a change ({changes.HOW}) or a bound (until)")
    models = "crs,cas" if options.get("secret") else "crs"
    given = {name: value for name, value in options.items() if value}
    spec = Attack.of(models, Dataset.open(source), **given)
    trees = {name: str(path) for name, path in (hierarchies or {}).items()}
    with DuckDB(settings) as engine:
        catalog = Catalog(engine, spec.dataset)
        bound = bind(Attack.of(models, catalog.dataset, **given), catalog)
        asked = [changes.read(text, bound.qids) for text in wanted]
        names = [s.name for s in bound.secrets]
        rules = bounds.until(limits, names)
        rules += bounds.of_policy(read, names) if read is not None else []
        work = _Work(engine, catalog, bound, trees)
        seed = settings.seed if settings else None
        rows = work.search(asked, rules) if rules else work.compare(asked, seed=seed or 0)
        told = _plain(bound, asked, rules, seed, trees) | {"where": options.get("where")}
        paths = (*bound.dataset.paths, *trees.values(), *([str(policy)] if policy else []))
        origin = origin.about(told, paths, *work.plans)
        origin = origin.sending(dict.fromkeys([*openings(bound.dataset), *work.tables.sent]))
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    met = bool(frame["met"].any()) if rules else None
    notes = (*bound.notes, *work.notes)
    return WhatIf(frame, origin, notes, tuple(b.text for b in rules), met, work.tried)


class _Work:
    """One question: the engine, the attack as it is, and what is made for it."""

    def __init__(
        self, engine: DuckDB, catalog: Catalog, bound: BoundAttack, trees: Mapping[str, str]
    ) -> None:
        self.bound = bound
        self.tables = Tables(engine, "reading records", bound.dataset.name)
        self.plans: list[Plan] = []
        self.notes: list[str] = []
        self.tried = 0
        known = [q.name for q in bound.qids]
        for name in trees:
            if name not in known:
                hint = did_you_mean(name, known)
                raise ColumnError(f"{quoted(name)} is no quasi-identifier{hint}")
        self.trees = {name: Hierarchy.read(path) for name, path in trees.items()}
        self.changed = Changed(catalog, bound.qids, self.trees)
        self.raws = [
            Raw(i, q.name, bound.dataset.name, q.type, self.trees.get(q.name))
            for i, q in enumerate(bound.qids, 1)
        ]

    def compare(self, asked: Sequence[Change], *, seed: int) -> list[dict[str, Any]]:
        """The rows before, with each change alone, and with all together."""
        check_records(self.tables.engine, self.bound)
        forms = [[_raw(q)] for q in self.bound.qids]
        alone = [self._add(forms, [change]) for change in asked]
        together = self._add(forms, asked)
        scales = losses.read_original(self.tables, self.raws, self.bound)
        lots = seed if any(c.kind == "sample" for c in asked) else None
        states = States(self.tables, self.bound, scales, forms, seed=lots)
        rows = self._rows(states, "before", [], Variant((0,) * len(forms)))
        for change, variant in zip(asked, alone, strict=True):
            rows += self._rows(states, "alone", [change], variant)
        if len(asked) > 1:
            rows += self._rows(states, "together", asked, together)
        if lots is not None:
            self.notes.append(f"the sample is drawn with seed {seed}; another has another risk")
        return rows

    def _add(self, forms: list[list[Attribute]], made: Sequence[Change]) -> Variant:
        """The release after changes, one after the other; new forms are added."""
        now: list[Attribute | None] = [own[0] for own in forms]
        rate = None
        for change in made:
            if change.kind == "sample":
                rate = change.rate * (rate or 1)
                continue
            form = now[change.qid - 1]
            if change.kind == "drop" or form is None:
                now[change.qid - 1] = None
                continue
            now[change.qid - 1] = changes.changed(form, change, self.changed)
        states: list[int | None] = []
        for own, form in zip(forms, now, strict=True):
            if form is not None and form not in own:
                own.append(form)
            states.append(None if form is None else own.index(form))
        return Variant(tuple(states), rate)

    def search(self, asked: Sequence[Change], rules: Sequence[Bound]) -> list[dict[str, Any]]:
        """The row before, and that of the smallest change that keeps the bounds."""
        check_records(self.tables.engine, self.bound)
        scales = losses.read_original(self.tables, self.raws, self.bound)
        rungs = ladders.named(asked, self.bound.qids)
        if not asked:
            lengths = [
                self._length(q, scale) for q, scale in zip(self.bound.qids, scales, strict=True)
            ]
            rungs = ladders.usual(self.bound.qids, scales, lengths, self.trees)
        forms = [[_raw(q)] for q in self.bound.qids]
        # A rung is made to the values as they are.
        at = [[self._add(forms, [c]).states[c.qid - 1] for c in own] for own in rungs]
        states = States(self.tables, self.bound, scales, forms)
        steps = [[0, *own] for own in at]
        nested = [self._nested(states, j, own) for j, own in enumerate(steps, 1)]

        def variant(chosen: Rungs) -> Variant:
            return Variant(tuple(own[i] for own, i in zip(steps, chosen, strict=True)))

        def measure(chosen: Rungs) -> list[Risk]:
            found, sent = risks.measure(self.tables.engine, states.variant(variant(chosen)))
            self.plans = self.plans or sent
            return found

        progress = self.tables.engine.settings.progress
        search = Search(
            [len(own) for own in rungs],
            nested,
            all(rule.monotone for rule in rules),
            measure,
            lambda found: all(rule.met(found) for rule in rules),
            lambda share, n: progress("searching", share, f"{several(n, 'change')} measured"),
        )
        chosen = search.find()
        self.tried = search.tried
        before = (0,) * len(rungs)
        found = search.risks(before) if search.knows(before) else measure(before)
        rows = self._told(states, "before", [], variant(before), found)
        for row in rows:
            row["met"] = chosen == before
        if chosen is not None and chosen != before:
            made = [own[i - 1] for own, i in zip(rungs, chosen, strict=True) if i]
            risk = search.risks(chosen)
            rows += [
                row | {"met": True}
                for row in self._told(states, "smallest", made, variant(chosen), risk)
            ]
        return rows

    def _nested(self, states: States, j: int, own: Sequence[int | None]) -> bool:
        """Whether each rung merges values of the one before; to drop merges all."""
        pairs = pairwise(own)
        return all(b is None or (a is not None and states.nested(j, a, b)) for a, b in pairs)

    def _length(self, qid: Attribute, scale: Scale) -> int | None:
        """How long the texts of a column are, where they are all equally long."""
        if family(qid.type) not in ("VARCHAR", "ENUM"):
            return None
        text = exp.cast(exp.column("value"), "VARCHAR")
        length = exp.Anonymous(this="length", expressions=[text])
        ends = [exp.Min(this=length), exp.Max(this=length.copy())]
        ((least, most),) = self.tables.rows(exp.select(*ends).from_(f"places_{scale.raw.number}"))
        return most if least == most else None

    def _rows(
        self, states: States, release: str, made: Sequence[Change], variant: Variant
    ) -> list[dict[str, Any]]:
        found, sent = risks.measure(self.tables.engine, states.variant(variant))
        self.plans += sent
        return self._told(states, release, made, variant, found)

    def _told(
        self,
        states: States,
        release: str,
        made: Sequence[Change],
        variant: Variant,
        found: Sequence[Risk],
    ) -> list[dict[str, Any]]:
        loss = states.penalty(variant)
        return [
            {
                "release": release,
                "changes": [c.text for c in made],
                "secret": risk.secret,
                **risk.partition,
                "certainty_penalty": loss,
                "met": None,
            }
            for risk in found
        ]


def _raw(qid: Attribute) -> Attribute:
    """The quasi-identifier as the column ``value`` of the table of its places."""
    return Attribute(qid.name, exp.column("value", table=SOURCE), qid.type)


def _several(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _of_policy(policy: policies.Policy) -> dict[str, Any]:
    """The adversary of a policy; InputError where she is more than a search knows."""
    known = {"qids", "secret", "where"}
    others = [n for n, v in policy.adversary.items() if v and n not in known | {"key"}]
    if policy.adversary.get("null") == "distinct":
        others.remove("null")
    if others:
        raise policy.lines.wrong(
            f"a search does not know {', '.join(others)}; leave it out", "adversary"
        )
    return {name: policy.adversary.get(name) for name in known}


def _plain(
    bound: BoundAttack,
    asked: Sequence[Change],
    rules: Sequence[Bound],
    seed: int | None,
    trees: Mapping[str, str],
) -> dict[str, Any]:
    """What was asked for, as plain data."""
    assert isinstance(bound.dataset, Dataset)  # noqa: S101 - it was one
    named = (*bound.qids, *bound.secrets)
    csv = {"all_varchar": bound.dataset.all_varchar, "delimiter": bound.dataset.delimiter}
    return {
        "dataset": bound.dataset.name,
        "qids": [q.name for q in bound.qids],
        "secrets": [s.name for s in bound.secrets],
        "expressions": {a.name: render(a.expression) for a in named if a.name != a.expression.name},
        "changes": [c.text for c in asked],
        "bounds": [b.text for b in rules],
        "hierarchies": dict(trees) or None,
        "seed": (seed or 0) if any(c.kind == "sample" for c in asked) else None,
        "csv": csv if bound.dataset.format == "csv" else None,
    }
