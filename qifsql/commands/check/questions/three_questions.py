"""Singling out, linkability, inference: the three questions of the Article 29 Working Party."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from sqlglot import exp

from qifsql.adversary.spec import Attack
from qifsql.commands.attack.attack import attack
from qifsql.commands.check.questions import opinion
from qifsql.commands.check.questions.opinion import CAUTION, OPINION, Row
from qifsql.commands.check.spec import QuestionOptions
from qifsql.commands.link.link import link
from qifsql.commands.unicity.unicity import unicity
from qifsql.counting.session import opened
from qifsql.data.collection import Collection, Source
from qifsql.data.dataset import Dataset
from qifsql.data.option import as_names, is_given
from qifsql.engine.settings import Settings
from qifsql.errors import ColumnError, DatasetError, InputError, quoted
from qifsql.query import microdata_steps
from qifsql.query.plan import Plan, Step
from qifsql.query.templates import load
from qifsql.results.result import Result
from qifsql.results.storage import Origin

OPTIONS_TAKEN = ("qids", "secret", "null", "key", "where", *QuestionOptions.__annotations__)
"""The options of ``check`` that the questions take."""


@dataclass(frozen=True)
class _Log:
    """Links by the key: the number of people with several records, and their unicity."""

    people_with_several: int
    people: int
    unicity: Result | None
    plan: Plan


@dataclass(frozen=True)
class _Measured:
    """The measurements that answer the questions: attacks, links to a register, links by a key.

    ``threshold`` is the chance from which on an answer is yes, None if none is given.
    """

    attacks: Result
    links: Result | None
    log: _Log | None
    threshold: float | None


def three_questions(
    source: Source, options: Mapping[str, Any], *, settings: Settings | None
) -> Result:
    """Answer the three questions of EU Opinion 05/2014 (WP 216) about a release: see ``check``.

    Attacks answer singling out and inference; links by a ``register`` or ``key``, linkability.
    """
    origin = Origin.now(settings, "wp29")
    options = {**dict.fromkeys(OPTIONS_TAKEN), "null": "distinct", "seed": 0, **options}
    for name in options:
        if name not in OPTIONS_TAKEN and is_given(options[name]):
            raise InputError(f"the three questions do not take {name}; leave it out")
    if len(as_names(options["key"])) > 1:
        raise InputError("a log has one key; name one column")
    measured = _measure(_open_release(source, options), options, settings)
    origin = _combine_origins(origin, measured, options)
    rows = [opinion.with_answer(row, measured.threshold) for row in _answer_rows(measured)]
    details = {"attacks": measured.attacks.frame}
    details |= {"register": measured.links.frame} if measured.links else {}
    log = measured.log
    details |= {"unicity": log.unicity.frame} if log and log.unicity else {}
    return Result(
        frame=pl.DataFrame([row | {"seconds": origin.seconds} for row in rows], schema=OPINION),
        origin=origin,
        details=details,
        notes=_notes(measured),
    )


def _measure(dataset: Dataset, options: Mapping[str, Any], settings: Settings | None) -> _Measured:
    """Attack the release, and link its records by a register or a key, if one is named."""
    threshold, names = _parse_threshold(options["threshold"]), as_names(options["qids"])
    qids = names if options["register"] is None else _names_in_release(names)
    if not qids:
        raise ColumnError("no quasi-identifiers: the answers depend on them; name some with --qids")
    key = next(iter(as_names(options["key"])), None)
    secrets = as_names(options["secret"])
    common: dict[str, Any] = {"where": options["where"], "settings": settings}
    attacks = attack(
        ("crs", "cas") if secrets else "crs",
        dataset,
        qids=qids,
        secret=secrets,
        key=key,
        null=options["null"],
        thresholds=() if threshold is None else threshold,
        **common,
    )
    links = log = None
    if options["register"] is not None:
        links = link(
            dataset,
            options["register"],
            qids=names,
            truth=as_names(options["truth"]),
            register_where=options["register_where"],
            **common,
        )
    if key is not None:
        drawn = {name: options[name] for name in ("points", "draws") if options[name] is not None}
        drawn["seed"] = options["seed"]
        log = _measure_log(dataset, {"key": key, "qids": qids, **common}, drawn)
    return _Measured(attacks, links, log, threshold)


def _open_release(source: Source, options: Mapping[str, Any]) -> Dataset:
    """Return the release; refuse several, and options about a register or a log without one."""
    if isinstance(source, Sequence | Collection) and not isinstance(source, str | bytes):
        raise InputError(
            "the three questions are asked of one release: name one file, another as the register; "
            "for collections use attack with crl,cal"
        )
    if options["register"] is None and (options["truth"] or options["register_where"]):
        raise InputError("truth and register_where are about a register; name one with --register")
    if not as_names(options["key"]) and options["points"] is not None:
        raise InputError("points are records under a key; name the key with --key")
    return Dataset.open(source)


def _answer_rows(measured: _Measured) -> list[Row]:
    """Return rows (``OPINION``): the questions in their order, each with all its answers.

    The first row of the attacks is re-identification, the others infer the secrets.
    """
    links, log, threshold = measured.links, measured.log, measured.threshold
    identified, *inferred = measured.attacks.rows()
    reached = {}  # by attack: how many people reach the threshold
    if threshold is not None:
        thresholds = measured.attacks.details["thresholds"]
        reached = dict(thresholds.select("attack_id", "individuals").iter_rows())
    people = reached.get(identified.get("attack_id"))
    rows = [opinion.singling_out(identified, people)]
    if links is not None:
        curve = links.details["confidence"]
        rows.append(opinion.links_by_register(links.frame.row(0, named=True), curve, threshold))
    if log is not None and log.people_with_several:
        rows.append(opinion.links_by_key(log.people_with_several, log.people, threshold))
        chances = log.unicity.frame.drop_nulls("unicity") if log.unicity else pl.DataFrame()
        if chances.height:  # most records known
            rows.append(opinion.links_in_log(chances.sort("points").row(-1, named=True)))
    if len(rows) == 1:  # neither a register nor a log
        rows.append(opinion.links_at_worst(identified, people))
    return rows + [opinion.inference(row, reached.get(row.get("attack_id"))) for row in inferred]


def _measure_log(dataset: Dataset, request: Mapping[str, Any], drawn: Mapping[str, Any]) -> _Log:
    """Return the number of people with several records under the key; if any, also unicity."""
    settings = request["settings"]
    options = {name: request[name] for name in ("key", "qids", "where")}
    with opened(Attack.of("crs", dataset, **options), settings) as (engine, bound):
        key = exp.select("key").from_("microdata")
        keyed = Step("keyed", "One row per record: the key of its person.", key)
        steps = [*microdata_steps.steps(bound.microdata, key=True), keyed]
        plan = microdata_steps.plan(bound.microdata, steps, load("check/persons").query)
        ((people, multiple),) = engine.rows(plan, "counting records of each key", dataset.name)
    if not people:
        raise DatasetError(
            f"no record of {dataset.name} has a key ({quoted(request['key'])}); name another column"
        )
    shared = {name: value for name, value in request.items() if name != "key"}
    result = unicity(dataset, person=request["key"], **shared, **drawn) if multiple else None
    return _Log(people_with_several=int(multiple), people=int(people), unicity=result, plan=plan)


def _combine_origins(origin: Origin, measured: _Measured, options: Mapping[str, Any]) -> Origin:
    """Return the origin of all numbers together: what was asked, the plans and the files."""
    attacks, links, log = measured.attacks.origin, measured.links, measured.log
    result = log.unicity if log else None
    spec = {
        **measured.attacks.spec,
        "register": links.spec["register"] if links else None,
        "register_qids": links.spec["register_qids"] if links else None,
        "points": list(result.frame["points"]) if result else None,
        "draws": result.spec["draws"] if result else None,
        "remark": CAUTION,
        "truth": list(as_names(options["truth"])) or None,
        "threshold": measured.threshold,
        "register_where": options["register_where"],
    }
    parts = [attacks, links.origin] if links else [attacks]
    plans = [plan for part in parts for plan in part.plans] + ([log.plan] if log else [])
    paths = dict.fromkeys(path for part in parts for path in part.paths)
    origin = origin.about(spec, tuple(paths), *plans).listing(attacks.columns)
    return origin.sending(result.origin.statements) if result else origin


def _notes(measured: _Measured) -> tuple[str, ...]:
    """Return the remarks of all measurements, and remarks on the scope of the numbers."""
    attacks, links, log = measured.attacks, measured.links, measured.log
    notes = [*attacks.notes, *(links.notes if links else ())]
    if log is not None and log.unicity is not None:
        notes += log.unicity.notes
        notes.append(
            "people have several records: singling out and inference are about single records"
        )
    elif log is not None:
        notes.append("nobody has several records under the key: it links nothing inside the file")
    if attacks.frame["secret"].null_count() == attacks.frame.height:
        notes.append("no secret is named, so inference is not answered; name one with --secret")
    threshold = measured.threshold
    for row in attacks.frame.drop_nulls("secret").iter_rows(named=True):
        name, prior = quoted(row["secret"]), row["prior_probabilistic"]
        if row["prior_deterministic"] == 1:
            notes.append(f"secret {name} has one value: it is known without the release")
        elif threshold is not None and prior >= threshold:
            notes.append(
                f"the threshold {threshold:g} is no higher than what is right about secret {name} "
                f"without the release ({prior:.4g}); choose a higher one to see what the release "
                "adds"
            )
    return tuple(dict.fromkeys(notes))


def _names_in_release(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the quasi-identifiers of the release, the first file: ``1:zip`` is its ``zip``.

    ``2:plz`` is a name in the register alone, and left out.
    """
    names = []
    for text in texts:
        tag, colon, name = text.strip().partition(":")
        if colon and tag.strip() == "1":
            names.append(name)
        elif not colon or tag.strip() != "2":
            names.append(text)
    return tuple(names)


def _parse_threshold(threshold: float | str | None) -> float | None:
    """Return the threshold as a number; refuse one that is not in (0, 1]."""
    if threshold is None:
        return None
    try:
        chance = float(threshold)
    except (TypeError, ValueError):
        chance = math.nan
    if isinstance(threshold, bool) or not 0 < chance <= 1:
        raise InputError("a threshold is a chance above 0 and at most 1, such as 0.2")
    return chance
