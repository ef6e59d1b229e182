"""Running an attack: SQL counts, Python divides."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from qifsql import compiler
from qifsql.assessment import INDIVIDUAL, SCHEMA, Assessment
from qifsql.dataset import Dataset
from qifsql.engine.duckdb import DuckDB
from qifsql.engine.settings import Settings
from qifsql.errors import InternalError, TargetError
from qifsql.export import Origin
from qifsql.measures import bayes
from qifsql.measures.bayes import Success
from qifsql.models import Model
from qifsql.plan import Plan
from qifsql.profile import Profile
from qifsql.session import check_records, opened
from qifsql.spec import Attack, BoundAttack, NullRule

FEW = 8  # a secret with at most so many values is counted by one tally per value
TALLIES = 24  # and so many tallies at most in one pass


def attack(
    model: str | Sequence[str],
    source: str | Path | Dataset,
    *,
    qids: str | Sequence[str] = (),
    secret: str | Sequence[str] = (),
    key: str | None = None,
    weight: str | None = None,
    where: str | None = None,
    null: NullRule = "distinct",
    target: Mapping[str, object] | None = None,
    settings: Settings | None = None,
) -> Assessment:
    """Attack one release and measure what the adversary gains.

    Args:
        model: ``crs``, ``cas``, ``irs`` or ``ias``, or several of one kind of target.
        source: a Parquet or CSV file, a glob, a folder of Parquet, ``table@file.duckdb``.
        qids: quasi-identifiers, what the adversary knows: columns, patterns such as ``CO_*``
            or named expressions such as ``decade=birth_year//10``.
        secret: one or several secrets (sensitive attributes), as columns or named expressions.
        key: the column that identifies a person; used to name the best guess of ``irs``.
        weight: a column or expression >= 0, the adversary's prior on records.
        where: a SQL condition; other records are left out.
        null: ``distinct`` (a missing value is a value) or ``drop`` (such records are left out).
        target: for individual models, quasi-identifier -> value (None: missing).
        settings: memory, threads, temporary folder, progress.

    Returns:
        An Assessment; its ``frame`` has one row per model and secret.

    Raises:
        InputError: what was asked for does not fit the data; the message says what to try.
        EngineError: memory or disk ran out.

    """
    spec = Attack.of(
        model,
        source,
        qids=qids,
        secret=secret,
        key=key,
        weight=weight,
        where=where,
        null=null,
        target=target,
    )
    return run(spec, settings)


def run(spec: Attack, settings: Settings | None = None) -> Assessment:
    """Run an attack as it is specified (see ``attack``)."""
    origin = Origin.now(settings)
    with opened(spec, settings) as (engine, bound):
        return _Run(engine, bound).assess(spec, origin)


class _Run:
    """One run: the engine, the bound attack, and every plan sent."""

    def __init__(self, engine: DuckDB, bound: BoundAttack) -> None:
        self.engine = engine
        self.bound = bound
        self.sent: list[Plan] = []

    def assess(self, spec: Attack, origin: Origin) -> Assessment:
        bound = self.bound
        records = check_records(self.engine, bound)
        prior = self._profiles(compiler.profile_plan(bound, prior=True), "measuring the prior")
        after = self._profiles(self._posterior_plan(prior), "attacking")
        self._check(prior, after)
        guesses = self._guesses()
        origin = origin.of(bound, spec, *self.sent)
        common = {"records": max(p.individuals for p in prior.values()), "seconds": origin.seconds}
        rows = [
            self._row(m, j, prior[j or min(prior)], after[j or min(after)])
            | common
            | (self._individual(m, j, after, guesses) if m.individual else {})
            for m in bound.models
            for j in compiler.numbers(bound, m)
        ]
        schema = SCHEMA | (INDIVIDUAL if bound.models[0].individual else {})
        notes = bound.notes + self._dropped(records, prior)
        return Assessment(pl.DataFrame(rows, schema=schema, orient="row"), origin, notes)

    def _posterior_plan(self, prior: Mapping[int, Profile]) -> Plan:
        """One pass with tallies for secrets of few values, where nobody has a weight."""
        few: dict[int, int] = {}
        if self.bound.weight is None and not self.bound.target:
            for j, profile in prior.items():
                values = profile.frame["values"][0]
                if j and values <= FEW and sum(few.values()) + values <= TALLIES:
                    few[j] = values
        return compiler.tally_plan(self.bound, few) if few else compiler.profile_plan(self.bound)

    def _profiles(self, plan: Plan, what: str) -> dict[int, Profile]:
        """The profile of each secret, by its number; 0 is re-identification."""
        self.sent.append(plan)
        frame = self.engine.frame(plan, what, self.bound.dataset.name)
        of = Profile.of_counts if self.bound.weight is None else Profile.of_weights
        return {
            j: of(part.drop_nulls("size"))
            for (j,), part in frame.group_by("secret", maintain_order=True)
        }

    def _check(self, prior: Mapping[int, Profile], after: Mapping[int, Profile]) -> None:
        everybody = max(p.individuals for p in prior.values())
        if self.bound.target:
            if not any(p.individuals for p in after.values()):
                raise TargetError(
                    f"the target matches none of the {everybody:,} records of "
                    f"{self.bound.dataset.name}, so there is nothing to infer; "
                    "check the values, or ask for fewer quasi-identifiers"
                )
        elif {p.individuals for p in after.values()} != {everybody}:
            raise InternalError("the blocks do not add up to the records; please report this")

    def _row(self, m: Model, j: int, prior: Profile, after: Profile) -> dict[str, Any]:
        measure = bayes.inference if j else bayes.reidentification
        before, success = measure(prior), measure(after)
        names = [q.name for q in self.bound.qids]
        return {
            "model": m.acronym.upper(),
            "datasets": 1,
            "n_qids": len(names),
            "qids": names,
            "secret": self.bound.secrets[j - 1].name if j else None,
            "blocks": after.blocks,
            "singled_out": after.singled_out,
            **_numbers(before, success),
        }

    def _guesses(self) -> dict[int, str | None]:
        """The best guess about the target, for each secret and (0) the owner of the record."""
        if not self.bound.target or not (self.bound.secrets or self.bound.key):
            return {}
        plan = compiler.guess_plan(self.bound)
        self.sent.append(plan)
        return dict(self.engine.rows(plan, "guessing", self.bound.dataset.name))

    def _individual(
        self, m: Model, j: int, after: Mapping[int, Profile], guesses: Mapping[int, str | None]
    ) -> dict[str, Any]:
        known = (f"{k}={'(missing)' if v is None else v}" for k, v in self.bound.target.items())
        return {
            "target": ", ".join(known),
            "matches": after[j or min(after)].individuals,
            "best_guess": guesses.get(j),
        }

    def _dropped(self, records: int, prior: Mapping[int, Profile]) -> tuple[str, ...]:
        kept = max(p.individuals for p in prior.values())
        if self.bound.null != "drop" or self.bound.weight is not None or kept == records:
            return ()
        return (f"{records - kept:,} of {records:,} records with missing values are left out",)


def _numbers(before: Success, after: Success) -> dict[str, float | int]:
    prior, posterior = before.probabilistic, after.probabilistic
    added = bayes.additive(before.deterministic, after.deterministic)
    return {
        "prior_deterministic": float(before.deterministic),
        "posterior_deterministic": float(after.deterministic),
        "degradation_deterministic": float(added),
        "prior_probabilistic": float(prior),
        "posterior_probabilistic": float(posterior),
        "degradation_probabilistic": float(bayes.multiplicative(prior, posterior)),
        "leakage_additive": float(bayes.additive(prior, posterior)),
        "min_entropy_leakage": bayes.min_entropy_leakage(prior, posterior),
        "worst_case": after.worst_case,
        "individuals_certain": after.certain,
    }
