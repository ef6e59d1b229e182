"""The records of a release, each with what its block reveals."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

import polars as pl
from sqlglot import exp

from qifsql.adversary.gains import OF_VALUES
from qifsql.adversary.options import Options
from qifsql.adversary.spec import Attack, BoundAttack, KnownRecords, refuse
from qifsql.commands.inspect.blocks import notes_on_people
from qifsql.counting import secret_values
from qifsql.counting.counts import Counts
from qifsql.counting.session import check_records, opened
from qifsql.data.collection import Source
from qifsql.engine.access import Access
from qifsql.engine.settings import Settings
from qifsql.query.columns import as_native, named, native_types, same_block
from qifsql.query.microdata_steps import RECORD, everybody
from qifsql.query.plan import Plan
from qifsql.query.steps import Steps, revealed_tables
from qifsql.results.assessment import record_measures
from qifsql.results.result import Result
from qifsql.results.storage import STREAMED, Origin, check_ending, check_place, stream


def records(
    source: Source,
    out: str | Path,
    *,
    measures: str | Sequence[str],
    person: str | None,
    known_records: KnownRecords,
    settings: Settings | None = None,
    **options: Unpack[Options],
) -> Result:
    """Write one row per record, in input order, to a Parquet or CSV file.

    Columns: record (from 1), the key, block_size, singled_out, success (of re-identification) and
    per secret S success_S and best_guess_S. Success is that of the best guess on the record's
    block. ``measures``: ``shannon`` and ``guessing`` add columns of the owner and of each secret.
    With a ``person`` a block holds the people who have a record in it.
    """
    refuse(options, "records", "target", "by", "thresholds", "quantiles")
    origin = Origin.now(settings, "records")
    path = Path(out)
    check_ending(path, STREAMED)
    measure_names = record_measures(measures)
    models = "cas" if options.get("secret") else "crs"
    spec = Attack.of(models, source, person=person, **options).fitting()
    path = check_place(path, spec.dataset.paths)
    places: Access = {"outputs": [path], "ordered": True}
    with opened(spec, settings, apart=True, command="inspect", **places) as (engine, attack):
        bound = attack.on(attack.microdata.known_by(known_records))
        if bound.gains or bound.beliefs:
            secret_values.check(Counts(engine, bound))
        else:
            check_records(engine, bound.microdata)
        rows_plan = records_plan(bound, native_types(path), measure_names)
        notes = notes_on_people(engine, bound.microdata)
        origin = replace(origin.of(bound, spec, rows_plan), notes=notes)
        rows = stream(engine, rows_plan, path, origin, what="writing records")
    return Result(frame=pl.DataFrame(), origin=origin, notes=notes, written=rows)


def records_plan(
    attack: BoundAttack, native: Collection[str], measures: Collection[str] = ()
) -> Plan:
    """Return the plan for all records, in the order of the input, with what their blocks reveal.

    Values of types that are not ``native`` become text. Each record of ``everybody`` is joined with
    the tables of its block: its size and success, each secret's best guess, and the measures. The
    size is 0 where all records of a block have the weight 0.
    """
    steps = Steps(attack)
    blocks, *_ = tables = revealed_tables(steps)
    measure_columns = _measure_columns(steps, measures)
    steps.push(everybody(attack.microdata))
    size = exp.func("coalesce", exp.column("size", blocks), exp.Literal.number(0))
    is_alone = exp.EQ(this=size.copy(), expression=exp.Literal.number(1))
    columns: list[tuple[exp.Expr, str]] = [(exp.column(RECORD, "everybody"), RECORD)]
    if (key := attack.microdata.key) is not None:
        columns.append((as_native(exp.column("key", "everybody"), key, native), key.name))
    columns += [
        (size, "block_size"),
        (exp.and_(exp.column("counts", "everybody"), is_alone), "singled_out"),
        (exp.column("owner_success", blocks), "success"),
    ]
    query = exp.select().from_("everybody")
    for table in dict.fromkeys([*tables, *(table for table, _, _ in measure_columns)]):
        on = same_block("everybody", table, len(attack.microdata.qids))
        query = query.join(table, on=on, join_type="left")
    for j, secret in enumerate(attack.microdata.secrets_of_individuals, 1):
        best_guess = as_native(exp.column("best_guess", f"revealed_{j}"), secret, native)
        columns += [
            (exp.column("success", f"revealed_{j}"), f"success_{secret.name}"),
            (best_guess, f"best_guess_{secret.name}"),
        ]
    columns += [(value, name) for _, value, name in measure_columns]
    query = query.select(*named(columns)).order_by(exp.column(RECORD, "everybody"))
    return steps.plan(query)


def _measure_columns(steps: Steps, measures: Collection[str]) -> list[tuple[str, exp.Expr, str]]:
    """Return (table, value, name) of a column for each measure and gain function.

    They are about the owner of a record (j = 0; no suffix) and about each secret.
    """
    columns: list[tuple[str, exp.Expr, str]] = []
    attack = steps.attack
    for j, suffix in enumerate(["", *(f"_{s.name}" for s in attack.microdata.secrets)]):
        for measure, column in (("shannon", "entropy"), ("guessing", "guessing")):
            if measure in measures:
                table = steps.need("doubts", j)
                columns.append((table, exp.column(column, table), f"{column}{suffix}"))
        for g, bound in enumerate(attack.gains, 1):
            if j == 0 and bound.gain.kind in OF_VALUES:  # a record has no value to be near to
                continue
            step = "blocks_of_all" if attack.microdata.suppressed else "gained"
            table, request = steps.need(step, j, g), steps.need("asked", j, g)
            # The gain of the best guess: per person of the block, in the unit of the gain function.
            share = exp.Div(this=exp.column("mode", table), expression=exp.column("weight", table))
            value = exp.Div(this=share, expression=exp.select("scale").from_(request).subquery())
            columns.append((table, value, f"{bound.gain.text}{suffix}"))
    return columns
