"""Suppressed records: those with the text ``*`` in all quasi-identifiers."""

from dataclasses import replace

from sqlglot import exp

from qifsql.adversary.spec import Microdata
from qifsql.commands.levels.secret_blocks import STAR
from qifsql.commands.levels.spec import Suppressed
from qifsql.data.types import family
from qifsql.engine.protocol import Engine
from qifsql.errors import DatasetError, plural
from qifsql.query.microdata_steps import normal, records_plan


def handle_suppressed(
    engine: Engine, microdata: Microdata, how: Suppressed
) -> tuple[Microdata, int, list[str]]:
    """Return the attack, the number of people whose block is everyone, and remarks.

    With ``how`` = ``out`` the attack leaves the suppressed records out.
    """
    star = _all_starred(microdata)
    if star is None:
        never = "no record is suppressed: a quasi-identifier that is not a text is never *"
        return microdata, 0, [never] if how != "block" else []
    there = _count_people(engine, replace(microdata, where=_and_condition(microdata.where, star)))
    if not there:
        none = "no record is suppressed: in none are all quasi-identifiers *"
        return microdata, 0, [none] if how != "block" else []
    done = {
        "block": "they are a block like any other (suppressed: everyone, out)",
        "everyone": "their block is everyone, and they are in no other block",
        "out": "they are left out",
    }
    note = f"{plural(there, 'record')} have * as every quasi-identifier: {done[how]}"
    note = note.replace("1 record have", "1 record has")
    if how == "out":
        microdata = replace(microdata, where=_and_condition(microdata.where, exp.not_(star)))
        if not _count_people(engine, microdata):
            raise DatasetError(
                f"all records of {microdata.dataset.name} are suppressed, so nobody is left; "
                "leave suppressed out"
            )
    return microdata, there if how == "everyone" else 0, [note]


def _all_starred(microdata: Microdata) -> exp.Expr | None:
    """Return the condition that all quasi-identifiers are ``*``; None if one of them is no text."""
    if any(family(q.type) != "VARCHAR" for q in microdata.qids):
        return None
    every = exp.and_(*(exp.paren(normal(q)).eq(STAR) for q in microdata.qids))
    return exp.func("coalesce", exp.paren(every), exp.false())


def _and_condition(where: exp.Expr | None, more: exp.Expr) -> exp.Expr:
    return more if where is None else exp.and_(exp.paren(where.copy()), more)


def _count_people(engine: Engine, microdata: Microdata) -> int:
    plan = records_plan(microdata, people=True)
    return int(engine.rows(plan, "counting records", microdata.dataset.name)[0][0])
