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
from qifsql.results.result import Result
from qifsql.results.storage import Origin

MOST = 20  # quasi-identifiers, with a million sets

SCHEMA: dict[str, pl.DataType] = {
    "reveals": pl.String(),
    "n_qids": pl.Int64(),
    "qids": pl.List(pl.String()),
    "matches": pl.Int64(),
}
"""One row per minimal set of quasi-identifiers: each of its facts is needed.

``reveals`` is the secret that the set reveals with certainty; NULL if the set singles the person
out. ``matches`` is the number of people who agree with the person on the set."""


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
        if len(bound.microdata.qids) > MOST:
            raise InputError(f"a receipt is about at most {MOST} quasi-identifiers; name fewer")
        names = [q.name for q in bound.microdata.qids]
        rows: list[dict[str, object]] = []
        plans = []
        for j in range(len(bound.microdata.secrets) + 1):
            plan = compiler.step_plan(bound, "agreements", [(j, 0)])
            plans.append(plan)
            agreements = engine.frame(
                plan, "comparing with the target", bound.microdata.dataset.name
            )
            secret = bound.microdata.secrets[j - 1].name if j else None
            rows += _minimal_sets(secret, names, agreements)
        origin = origin.of(bound, spec, *learnt.origin.plans, *plans)
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    details = {"learnt": learnt.frame}
    return Result(frame=frame, origin=origin, details=details, notes=learnt.notes)


def _minimal_sets(
    secret: str | None, names: Sequence[str], agreements: pl.DataFrame
) -> list[dict[str, object]]:
    """Return the minimal sets, fewest facts first, in the order of the quasi-identifiers."""
    sets = 2 ** len(names)
    people = [0] * sets
    for mask, n in agreements.select("mask", "people").iter_rows():
        people[mask] = n
    _join_supersets(people, int.__add__)
    if secret is None:
        reveals = [n == 1 for n in people]
    else:
        none = 1 + max(agreements["last_code"].to_list())
        first, last = [none] * sets, [0] * sets
        for mask, low, high in agreements.select("mask", "first_code", "last_code").iter_rows():
            first[mask], last[mask] = low, high
        _join_supersets(first, min)
        _join_supersets(last, max)
        reveals = [
            bool(n) and low == high for n, low, high in zip(people, first, last, strict=True)
        ]
    minimal = [
        mask
        for mask in range(sets)
        if reveals[mask] and not any(reveals[mask ^ bit] for bit in _bits(mask))
    ]
    qids_by_mask = {
        mask: [name for i, name in enumerate(names) if mask >> i & 1] for mask in minimal
    }
    order = sorted(
        minimal, key=lambda m: (m.bit_count(), [names.index(n) for n in qids_by_mask[m]])
    )
    return [
        {
            "reveals": secret,
            "n_qids": len(qids_by_mask[m]),
            "qids": qids_by_mask[m],
            "matches": people[m],
        }
        for m in order
    ]


def _join_supersets(values: list[int], join: Callable[[int, int], int]) -> None:
    """Replace the value of each set by the joined values of all its supersets."""
    bit = 1
    while bit < len(values):
        for mask in range(len(values)):
            if not mask & bit:
                values[mask] = join(values[mask], values[mask | bit])
        bit <<= 1


def _bits(mask: int) -> list[int]:
    return [1 << i for i in range(mask.bit_length()) if mask >> i & 1]
