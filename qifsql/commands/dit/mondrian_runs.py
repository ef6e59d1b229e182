"""One run with Mondrian: counts about each target, in the releases with and without them.

They count the records whose cells contain the target's values. No record is joined with another:
the whole release has one table by quasi-identifier, raw value and secret. The release without a
target differs from it by a few subtrees (``forest``) and by the class that the target leaves.
"""

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from qifsql.commands.dit import forest
from qifsql.commands.dit.leave_one_out import NOBODY, compares_with_world, make_worlds
from qifsql.commands.dit.targets import People
from qifsql.counting.passes import Passes
from qifsql.counting.release_limits import ClassLimits
from qifsql.counting.scales import Scale, own_table
from qifsql.errors import InputError, plural

TALLIED = (
    *("parted", "pieces", "front", "front_next", "beneath", "kinds", "held", "cells"),
    *("secrets_held", "wanted_cells", "holding", "own_cells", "tallies"),
    *("bits", "patterns"),
)
STAYING = ("different", "rescaled", "targets", "tallies", "patterns")
GONE = [name for name in (*forest.FOREST, *TALLIED) if name not in STAYING]


def count_run(passes: Passes, people: People, limits: ClassLimits, *, joint: bool) -> None:
    """Create ``totals``, and ``patterns`` if ``joint``, else ``tallies``: counts of each target.

    ``totals`` has a row per target, release with (0) or without them (1), and secret. Raises
    InputError if a release, with or without a target, cannot keep the limits.
    """
    _check_single_class(passes, people, limits)
    numbers = {"wanted_worlds": int(compares_with_world(limits))}  # 1: a tree for each secret
    passes.make("roots", "dit/roots", numbers)
    passes.make("homes", "dit/homes", numbers)
    passes.make("own_scale", "dit/own_scale")
    worlds = make_worlds(passes, limits)
    forest.grow_forest(passes, limits, worlds)
    _make_tallies(passes, people.scales, joint=joint)
    passes.make("totals", "dit/totals", whole="whole_1")
    passes.drop(*(f"{w.table}_1" for code, w in worlds.items() if code != NOBODY))
    passes.drop(*GONE)


def _check_single_class(passes: Passes, people: People, limits: ClassLimits) -> None:
    """Refuse limits that even a single class of all records breaks, with or without a target."""
    if not limits.of_secret:
        return
    if passes.broken(limits):
        raise InputError(
            f"not even one class of all {plural(people.coded.records, 'record')} of {people.name} "
            f"keeps {limits.diversity}: the most frequent values of the secret are too frequent; "
            "ask for less"
        )
    without_t = replace(limits, t=None, t_ordered=None)  # one class meets any t
    if not without_t.of_secret:
        return
    everybody = make_worlds(passes, ClassLimits(limits.k))[NOBODY]
    sides = passes.query("dit/everybody_else")  # a part per secret of which a person is removed
    passes.keep("refused", everybody.broken_parts(without_t, sides))
    targets = exp.select("coalesce(sum(people), 0)").from_(own_table("targets"))
    refused = exp.select("part").from_(own_table("refused")).subquery()
    (lacking,) = passes.row(targets.where(exp.In(this=exp.column("secret"), query=refused)))
    passes.drop("refused")
    if lacking:  # people without whom there is no release
        raise InputError(
            f"without one of {plural(int(lacking), 'person')} not even one class of all other "
            f"records of {people.name} keeps {limits.diversity}, so there is no release without "
            "them; ask for less"
        )


def _make_tallies(passes: Passes, scales: Sequence[Scale], *, joint: bool) -> None:
    """Create ``tallies`` (target, release, attribute, secret, people) from a complete forest.

    If ``joint``, create ``patterns`` (target, release, pattern, secret, people) instead.
    """
    rows = [(i, scale.interval, scale.missing) for i, scale in enumerate(scales, 1)]
    kinds = exp.values(rows, alias="listed", columns=["attribute", "is_interval", "missing"])
    columns = ("attribute::BIGINT AS attribute", "missing::BIGINT AS missing")
    interval = exp.column("is_interval").as_("interval", quoted=True)
    passes.keep("kinds", exp.select(*columns, interval).from_(kinds))
    for name in ("parted", "pieces", "held", "cells", "secrets_held", "own_cells"):
        passes.make(name, f"dit/{name}")
    _make_beneath(passes)
    if joint:
        passes.make("bits", "dit/bits")
        passes.make("patterns", "dit/patterns")
        return
    for name in ("wanted_cells", "holding", "tallies"):
        passes.make(name, f"dit/{name}")


def _make_beneath(passes: Passes) -> None:
    """Create ``beneath``: one row per subtree (``unit``) that is needed and class in it."""
    now, then = "front_1", "front_2"
    nodes = passes.make(now, "dit/front")  # the nodes from which this pass goes one step down
    passes.keep_empty("beneath", ("unit", "class"))
    while nodes:
        passes.add("beneath", "dit/beneath", front=now)
        nodes = passes.make(then, "dit/front_next", front=now)
        passes.drop(now)
        now, then = then, now
    passes.drop(now)
