"""Suppressed records: those whose quasi-identifiers all are the text ``*``."""

from dataclasses import replace

from sqlglot import exp

from qifsql.adversary.spec import BoundAttack
from qifsql.commands.levels.secret_blocks import STAR
from qifsql.commands.levels.spec import Suppressed
from qifsql.data.types import family
from qifsql.engine.protocol import Engine
from qifsql.errors import DatasetError, several
from qifsql.query.microdata import normal, records_plan


def settle(
    engine: Engine, bound: BoundAttack, how: Suppressed
) -> tuple[BoundAttack, int, list[str]]:
    """The attack without records that are out, how many have everyone as their block; remarks."""
    star = _all_starred(bound)
    if star is None:
        never = "no record is suppressed: a quasi-identifier that is no text is never *"
        return bound, 0, [never] if how != "block" else []
    there = _count(engine, replace(bound, where=_both(bound.where, star)))
    if not there:
        none = "no record is suppressed: in none are all quasi-identifiers *"
        return bound, 0, [none] if how != "block" else []
    done = {
        "block": "they are a block like any other (suppressed: everyone, out)",
        "everyone": "their block is everyone, and they are in no other block",
        "out": "they are left out",
    }
    note = f"{several(there, 'record')} have * as every quasi-identifier: {done[how]}"
    note = note.replace("1 record have", "1 record has")
    if how == "out":
        bound = replace(bound, where=_both(bound.where, exp.not_(star)))
        if not _count(engine, bound):
            raise DatasetError(
                f"all records of {bound.dataset.name} are suppressed, so nobody is left; leave "
                "suppressed out"
            )
    return bound, there if how == "everyone" else 0, [note]


def _all_starred(bound: BoundAttack) -> exp.Expr | None:
    """Whether all quasi-identifiers of a record are ``*``; None where that cannot be."""
    if any(family(q.type) != "VARCHAR" for q in bound.qids):
        return None
    every = exp.and_(*(exp.paren(normal(q)).eq(STAR) for q in bound.qids))
    return exp.func("coalesce", exp.paren(every), exp.false())


def _both(where: exp.Expr | None, more: exp.Expr) -> exp.Expr:
    return more if where is None else exp.and_(exp.paren(where.copy()), more)


def _count(engine: Engine, bound: BoundAttack) -> int:
    plan = records_plan(bound, people=True)
    return int(engine.rows(plan, "counting records", bound.dataset.name)[0][0])
