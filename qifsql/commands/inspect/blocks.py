"""The blocks of the partition, and the information that each block reveals."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, Unpack, get_args

from sqlglot import exp

from qifsql.adversary.options import Options
from qifsql.adversary.spec import Attack, Attribute, BoundAttack, KnownRecords, Microdata, refuse
from qifsql.counting.session import check_records, note_left_out, opened
from qifsql.data.collection import Source
from qifsql.engine.protocol import Engine
from qifsql.engine.settings import Settings
from qifsql.errors import InputError
from qifsql.query.columns import SHOWABLE, as_native, known_values, named, same_block
from qifsql.query.plan import Plan, Step
from qifsql.query.steps import Steps, revealed_tables
from qifsql.query.templates import load
from qifsql.results.result import Result
from qifsql.results.storage import Origin

Order = Literal["smallest", "largest", "revealing"]
USUAL_LIMIT = 20  # blocks
NOTES_ON_PEOPLE = {
    "all": "blocks are of people: the adversary knows all records of a person, and each value is "
    "the list of those of her records",
    "one": "blocks are of people: the adversary knows one record of a person, who is in the block "
    "of each record of hers; her secret is the list of the values of all",
}
"""Notes by the records of a person that the adversary knows."""


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
    with opened(spec, settings, apart=True, command="inspect") as (engine, attack):
        bound = attack.on(attack.microdata.known_by(known_records))
        check_records(engine, bound.microdata)
        with_cells = bound.on(replace(bound.microdata, part="shown"))
        rows_plan = blocks_plan(with_cells, order, limit)
        frame = engine.frame(rows_plan, "listing blocks", bound.microdata.dataset.name)
        details: dict[str, Any] = {"order": order, "limit": limit}
        if person is not None:
            details["known_records"] = known_records
        origin = origin.of(bound, spec, rows_plan, **details)
        notes = notes_on_people(engine, bound.microdata)
        return Result(frame=frame, origin=origin, notes=notes)


def notes_on_people(engine: Engine, microdata: Microdata) -> tuple[str, ...]:
    """Return notes on the data, on people left out, and on what is known of several records."""
    notes = (*microdata.notes, *note_left_out(engine, microdata))
    return notes if microdata.person is None else (*notes, NOTES_ON_PEOPLE[microdata.known_records])


def blocks_plan(attack: BoundAttack, order: Order, limit: int) -> Plan:
    """Return the plan of the blocks to show, one row per block.

    Columns are the quasi-identifiers, the sizes, the success of re-identification, and for each
    secret its number of values, the best guess, its success, and the counts of the values.
    """
    microdata = attack.microdata
    steps = Steps(attack)
    revealed, *_ = revealed_tables(steps)  # the blocks, with what the first secret reveals
    steps.push(_chosen_blocks(revealed, microdata, order, limit))
    query = exp.select().from_("chosen")
    columns = known_values(microdata, "chosen", SHOWABLE)
    columns.append((exp.column("size", "chosen"), "size"))
    if microdata.of_lists:
        # A quasi-identifier is a list with a value for each record of a person.
        length = exp.Anonymous(this="len", expressions=[exp.column("qid_1", "chosen")])
        columns.append((exp.Mul(this=exp.column("size", "chosen"), expression=length), "records"))
    elif microdata.person is not None:  # one record is known: count those of a block
        table = steps.need("known_blocks")
        query = query.join(exp.to_table(table), on=same_block("chosen", table, microdata.width))
        columns.append((exp.column("records", table), "records"))
    columns.append((exp.column("owner_success", "chosen"), "success"))
    for j, secret in enumerate(microdata.secrets_of_individuals, 1):
        counts = steps.need("counts", j)  # now the last step
        steps.steps[-1] = _with_showable_values(steps.steps[-1], secret)
        # The chosen blocks have what the first secret reveals; other secrets have tables.
        revealed, tables = "chosen", [counts]
        if j > 1:
            revealed = f"revealed_{j}"
            tables = [revealed, counts]
        for table in tables:
            same = same_block("chosen", table, microdata.width)
            query = query.join(exp.table_(table), on=same)
        columns += _secret_columns(secret, revealed, counts)
    query = query.select(*named(columns)).order_by(*_rank_columns(microdata, order, "chosen"))
    return steps.plan(query)


def _secret_columns(secret: Attribute, revealed: str, counts: str) -> list[tuple[exp.Expr, str]]:
    """Return the columns about a secret, from what blocks reveal of it and the table of counts."""
    best_guess = as_native(exp.column("best_guess", revealed), secret, SHOWABLE)
    return [
        (exp.column("values", revealed, quoted=True), f"values_{secret.name}"),
        (best_guess, f"best_guess_{secret.name}"),
        (exp.column("success", revealed), f"success_{secret.name}"),
        (exp.column("counts", counts), f"counts_{secret.name}"),
    ]


def _chosen_blocks(blocks: str, microdata: Microdata, order: Order, limit: int) -> Step:
    """Return the step of the blocks to show, with all columns of the table ``blocks``."""
    template = load("chosen")
    chosen = template.query.copy().order_by(*_rank_columns(microdata, order), append=False)
    chosen.set("limit", exp.Limit(expression=exp.Literal.number(limit)) if limit else None)
    return Step("chosen", template.doc, chosen.from_(exp.to_table(blocks)), materialized=True)


def _rank_columns(microdata: Microdata, order: Order, table: str | None = None) -> list[exp.Expr]:
    """Return what blocks are ordered by: the order asked for, then the quasi-identifiers."""
    size = exp.column("size", table)
    success = exp.column("success" if microdata.secrets else "owner_success", table)
    ranks: Mapping[Order, list[exp.Expr]] = {
        "smallest": [size.asc()],
        "largest": [size.desc()],
        "revealing": [success.desc(), size.desc()],
    }
    qids = [exp.column(f"qid_{i}", table) for i in range(1, microdata.width + 1)]
    return [*ranks[order], *(exp.Ordered(this=qid, nulls_first=False) for qid in qids)]


def _with_showable_values(counts: Step, secret: Attribute) -> Step:
    """Return the step of the counts of a secret; its values have types that can be shown."""
    query = counts.query.copy()  # other attacks have the step, too
    for entry in query.find_all(exp.PropertyEQ):
        if entry.name == "value":
            entry.set("expression", as_native(entry.expression, secret, SHOWABLE))
    return replace(counts, query=query)
