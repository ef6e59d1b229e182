"""A row for each person: how far what is guessed of them moves without them."""

from collections.abc import Sequence
from pathlib import Path

from sqlglot import exp

from qifsql.adversary.spec import BoundAttack
from qifsql.commands.dit.spec import Question
from qifsql.counting.scales import own_table
from qifsql.data.relation import STORE
from qifsql.engine.protocol import Engine
from qifsql.query import microdata
from qifsql.query.columns import SHOWABLE, STORABLE, named, written
from qifsql.query.plan import Plan
from qifsql.results.storage import STREAMED, Origin, check_ending, check_place
from qifsql.results.stream import stream


def place(out: str | Path, sources: Sequence[str]) -> Path:
    """The file for the rows, before any work is done; OutputError where it cannot be written."""
    path = Path(out)
    check_ending(path, STREAMED)
    return check_place(path, tuple(sources))


def write(
    engine: Engine, attack: BoundAttack, question: Question, path: Path, origin: Origin
) -> int:
    """Write a row per run and record, in the order of the input; how many there are.

    Columns: ``record`` (position in the input, from 1), the key under its name, ``run`` and ``k``
    where there are several runs, the distances (``beliefs``), and the most probable secret with and
    without the record. Distances are empty for people who are not looked at (a sample).
    """
    native = STORABLE if path.suffix.casefold() == ".parquet" else SHOWABLE
    plan = rows(attack, question, native)
    return stream(engine, plan, path, origin, what="writing records")


def rows(attack: BoundAttack, question: Question, native: Sequence[str]) -> Plan:
    """The rows of every record, for each run."""
    step = microdata.everybody(attack)
    columns: list[tuple[exp.Expr, str]] = [
        (exp.column(microdata.RECORD, "everybody"), microdata.RECORD)
    ]
    if attack.key is not None:
        key = written(exp.column("key", "everybody"), attack.key, native)
        columns.append((key, attack.key.name))
    if len(question.runs) > 1:
        columns += [(exp.column("run", "runs"), "run"), (exp.column("k", "runs"), "k")]
    distances = ["emd_printed", "emd", "max_divergence"]
    distances += ["emd_hierarchy"] if question.hierarchy else []
    columns += [(exp.column(name, "apart"), name) for name in distances]
    for table, name in (("guessed", "best_guess"), ("guessed_without", "best_guess_without")):
        value = written(exp.column("value", table), attack.secrets[0], native)
        columns.append((value, name))
    query = exp.select(*named(columns)).from_("everybody")
    query = query.join(_runs(question), join_type="cross")
    query = query.join(_table("whose"), on=_same("whose", [("record", "everybody", "record")]))
    apart = exp.alias_(exp.table_("apart", db="main", catalog=STORE), "apart", table=True)
    same = _same("apart", [("target", "whose", "target"), ("run", "runs", "run")])
    query = query.join(apart, on=same, join_type="left")
    for guess, code in (("guessed", "with_target"), ("guessed_without", "without_target")):
        values = exp.alias_(own_table("dictionary_secret_1"), guess, table=True)
        query = query.join(values, on=_same(guess, [("code", "apart", code)]), join_type="left")
    order = [exp.column("run", "runs"), exp.column(microdata.RECORD, "everybody")]
    return microdata.plan(attack, [step], query.order_by(*order))


def _table(name: str) -> exp.Expr:
    return exp.alias_(own_table(name), name, table=True)


def _same(table: str, pairs: Sequence[tuple[str, str, str]]) -> exp.Expr:
    return exp.and_(
        *(
            exp.EQ(this=exp.column(column, table), expression=exp.column(other, of))
            for column, of, other in pairs
        )
    )


def _runs(question: Question) -> exp.Expr:
    """The runs with their k, as a table."""
    tuples = [
        exp.Tuple(expressions=[exp.convert(i), exp.null() if w is None else exp.convert(w.k)])
        for i, w in enumerate(question.runs, 1)
    ]
    values = exp.Values(expressions=tuples)
    return exp.alias_(values, "runs", table=["run", "k"])
