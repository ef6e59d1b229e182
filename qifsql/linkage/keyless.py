"""Longitudinal attacks without a person key: the releases are linked by what people keep.

Source: spec section 8; PoPETs section 7 leaves the case as future work. For a record x of the focal
release the candidates y are the records of the next release that agree in the exactly matching
columns; each weighs L(x, y), the product of its transition probabilities, and

    link(y|x) = presence * L(x, y) / sum of L(x, .),   link(nobody|x) = 1 - presence,

where nobody is certain if no candidate weighs anything. Longer collections are a chain of links:
the record that was reached is linked with the next release; whoever was not found in a release is
linked from the release before, by the law of so many steps at once.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from qifsql import assess, roles
from qifsql.assessment import INDIVIDUAL, SCHEMA, Assessment
from qifsql.collection import Source
from qifsql.dataset import Dataset
from qifsql.engine.catalog import Catalog
from qifsql.engine.duckdb import DuckDB
from qifsql.engine.settings import Settings
from qifsql.engine.writings import remarks
from qifsql.errors import InputError, several
from qifsql.export import Origin
from qifsql.linkage import learning, matching, moves
from qifsql.linkage.chain import Chain
from qifsql.linkage.outcomes import Outcomes
from qifsql.linkage.questions import Asked, asked
from qifsql.linkage.releases import Release, releases
from qifsql.linkage.standing import aim, named, numbers, standing
from qifsql.linkage.transitions import Rule
from qifsql.plan import Plan, Step

KEYLESS: dict[str, pl.DataType] = {
    "knowledge": pl.String(),
    "presence": pl.Float64(),
    "link_vulnerability": pl.Float64(),
    "link_accuracy": pl.Float64(),
    "one_to_one": pl.Boolean(),
}
"""Further columns of attacks without a person key. ``knowledge`` is ``focal alone``, ``linked`` or,
where the truth is told, ``with the key``; the others are of the linked row: the chance that a
person of one release is in the next, the chance that the best link of a record (of longer
collections: the best chain of them) is right, the share of best links that is right by the truth,
for two releases, and whether people compete for records."""


def attack(
    model: str | Sequence[str],
    source: Source,
    *,
    link: str | Sequence[str] | None = None,
    presence: float | str | None = None,
    truth: str | Sequence[str] = (),
    one_to_one: bool = False,
    settings: Settings | None = None,
    progressive: bool = False,
    **options: Any,
) -> Assessment:
    """Attack one release, or a collection of them, joined by a key or linked without one.

    Without ``link`` this is ``qifsql.assess.attack``, which takes the other options. ``link`` are
    rules (``qifsql.linkage.transitions``) such as ``sex,birth_date; age:+1; city:stay=0.93``,
    ``presence`` the chance that a person of one release is in the next (1), ``truth`` the key that
    tells who is who, one for all releases or one for each, to compare with. ``one_to_one`` lets
    people compete for records (``qifsql.linkage.matching``). ``key`` is then what stay
    probabilities are learned from (``city:stay=?``), and used for nothing else; ``where`` leaves
    out records of the focal release.

    The result has the columns of ``assessment.SCHEMA`` and ``KEYLESS``, a row per secret and
    knowledge; its details are ``links`` and, with the truth, ``calibration``
    (``qifsql.linkage.learning``). ``blocks`` are the observations that are possible;
    ``posterior_deterministic`` is the chance of those that leave no doubt, and ``singled_out``
    (whose record it is) and ``individuals_certain`` are that chance in people, rounded down.

    Raises InputError and EngineError as all attacks do.
    """
    if link is None:
        if presence is not None or truth or one_to_one:
            raise InputError(
                "presence, truth and one_to_one are about links without a key; name --link rules"
            )
        return assess.attack(model, source, settings=settings, progressive=progressive, **options)
    options |= {"presence": presence, "truth": truth, "one_to_one": one_to_one}
    options["progressive"] = progressive
    return _run(_question(model, source, link=link, **options), settings)


def fit(
    model: str | Sequence[str], source: Source, settings: Settings | None = None, **options: Any
) -> None:
    """Look up every name of an attack without a key in its data; InputError where one is wrong.

    The options are those of ``attack``.
    """
    question = _question(model, source, **options)
    with DuckDB(settings, sources=_sources(question)) as engine:
        catalogs, found = _opened(engine, question)
        aim(question.models[0], question.target, found, catalogs[0])
        for k, rule in _tables(question.rules):
            moves.listed(rule.table, found[0].drift[k - 1], catalogs[0])


def _question(
    model: str | Sequence[str],
    source: Source,
    *,
    link: str | Sequence[str],
    presence: float | str | None = None,
    truth: str | Sequence[str] = (),
    one_to_one: bool = False,
    progressive: bool = False,
    **options: Any,
) -> Asked:
    """What is asked; InputError where that is not for attacks without a key."""
    if progressive:
        raise InputError("an attack without a key is not progressive; run it with fewer releases")
    for name in ("measures", "histogram", "unit", "population", "store"):
        if options.pop(name, None):
            raise InputError(f"attacks without a key (link) do not take {name}; leave it out")
    options |= {"link": link, "presence": presence, "truth": truth, "one_to_one": one_to_one}
    return asked(model, source, **options)


def _run(asked: Asked, settings: Settings | None) -> Assessment:
    """The attack without a key, next to the focal release alone and the attack with the key."""
    origin = Origin.now(settings, "attack")
    with DuckDB(settings, sources=_sources(asked)) as engine:
        chain, learned, aimed = _linked(engine, asked)
        sights = numbers(chain, aimed) if aimed else None
        rows = standing(asked.models, Outcomes(chain, sights), asked.secrets, aimed)
        steps, calibration = learning.links(chain, truth=bool(asked.truth))
        chance = learning.vulnerability(chain)
        written = remarks(engine)
    if asked.truth:
        rows += _with_key(asked, settings)
    paths = (p for d in asked.datasets for p in d.paths)
    tables = (rule.table for _, rule in _tables(asked.rules))
    spec = asked.plain() | {"qids": list(named(chain.releases))}
    spec |= {"link": [rule.plain() for rule in learned.rules]}
    origin = origin.about(spec, tuple(dict.fromkeys((*paths, *tables)))).sending(chain.sent)
    origin = origin.listing(roles.of_files(release.columns for release in chain.releases))
    accuracy = steps["link_accuracy"][0] if asked.truth and chain.last == 2 else None
    mine: dict[str, float | bool | None] = {
        "presence": float(asked.presence),
        "link_vulnerability": chance,
        "link_accuracy": accuracy,
        "one_to_one": asked.one_to_one,
    }
    nothing = dict.fromkeys(mine)
    rows = [
        r | (mine if r["knowledge"] == "linked" else nothing) | {"seconds": origin.seconds}
        for r in rows
    ]
    schema = SCHEMA | (INDIVIDUAL if asked.models[0].individual else {}) | KEYLESS
    frame = pl.DataFrame([{c: r[c] for c in schema} for r in rows], schema=schema)
    details = {"links": steps} | ({"calibration": calibration} if calibration is not None else {})
    notes = [*learned.notes, *_notes(steps, chain), *written]
    if asked.presence == 1:
        notes.append("everybody of one release is taken to be in the next (presence 1)")
    return Assessment(frame, origin, tuple(notes), details)


def _linked(engine: DuckDB, asked: Asked) -> tuple[Chain, learning.Learned, list[list[str | None]]]:
    """The chain of releases with its law, and the values of the target in each."""
    catalogs, found = _opened(engine, asked)
    keys = asked.truth or asked.keys
    aimed = aim(asked.models[0], asked.target, found, catalogs[0])
    tables = [_table(engine, r, found[0], k, catalogs[0]) for k, r in _tables(asked.rules)]
    chain = Chain(engine, found)
    if keys:
        learning.check_keys(chain, keys[0])
    learned = learning.learn(chain, asked.rules, keyed=bool(keys))
    _keep_tables(chain, tables)
    chain.law(learned.rules, asked.presence)
    if asked.one_to_one:
        learned = replace(learned, notes=(*learned.notes, *matching.match(chain)))
    return chain, learned, aimed


def _sources(asked: Asked) -> list[Dataset]:
    """The releases and the tables of transitions."""
    return [*asked.datasets, *(Dataset.open(rule.table) for _, rule in _tables(asked.rules))]


def _opened(engine: DuckDB, asked: Asked) -> tuple[list[Catalog], tuple[Release, ...]]:
    """The releases with all columns looked up."""
    catalogs = [
        Catalog(engine, replace(d, catalog=f"attached_{i}"))
        for i, d in enumerate(asked.datasets, 1)
    ]
    found = releases(
        catalogs,
        asked.rules,
        qids=asked.qids,
        secrets=asked.secrets,
        keys=asked.truth or asked.keys,
        where=asked.where,
        told=asked.absent == "distinct",
    )
    return catalogs, found


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


def _with_key(asked: Asked, settings: Settings | None) -> list[dict[str, Any]]:
    """The rows of the same attack where everybody's key is known."""
    models = [m.acronym for m in asked.models]
    told: dict[str, Any] = {"qids": asked.qids, "where": asked.where, "absent": asked.absent}
    told |= {"target": asked.target, "secret": asked.secrets}
    result = assess.attack(models, asked.datasets, key=list(asked.truth), settings=settings, **told)
    return [row | {"knowledge": "with the key"} for row in result.rows()]


def _notes(steps: pl.DataFrame, chain: Chain) -> list[str]:
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
                f"{several(without, 'record')} of {name} have no candidate in {after}: by the "
                "rules these people are not in it"
            )
    return notes
