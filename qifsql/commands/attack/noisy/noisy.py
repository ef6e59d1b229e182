"""Attacks by an adversary whose knowledge has errors and gaps, next to the exact adversary.

Source: M150 to M158, M194.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from qifsql.adversary.bind_gains import certainties
from qifsql.adversary.laws import EXACT, Law, laws
from qifsql.adversary.options import MATCH_ANY
from qifsql.adversary.spec import Attack, BoundAttack
from qifsql.commands.attack import keyed
from qifsql.commands.attack.noisy import bind, draws, elimination, expectations, law_tables
from qifsql.commands.attack.noisy.bind import NoisyQid
from qifsql.commands.attack.noisy.coding import Coded
from qifsql.commands.attack.noisy.elimination import Outcome
from qifsql.commands.attack.spec import AttackOptions, refuse_others, require_duckdb
from qifsql.counting import suppressed
from qifsql.counting.session import opened
from qifsql.data.collection import Source
from qifsql.data.dataset import Dataset
from qifsql.engine.settings import FREED_LATE, Settings
from qifsql.errors import InputError, quoted
from qifsql.measures import anonymity_loss, bayes
from qifsql.measures.bayes import Success
from qifsql.query import compiler
from qifsql.query.microdata_steps import twice_where_reported
from qifsql.results.assessment import DETAILS, REPORTED, SCHEMA, beside_reported
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
WHO = "an attack with noisy knowledge (knows)"
TAKEN_OPTIONS = (
    *("qids", "secret", "weight", "where", "null", "member", "key", "wave", "absent"),
    *("thresholds", "knows", "draws", "records"),
)
INSTEAD = {"link": "it is about releases that are single or have a key"}


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


def run(request: Request, settings: Settings | None) -> Result:
    """Attack with exact and with noisy knowledge.

    The result has the columns of ``results.assessment.SCHEMA`` and ``NOISY``, two rows per model
    and secret. Where the request names a file of records, it is written.
    """
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
        noisy = _bind_laws(request, bound)
        engine.here.set_aside(FREED_LATE)
        listed = law_tables.read_tables(noisy, engine)
        exact, priors = keyed.measured(engine, request.spec, bound, origin)
        coded = Coded(engine, bound, noisy)
        law_tables.make(coded, listed)
        outcomes = _outcomes(coded, [0, *(j for j in priors if j)], request, settings)
        rows = _rows_of_both(coded, request, exact.frame, priors, outcomes)
        details = _claims_of_both(exact.details, rows, outcomes, coded) if bound.thresholds else {}
        paths = (*exact.origin.paths, *(path for table in request.tables for path in table.paths))
        spec = {**exact.origin.spec, **request.plain()}
        origin = exact.origin.about(spec, paths, *exact.origin.plans)
        origin = origin.sending(coded.tables.statements)
        notes = [*exact.notes, *coded.notes, *_method_notes(outcomes, bound, request, noisy)]
        as_value = suppressed.notes_as_value(engine, bound.microdata)
        notes += [f"where she errs, {note}" for note in as_value]
        if request.records is not None:
            expectations.write(coded, request.records, origin, notes)
    schema = SCHEMA | (REPORTED if "reported" in exact.frame.columns else {}) | NOISY
    schema |= {"attack_id": pl.String()} if details else {}
    frame = pl.DataFrame([row | {"seconds": origin.seconds} for row in rows], schema=schema)
    return Result(frame=frame, origin=origin, details=details, notes=tuple(dict.fromkeys(notes)))


def _rows_of_both(
    coded: Coded,
    request: Request,
    exact: pl.DataFrame,
    priors: Mapping[int, Success],
    outcomes: Mapping[int, Outcome],
) -> list[dict[str, Any]]:
    """Return two rows per question: of the exact adversary, and of the one who errs.

    ``priors`` and ``outcomes`` have the success before and after by secret; 0 is re-identification.
    May add a note to ``coded``, if the success against people who report a secret is not measured.
    """
    bound = coded.bound
    # The secret of each row of ``exact``.
    secrets = [j for m in bound.models for j in compiler.numbers(bound.microdata, m)]
    knows = "; ".join(law.plain() for law in request.laws)
    rows: list[dict[str, Any]] = []
    for row, j in zip(exact.to_dicts(), secrets, strict=True):
        before = coded.prior(j, priors[j])
        noisy = _noisy_row(row, before, outcomes[j], reidentified=outcomes[0])
        if "reported" in exact.columns:  # some people miss a secret
            noisy |= _reported_columns(coded, row, noisy, j, outcomes[j])
            is_counted = None not in (row["certain_missing"], noisy["certain_missing"])
            if j and j not in coded.randomised and not is_counted:
                coded.notes.append(UNREPORTED)
        rows += [row | dict.fromkeys(NOISY) | {"knows": EXACT}, noisy | {"knows": knows}]
    return rows


def _claims_of_both(
    exact: Mapping[str, pl.DataFrame],
    rows: list[dict[str, Any]],
    outcomes: Mapping[int, Outcome],
    coded: Coded,
) -> dict[str, pl.DataFrame]:
    """Return the details ``sure`` and ``sure_curve`` of both adversaries: who is named when sure.

    ``exact`` are the details of the exact adversary. Of the other one there are the claims at the
    asked thresholds: expected numbers of people, ``claims`` rounded down. Where people were drawn
    there are none. ``rows`` of the latter, every second one, get an ``attack_id`` of their own.
    """
    names = [None, *(secret.name for secret in coded.bound.microdata.secrets)]  # of outcomes
    is_weighted = coded.bound.microdata.weight is not None
    lines = []
    for row in rows[1::2]:
        of_both = f"{row['attack_id']} {row['knows']}"
        row["attack_id"] = hashlib.sha256(of_both.encode()).hexdigest()[:12]
        outcome = outcomes[names.index(row["secret"])]
        before = row["prior_probabilistic"] if row["secret"] is None else None  # else not counted
        for threshold, (named, right) in outcome.claims.items():
            line = {"attack_id": row["attack_id"], "of_reported": False, "threshold": threshold}
            line |= {"claims": int(named * coded.records), "coverage": float(named)}
            line |= {"right": None if is_weighted else float(right * coded.records)}
            if named:
                line |= {"precision": float(right / named), "precision_before": before}
            lines.append(line | {"greatest": False})
    noisy = pl.DataFrame(lines, schema=DETAILS["sure"])
    is_known = pl.col("precision_before").is_not_null()
    loss = anonymity_loss.loss(*map(pl.col, ("precision", "precision_before", "coverage")))
    noisy = noisy.with_columns(alc=pl.when(is_known).then(loss))
    return {"sure": pl.concat([exact["sure"], noisy]), "sure_curve": exact["sure_curve"]}


def _reported_columns(
    coded: Coded, exact: dict[str, Any], noisy: dict[str, Any], j: int, outcome: Outcome
) -> dict[str, Any]:
    """Return the columns ``REPORTED`` of the one who errs about secret ``j`` (0: the record).

    ``exact`` and ``noisy`` are the rows of both adversaries. The success against those with a
    reported secret is NULL where people are drawn, or where there are too many pairs.
    """
    if not j or exact["reported"] == exact["records"]:
        return beside_reported(noisy, None)
    if j in coded.randomised:
        return dict.fromkeys(REPORTED) | {"reported": exact["reported"]}
    if not exact["reported"]:  # it is known to be missing, whatever else is known
        return {name: exact[name] for name in REPORTED}
    if outcome.draws:
        return _uncounted_reported(exact)
    return _count_reported(coded, exact, j)


def look_up(request: Request, settings: Settings | None) -> None:
    """Look up every name of an attack with noisy knowledge, without attacking."""
    access: Any = {"sources": request.tables, "command": "attack"}
    with opened(request.spec, settings, joined=False, noted=False, **access) as (engine, bound):
        law_tables.read_tables(_bind_laws(request, bound), engine)


def specify(
    model: str | Sequence[str],
    source: Source,
    options: AttackOptions,
    settings: Settings | None = None,
) -> Request:
    """Return the request; raise InputError if noisy knowledge does not go with an option."""
    require_duckdb(WHO, settings)
    refuse_others(WHO, options, TAKEN_OPTIONS, INSTEAD)
    if options.get("null") == MATCH_ANY:
        raise InputError(f"{WHO} takes a missing value as one value; leave match-any out, or knows")
    named = laws(options["knows"] or ())
    spec, _ = keyed.specify(model, source, options)
    number, out = options.get("draws"), options.get("records")
    if number is not None and number < 2:
        raise InputError("draws is a number of people, 2 or more, such as 10000")
    if number is not None and out is not None:
        raise InputError(
            "a row per person (records) needs the exact sums; leave out draws, or records"
        )
    request = Request(spec=spec, laws=named, draws=number, records=None)
    paths = [path for dataset in (spec.dataset, *request.tables) for path in dataset.paths]
    return replace(request, records=streamed_place(out, paths))


def _bind_laws(request: Request, bound: BoundAttack) -> tuple[NoisyQid, ...]:
    """Return the columns that are not known exactly, with their laws.

    Refuses models of one person, and a row per record where a secret was randomised, as no exact
    adversary knows it.
    """
    for m in bound.models:
        if m.individual:
            raise InputError(
                f"{m.acronym} is about one person, whose values are named as they are; noisy "
                f"knowledge (knows) is about everybody: use c{m.acronym[1:]}"
            )
    qids = bound.microdata.qids
    noisy = bind.bind(request.laws, qids, bound.microdata.secrets)
    if request.records is not None and any(q.number > len(qids) for q in noisy):
        raise InputError(
            "a row per person (records) compares with exact knowledge, and a secret with a matrix "
            "is not known exactly; leave out records, or the matrix of the secret"
        )
    return noisy


def _outcomes(
    coded: Coded, secrets: Sequence[int], request: Request, settings: Settings
) -> dict[int, Outcome]:
    """Return the success at each secret, 0 being re-identification; people are drawn if needed."""
    exact: dict[int, Outcome] = {}
    for j in () if request.draws else secrets:
        thresholds = certainties(coded.bound.thresholds)
        if (outcome := elimination.measure(coded, j, thresholds=thresholds)) is not None:
            exact[j] = outcome
    if len(exact) == len(secrets):
        return exact
    if request.records is not None:
        raise InputError(
            f"a row per person (records) would compare more than {elimination.MOST_PAIRS:,} pairs "
            "of people and of what is known of them; let fewer quasi-identifiers have a law, or "
            "measure them in larger units"
        )
    draws.draw(coded, seed=settings.seed or 0, draws=request.draws)
    return {j: exact.get(j) or draws.measure(coded, j) for j in secrets}


def _noisy_row(
    row: Mapping[str, Any], prior: Success, outcome: Outcome, *, reidentified: Outcome
) -> dict[str, Any]:
    """Return the row of the adversary with noisy knowledge from that of the exact one."""
    return {
        **row,
        "blocks": outcome.blocks,
        "singled_out": reidentified.success.certain,
        **bayes.row(prior, outcome.success),
        **({"worst_case": None} if outcome.draws else {}),  # draws may miss it
        "low": outcome.low,
        "high": outcome.high,
    }


def _count_reported(coded: Coded, row: Mapping[str, Any], j: int) -> dict[str, Any]:
    """Return the columns ``bayes.REPORTED`` of secret ``j`` for the adversary who errs.

    Two attacks are measured: one on the people who report the secret; and one on everybody, in
    which those who report it have two rows with different values, so that only a missing secret
    can be certain. What is known follows the same laws in both, which depend on the values of
    everybody. ``row`` is that of the exact adversary, with these columns. If there are too many
    pairs to count, most columns are None.
    """
    microdata = coded.bound.microdata
    secret = microdata.secrets[j - 1]
    reporting = coded.attack_on(replace(microdata, secrets=(secret,), reported=True))
    everybody = coded.attack_on(replace(microdata, secrets=(twice_where_reported(secret),)))
    of_reporting = elimination.measure(reporting, 1)
    of_everybody = elimination.measure(everybody, 1)
    if of_reporting is None or of_everybody is None:  # too many pairs
        return _uncounted_reported(row)
    # Certain are those who miss the secret; who report it has two rows, so the weight is more.
    share = of_everybody.success.deterministic * everybody.attacked / coded.attacked
    success = of_reporting.success
    return _uncounted_reported(row) | {
        "posterior_deterministic_reported": float(success.deterministic),
        "posterior_probabilistic_reported": float(success.probabilistic),
        "worst_case_reported": success.worst_case,
        "certain_reported": success.certain,
        "certain_missing": int(share * coded.records),
    }


def _uncounted_reported(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns ``bayes.REPORTED``, None for those of the success after the release."""
    before = ("reported", "prior_deterministic_reported", "prior_probabilistic_reported")
    return dict.fromkeys(bayes.REPORTED) | {name: row[name] for name in before}


def _method_notes(
    successes: Mapping[int, Outcome],
    bound: BoundAttack,
    request: Request,
    noisy: Sequence[NoisyQid],
) -> list[str]:
    """Return notes on the pairs that were counted, and on people who were drawn."""
    if not noisy:
        return ["every law says that all is known exactly, so both adversaries are the same"]
    randomised = [q.attribute.name for q in noisy if q.number > len(bound.microdata.qids)]
    notes = [RANDOMISED.format(column=quoted(name)) for name in randomised]
    drawn = {j: outcome.draws for j, outcome in successes.items() if outcome.draws}
    exact = [outcome.pairs for outcome in successes.values() if not outcome.draws]
    if exact:
        notes.append(
            f"exact: {sum(exact):,} pairs of people alike and of what may be known of them were "
            f"counted (at most {elimination.MOST_PAIRS:,} in one step)"
        )
    if not drawn:
        return notes
    if bound.thresholds:
        notes.append("whom the adversary who errs names when sure is not counted from drawn people")
    names = [bound.microdata.secrets[j - 1].name if j else "re-identification" for j in drawn]
    why = f"because the exact sum has more than {elimination.MOST_PAIRS:,} pairs in one step"
    if request.draws:
        why = "as asked for"
    notes.append(
        f"{', '.join(names)}: {max(drawn.values()):,} people were drawn, {why}; low and high are "
        "the 95 % interval (other seeds draw others: --seed)"
    )
    return notes
