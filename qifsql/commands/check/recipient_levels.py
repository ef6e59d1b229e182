"""The risk of each recipient of a policy: an attempt, times the success of what is known and held.

What is known surely is an attack; with chances of knowing each quasi-identifier it is the mean
over the subsets of one sweep, which all recipients share; with laws it is an attack with noisy
knowledge. A register that is held is linked by the quasi-identifiers that it has. Source: M218.
"""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl

from qifsql.adversary.knowledge import independent
from qifsql.adversary.names import check_qids, is_in
from qifsql.adversary.spec import Attack
from qifsql.commands.attack.attack import attack
from qifsql.commands.check.result import RECIPIENTS
from qifsql.commands.check.rule_levels import level_row
from qifsql.commands.link.link import link
from qifsql.commands.sweep.sweep import sweep
from qifsql.counting.session import opened
from qifsql.data.collection import Collection, Source
from qifsql.data.dataset import Dataset, Schema, datasets
from qifsql.data.expressions import split_name
from qifsql.data.option import as_names
from qifsql.engine.catalog import Catalog
from qifsql.engine.engines import open_engine
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, quoted
from qifsql.results.assessment import readings
from qifsql.results.result import Result
from qifsql.study.policy import Policy
from qifsql.study.recipients import Recipient
from qifsql.study.rules import Rule

WORST, AVERAGE = "worst_case", "posterior_probabilistic"  # columns of attacks
LINK = "link"  # the model of a row about a register
OF_ATTACKS = ("secret", "weight", "where", "null", "person", "household")
OF_NOISE = ("secret", "weight", "where", "null")
OF_SWEEPS = ("secret", "weight", "where", "null", "person")
"""Options of a policy's adversary that each way of measuring takes."""
OF_RULES = (
    *("qids", "key", "by", "known_records", "original", "control", "split", "prior", "population"),
)
"""Options that are for rules, or that are read elsewhere."""
AT_MOST = (
    "recipient {name}: its maximum is an upper bound, the greatest risk for each set that may be "
    "known, in the mean; nobody has a greater risk"
)
AT_MOST_OF_LAWS = (
    "recipient {name}: its maximum is an upper bound, the greatest risk if nothing known were "
    "wrong or missing; nobody has a greater risk"
)
NOT_COMPOSED = (
    "recipient {name}: {file} has {secret}, too; what it and the release say of it together is not "
    "measured here (qifsql compose measures it)"
)


@dataclass(frozen=True, kw_only=True)
class Success:
    """Success of a recipient in one way, once tried: ``maximum`` and ``average`` over people.

    ``model`` is an attack's or ``LINK``. ``before`` is the average without the release, None for a
    link. ``interval`` is that of the average if people were drawn.
    """

    model: str
    qids: Sequence[str]
    secret: str | None
    maximum: float
    average: float
    before: float | None = None
    interval: tuple[float, float] | None = None
    known_records: str | None = None
    of_reported: bool = False

    def of(self, risk: str) -> float:
        """Return the ``maximum`` or the ``average``."""
        return self.maximum if risk == "maximum" else self.average


@dataclass(frozen=True)
class Assessment:
    """The success of a recipient in each way, the results that have it, and remarks."""

    recipient: Recipient
    successes: tuple[Success, ...]
    results: tuple[Result, ...]
    notes: tuple[str, ...]

    def risk(self, measure: str) -> float:
        """Return the greatest ``maximum`` or ``average`` risk of all ways."""
        return self.recipient.attempt * max(success.of(measure) for success in self.successes)

    @property
    def before(self) -> float | None:
        """Return the average risk without the release, of the way with the greatest average."""
        before = max(self.successes, key=lambda success: success.average).before
        return None if before is None else self.recipient.attempt * before


def assess(policy: Policy, source: Source, settings: Settings | None) -> list[Assessment]:
    """Return what was measured for each recipient; LineError names a recipient that is wrong."""
    swept = _sweep(policy, source, settings)
    assessments = []
    for recipient in policy.recipients:
        try:
            assessments.append(_assess(policy, recipient, source, swept, settings))
        except InputError as e:
            raise _wrong(policy, recipient, e) from e
    return assessments


def look_up(policy: Policy, source: Source, settings: Settings | None) -> None:
    """Look up the quasi-identifiers of all recipients in the data, without attacking."""
    for recipient in policy.recipients:
        try:
            spec = Attack.of("crs", source, qids=_qid_texts(policy, recipient.qids))
            if recipient.qids:
                with opened(spec, settings, joined=False, noted=False, command="check"):
                    pass
            for file in recipient.files:
                Dataset.open(file)
        except InputError as e:
            raise _wrong(policy, recipient, e) from e


def levels(policy: Policy, assessment: Assessment) -> list[dict[str, Any]]:
    """Return a level for each bound of a recipient and way to succeed; rules are numbered on."""
    recipient = assessment.recipient
    rows = []
    for risk, bound in recipient.limits.items():
        number = len(policy.rules) + recipient.number
        rule = Rule(number, (), risk, {"at_most": bound}, attempt=recipient.attempt)
        for success in _worst_readings(assessment.successes, risk):
            interval = None
            if risk == "average" and success.interval is not None:
                low, high = success.interval
                interval = rule.attempted(low), rule.attempted(high)
            value = rule.attempted(success.of(risk))
            row = {
                **{"model": success.model, "qids": list(success.qids), "secret": success.secret},
                **{"by": None, "group": None, "individuals": None, risk: success.of(risk)},
                **{"interval": interval, "known_records": success.known_records},
                "of_reported": success.of_reported,
            }
            met = rule.met(value, None, interval)  # there is no baseline
            level = level_row(rule, row, value, before=None, met=met)
            rows.append(level | {"recipient": recipient.name})
    return rows


def _worst_readings(successes: Sequence[Success], risk: str) -> list[Success]:
    """Return the success of each question in its worst reading, and that of each register.

    Readings are all records of a person known or one, and everybody or who reports the secret.
    """
    worst: dict[object, Success] = {}
    for n, success in enumerate(successes):
        question = n if success.model == LINK else (success.model, success.secret)
        if question not in worst or success.of(risk) > worst[question].of(risk):
            worst[question] = success
    return list(worst.values())


def summary(
    assessments: Sequence[Assessment], frame: pl.DataFrame, today: datetime.date
) -> pl.DataFrame:
    """Return a row per recipient, as in ``RECIPIENTS``; ``frame`` has the levels of the verdict."""
    rows = []
    for assessment in assessments:
        recipient = assessment.recipient
        is_met = all(frame.filter(recipient=recipient.name)["met"])
        rows.append(
            {
                "name": recipient.name,
                "attempt": recipient.attempt,
                "maximum": assessment.risk("maximum"),
                "average": assessment.risk("average"),
                "before": assessment.before,
                "until": None if recipient.until is None else recipient.until.isoformat(),
                "met": is_met and not recipient.has_expired(today),
            }
        )
    return pl.DataFrame(rows, schema=RECIPIENTS)


def _wrong(policy: Policy, recipient: Recipient, error: InputError) -> InputError:
    message = f"recipient {quoted(recipient.name)}: {error}"
    return policy.lines.wrong(message, "recipient", recipient.number - 1)


def _assess(
    policy: Policy,
    recipient: Recipient,
    source: Source,
    swept: Result | None,
    settings: Settings | None,
) -> Assessment:
    """Return what was measured for one recipient; ``swept`` has the subsets that may be known.

    It is one attack on what is known (surely, with errors, or as the mean over ``swept``), and a
    link with each register that is held.
    """
    successes: list[Success] = []
    results: list[Result] = []
    notes: list[str] = []
    texts = _qid_texts(policy, recipient.qids)
    models = ["crs", "cas"] if as_names(policy.adversary.get("secret")) else ["crs"]
    if recipient.is_sure and recipient.qids:
        options = _options(policy, OF_ATTACKS, "an attack")
        result = attack(models, source, qids=texts, settings=settings, **options)
        successes += [success for row in result.rows() for success in _successes(row)]
        results.append(result)
    elif recipient.laws:
        options = _options(policy, OF_NOISE, "knowledge with errors (a law)")
        knows = recipient.knowledge
        result = attack(models, source, qids=texts, knows=knows, settings=settings, **options)
        successes += _noisy_successes(result)
        results.append(result)
        notes.append(AT_MOST_OF_LAWS.format(name=quoted(recipient.name)))
    elif recipient.qids and swept is not None:
        successes += _mean_successes(recipient, swept)
        results.append(swept)
        notes.append(AT_MOST.format(name=quoted(recipient.name)))
    for result in results:  # what is written in another way, or is a pattern, has no chance in it
        check_qids(recipient.qids, result.spec["qids"])
    for file in recipient.holds:
        result, schema = _linked(policy, recipient, source, file, settings)
        row = result.frame.row(0, named=True)
        maximum, average = row["journalist_risk"] or 0.0, row["marketer_risk"] or 0.0
        qids = row["qids"]
        successes.append(
            Success(model=LINK, qids=qids, secret=None, maximum=maximum, average=average)
        )
        results.append(result)
        for secret in filter(schema.find, as_names(policy.adversary.get("secret"))):
            about = {"name": quoted(recipient.name), "file": file.name, "secret": quoted(secret)}
            notes.append(NOT_COMPOSED.format(**about))
    known_records = policy.adversary.get("known_records")
    # Those of the records that the policy takes to be known; a link says nothing of that.
    successes = [s for s in successes if known_records in (None, s.known_records or known_records)]
    return Assessment(recipient, tuple(successes), tuple(results), tuple(notes))


def _options(policy: Policy, taken: Sequence[str], what: str) -> dict[str, Any]:
    """Return the options of the policy's adversary; refuse those that a way of measuring lacks."""
    for name in policy.adversary:
        if name not in taken and name not in OF_RULES:
            raise InputError(f"{what} of a recipient does not take {name}; leave it out")
    return {name: policy.adversary[name] for name in taken if name in policy.adversary}


def _qid_texts(policy: Policy, names: Sequence[str]) -> list[str]:
    """Return quasi-identifiers by their names: as the adversary defines them, or columns."""
    texts = as_names(policy.adversary.get("qids") or ())
    defined = {(split_name(text) or (text, ""))[0]: text for text in texts}
    return [defined.get(name, name) for name in names]


def _successes(row: Mapping[str, Any]) -> Iterator[Success]:
    """Yield the success in a row of an attack, and that against those with a reported secret."""
    for reading in readings(row):
        yield Success(
            model=reading["model"],
            qids=reading["qids"],
            secret=reading["secret"],
            maximum=reading["worst_case"],
            average=reading["posterior_probabilistic"],
            before=reading["prior_probabilistic"],
            known_records=reading.get("known_records"),
            of_reported=reading["of_reported"],
        )


def _noisy_successes(result: Result) -> Iterator[Success]:
    """Yield the success of knowledge with errors; at most that of the exact row before it.

    Rows of the attack are pairs: what would be known without errors, and with them.
    """
    rows = list(result.rows())
    for exact, noisy in zip(rows[::2], rows[1::2], strict=True):
        interval = None if noisy["high"] is None else (noisy["low"], noisy["high"])
        for greatest, success in zip(_successes(exact), _successes(noisy), strict=False):
            yield replace(success, maximum=greatest.maximum, interval=interval)


def _sweep(policy: Policy, source: Source, settings: Settings | None) -> Result | None:
    """Return the sweep over all that may be known with a chance; None if nothing is."""
    uncertain = [r for r in policy.recipients if r.qids and not r.is_sure and not r.laws]
    if not uncertain:
        return None
    names = list(dict.fromkeys(name for recipient in uncertain for name in recipient.qids))
    try:
        options = _options(policy, OF_SWEEPS, "chances of knowing (a sweep)")
        return sweep(source, qids=_qid_texts(policy, names), settings=settings, **options)
    except InputError as e:
        raise _wrong(policy, uncertain[0], e) from e


def _mean_successes(recipient: Recipient, swept: Result) -> Iterator[Success]:
    """Yield the expected success of what is known with chances, from a sweep of all subsets.

    The maximum is the mean over subsets of the greatest success in each, which is that of one
    person or greater.
    """
    qids = [str(name) for name in swept.spec["qids"]]
    chances = [recipient.chances.get(name, Fraction(0)) for name in qids]
    weights = independent(recipient.name, chances).weights()  # of each subset, a bit mask
    total = sum(weights.values())
    rows = [reading for row in swept.frame.iter_rows(named=True) for reading in readings(row)]
    of_questions: dict[tuple[Any, ...], dict[int, dict[str, Any]]] = {}  # by subset
    for row in rows:
        question = row["model"], row["secret"], row.get("known_records"), row["of_reported"]
        nothing = dict.fromkeys((WORST, AVERAGE), row["prior_probabilistic"])
        of_questions.setdefault(question, {0: nothing})[row["subset"]] = row
    for (model, secret, known_records, of_reported), by_subset in of_questions.items():
        maximum, average = (
            sum(n * by_subset[subset][name] for subset, n in weights.items()) / total
            for name in (WORST, AVERAGE)
        )
        yield Success(
            model=model,
            qids=list(recipient.qids),
            secret=secret,
            maximum=maximum,
            average=average,
            before=by_subset[0][AVERAGE],
            known_records=known_records,
            of_reported=of_reported,
        )


def _linked(
    policy: Policy,
    recipient: Recipient,
    source: Source,
    file: Path,
    settings: Settings | None,
) -> tuple[Result, Schema]:
    """Return the links of a release with a register, and the register's columns."""
    register = Dataset.open(file)
    with open_engine(settings, sources=[register], command="check") as engine:
        schema = Catalog(engine, register).schema
    named = [*_qid_texts(policy, recipient.qids), *as_names(policy.adversary.get("qids") or ())]
    texts = [text for text in dict.fromkeys(named) if is_in(text, schema)]
    if not texts:
        raise InputError(
            f"{file.name} has none of the quasi-identifiers that are named; name those that it "
            "has in knows or in [adversary]"
        )
    files = source.datasets if isinstance(source, Collection) else datasets(source)
    if len(files) != 1:
        raise InputError("a register is linked with one release; check each file by itself")
    where = policy.adversary.get("where")
    return link(files[0], register, qids=texts, where=where, settings=settings), schema
