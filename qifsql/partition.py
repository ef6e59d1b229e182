"""The partition itself: its blocks, and what each record's block reveals."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Unpack, get_args

import polars as pl
from sqlglot import exp

from qifsql import checks
from qifsql.collection import Source
from qifsql.counts import Counts
from qifsql.datatypes import family
from qifsql.engine.settings import Settings
from qifsql.errors import InputError
from qifsql.export import STREAMED, Origin, check_ending, check_place, stream
from qifsql.expressions import identifier
from qifsql.gains import OF_VALUES
from qifsql.microdata import RECORD, everybody, plan
from qifsql.plan import Plan, Step
from qifsql.session import check_records, opened
from qifsql.spec import Attack, Attribute, BoundAttack, Options, refuse
from qifsql.steps import Steps
from qifsql.templates import load
from qifsql.wanted import doubts

Order = Literal["smallest", "largest", "revealing"]
SHOWABLE = (  # types whose values every format and library shows in the same way
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
    "FLOAT", "DOUBLE", "DECIMAL", "VARCHAR", "BOOLEAN",
)  # fmt: skip
STORABLE = (*SHOWABLE, "DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIME", "BLOB")
SHOWN = 20  # blocks that are shown unless more are asked for


@dataclass(frozen=True)
class Blocks:
    """Blocks of a partition, one row each, with the origin of the numbers.

    Columns: the quasi-identifiers under their names, ``size`` (records in the block),
    ``success`` (of re-identification), and for each secret ``values_S`` (distinct values),
    ``best_guess_S``, ``success_S``, ``counts_S`` (records per value, most frequent first).
    A name that is taken gets ``_2``.
    """

    frame: pl.DataFrame
    origin: Origin
    notes: tuple[str, ...] = ()


def blocks(
    source: Source,
    *,
    order: Order = "smallest",
    limit: int = SHOWN,
    settings: Settings | None = None,
    **options: Unpack[Options],
) -> Blocks:
    """Show blocks of the partition: the smallest, the largest or the most revealing.

    The most revealing are those with the highest success on the first secret (without a secret:
    of re-identification), the largest of them first. ``limit`` is their number, 0 for all; all of
    them are held in memory. ``options`` are those of ``qifsql.spec.Options``.
    """
    refuse(options, "blocks", "target", "gain", "prior", "by", "thresholds", "quantiles")
    if order not in get_args(Order) or limit < 0:
        raise InputError(f"order is one of {', '.join(get_args(Order))}, and limit 0 or more")
    origin = Origin.now(settings, "blocks")
    spec = Attack.of("cas" if options.get("secret") else "crs", source, **options).fitting()
    with opened(spec, settings) as (engine, bound):
        check_records(engine, bound)
        shown = blocks_plan(bound, order, limit)
        frame = engine.frame(shown, "listing blocks", bound.dataset.name)
        asked = origin.of(bound, spec, shown, order=order, limit=limit)
        return Blocks(frame, asked, bound.notes)


def records(
    source: Source,
    out: str | Path,
    *,
    measures: str | Sequence[str] = (),
    told: Callable[[str], None] | None = None,
    settings: Settings | None = None,
    **options: Unpack[Options],
) -> int:
    """Write one row per record, in the order of the input, to a Parquet or CSV file.

    Columns: ``record`` (position in the input, from 1), the key under its name, ``block_size``,
    ``singled_out``, ``success`` (of re-identification), and for each secret ``success_S`` and
    ``best_guess_S``. Success is that of the best guess on the record's block, not the
    probability of the record's own value. ``measures`` (``shannon``, ``guessing``) add ``entropy``
    and ``guessing`` of the owner and of each secret, and every gain function G of ``options`` adds
    ``G`` of the owner (where it is about owners) and ``G_S``. ``told`` is called with each note.
    Returns the number of rows.
    """
    refuse(options, "records", "target", "by", "thresholds", "quantiles")
    origin = Origin.now(settings, "records")
    path = Path(out)
    check_ending(path, STREAMED)
    named = doubts(measures)
    spec = Attack.of("cas" if options.get("secret") else "crs", source, **options).fitting()
    path = check_place(path, spec.dataset.paths)
    with opened(spec, settings, outputs=[path], ordered=True) as (engine, bound):
        if bound.gains or bound.beliefs:
            checks.check(Counts(engine, bound, again=False))
        else:
            check_records(engine, bound)
        native = STORABLE if path.suffix.casefold() == ".parquet" else SHOWABLE
        every = records_plan(bound, native, named)
        origin = replace(origin.of(bound, spec, every), notes=bound.notes)
        if told is not None:
            for note in bound.notes:
                told(note)
        return stream(engine, every, path, origin, what="writing records")


def order_of(smallest: int | None, largest: int | None, revealing: int | None) -> tuple[Order, int]:
    """Which blocks come first and how many are shown, from the three ways to ask; 20 if none."""
    asked: list[tuple[Order, int | None]] = [
        ("smallest", smallest),
        ("largest", largest),
        ("revealing", revealing),
    ]
    given = [(order, n) for order, n in asked if n is not None]
    if len(given) > 1:
        raise InputError("ask for the smallest, the largest or the most revealing blocks, not both")
    return given[0] if given else ("smallest", SHOWN)


def blocks_plan(attack: BoundAttack, order: Order, limit: int) -> Plan:
    """The blocks to be shown, with what is known about each secret in them."""
    steps = Steps(attack)
    tables = _revealed(steps)
    width = range(1, len(attack.qids) + 1)
    first = tables[0]
    success = "success" if attack.secrets else "owner_success"
    ranks: Mapping[Order, list[exp.Expr]] = {
        "smallest": [exp.column("size").asc()],
        "largest": [exp.column("size").desc()],
        "revealing": [exp.column(success).desc(), exp.column("size").desc()],
    }
    ties = [exp.Ordered(this=exp.column(f"qid_{i}"), nulls_first=False) for i in width]
    ranked = [*ranks[order], *ties]
    template = load("chosen")
    chosen = template.query.copy().order_by(*ranked, append=False)
    chosen.set("limit", exp.Limit(expression=exp.Literal.number(limit)) if limit else None)
    chosen = chosen.from_(exp.to_table(first))
    steps.push(Step("chosen", template.doc, chosen, materialized=True))
    columns: list[tuple[exp.Expr, str]] = [
        (written(exp.column(f"qid_{i}", "chosen"), q, SHOWABLE), q.name)
        for i, q in enumerate(attack.qids, 1)
    ]
    columns += [
        (exp.column("size", "chosen"), "size"),
        (exp.column("owner_success", "chosen"), "success"),
    ]
    query = exp.select().from_("chosen")
    for j, secret in enumerate(attack.secrets, 1):
        steps.need("counts", j)
        for value in steps.steps[-1].query.find_all(exp.PropertyEQ):
            if value.name == "value":
                value.set("expression", written(value.expression, secret, SHOWABLE))
        table = "chosen" if j == 1 else f"revealed_{j}"
        if j > 1:
            query = query.join(table, on=same_block("chosen", table, len(attack.qids)))
        query = query.join(f"counts_{j}", on=same_block("chosen", f"counts_{j}", len(attack.qids)))
        columns += [
            (exp.column("values", table, quoted=True), f"values_{secret.name}"),
            (
                written(exp.column("best_guess", table), secret, SHOWABLE),
                f"best_guess_{secret.name}",
            ),
            (exp.column("success", table), f"success_{secret.name}"),
            (exp.column("counts", f"counts_{j}"), f"counts_{secret.name}"),
        ]
    last = [_of_chosen(o) for o in ranked]
    return plan(attack, steps.steps, query.select(*named(columns)).order_by(*last))


def records_plan(
    attack: BoundAttack, native: Collection[str], measures: Collection[str] = ()
) -> Plan:
    """Every record with what its block reveals, in the order of the input.

    Values of other than ``native`` types are given as text.
    """
    steps = Steps(attack)
    tables = _revealed(steps)
    more = _measured(steps, measures)
    steps.push(everybody(attack))
    first = tables[0]
    size = exp.func("coalesce", exp.column("size", first), exp.Literal.number(0))
    alone = exp.and_(
        exp.column("counts", "everybody"),
        exp.EQ(this=size.copy(), expression=exp.Literal.number(1)),
    )
    columns: list[tuple[exp.Expr, str]] = [(exp.column(RECORD, "everybody"), RECORD)]
    if attack.key:
        columns.append(
            (written(exp.column("key", "everybody"), attack.key, native), attack.key.name)
        )
    columns += [
        (size, "block_size"),
        (alone, "singled_out"),
        (exp.column("owner_success", first), "success"),
    ]
    query = exp.select().from_("everybody")
    for table in dict.fromkeys([*tables, *(table for table, _, _ in more)]):
        on = same_block("everybody", table, len(attack.qids))
        query = query.join(table, on=on, join_type="left")
    for j, secret in enumerate(attack.secrets, 1):
        columns += [
            (exp.column("success", f"revealed_{j}"), f"success_{secret.name}"),
            (
                written(exp.column("best_guess", f"revealed_{j}"), secret, native),
                f"best_guess_{secret.name}",
            ),
        ]
    columns += [(value, name) for _, value, name in more]
    query = query.select(*named(columns)).order_by(exp.column(RECORD, "everybody"))
    return plan(attack, steps.steps, query)


def _revealed(steps: Steps) -> list[str]:
    """Have what each block reveals; the tables that say it, the first of them of the owner, too."""
    tables = [steps.need("revealed", j) for j in range(1, len(steps.attack.secrets) + 1)]
    return tables if tables and not steps.attack.beliefs else [steps.need("crowds", 0), *tables]


def _measured(steps: Steps, measures: Collection[str]) -> list[tuple[str, exp.Expr, str]]:
    """Further columns of records: table, value and name of each measure and gain function."""
    found: list[tuple[str, exp.Expr, str]] = []
    attack = steps.attack
    for j, suffix in enumerate(["", *(f"_{s.name}" for s in attack.secrets)]):
        for measure, column in (("shannon", "entropy"), ("guessing", "guessing")):
            if measure in measures:
                table = steps.need("doubts", j)
                found.append((table, exp.column(column, table), f"{column}{suffix}"))
        for g, bound in enumerate(attack.gains, 1):
            if j == 0 and bound.gain.kind in OF_VALUES:
                continue
            table, asked = steps.need("gained", j, g), steps.need("asked", j, g)
            one = exp.Div(this=exp.column("mode", table), expression=exp.column("weight", table))
            scale = exp.select("scale").from_(asked).subquery()
            value = exp.Div(this=one, expression=scale)
            found.append((table, value, f"{bound.gain.text}{suffix}"))
    return found


def written(value: exp.Expr, attribute: Attribute, native: Collection[str]) -> exp.Expr:
    """A value as it can be shown or written; what is not ``native`` there becomes text."""
    return value if family(attribute.type) in native else exp.cast(value, "VARCHAR")


def same_block(left: str, right: str, width: int) -> exp.Expr:
    """The condition of a join: rows of both tables are about the same block."""
    return exp.and_(
        *(
            exp.NullSafeEQ(
                this=exp.column(f"qid_{i}", left), expression=exp.column(f"qid_{i}", right)
            )
            for i in range(1, width + 1)
        )
    )


def _of_chosen(order: exp.Expr) -> exp.Expr:
    """The same order, where other tables are joined."""
    return order.transform(
        lambda n: exp.column(n.name, "chosen") if isinstance(n, exp.Column) else n
    )


def named(columns: Sequence[tuple[exp.Expr, str]]) -> list[exp.Expr]:
    """Columns under the user's names; a name that is taken gets a number."""
    names = unique([name for _, name in columns])
    return [
        exp.Alias(this=tree, alias=identifier(name))
        for (tree, _), name in zip(columns, names, strict=True)
    ]


def unique(names: Sequence[str]) -> list[str]:
    """The names, told apart without regard to case: ``size``, ``size_2``."""
    taken: set[str] = set()
    result = []
    for name in names:
        candidate, n = name, 1
        while candidate.casefold() in taken:
            n += 1
            candidate = f"{name}_{n}"
        taken.add(candidate.casefold())
        result.append(candidate)
    return result
