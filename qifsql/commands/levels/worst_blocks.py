"""The worst blocks of a release, and its size."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from sqlglot import exp

from qifsql.commands.levels.find import Finding, need_block
from qifsql.commands.levels.secret_blocks import Secret
from qifsql.commands.levels.spec import MEASURES
from qifsql.commands.levels.steps import Steps, Tables
from qifsql.query.columns import SHOWABLE, as_native, equal, unique
from qifsql.query.microdata_steps import plan
from qifsql.query.plan import Plan
from qifsql.query.steps import Steps as AttackSteps
from qifsql.query.suppression import STAR


def people_and_blocks(tables: Tables, j: int) -> tuple[int, int]:
    """Return the number of people in all blocks, and of blocks, as counted for secret ``j``."""
    steps = Steps(tables)
    # A row of ``grades`` is ``blocks`` blocks alike, each about ``members`` people.
    columns = ("sum(blocks * members)::BIGINT", "sum(blocks)::BIGINT")
    query = exp.select(*columns).from_(steps.need("grades", j))
    ((people, blocks),) = tables.rows(steps.plan(query))
    return people, blocks


def worst_block_table(
    tables: Tables, secrets: Mapping[int, Secret], levels: Mapping[tuple[str, int], Finding]
) -> pl.DataFrame:
    """Return the quasi-identifiers of a worst block of each measure and secret, and its size.

    Columns: ``measure``, ``secret``, the quasi-identifiers under their names, ``size``. Values are
    text if not every format can show their type.
    """
    qids = tables.counts.bound.microdata.qids
    names = unique(["measure", "secret", *(q.name for q in qids), "size"])
    blocks = []
    order = list(MEASURES)
    numbered = sorted((j, order.index(name), name) for name, j in levels)
    for j, _, name in numbered:
        level = levels[name, j]
        rows = tables.rows(_lookup(tables, name, j, level), "looking for the worst blocks")
        # where the worst block is everyone, no table has it
        block = rows[0] if rows else (*(STAR for _ in qids), int(level.value))
        of_secret = secrets[j].name if j and name != "k" else None
        blocks.append(dict(zip(names, (name, of_secret, *block), strict=True)))
    return table_of_blocks(blocks)


def _lookup(tables: Tables, measure: str, j: int, level: Finding) -> Plan:
    """Return the plan for quasi-identifiers and size of a worst block of a measure and secret."""
    steps = Steps(tables)
    step = need_block(steps, measure, j, level)
    if tables.is_by_kind(j):
        # The step has a kind of blocks, no quasi-identifiers: any block with its counts will do.
        kinds = steps.need("kinds", j)
        is_same = equal(exp.column("kind", kinds), exp.column("qid_1", step))
        query = exp.select(exp.column("counts", kinds)).from_(step).join(kinds, on=is_same)
        ((people,),) = tables.rows(steps.plan(query), "looking for the worst blocks")
        return _block_of_counts(tables, j, list(people))
    if measure == "k" and not j:  # the step has the size alone: look for a block of it
        steps = Steps(tables)
        blocks = steps.need("blocks_of_all", 0)
        query = exp.select(*_shown_columns(tables, blocks)).from_(blocks)
        query = query.where(exp.column("size").eq(int(level.value)))
        return steps.plan(_limit_to_first(query, tables, blocks))
    return steps.plan(exp.select(*_shown_columns(tables, step)).from_(step))


def table_of_blocks(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return rows as a table; a column is text if one of its values is, such as ``*``."""
    return pl.DataFrame({name: _column([row[name] for row in rows]) for name in rows[0]})


def _column(values: Sequence[Any]) -> pl.Series:
    """Return values as a column of their type; as texts if one of them is a text."""
    is_text = [isinstance(value, str) for value in values]
    texts = pl.Series(
        [v if text else None for v, text in zip(values, is_text, strict=True)], dtype=pl.String
    )
    others = [None if text else v for v, text in zip(values, is_text, strict=True)]
    if all(value is None for value in others):
        return texts
    column = pl.Series(others, strict=False)
    return texts.fill_null(column.cast(pl.String)) if any(is_text) else column


def _shown_columns(tables: Tables, table: str) -> list[exp.Expr]:
    """Return the quasi-identifiers in types that can be shown, and the size."""
    values = [
        as_native(exp.column(f"qid_{i}", table), q, SHOWABLE)
        for i, q in enumerate(tables.counts.bound.microdata.qids, 1)
    ]
    size = exp.column("size", table)
    return [*(exp.alias_(v, f"known_{i}") for i, v in enumerate(values, 1)), size]


def _limit_to_first(query: exp.Select, tables: Tables, table: str) -> exp.Select:
    """Limit a query to the first block in the order of the quasi-identifiers."""
    order = [
        exp.Ordered(this=exp.column(f"qid_{i}", table), nulls_first=False)
        for i in range(1, tables.counts.bound.microdata.width + 1)
    ]
    return query.order_by(*order).limit(1)


def _block_of_counts(tables: Tables, j: int, people: list[int]) -> Plan:
    """Return a plan for the first block with just these ``people`` of each value of secret ``j``.

    The table of blocks has the people of all values but the last, and of all together.
    """
    counts = tables.counts
    attack = AttackSteps(counts.bound, catalogs=counts.catalogs, values=counts.values)
    table = attack.need("tallies")
    tallies = {f"tally_{j}_{code}": n for code, n in enumerate(people[:-1], 1)}
    same = [exp.column(name).eq(n) for name, n in {"size": sum(people), **tallies}.items()]
    query = exp.select(*_shown_columns(tables, table)).from_(table).where(*same)
    return plan(counts.bound.microdata, attack.steps, _limit_to_first(query, tables, table))
