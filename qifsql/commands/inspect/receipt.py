"""A receipt for one person: the fewest facts that single the person out or reveal a secret.

In one pass, people are grouped by the set of quasi-identifiers in which they agree with the person;
there are at most 2^n such sets. A person who agrees on a set agrees on each of its subsets, so sums
over supersets give the number of people who agree on every set of facts.
"""

from collections.abc import Callable, Sequence
from typing import Unpack

import polars as pl

from qifsql.adversary.options import Options
from qifsql.adversary.spec import Attack
from qifsql.commands.attack.attack import attack
from qifsql.counting.session import opened
from qifsql.data.collection import Source
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, TargetError
from qifsql.query import compiler
from qifsql.query.steps import Steps
from qifsql.results.result import Result
from qifsql.results.storage import Origin

MOST_QIDS = 20  # with a million sets

SCHEMA: dict[str, pl.DataType] = {
    "reveals": pl.String(),
    "n_qids": pl.Int64(),
    "qids": pl.List(pl.String()),
    "matches": pl.Int64(),
}
"""One row per minimal set of quasi-identifiers: each of its facts is needed.

``reveals`` is the secret that the set reveals with certainty; NULL if the set singles the person
out. ``matches`` is the number of people who agree with the person on the set."""


CHANCES: dict[str, pl.DataType] = {
    **dict.fromkeys(("secret", "value"), pl.String()),
    **dict.fromkeys(("prior", "posterior"), pl.Float64()),
}
"""One row per secret and value: its share of all people, and of those who agree with the person on
all facts (NULL if nobody does)."""


def receipt(
    source: Source, *, settings: Settings | None = None, **options: Unpack[Options]
) -> Result:
    """Find the fewest facts that single one person out, and what the release then reveals."""
    origin = Origin.now(settings, "receipt")
    if not options.get("target"):
        raise TargetError("no target is named; give --target COLUMN=VALUE for what is known")
    models = "irs,ias" if options.get("secret") else "irs"
    spec = Attack.of(models, source, **options)
    learnt = attack(models, source, settings=settings, **options)
    with opened(spec, settings) as (engine, bound):
        if len(bound.microdata.qids) > MOST_QIDS:
            raise InputError(
                f"a receipt is about at most {MOST_QIDS} quasi-identifiers; name fewer"
            )
        names = [q.name for q in bound.microdata.qids]
        rows: list[dict[str, object]] = []
        chances: list[dict[str, object]] = []
        plans = []
        dataset, secrets = bound.microdata.dataset, bound.microdata.secrets
        for j, secret in enumerate([None, *(s.name for s in secrets)]):  # 0: re-identification
            plans.append(compiler.step_plan(Steps(bound), "agreements", [(j, 0)]))
            agreements = engine.frame(plans[-1], "comparing with the target", dataset.name)
            rows += _minimal_sets(secret, names, agreements)
            if secret is not None:
                plans.append(compiler.step_plan(Steps(bound), "likelihoods", [(j, 0)]))
                counted = engine.frame(plans[-1], "comparing with the target", dataset.name)
                chances += _chances(secret, len(names), counted)
        origin = origin.of(bound, spec, *learnt.origin.plans, *plans)
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    details = {"learnt": learnt.frame}
    if chances:
        details["chances"] = pl.DataFrame(chances, schema=CHANCES)
    return Result(frame=frame, origin=origin, details=details, notes=learnt.notes)


def _minimal_sets(
    secret: str | None, names: Sequence[str], agreements: pl.DataFrame
) -> list[dict[str, object]]:
    """Return the rows (``SCHEMA``) of a secret, or of None: to single out; fewest facts first.

    A set is a mask: bit i is the fact about ``names[i]``. ``agreements`` has one row per mask: the
    people who agree with the person on these facts alone, the least and greatest code of their
    values of the secret.
    """
    n_sets = 2 ** len(names)
    people = [0] * n_sets
    for mask, n in agreements.select("mask", "people").iter_rows():
        people[mask] = n
    _join_supersets(people, int.__add__)  # from here on, those who agree on at least these facts
    if secret is None:
        reveals = [n == 1 for n in people]
    else:
        reveals = _sets_with_one_value(n_sets, agreements)
    minimal = []
    for mask in range(n_sets):
        facts = [i for i in range(len(names)) if mask >> i & 1]
        if reveals[mask] and not any(reveals[mask ^ (1 << i)] for i in facts):
            minimal.append((len(facts), facts, people[mask]))
    return [
        {"reveals": secret, "n_qids": n, "qids": [names[i] for i in facts], "matches": matches}
        for n, facts, matches in sorted(minimal)
    ]


def _chances(secret: str, facts: int, counted: pl.DataFrame) -> list[dict[str, object]]:
    """Return the rows (``CHANCES``) of a secret; ``counted`` has the people of each value.

    Those who are ``alike`` agree with the person on the most facts, which may be fewer than all.
    """
    rows = counted.to_dicts()
    agree_on_all = bool(rows) and rows[0]["facts"] == 2**facts - 1
    everybody, alike = (sum(row[name] for row in rows) for name in ("people", "alike"))
    return [
        {"secret": secret, "value": row["value"], "prior": row["people"] / everybody}
        | {"posterior": row["alike"] / alike if agree_on_all else None}
        for row in rows
    ]


def _sets_with_one_value(n_sets: int, agreements: pl.DataFrame) -> list[bool]:
    """Return for each set of facts (a mask) whether those who agree on it all have one value.

    False for a set on which nobody agrees. See ``_minimal_sets`` for ``agreements``.
    """
    none = 1 + max(agreements["last_code"].to_list())  # above all codes: nobody agrees
    least, greatest = [none] * n_sets, [0] * n_sets  # codes of values, by mask
    for mask, first, last in agreements.select("mask", "first_code", "last_code").iter_rows():
        least[mask], greatest[mask] = first, last
    _join_supersets(least, min)
    _join_supersets(greatest, max)
    return [first == last for first, last in zip(least, greatest, strict=True)]


def _join_supersets(values: list[int], join: Callable[[int, int], int]) -> None:
    """Join into the value of each set, whose index is its bit mask, those of all its supersets."""
    bit = 1
    while bit < len(values):
        for mask in range(len(values)):
            if not mask & bit:
                values[mask] = join(values[mask], values[mask | bit])
        bit <<= 1
