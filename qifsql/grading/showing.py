"""Where the worst blocks are, and what else is told beside the levels."""

from collections.abc import Mapping

import polars as pl
from sqlglot import exp

from qifsql.counts import Counts
from qifsql.errors import InputError
from qifsql.grading.counting import STAR, Secret
from qifsql.grading.reading import Found, sought, sought_in
from qifsql.grading.steps import Steps, number, row
from qifsql.microdata import plan
from qifsql.partition import SHOWABLE, unique, written
from qifsql.plan import Plan
from qifsql.steps import Steps as AttackSteps


def people_and_blocks(counts: Counts, j: int) -> tuple[int, int]:
    """How many people blocks are about, and how many blocks there are."""
    steps = Steps(counts)
    blocks, members = exp.column("blocks"), exp.column("members")
    people = exp.Sum(this=exp.Mul(this=blocks.copy(), expression=members))
    query = exp.select(exp.cast(people, "BIGINT"), exp.cast(exp.Sum(this=blocks), "BIGINT"))
    plan = steps.plan(query.from_(steps.need("grades", j, 1)))
    ((found, there),) = counts.engine.rows(plan, "measuring", counts.where)
    return found, there


def check_population(counts: Counts) -> None:
    """Refuse a population that does not hold the release."""
    steps = Steps(counts)
    actual = steps.need("outside", 0, len(counts.bound.qids), instead={"blocks": "blocks_of_all"})
    plan = steps.plan(exp.select("blocks", "too_small").from_(actual))
    ((blocks, too_small),) = counts.engine.rows(plan, "measuring", counts.where)
    if too_small:
        raise InputError(
            f"the population has fewer people than the release in {too_small:,} of {blocks:,} "
            "blocks; it must hold everybody who may be in the release"
        )


def lowest(l: int) -> exp.Select:  # noqa: E741 - the field's own letter
    """The step that says from which value on people are counted."""
    return row(l=number(l, "BIGINT"))


def placed(
    counts: Counts, secrets: Mapping[int, Secret], found: Mapping[tuple[str, int], Found]
) -> pl.DataFrame:
    """The quasi-identifiers of a worst block of each measure and secret, and its size.

    Columns: ``measure``, ``secret``, the quasi-identifiers under their names, ``size``. Values of
    types that not every format can show are text.
    """
    lines = []
    for (name, j), level in found.items():
        own = secrets.get(j)
        if own is not None and own.by_kind:
            plan = _of_kind(counts, own, _kind(counts, own, name, level))
        elif name == "k" and own is None:
            plan = _of_size(counts, level)
        else:
            plan = _itself(counts, own, name, j, level)
        counts.sent.append(plan)
        rows = counts.engine.rows(plan, "looking for the worst blocks", counts.where)
        if not rows:  # the block that is everyone
            rows = [(*(STAR for _ in counts.bound.qids), int(level.value))]
        lines.append((name, own.name if own and name != "k" else None, *rows[0]))
    names = unique(["measure", "secret", *(q.name for q in counts.bound.qids), "size"])
    return pl.DataFrame(lines, schema=names, orient="row", infer_schema_length=None)


def _columns(counts: Counts, table: str) -> list[exp.Expr]:
    """The quasi-identifiers as they can be shown, and the size."""
    known = [
        written(exp.column(f"qid_{i}", table), q, SHOWABLE)
        for i, q in enumerate(counts.bound.qids, 1)
    ]
    return [exp.alias_(v, f"known_{i}") for i, v in enumerate(known, 1)] + [
        exp.column("size", table)
    ]


def _first(query: exp.Select, counts: Counts, table: str) -> exp.Select:
    """The first block in the order of the quasi-identifiers."""
    order = [
        exp.Ordered(this=exp.column(f"qid_{i}", table), nulls_first=False)
        for i in range(1, len(counts.bound.qids) + 1)
    ]
    return query.order_by(*order).limit(1)


def _itself(counts: Counts, own: Secret | None, name: str, j: int, level: Found) -> Plan:
    """The block, where blocks are told apart by their quasi-identifiers."""
    steps = Steps(counts)
    width = own.width if own else len(counts.bound.qids)
    actual = _sought(steps, name, j, width, level)
    return steps.plan(exp.select(*_columns(counts, actual)).from_(actual))


def _of_size(counts: Counts, level: Found) -> Plan:
    """A block of that size."""
    table = exp.table_("blocks_of_all_0", db="main", catalog=counts.kept["blocks_of_all_0"])
    same = exp.EQ(this=exp.column("size"), expression=exp.Literal.number(int(level.value)))
    query = exp.select(*_columns(counts, "crowds")).from_(exp.alias_(table, "crowds", table=True))
    return Steps(counts).plan(_first(query.where(same), counts, "crowds"))


def _kind(counts: Counts, own: Secret, name: str, level: Found) -> list[int]:
    """How many people of a worst block have each value, in the order of the values."""
    steps = Steps(counts)
    actual = _sought(steps, name, own.number, own.width, level)
    kinds = steps.need("kinds", own.number, own.width)
    same = exp.EQ(this=exp.column("kind", kinds), expression=exp.column("qid_1", actual))
    plan = steps.plan(exp.select(exp.column("counts", kinds)).from_(actual).join(kinds, on=same))
    ((found,),) = counts.engine.rows(plan, "looking for the worst blocks", counts.where)
    return list(found)


def _of_kind(counts: Counts, own: Secret, kind: list[int]) -> Plan:
    """A block of these counts; the last value is what the other ones leave."""
    attack = AttackSteps(counts.bound, kept=counts.kept, values=counts.values)
    table = attack.need("tallies")
    same = [exp.EQ(this=exp.column("size"), expression=exp.Literal.number(sum(kind)))]
    same += [
        exp.EQ(this=exp.column(f"tally_{own.number}_{code}"), expression=exp.Literal.number(n))
        for code, n in enumerate(kind[:-1], 1)
    ]
    query = exp.select(*_columns(counts, table)).from_(table).where(*same)
    return plan(counts.bound, attack.steps, _first(query, counts, table))


def _sought(steps: Steps, name: str, j: int, width: int, level: Found) -> str:
    """The step that gives a worst block."""
    return steps.need(
        "worst_block",
        j,
        width,
        given=sought(name, level),
        instead=sought_in(name, level),
        suffix=name,
    )
