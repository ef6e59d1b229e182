"""The risk of each recipient of a policy: an attempt, times the success of what is known and held.

What is known surely is an attack; with chances of knowing each quasi-identifier it is the mean
over the subsets of one sweep, which all recipients share; with laws it is an attack with noisy
knowledge. A register that is held is linked by the quasi-identifiers that it has; an earlier
release with the key of people is attacked together with the release. Source: M218.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import polars as pl

from qifsql.adversary.knowledge import independent
from qifsql.adversary.names import check_qids, is_in
from qifsql.adversary.spec import Attack
from qifsql.commands.attack.attack import attack
from qifsql.commands.check.held_files import HeldFiles, hold
from qifsql.commands.check.recipient_success import (
    Success,
    average_successes,
    keep_worst_readings,
    list_members,
    list_places,
    read_link,
    read_noisy_successes,
    read_successes,
)
from qifsql.commands.check.result import RECIPIENTS
from qifsql.commands.check.rule_levels import level_row
from qifsql.commands.link.link import link
from qifsql.commands.sweep.sweep import sweep
from qifsql.counting.session import opened
from qifsql.data.collection import Source, plain_name
from qifsql.data.dataset import Dataset, Schema
from qifsql.data.option import as_names, bare_name
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, quoted
from qifsql.results.result import Result
from qifsql.study.policy import Policy
from qifsql.study.recipients import Recipient, marked
from qifsql.study.rules import Rule

OF_ATTACKS = ("secret", "weight", "where", "null", "person", "household")
OF_NOISE = ("secret", "weight", "where", "null")
OF_SWEEPS = ("secret", "weight", "where", "null", "person")
OF_EARLIER = ("secret", "weight", "where", "null", "absent", "person")
"""Options of a policy's adversary that each way of measuring takes."""
OF_RULES = (
    *("qids", "key", "by", "known_records", "original", "control", "split", "prior", "population"),
    "absent",
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
OF_HELD = "recipient {name}: {note}"
NOT_COMPOSED = (
    "recipient {name}: {file} has {secret}, too, and no key of people that the policy names; what "
    "it and the release say of it together is not in these numbers (qifsql compose measures it)"
)
JOINED = (
    "recipient {name}: {file} is joined with the release by {key}, and what is known of a person "
    "is taken as known for both; if the file names people, everybody in it is identified already"
)
NOT_USED = (
    "recipient {name}: {file} is linked by {qids} alone, and has {columns} as the release has; "
    "name a key of people among them in [adversary] (key), and what may be known (qids)"
)


@dataclass(frozen=True)
class Assessment:
    """The success of a recipient in each way, the results that have it, and remarks."""

    recipient: Recipient
    held: HeldFiles
    successes: tuple[Success, ...]
    results: tuple[Result, ...]
    notes: tuple[str, ...]

    def plain(self) -> dict[str, Any]:
        """Return the recipient as plain data, with the held files that are earlier releases."""
        earlier = [path for data, _ in self.held.earlier for path in data.paths]
        return {**self.recipient.plain(), "earlier": earlier}

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
    held_files = _hold(policy, source, settings)
    swept = _sweep(policy, source, held_files, settings)
    assessments = []
    for recipient, held in zip(policy.recipients, held_files, strict=True):
        try:
            assessments.append(_assess(policy, recipient, held, swept, settings))
        except InputError as e:
            raise _wrong(policy, recipient, e) from e
    return assessments


def results(assessments: Sequence[Assessment]) -> list[Result]:
    """Return all results, each once; their SQL says of which recipients it is.

    Results without a model, about the release with a file that is held, are the last.
    """
    numbers: dict[int, list[int]] = {}
    by_id: dict[int, Result] = {}
    for number, assessment in enumerate(assessments, 1):
        for result in assessment.results:
            by_id[id(result)] = result
            numbers.setdefault(id(result), []).append(number)
    marked_results = []
    for key, result in by_id.items():
        sql = marked(result.origin.sql.strip().removesuffix(";"), numbers[key])
        origin = replace(result.origin, plans=(), statements=(sql,))
        marked_results.append(replace(result, origin=origin))
    return sorted(marked_results, key=lambda result: not result.spec.get("models"))


def look_up(policy: Policy, source: Source, settings: Settings | None) -> None:
    """Look up the quasi-identifiers of all recipients in the data, without attacking."""
    held_files = _hold(policy, source, settings)
    for recipient, held in zip(policy.recipients, held_files, strict=True):
        try:
            joined = held.collection() if held.earlier else None
            model, attacked = ("crs", source) if joined is None else ("crl", joined)
            spec = Attack.of(model, attacked, qids=_qid_texts(policy, recipient.qids))
            if recipient.qids:
                with opened(spec, settings, joined=False, noted=False, command="check"):
                    pass
            for file in recipient.files:
                Dataset.open(file)
        except InputError as e:
            raise _wrong(policy, recipient, e) from e


def levels(policy: Policy, assessment: Assessment) -> list[dict[str, Any]]:
    """Return rows of the verdict on a recipient: one per bound and question or register.

    A bound is on the highest or average risk: the success times the chance of an attempt.
    """
    recipient = assessment.recipient
    rows = []
    for risk, bound in recipient.limits.items():
        number = len(policy.rules) + recipient.number  # after the rules of the policy
        rule = Rule(number, (), risk, {"at_most": bound}, attempt=recipient.attempt)
        for success in keep_worst_readings(assessment.successes, risk):
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


def _hold(policy: Policy, source: Source, settings: Settings | None) -> list[HeldFiles]:
    """Return the files that each recipient holds; LineError names a recipient that is wrong."""
    held_files = []
    for recipient in policy.recipients:
        try:
            held_files.append(hold(policy, recipient, source, settings))
        except InputError as e:
            raise _wrong(policy, recipient, e) from e
    return held_files


def _assess(
    policy: Policy,
    recipient: Recipient,
    held: HeldFiles,
    swept: Result | None,
    settings: Settings | None,
) -> Assessment:
    """Return the attacks of one recipient, and their success.

    It is one attack with the quasi-identifiers that the recipient knows, and with earlier releases
    that they hold, and a link with each register. If each is known with a chance, the attack is the
    mean over the subsets of a sweep (``swept``), weighted by the chance that just this is known.
    """
    successes: list[Success] = []
    results: list[Result] = []
    notes: list[str] = []
    name = quoted(recipient.name)
    if held.earlier:
        result, successes = _with_earlier_releases(policy, recipient, held, settings)
        results = [replace(result, notes=())]
        notes += [OF_HELD.format(name=name, note=note) for note in result.notes]
        for data, _ in held.earlier:
            notes.append(JOINED.format(name=name, file=data.name, key=quoted(held.key)))
    elif recipient.is_sure and recipient.qids:
        options = _options(policy, OF_ATTACKS, "an attack")
        texts = _qid_texts(policy, recipient.qids)
        results = [attack(_models(policy), held.source, qids=texts, settings=settings, **options)]
        successes = [success for row in results[0].rows() for success in read_successes(row)]
    elif recipient.laws:
        options = _options(policy, OF_NOISE, "knowledge with errors (a law)")
        options |= {"qids": _qid_texts(policy, recipient.qids), "knows": recipient.knowledge}
        results = [attack(_models(policy), held.source, settings=settings, **options)]
        successes = list(read_noisy_successes(results[0]))
        notes.append(AT_MOST_OF_LAWS.format(name=name))
    elif recipient.qids and swept is not None:
        results, successes = [swept], list(average_successes(recipient, swept))
    if not recipient.is_sure and not recipient.laws:
        notes.append(AT_MOST.format(name=name))
    for result in results:  # what is written in another way, or is a pattern, has no chance in it
        check_qids(recipient.qids, result.spec["qids"])
    secrets = as_names(policy.adversary.get("secret"))
    for data, schema in held.registers:
        result = _link(policy, recipient, held, (data, schema), settings)
        successes.append(read_link(result))
        results.append(replace(result, notes=()))
        notes += [OF_HELD.format(name=name, note=note) for note in result.notes]
        about = {"name": name, "file": data.name}
        common = map(quoted, filter(schema.find, secrets))
        notes += [NOT_COMPOSED.format(**about, secret=secret) for secret in common]
        if columns := held.unused(schema, [*result.spec["register_qids"], *secrets]):
            listed = {"qids": ", ".join(successes[-1].qids), "columns": ", ".join(columns)}
            notes.append(NOT_USED.format(**about, **listed))
    known_records = policy.adversary.get("known_records")
    # Those of the records that the policy takes to be known; a link says nothing of that.
    successes = [s for s in successes if known_records in (None, s.known_records or known_records)]
    return Assessment(recipient, held, tuple(successes), tuple(results), tuple(notes))


def _models(policy: Policy, *, joined: bool = False) -> list[str]:
    """Return the models of a recipient: re-identification, and inference of the secrets."""
    models = ["crl", "cal"] if joined else ["crs", "cas"]
    return models if as_names(policy.adversary.get("secret")) else models[:1]


def _with_earlier_releases(
    policy: Policy, recipient: Recipient, held: HeldFiles, settings: Settings | None
) -> tuple[Result, list[Success]]:
    """Return the attack on the release together with earlier ones, and the successes in it.

    With chances of knowing it is a sweep: what is known of a person is known for every release that
    has the column, so its subsets have all columns of a name or none.
    """
    if recipient.laws:
        raise InputError(
            "knowledge with errors (a law) and an earlier release are not measured together; write "
            "chances in knows, or check the recipient without the file"
        )
    if not recipient.qids:
        raise InputError("who knows nothing of a person finds nobody in a release; write knows")
    options = _options(policy, OF_EARLIER, "an attack with an earlier release")
    if options.pop("person", held.key) != held.key:
        raise InputError(
            "key and person name two columns, and an earlier release is joined by one; name one"
        )
    joined, texts = held.collection(), _qid_texts(policy, recipient.qids)
    if recipient.is_sure:
        models = _models(policy, joined=True)
        result = attack(models, joined, qids=texts, key=held.key, settings=settings, **options)
        successes = [success for row in result.rows() for success in read_successes(row)]
        plain = [replace(success, qids=list(recipient.qids)) for success in successes]
        return _about_release(result, held), plain
    spec = Attack.of("crl", joined, qids=texts)
    with opened(spec, settings, joined=False, noted=False, command="check") as (_, bound):
        tagged = [attribute.name for attribute in bound.microdata.qids]
    places = list_places([plain_name(name) for name in tagged])
    chances = [recipient.chances.get(name, Fraction(0)) for name in places]
    subsets = [
        "+".join(tagged[i] for i in list_members(subset, places))
        for subset in independent(recipient.name, chances).weights()
        if subset
    ]
    options |= {"qids": texts, "key": held.key, "subsets": subsets}
    result = sweep(joined, settings=settings, **options)
    return _about_release(result, held), list(average_successes(recipient, result))


def _about_release(result: Result, held: HeldFiles) -> Result:
    """Return an attack on a collection as what was asked about its release, without tags."""
    columns = result.origin.columns
    of_release = [replace(c, name=plain_name(c.name)) for c in columns if c.name.startswith("1:")]
    spec = {name: value for name, value in result.spec.items() if name != "collection"}
    names = list(dict.fromkeys(map(plain_name, spec["qids"])))
    spec |= {"models": [], "dataset": held.release.name, "qids": names}
    origin = replace(result.origin, spec=spec, columns=tuple(of_release))
    return replace(result, origin=origin)


def _options(policy: Policy, taken: Sequence[str], what: str) -> dict[str, Any]:
    """Return the options of the policy's adversary; refuse those that a way of measuring lacks."""
    for name in policy.adversary:
        if name not in taken and name not in OF_RULES:
            raise InputError(f"{what} of a recipient does not take {name}; leave it out")
    return {name: policy.adversary[name] for name in taken if name in policy.adversary}


def _qid_texts(policy: Policy, names: Sequence[str]) -> list[str]:
    """Return quasi-identifiers by their names: as the adversary defines them, or columns."""
    texts = as_names(policy.adversary.get("qids") or ())
    defined = {bare_name(text): text for text in texts}
    return [defined.get(name, name) for name in names]


def _sweep(
    policy: Policy, source: Source, held_files: Sequence[HeldFiles], settings: Settings | None
) -> Result | None:
    """Return a sweep over the subsets of all that some recipient knows with a chance.

    None if there is no such recipient. Who holds an earlier release has a sweep of both.
    """
    uncertain = [
        recipient
        for recipient, held in zip(policy.recipients, held_files, strict=True)
        if not recipient.is_sure and not recipient.laws and not held.earlier
    ]
    if not uncertain:
        return None
    names = list(dict.fromkeys(name for recipient in uncertain for name in recipient.qids))
    try:
        options = _options(policy, OF_SWEEPS, "chances of knowing (a sweep)")
        return sweep(source, qids=_qid_texts(policy, names), settings=settings, **options)
    except InputError as e:
        raise _wrong(policy, uncertain[0], e) from e


def _link(
    policy: Policy,
    recipient: Recipient,
    held: HeldFiles,
    register: tuple[Dataset, Schema],
    settings: Settings | None,
) -> Result:
    """Return the links of the release with a register, by all quasi-identifiers that it has."""
    data, schema = register
    named = [*_qid_texts(policy, recipient.qids), *as_names(policy.adversary.get("qids") or ())]
    texts = [text for text in dict.fromkeys(named) if is_in(text, schema)]
    if not texts:
        raise InputError(
            f"{data.name} has none of the quasi-identifiers that are named; name those that it "
            "has in knows or in [adversary]"
        )
    where = policy.adversary.get("where")
    return link(held.release, data, qids=texts, where=where, settings=settings)
