"""The objects of quantitative information flow: prior, co-occurrences, joint, channel, hyper.

Sparse: one row per value of the secret and block that occur together. Every probability is an exact
fraction of whole numbers, and a float. Sources: thesis Defs. 1-4; PoPETs section 3 and appendix B.
"""

from collections.abc import Mapping, Sequence
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
from qifsql.query.columns import as_native, known_values, named, native_types, unique
from qifsql.query.plan import Plan
from qifsql.query.steps import Steps
from qifsql.results.result import Result
from qifsql.results.storage import STREAMED, Origin, check_ending, stream

FRACTION = ("numerator", "denominator", "probability")
OBJECTS: Mapping[Object, tuple[str, Sequence[str]]] = {
    "prior": ("value_priors", ("value", "count", *FRACTION)),
    "cooccurrence": ("cooccurrences", ("block", "qid", "secret_1", "people")),
    "joint": ("joint", ("block", "qid", "value", "count", *FRACTION)),
    "channel": ("channel", ("block", "qid", "value", "count", *FRACTION)),
    "hyper": (
        "posteriors",
        (
            *("inner", "outer_numerator", "outer_denominator", "outer", "blocks"),
            *("block", "qid", "value", *FRACTION),
        ),
    ),
}
"""The view of each object, and its columns that are shown; ``qid`` are the quasi-identifiers."""
TITLES = {"secret_1": "value", "people": "count"}
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
    view, names = OBJECTS[show]
    steps = Steps(attack, catalogs=catalogs or {})
    table = steps.need(view, secret=1)
    columns: list[tuple[exp.Expr, str]] = []
    for name in names:
        value: exp.Expr = exp.column(name, table)
        if name == "qid":
            columns += _qid_columns(steps, table, native)
            continue
        if name in ("value", "secret_1"):
            value = as_native(value, attack.microdata.secrets_of_individuals[0], native)
        elif name.endswith(("numerator", "denominator")):
            value = exp.cast(value, "DECIMAL(38, 0)" if steps.weighted(1) else "BIGINT")
        columns.append((value, TITLES.get(name, name)))
    order = [exp.column(name, table) for name in ("inner", "block") if name in names]
    query = exp.select(*named(columns)).from_(table).order_by(*order, exp.column("code", table))
    return steps.plan(query)


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


def _qid_columns(steps: Steps, table: str, native: tuple[str, ...]) -> list[tuple[exp.Expr, str]]:
    """Return the quasi-identifiers in a table; a name in RESERVED_COLUMNS gets a number."""
    names = [qid.name for qid in steps.attack.microdata.qids]
    names = unique([*RESERVED_COLUMNS, *names])[len(RESERVED_COLUMNS) :]
    values = known_values(steps.attack.microdata, table, native)
    return [(value, name) for (value, _), name in zip(values, names, strict=True)]
