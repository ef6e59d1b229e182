"""Refinement: one set of quasi-identifiers never leaks less than another, whatever the gain.

Knowing A is never worse for the adversary than knowing B, for every secret, prior and gain
function, if and only if each block of A lies within one block of B: A determines B. The test is an
attack by an adversary who knows A, on B taken together as one secret: every block must hold one
value. Source: refinement of partitions, M. S. Alvim et al., The Science of Quantitative
Information Flow (2020), ch. 9.
"""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl
from sqlglot import exp

from qifsql.adversary.options import NullRule
from qifsql.adversary.spec import Attack, Attribute, BoundAttack, Microdata
from qifsql.counting.session import check_records, note_left_out, opened
from qifsql.data.collection import Source
from qifsql.engine.settings import Settings
from qifsql.errors import ColumnError
from qifsql.query.columns import SHOWABLE, as_native, named
from qifsql.query.microdata_steps import normal, plan
from qifsql.query.plan import Plan
from qifsql.query.steps import Steps
from qifsql.results.result import Result
from qifsql.results.storage import Origin

SCHEMA: dict[str, pl.DataType] = {
    "refines": pl.Boolean(),
    "a": pl.List(pl.String()),
    "b": pl.List(pl.String()),
    "records": pl.Int64(),
    "blocks": pl.Int64(),
    "violating_blocks": pl.Int64(),
    "violating_people": pl.Int64(),
}


def refines(
    source: Source,
    a: str | Sequence[str],
    b: str | Sequence[str],
    *,
    where: str | None,
    null: NullRule,
    settings: Settings | None,
) -> Result:
    """Test whether knowing ``a`` never leaks less than knowing ``b``, for every secret and gain.

    It does if an adversary who knows ``a`` is certain of ``b``, taken together as one secret.
    """
    origin = Origin.now(settings, "refines")
    first = Attack.of("crs", source, qids=a, where=where, null=null)
    second = replace(first, qids=Attack.of("crs", source, qids=b).qids)  # to bind columns of b
    with opened(first, settings) as (engine, bound), opened(second, settings) as (_, other_bound):
        a_on_b = bound.on(_with_one_secret(bound.microdata, other_bound.microdata.qids))
        check_records(engine, a_on_b.microdata)
        b_names = [q.name for q in other_bound.microdata.qids]
        steps = Steps(a_on_b)
        counted = exp.select("*").from_(steps.need("violations", 1))
        comparison = plan(a_on_b.microdata, steps.steps, counted)
        blocks, bad_blocks, bad_people, records = engine.rows(
            comparison, "comparing", bound.microdata.dataset.name
        )[0]
        plans, details = [comparison], {}
        if bad_blocks:
            plans.append(_example_plan(a_on_b, other_bound.microdata.qids))
            details["counterexample"] = engine.frame(
                plans[-1], "comparing", bound.microdata.dataset.name
            )
        a_names = [q.name for q in bound.microdata.qids]
        spec = {
            "dataset": bound.microdata.dataset.name,
            "where": where,
            "null": null,
            "a": a_names,
            "b": b_names,
        }
        origin = origin.about(spec, bound.microdata.dataset.paths, *plans)
        left_out = note_left_out(engine, a_on_b.microdata)
    row = {
        "refines": not bad_blocks,
        "a": a_names,
        "b": b_names,
        "records": records,
        "blocks": blocks,
    }
    row |= {"violating_blocks": bad_blocks, "violating_people": bad_people}
    notes = tuple(dict.fromkeys((*bound.microdata.notes, *other_bound.microdata.notes, *left_out)))
    frame = pl.DataFrame([row], schema=SCHEMA)
    return Result(frame=frame, origin=origin, details=details, notes=notes, met=not bad_blocks)


def _with_one_secret(microdata: Microdata, qids: Sequence[Attribute]) -> Microdata:
    """Return the attack with one secret: the other quasi-identifiers, taken together."""
    if not qids:
        raise ColumnError("the second set of quasi-identifiers is empty; name some")
    parts = [
        exp.PropertyEQ(this=exp.Literal.string(f"part_{i}"), expression=normal(qid))
        for i, qid in enumerate(qids, 1)
    ]
    secret = Attribute("b", exp.Struct(expressions=parts), "STRUCT")
    return replace(microdata, secrets=(secret,))


def _example_plan(attack: BoundAttack, secret_parts: Sequence[Attribute]) -> Plan:
    steps = Steps(attack)
    table = steps.need("counterexample", 1)
    columns = [
        (as_native(exp.column(f"qid_{i}", table), qid, SHOWABLE), qid.name)
        for i, qid in enumerate(attack.microdata.qids, 1)
    ]
    for i, attribute in enumerate(secret_parts, 1):
        part = exp.Dot(
            this=exp.column("secret_1", table), expression=exp.to_identifier(f"part_{i}")
        )
        columns.append((as_native(part, attribute, SHOWABLE), attribute.name))
    columns.append((exp.column("people", table), "people"))
    order = exp.column("people", table).desc()
    query = exp.select(*named(columns)).from_(table)
    ties = exp.Ordered(this=exp.column("secret_1", table), nulls_first=False)
    return plan(attack.microdata, steps.steps, query.order_by(order, ties).limit(20))
