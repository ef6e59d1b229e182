"""The objects of quantitative information flow: prior, co-occurrences, joint, channel, hyper.

Sparse: one row per value of the secret and block that occur together. Every probability is an exact
fraction of whole numbers, and a float. Sources: thesis Defs. 1-4; PoPETs section 3 and appendix B.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Unpack

import polars as pl
from sqlglot import exp

from qifsql.adversary.options import Options
from qifsql.adversary.spec import Attack, BoundAttack, KnownRecords
from qifsql.commands.inspect.blocks import notes_on_people
from qifsql.commands.inspect.spec import Object
from qifsql.counting import secret_values, suppressed
from qifsql.counting.counts import Counts
from qifsql.counting.session import opened
from qifsql.data.collection import Source
from qifsql.engine.settings import Settings
from qifsql.errors import ColumnError, InputError
from qifsql.query.columns import as_native, equal, known_values, named, native_types, same, unique
from qifsql.query.microdata_steps import plan
from qifsql.query.plan import Plan
from qifsql.query.steps import Steps
from qifsql.results.result import Result
from qifsql.results.storage import STREAMED, Origin, check_ending, stream

RESERVED_COLUMNS = (  # columns of results; quasi-identifiers with these names are renamed
    "inner", "outer_numerator", "outer_denominator", "outer", "blocks", "block", "value", "count",
    "numerator", "denominator", "probability",
)  # fmt: skip
MOST_ROWS = 100_000  # in memory; more rows need a file


def objects(
    source: Source,
    *,
    show: Object,
    out: str | Path | None,
    person: str | None,
    known_records: KnownRecords,
    settings: Settings | None = None,
    **options: Unpack[Options],
) -> Result:
    """Show one object of the flow of information about one secret; write it to ``out`` if named.

    Without a secret it is whose record it is (the key). Equal inners are merged exactly, as
    fractions. With a ``person`` individuals are people of whom all records are known.
    """
    origin = Origin.now(settings, "hyper")
    path = Path(out) if out is not None else None
    if path is not None:
        check_ending(path, STREAMED)
    spec = _about_one_secret(Attack.of("cas", source, person=person, **options).fitting())
    outputs = [] if path is None else [path]
    with opened(spec, settings, outputs=outputs, command="inspect") as (engine, attack):
        bound = attack.on(attack.microdata.known_by(known_records))
        counts = Counts(engine, bound, further_questions=True, tallied=False)
        secret_values.check(counts)
        rows_plan = object_plan(bound, show, native_types(path), catalogs=counts.catalogs)
        origin = origin.of(bound, spec, *counts.plans, rows_plan, show=show)
        notes = notes_on_people(engine, bound.microdata)
        notes += tuple(suppressed.notes_as_value(engine, bound.microdata))
        if path is not None:
            rows = stream(engine, rows_plan, path, origin, what=f"writing the {show}")
            return Result(frame=pl.DataFrame(), origin=origin, notes=notes, written=rows)
        limited = replace(rows_plan, result=rows_plan.result.limit(MOST_ROWS + 1))
        frame = engine.frame(limited, f"making the {show}", bound.microdata.dataset.name)
        if frame.height > MOST_ROWS:
            raise InputError(
                f"the {show} has more than {MOST_ROWS:,} rows; write it to a .parquet or .csv file"
            )
        return Result(frame=frame, origin=origin, notes=notes)


def object_plan(
    attack: BoundAttack,
    show: Object,
    native: tuple[str, ...],
    *,
    catalogs: Mapping[str, str] | None = None,
) -> Plan:
    """Return the plan of one object by block and value; types that are not native become text.

    ``catalogs``: those of the engine's tables that already hold steps, by the name of the step.
    """
    steps = Steps(attack, catalogs=catalogs)
    if show == "prior":
        query = _prior_query(steps, native)
    elif show == "hyper":
        query = _hyper_query(steps, native)
    else:
        query = _pairs_query(steps, show, native)
    return plan(attack.microdata, steps.steps, query)


def _about_one_secret(spec: Attack) -> Attack:
    """Return the attack with the key as its secret, if no secret is named."""
    if len(spec.secrets) > 1:
        raise ColumnError("objects are about one secret; name one")
    if not spec.secrets and spec.person is not None:
        raise ColumnError("objects of people with several records are about a secret; name one")
    if not spec.secrets and spec.key is None:
        raise ColumnError("no secret is named; name one with --secret, or a --key for the owner")
    if spec.gains != ("identity",):
        raise InputError("the objects are the same for every gain function; leave --gain out")
    return spec if spec.secrets else replace(spec, secrets=(spec.key or "",), key=None)


def _prior_query(steps: Steps, native: tuple[str, ...]) -> exp.Select:
    """Return one row per value of the secret, with its prior as a number and as a fraction.

    The prior is the value's weight over that of everybody, in one block of all people: counted in
    the file (``cells``), or stated in a file of beliefs (``believed``).
    """
    values = steps.need("secret_values", secret=1)
    believed = "believed" if 1 in steps.attack.beliefs else "cells"
    cells = steps.need(believed, secret=1, prior=True)
    everybody = exp.select(exp.Sum(this=exp.column("weight"))).from_(cells).subquery()
    columns = [
        (_secret_column(steps, exp.column("value", values), native), "value"),
        (exp.column("people", cells), "count"),
        *_fraction_columns(steps, exp.column("weight", cells), everybody, name=""),
    ]
    on = same(exp.column("value", values), exp.column("secret_1", cells))
    query = exp.select(*named(columns)).from_(cells).join(values, on=on)
    return query.order_by(exp.column("code", values))


def _pairs_query(steps: Steps, show: Object, native: tuple[str, ...]) -> exp.Select:
    """Return one row per block and value that occur together: cooccurrence, joint, or channel."""
    table = steps.need("cooccurrences", 1)
    columns = [(exp.column("block", table), "block"), *_qid_columns(steps, table, native)]
    columns += [
        (_secret_column(steps, exp.column("secret_1", table), native), "value"),
        (exp.column("people", table), "count"),
    ]
    if show != "cooccurrence":
        weight = exp.column("weight", table)
        total = exp.column("everybody" if show == "joint" else "value_weight", table)
        columns += _fraction_columns(steps, weight, total, "")
    query = exp.select(*named(columns)).from_(table)
    return query.order_by(exp.column("block", table), exp.column("code", table))


def _hyper_query(steps: Steps, native: tuple[str, ...]) -> exp.Select:
    """Return the query of one row per inner (a posterior of the secret) and value in it.

    Blocks with equal posteriors have one inner. Its ``parts`` are a list of values (``code``) with
    their weights (``part``); ``outer`` is its probability. The step ``numbered`` has the number and
    the quasi-identifiers of each block. The steps are about secret number 1:

        SELECT ..., entry.part / whole AS probability
        FROM (
            SELECT hyper.*, unnest(parts) AS entry, (sum of its weights) AS whole, everybody
            FROM hyper
        ) AS inners
        JOIN numbered ON its block JOIN secret_values ON entry.code
    """
    table, numbered = steps.need("hyper", 1), steps.need("numbered", 1)
    values = steps.need("secret_values", 1)
    everybody = exp.select(exp.Sum(this=exp.column("weight"))).from_(table).subquery()
    parts = exp.column("parts", table)
    weight = exp.Dot(this=exp.column("p"), expression=exp.to_identifier("part"))
    body = exp.Lambda(this=weight, expressions=[exp.to_identifier("p")], colon=True)
    weights = exp.Anonymous(this="list_transform", expressions=[parts.copy(), body])
    entries = exp.select(  # a row per inner and entry of its parts
        exp.Column(this=exp.Star(), table=exp.to_identifier(table)),
        exp.alias_(exp.Unnest(expressions=[parts]), "one"),
        exp.alias_(exp.Anonymous(this="list_sum", expressions=[weights]), "whole"),
        exp.alias_(everybody, "everybody"),
    )
    part = exp.Dot(this=exp.column("one", "inners"), expression=exp.to_identifier("part"))
    code = exp.Dot(this=exp.column("one", "inners"), expression=exp.to_identifier("code"))
    outer = exp.column("weight", "inners")
    columns = [
        (exp.column("inner_number", "inners"), "inner"),
        *_fraction_columns(steps, outer, exp.column("everybody", "inners"), "outer"),
        (exp.column("blocks", "inners"), "blocks"),
        (exp.column("block", "inners"), "block"),
        *_qid_columns(steps, numbered, native),
        (_secret_column(steps, exp.column("value", values), native), "value"),
        *_fraction_columns(steps, part, exp.column("whole", "inners"), ""),
    ]
    query = exp.select(*named(columns)).from_(entries.from_(table).subquery("inners"))
    here = equal(exp.column("block", numbered), exp.column("block", "inners"))
    query = query.join(numbered, on=here)
    query = query.join(values, on=equal(exp.column("code", values), code.copy()))
    return query.order_by(exp.column("inner_number", "inners"), exp.column("code", values))


def _qid_columns(steps: Steps, table: str, native: tuple[str, ...]) -> list[tuple[exp.Expr, str]]:
    """Return the quasi-identifiers in a table; a name in RESERVED_COLUMNS gets a number."""
    names = [qid.name for qid in steps.attack.microdata.qids]
    names = unique([*RESERVED_COLUMNS, *names])[len(RESERVED_COLUMNS) :]
    values = known_values(steps.attack.microdata, table, native)
    return [(value, name) for (value, _), name in zip(values, names, strict=True)]


def _secret_column(steps: Steps, value: exp.Expr, native: tuple[str, ...]) -> exp.Expr:
    return as_native(value, steps.attack.microdata.secrets_of_individuals[0], native)


def _fraction_columns(
    steps: Steps, part: exp.Expr, total: exp.Expr, name: str
) -> list[tuple[exp.Expr, str]]:
    """Return ``part`` of ``total`` as a fraction in lowest terms and as a float, named ``name``."""
    type_ = "DECIMAL(38, 0)" if steps.weighted(1) else "BIGINT"
    whole_numbers = [exp.cast(number.copy(), "HUGEINT") for number in (part, total)]
    divisor = exp.Anonymous(this="gcd", expressions=whole_numbers)
    prefix = f"{name}_" if name else ""
    numerator = exp.IntDiv(this=part.copy(), expression=divisor)
    denominator = exp.IntDiv(this=total.copy(), expression=divisor.copy())
    return [
        (exp.cast(numerator, type_), f"{prefix}numerator"),
        (exp.cast(denominator, type_), f"{prefix}denominator"),
        (exp.Div(this=part.copy(), expression=total.copy()), name or "probability"),
    ]
