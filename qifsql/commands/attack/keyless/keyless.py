"""Longitudinal attacks without a person key: transition rules link the records.

Source: M59 to M63; PoPETs section 7 leaves the case as future work. For a record x of the focal
release, the candidates y are the records of the next release that agree in the exactly matching
columns. Each has the weight L(x, y), the product of its transition probabilities, and

    link(y|x) = presence * L(x, y) / sum of L(x, .),   link(nobody|x) = 1 - presence,

where link(nobody|x) is 1 if all weights are 0. A longer collection is a chain of links: the record
reached is linked with the next release. A person who is not found in a release is linked from the
last release that has them, by the rules applied over several steps.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import polars as pl

from qifsql.adversary import roles
from qifsql.adversary.models import MODELS, Model, models_named
from qifsql.adversary.rule_text import probability
from qifsql.adversary.transitions import Rule, rules
from qifsql.commands.attack import keyed
from qifsql.commands.attack.keyless import calibrate, match
from qifsql.commands.attack.keyless.bind import Release, releases
from qifsql.commands.attack.keyless.chain import Chain
from qifsql.commands.attack.keyless.posterior import Outcomes
from qifsql.commands.attack.keyless.rows import (
    bind_target,
    result_rows,
    tagged_names,
    target_observations,
)
from qifsql.commands.attack.spec import AttackOptions, refuse_others
from qifsql.counting import transition_files
from qifsql.data.collection import ABSENT_RULES, Absent, Collection, Source
from qifsql.data.dataset import Dataset, datasets
from qifsql.data.expressions import source_columns
from qifsql.data.option import as_names
from qifsql.engine.catalog import Catalog
from qifsql.engine.csv_types import remarks
from qifsql.engine.engines import open_engine
from qifsql.engine.protocol import Engine
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, plural, quoted
from qifsql.query.plan import Plan, Step
from qifsql.results.assessment import INDIVIDUAL, REPORTED, SCHEMA
from qifsql.results.result import Result
from qifsql.results.storage import Origin

KEYLESS: dict[str, pl.DataType] = {
    "knowledge": pl.String(),
    **dict.fromkeys(("presence", "link_vulnerability", "link_accuracy"), pl.Float64()),
    "one_to_one": pl.Boolean(),
}
"""Further columns of attacks without a person key. ``knowledge`` is ``focal alone``, ``linked`` or,
if the truth is given, ``with the key``. The other columns are for the linked row only:
``presence``, the probability that a person of one release is in the next; ``link_vulnerability``,
the probability that the best link of a record (in longer collections: the best chain of links) is
right; ``link_accuracy``, the share of best links that are right by the truth (two releases only);
``one_to_one``, true if people compete for records."""

SLIGHT_DIFFERENCE = 1e-9  # differences of success up to this are rounding
LINKED_MODELS = [name for name, m in MODELS.items() if m.longitudinal and m.goal != "membership"]
WHO = "an attack without a key (link)"
TAKEN_OPTIONS = (
    *("qids", "secret", "where", "absent", "target", "key"),
    *("link", "presence", "truth", "one_to_one"),
)
INSTEAD = {"progressive": "run it with fewer releases", "null": "a missing value is a value"}


@dataclass(frozen=True, kw_only=True)
class Request:
    """The questions about releases that are linked without a key."""

    models: tuple[Model, ...]
    datasets: tuple[Dataset, ...]
    rules: tuple[Rule, ...]
    presence: Fraction
    one_to_one: bool
    qids: tuple[str, ...]
    secrets: tuple[str, ...]
    keys: tuple[str, ...]
    truth: tuple[str, ...]
    where: str | None
    absent: Absent
    target: Mapping[str, object]


def specify(
    model: str | Sequence[str], source: Source, options: AttackOptions, _: Settings | None
) -> Request:
    """Return the request; raise InputError if it cannot be answered without a key."""
    refuse_others(WHO, options, TAKEN_OPTIONS, INSTEAD)
    if options.get("absent", "null") not in ABSENT_RULES:
        raise InputError(f"absent is one of {', '.join(ABSENT_RULES)}")
    secrets = as_names(options.get("secret"))
    models = _linked_models(model, secrets)
    releases = source.datasets if isinstance(source, Collection) else tuple(datasets(source))
    if len(releases) < 2:
        raise InputError("linking needs two releases at least; name the auxiliary ones after FILE")
    link_rules = rules(options.get("link") or ())
    keys, truths = _keys(options, link_rules, len(releases))
    infers = any(m.goal != "re-identification" for m in models)
    target = options.get("target") or {}
    presence = options.get("presence")
    return Request(
        models=models,
        datasets=releases,
        rules=link_rules,
        presence=probability(1 if presence is None else presence, "presence"),
        one_to_one=options.get("one_to_one", False),
        qids=as_names(options.get("qids")) or tuple(target),
        secrets=secrets if infers else (),
        keys=keys,
        truth=truths,
        where=options.get("where"),
        absent=options.get("absent", "null"),
        target=target,
    )


def _linked_models(names: str | Sequence[str], secrets: Sequence[str]) -> tuple[Model, ...]:
    """Return the models; refuse those that are not about linked releases, or lack a secret."""
    models = models_named(names)
    if not models or any(m.acronym not in LINKED_MODELS for m in models):
        raise InputError(
            f"link rules are for the models {', '.join(LINKED_MODELS)}: releases over time"
        )
    if len({m.individual for m in models}) > 1:
        raise InputError("individual and collective models cannot be combined; run them separately")
    if any(m.goal != "re-identification" for m in models) and not secrets:
        raise InputError("the model infers a secret; name one with --secret")
    return models


def _keys(
    options: AttackOptions, link_rules: Sequence[Rule], n_releases: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the keys to learn from and those of the truth; refuse a key without any use.

    Each has no name, one for all releases, or one for each.
    """
    keys, truths = as_names(options.get("key")), as_names(options.get("truth"))
    for what, names in (("key", keys), ("truth", truths)):
        if len(names) not in (0, 1, n_releases):
            raise InputError(
                f"{plural(len(names), what)} for {plural(n_releases, 'dataset')}; name one for all "
                "of them, or one for each"
            )
    learns = any(rule.kind == "stay" and rule.stay is None for rule in link_rules)  # stay=?
    if keys and not truths and not learns:
        raise InputError(
            "with link rules the key is what stay=? is learned from; leave it out, or name it as "
            "the truth (--truth) to compare with"
        )
    return keys, truths


def look_up(request: Request, settings: Settings | None) -> None:
    """Look up every name of an attack without a key, without attacking; InputError if wrong."""
    with open_engine(settings, sources=_sources(request), command="attack") as engine:
        catalogs, sequence = _bind_releases(engine, request)
        bind_target(request.models[0], request.target, sequence, catalogs[0])
        for k, rule in _with_table(request.rules):
            transition_files.read_lines(engine, rule.table, sequence[0].drift[k - 1])


def run(request: Request, settings: Settings | None) -> Result:
    """Attack the focal release alone, linked releases and, with the truth, those with the key.

    The result has the columns of ``results.assessment.SCHEMA`` and ``KEYLESS``, a row per secret
    and knowledge; its details are ``links`` and, with the truth, ``calibration``
    (``qifsql.commands.attack.keyless.calibrate``). ``blocks`` are the observations that are
    possible; ``posterior_deterministic`` is the chance of those that leave no doubt, and
    ``singled_out`` (whose record it is) and ``individuals_certain`` are that chance in people,
    rounded down.
    """
    origin = Origin.now(settings, "attack")
    with open_engine(settings, sources=_sources(request), command="attack") as engine:
        chain, rules, notes, target_values = _link_releases(engine, request)
        sights = target_observations(chain, target_values) if target_values else None
        rows = result_rows(request.models, Outcomes(chain, sights), request.secrets, target_values)
        steps, calibration = calibrate.links(chain, truth=bool(request.truth))
        chance = calibrate.vulnerability(chain)
        written = [*remarks(engine), *(_note_on_missing(chain) if target_values else [])]
    if request.truth:
        rows += _rows_with_key(request, settings)
    origin = _describe(origin, request, chain, rules)
    of_linked: dict[str, float | bool | None] = {  # columns of the rows of linked releases
        "presence": float(request.presence),
        "link_vulnerability": chance,
        "link_accuracy": steps["link_accuracy"][0] if chain.last == 2 else None,
        "one_to_one": request.one_to_one,
    }
    for row in rows:
        row.update(of_linked if row["knowledge"] == "linked" else {}, seconds=origin.seconds)
    schema = SCHEMA | (INDIVIDUAL if request.models[0].individual else {}) | KEYLESS
    schema |= REPORTED if any("reported" in row for row in rows) else {}
    frame = pl.DataFrame(rows, schema=schema)
    details = {"links": steps} | ({"calibration": calibration} if calibration is not None else {})
    notes += [
        *_unlinked_records(steps, chain),
        *_unlinked_qids(chain.releases),
        *_note_excess(rows),
        *written,
    ]
    if request.presence == 1:
        notes.append("everybody of one release is taken to be in the next (presence 1)")
    return Result(frame=frame, origin=origin, details=details, notes=tuple(notes))


def _describe(origin: Origin, request: Request, chain: Chain, rules: Sequence[Rule]) -> Origin:
    """Return the origin with the request, ``rules`` as they were learned, files and statements."""
    paths = (p for d in request.datasets for p in d.paths)
    tables = (rule.table for _, rule in _with_table(request.rules))
    spec = {
        "models": [m.acronym for m in request.models],
        "dataset": " + ".join(d.name for d in request.datasets),
        "qids": list(tagged_names(chain.releases)),
        "secrets": list(request.secrets),
        "presence": float(request.presence),
        "one_to_one": request.one_to_one or None,
        "key": list(request.keys) or None,
        "truth": list(request.truth) or None,
        "where": request.where,
        "absent": request.absent,
        "target": dict(request.target) or None,
        "link": [rule.plain() for rule in rules],
    }
    origin = origin.about(spec, tuple(dict.fromkeys((*paths, *tables))))
    origin = origin.sending(chain.tables.statements)
    return origin.listing(roles.of_files(release.columns for release in chain.releases))


def _link_releases(
    engine: Engine, request: Request
) -> tuple[Chain, list[Rule], list[str], list[list[str | None]]]:
    """Return the linked releases, learned rules, notes, and the target's values in each release."""
    catalogs, sequence = _bind_releases(engine, request)
    target_values = bind_target(request.models[0], request.target, sequence, catalogs[0])
    transitions: dict[int, Step] = {}  # the lines of tables, by number of their column
    for k, rule in _with_table(request.rules):
        drifting = sequence[0].drift[k - 1]
        dataset, transitions[k] = transition_files.read_lines(engine, rule.table, drifting)
        transition_files.check(engine, transitions[k], dataset, drifting)
    chain = Chain(engine, sequence)
    if keys := request.truth or request.keys:
        calibrate.check_keys(chain, keys[0])
    rules, notes = calibrate.learn(chain, request.rules, keyed=bool(keys))
    for k, step in transitions.items():  # their probabilities for every number of steps of a link
        chain.tables.make(f"moves_{k}_1", Plan((step,), chain.query("known_transitions")))
        for steps in range(2, chain.last):
            names = {"earlier": f"moves_{k}_{steps - 1}", "later": f"moves_{k}_1"}
            chain.tables.make(f"moves_{k}_{steps}", chain.query("transitions", **names))
    chain.link(rules, request.presence)
    notes += match.match(chain) if request.one_to_one else ()
    return chain, rules, notes, target_values


def _sources(request: Request) -> list[Dataset]:
    return [*request.datasets, *(Dataset.open(r.table) for _, r in _with_table(request.rules))]


def _bind_releases(engine: Engine, request: Request) -> tuple[list[Catalog], tuple[Release, ...]]:
    """Return the catalogs and the releases, with all columns looked up."""
    catalogs = [
        Catalog(engine, replace(d, catalog=f"attached_{i}"))
        for i, d in enumerate(request.datasets, 1)
    ]
    sequence = releases(
        catalogs,
        request.rules,
        qids=request.qids,
        secrets=request.secrets,
        keys=request.truth or request.keys,
        where=request.where,
        has_absence=request.absent == "distinct",
    )
    return catalogs, sequence


def _with_table(rules: Sequence[Rule]) -> list[tuple[int, Rule]]:
    """Return the rules with a table of transitions, with the number of their column."""
    drifting = [rule for rule in rules if rule.drifts]
    return [(k, rule) for k, rule in enumerate(drifting, 1) if rule.kind == "table"]


def _rows_with_key(request: Request, settings: Settings | None) -> list[dict[str, Any]]:
    """Return the rows of the same attack with the true key."""
    options: AttackOptions = {
        "qids": request.qids,
        "secret": request.secrets,
        "key": request.truth,
        "where": request.where,
        "absent": request.absent,
        "target": request.target,
    }
    models = [m.acronym for m in request.models]
    result = keyed.run(keyed.specify(models, request.datasets, options), settings)
    return [row | {"knowledge": "with the key"} for row in result.rows()]


def _unlinked_qids(releases: Sequence[Release]) -> list[str]:
    """Return notes on quasi-identifiers of later releases that no rule covers."""
    notes = []
    for release in releases[1:]:
        linked = source_columns(*release.exact, *(a.expression for a in release.drift))
        free = [q.name for q in release.qids if not source_columns(q.expression) <= linked]
        if free:
            notes.append(
                f"no rule of the links says how {', '.join(map(quoted, free))} of "
                f"{release.dataset.name} follows from what is known before: the model takes it as "
                "independent, and linked success may be far too high; add a rule, as in "
                "NAME:stay=0.9"
            )
    return notes


def _note_on_missing(chain: Chain) -> list[str]:
    """Return a note on secrets that some miss: of a target, missing is a value."""
    names = [quoted(chain.releases[0].secrets[j - 1].name) for j in chain.missed_secrets()]
    if not names:
        return []
    return [
        f"{', '.join(names)} may be missing, which is taken for a value of a target without a key; "
        "an attack on everybody also tells the success where it is reported"
    ]


def _note_excess(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a note if links without the key give more success than the key."""
    rates = {(r["knowledge"], r["model"], r["secret"]): r["posterior_probabilistic"] for r in rows}
    doubtful = []
    for (knowledge, model, secret), chance in rates.items():
        with_key = rates.get(("with the key", model, secret), 1)  # 1, never exceeded: no truth
        if knowledge == "linked" and chance > with_key + SLIGHT_DIFFERENCE:
            doubtful.append(model if secret is None else f"{model} of {quoted(secret)}")
    if not doubtful:
        return []
    return [
        f"{', '.join(doubtful)}: by the model more is guessed right without the key than with it: "
        "the rules of the links, or the presence, do not hold in these files, and linked success "
        "is too high"
    ]


def _unlinked_records(steps: pl.DataFrame, chain: Chain) -> list[str]:
    """Return notes on records without a candidate; ``steps`` is the table ``calibrate.LINKS``."""
    notes = []
    for row in steps.iter_rows(named=True):
        name = chain.releases[row["step"] - 1].dataset.name
        after = chain.releases[row["step"]].dataset.name
        if not row["with_candidates"]:
            alone = ": the numbers are those of the focal release alone" if chain.last == 2 else ""
            notes.append(
                f"no record of {name} has a candidate in {after}{alone}; no pair agrees in the "
                "exactly matching columns (after what is added) and has a possible transition: "
                "check the rules and the order of the releases"
            )
        elif without := row["records"] - row["with_candidates"]:
            notes.append(
                f"{plural(without, 'record')} of {name} have no candidate in {after}: by the "
                "rules these people are not in it"
            )
    return notes
