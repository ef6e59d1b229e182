"""Running an attack: SQL counts, Python divides."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from qifsql import compiler, dialect
from qifsql.assessment import INDIVIDUAL, SCHEMA, Assessment
from qifsql.dataset import Dataset
from qifsql.engine.catalog import Catalog
from qifsql.engine.duckdb import DuckDB
from qifsql.engine.settings import Settings
from qifsql.errors import DatasetError, InternalError, TargetError, WeightError
from qifsql.measures import bayes
from qifsql.measures.bayes import Success
from qifsql.models import Model
from qifsql.plan import Plan
from qifsql.profile import Profile
from qifsql.spec import Attack, BoundAttack, NullRule, bind

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
    spec = Attack(
        _tuple(model.split(",") if isinstance(model, str) else model),
        Dataset.open(source),
        _tuple(qids),
        _tuple(secret),
        key,
        weight,
        where,
        null,
        dict(target or {}),
    )
    return run(spec, settings)


def run(spec: Attack, settings: Settings | None = None) -> Assessment:
    """Run an attack as it is specified (see ``attack``)."""
    started, clock = datetime.now(UTC), time.perf_counter()
    with DuckDB(settings) as engine:
        catalog = Catalog(engine, spec.dataset)
        bound = bind(replace(spec, dataset=catalog.dataset), catalog)
        return _Run(engine, bound).assess(spec, started, clock)


def check_records(engine: DuckDB, bound: BoundAttack) -> int:
    """The number of records under the filter; WeightError or DatasetError where it is no base."""
    where = bound.dataset.name
    if bound.weight is None:
        plan = compiler.records_plan(bound)
        (records,) = engine.rows(plan, "counting records", where)[0]
    else:
        plan = compiler.weights_plan(bound)
        records, unusable, least, most = engine.rows(plan, "checking weights", where)[0]
        if unusable:
            raise WeightError(
                f'weight "{bound.weight.name}" of {where} is missing, negative or infinite in '
                f"{unusable:,} of {records:,} records; mend them or leave them out with --where"
            )
        if records and least is None:
            raise WeightError(f'weight "{bound.weight.name}" of {where} is 0 in every record')
        if records and bound.weight.floating:
            _check_range(least, most, records, bound.weight.name)
    if not records:
        after = " after the filter (where)" if bound.where is not None else ""
        raise DatasetError(f"{where} has no records{after}; there is nobody to attack")
    return int(records)


def _check_range(least: float, most: float, records: int, name: str) -> None:
    """Exact sums need all bits from the least weight's last to the total's first: 126 of them."""
    bits = 53 - math.floor(math.log2(least)) + math.log2(most) + math.log2(records)
    if bits > 124 or math.log2(least) < -900:
        raise WeightError(
            f'weights "{name}" differ by too many orders of magnitude to be added exactly; '
            "round them to a DECIMAL, as in NAME=round(weight, 6)::DECIMAL(18,6)"
        )


class _Run:
    """One run: the engine, the bound attack, and the SQL of every statement sent."""

    def __init__(self, engine: DuckDB, bound: BoundAttack) -> None:
        self.engine = engine
        if all(m.goal == "re-identification" for m in bound.models):
            bound = replace(bound, secrets=())
        self.bound = bound
        self.sent: list[str] = []

    def assess(self, spec: Attack, started: datetime, clock: float) -> Assessment:
        bound = self.bound
        records = check_records(self.engine, bound)
        prior = self._profiles(compiler.profile_plan(bound, prior=True), "measuring the prior")
        after = self._profiles(self._posterior_plan(prior), "attacking")
        self._check(prior, after)
        guesses = self._guesses()
        seconds = round(time.perf_counter() - clock, 3)
        rows = [
            self._row(m, j, prior[j or min(prior)], after[j or min(after)], records, seconds)
            | (self._individual(m, j, after, guesses) if m.individual else {})
            for m in bound.models
            for j in compiler.numbers(bound, m)
        ]
        schema = SCHEMA | (INDIVIDUAL if bound.models[0].individual else {})
        return Assessment(
            pl.DataFrame(rows, schema=schema, orient="row"),
            spec_dict(spec, bound),
            "\n".join(self.sent),
            started.isoformat(timespec="seconds"),
            seconds,
            bound.dataset.paths,
            bound.notes + self._dropped(records, prior),
        )

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
        self.sent.append(dialect.script(plan))
        frame = self.engine.frame(plan, what, self.bound.dataset.name)
        of = Profile.of_counts if self.bound.weight is None else Profile.of_weights
        return {
            j: of(part.drop_nulls("size"))
            for (j,), part in frame.group_by("secret", maintain_order=True)
        }

    def _check(self, prior: Mapping[int, Profile], after: Mapping[int, Profile]) -> None:
        everybody = max(p.individuals for p in prior.values())
        name = self.bound.dataset.name
        if everybody == 0:
            raise DatasetError(f"{name} has no records left after dropping missing values")
        if self.bound.target:
            if not any(p.individuals for p in after.values()):
                raise TargetError(
                    f"the target matches none of the {everybody:,} records of {name}, so there "
                    "is nothing to infer; check the values, or ask for fewer quasi-identifiers"
                )
        elif {p.individuals for p in after.values()} != {everybody}:
            raise InternalError("the blocks do not add up to the records; please report this")

    def _row(
        self, m: Model, j: int, prior: Profile, after: Profile, records: int, seconds: float
    ) -> dict[str, Any]:
        measure = bayes.inference if j else bayes.reidentification
        before, success = measure(prior), measure(after)
        names = [q.name for q in self.bound.qids]
        return {
            "model": m.acronym.upper(),
            "datasets": 1,
            "n_qids": len(names),
            "qids": names,
            "secret": self.bound.secrets[j - 1].name if j else None,
            "records": records,
            "blocks": after.blocks,
            "singled_out": after.singled_out,
            **_numbers(before, success),
            "seconds": seconds,
        }

    def _guesses(self) -> dict[int, str | None]:
        """The best guess about the target, for each secret and (0) the owner of the record."""
        if not self.bound.target or not (self.bound.secrets or self.bound.key):
            return {}
        plan = compiler.guess_plan(self.bound)
        self.sent.append(dialect.script(plan))
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


def spec_dict(spec: Attack, bound: BoundAttack) -> dict[str, Any]:
    """What was asked for, as plain data for manifests and JSON."""
    return {
        "models": [m.acronym for m in bound.models],
        "dataset": spec.dataset.name,
        "qids": [q.name for q in bound.qids],
        "secrets": [s.name for s in bound.secrets],
        "expressions": {
            a.name: dialect.render(a.expression)
            for a in (*bound.qids, *bound.secrets)
            if a.name != a.expression.name
        },
        "key": spec.key,
        "weight": spec.weight,
        "where": spec.where,
        "null": spec.null,
        "target": dict(bound.target) or None,
    }


def _tuple(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
