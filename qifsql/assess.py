"""Running an attack: SQL counts, Python divides."""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from qifsql import checks, compiler, findings, population
from qifsql.assessment import GAIN, INDIVIDUAL, MEASURES, SCHEMA, Assessment, together
from qifsql.collection import Source
from qifsql.compiler import Question
from qifsql.counts import Counts
from qifsql.dataset import Dataset
from qifsql.engine.duckdb import DuckDB
from qifsql.engine.settings import PRIVATE, Settings, masked
from qifsql.engine.writings import remarks
from qifsql.errors import InputError, InternalError, TargetError, several
from qifsql.export import Origin
from qifsql.measures import bayes, gain
from qifsql.models import Model
from qifsql.profile import Profile
from qifsql.session import opened
from qifsql.spec import Attack, BoundAttack, Options
from qifsql.wanted import Wanted


def attack(
    model: str | Sequence[str],
    source: Source,
    *,
    progressive: bool = False,
    measures: str | Sequence[str] = (),
    histogram: bool = False,
    unit: str | None = None,
    population: str | Path | Dataset | None = None,
    store: str | Path | None = None,
    settings: Settings | None = None,
    **options: Unpack[Options],
) -> Assessment:
    """Attack one release, or a collection of them, and measure what the adversary gains.

    Args:
        model: one of the twelve (``qifsql.models``), or several of one kind of target.
        source: a Parquet or CSV file, a glob, a folder of Parquet, ``table@file.duckdb``; for
            longitudinal models several of these, the focal one first, or a Collection.
        progressive: attack the focal dataset, then with each auxiliary one more; a row for each.
        measures: of ``shannon``, ``guessing``, ``capacity``, ``risks``, or ``all``.
        histogram: count people by their success in percent.
        unit: the unit of the gains, such as ``BRL``; for the words only.
        population: the people who may be in the release: for models of membership, which then
            infer who is, joined by the key; for others, for the journalist's risk.
        store: a DuckDB file that keeps the counts: asked again with another gain function,
            measure or detail, the data are not read again.
        settings: memory, threads, temporary folder, progress.
        **options: what the adversary knows and wants; see ``qifsql.spec.Options``.

    Returns:
        An Assessment; its ``frame`` has one row per model, secret and gain function.

    Raises:
        InputError: what was asked for does not fit the data; the message says what to try.
        EngineError: memory or disk ran out.

    """
    spec = Attack.of(model, source, **options)
    if population is not None and spec.of_membership:
        spec, population = spec.among(population), None
    if population is not None and spec.of_collection:
        raise InputError(
            "the journalist's risk is about one release; leave the population out, or ask for it "
            "with a model of membership"
        )
    wanted = Wanted.of(
        measures,
        histogram=histogram,
        unit=unit,
        population=population,
        store=store,
        progressive=progressive,
    )
    return run(spec, wanted, settings)


def run(spec: Attack, wanted: Wanted | None = None, settings: Settings | None = None) -> Assessment:
    """Run an attack as it is specified (see ``attack``)."""
    origin = Origin.now(settings, "attack")
    wanted = wanted or Wanted()
    with (
        masked(PRIVATE if wanted.store else None),
        opened(spec, settings, sources=wanted.files) as (engine, bound),
    ):
        if not wanted.progressive:
            return _Run(engine, spec, bound, wanted).assess(origin)
        parts = []
        for n in range(1, bound.datasets + 1):
            part = _Run(engine, spec, bound.first(n), wanted)
            parts.append(part.assess(origin))
            part.counts.forget()
        return together(parts)


class _Run:
    """One run: the bound attack, what is wanted of it, and its counts."""

    def __init__(self, engine: DuckDB, spec: Attack, bound: BoundAttack, wanted: Wanted) -> None:
        self.spec = spec
        self.bound = bound
        self.wanted = wanted
        self.asked = compiler.questions(bound)
        details = bool(bound.thresholds or bound.quantiles or wanted.histogram or bound.by)
        if bound.target and (details or wanted.store or wanted.population):
            raise InputError(
                "groups, histograms, thresholds, quantiles, populations and stores are about "
                "everybody; ask for them with a collective model"
            )
        again = bool(bound.gains or wanted.measures or details)
        people = wanted.population
        plan = population.blocks_plan(engine, spec, bound, people) if people else None
        self.counts = Counts(engine, bound, again=again, store=wanted.store)
        if plan is not None:
            self.counts.keep_rows("population", plan)

    def assess(self, origin: Origin) -> Assessment:
        """All rows and details."""
        bound = self.bound
        notes = checks.check(self.counts)
        prior = self.counts.profiles(self.asked, prior=True)
        after = self.counts.profiles(self.asked, prior=False)
        self._check(prior, after)
        guesses = self._guesses()
        measured = {
            j: findings.measures(self.counts, self.wanted, j, prior[j, g], after[j, g])
            for j, g in reversed(self.asked)
        }
        details = findings.details(self.counts, self.asked, self.wanted, prior)
        asked = _asked(self.spec) | self.wanted.plain()
        origin = origin.of(bound, self.spec, *self.counts.sent, **asked)
        if self.wanted.population:
            origin = origin.reading(self.wanted.population.paths)
        rows = []
        for m, j, g in self._rows():
            row = self._row(m, j, g, prior, after) | measured[j]
            row |= {"seconds": origin.seconds, "attack_id": attack_id(origin, m, j, g)}
            row |= self._individual(m, j, g, after, guesses)
            rows.append(row)
        schema = self._schema(details)
        frame = pl.DataFrame([{c: r[c] for c in schema} for r in rows], schema=schema)
        ids = {(j, g): attack_id(origin, m, j, g) for m, j, g in self._rows()}
        notes = [*bound.notes, *self._dropped(prior), *notes, *_undefined(rows)]
        notes += self._groups_of_nobody(details)
        tables = {name: findings.table(name, found, ids) for name, found in details.items()}
        notes += remarks(self.counts.engine)
        return Assessment(frame, origin, tuple(dict.fromkeys(notes)), tables)

    def _schema(self, details: Collection[str]) -> dict[str, pl.DataType]:
        schema = SCHEMA | (INDIVIDUAL if self.bound.models[0].individual else {})
        schema |= GAIN if self.bound.gains else {}
        for name in self.wanted.measures:
            schema |= MEASURES[name]
        return schema | ({"attack_id": pl.String()} if details else {})

    def _rows(self) -> list[tuple[Model, int, int]]:
        return [
            (m, j, g)
            for m in self.bound.models
            for j in compiler.numbers(self.bound, m)
            for g in self.bound.asked_gains
        ]

    def _individuals(self, prior: Mapping[Question, Profile]) -> int:
        """How many people the release has, ruled out by a prior or not."""
        raw = [self.counts.domain(j).people for j in self.bound.beliefs]
        return max([p.individuals for p in prior.values()] + raw)

    def _check(self, prior: Mapping[Question, Profile], after: Mapping[Question, Profile]) -> None:
        everybody = max(p.individuals for p in prior.values())
        if self.bound.target:
            if not any(p.individuals for p in after.values()):
                raise TargetError(
                    f"the target matches none of the {everybody:,} records of "
                    f"{self.bound.dataset.name}, so there is nothing to infer; "
                    "check the values, or ask for fewer quasi-identifiers"
                )
            if set(after) != set(prior):
                raise InputError("the prior rules out every value that people like the target have")
        elif any(after[q].individuals != prior[q].individuals for q in prior):
            raise InternalError("the blocks do not add up to the records; please report this")

    def _row(
        self,
        m: Model,
        j: int,
        g: int,
        prior: Mapping[Question, Profile],
        after: Mapping[Question, Profile],
    ) -> dict[str, Any]:
        names = [q.name for q in self.bound.qids]
        profile = after[j, g]
        before, then = (gain.success(p, j, g) for p in (prior[j, g], profile))
        if j in self.bound.beliefs:
            then = then.not_below(before)
        return {
            "model": m.acronym.upper(),
            "datasets": self.bound.datasets,
            "n_qids": len(names),
            "qids": names,
            "secret": self.bound.secrets[j - 1].name if j else None,
            "records": self._individuals(prior),
            "blocks": profile.blocks,
            "singled_out": profile.singled_out,
            "gain": self.bound.gain(g).text,
            "unit": self.wanted.unit,
            **bayes.row(before, then),
        }

    def _guesses(self) -> dict[int, str | None]:
        """The best guess about the target, for each secret and (0) the owner of the record."""
        if not self.bound.target or not (self.bound.secrets or self.bound.key):
            return {}
        plan = compiler.guess_plan(self.bound)
        self.counts.sent.append(plan)
        rows = self.counts.engine.rows(plan, "guessing", self.bound.dataset.name)
        return {j: guess for j, _, guess in rows}

    def _individual(
        self,
        m: Model,
        j: int,
        g: int,
        after: Mapping[Question, Profile],
        guesses: Mapping[int, str | None],
    ) -> dict[str, Any]:
        if not m.individual:
            return {}
        known = (f"{k}={'(missing)' if v is None else v}" for k, v in self.bound.target.items())
        return {
            "target": ", ".join(known),
            "matches": after[j, g].individuals,
            "best_guess": None if g else guesses.get(j),
        }

    def _groups_of_nobody(self, details: Mapping[str, list[dict[str, Any]]]) -> list[str]:
        """A remark about groups in which everybody weighs nothing: there is no number for them."""
        if self.bound.by is None or self.bound.weight is None:
            return []
        plan = compiler.everyone_plan(self.bound)
        ((there,),) = self.counts.engine.rows(plan, "counting groups", self.bound.dataset.name)
        empty = there - len({row["group"] for row in details["groups"]})
        if not empty:
            return []
        groups = f"{several(empty, 'group')} of {self.bound.by.name}"
        return [f"nobody in {groups} has any weight, so nothing can be said there"]

    def _dropped(self, prior: Mapping[Question, Profile]) -> tuple[str, ...]:
        kept, records = max(p.individuals for p in prior.values()), self.counts.records
        if self.bound.null != "drop" or self.bound.weight is not None or kept == records:
            return ()
        return (f"{records - kept:,} of {records:,} records with missing values are left out",)


def _undefined(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return [
        f"the prior gain with {row['gain']} is 0, so posterior over prior is undefined"
        for row in rows
        if row["prior_probabilistic"] == 0
    ]


def attack_id(origin: Origin, model: Model, secret: int, gain: int) -> str:
    """What joins details to their row: a digest of all that was asked, the same every time."""
    asked = [dict(origin.spec), model.acronym, secret, gain]
    text = json.dumps(asked, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _asked(spec: Attack) -> dict[str, object]:
    """What was asked beside the simple question, for the manifest."""
    asked: dict[str, object] = {
        "gains": list(spec.gains) if spec.gains != ("identity",) else None,
        "prior": spec.prior,
        "by": spec.by,
        "thresholds": list(spec.thresholds),
        "quantiles": list(spec.quantiles),
    }
    return {name: value for name, value in asked.items() if value}
