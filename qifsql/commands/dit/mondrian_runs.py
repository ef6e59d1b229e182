"""One run with Mondrian: counts about each target, in the releases with and without them.

No record is joined with another: the whole release has one table by quasi-identifier, raw value and
secret, from which that without a target differs by a few subtrees of a forest of cuts, and by the
class that the target leaves. The cuts of a node (a set of records) with everybody and without a
target are often the same. Then the half that the target is not in is the same set of records, and
its classes are known. Else both halves are new nodes, which all targets that reach them share. So a
target needs one question per level, and nodes outside the targets' paths are cut once for all.

A cut along a hierarchy has a side for each child of a node. If the target alone is outside the node
that is cut, one side has only the target, and nobody without them.

If a limit compares a class with the whole release (t), the whole release lacks the target's secret:
there is a tree for each secret of a target. If the scale of a quasi-identifier changes without a
target (only this person has a value), all widths change, and the target gets a separate tree.
"""

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from qifsql.commands.dit.leave_one_out import (
    NOBODY,
    Reference,
    compares_with_release,
    make_references,
)
from qifsql.commands.dit.targets import People
from qifsql.counting.passes import Passes
from qifsql.counting.release_limits import ClassLimits
from qifsql.counting.scales import Scale, own_table
from qifsql.errors import InputError, plural

PASS_TABLES = ("marks", "measured", "forks", "decided", "refused", "accepted", "settled")
TABLES_OF_TWO_PASSES = ("items", "people")  # one for this pass and one for the next
GROWING_TABLES = {  # tables that grow with each pass, with their columns
    "known": ("node",),
    "children": ("node", "attribute", "cut", "side", "child"),
    "clean": ("node", "attribute", "cut"),
    "walked": ("target", "depth", "node", "attribute", "cut", "inside"),
}
TABLES = (
    *("different", "targets", "rescaled", "own_scale", "roots", "homes", "members"),
    *("items_next", "people_next", *TABLES_OF_TWO_PASSES, *PASS_TABLES, *GROWING_TABLES),
    *("parted", "pieces", "front", "front_next", "beneath", "kinds", "held", "cells"),
    *("secrets_held", "wanted_cells", "holding", "own_cells", "tallies", "bits", "patterns"),
)
KEPT_TABLES = ("different", "rescaled", "targets", "tallies", "patterns")


def count_run(passes: Passes, people: People, limits: ClassLimits, *, joint: bool) -> None:
    """Cut the release with everybody and those without each target; count what classifiers learn.

    ``totals`` has the records by target, release with (0) or without them (1), and secret. If
    ``joint``, ``patterns`` counts them also by which cells contain the target's values, together;
    else ``tallies`` does for each quasi-identifier by itself. Raises InputError if a release, with
    or without a target, cannot keep the limits.
    """
    _check_single_class(passes, people, limits)
    # The trees of the forest, the tree of each target, and the changed places in trees of a target.
    numbers = {"wanted_references": int(compares_with_release(limits))}  # 1: a tree for each secret
    passes.make("roots", "dit/roots", numbers)
    passes.make("homes", "dit/homes", numbers)
    passes.make("own_scale", "dit/own_scale")
    references = make_references(passes, limits)
    _grow_forest(passes, limits, references)
    _make_tallies(passes, people.scales, joint=joint)
    passes.make("totals", "dit/totals", whole="whole_1")
    passes.drop(*(f"{r.table}_1" for code, r in references.items() if code != NOBODY))
    passes.drop(*(name for name in TABLES if name not in KEPT_TABLES))


def _check_single_class(passes: Passes, people: People, limits: ClassLimits) -> None:
    """Refuse limits that one class of all records breaks, with or without a target."""
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
    everybody = make_references(passes, ClassLimits(limits.k))[NOBODY]
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


def _grow_forest(passes: Passes, limits: ClassLimits, references: dict[int, Reference]) -> None:
    """Cut the trees of all releases, with everybody and without each target, from their roots.

    A node is a set of records that earlier cuts leave together. Each pass answers all questions of
    one depth: how is this node cut, with everybody in it or without one target? ``items`` are the
    questions, ``people`` those in their nodes. Created are ``clean``, the cut of each node with
    everybody; ``walked``, the cuts on the path of each target without them; and ``members``, the
    different people in each class. ``references`` are the distributions of the secret with which
    t-closeness compares classes (see ``make_references``).
    """
    now = {name: f"{name}_1" for name in TABLES_OF_TWO_PASSES}
    then = {name: f"{name}_2" for name in TABLES_OF_TWO_PASSES}
    for name, columns in GROWING_TABLES.items():
        passes.keep_empty(name, columns)
    places = [exp.column(f"place_{i}") for i in range(1, passes.coded.width + 1)]
    members = exp.select("person AS node", *places, "secrets_1", "people")
    passes.keep("members", members.from_(own_table("different")).where("FALSE"))  # no rows yet
    passes.make(now["people"], "dit/planted")
    questions = passes.make(now["items"], "dit/begun")
    (roots,) = passes.row(exp.select("count(*)").from_(own_table("roots")))
    last_node, depth = roots - 1, 0  # nodes are numbered from 0
    while questions:
        passes.look(questions)
        passes.set("last", last_node)
        passes.set("depth", depth)
        passes.add("known", "dit/known", None, **now)  # nodes that are asked about with everybody
        _accept_cuts(passes, limits, references, now)
        last_node += passes.add("children", "dit/children", None, **now)
        passes.make("settled", "dit/paths")  # the answers: a cut, or a class
        for name in ("clean", "walked"):
            passes.add(name, f"dit/{name}")
        passes.add("members", "dit/members", None, **now)
        questions = passes.make(then["items"], "dit/items_next")
        names = {"people": now["people"], "items_next": then["items"]}
        passes.make(then["people"], "dit/people_next", None, **names)
        passes.drop(*now.values(), *PASS_TABLES)
        now, then, depth = then, now, depth + 1
    passes.drop(*now.values(), "known")


def _accept_cuts(
    passes: Passes, limits: ClassLimits, references: dict[int, Reference], now: dict[str, str]
) -> None:
    """Create ``accepted``: the questions whose cut keeps every limit.

    A question asks for the cut of a node, with everybody or without one target; ``now`` names their
    tables in this pass. ``decided`` has the cut of each that keeps k; ``refused`` those that break
    a limit on the secret; ``references`` are the distributions that t-closeness compares with.
    """
    # By node and quasi-identifier, the values at the ends and the cuts around the median; by
    # question and quasi-identifier, its width; the sides of cuts along hierarchies.
    passes.make("marks", "dit/marks", None, **now)
    shape, wanted_k = {"hierarchies": bool(passes.coded.trees)}, {"wanted_k": limits.k}
    passes.make("measured", "dit/measured", None, shape, **now)
    passes.make("forks", "dit/forks", wanted_k, **now)
    passes.make("decided", "dit/decided", wanted_k, shape, **now)
    passes.keep_empty("refused", ["part"])
    if limits.of_secret:
        for code, reference in references.items():
            numbers = {"wanted_reference": code, "wanted_gone": reference.gone}
            sides = passes.query("dit/sides", numbers, **now)
            passes.append("refused", reference.broken_parts(limits, sides))
    passes.make("accepted", "dit/accepted")


def _make_tallies(passes: Passes, scales: Sequence[Scale], *, joint: bool) -> None:
    """Create what a classifier learns from the releases with and without each target.

    ``tallies`` has, by target, release, quasi-identifier and secret, the people in whose cell the
    target's value is; if ``joint``, ``patterns`` has them by all cells together. A release without
    a target is that with everybody, with some subtrees added or taken away (``pieces``).
    """
    # ``kinds``: of each quasi-identifier, whether cells are intervals of places, the place of the
    # missing value, and whether they are nodes of a hierarchy.
    trees, names = passes.coded.trees, ["attribute", "is_interval", "missing", "branched"]
    rows = [
        (i, scale.interval or i in trees, scale.missing, i in trees)
        for i, scale in enumerate(scales, 1)
    ]
    kinds = exp.values(rows, alias="listed", columns=names)
    columns = ("attribute::BIGINT AS attribute", "missing::BIGINT AS missing", "branched")
    interval = exp.column("is_interval").as_("interval", quoted=True)
    passes.keep("kinds", exp.select(*columns, interval).from_(kinds))
    # Where the tree without a target differs, the subtrees to add and to take away; the people of
    # each class by place and by secret; the cells of classes, and of the targets' own classes.
    for name in ("parted", "pieces", "held", "secrets_held"):
        passes.make(name, f"dit/{name}")
    for name in ("cells", "own_cells"):
        passes.make(name, f"dit/{name}", None, {"hierarchies": bool(trees)})
    _make_beneath(passes)
    if joint:
        passes.make("bits", "dit/bits")
        passes.make("patterns", "dit/patterns")
        return
    for name in ("wanted_cells", "holding", "tallies"):
        passes.make(name, f"dit/{name}")


def _make_beneath(passes: Passes) -> None:
    """Create ``beneath``: the classes in each subtree of the forest that releases are made of.

    A row has the node where the subtree begins (``unit``) and a class in it. Each pass goes one
    cut further down in all subtrees at once, from the nodes in ``front_1`` or ``front_2``.
    """
    now, then = "front_1", "front_2"
    nodes = passes.make(now, "dit/front")
    passes.keep_empty("beneath", ("unit", "class"))
    while nodes:
        passes.add("beneath", "dit/beneath", front=now)
        nodes = passes.make(then, "dit/front_next", front=now)
        passes.drop(now)
        now, then = then, now
    passes.drop(now)
