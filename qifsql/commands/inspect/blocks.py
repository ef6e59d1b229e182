"""The blocks of the partition, and the information that each block reveals."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, Unpack, get_args

from sqlglot import exp

from qifsql.adversary.options import Options
from qifsql.adversary.spec import Attack, Attribute, BoundAttack, KnownRecords, Microdata, refuse
from qifsql.commands.inspect.readings import notes_on_people, of_spark
from qifsql.counting.session import check_records, opened
from qifsql.data.collection import Source
from qifsql.engine.settings import Settings
from qifsql.errors import InputError
from qifsql.query.columns import (
    SHOWABLE,
    as_native,
    known_values,
    named,
    records_of_lists,
    same_block,
)
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
    person: str | None,
    known_records: KnownRecords,
    settings: Settings | None = None,
    **options: Unpack[Options],
) -> Result:
    """List the smallest, the largest or the most revealing blocks (equivalence classes).

    ``limit``: how many; 0 lists all, in memory. The most revealing have the highest success on the
    first secret, else on re-identification. With a ``person``, blocks are of people and have their
    records; an adversary who knows one record finds a person in the block of each of hers.
    """
    refuse(options, "blocks", "target", "gain", "prior", "by", "thresholds", "quantiles")
    if order not in get_args(Order) or limit < 0:
        raise InputError(f"order is one of {', '.join(get_args(Order))}, and limit 0 or more")
    origin = Origin.now(settings, "blocks")
    models = "cas" if options.get("secret") else "crs"
    spec = Attack.of(models, source, person=person, **options).fitting()
    with opened(spec, settings, apart=True, command=of_spark(person)) as (engine, attack):
        bound = attack.on(attack.microdata.known_by(known_records))
        check_records(engine, bound.microdata)
        with_cells = bound.on(replace(bound.microdata, part="shown"))
        rows_plan = blocks_plan(with_cells, order, limit)
        frame = engine.frame(rows_plan, "listing blocks", bound.microdata.dataset.name)
        reading = {} if person is None else {"known_records": known_records}
        origin = origin.of(bound, spec, rows_plan, order=order, limit=limit, **reading)
        notes = notes_on_people(engine, bound.microdata)
        return Result(frame=frame, origin=origin, notes=notes)


def choose_order(
    smallest: int | None, largest: int | None, revealing: int | None
) -> tuple[Order | None, int | None]:
    """Return order and number of blocks from three exclusive options; (None, None) if unused."""
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
    """Return the plan of the blocks to show, one row per block.

    Columns are the quasi-identifiers, the sizes, the success of re-identification, and for each
    secret its number of values, the best guess, its success, and the counts of the values.
    """
    microdata = attack.microdata
    steps = Steps(attack)
    revealed, *_ = revealed_tables(steps)  # the blocks, with what the first secret reveals
    ranked = _ranked(microdata, order)
    steps.push(_chosen_step(revealed, ranked, limit))
    query = exp.select().from_("chosen")
    columns = known_values(microdata, "chosen", SHOWABLE)
    columns.append((exp.column("size", "chosen"), "size"))
    if microdata.of_lists:
        columns.append((records_of_lists("chosen"), "records"))
    elif microdata.person is not None:
        table = steps.need("known_blocks")
        query = query.join(exp.to_table(table), on=same_block("chosen", table, microdata.width))
        columns.append((exp.column("records", table), "records"))
    columns.append((exp.column("owner_success", "chosen"), "success"))
    for j, secret in enumerate(microdata.secrets_of_individuals, 1):
        _push_counts(steps, j, secret)
        table, counts = "chosen" if j == 1 else f"revealed_{j}", f"counts_{j}"
        for joined in (counts,) if j == 1 else (table, counts):
            same = same_block("chosen", joined, microdata.width)
            query = query.join(exp.table_(joined), on=same)
        columns += _secret_columns(secret, table, counts)
    order_again = [_of_chosen(o) for o in ranked]
    return plan(microdata, steps.steps, query.select(*named(columns)).order_by(*order_again))


def _ranked(microdata: Microdata, order: Order) -> list[exp.Expr]:
    """Return what blocks are ordered by: the order asked for, then the quasi-identifiers."""
    success = "success" if microdata.secrets else "owner_success"
    ranks: Mapping[Order, list[exp.Expr]] = {
        "smallest": [exp.column("size").asc()],
        "largest": [exp.column("size").desc()],
        "revealing": [exp.column(success).desc(), exp.column("size").desc()],
    }
    qids = [exp.column(f"qid_{i}") for i in range(1, microdata.width + 1)]
    return [*ranks[order], *(exp.Ordered(this=qid, nulls_first=False) for qid in qids)]


def _chosen_step(revealed: str, ranked: Sequence[exp.Expr], limit: int) -> Step:
    """Return the step of the first blocks of a table in an order; ``limit`` 0: all."""
    template = load("chosen")
    query = template.query.copy().order_by(*ranked, append=False)
    query.set("limit", exp.Limit(expression=exp.Literal.number(limit)) if limit else None)
    return Step("chosen", template.doc, query.from_(exp.to_table(revealed)), materialized=True)


def _secret_columns(secret: Attribute, table: str, counts: str) -> list[tuple[exp.Expr, str]]:
    """Return what a table reveals of a secret in each block, and its ``counts``, with names."""
    best_guess = as_native(exp.column("best_guess", table), secret, SHOWABLE)
    return [
        (exp.column("values", table, quoted=True), f"values_{secret.name}"),
        (best_guess, f"best_guess_{secret.name}"),
        (exp.column("success", table), f"success_{secret.name}"),
        (exp.column("counts", counts), f"counts_{secret.name}"),
    ]


def _push_counts(steps: Steps, j: int, secret: Attribute) -> None:
    """Add the step that counts the values of secret j, with values of types that can be shown."""
    steps.need("counts", j)
    query = steps.steps[-1].query.copy()  # of ``counts``, which other attacks have, too
    for entry in query.find_all(exp.PropertyEQ):
        if entry.name == "value":
            entry.set("expression", as_native(entry.expression, secret, SHOWABLE))
    steps.steps[-1] = replace(steps.steps[-1], query=query)


def _of_chosen(order: exp.Expr) -> exp.Expr:
    """Return the order with columns of ``chosen``, because other tables are joined."""
    return order.transform(
        lambda n: exp.column(n.name, "chosen") if isinstance(n, exp.Column) else n
    )
