"""One run with Mondrian: what every target's release, with and without them, says of them."""

from dataclasses import replace

from sqlglot import exp

from qifsql.differential import forest
from qifsql.differential.coded import People
from qifsql.differential.tally import TALLIED, tally
from qifsql.differential.worlds import NOBODY, compares, make_worlds
from qifsql.errors import InputError, several
from qifsql.sanitise.passes import Passes
from qifsql.sanitise.scales import own_table
from qifsql.sanitise.wishes import Wishes

KEPT = ("different", "rescaled", "targets", "tallies", "patterns")
GONE = [name for name in (*forest.FOREST, *TALLIED) if name not in KEPT]


def make(passes: Passes, people: People, wishes: Wishes, *, joint: bool) -> None:
    """Make ``totals`` of the targets, with ``tallies``, or ``patterns`` where ``joint``.

    Raises InputError where a release, with or without a target, cannot keep the limits.
    """
    _check(passes, people, wishes)
    apart = {"wanted_worlds": int(compares(wishes))}
    passes.make("roots", "differential/roots", apart)
    passes.make("homes", "differential/homes", apart)
    passes.make("own_scale", "differential/own_scale")
    worlds = make_worlds(passes, wishes)
    forest.grow(passes, wishes, worlds)
    tally(passes, people.scales, joint=joint)
    passes.make("totals", "differential/totals", whole="whole_1")
    passes.drop(*(f"{w.whole}_1" for code, w in worlds.items() if code != NOBODY))
    passes.drop(*GONE)


def _check(passes: Passes, people: People, wishes: Wishes) -> None:
    """Refuse limits that not even one class of all records keeps, with or without a target."""
    if not wishes.of_secret:
        return
    if passes.broken(wishes):
        raise InputError(
            f"not even one class of all {several(people.coded.records, 'record')} of {people.name} "
            f"keeps {wishes.diversity}: the most frequent values of the secret are too frequent; "
            "ask for less"
        )
    alone = replace(wishes, t=None, t_ordered=None)  # one class is spread as the whole release is
    if not alone.of_secret:
        return
    world = make_worlds(passes, Wishes(wishes.k))[NOBODY]
    sides = passes.query("differential/everybody_else")
    passes.keep("refused", world.broken(alone, sides))
    told = exp.select("coalesce(sum(people), 0)").from_(own_table("targets"))
    broken = exp.select("part").from_(own_table("refused"))
    lacking = passes.row(told.where(exp.In(this=exp.column("secret"), query=broken.subquery())))[0]
    passes.drop("refused")
    if lacking:
        raise InputError(
            f"without one of {several(int(lacking), 'person')} not even one class of all other "
            f"records of {people.name} keeps {wishes.diversity}, so there is no release without "
            "them; ask for less"
        )
