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
from dataclasses import replace
from typing import Any, Unpack

import polars as pl

from qifsql.adversary import roles
from qifsql.adversary.transitions import Rule
from qifsql.commands.attack import keyed
from qifsql.commands.attack.keyless import calibrate, match
from qifsql.commands.attack.keyless.bind import Release, releases
from qifsql.commands.attack.keyless.chain import Chain
from qifsql.commands.attack.keyless.posterior import Outcomes
from qifsql.commands.attack.keyless.rows import (
    result_rows,
    tagged_names,
    target_observations,
    target_values,
)
from qifsql.commands.attack.keyless.spec import Request, specify
from qifsql.commands.attack.spec import AttackOptions
from qifsql.counting import transition_files
from qifsql.data.collection import Source
from qifsql.data.dataset import Dataset
from qifsql.data.expressions import source_columns
from qifsql.engine.catalog import Catalog
from qifsql.engine.csv_types import remarks
from qifsql.engine.engines import open_engine
from qifsql.engine.protocol import Engine
from qifsql.engine.settings import Settings
from qifsql.errors import plural, quoted
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

SLIGHT = 1e-9  # differences of success up to this are rounding


def attack(
    model: str | Sequence[str],
    source: Source,
    *,
    settings: Settings | None = None,
    **options: Unpack[AttackOptions],
) -> Result:
    """Attack releases that are linked by rules; the options are those of ``qifsql.attack``.

    The result has the columns of ``results.assessment.SCHEMA`` and ``KEYLESS``, a row per secret
    and knowledge; its details are ``links`` and, with the truth, ``calibration``
    (``qifsql.commands.attack.keyless.calibrate``). ``blocks`` are the observations that are
    possible; ``posterior_deterministic`` is the chance of those that leave no doubt, and
    ``singled_out`` (whose record it is) and ``individuals_certain`` are that chance in people,
    rounded down.

    Raises:
        InputError: What was asked for does not fit the data, or attacks without a key.
        EngineError: Memory or disk ran out.
    """
    return _run(specify(model, source, options), settings)


def rehearse(
    model: str | Sequence[str],
    source: Source,
    settings: Settings | None = None,
    **options: Unpack[AttackOptions],
) -> None:
    """Look up every name of an attack without a key, without attacking; InputError if wrong."""
    question = specify(model, source, options)
    with open_engine(settings, sources=_sources(question), command="attack") as engine:
        catalogs, sequence = _bind_releases(engine, question)
        target_values(question.models[0], question.target, sequence, catalogs[0])
        for k, rule in _with_table(question.rules):
            transition_files.read_lines(engine, rule.table, sequence[0].drift[k - 1])


def _run(request: Request, settings: Settings | None) -> Result:
    """Run the attack on the focal release alone, on linked releases and with the true key."""
    origin = Origin.now(settings, "attack")
    with open_engine(settings, sources=_sources(request), command="attack") as engine:
        chain, rules, notes, aimed = _link_releases(engine, request)
        sights = target_observations(chain, aimed) if aimed else None
        rows = result_rows(request.models, Outcomes(chain, sights), request.secrets, aimed)
        steps, calibration = calibrate.links(chain, truth=bool(request.truth))
        chance = calibrate.vulnerability(chain)
        written = [*remarks(engine), *(_note_on_missing(chain) if aimed else [])]
    if request.truth:
        rows += _rows_with_key(request, settings)
    origin = _describe(origin, request, chain, rules)
    accuracy = steps["link_accuracy"][0] if request.truth and chain.last == 2 else None
    linkage: dict[str, float | bool | None] = {
        "presence": float(request.presence),
        "link_vulnerability": chance,
        "link_accuracy": accuracy,
        "one_to_one": request.one_to_one,
    }
    for row in rows:
        row.update(linkage if row["knowledge"] == "linked" else dict.fromkeys(linkage))
        row["seconds"] = origin.seconds
    schema = SCHEMA | (INDIVIDUAL if request.models[0].individual else {}) | KEYLESS
    schema |= REPORTED if any("reported" in row for row in rows) else {}
    frame = pl.DataFrame([{c: r.get(c) for c in schema} for r in rows], schema=schema)
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
    spec = request.plain() | {"qids": list(tagged_names(chain.releases))}
    spec |= {"link": [rule.plain() for rule in rules]}
    origin = origin.about(spec, tuple(dict.fromkeys((*paths, *tables))))
    origin = origin.sending(chain.tables.statements)
    return origin.listing(roles.of_files(release.columns for release in chain.releases))


def _link_releases(
    engine: Engine, request: Request
) -> tuple[Chain, list[Rule], list[str], list[list[str | None]]]:
    """Return the linked releases, learned rules, notes, and the target's values in each release."""
    catalogs, sequence = _bind_releases(engine, request)
    aimed = target_values(request.models[0], request.target, sequence, catalogs[0])
    tables = [_read_table(engine, r, sequence[0], k) for k, r in _with_table(request.rules)]
    chain = Chain(engine, sequence)
    if keys := request.truth or request.keys:
        calibrate.check_keys(chain, keys[0])
    rules, notes = calibrate.learn(chain, request.rules, keyed=bool(keys))
    _make_transitions(chain, tables)
    chain.law(rules, request.presence)
    notes += match.match(chain) if request.one_to_one else ()
    return chain, rules, notes, aimed


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


def _with_table(law: Sequence[Rule]) -> list[tuple[int, Rule]]:
    """Return the rules with a table of transitions, with the number of their column."""
    drifting = [rule for rule in law if rule.drifts]
    return [(k, rule) for k, rule in enumerate(drifting, 1) if rule.kind == "table"]


def _read_table(engine: Engine, rule: Rule, focal: Release, k: int) -> tuple[int, Step]:
    drifting = focal.drift[k - 1]
    dataset, step = transition_files.read_lines(engine, rule.table, drifting)
    transition_files.check(engine, step, dataset, drifting)
    return k, step


def _make_transitions(chain: Chain, tables: Sequence[tuple[int, Step]]) -> None:
    """Store the transition probabilities of the tables for every number of steps of a link."""
    for k, step in tables:
        chain.tables.make(f"moves_{k}_1", Plan((step,), chain.query("known_transitions")))
        for steps in range(2, chain.last):
            names = {"earlier": f"moves_{k}_{steps - 1}", "later": f"moves_{k}_1"}
            chain.tables.make(f"moves_{k}_{steps}", chain.query("transitions", **names))


def _rows_with_key(request: Request, settings: Settings | None) -> list[dict[str, Any]]:
    """Return the rows of the same attack with the true key."""
    result = keyed.attack(
        [m.acronym for m in request.models],
        request.datasets,
        qids=request.qids,
        secret=request.secrets,
        key=request.truth,
        where=request.where,
        absent=request.absent,
        target=request.target,
        settings=settings,
    )
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
        if knowledge == "linked" and chance > with_key + SLIGHT:
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
