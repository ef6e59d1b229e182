"""Suppressed records in levels: their block is everyone, or they are a block, or left out."""

from dataclasses import replace

from sqlglot import exp

from qifsql.adversary.spec import BoundAttack
from qifsql.commands.levels.spec import Suppressed
from qifsql.counting import suppressed
from qifsql.engine.protocol import Engine
from qifsql.errors import DatasetError, plural
from qifsql.query.microdata_steps import plan
from qifsql.query.steps import Steps


def read_as(engine: Engine, bound: BoundAttack, how: Suppressed) -> tuple[BoundAttack, list[str]]:
    """Return the attack with suppressed records as everyone, a block or left out; remarks."""
    if how == "everyone":
        return suppressed.marked(engine, bound), []
    microdata = replace(bound.microdata, suppressed=0)
    records = suppressed.count(engine, microdata)
    if not records:
        return bound.on(microdata), []
    note = f"{plural(records, 'record')} with * as every quasi-identifier"
    if how == "block":
        return bound.on(microdata), [f"{note}: a block like any other (suppressed: everyone, out)"]
    unsuppressed = suppressed.shown_alone(replace(microdata, suppressed=records))
    if not suppressed.people_of(engine, unsuppressed):
        raise DatasetError(
            f"all records of {microdata.dataset.name} are suppressed, so nobody is left; "
            "leave suppressed out"
        )
    return bound.on(unsuppressed), [f"{note}: left out"]


def people(engine: Engine, bound: BoundAttack) -> int:
    """Return the number of people whose block is everyone: those with a suppressed record."""
    if not bound.microdata.suppressed:
        return 0
    steps = Steps(bound)
    query = exp.select("count(*)").from_(steps.need("hidden"))
    name = bound.microdata.dataset.name
    ((number,),) = engine.rows(plan(bound.microdata, steps.steps, query), "counting records", name)
    return int(number)
