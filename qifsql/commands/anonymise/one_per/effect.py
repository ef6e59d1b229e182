"""Effects of dropping records: the risk before and after, and changes in people singled out.

A treatment can raise or lower the risk. It drops some of the people who were alone in their block;
other people become alone because others like them are dropped (PoPETs section 5.2, footnote 12: of
57 people alone by their school, 26 are lost, and 42 are alone only afterwards).
"""

from dataclasses import replace

import polars as pl
from sqlglot import exp

from qifsql.adversary.spec import Attribute, BoundAttack, Microdata
from qifsql.commands.anonymise.one_per import draw
from qifsql.counting.counts import Counts
from qifsql.data.dataset import Dataset
from qifsql.data.expressions import SOURCE, identifier, source_columns
from qifsql.data.readers import numbered_rows
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


def measure_changes(engine: Engine, attack: BoundAttack) -> dict[str, pl.DataFrame]:
    """Run an attack on all records and on those that stay: ``COMPARISON`` and ``CHANGES``, by name.

    Both attacks read a copy of their columns, with a mark of records that stay.
    """
    microdata = attack.microdata
    name = microdata.dataset.name
    plan, stays = _marked_plan(microdata)
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


def _marked_plan(microdata: Microdata) -> tuple[Plan, exp.Expr]:
    """Return the plan of the records that the filter keeps, and a column that is true if they stay.

    The other columns of the plan are those that the attack reads, under the names that it reads.
    """
    trees = [a.expression for a in (*microdata.qids, *microdata.secrets)]
    used = dict(enumerate(sorted(source_columns(*trees)), 1))  # names of columns by number
    columns = {f"column_{i}": exp.column(identifier(c), table=SOURCE) for i, c in used.items()}
    records = numbered_rows(microdata.dataset, columns, microdata.where).subquery("records")
    named = [exp.alias_(exp.column(f"column_{i}"), identifier(c)) for i, c in used.items()]
    mark = identifier(unique([*used.values(), "stays"])[-1])  # a name that no column has
    query = exp.select(*named, exp.alias_(draw.stays(), mark)).from_(records)
    return Plan((), query), exp.column(mark.copy(), table=SOURCE)


def _measure_attack(engine: Engine, attack: BoundAttack, when: str) -> list[dict[str, object]]:
    """Return a row of ``COMPARISON`` for each model and secret; ``when``: before or after."""
    counts = Counts(engine, attack)
    questions = compiler.questions(attack)
    prior = counts.profiles(questions, prior=True)
    posterior = counts.profiles(questions, prior=False)
    counts.forget()
    names = [q.name for q in attack.microdata.qids]
    rows: list[dict[str, object]] = []
    for model in attack.models:
        for j in compiler.numbers(attack.microdata, model):  # of a secret; 0: re-identification
            before, after = prior[j, 0], posterior[j, 0]
            row = {
                "when": when,
                "model": model.acronym.upper(),
                "n_qids": len(names),
                "qids": names,
                "secret": attack.microdata.secrets[j - 1].name if j else None,
                "records": counts.records,
                "blocks": after.blocks,
                "singled_out": after.singled_out,
            }
            rows.append(row | bayes.row(bayes.success(before, j, 0), bayes.success(after, j, 0)))
    return rows
