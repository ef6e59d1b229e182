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
from qifsql.query.microdata_steps import normal
from qifsql.query.plan import Plan
from qifsql.query.steps import Steps
from qifsql.results.result import Result
from qifsql.results.storage import Origin, repeated_people

SCHEMA: dict[str, pl.DataType] = {
    "refines": pl.Boolean(),
    **dict.fromkeys(("a", "b"), pl.List(pl.String())),
    **dict.fromkeys(("records", "blocks", "violating_blocks", "violating_people"), pl.Int64()),
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
    with opened(first, settings) as (engine, bound), opened(second, settings) as (_, b_bound):
        of_a, of_b = bound.microdata, b_bound.microdata
        a_on_b = bound.on(_with_one_secret(of_a, of_b.qids))
        check_records(engine, a_on_b.microdata)
        steps = Steps(a_on_b)
        # One row: the blocks of a, those with several values of b, and their people; the records.
        counted = exp.select("*").from_(steps.need("violations", 1))
        comparison = steps.plan(counted)
        (counts,) = engine.rows(comparison, "comparing", of_a.dataset.name)
        blocks, bad_blocks, bad_people, records = counts
        plans, details = [comparison], {}
        if bad_blocks:  # blocks of a whose people differ in b
            plans.append(_example_plan(a_on_b, of_b.qids))
            example = engine.frame(plans[-1], "comparing", of_a.dataset.name)
            details["counterexample"] = example
        names = {"a": [q.name for q in of_a.qids], "b": [q.name for q in of_b.qids]}
        spec: dict[str, object] = {"dataset": of_a.dataset.name, "where": where, "null": null}
        spec |= {**names, **of_a.dataset.read_with, **repeated_people(of_a.repeated)}
        origin = origin.about(spec, of_a.dataset.paths, *plans)
        left_out = note_left_out(engine, a_on_b.microdata)
    row = {"refines": not bad_blocks, **names, "records": records, "blocks": blocks}
    row |= {"violating_blocks": bad_blocks, "violating_people": bad_people}
    notes = tuple(dict.fromkeys((*of_a.notes, *of_b.notes, *left_out)))
    frame = pl.DataFrame([row], schema=SCHEMA)
    return Result(frame=frame, origin=origin, details=details, notes=notes, met=not bad_blocks)


def _with_one_secret(microdata: Microdata, qids: Sequence[Attribute]) -> Microdata:
    """Return the data with one secret, b: a struct of the second quasi-identifiers, ``qids``."""
    if not qids:
        raise ColumnError("the second set of quasi-identifiers is empty; name some")
    parts = [
        exp.PropertyEQ(this=exp.Literal.string(f"part_{i}"), expression=normal(qid))
        for i, qid in enumerate(qids, 1)
    ]
    secret = Attribute("b", exp.Struct(expressions=parts), "STRUCT")
    return replace(microdata, secrets=(secret,))


def _example_plan(attack: BoundAttack, secret_parts: Sequence[Attribute]) -> Plan:
    """Return the plan for the smallest block of a that breaks the refinement, a row per value of b.

    The columns are the values of a and b under the names of users, and ``people``; 20 rows at most.
    """
    steps = Steps(attack)
    # A row per value of b in that block: the values of a, b as a structure ``secret_1``, people.
    table = steps.need("counterexample", 1)
    columns = [
        (as_native(exp.column(f"qid_{i}", table), qid, SHOWABLE), qid.name)
        for i, qid in enumerate(attack.microdata.qids, 1)
    ]
    for i, attribute in enumerate(secret_parts, 1):
        secret = exp.column("secret_1", table)
        part = exp.Dot(this=secret, expression=exp.to_identifier(f"part_{i}"))
        columns.append((as_native(part, attribute, SHOWABLE), attribute.name))
    columns.append((exp.column("people", table), "people"))
    order = exp.column("people", table).desc()
    query = exp.select(*named(columns)).from_(table)
    ties = exp.Ordered(this=exp.column("secret_1", table), nulls_first=False)
    return steps.plan(query.order_by(order, ties).limit(20))
