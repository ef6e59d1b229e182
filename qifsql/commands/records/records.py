"""The records of a release, each with what its block reveals."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from sqlglot import exp

from qifsql.adversary.gains import OF_VALUES
from qifsql.adversary.options import Options
from qifsql.adversary.spec import Attack, BoundAttack, refuse
from qifsql.counting import secret_values
from qifsql.counting.counts import Counts
from qifsql.counting.session import check_records, left_out, opened
from qifsql.data.collection import Source
from qifsql.engine.settings import Settings
from qifsql.query.columns import named, native_types, same_block, written
from qifsql.query.microdata_steps import RECORD, everybody, plan
from qifsql.query.plan import Plan
from qifsql.query.steps import Steps, revealed_tables
from qifsql.results.assessment import doubts
from qifsql.results.storage import STREAMED, Origin, check_ending, check_place
from qifsql.results.stream import stream


def records(
    source: Source,
    out: str | Path,
    *,
    measures: str | Sequence[str] = (),
    told: Callable[[str], None] | None = None,
    settings: Settings | None = None,
    **options: Unpack[Options],
) -> int:
    """Write one row per record, in input order, to a Parquet or CSV file.

    Columns: record (from 1), the key, block_size, singled_out, success (of re-identification) and
    per secret S success_S and best_guess_S. Success is that of the best guess on the record's
    block, in [0, 1].

    Args:
        source: A path (Parquet, CSV, JSON, Excel, Stata, SPSS, SAS; a glob; a folder of Parquet;
            table@database of DuckDB or SQLite), a data frame (anything with
            __arrow_c_stream__, a Polars LazyFrame) or a Dataset.
        out: File to write: .parquet or .csv.
        measures: shannon and guessing add entropy (bits) and guesses of the owner and of each
            secret.
        told: Called with each line about what is going to happen.
        settings: Memory, threads, temporary folder, seed and progress; by default those of the
            machine.
        qids: Quasi-identifiers: columns, patterns such as CO_*, or named expressions such as
            decade=birth_year//10. One text may name several: "age,sex".
        secret: Secrets (sensitive attributes): columns or named expressions.
        weight: Column or expression >= 0 that weights records; NULL is an error. By default every
            record weighs 1.
        where: SQL condition; other records are left out. NULL counts as false.
        null: "distinct" (a missing value is one more value) or "drop" (leave out records that
            miss a quasi-identifier or secret).
        key: Person key of a collection: one column name for all datasets, or one for each. A
            missing key matches nobody.
        wave: Column that splits a long table into datasets: "year", or "year=2018,2019" with the
            focal one first.
        absent: People who are not in a dataset: "null" (like missing values) or "distinct".
        prior: File of the adversary's beliefs before the release: a column named like the secret
            (or value), and probability.
        gain: Gain functions: identity, tries:3, penalty:0.5, tolerance:5, worth:FILE,
            matrix:FILE, sql:EXPRESSION over guess and secret. Each adds rows.

    Returns:
        The number of rows that were written.

    Raises:
        InputError: A name, type or option does not fit the data; the message says what to try.
        OutputError: The file cannot be written.

    Example:
        >>> qifsql.records("data-samples/popets_table_3a.csv", "records.parquet", qids="gender")
        10

    Source: M8 and M15.

    """
    refuse(options, "records", "target", "by", "thresholds", "quantiles")
    origin = Origin.now(settings, "records")
    path = Path(out)
    check_ending(path, STREAMED)
    named = doubts(measures)
    spec = Attack.of("cas" if options.get("secret") else "crs", source, **options).fitting()
    path = check_place(path, spec.dataset.paths)
    with opened(spec, settings, outputs=[path], ordered=True, command="records") as (engine, bound):
        if bound.gains or bound.beliefs:
            secret_values.check(Counts(engine, bound, again=False))
        else:
            check_records(engine, bound.microdata)
        every = records_plan(bound, native_types(path), named)
        notes = (*bound.microdata.notes, *left_out(engine, bound.microdata))
        origin = replace(origin.of(bound, spec, every), notes=notes)
        if told is not None:
            for note in notes:
                told(note)
        return stream(engine, every, path, origin, what="writing records")


def records_plan(
    attack: BoundAttack, native: Collection[str], measures: Collection[str] = ()
) -> Plan:
    """Return the plan for all records, in the order of the input, with what their blocks reveal.

    Values of types that are not ``native`` become text.
    """
    steps = Steps(attack)
    tables = revealed_tables(steps)
    more = _measured(steps, measures)
    steps.push(everybody(attack.microdata))
    first = tables[0]
    size = exp.func("coalesce", exp.column("size", first), exp.Literal.number(0))
    alone = exp.and_(
        exp.column("counts", "everybody"),
        exp.EQ(this=size.copy(), expression=exp.Literal.number(1)),
    )
    columns: list[tuple[exp.Expr, str]] = [(exp.column(RECORD, "everybody"), RECORD)]
    if attack.microdata.key:
        columns.append(
            (
                written(exp.column("key", "everybody"), attack.microdata.key, native),
                attack.microdata.key.name,
            )
        )
    columns += [
        (size, "block_size"),
        (alone, "singled_out"),
        (exp.column("owner_success", first), "success"),
    ]
    query = exp.select().from_("everybody")
    for table in dict.fromkeys([*tables, *(table for table, _, _ in more)]):
        on = same_block("everybody", table, len(attack.microdata.qids))
        query = query.join(table, on=on, join_type="left")
    for j, secret in enumerate(attack.microdata.secrets, 1):
        columns += [
            (exp.column("success", f"revealed_{j}"), f"success_{secret.name}"),
            (
                written(exp.column("best_guess", f"revealed_{j}"), secret, native),
                f"best_guess_{secret.name}",
            ),
        ]
    columns += [(value, name) for _, value, name in more]
    query = query.select(*named(columns)).order_by(exp.column(RECORD, "everybody"))
    return plan(attack.microdata, steps.steps, query)


def _measured(steps: Steps, measures: Collection[str]) -> list[tuple[str, exp.Expr, str]]:
    """Return the table, value and name of a column for each measure and gain function."""
    columns: list[tuple[str, exp.Expr, str]] = []
    attack = steps.attack
    for j, suffix in enumerate(["", *(f"_{s.name}" for s in attack.microdata.secrets)]):
        for measure, column in (("shannon", "entropy"), ("guessing", "guessing")):
            if measure in measures:
                table = steps.need("doubts", j)
                columns.append((table, exp.column(column, table), f"{column}{suffix}"))
        for g, bound in enumerate(attack.gains, 1):
            if j == 0 and bound.gain.kind in OF_VALUES:
                continue
            table, request = steps.need("gained", j, g), steps.need("asked", j, g)
            one = exp.Div(this=exp.column("mode", table), expression=exp.column("weight", table))
            scale = exp.select("scale").from_(request).subquery()
            value = exp.Div(this=one, expression=scale)
            columns.append((table, value, f"{bound.gain.text}{suffix}"))
    return columns
