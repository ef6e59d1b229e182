"""Longitudinal attacks without a person key: the releases are linked by what people keep.

Source: spec section 8; PoPETs section 7 leaves the case as future work. For a record x of the focal
release the candidates y are the records of the next release that agree in the exactly matching
columns; each weighs L(x, y), the product of its transition probabilities, and

    link(y|x) = presence * L(x, y) / sum of L(x, .),   link(nobody|x) = 1 - presence,

where nobody is certain if no candidate weighs anything. Longer collections are a chain of links:
the record that was reached is linked with the next release; whoever was not found in a release is
linked from the release before, by the law of so many steps at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Unpack

import polars as pl
from sqlglot import exp

from qifsql import assess, targets
from qifsql.assessment import INDIVIDUAL, SCHEMA, Assessment
from qifsql.collection import ABSENT, ABSENT_RULES, Collection, Source, tagged
from qifsql.dataset import Dataset
from qifsql.engine.catalog import Catalog
from qifsql.engine.duckdb import DuckDB
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, several
from qifsql.export import Origin
from qifsql.linkage import learning, moves
from qifsql.linkage.chain import Chain
from qifsql.linkage.outcomes import Outcome, Outcomes
from qifsql.linkage.releases import Release, releases
from qifsql.linkage.transitions import Rule, probability, rules
from qifsql.measures import bayes
from qifsql.measures.bayes import Success
from qifsql.models import Model
from qifsql.models import model as model_of
from qifsql.plan import Plan, Step
from qifsql.spec import Options, refuse

KEYLESS: dict[str, pl.DataType] = {
    "knowledge": pl.String(),
    "presence": pl.Float64(),
    "link_vulnerability": pl.Float64(),
    "link_accuracy": pl.Float64(),
}
"""Further columns of attacks without a person key. ``knowledge`` is ``focal alone``, ``linked`` or,
where the truth is told, ``with the key``; the others are of the linked row: the chance that a
person of one release is in the next, the chance that the best link of a record (of longer
collections: the best chain of them) is right, and the share of best links that is right by the
truth, for two releases."""

Result = tuple[str, int, list[Outcome]]  # what is known, of how many releases, what it gives
KEYED = ("qids", "secret", "where", "absent", "target")  # what the attack with the key takes, too
MODELS = ("crl", "cal", "irl", "ial")
REFUSED = ("gain", "prior", "by", "thresholds", "quantiles", "weight", "wave", "member")


def attack(
    model: str | Sequence[str],
    source: Source,
    *,
    link: str | Sequence[str] | None = None,
    presence: float | str | None = None,
    truth: str | Sequence[str] = (),
    settings: Settings | None = None,
    progressive: bool = False,
    **options: Any,
) -> Assessment:
    """Attack one release, or a collection of them, joined by a key or linked without one.

    Without ``link`` this is ``qifsql.assess.attack``, which takes the other options. ``link`` are
    rules (``qifsql.linkage.transitions``) such as ``sex,birth_date; age:+1; city:stay=0.93``,
    ``presence`` the chance that a person of one release is in the next (1), ``truth`` the key that
    tells who is who, one for all releases or one for each, to compare with. ``key`` is then what
    stay probabilities are learned from (``city:stay=?``), and used for nothing else; ``where``
    leaves out records of the focal release.

    The result has the columns of ``assessment.SCHEMA`` and ``KEYLESS``, a row per secret and
    knowledge; its details are ``links`` and, with the truth, ``calibration``
    (``qifsql.linkage.learning``). ``blocks`` are the observations that are possible,
    ``singled_out`` those that only one record may give; ``posterior_deterministic`` is the chance of these, and
    ``individuals_certain`` that chance in people, rounded down.

    Raises InputError and EngineError as all attacks do.
    """
    if link is None:
        if presence is not None or truth:
            raise InputError("presence and truth are about links without a key; name --link rules")
        return assess.attack(model, source, settings=settings, progressive=progressive, **options)
    if progressive:
        raise InputError("an attack without a key is not progressive; run it with fewer releases")
    for name in ("measures", "histogram", "unit", "population", "store"):
        if options.pop(name, None):
            raise InputError(f"attacks without a key (link) do not take {name}; leave it out")
    return _run(model, source, link, presence, truth, settings, **options)


def _run(
    model: str | Sequence[str],
    source: Source,
    link: str | Sequence[str],
    presence: float | str | None,
    truth: str | Sequence[str],
    settings: Settings | None,
    **options: Unpack[Options],
) -> Assessment:
    """The attack without a key, next to the focal release alone and the attack with the key."""
    origin = Origin.now(settings, "attack")
    refuse(options, "an attack without a key (link)", *(n for n in REFUSED if n != "gain"))
    if options.get("gain") not in (None, (), [], "identity", ("identity",), ["identity"]):
        raise InputError("an attack without a key (link) does not take gain; leave it out")
    if options.get("null", "distinct") != "distinct":
        raise InputError("without a key a missing value is a value; leave --null out")
    if options.get("absent", "null") not in ABSENT_RULES:
        raise InputError(f"absent is one of {', '.join(ABSENT_RULES)}")
    models = _models(model)
    law, rho = rules(link), probability(1 if presence is None else presence, "presence")
    datasets = _datasets(source)
    keys, known = _names(options.get("key")), _names(truth)
    for what, names in (("key", keys), ("truth", known)):
        if len(names) not in (0, 1, len(datasets)):
            raise InputError(
                f"{several(len(names), what)} for {several(len(datasets), 'dataset')}; name one "
                "for all of them, or one for each"
            )
    secrets = _names(options.get("secret"))
    if models[0].goal != "re-identification" and not secrets:
        raise InputError(f"model {models[0].acronym} infers a secret; name one with --secret")
    if all(m.goal == "re-identification" for m in models):
        secrets = ()
    target = options.get("target") or {}
    with DuckDB(settings) as engine:
        catalogs = [
            Catalog(engine, replace(d, catalog=f"attached_{i}")) for i, d in enumerate(datasets, 1)
        ]
        found = releases(
            catalogs,
            law,
            qids=_names(options.get("qids")) or tuple(target),
            secrets=secrets,
            keys=known or keys,
            where=options.get("where"),
            told=options.get("absent") == "distinct",
        )
        aimed = _aim(models[0], target, found, catalogs[0])
        tables = [_table(engine, r, found[0], k, catalogs[0]) for k, r in _tables(law)]
        chain = Chain(engine, found)
        if known or keys:
            learning.check_keys(chain, (known or keys)[0])
        learned = learning.learn(chain, law, keyed=bool(known or keys))
        _keep_tables(chain, tables)
        chain.law(learned.rules, rho)
        _check_candidates(chain)
        sights = _sights(chain, aimed) if aimed else None
        outcomes = Outcomes(chain, sights)
        rows = _rows(models, outcomes, chain, secrets)
        steps, calibration = learning.links(chain, truth=bool(known))
        chance = learning.vulnerability(chain)
        if known:
            rows += _with_key(models, datasets, known, settings, options)
    spec = {
        "models": [m.acronym for m in models],
        "dataset": " + ".join(d.name for d in datasets),
        "qids": list(_qids(found)),
        "secrets": list(secrets),
        "link": [rule.plain() for rule in learned.rules],
        "presence": float(rho),
        "key": list(keys) or None,
        "truth": list(known) or None,
        "where": options.get("where"),
        "absent": options.get("absent", "null"),
        "target": dict(target) or None,
    }
    paths = (*(p for d in datasets for p in d.paths), *(r.table for _, r in _tables(law)))
    origin = origin.about(spec, tuple(dict.fromkeys(paths))).sending(chain.sent)
    accuracy = steps["link_accuracy"][0] if known and chain.last == 2 else None
    mine = {"presence": float(rho), "link_vulnerability": chance, "link_accuracy": accuracy}
    nothing = dict.fromkeys(mine)
    rows = [
        r | (mine if r["knowledge"] == "linked" else nothing) | {"seconds": origin.seconds}
        for r in rows
    ]
    schema = SCHEMA | (INDIVIDUAL if models[0].individual else {}) | KEYLESS
    frame = pl.DataFrame([{c: r[c] for c in schema} for r in rows], schema=schema)
    details = {"links": steps} | ({"calibration": calibration} if calibration is not None else {})
    notes = [*learned.notes, *_notes(steps, chain)]
    return Assessment(frame, origin, tuple(notes), details)


def _models(model: str | Sequence[str]) -> tuple[Model, ...]:
    names = model.split(",") if isinstance(model, str) else list(model)
    found = tuple(dict.fromkeys(model_of(name.strip()) for name in names))
    if not found or any(m.acronym not in MODELS for m in found):
        raise InputError(f"link rules are for the models {', '.join(MODELS)}: releases over time")
    if len({m.individual for m in found}) > 1:
        raise InputError("models of one person and of everybody are run apart")
    return found


def _datasets(source: Source) -> tuple[Dataset, ...]:
    if isinstance(source, Collection):
        found = source.datasets
    elif isinstance(source, str | Dataset) or not isinstance(source, Sequence):
        found = (Dataset.open(source),)
    else:
        found = tuple(Dataset.open(one) for one in source)
    if len(found) < 2:
        raise InputError("linking needs two releases at least; name the auxiliary ones after FILE")
    return found


def _names(given: str | Sequence[str] | None) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given or ())


def _qids(found: Sequence[Release]) -> tuple[str, ...]:
    return tuple(tagged(r.number, q.name) for r in found for q in r.qids)


def _tables(law: Sequence[Rule]) -> list[tuple[int, Rule]]:
    """The rules with a table of transitions, by the number of their column."""
    drifting = [rule for rule in law if rule.drifts]
    return [(k, rule) for k, rule in enumerate(drifting, 1) if rule.kind == "table"]


def _table(
    engine: DuckDB, rule: Rule, focal: Release, k: int, catalog: Catalog
) -> tuple[int, Step]:
    drifting = focal.drift[k - 1]
    dataset, step = moves.listed(rule.table, drifting, catalog)
    moves.check(engine, step, dataset, drifting)
    return k, step


def _keep_tables(chain: Chain, tables: Sequence[tuple[int, Step]]) -> None:
    """Keep the laws of the tables, for every number of releases that a link may skip."""
    for k, step in tables:
        chain.keep(f"moves_{k}_1", Plan((step,), chain.query("known_transitions")))
        for steps in range(2, chain.last):
            names = {"earlier": f"moves_{k}_{steps - 1}", "later": f"moves_{k}_1"}
            chain.keep(f"moves_{k}_{steps}", Plan((), chain.query("transitions", **names)))


def _check_candidates(chain: Chain) -> None:
    """Refuse rules by which nobody has a candidate."""
    for i in range(1, chain.last):
        ((linkable,),) = chain.rows(
            Plan((), chain.query("linkable", totals=f"totals_{i}_{i + 1}")), "counting candidates"
        )
        if not linkable:
            names = [chain.releases[j].dataset.name for j in (i - 1, i)]
            raise InputError(
                f"no record of {names[0]} has a candidate in {names[1]}: no pair agrees in the "
                "exactly matching columns (after what is added) and has a possible transition; "
                "check the rules and the order of the releases"
            )


def _aim(
    kind: Model, target: Mapping[str, object], found: Sequence[Release], catalog: Catalog
) -> list[list[str | None]]:
    """The target's values in each release; nothing for models of everybody."""
    every = [
        replace(q, name=tagged(r.number, q.name), number=r.number) for r in found for q in r.qids
    ]
    given = targets.bind(kind, target, every, catalog)
    if not kind.individual:
        return []
    return [[given[tagged(r.number, q.name)] for q in r.qids] for r in found]


def _sights(chain: Chain, aimed: Sequence[Sequence[str | None]]) -> list[int]:
    """The numbers of what is observed of the target; -1 for what nobody shows."""
    numbers = []
    for release, values in zip(chain.releases, aimed, strict=True):
        absent = bool(values) and any(v is ABSENT for v in values)
        missing = not values or (not release.told and all(v is None for v in values))
        if release.number > 1 and (absent or missing):
            numbers.append(0)
            continue
        own = release.observation([None if v is ABSENT else v for v in values])
        wanted = Step("wanted", "One row: what is observed of the target.", _one(own))
        names = {"sights": f"sights_{release.number}"}
        rows = chain.rows(
            Plan((wanted,), chain.query("sighted", **names)), "looking for the target"
        )
        numbers.append(int(rows[0][0]) if rows else -1)
    return numbers


def _one(tree: exp.Expr) -> exp.Select:
    return exp.select(exp.alias_(tree, "observed"))


def _rows(
    models: Sequence[Model], outcomes: Outcomes, chain: Chain, secrets: Sequence[str]
) -> list[dict[str, Any]]:
    focal = chain.releases[0]
    results: list[Result] = [("focal alone", 1, outcomes.alone())] if focal.qids else []
    results.append(("linked", chain.last, outcomes.linked()))
    records = chain.records[0]
    priors = [Success(Fraction(records == 1), Fraction(1, records), 1 / records, int(records == 1))]
    for j in range(1, len(secrets) + 1):
        placed = chain.query("secret_counts")
        tree = placed.transform(lambda n, j=j: _secret(n, j))
        ((n, most, values),) = chain.rows(Plan((), tree), "counting secrets")
        share = Fraction(int(most), int(n))
        priors.append(
            Success(Fraction(values == 1), share, float(share), int(n) if values == 1 else 0)
        )
    rows = []
    for m in models:
        numbers = (0,) if m.goal == "re-identification" else range(1, len(secrets) + 1)
        for j in numbers:
            rows += [
                _row(m, j, result, priors[j], outcomes=outcomes, secrets=secrets)
                for result in results
            ]
    return rows


def _secret(node: exp.Expr, j: int) -> exp.Expr:
    if isinstance(node, exp.Column) and node.name == "secret":
        return exp.column(f"secret_{j}")
    return node


def _row(
    m: Model, j: int, result: Result, prior: Success, *, outcomes: Outcomes, secrets: Sequence[str]
) -> dict[str, Any]:
    chain = outcomes.chain
    knowledge, n, found = result
    qids = _qids(chain.releases[:n])
    after, everybody = found[j].success, found[0]
    if m.individual:
        certain = everybody.matches if after.deterministic == 1 else 0
        after = replace(after, certain=certain)
    row = {
        "model": m.acronym.upper(),
        "datasets": n,
        "n_qids": len(qids),
        "qids": list(qids),
        "secret": secrets[j - 1] if j else None,
        "records": chain.records[0],
        "blocks": found[j].blocks,
        "singled_out": everybody.revealing,
        "knowledge": knowledge,
        **bayes.row(prior, after),
    }
    if m.individual:
        guess = outcomes.best_guess(j) if j and n > 1 else None
        row |= {"target": "", "matches": everybody.matches, "best_guess": guess}
    return row


def _with_key(
    models: Sequence[Model],
    datasets: Sequence[Dataset],
    truth: Sequence[str],
    settings: Settings | None,
    options: Options,
) -> list[dict[str, Any]]:
    """The rows of the same attack where everybody's key is known."""
    asked: dict[str, Any] = {n: v for n, v in options.items() if n in KEYED and v}
    result = assess.attack(
        [m.acronym for m in models], datasets, key=list(truth), settings=settings, **asked
    )
    return [row | {"knowledge": "with the key"} for row in result.rows()]


def _notes(steps: pl.DataFrame, chain: Chain) -> list[str]:
    notes = []
    for row in steps.iter_rows(named=True):
        if without := row["records"] - row["with_candidates"]:
            name = chain.releases[row["step"] - 1].dataset.name
            after = chain.releases[row["step"]].dataset.name
            notes.append(
                f"{several(without, 'record')} of {name} have no candidate in {after}: by the "
                "rules these people are not in it"
            )
    return notes
