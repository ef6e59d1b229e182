"""The blocks of the partition, and the information that each block reveals."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, Unpack, get_args

from sqlglot import exp

from qifsql.adversary.options import Options
from qifsql.adversary.spec import Attack, BoundAttack, refuse
from qifsql.counting.session import check_records, note_left_out, opened
from qifsql.data.collection import Source
from qifsql.engine.settings import Settings
from qifsql.errors import InputError
from qifsql.query.columns import SHOWABLE, as_native, named, same_block
from qifsql.query.microdata_steps import plan
from qifsql.query.plan import Plan, Step
from qifsql.query.steps import Steps, revealed_tables
from qifsql.query.templates import load
from qifsql.results.result import Result
from qifsql.results.storage import Origin

Order = Literal["smallest", "largest", "revealing"]
SHOWN = 20  # default number of blocks


def blocks(
    source: Source,
    *,
    order: Order,
    limit: int,
    settings: Settings | None = None,
    **options: Unpack[Options],
) -> Result:
    """List the smallest, the largest or the most revealing blocks (equivalence classes).

    ``limit``: how many; 0 lists all, in memory. The most revealing have the highest success on the
    first secret, else on re-identification.
    """
    refuse(options, "blocks", "target", "gain", "prior", "by", "thresholds", "quantiles")
    if order not in get_args(Order) or limit < 0:
        raise InputError(f"order is one of {', '.join(get_args(Order))}, and limit 0 or more")
    origin = Origin.now(settings, "blocks")
    spec = Attack.of("cas" if options.get("secret") else "crs", source, **options).fitting()
    with opened(spec, settings, command="inspect") as (engine, bound):
        check_records(engine, bound.microdata)
        rows_plan = blocks_plan(bound, order, limit)
        frame = engine.frame(rows_plan, "listing blocks", bound.microdata.dataset.name)
        origin = origin.of(bound, spec, rows_plan, order=order, limit=limit)
        notes = (*bound.microdata.notes, *note_left_out(engine, bound.microdata))
        return Result(frame=frame, origin=origin, notes=notes)


def choose_order(
    smallest: int | None, largest: int | None, revealing: int | None
) -> tuple[Order | None, int | None]:
    """Return the order and the number of the blocks to show, from three exclusive options."""
    numbers: list[tuple[Order, int | None]] = [
        ("smallest", smallest),
        ("largest", largest),
        ("revealing", revealing),
    ]
    orders = [(order, n) for order, n in numbers if n is not None]
    if len(orders) > 1:
        raise InputError("ask for the smallest, the largest or the most revealing blocks, not both")
    return orders[0] if orders else (None, None)


def blocks_plan(attack: BoundAttack, order: Order, limit: int) -> Plan:
    """Return the plan of the blocks to show, with counts and best guess of each secret."""
    steps = Steps(attack)
    tables = revealed_tables(steps)
    width = range(1, len(attack.microdata.qids) + 1)
    first = tables[0]
    success = "success" if attack.microdata.secrets else "owner_success"
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
        (as_native(exp.column(f"qid_{i}", "chosen"), q, SHOWABLE), q.name)
        for i, q in enumerate(attack.microdata.qids, 1)
    ]
    columns += [
        (exp.column("size", "chosen"), "size"),
        (exp.column("owner_success", "chosen"), "success"),
    ]
    query = exp.select().from_("chosen")
    for j, secret in enumerate(attack.microdata.secrets, 1):
        steps.need("counts", j)
        counted = steps.steps[-1].query.copy()  # other attacks have the same step
        for value in counted.find_all(exp.PropertyEQ):
            if value.name == "value":
                value.set("expression", as_native(value.expression, secret, SHOWABLE))
        steps.steps[-1] = replace(steps.steps[-1], query=counted)
        table = "chosen" if j == 1 else f"revealed_{j}"
        if j > 1:
            query = query.join(
                exp.table_(table), on=same_block("chosen", table, len(attack.microdata.qids))
            )
        counts = exp.table_(f"counts_{j}")
        query = query.join(counts, on=same_block("chosen", counts.name, len(attack.microdata.qids)))
        columns += [
            (exp.column("values", table, quoted=True), f"values_{secret.name}"),
            (
                as_native(exp.column("best_guess", table), secret, SHOWABLE),
                f"best_guess_{secret.name}",
            ),
            (exp.column("success", table), f"success_{secret.name}"),
            (exp.column("counts", f"counts_{j}"), f"counts_{secret.name}"),
        ]
    last = [_of_chosen(o) for o in ranked]
    return plan(attack.microdata, steps.steps, query.select(*named(columns)).order_by(*last))


def _of_chosen(order: exp.Expr) -> exp.Expr:
    """Return the order with columns of ``chosen``, because other tables are joined."""
    return order.transform(
        lambda n: exp.column(n.name, "chosen") if isinstance(n, exp.Column) else n
    )
