"""Attacks by an adversary whose knowledge has errors and gaps, next to the exact adversary.

Source: M150 to M158.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from qifsql.adversary.laws import EXACT, Law, laws
from qifsql.adversary.spec import Attack, BoundAttack, refuse
from qifsql.commands.attack import keyed
from qifsql.commands.attack.noisy import (
    bind,
    elimination,
    expectations,
    law_files,
    law_tables,
    reporting_people,
)
from qifsql.commands.attack.noisy.bind import NoisyQid
from qifsql.commands.attack.noisy.coding import Coded
from qifsql.commands.attack.noisy.draws import Draws
from qifsql.commands.attack.noisy.elimination import Outcome
from qifsql.commands.attack.spec import IDENTITY, AttackOptions
from qifsql.counting import suppressed
from qifsql.counting.session import opened
from qifsql.data.collection import Source
from qifsql.data.dataset import Dataset
from qifsql.data.option import check_names
from qifsql.engine.settings import FREED_LATE, Settings
from qifsql.errors import InputError, quoted
from qifsql.measures import bayes
from qifsql.measures.bayes import Success
from qifsql.query import compiler
from qifsql.results.assessment import REPORTED, SCHEMA, beside_reported
from qifsql.results.result import Result
from qifsql.results.storage import Origin, streamed_place

NOISY: dict[str, pl.DataType] = {"knows": pl.String(), "low": pl.Float64(), "high": pl.Float64()}
"""Further columns of attacks with noisy knowledge. ``knows`` is ``exact`` for the adversary who
knows every quasi-identifier (and takes each cell to be true), otherwise the laws of the one whose
knowledge has errors and gaps, or who knows by which matrix the cells were drawn.
``low`` and ``high`` are the ends of the 95 % interval of ``posterior_probabilistic`` where people
were drawn; NULL where it is exact. ``blocks`` are then the combinations that may be known, and
``singled_out`` and ``individuals_certain`` are the chances that leave no doubt, in people, rounded
down (with weights: that share of the records); ``blocks`` and ``worst_case`` are NULL where people
were drawn. So are ``certain_reported`` and ``certain_missing``, where some people miss the secret;
the success after the release against those who report it is NULL where people were drawn, or
where there are too many pairs to count it exactly."""

RANDOMISED = (
    "{column} was drawn by a matrix: the prior and the success are about its true values, and not "
    "about those with a reported value alone"
)
UNREPORTED = (
    "where people are drawn, or there are too many pairs, the success against those with a "
    "reported secret is not measured; a missing secret is a value there"
)
REFUSED = ("prior", "by", "thresholds", "quantiles", "target", "person", "household")
EXTRAS = ("measures", "histogram", "unit", "population", "progressive", "store")


@dataclass(frozen=True, kw_only=True)
class Request:
    """The question: the attack of the exact adversary, the laws of the other one.

    ``draws`` is the number of people to draw, None for an exact sum where it is possible.
    ``records`` is the file of a row per person, None without one.
    """

    spec: Attack
    laws: tuple[Law, ...]
    draws: int | None
    records: Path | None

    @property
    def tables(self) -> tuple[Dataset, ...]:
        """Return the tables that laws name."""
        return tuple(Dataset.open(law.table) for law in self.laws if law.table)

    def plain(self) -> dict[str, Any]:
        """Return the options of noisy knowledge as plain data."""
        return {"knows": [law.plain() for law in self.laws], "draws": self.draws}


def attack(
    model: str | Sequence[str],
    source: Source,
    *,
    settings: Settings | None = None,
    **options: Unpack[AttackOptions],
) -> Result:
    """Attack with exact and with noisy knowledge; the options are those of ``qifsql.attack``.

    The result has the columns of ``results.assessment.SCHEMA`` and ``NOISY``, two rows per model
    and secret.
    """
    request = specify(model, source, options, settings)
    settings = settings or Settings()
    origin = Origin.now(settings, "attack")
    with opened(
        request.spec,
        settings,
        sources=request.tables,
        outputs=[] if request.records is None else [request.records],
        ordered=request.records is not None,
        command="attack",
    ) as (engine, bound):
        _check_models(bound)
        engine.here.set_aside(FREED_LATE)
        noisy = bind.bind(request.laws, bound.microdata.qids, bound.microdata.secrets)
        _check_records(request, noisy, bound)
        listed = law_files.read_tables(noisy, engine)
        exact, priors = keyed.measured(engine, request.spec, bound, origin)
        coded = Coded(engine, bound, noisy)
        law_tables.make(coded, listed)
        outcomes = _outcomes(coded, [0, *(j for j in priors if j)], request, settings)
        rows = _rows_of_both(coded, request, exact.frame, priors, outcomes)
        origin = _origin_of(exact.origin, request).sending(coded.tables.statements)
        notes = [*exact.notes, *coded.notes, *_method_notes(outcomes, bound, request, noisy)]
        as_value = suppressed.notes_as_value(engine, bound.microdata)
        notes += [f"where she errs, {note}" for note in as_value]
        if request.records is not None:
            expectations.write(coded, request.records, origin, notes)
    schema = SCHEMA | (REPORTED if "reported" in exact.frame.columns else {}) | NOISY
    rows = [{c: row[c] for c in schema} | {"seconds": origin.seconds} for row in rows]
    frame = pl.DataFrame(_by_question(rows), schema=schema)
    return Result(frame=frame, origin=origin, details={}, notes=tuple(dict.fromkeys(notes)))


def _rows_of_both(
    coded: Coded,
    request: Request,
    exact: pl.DataFrame,
    priors: Mapping[int, Success],
    outcomes: Mapping[int, Outcome],
) -> list[dict[str, Any]]:
    """Return the rows of the exact adversary, then in the same order those of the one who errs.

    ``priors`` and ``outcomes`` have the success before and after by secret; 0 is re-identification.
    """
    secrets = _secret_numbers(coded.bound)
    knows = "; ".join(law.plain() for law in request.laws)
    rows = [row | dict.fromkeys(NOISY) | {"knows": EXACT} for row in exact.to_dicts()]
    rows += [
        _noisy_row(row, coded.prior(j, priors[j]), outcomes[j], people=outcomes[0])
        | {"knows": knows}
        for row, j in zip(rows, secrets, strict=True)
    ]
    if "reported" in exact.columns:  # some people miss the secret
        _add_reported(coded, rows, secrets, outcomes)
        unmeasured = [
            j
            for row, j in zip(rows, [*secrets, *secrets], strict=True)
            if j and row["certain_missing"] is None
        ]
        if set(unmeasured) - coded.randomised.keys():
            coded.notes.append(UNREPORTED)
    return rows


def _origin_of(exact: Origin, request: Request) -> Origin:
    """Return the origin of the exact adversary with the request and tables of the other one."""
    tables = (path for table in request.tables for path in table.paths)
    paths = (*exact.paths, *tables)
    return exact.about({**exact.spec, **request.plain()}, paths, *exact.plans)


def rehearse(
    model: str | Sequence[str],
    source: Source,
    settings: Settings | None = None,
    **options: Unpack[AttackOptions],
) -> None:
    """Look up every name of an attack with noisy knowledge, without attacking."""
    request = specify(model, source, options, settings)
    tables = request.tables
    with opened(
        request.spec, settings, sources=tables, joined=False, noted=False, command="attack"
    ) as (
        engine,
        bound,
    ):
        _check_models(bound)
        microdata = bound.microdata
        noisy = bind.bind(request.laws, microdata.qids, microdata.secrets)
        _check_records(request, noisy, bound)
        law_files.read_tables(noisy, engine)


def specify(
    model: str | Sequence[str],
    source: Source,
    options: AttackOptions,
    settings: Settings | None = None,
) -> Request:
    """Return the request; raise InputError if noisy knowledge does not go with an option."""
    check_names(options, AttackOptions)
    if settings is not None and settings.engine_name == "spark":
        raise InputError(
            "noisy knowledge (knows) is measured by DuckDB alone; use --engine duckdb, or leave "
            "knows out"
        )
    if options.get("link") is not None:
        raise InputError(
            "noisy knowledge (knows) is about releases that are single or have a key; leave out "
            "knows, or link"
        )
    refuse(options, "an attack with noisy knowledge (knows)", *REFUSED, *EXTRAS)
    if options.get("gain") not in IDENTITY:
        raise InputError("an attack with noisy knowledge (knows) does not take gain; leave it out")
    if options.get("null") == "match-any":
        raise InputError(
            "an attack with noisy knowledge (knows) takes a missing value as one value; leave "
            "match-any out, or knows"
        )
    named = laws(options["knows"] or ())
    spec, _ = keyed.specified(model, source, options)
    draws, out = options.get("draws"), options.get("records")
    if draws is not None and draws < 2:
        raise InputError("draws is a number of people, 2 or more, such as 10000")
    if draws is not None and out is not None:
        raise InputError(
            "a row per person (records) needs the exact sums; leave out draws, or records"
        )
    request = Request(spec=spec, laws=named, draws=draws, records=None)
    paths = [path for dataset in (spec.dataset, *request.tables) for path in dataset.paths]
    return replace(request, records=streamed_place(out, paths))


def _check_models(bound: BoundAttack) -> None:
    """Refuse models of one person."""
    for m in bound.models:
        if m.individual:
            raise InputError(
                f"{m.acronym} is about one person, whose values are named as they are; noisy "
                f"knowledge (knows) is about everybody: use c{m.acronym[1:]}"
            )


def _check_records(request: Request, noisy: Sequence[NoisyQid], bound: BoundAttack) -> None:
    """Refuse a row per record where a secret was randomised: nobody knows it exactly."""
    if request.records is not None and any(q.number > len(bound.microdata.qids) for q in noisy):
        raise InputError(
            "a row per person (records) compares with exact knowledge, and a secret with a matrix "
            "is not known exactly; leave out records, or the matrix of the secret"
        )


def _secret_numbers(bound: BoundAttack) -> list[int]:
    """Return the number of the secret of each row of the exact adversary."""
    return [j for m in bound.models for j in compiler.numbers(bound.microdata, m)]


def _outcomes(
    coded: Coded, secrets: Sequence[int], request: Request, settings: Settings
) -> dict[int, Outcome]:
    """Return the success at each secret, 0 being re-identification; people are drawn if needed."""
    exact: dict[int, Outcome | None] = {
        j: None if request.draws else elimination.measure(coded, j) for j in secrets
    }
    if all(outcome is not None for outcome in exact.values()):
        return {j: outcome for j, outcome in exact.items() if outcome is not None}
    if request.records is not None:
        raise InputError(
            f"a row per person (records) would compare more than {elimination.PAIRS:,} pairs of "
            "people and of what is known of them; let fewer quasi-identifiers have a law, or "
            "measure them in larger units"
        )
    draws = Draws(coded, seed=settings.seed or 0, draws=request.draws)
    return {j: outcome or draws.measure(j) for j, outcome in exact.items()}


def _noisy_row(
    row: Mapping[str, Any], prior: Success, outcome: Outcome, *, people: Outcome
) -> dict[str, Any]:
    """Return the row of the adversary with noisy knowledge from that of the exact one.

    ``people`` is the outcome of re-identification.
    """
    after = outcome.success
    sampled = outcome.draws > 0
    return {
        **row,
        "blocks": outcome.blocks,
        "singled_out": people.success.certain,
        **bayes.row(prior, after),
        **({"worst_case": None} if sampled else {}),  # draws may miss it
        "low": outcome.low,
        "high": outcome.high,
    }


def _add_reported(
    coded: Coded,
    rows: Sequence[dict[str, Any]],
    secrets: Sequence[int],
    outcomes: Mapping[int, Outcome],
) -> None:
    """Add the columns ``REPORTED`` to the rows of who errs, which follow those of the exact one.

    ``secrets`` are the numbers of the secrets of the rows. The success against those with a
    reported secret is NULL where people are drawn, or where there are too many pairs.
    """
    exact, noisy = rows[: len(secrets)], rows[len(secrets) :]
    for before, row, j in zip(exact, noisy, secrets, strict=True):
        if not j or before["reported"] == before["records"]:
            row.update(beside_reported(row, None))
        elif j in coded.randomised:
            row.update(dict.fromkeys(REPORTED) | {"reported": before["reported"]})
        elif not before["reported"]:  # it is known to be missing, whatever else is known
            row.update({name: before[name] for name in REPORTED})
        elif outcomes[j].draws:
            row.update(reporting_people.unmeasured(before))
        else:
            row.update(reporting_people.columns(coded, before, j))


def _by_question(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with both adversaries of a question together."""
    half = len(rows) // 2
    return [row for pair in zip(rows[:half], rows[half:], strict=True) for row in pair]


def _method_notes(
    successes: Mapping[int, Outcome],
    bound: BoundAttack,
    request: Request,
    noisy: Sequence[NoisyQid],
) -> list[str]:
    """Return notes on the pairs that were counted, and on people who were drawn."""
    notes = []
    if not noisy:
        return ["every law says that all is known exactly, so both adversaries are the same"]
    notes += [
        RANDOMISED.format(column=quoted(q.attribute.name))
        for q in noisy
        if q.number > len(bound.microdata.qids)
    ]
    drawn = {j: outcome for j, outcome in successes.items() if outcome.draws}
    exact = [outcome.pairs for outcome in successes.values() if not outcome.draws]
    if exact:
        notes.append(
            f"exact: {sum(exact):,} pairs of people alike and of what may be known of them were "
            f"counted (at most {elimination.PAIRS:,} in one step)"
        )
    if drawn:
        names = [bound.microdata.secrets[j - 1].name if j else "re-identification" for j in drawn]
        number = next(iter(drawn.values())).draws
        why = (
            "as asked for"
            if request.draws
            else f"because the exact sum has more than {elimination.PAIRS:,} pairs in one step"
        )
        notes.append(
            f"{', '.join(names)}: {number:,} people were drawn, {why}; low and high are the 95 % "
            "interval (other seeds draw others: --seed)"
        )
    return notes
