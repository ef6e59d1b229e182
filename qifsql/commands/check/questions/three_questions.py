"""Singling out, linkability, inference: the three questions of the Article 29 Working Party.

Source: Opinion 05/2014 (WP 216). ``qifsql.commands.check.questions.opinion`` defines the answers.
"""

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

TAKEN = ("qids", "secret", "null", "key", "where", *QuestionOptions.__annotations__)
"""The options of ``check`` that the questions take."""


@dataclass(frozen=True)
class _Log:
    """Links by the key: the number of people with several records, and their unicity."""

    people_with_several: int
    people: int
    unicity: Result | None
    plan: Plan


def three_questions(
    source: Source, options: Mapping[str, Any], *, settings: Settings | None
) -> Result:
    """Answer the three questions of EU Opinion 05/2014 (WP 216) about a release: see ``check``."""
    origin = Origin.now(settings, "wp29")
    options = {**dict.fromkeys(TAKEN), "null": "distinct", "seed": 0, **options}
    _check_options(options)
    least = _parse_threshold(options["threshold"])
    dataset, names = _open_release(source, options), as_names(options["qids"])
    qids = names if options["register"] is None else _names_in_release(names)
    if not qids:
        raise ColumnError("no quasi-identifiers: the answers depend on them; name some with --qids")
    key = next(iter(as_names(options["key"])), None)
    secrets = as_names(options["secret"])
    common: dict[str, Any] = {"where": options["where"], "settings": settings}
    attacked = attack(
        ("crs", "cas") if secrets else "crs",
        dataset,
        qids=qids,
        secret=secrets,
        key=key,
        null=options["null"],
        thresholds=() if least is None else least,
        **common,
    )
    links = _link_register(dataset, names, options, common)
    log = None
    if key is not None:
        drawn = {name: options[name] for name in ("points", "draws") if options[name] is not None}
        drawn["seed"] = options["seed"]
        log = _measure_log(dataset, {"key": key, "qids": qids, **common}, drawn)
    spec = _describe(links, log, options, least)
    origin = _combine_origins(origin, attacked, links, log, spec)
    rows = [opinion.with_answer(row, least) for row in _answer_rows(attacked, links, log, least)]
    frame = pl.DataFrame([row | {"seconds": origin.seconds} for row in rows], schema=OPINION)
    details = {"attacks": attacked.frame}
    details |= {"register": links.frame} if links else {}
    details |= {"unicity": log.unicity.frame} if log and log.unicity else {}
    notes = _notes(attacked, links, log, least)
    return Result(frame=frame, origin=origin, details=details, notes=notes)


def _check_options(options: Mapping[str, Any]) -> None:
    """Refuse options of ``check`` that the questions do not take, and several keys."""
    for name in options:
        if name not in TAKEN and is_given(options[name]):
            raise InputError(f"the three questions do not take {name}; leave it out")
    if len(as_names(options["key"])) > 1:
        raise InputError("a log has one key; name one column")


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


def _link_register(
    dataset: Dataset, qids: Sequence[str], options: Mapping[str, Any], common: Mapping[str, Any]
) -> Result | None:
    """Return the links of the release to the register, if there is one."""
    if options["register"] is None:
        return None
    return link(
        dataset,
        options["register"],
        qids=qids,
        truth=as_names(options["truth"]),
        register_where=options["register_where"],
        **common,
    )


def _describe(
    links: Result | None, log: _Log | None, options: Mapping[str, Any], least: float | None
) -> dict[str, Any]:
    """Return the options about the register, the log and the threshold, as plain data."""
    result = log.unicity if log else None
    return {
        "register": links.spec["register"] if links else None,
        "register_qids": links.spec["register_qids"] if links else None,
        "points": list(result.frame["points"]) if result else None,
        "draws": result.spec["draws"] if result else None,
        "remark": CAUTION,
        "truth": list(as_names(options["truth"])) or None,
        "threshold": least,
        "register_where": options["register_where"],
    }


def _answer_rows(
    attacked: Result, links: Result | None, log: _Log | None, least: float | None
) -> list[Row]:
    """Return rows (``OPINION``): the questions in their order, each with all its answers.

    The first row of the attack is re-identification, the others infer the secrets. ``least`` is the
    threshold; ``reached`` has how many people reach it, by attack.
    """
    identified, *inferred = attacked.rows()
    reached = {}
    if least is not None:
        thresholds = attacked.details["thresholds"]
        reached = dict(thresholds.select("attack_id", "individuals").iter_rows())
    people = reached.get(identified.get("attack_id"))
    rows = [opinion.singling_out(identified, people)]
    if links is not None:
        curve = links.details["confidence"]
        rows.append(opinion.links_by_register(links.frame.row(0, named=True), curve, least))
    if log is not None and log.people_with_several:
        rows.append(
            opinion.links_by_key(log.people_with_several, log.people, reached=least is not None)
        )
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
    return _Log(int(multiple), int(people), result, plan)


def _combine_origins(
    origin: Origin, attacked: Result, links: Result | None, log: _Log | None, spec: dict[str, Any]
) -> Origin:
    """Return the origin of all numbers together."""
    measured = [attacked.origin, *([links.origin] if links else [])]
    plans = [plan for part in measured for plan in part.plans]
    paths = tuple(dict.fromkeys(path for part in measured for path in part.paths))
    plans += [log.plan] if log else []
    together = origin.about(dict(attacked.spec) | spec, paths, *plans)
    together = together.listing(attacked.origin.columns)
    return together.sending(log.unicity.origin.statements) if log and log.unicity else together


def _notes(
    attacked: Result, links: Result | None, log: _Log | None, least: float | None
) -> tuple[str, ...]:
    """Return the remarks of all measurements, and remarks on the scope of the numbers."""
    notes = [*attacked.notes, *(links.notes if links else ())]
    if log is not None and log.unicity is not None:
        notes += log.unicity.notes
        notes.append(
            "people have several records: singling out and inference are about single records"
        )
    elif log is not None:
        notes.append("nobody has several records under the key: it links nothing inside the file")
    if attacked.frame["secret"].null_count() == attacked.frame.height:
        notes.append("no secret is named, so inference is not answered; name one with --secret")
    for row in attacked.rows():
        notes += _prior_remarks(row, least) if row["secret"] is not None else []
    return tuple(dict.fromkeys(notes))


def _prior_remarks(row: Mapping[str, Any], least: float | None) -> list[str]:
    """Return a remark if a secret can be guessed without the release."""
    name, base = quoted(row["secret"]), row["prior_probabilistic"]
    if row["prior_deterministic"] == 1:
        return [f"secret {name} has one value: it is known without the release"]
    if least is not None and base >= least:
        return [
            f"the threshold {least:g} is no higher than what is right about secret {name} without "
            f"the release ({base:.4g}); choose a higher one to see what the release adds"
        ]
    return []


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
        least = float(threshold)
    except (TypeError, ValueError):
        least = math.nan
    if isinstance(threshold, bool) or not 0 < least <= 1:
        raise InputError("a threshold is a chance above 0 and at most 1, such as 0.2")
    return least
