"""One run with Mondrian: what every target's release, with and without them, says of them.

How many records' cells hold each target's values, in the release and in the one without them? No
record meets another: for the whole release there is one table of quasi-identifier, raw value and
secret; the release without a target differs from it by a few subtrees (``forest``) and by the class
that they leave.
"""

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from qifsql.commands.dit import forest
from qifsql.commands.dit.leave_one_out import NOBODY, compares, make_worlds
from qifsql.commands.dit.targets import People
from qifsql.counting.constraints import Wishes
from qifsql.counting.passes import Passes
from qifsql.counting.scales import Scale, own_table
from qifsql.errors import InputError, several
from qifsql.query.columns import number

TALLIED = (
    *("parted", "pieces", "front", "front_next", "beneath", "kinds", "held", "cells"),
    *("secrets_held", "wanted_cells", "holding", "own_cells", "tallies"),
    *("bits", "patterns"),
)
STAYING = ("different", "rescaled", "targets", "tallies", "patterns")
GONE = [name for name in (*forest.FOREST, *TALLIED) if name not in STAYING]


def make(passes: Passes, people: People, wishes: Wishes, *, joint: bool) -> None:
    """Make ``totals`` of the targets, with ``tallies``, or ``patterns`` where ``joint``.

    Raises InputError where a release, with or without a target, cannot keep the limits.
    """
    _check(passes, people, wishes)
    apart = {"wanted_worlds": int(compares(wishes))}
    passes.make("roots", "dit/roots", apart)
    passes.make("homes", "dit/homes", apart)
    passes.make("own_scale", "dit/own_scale")
    worlds = make_worlds(passes, wishes)
    forest.grow(passes, wishes, worlds)
    _tally(passes, people.scales, joint=joint)
    passes.make("totals", "dit/totals", whole="whole_1")
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
    sides = passes.query("dit/everybody_else")
    passes.keep("refused", world.broken(alone, sides))
    total = exp.select("coalesce(sum(people), 0)").from_(own_table("targets"))
    broken = exp.select("part").from_(own_table("refused"))
    lacking = passes.row(total.where(exp.In(this=exp.column("secret"), query=broken.subquery())))[0]
    passes.drop("refused")
    if lacking:
        raise InputError(
            f"without one of {several(int(lacking), 'person')} not even one class of all other "
            f"records of {people.name} keeps {wishes.diversity}, so there is no release without "
            "them; ask for less"
        )


def _tally(passes: Passes, scales: Sequence[Scale], *, joint: bool) -> None:
    """Make ``tallies`` (target, release, attribute, secret, people) of a forest that has grown.

    ``joint``: make ``patterns`` (target, release, pattern, secret, people) in its place.
    """
    _kinds(passes, scales)
    for name in ("parted", "pieces", "held", "cells", "secrets_held", "own_cells"):
        passes.make(name, f"dit/{name}")
    _beneath(passes)
    if joint:
        passes.make("bits", "dit/bits")
        passes.make("patterns", "dit/patterns")
        return
    for name in ("wanted_cells", "holding", "tallies"):
        passes.make(name, f"dit/{name}")


def _kinds(passes: Passes, scales: Sequence[Scale]) -> None:
    """Make the table of which quasi-identifiers have intervals, and of their missing values."""
    rows = [
        exp.select(
            exp.alias_(exp.cast(number(i), "BIGINT"), "attribute"),
            exp.alias_(exp.convert(scale.interval), "interval", quoted=True),
            exp.alias_(exp.cast(number(scale.missing), "BIGINT"), "missing"),
        )
        for i, scale in enumerate(scales, 1)
    ]
    passes.keep("kinds", rows[0] if len(rows) == 1 else exp.union(*rows, distinct=False))


def _beneath(passes: Passes) -> None:
    """Make the table of the classes in each subtree that is needed."""
    now, then = "front_1", "front_2"
    open_ = passes.make(now, "dit/front")
    passes.keep_empty("beneath", ("unit", "class"))
    while open_:
        passes.add("beneath", "dit/beneath", front=now)
        open_ = passes.make(then, "dit/front_next", front=now)
        passes.drop(now)
        now, then = then, now
    passes.drop(now)
