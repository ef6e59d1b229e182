"""A row for each person: the change of the guess about them without their record."""

from collections.abc import Sequence
from pathlib import Path

from sqlglot import exp

from qifsql.adversary.spec import Microdata
from qifsql.commands.dit.spec import Question
from qifsql.counting.scales import own_table
from qifsql.data.readers import STORE
from qifsql.engine.protocol import Engine
from qifsql.query import microdata_steps
from qifsql.query.columns import SHOWABLE, STORABLE, as_native, equal, named
from qifsql.query.plan import Plan
from qifsql.results.storage import Origin, stream


def write_people(
    engine: Engine, microdata: Microdata, question: Question, path: Path, origin: Origin
) -> int:
    """Write a row per run and record, in the order of the input; return the number of rows.

    Columns: ``record`` (position in the input, from 1), the key under its name, ``run`` and ``k``
    if there are several runs, the distances (see ``posteriors``), and the most probable secret with
    and without the record. Distances are empty for people outside the sample.
    """
    native = STORABLE if path.suffix.casefold() == ".parquet" else SHOWABLE
    plan = plan_rows(microdata, question, native)
    return stream(engine, plan, path, origin, what="writing records")


def plan_rows(microdata: Microdata, question: Question, native: Sequence[str]) -> Plan:
    """Return the plan of the rows, one per run and record."""
    step = microdata_steps.everybody(microdata)
    columns: list[tuple[exp.Expr, str]] = [
        (exp.column(microdata_steps.RECORD, "everybody"), microdata_steps.RECORD)
    ]
    if microdata.key is not None:
        key = as_native(exp.column("key", "everybody"), microdata.key, native)
        columns.append((key, microdata.key.name))
    if len(question.runs) > 1:
        columns += [(exp.column(name, "runs"), name) for name in ("run", "k")]
    distances = ["emd_printed", "emd", "max_divergence"]
    distances += ["emd_hierarchy"] if question.hierarchy else []
    columns += [(exp.column(name, "apart"), name) for name in distances]
    for table, name in (("guessed", "best_guess"), ("guessed_without", "best_guess_without")):
        value = as_native(exp.column("value", table), microdata.secrets[0], native)
        columns.append((value, name))
    query = exp.select(*named(columns)).from_("everybody")
    query = query.join(_runs(question), join_type="cross")
    record = equal(exp.column("record", "whose"), exp.column("record", "everybody"))
    query = query.join(exp.alias_(own_table("whose"), "whose", table=True), on=record)
    target = equal(exp.column("target", "apart"), exp.column("target", "whose"))
    run = equal(exp.column("run", "apart"), exp.column("run", "runs"))
    apart = exp.table_("apart", db="main", catalog=STORE, alias="apart")
    query = query.join(apart, on=exp.and_(target, run), join_type="left")
    for guess, code in (("guessed", "with_target"), ("guessed_without", "without_target")):
        values = exp.alias_(own_table("dictionary_secret_1"), guess, table=True)
        same_code = equal(exp.column("code", guess), exp.column(code, "apart"))
        query = query.join(values, on=same_code, join_type="left")
    order = [exp.column("run", "runs"), exp.column(microdata_steps.RECORD, "everybody")]
    return microdata_steps.plan(microdata, [step], query.order_by(*order))


def _runs(question: Question) -> exp.Expr:
    """Return the runs with their k, as a table."""
    rows = [(i, None if w is None else w.k) for i, w in enumerate(question.runs, 1)]
    return exp.values(rows, alias="runs", columns=["run", "k"])
