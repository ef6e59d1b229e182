"""A row for each person: the change of the guess about them without their record."""

from collections.abc import Sequence
from pathlib import Path

from sqlglot import exp

from qifsql.adversary.spec import Microdata
from qifsql.commands.dit.spec import Question
from qifsql.counting.scales import own_name
from qifsql.data.readers import STORE
from qifsql.engine.protocol import Engine
from qifsql.query import microdata_steps
from qifsql.query.columns import as_native, named, native_types
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import splice
from qifsql.results.storage import Origin, stream


def write_people(
    engine: Engine, microdata: Microdata, question: Question, path: Path, origin: Origin
) -> int:
    """Write a row per run and record, in the order of the input; return the number of rows.

    Columns: ``record`` (position in the input, from 1), the key under its name, ``run`` and ``k``
    if there are several runs, the distances (see ``posteriors``), and the most probable secret with
    and without the record. Distances are empty for people outside the sample.
    """
    plan = plan_rows(microdata, question, native_types(path))
    return stream(engine, plan, path, origin, what="writing records")


def plan_rows(microdata: Microdata, question: Question, native: Sequence[str]) -> Plan:
    """Return the plan of the rows, one per run and record."""
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
    tables = {
        "whose": own_name("whose"),
        "apart": f"{STORE}.main.apart",
        "known": own_name("dictionary_secret_1"),
    }
    rows = [(i, None if w is None else w.k) for i, w in enumerate(question.runs, 1)]
    runs = exp.select("*").from_(exp.values(rows, alias="runs", columns=["run", "k"]))
    steps = [microdata_steps.everybody(microdata), Step("runs", "One row per run: its k.", runs)]
    query = splice("dit/record_guesses", tables=tables).select(*named(columns), append=False)
    return microdata_steps.plan(microdata, steps, query)
