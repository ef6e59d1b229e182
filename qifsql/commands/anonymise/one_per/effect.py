"""Effects of dropping records: the risk before and after, and changes in people singled out.

A treatment can raise or lower the risk. It drops some of the people who were alone in their block;
other people become alone because others like them are dropped (PoPETs section 5.2, footnote 12: of
57 people alone by their school, 26 are lost, and 42 are alone only afterwards).
"""

from dataclasses import replace

import polars as pl
from sqlglot import exp

from qifsql.adversary.spec import Attribute, BoundAttack, Microdata
from qifsql.counting.counts import Counts
from qifsql.data.dataset import Dataset
from qifsql.data.expressions import SOURCE, identifier, source_columns
from qifsql.data.readers import relation
from qifsql.engine.protocol import Engine
from qifsql.engine.tables import Tables
from qifsql.errors import InternalError
from qifsql.measures import bayes
from qifsql.query import compiler, microdata_steps
from qifsql.query.columns import unique
from qifsql.query.plan import Plan
from qifsql.query.splice import splice
from qifsql.results.assessment import SCHEMA

COMPARISON: dict[str, pl.DataType] = {
    "when": pl.String(),
    **{name: SCHEMA[name] for name in SCHEMA if name not in ("datasets", "seconds")},
}
"""One row per model and secret, ``before`` and ``after``, with the other columns of a result."""

CHANGES: dict[str, pl.DataType] = {
    **dict.fromkeys(("singled_out_before", "still_singled_out", "lost"), pl.Int64()),
    **dict.fromkeys(("singled_out_only_after", "singled_out_after"), pl.Int64()),
}
"""One row. Of the records alone in their block before, ``lost`` are those that were dropped; the
others are still alone. ``singled_out_only_after`` are alone only after others were dropped."""

_TABLE = "compared"  # inside the engine: one row per record, with the columns of the attack


def measure_changes(
    engine: Engine, attack: BoundAttack, dropped: exp.Table
) -> dict[str, pl.DataFrame]:
    """Run an attack on all records and on those that stay: ``COMPARISON`` and ``CHANGES``, by name.

    ``dropped`` is a table of the positions of the dropped records, from 1, in its column
    ``position``. Both attacks read a copy of their columns, with a mark of records that stay.
    """
    microdata = attack.microdata
    name = microdata.dataset.name
    plan, stays = _marked_plan(microdata, dropped)
    tables = Tables(engine, "comparing", name)
    tables.make(_TABLE, plan)
    paths, statement = microdata.dataset.paths, tables.statements[-1]
    table = Dataset(name, "duckdb", paths, table=_TABLE, schema="main", statement=statement)
    everybody = replace(microdata, dataset=table, where=None)
    rows = _measure_attack(engine, attack.on(everybody), "before")
    rows += _measure_attack(engine, attack.on(replace(everybody, where=stays)), "after")
    # Blocks with and without the dropped records are compared: how many people are alone in one.
    people = replace(everybody, by=Attribute("stays", stays, "BOOLEAN"), secrets=())
    query = splice("anonymise/changes", width=len(microdata.qids))
    changes_plan = Plan(tuple(microdata_steps.steps(people)), query)
    changes = engine.frame(changes_plan, "comparing", name).cast(pl.Schema(CHANGES))
    tables.drop(_TABLE)
    for when in ("before", "after"):
        alone = [row["singled_out"] for row in rows if row["when"] == when]
        if set(alone) != {changes[f"singled_out_{when}"][0]}:
            raise InternalError("who is singled out does not add up; please report this")
    return {"comparison": pl.DataFrame(rows, schema=COMPARISON), "changes": changes}


def _marked_plan(microdata: Microdata, dropped: exp.Table) -> tuple[Plan, exp.Expr]:
    """Return the plan of the records that the filter keeps, and a column that is true if they stay.

    ``dropped`` has the positions of those that do not. The other columns of the plan are those that
    the attack reads, under the names that it reads.
    """
    trees = [a.expression for a in (*microdata.qids, *microdata.secrets)]
    used = sorted(source_columns(*trees))
    flag = identifier(unique([*used, "stays"])[-1])  # a name that no column has
    where = microdata.where.copy() if microdata.where is not None else exp.true()
    numbered = [exp.alias_(exp.Window(this=exp.RowNumber()), "position")]
    numbered.append(exp.alias_(where, "meant"))
    columns: list[exp.Expr] = []
    for i, name in enumerate(used, 1):
        numbered.append(exp.alias_(exp.column(identifier(name), table=SOURCE), f"column_{i}"))
        columns.append(exp.alias_(exp.column(f"column_{i}"), identifier(name)))
    source = exp.alias_(relation(microdata.dataset), SOURCE, table=True)
    positions = exp.select("position").from_(dropped).subquery()
    is_dropped = exp.In(this=exp.column("position"), query=positions)
    columns.append(exp.alias_(exp.not_(is_dropped), flag))
    query = exp.select(*columns).from_(exp.select(*numbered).from_(source).subquery("numbered"))
    stays = exp.Column(this=flag.copy(), table=exp.to_identifier(SOURCE))
    return Plan((), query.where("meant")), stays


def _measure_attack(engine: Engine, attack: BoundAttack, when: str) -> list[dict[str, object]]:
    """Return a row of ``COMPARISON`` for each model and secret; ``when``: before or after."""
    counts = Counts(engine, attack)
    questions = compiler.questions(attack)  # (j, 0): secret number j; (0, 0): re-identification
    prior = counts.profiles(questions, prior=True)
    posterior = counts.profiles(questions, prior=False)
    counts.forget()
    names = [q.name for q in attack.microdata.qids]
    rows: list[dict[str, object]] = []
    for model in attack.models:
        for j in compiler.numbers(attack.microdata, model):
            row = {
                "when": when,
                "model": model.acronym.upper(),
                "n_qids": len(names),
                "qids": names,
                "secret": attack.microdata.secrets[j - 1].name if j else None,
                "records": counts.records,
                "blocks": posterior[j, 0].blocks,
                "singled_out": posterior[j, 0].singled_out,
            }
            successes = (bayes.success(profiles[j, 0], j, 0) for profiles in (prior, posterior))
            rows.append(row | bayes.row(*successes))
    return rows
