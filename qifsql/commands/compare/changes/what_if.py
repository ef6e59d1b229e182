"""Measure the risk before and after changes, alone and together, without writing data.

Or find the smallest change that keeps bounds (``qifsql.commands.compare.changes.smallest_change``).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from qifsql.adversary import changes as adversary_changes
from qifsql.adversary import roles
from qifsql.adversary.bind import bind
from qifsql.adversary.changes import Change
from qifsql.adversary.spec import Attack, Microdata
from qifsql.commands.compare.changes.evaluate import Work
from qifsql.commands.compare.spec import CompareOptions
from qifsql.counting import risks
from qifsql.counting.dependents import dependents
from qifsql.data.dataset import Dataset, Tabular
from qifsql.data.files import path_text
from qifsql.data.option import as_tuple
from qifsql.data.readers import openings
from qifsql.engine.catalog import Catalog
from qifsql.engine.engines import open_engine
from qifsql.engine.settings import Settings
from qifsql.errors import InputError
from qifsql.query.render import expressions
from qifsql.results.assessment import PEOPLE
from qifsql.results.result import Result
from qifsql.results.storage import Origin, repeated_people
from qifsql.study import bounds
from qifsql.study import policy as policies
from qifsql.study.bounds import Bound

TAKEN = ("qids", "secret", "where", "person")  # options of the adversary

SCHEMA: dict[str, pl.DataType] = {
    "release": pl.String(),
    "changes": pl.List(pl.String()),
    "secret": pl.String(),
    **risks.PARTITION,
    "certainty_penalty": pl.Float64(),
    "met": pl.Boolean(),
    "tried": pl.Int64(),
}
"""One row per release and secret, with the columns ``risks.PARTITION`` of the changed release.

``release`` is ``before``; ``alone``, with one change; ``together``, with all; or ``smallest``, with
the smallest change that keeps the bounds. ``certainty_penalty`` is the loss of the values
(``utility.penalty``), the mean over the quasi-identifiers, in [0, 1]: 1 for a dropped one. ``met``
states whether the release keeps the bounds. ``tried`` is the number of releases that the search
measured, the same in every row. Both are NULL without bounds."""


def what_if(source: Tabular, options: CompareOptions, *, settings: Settings | None) -> Result:
    """Measure the risk before and after changes of columns; write no data.

    With the options ``until`` or ``policy``: find the smallest change that keeps all bounds.
    """
    origin = Origin.now(settings, "what-if")
    adversary, policy = _read_adversary(options)
    texts, limits = as_tuple(options["change"]), as_tuple(options["until"])
    if not texts and not limits and policy is None:
        raise InputError(
            "nothing is asked for; name releases of the file, a change "
            f"({adversary_changes.HOW}) or a bound (until)"
        )
    reading = adversary.pop("known_records", None)  # None: a bound holds in both readings
    models = "crs,cas" if adversary.get("secret") else "crs"
    arguments = {name: value for name, value in adversary.items() if value or name == "person"}
    spec = Attack.of(models, Dataset.open(source), **arguments)
    trees = {name: path_text(path) for name, path in (options["hierarchies"] or {}).items()}
    with open_engine(settings, sources=[spec.dataset], command="compare") as engine:
        catalog = Catalog(engine, spec.dataset)
        bound = bind(Attack.of(models, catalog.dataset, **arguments), catalog)
        requests = [adversary_changes.read(text, bound.microdata.qids) for text in texts]
        names = [s.name for s in bound.microdata.secrets]
        rules = [bounds.read_bound(text, names) for text in limits]
        rules += bounds.of_policy(policy, names) if policy is not None else []
        if bound.microdata.person is not None and any(c.kind == "sample" for c in requests):
            raise InputError(
                "a sample draws records, and with person what is known is the records of a person; "
                "leave one of them out"
            )
        work = Work(engine, catalog, bound, trees, reading)
        seed = settings.seed if settings else None
        rows = work.search(requests, rules) if rules else work.compare(requests, seed=seed or 0)
        # The quasi-identifiers that the measured releases change (number 0 is a sample), and the
        # columns that reveal them all the same.
        measured = dict.fromkeys(text for row in rows for text in row["changes"])
        changes = [adversary_changes.read(text, bound.microdata.qids) for text in measured]
        generalised = [bound.microdata.qids[i - 1] for i in sorted({c.qid for c in changes} - {0})]
        revealing, plans = dependents(engine, bound.microdata, generalised, bound.microdata.columns)
        description = _describe_request(bound.microdata, requests, rules, seed, trees)
        description |= {"where": adversary.get("where")}
        if bound.microdata.person is not None:
            description |= {"person": bound.microdata.person.name, "known_records": reading}
        policy_files = [str(policy.file)] if policy is not None and policy.lines.file else []
        paths = (*bound.microdata.dataset.paths, *trees.values(), *policy_files)
        origin = origin.about(description, paths, *work.plans, *plans)
        statements = [*openings(bound.microdata.dataset), *work.tables.statements]
        origin = origin.listing(bound.microdata.columns).sending(dict.fromkeys(statements))
    tried = work.tried if rules else None
    schema = SCHEMA | (PEOPLE if bound.microdata.person is not None else {})
    frame = pl.DataFrame([r | {"tried": tried} for r in rows], schema=schema, orient="row")
    met = bool(frame["met"].any()) if rules else None
    notes = [*bounds.remarks(rules), *bound.microdata.notes, *work.notes]
    if unnamed := roles.unnamed(bound.microdata.columns):
        notes.append(
            f"not considered, and released as they are: {unnamed}; who knows them, too, singles "
            "out more people than is said here (see check)"
        )
    notes += [dependent.note for dependent in revealing]
    return Result(frame=frame, origin=origin, notes=tuple(notes), met=met)


def _read_adversary(options: CompareOptions) -> tuple[dict[str, Any], policies.Policy | None]:
    """Return the options of the adversary, and the policy that has them, if one is named."""
    adversary: dict[str, Any] = {name: value for name, value in options.items() if name in TAKEN}
    if options["policy"] is None:
        return adversary, None
    policy = policies.read(options["policy"], **adversary)
    keys = {*TAKEN, "known_records"}
    unsupported = [
        name
        for name, value in policy.adversary.items()
        # a search does not need the key, and always takes a missing value as a value of its own
        if value and name not in keys | {"key"} and (name, value) != ("null", "distinct")
    ]
    if unsupported:
        raise policy.lines.wrong(
            f"a search does not know {', '.join(unsupported)}; leave it out", "adversary"
        )
    return {name: policy.adversary.get(name) for name in keys}, policy


def _describe_request(
    microdata: Microdata,
    requests: Sequence[Change],
    rules: Sequence[Bound],
    seed: int | None,
    trees: Mapping[str, str],
) -> dict[str, Any]:
    """Return the request as plain data; ``trees`` are the paths of hierarchies by column."""
    return {
        "dataset": microdata.dataset.name,
        "qids": [q.name for q in microdata.qids],
        "secrets": [s.name for s in microdata.secrets],
        "expressions": expressions((*microdata.qids, *microdata.secrets)),
        "changes": [c.text for c in requests],
        "bounds": [b.text for b in rules],
        "hierarchies": dict(trees) or None,
        "seed": (seed or 0) if any(c.kind == "sample" for c in requests) else None,
        **microdata.dataset.read_with,
        **repeated_people(microdata.repeated),
    }
