"""Attacks on one release, or on releases with a person key: SQL counts, Python divides."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, cast

import polars as pl

from qifsql.adversary import sets
from qifsql.adversary.models import Model
from qifsql.adversary.options import MATCH_ANY, Options
from qifsql.adversary.spec import Attack, BoundAttack, KnownRecords
from qifsql.commands.attack import completion_bounds, further_measures, households
from qifsql.commands.attack.extras import Extras
from qifsql.commands.attack.spec import AttackOptions, refuse_others
from qifsql.counting import (
    claims,
    known_records,
    match_any_counts,
    missing_secrets,
    secret_values,
    suppressed,
)
from qifsql.counting.counts import Counts, Store
from qifsql.counting.session import opened, population_plan
from qifsql.data.collection import Source
from qifsql.engine.csv_types import remarks
from qifsql.engine.masks import private
from qifsql.engine.protocol import LocalEngine
from qifsql.engine.settings import Settings
from qifsql.engine.tables import Tables
from qifsql.errors import InputError, InternalError, TargetError, plural
from qifsql.measures import bayes
from qifsql.measures.bayes import Success
from qifsql.query import compiler
from qifsql.query.compiler import Question
from qifsql.results.assessment import (
    BOUNDS,
    GAIN,
    INDIVIDUAL,
    MEASURES,
    PEOPLE,
    REPORTED,
    SCHEMA,
    beside_reported,
    combined,
)
from qifsql.results.result import Result
from qifsql.results.storage import Origin

Request = tuple[Attack, Extras]


def specify(
    model: str | Sequence[str], source: Source, options: AttackOptions, _: Settings | None = None
) -> Request:
    """Return the attack as the user wrote it, and its extras; refuse what does not go together."""
    adversary = {n: v for n, v in options.items() if n in Options.__annotations__}
    if options.get("null") == MATCH_ANY:
        refuse_others(completion_bounds.WHO, options, completion_bounds.TAKEN_OPTIONS)
        adversary["null"] = "distinct"  # for the numbers beside the bounds
    units: Any = {name: options.get(name) for name in ("person", "household")}
    units["any_value"] = options.get("null") == MATCH_ANY
    spec = Attack.of(model, source, **units, **cast("Options", adversary))
    sets.refuse_weight(spec)
    population = options.get("population")
    if population is not None and spec.of_membership:
        spec, population = spec.among(population), None
    if population is not None and spec.of_collection:
        raise InputError(
            "the journalist's risk is about one release; leave the population out, or ask for it "
            "with a model of membership"
        )
    return spec, Extras.of(options, population)


def run(request: Request, settings: Settings | None) -> Result:
    """Attack one release, or a collection that a key joins."""
    origin = Origin.now(settings, "attack")
    spec, extras = request
    command = _command_on_spark(request)
    with (
        private(when=extras.store is not None),  # counts of few people are in a store
        opened(spec, settings, sources=extras.files, command=command) as (engine, bound),
    ):
        if not extras.progressive:
            return _Run(engine, bound, request).assess(origin)
        results = []
        for n in range(1, bound.microdata.datasets + 1):  # the first dataset, the first two, ...
            part = _Run(engine, bound.first(n), request)
            results.append(part.assess(origin))
            part.counts.forget()  # drop its tables
        return combined(results)


def measured(
    engine: LocalEngine, spec: Attack, bound: BoundAttack, origin: Origin
) -> tuple[Result, dict[int, Success]]:
    """Return the result of an attack without extras, and the prior success by secret."""
    run = _Run(engine, bound, (spec, Extras()))
    result = run.assess(origin)
    return result, {j: bayes.success(prior, j, g) for (j, g), prior in run.prior.items()}


def look_up(request: Request, settings: Settings | None) -> None:
    """Look up every name of the attack in its data, without attacking; InputError if wrong."""
    spec, extras = request
    command = _command_on_spark(request)
    with opened(spec, settings, joined=False, noted=False, command=command) as (_, bound):
        if extras.progressive:
            bound.first(1)


def _command_on_spark(request: Request) -> str:
    """Return the name of the command, if the attack also runs on Spark; otherwise no name."""
    _, extras = request
    return "" if extras.any_value else "attack"


class _Run:
    """One run: the bound attack, its extras, and its counts.

    ``assess`` computes the result and sets the attributes that it is made of. By question (number
    of a secret, number of a gain function): the profiles ``prior`` and ``after`` without and with
    quasi-identifiers, and ``reported``, the people who report the secret. By secret:
    ``by_one_record``, the blocks of equal records where people have several, ``measured``, the
    further measures, and ``guesses``, the best guesses about a target. ``everybody`` is the number
    of individuals.
    """

    def __init__(self, engine: LocalEngine, bound: BoundAttack, request: Request) -> None:
        """Check that the extras go with the attack; open its counts, with a population if any."""
        self.spec, self.extras = request
        extras = self.extras
        bound = bound if extras.any_value else suppressed.marked(engine, bound)
        self.bound = bound
        self.questions = compiler.questions(bound)
        self._check_extras()
        # Whether other questions follow than success, so that cells are kept for them.
        more = bool(bound.gains or extras.measures or self._has_details or extras.any_value)
        more |= bool(bound.thresholds and bound.microdata.weight)
        people, file = extras.population, extras.store
        plan = population_plan(engine, self.spec, bound.microdata, people) if people else None
        store = Store(file, engine.stream(str(file))) if file else None
        self.counts = Counts(engine, bound, further_questions=more, store=store)
        if plan is not None:
            self.counts.keep_rows("population", plan)

    @property
    def _has_details(self) -> bool:
        """Return whether tables of details are asked for, besides those of thresholds."""
        bound, microdata = self.bound, self.bound.microdata
        has_distributions = bound.quantiles or self.extras.histogram or self.extras.value_chances
        return bool(has_distributions or microdata.by or microdata.household)

    def _check_extras(self) -> None:
        """Refuse extras that do not go with the attack."""
        bound, extras, microdata = self.bound, self.extras, self.bound.microdata
        if extras.store and (microdata.person or microdata.household):
            raise InputError("a store takes no person and no household; leave it out")
        if microdata.person and extras.population:
            raise InputError(
                "a population has one record per person, and cannot be compared with the sets of "
                "records of a person; leave population or person out"
            )
        has_details = self._has_details or bool(bound.thresholds)
        if bound.target and (has_details or extras.store or extras.population):
            raise InputError(
                "groups, histograms, chances, thresholds, quantiles, populations and stores are "
                "about everybody; ask for them with a collective model"
            )
        if extras.value_chances:
            further_measures.check_value_chances(bound)
        if extras.any_value:
            match_any_counts.check(bound)

    def assess(self, origin: Origin) -> Result:
        """Return the result: a row per model, secret and gain function, its details and notes.

        What is counted is kept in attributes (``prior``, ``after``, ``guesses`` ...), from which
        ``_rows`` makes the rows.
        """
        checked = secret_values.check(self.counts)  # notes
        self.prior = self.counts.profiles(self.questions, prior=True)
        self.after = self.counts.profiles(self.questions, prior=False)
        self.everybody = max(p.individuals for p in self.prior.values())
        self._check_people()
        self.guesses = self._guesses()
        details = further_measures.details(self.counts, self.questions, self.extras, self.prior)
        steps: list[pl.DataFrame] = []
        if self.bound.thresholds:
            steps.append(claims.steps(self.counts, self.questions, self.prior, self.after))
        self.measured = self._measures()
        if self.extras.any_value:
            origin = self._add_bounds(origin, details)
        if self.bound.microdata.household is not None:
            self.counts.forget()  # households are counted in another attack
            details["households"] = households.rows(self.counts, self.after, details["households"])
        self.by_one_record = known_records.measure(self.counts, self.questions)
        self.reported = missing_secrets.measure(self.counts, self.questions)
        if steps and steps[0].height:  # not if all gains are others than a right guess
            steps += [r.steps for r in self.reported.values() if r.steps is not None]
            details |= further_measures.sure(self.bound, steps, self.prior, details["thresholds"])
        origin = self._describe(origin)
        rows, ids = self._rows(origin, details)
        schema = self._schema(has_details=bool(details))
        frame = pl.DataFrame(rows, schema=schema)
        tables = {
            name: further_measures.detail_table(name, lines, ids) for name, lines in details.items()
        }
        notes = self._notes(checked, rows, details)
        return Result(frame=frame, origin=origin, details=tables, notes=notes)

    def _describe(self, origin: Origin) -> Origin:
        """Return the origin with the attack, its options, its SQL and its files."""
        spec = self.spec
        options: dict[str, object] = {
            "gains": list(spec.gains) if spec.gains != ("identity",) else None,
            "prior": spec.prior,
            "by": spec.by,
            "household": spec.household,
            "thresholds": list(spec.thresholds),
            "quantiles": list(spec.quantiles),
        }
        options = {name: value for name, value in options.items() if value} | self.extras.plain()
        origin = origin.of(self.bound, spec, *self.counts.plans, **options)
        population = self.extras.population
        return origin.reading(population.paths) if population else origin

    def _rows(
        self, origin: Origin, details: Mapping[str, list[dict[str, Any]]]
    ) -> tuple[list[dict[str, Any]], dict[Question, str]]:
        """Return the rows of the result, and the ``attack_id`` of each question."""
        # People ruled out by a prior are in the release, too.
        people = max([self.everybody, *(self.counts.domain(j).people for j in self.bound.beliefs)])
        counted: dict[str, Any] = {"records": people}  # the same in all rows
        if self.bound.microdata.person is not None:
            counted = {"records": self.counts.records, "people": people, "known_records": "all"}
        rows, ids = [], {}
        for m in self.bound.models:
            for j, g in product(compiler.numbers(self.bound.microdata, m), self.bound.asked_gains):
                ids[j, g] = attack_id(origin, m, j, g)
                row = self._row(m, j, g) | self.measured[j] | counted
                row |= {"seconds": origin.seconds, "attack_id": ids[j, g]}
                row |= self._target_columns(j, g) if m.individual else {}
                row |= completion_bounds.bound_columns(details, j)
                rows.append(self._beside_reported(row, j, g))
                if j in self.by_one_record and not g:
                    blocks = self.by_one_record[j]
                    of_record = row | blocks.columns(self.prior[j, g], j, self.measured[j])
                    of_record["attack_id"] = attack_id(origin, m, j, g, "one")
                    rows.append(self._beside_reported(of_record, j, g))
        return rows, ids

    def _notes(
        self,
        checked: Sequence[str],
        rows: Sequence[Mapping[str, Any]],
        details: Mapping[str, list[dict[str, Any]]],
    ) -> tuple[str, ...]:
        """Return the notes on the result; ``checked`` are those on the values of secrets."""
        notes = [*self.bound.microdata.notes, *self.counts.note_dropped(self.everybody), *checked]
        notes += [
            f"the prior gain with {row['gain']} is 0, so posterior over prior is undefined"
            for row in rows
            if row["prior_probabilistic"] == 0
        ]
        if self.extras.any_value:
            notes += completion_bounds.notes(details["bounds"])
            notes += suppressed.notes_as_value(self.counts.engine, self.bound.microdata)
        notes += further_measures.remarks(self.counts, self.extras, self.after)
        notes += [*self._note_on_empty_groups(details), *self._note_on_sets()]
        return tuple(dict.fromkeys([*notes, *remarks(self.counts.engine)]))

    def _measures(self) -> dict[int, dict[str, Any]]:
        """Return the measures of each secret, by its number (0: re-identification).

        The measures of the channel take the suppressed records as one more value, ``*``, so people
        are counted again for them: last, when the other tables can go.
        """
        # Reversed: of several gains of a secret, the first stays.
        profiles = [(j, self.prior[j, g], self.after[j, g]) for j, g in reversed(self.questions)]
        extras, counts, microdata = self.extras, self.counts, self.bound.microdata
        measures = {
            j: further_measures.measures_of_blocks(counts, extras, j, then)
            for j, _, then in profiles
        }
        if microdata.suppressed and further_measures.CHANNEL_MEASURES & {*extras.measures}:
            counts.forget()
            as_value = self.bound.on(replace(microdata, suppressed=0))
            counts = Counts(counts.engine, as_value, further_questions=True)
            after = counts.profiles(self.questions, prior=False)
            profiles = [(j, self.prior[j, g], after[j, g]) for j, g in reversed(self.questions)]
        for j, before, then in profiles:
            measures[j] |= further_measures.measures_of_channel(counts, extras, j, before, then)
        if counts is not self.counts:
            counts.forget()
            self.counts.plans += counts.plans
        return measures

    def _schema(self, *, has_details: bool) -> dict[str, pl.DataType]:
        """Return the columns of the result's frame; ``attack_id`` joins it to details, if any."""
        schema = SCHEMA | (INDIVIDUAL if self.bound.models[0].individual else {})
        schema |= GAIN if self.bound.gains else {}
        schema |= PEOPLE if self.bound.microdata.person is not None else {}
        schema |= BOUNDS if self.extras.any_value else {}
        schema |= REPORTED if self.reported else {}
        for name in self.extras.measures:
            schema |= MEASURES[name]
        return schema | ({"attack_id": pl.String()} if has_details else {})

    def _add_bounds(self, origin: Origin, details: dict[str, list[dict[str, Any]]]) -> Origin:
        """Add the bounds over all completions to the details; return the origin with their SQL."""
        tables = Tables(self.counts.engine, "comparing missing values", self.counts.where)
        counted = {}
        for j, g in self.questions:
            # Re-identification (0) is about blocks, which are those of any secret.
            secret = j or min(1, len(self.bound.microdata.secrets))
            if secret not in counted:
                counted[secret] = match_any_counts.count(
                    self.counts, secret, tables, complete_secrets=True
                )
            rows = completion_bounds.rows(counted[secret], j, self.prior[j, g], self.after[j, g])
            details.setdefault("bounds", []).extend(rows)
        return origin.sending(tables.statements)

    def _check_people(self) -> None:
        """Refuse a target that nobody matches; without a target, check that blocks add up."""
        prior, after = self.prior, self.after
        if not self.bound.target:
            if any(after[q].individuals != prior[q].individuals for q in prior):
                raise InternalError("the blocks do not add up to the records; please report this")
        elif any(p.individuals for p in after.values()):
            if set(after) != set(prior):  # a question without people has no profile
                raise InputError("the prior rules out every value that people like the target have")
        elif all(secret in self.bound.beliefs for secret, _ in prior):
            raise TargetError(
                "the prior rules out every value that people like the target have, if there are "
                "any; check both"
            )
        else:
            raise TargetError(
                f"the target matches none of the {self.everybody:,} records of "
                f"{self.bound.microdata.dataset.name}, so there is nothing to infer; check the "
                "values, or ask for fewer quasi-identifiers"
            )

    def _row(self, m: Model, j: int, g: int) -> dict[str, Any]:
        """Return the columns of success of secret j (0: the record) and gain g (0: identity)."""
        names = [q.name for q in self.bound.microdata.qids]
        profile = self.after[j, g]
        before, then = (bayes.success(p, j, g) for p in (self.prior[j, g], profile))
        if j in self.bound.beliefs:  # beliefs are doubles: a rounded success may seem to fall
            then = then.not_below(before)
        return {
            "model": m.acronym.upper(),
            "datasets": self.bound.microdata.datasets,
            "n_qids": len(names),
            "qids": names,
            "secret": self.bound.microdata.secrets[j - 1].name if j else None,
            "blocks": profile.blocks,
            "singled_out": profile.singled_out,
            "gain": self.bound.gain(g).text,
            "gain_unit": self.extras.unit,
            **bayes.row(before, then),
        }

    def _beside_reported(self, row: dict[str, Any], j: int, g: int) -> dict[str, Any]:
        """Return a row with the numbers of its people with a reported secret, if some miss it."""
        if not self.reported:
            return row
        people = self.reported.get((j, g))
        if people is None:
            return beside_reported(row, None)
        is_of_record = row.get("known_records") == "one"
        columns = people.columns_of_one_record() if is_of_record else people.columns()
        return beside_reported(row, columns)

    def _guesses(self) -> dict[int, str | None]:
        """Return the best guesses about the target, as texts, by secret (0: whose record it is)."""
        if not self.bound.target or not (self.bound.microdata.secrets or self.bound.microdata.key):
            return {}
        plan = compiler.guess_plan(self.bound)
        self.counts.plans.append(plan)
        rows = self.counts.engine.rows(plan, "guessing", self.bound.microdata.dataset.name)
        return {j: guess for j, _, guess in rows}

    def _target_columns(self, j: int, g: int) -> dict[str, Any]:
        """Return the target, how many people match it, and the best guess of the secret ``j``."""
        values = (f"{k}={'(missing)' if v is None else v}" for k, v in self.bound.target.items())
        return {
            "target": ", ".join(values),
            "matches": self.after[j, g].individuals,
            "best_guess": None if g else self.guesses.get(j),
        }

    def _note_on_empty_groups(self, details: Mapping[str, list[dict[str, Any]]]) -> list[str]:
        """Return a note on groups in which nobody has any weight: they have no results."""
        if self.bound.microdata.by is None or self.bound.microdata.weight is None:
            return []
        plan = compiler.everyone_plan(self.bound)
        name = self.bound.microdata.dataset.name
        ((n_groups,),) = self.counts.engine.rows(plan, "counting groups", name)
        empty = n_groups - len({row["group"] for row in details["groups"]})
        if not empty:
            return []
        groups = f"{plural(empty, 'group')} of {self.bound.microdata.by.name}"
        return [f"nobody in {groups} has any weight, so nothing can be said there"]

    def _note_on_sets(self) -> tuple[str, ...]:
        """Return a note on the sets of records of people with several; () if records are people."""
        if self.bound.microdata.person is None:
            return ()
        records = plural(self.counts.records, "record")
        if self.bound.microdata.null == "drop":
            records += " (without those that miss a value)"
        return (
            f"the {records} are those of {plural(self.everybody, 'person')}: the adversary knows "
            "all records of a person, or one of them; her secret is the values of all",
        )


def attack_id(
    origin: Origin, model: Model, secret: int, gain: int, known_records: KnownRecords = "all"
) -> str:
    """Return the identifier that joins details to their row, a digest of the whole question."""
    parts = [dict(origin.spec), model.acronym, secret, gain]
    parts += [known_records] if known_records != "all" else []
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
